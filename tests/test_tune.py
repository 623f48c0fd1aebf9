"""`roughly tune`: what each threshold would merge, held against counts made by hand; samples that
say so; labelled pairs; pages and mistakes."""

import json
import random
from collections.abc import Callable
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import roughly
from roughly.cli.main import main
from roughly.documents import open_documents
from roughly.simhashing.evaluation import LabelledPair
from roughly.tuning import Level, Point, tune
from roughly.tuning.advice import by_gap, by_labels
from roughly.tuning.curve import THRESHOLDS, points
from roughly.tuning.level import thresholds
from roughly.tuning.prediction import level, predictions

Run = Callable[..., tuple[int, str, str]]
# Of 104 words there are 100 shingles of five. A copy that ends after n more shingles resembles at
# n / 100: each of these has the first n + 4 words of the source.
PARTS = (100, 92, 91, 71, 52, 31, 22)

# By shingles alone: what is expected is worked out of these.
FIVE = roughly.Sketcher(w=5)


def words(seed: int, count: int = 104) -> list[str]:
    stream = random.Random(seed)
    return [f"w{stream.randrange(10**9)}" for _ in range(count)]


@pytest.fixture(scope="module")
def rows() -> list[dict[str, str]]:
    """Seven sources, each with one copy of known resemblance; ten texts alone; one twice."""
    found = []
    for number, part in enumerate(PARTS):
        source = words(number)
        copy = source[: part + 4] if part < 100 else [*source[:-1], source[-1] + "."]
        found.append({"id": f"source{part}", "text": " ".join(source)})
        found.append({"id": f"copy{part}", "text": " ".join(copy)})
    found += [{"id": f"alone{n}", "text": " ".join(words(100 + n))} for n in range(10)]
    return [*found, {"id": "again", "text": found[-1]["text"]}]


@pytest.fixture
def run(capsys: pytest.CaptureFixture[str]) -> Run:
    def run(*words: object) -> tuple[int, str, str]:
        try:
            status = main(["tune", "-w", "5", *map(str, words)])
        except SystemExit as stopped:
            status = int(str(stopped.code))
        out, err = capsys.readouterr()
        return status, out, err

    return run


@pytest.fixture
def docs(tmp_path: Path, rows: list[dict[str, str]]) -> Path:
    path = tmp_path / "docs.jsonl"
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    return path


# --- levels ---------------------------------------------------------------------------------------


def test_levels(rows: list[dict[str, str]]) -> None:
    """A sketch of 200 has everything of these documents: estimates are exact."""
    found = tune(open_documents(rows), sketcher=FIVE)
    at = {each.threshold: each for each in found.levels}
    assert (min(at), max(at), len(at)) == (0.2, 1.0, 17)
    # The copy that differs by a full stop is the same in canonical form, and so is `again`.
    assert (found.documents, found.of, found.equivalent) == (25, 25, 2)
    reaching = {t: sum(part / 100 >= t for part in PARTS if part < 100) for t in at}
    assert {t: each.pairs for t, each in at.items()} == reaching
    assert (at[0.9].here, at[0.85].here, at[0.5].here, at[0.45].here) == (2, 0, 1, 0)
    # Beside the pairs: the two that are equivalent to another.
    for t, each in at.items():
        assert (each.clusters, each.documents) == (reaching[t] + 2, 2 * (reaching[t] + 2))
        assert (each.surplus, each.largest) == (each.clusters, 2)
        assert each.error == (None if not each.here else 0.0)


def test_levels_agree_with_clusters(rows: list[dict[str, str]]) -> None:
    found = tune(open_documents(rows), sketcher=roughly.Sketcher(select="mod:4"))
    texts = [row["text"] for row in rows]
    for each in found.levels:
        clusters = roughly.cluster(
            texts, each.threshold, floor=each.threshold, sketcher=roughly.Sketcher(select="mod:4")
        )
        assert (each.clusters, each.documents) == (len(clusters), int(clusters.sizes().sum()))
    sampled = [each for each in found.levels if each.error is not None]
    assert sampled and all(0 < (each.error or 0) < 0.5 for each in sampled[:-1])


def test_thresholds() -> None:
    assert thresholds(Fraction(9, 10)) == [Fraction(9, 10), Fraction(19, 20), 1]
    assert thresholds(Fraction(91, 100)) == [Fraction(91, 100), Fraction(19, 20), 1]
    assert thresholds(Fraction(1)) == [1]


def test_examples(rows: list[dict[str, str]]) -> None:
    found = tune(open_documents(rows), sketcher=FIVE, each=2)
    assert [each.threshold for each in found.examples] == [0.9, 0.9, 0.7, 0.5, 0.3, 0.2]
    seen = {each.a.id.strip("sourcepy"): each for each in found.examples}
    assert {int(part) for part in seen} == set(PARTS) - {100}
    for part, each in seen.items():
        assert each.comparison.resemblance == each.estimate == int(part) / 100
        assert len(each.comparison.passages) == 1
        text = next(row["text"] for row in rows if row["id"] == f"copy{part}")
        assert text.startswith(each.shared.rstrip("…"))
    assert not tune(open_documents(rows), sketcher=FIVE, each=0).examples


# --- samples --------------------------------------------------------------------------------------


def test_sample(rows: list[dict[str, str]]) -> None:
    """Labelled documents are always among those that are looked at."""
    labels = [LabelledPair("source92", "copy92", True, None)]
    found = tune(open_documents(rows), sketcher=FIVE, most=5, labels=labels, draw=3)
    assert found.sampled and found.of == 25 and 5 <= found.documents <= 7
    assert found.levels[0].pairs >= 1
    assert found.pair_scale == (25 / found.documents) ** 2
    assert found.points[0].true == 1
    whole = tune(open_documents(rows), sketcher=FIVE, most=25)
    assert not whole.sampled and whole.documents == 25
    again = tune(open_documents(rows), sketcher=FIVE, most=5, labels=labels, draw=3)
    assert [each.to_dict() for each in again.levels] == [each.to_dict() for each in found.levels]


def test_sample_is_said(docs: Path, run: Run, tmp_path: Path) -> None:
    status, out, err = run(docs, "--documents", 10)
    said = " ".join(err.replace("roughly:", "").split())
    assert status == 0 and "looked at 10 of 25 documents, drawn by chance" in said
    assert "about one in 6 is among them" in said  # (25 / 10)^2
    assert "10 documents" in out and "bytes for 25 documents" in out
    page = tmp_path / "page.html"
    assert run(docs, "--documents", 10, "--html", page)[0] == 0
    assert "10 of 25 documents were looked at" in page.read_text()


# --- labels ---------------------------------------------------------------------------------------


def test_points() -> None:
    labels = [True, True, False, True, None]
    pairs = [LabelledPair("a", "b", label, None) for label in labels]
    found = {each.threshold: each for each in points(np.array([0.9, 0.5, 0.5, 0.01, 0.7]), pairs)}
    assert tuple(found) == THRESHOLDS
    half, most = found[0.5], found[0.55]
    assert (half.true, half.false, most.true, most.false) == (2, 1, 1, 0)
    assert half.precision is not None and half.recall is not None
    assert half.precision.value == half.recall.value == half.f1 == pytest.approx(2 / 3)
    assert most.f1 == pytest.approx(2 * 1 * (1 / 3) / (4 / 3))
    assert found[0.01].true == 3 and found[0.02].true == 2
    assert found[0.95].precision is None and found[0.95].f1 == 0.0


def test_labels(docs: Path, tmp_path: Path, run: Run) -> None:
    """Near from 0.5 on: 0.35 to 0.5 make no mistake, and 0.5 is the nearest to the default."""
    labels = tmp_path / "labels.jsonl"
    labels.write_text(
        "".join(
            json.dumps({"a": f"source{part}", "b": f"copy{part}", "label": part > 50}) + "\n"
            for part in PARTS
        )
    )
    status, out, _ = run(docs, "--labels", labels, "--json")
    found = json.loads(out)
    assert status == 0 and found["advice"]["threshold"] == 0.5
    assert "only 7 labelled pairs" in found["advice"]["why"]
    at = {each["threshold"]: each for each in found["points"]}
    assert at[0.5]["f1"] == 1.0 and at[0.3]["false"] == 1 and at[0.95]["true"] == 1
    assert [each["w"] for each in found["widths"]] == [1, 2, 3, 5, 7, 10]
    assert next(e for e in found["widths"] if e["w"] == 5)["best"]["f1"] == 1.0
    _, out, _ = run(docs, "--labels", labels)
    assert "take --threshold 0.5: best F1 on the labelled pairs, 1.000" in out
    page = tmp_path / "page.html"
    assert run(docs, "--labels", labels, "--html", page)[0] == 0
    text = page.read_text()
    assert "Precision and recall" in text and "Shingles of other widths" in text


def test_html_is_read_as_html(tmp_path: Path, run: Run) -> None:
    text = " ".join(words(1))
    rows = [
        {"id": "a", "text": f"<html><body><p>{text}</p></body></html>"},
        {"id": "b", "text": f"{text} more"},
    ]
    docs, labels = tmp_path / "docs.jsonl", tmp_path / "labels.jsonl"
    docs.write_text("".join(json.dumps(row) + "\n" for row in rows))
    labels.write_text('{"a": "a", "b": "b", "label": "true"}\n')
    _, out, _ = run(docs, "--labels", labels, "--json")
    found = json.loads(out)
    assert found["levels"][-2]["pairs"] == 1  # 100 of 101 shingles
    assert found["examples"][0]["resemblance"] == 100 / 101
    assert {each["best"]["f1"] for each in found["widths"]} == {1.0}


# --- advice ---------------------------------------------------------------------------------------


def _levels(here: dict[float, int]) -> list[Level]:
    steps = [round(0.2 + 0.05 * n, 2) for n in range(17)]
    return [
        Level(t, sum(n for at, n in here.items() if at >= t), here.get(t, 0), 0, 0, 0, 0, None)
        for t in steps
    ]


def test_gap() -> None:
    """Many pairs between 0.4 and 0.6: 0.65 has none on either side, as 0.35, and merges less."""
    found = by_gap(_levels({0.2: 50, 0.4: 30, 0.45: 40, 0.5: 35, 0.55: 20, 0.9: 100}))
    assert found.threshold == 0.65 and "0 of 275 pairs (0.0%)" in found.why
    assert by_gap(_levels({0.2: 1000, 0.5: 9, 0.95: 1000})).threshold == 0.5  # so few do not matter
    assert by_gap(_levels({})).threshold == 0.5
    assert by_gap([]).threshold == 0.5


def test_nothing_to_go_by() -> None:
    nothing = [Point(0.5, 0, 2, None, None)]
    assert by_labels(nothing).threshold == 0.5


# --- predictions ----------------------------------------------------------------------------------


def test_predicted_size_is_that_of_sketches() -> None:
    stream = random.Random(5)
    texts = [" ".join(words(n, stream.randrange(50, 3000))) for n in range(60)]
    whole = roughly.Sketcher().sketch_batch(texts)
    sizes = np.array([each.size for each in whole], dtype=np.uint32)
    kept = sum(map(len, whole))
    found = {each.select: each for each in predictions(sizes, 60)}
    assert found["adaptive:200"].bytes == pytest.approx(8 * kept, rel=0.05)
    assert level(sizes.astype(np.int64), 200).tolist() == [each.level for each in whole]


def test_predictions() -> None:
    """Of 100 documents of 1,000 shingles, adaptive:200 keeps every fourth, 250 of each."""
    size = np.full(100, 1000, dtype=np.uint32)
    assert level(np.array([1, 399, 400, 1000, 1600]), 200).tolist() == [0, 0, 1, 2, 3]
    found = {each.select: each for each in predictions(size, 500)}
    assert found["adaptive:200"].bytes == 500 * 250 * 8
    assert found["all"].bytes == 500 * 1000 * 8 and found["all"].error == 0.0
    # 333 samples of 1,333: 1.96 * sqrt(0.25 / 333) is 0.054, times sqrt(3 / 4) for a quarter seen.
    assert found["adaptive:200"].error == pytest.approx(0.0465, abs=0.003)
    errors = [each.error for each in found.values()]
    assert errors == sorted(errors, reverse=True)
    assert predictions(np.zeros(3, dtype=np.uint32), 3) == []


# --- the command ----------------------------------------------------------------------------------


def test_lines(docs: Path, run: Run) -> None:
    status, out, err = run(docs)
    assert status == 0 and "read text=text" in err
    lines = out.splitlines()
    assert lines[0] == "25 documents, 2 of them equal to another; w=5, adaptive:200"
    assert lines[3].split() == ["1.00", "0", "0", "2", "4", "2", "2", "-"]
    assert lines[5].split() == ["0.90", "2", "2", "4", "8", "4", "2", "exact"]
    assert "1 shared passage, the longest: w" in out
    assert "take --threshold" in lines[-1]


def test_page(docs: Path, run: Run, tmp_path: Path) -> None:
    page = tmp_path / "page.html"
    assert run(docs, "--html", page)[0] == 0
    text = page.read_text()
    assert text.count("<svg") == 2 and text.count('class="pair"') == 5
    assert "http" not in text.replace("http-equiv", "") and "<script" not in text
    status, _, err = run(docs, "--html", page)
    assert status == 2 and "hint: " in err
    assert run(docs, "--html", page, "--force")[0] == 0
    status, out, _ = run(docs, "--html", "-")
    assert status == 0 and out.startswith("<!DOCTYPE html>")


def test_names_are_text(tmp_path: Path, run: Run) -> None:
    text = " ".join(words(1))
    rows = [{"id": f"<i>{n}", "text": text + " x" * n} for n in range(2)]
    docs = tmp_path / "docs.jsonl"
    docs.write_text("".join(json.dumps(row) + "\n" for row in rows))
    _, out, _ = run(docs, "--html", "-")
    assert "&lt;i&gt;0" in out and "<i>" not in out


def test_few_documents(tmp_path: Path, run: Run) -> None:
    for rows in ([], [{"id": "a", "text": "alone"}], [{"id": "a", "text": ""}] * 2):
        docs = tmp_path / "docs.jsonl"
        docs.write_text("".join(json.dumps(row) + "\n" for row in rows))
        status, out, _ = run(docs)
        assert status == 0 and "take --threshold 0.5" in out
        assert run(docs, "--html", "-")[0] == 0


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["--floor", "0"], "--floor: not a share"),
        (["--select", "perm:100"], "select: cannot be tuned: perm:100"),
        (["--labels", "none.jsonl"], "none.jsonl: cannot read"),
        (["--documents", "0"], "--documents: out of range"),
        (["--json", "--html", "x.html"], "not allowed with argument"),
    ],
)
def test_mistakes(
    docs: Path, run: Run, arguments: list[str], said: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(docs.parent)
    status, out, err = run(docs, *arguments)
    assert (status, out) == (2, "") and said in err


def test_labels_of_other_documents(docs: Path, tmp_path: Path, run: Run) -> None:
    labels = tmp_path / "labels.jsonl"
    labels.write_text('{"a": "source92", "b": "nobody", "label": "true"}\n')
    status, _, err = run(docs, "--labels", labels)
    assert status == 2 and "nobody: not there" in err and "hint: " in err


def test_inputs_stay(docs: Path, run: Run, tmp_path: Path) -> None:
    before: Any = docs.read_bytes()
    status, _, err = run(docs, "--html", docs, "--force")
    assert status == 2 and "hint" in err and docs.read_bytes() == before
