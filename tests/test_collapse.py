"""Search results, grouped: the rule on a table of pairs, and whole results on a small corpus."""

import json
from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import roughly
from roughly.cli.main import main
from roughly.corpus.collapse import Counts, collapse, collapse_results, read_results
from roughly.errors import DocumentError
from tests.memory_collection import collection
from tests.test_lost import words


def groups(found: list) -> list[tuple[int, list[int]]]:
    return [(group.best, [other for other, _ in group.others]) for group in found]


@given(st.integers(0, 8), st.data())
def test_rule(count: int, data: st.DataObject) -> None:
    """Each goes under the first that stands and is alike; this is that, said again."""
    common = {(a, b): data.draw(st.integers(0, 10)) for b in range(count) for a in range(b)}

    def measure(heads: list[int], item: int) -> Counts:
        return np.array([(common[head, item], 10) for head in heads], np.int64).reshape(-1, 2)

    found = groups(collapse(count, measure, Fraction(7, 10)))  # type: ignore[arg-type]
    stands: list[tuple[int, list[int]]] = []
    for item in range(count):
        under = next((group for group in stands if common[group[0], item] >= 7), None)
        if under is None:
            stands.append((item, []))
        else:
            under[1].append(item)
    assert found == stands


ONE = words("one", 300)
NEAR = ONE.replace(ONE[100:200], "something else")
PART = " ".join(ONE.split()[:80])
OTHER = words("other", 300)
CORPUS = collection(
    [("one", None, ONE), ("near", None, NEAR), ("part", None, PART), ("other", None, OTHER)]
)
ROW = {"one": 0, "near": 1, "part": 2, "other": 3}


def collapsed(*names: str, containment: str | None = None, **texts: str) -> list:
    return groups(
        collapse_results(
            CORPUS,
            [ROW.get(name) for name in names],
            [texts.get(name) for name in names],
            "0.5",
            containment,
        )
    )


def test_results_keep_their_order() -> None:
    assert collapsed("other", "near", "one", "part") == [(0, []), (1, [2]), (3, [])]
    assert collapsed("near", "one", "near") == [(0, [1, 2])]
    assert collapsed() == []


def test_containment() -> None:
    assert collapsed("one", "part", containment="0.9") == [(0, [1])]
    # The whole says more than its part: it stands.
    assert collapsed("part", "one", containment="0.9") == [(0, []), (1, [])]


def test_texts_and_strangers() -> None:
    assert collapsed("one", "nobody", "mine", mine=NEAR) == [(0, [2]), (1, [])]
    assert collapsed("nobody", "nobody") == [(0, []), (1, [])]


def test_reading() -> None:
    lines = read_results("http://a.example/\n\n b \n")
    assert [(result.rank, result.name) for result in lines] == [(1, "http://a.example/"), (2, "b")]
    rows = [{"url": "a", "score": 3}, {"id": "b"}, {"text": "some words"}, "c"]
    for data in (json.dumps(rows), "\n".join(map(json.dumps, rows))):
        found = read_results(data)
        assert [result.name for result in found] == ["a", "b", "", "c"]
        assert found[0].given == {"url": "a", "score": 3}
        assert found[2].text == "some words"
    assert read_results("") == []


@pytest.mark.parametrize("data", ['{"a": 1}', "[1]", '{"url": "a"}\n{"url"', '[{"url": 3}]'])
def test_what_is_no_result(data: str) -> None:
    with pytest.raises(DocumentError, match="standard input"):
        read_results(data)


def test_the_reason_is_shown(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """A part goes under the whole by its containment, which is told; results come from a file."""
    corpus = roughly.Corpus.create(tmp_path / "c.roughly")
    half = " ".join(ONE.split()[:104])  # 100 of the 296 shingles
    corpus.add([{"id": "whole", "text": ONE}, {"id": "half", "text": half}])
    results = tmp_path / "results.txt"
    results.write_text("whole\nhalf\n")
    # Below 200 shingles nothing is left out of the smaller sketch; the other one keeps every other.
    arguments = ["collapse", str(corpus.path), str(results), "--containment", "0.8"]
    assert main(arguments) == 0
    first, second = capsys.readouterr().out.splitlines()
    assert first == "   1  whole"
    resemblance, contained = second.split("in it")[0].split()
    assert 0.2 < float(resemblance) < 0.5 and contained == "1.000"
    assert main([*arguments, "--json"]) == 0
    (other,) = json.loads(capsys.readouterr().out)["others"]
    assert other["containment"] == 1.0 and other["resemblance"] == pytest.approx(
        100 / 296, abs=0.15
    )
    assert corpus.collapse(["whole", "half"]).groups[0].contained == {}


def test_a_file_that_is_not_there(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    corpus = roughly.Corpus.create(tmp_path / "c.roughly")
    assert main(["collapse", str(corpus.path), str(tmp_path / "none.txt")]) == 2
    assert "none.txt: cannot read" in capsys.readouterr().err
    (tmp_path / "bad.json").write_text("[1]")
    assert main(["collapse", str(corpus.path), str(tmp_path / "bad.json")]) == 2
    assert "bad.json: result 1: no document" in capsys.readouterr().err
