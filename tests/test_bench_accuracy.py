"""The figures of `bench.accuracy` on tiny sets, worked out by hand: no labelled data is needed."""

import gzip
import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from bench import accuracy, accuracy_choice, accuracy_page
from bench.accuracy_method import (
    Documents,
    band_shape,
    banded,
    by_both,
    by_distance,
    by_share,
    minhash_signatures,
    verified,
)
from bench.accuracy_retrieval import first_hits, reaching
from bench.accuracy_score import Cells, Levels, cells, exact_sets, interval, score
from bench.accuracy_set import PairSet, all_pairs, named_pairs, pair_sets, sentence_pairs

NUMBERS = "one two three four five six seven eight nine ten"


def flags(*values: int) -> Any:
    return np.array(values, dtype=bool)


# --- scores ---------------------------------------------------------------------------------------


def test_cells() -> None:
    found = cells(flags(1, 1, 1, 0, 0), flags(1, 1, 0, 1, 0))
    assert found == Cells(right=2, wrong=1, missed=1)
    assert (found.precision, found.recall) == (2 / 3, 2 / 3)
    assert found.f1 == pytest.approx(2 / 3)
    assert Cells(1, 3, 0).f1 == pytest.approx(2 * 0.25 * 1 / 1.25)
    # Nothing said: nothing wrong, everything missed.
    nothing = cells(flags(0, 0), flags(1, 0))
    assert (nothing.precision, nothing.recall, nothing.f1) == (1.0, 0.0, 0.0)


def test_exact_sets() -> None:
    """Labelled {0, 1, 2} and {3, 4}; 5 and 6 alone."""
    a, b = np.array([0, 1, 3, 5, 2]), np.array([1, 2, 4, 6, 3])
    dup = flags(1, 1, 1, 0, 0)
    assert exact_sets(a, b, dup, dup) == 1.0
    # {0, 1} is no whole set: of five documents in sets only 3 and 4 are right.
    assert exact_sets(a, b, flags(1, 0, 1, 0, 0), dup) == 2 / 5
    # One set too many: all of the five are right, 5 and 6 are not.
    assert exact_sets(a, b, flags(1, 1, 1, 1, 0), dup) == 5 / 7
    # All merged into one: nothing is right, however many pairs are.
    assert exact_sets(a, b, flags(1, 1, 1, 1, 1), dup) == 0.0
    assert exact_sets(a, b, flags(0, 0, 0, 0, 0), flags(0, 0, 0, 0, 0)) == 1.0


def halves(first: list[float], second: list[float], dups: str) -> tuple[PairSet, Any]:
    """Pairs whose halves are known, and their shares."""
    unit = np.array([0] * len(first) + [1] * len(second))
    numbers = np.arange(len(unit))
    pairs = PairSet("tiny", [], 2 * numbers, 2 * numbers + 1, flags(*map(int, dups)), unit)
    assert set(pairs.half[: len(first)]) != set(pairs.half[len(first) :])
    return pairs, np.array([*first, *second])


def test_thresholds_are_scored_on_the_other_half() -> None:
    """On the first half all above 0.5 is perfect up to 0.6, which misses one of two on the second;
    on the second all above 0.1 up to 0.3, which errs once on the first."""
    pairs, shares = halves([0.6, 0.7, 0.5], [0.3, 0.8, 0.1], "110110")
    method = by_share("tiny", shares, 0.5)
    found = score(pairs, method)
    assert sorted(found.levels) == ["0.21", "0.56"]  # of 0.11 to 0.3, of 0.51 to 0.6 the middle
    # 0.56 on the second half: 0.8 is right, 0.3 is missed. 0.21 on the first: 0.5 is wrong.
    assert found.precision == pytest.approx((1 + 2 / 3) / 2)
    assert found.recall == pytest.approx((1 / 2 + 1) / 2)
    assert found.f1 == pytest.approx((2 / 3 + 4 / 5) / 2)
    # At 0.5, of all: 0.6, 0.7 and 0.8 are right, 0.5 is wrong, 0.3 is missed.
    assert found.default == Cells(3, 1, 1)
    assert found.best == pytest.approx(2 * 4 / (2 * 4 + 1))  # at 0.3: one wrong
    assert len(found.curve) == len(method.labels)
    # Of the second half one set of two is right; of the first two of three.
    assert found.exact_sets == pytest.approx((1 / 2 + 2 / 3) / 2)


def test_interval() -> None:
    perfect = np.array([[1, 0, 0]] * 20)
    assert interval([perfect, perfect]) == (1.0, 1.0)
    mixed = np.array([[1, 0, 0]] * 80 + [[0, 1, 0]] * 10 + [[0, 0, 1]] * 10)
    low, high = interval([mixed])
    # F1 is 160 / 180; of 100 units its standard error is about 0.025.
    assert 0.82 < low < 160 / 180 < high < 0.95
    assert interval([mixed]) == (low, high)
    # Units that are drawn whole: the fewer, the wider.
    few = np.array([[40, 5, 5]] * 2 + [[0, 0, 0]] * 2)
    assert interval([few])[0] <= 0.89


# --- sets -----------------------------------------------------------------------------------------


def test_pairs_of_all() -> None:
    texts = [(f"t{n}", "") for n in range(5)]
    pairs = all_pairs("tiny", texts, [("t4", "t1"), ("t2", "t3")])
    assert len(pairs) == 10
    said = {(int(a), int(b)) for a, b in zip(pairs.a[pairs.dup], pairs.b[pairs.dup], strict=True)}
    assert said == {(1, 4), (2, 3)}


def test_pairs_of_one_document_stay_together() -> None:
    texts = [(name, "") for name in "abcdefgh"]
    pairs = named_pairs("tiny", texts, [(a, b, a < b) for a in "abcd" for b in "efgh"])
    for document in range(4):
        assert len(set(pairs.half[pairs.a == document].tolist())) == 1
    assert set(pairs.half.tolist()) == {0, 1}


# --- methods --------------------------------------------------------------------------------------


def documents(*pairs: tuple[str, str, bool]) -> Documents:
    return Documents(sentence_pairs("tiny", pairs))


def test_measures() -> None:
    """Ten words and the first eight of them: 6 and 4 shingles of five, 10 and 8 of one."""
    some = documents((NUMBERS, NUMBERS.rsplit(" ", 2)[0], True), ("", "", True), ("a", "", False))
    assert some.resemblance(5).tolist() == pytest.approx([4 / 6, 1.0, 0.0])
    assert some.resemblance(1).tolist() == pytest.approx([8 / 10, 1.0, 0.0])
    assert some.containment(5)[0] == 1.0
    assert some.resemblance(5, "adaptive:200").tolist() == pytest.approx([4 / 6, 1.0, 0.0])
    assert some.tokens().tolist() == [10, 8, 0, 0, 1, 0]
    assert some.shingles(9)[1] == [b"one two three four five six seven eight"]


def test_levels() -> None:
    shares, bits = np.array([0.5, 0.49, 1.0]), np.array([3, 4, 0])
    by = by_share("share", shares, 0.5)
    assert by.said(by.default or 0).tolist() == [True, False, True]
    near = by_distance("bits", bits, 3)
    assert near.said(3).tolist() == [True, False, True]
    both = by_both("both", shares, bits)
    assert both.labels[both.default or 0] == "k=3, 0.50"
    assert both.said(both.default or 0).tolist() == [True, False, True]


def test_verified() -> None:
    """At 0.5 pairs are counted from an estimate of 0.4 on, at 0.1 from 0.05 on."""
    exact = np.array([0.5, 0.5, 0.45, 0.1, 0.1])
    estimate = np.array([0.4, 0.39, 0.6, 0.05, 0.04])
    found = verified(exact, estimate)
    assert (found >= 0.5 - 1e-12).tolist() == [True, False, False, False, False]
    assert (found >= 0.1 - 1e-12).tolist() == [True, True, True, True, False]


def test_words() -> None:
    """Ten words have six shingles of five, and ten of their own where words count."""
    some = documents((NUMBERS, NUMBERS + " x", True), (NUMBERS, NUMBERS.replace("one", "x"), True))
    assert some.resemblance().tolist() == pytest.approx([6 / 7, 5 / 7])
    assert some.resemblance(words=100).tolist() == pytest.approx([16 / 18, 14 / 18])


def test_bands() -> None:
    """A band of one row finds pairs from low resemblance on, one of all rows only equal ones."""
    assert band_shape(0.05, 16)[1] == 1
    assert band_shape(0.95, 16) == (1, 16)
    bands, rows = band_shape(0.5, 128)
    assert bands * rows <= 128 and 0.4 < (1 / bands) ** (1 / rows) < 0.6
    some = documents((NUMBERS, NUMBERS, True), (NUMBERS, "quite other words are in this", False))
    method = banded("tiny", minhash_signatures(some, 5), some.pairs)
    for level in range(len(method.labels)):
        assert method.said(level).tolist() == [True, False]


# --- what is not pairs ----------------------------------------------------------------------------


def test_first_hits() -> None:
    wanted, order = [{1}, {2, 5}, set(), {9}], [[1, 4], [3, 5], [1], []]
    assert first_hits(wanted, order, 1) == 1 / 3  # one without a label counts for nothing
    assert first_hits(wanted, order, 2) == 2 / 3
    assert reaching(np.array([0.5, 0.4999999999, 0.4]), 0.5) == pytest.approx(2 / 3)


# --- the whole ------------------------------------------------------------------------------------


def write(path: Path, rows: list[dict[str, Any]]) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    with gzip.open(path, "wt", encoding="utf-8") as file:
        file.writelines(json.dumps(row) + "\n" for row in rows)


@pytest.fixture
def truth(tmp_path: Path) -> Path:
    """A folder of the same shape: twelve sources, each with a copy and a text of its own."""
    folder = tmp_path / "truth"
    texts = [" ".join(f"w{n}x{k}" for k in range(60)) for n in range(24)]
    docs = [{"id": f"s{n}", "text": texts[n]} for n in range(12)]
    docs += [{"id": f"c{n}", "text": texts[n] + " and more"} for n in range(12)]
    docs += [{"id": f"o{n}", "text": texts[n + 12]} for n in range(12)]
    pairs = [{"a": f"c{n}", "b": f"s{n}", "dup": True} for n in range(12)]
    pairs += [{"a": f"o{n}", "b": f"s{n}", "dup": False} for n in range(12)]
    write(folder / "plagiarism" / "docs.jsonl.gz", docs)
    write(folder / "plagiarism" / "pairs.jsonl.gz", pairs)
    same = [{"id": f"{n}", "a": texts[n], "b": texts[n] + " x"} for n in range(4)]
    write(folder / "spdx" / "pairs.jsonl.gz", same)
    html = [{"id": f"{n}", "html": f"<p>{texts[n]}</p>", "text": texts[n]} for n in range(4)]
    write(folder / "spdx" / "html_pairs.jsonl.gz", html)
    return folder


def test_missing_sets_are_said(truth: Path) -> None:
    found = list(pair_sets(truth))
    assert [each.name for each in found if isinstance(each, PairSet)] == ["plagiarism"]
    assert [each for each in found if isinstance(each, str)] == [
        "short_text: not in the folder, left out",
        "news_planted: not in the folder, left out",
    ]


def test_it_runs(
    truth: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(accuracy_choice, "MOST_WORDS", (200,))
    page, figures = tmp_path / "page.html", tmp_path / "figures.json"
    words = ["--truth", str(truth), "--html", str(page), "--json", str(figures)]
    assert accuracy.main(words) == 0
    out, err = capsys.readouterr()
    assert "moves: not in the folder" in err and "exact resemblance is that of sets" in out
    sections = {each["name"]: each for each in json.loads(figures.read_text())["sections"]}
    assert list(sections) == ["plagiarism", "selection", "short documents", "spdx", "spdx html"]
    rows = {row["method"]: row for row in sections["plagiarism"]["tables"][0]}
    # 56 of 58 shingles are those of the source: any level up to there is perfect.
    for method in ("exact shingles, w=5", "roughly verified", "banded MinHash 256, w=5"):
        assert (rows[method]["F1"], rows[method]["exact sets"]) == (1.0, 1.0), method
    assert rows["exact shingles, w=5"]["at default"] == 1.0
    assert all(each["reached"] for name in sections for each in sections[name]["results"])
    text = page.read_text()
    assert text.count("<svg") == 2 and "plagiarism: F1" in text and "<script" not in text


def test_page_says_what_was_found() -> None:
    pairs, shares = halves([0.6, 0.7, 0.5], [0.3, 0.8, 0.1], "110110")
    names = ("exact shingles, w=1", "roughly verified", "banded MinHash 256, w=5")
    scores = [score(pairs, Levels(name, *_levels(by_share(name, shares)))) for name in names]
    text = accuracy_page.page([("tiny", scores)], "a <machine>")
    assert "a &lt;machine&gt;" in text and f"{scores[1].f1:.3f}" in text
    assert text.count('class="line ') == 3


def _levels(levels: Levels) -> tuple[Any, Any]:
    return levels.labels, levels.said


def test_no_folder(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as stopped:
        accuracy.main(["--truth", str(tmp_path / "none")])
    assert stopped.value.code == 2 and "no such folder" in capsys.readouterr().err
