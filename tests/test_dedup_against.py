"""Documents held against a corpus: by the plain rule on small collections, and as the command does
it with real files. The corpus remains as it is."""

import contextlib
import gzip
import json
import random
import tempfile
from collections.abc import Iterator
from fractions import Fraction
from pathlib import Path
from typing import Any
from unittest.mock import patch

import pytest
from hypothesis import given
from hypothesis import strategies as st

import roughly
from roughly import Sketcher
from roughly.clustering.join import Join, MassRule
from roughly.clustering.settings import settings_for
from roughly.corpus import Corpus, create_corpus
from roughly.deduplication import against, candidates, equivalence
from roughly.documents import open_documents
from roughly.errors import MismatchError, ParameterError
from roughly.storage.lock import WriterLock
from roughly.storage.segment_writer import SegmentWriter
from roughly.verification.exact import Verifier
from tests.reference import sketch
from tests.test_cli import assert_error
from tests.test_cli import roughly as command
from tests.test_dedup import RATIOS, SELECTIONS, Document, corpora, found_by, given_as, greedy, mass

# So many partners in the corpus that none is dropped.
ALL = 1000


@contextlib.contextmanager
def corpus_of(
    documents: list[Document], sketcher: Sketcher, text: bool = True, part_rows: int = 1 << 12
) -> Iterator[Corpus]:
    with (
        tempfile.TemporaryDirectory() as folder,
        patch.dict(SegmentWriter.__init__.__kwdefaults__, part_rows=part_rows),
    ):
        yield create_corpus(
            open_documents(given_as(documents), content_type="text"),
            sketcher,
            settings_for(sketcher.parameters, "0.5"),
            Path(folder) / "c.roughly",
            text=text,
            memory_bytes=1 << 22,
            threads=1,
        )


def named(documents: list[Document], prefix: str) -> list[Document]:
    return [document._replace(id=prefix + document.id) for document in documents]


@given(
    corpora(),
    corpora(),
    st.sampled_from(SELECTIONS),
    st.sampled_from(RATIOS),
    st.none() | st.sampled_from(RATIOS),
    st.sampled_from(["first", "longest", "newest"]),
    st.booleans(),
    st.sampled_from([(4, 1 << 12), (1 << 12, 2), (2, 4), (1, 1)]),
    st.sampled_from([1, 2]),
    st.booleans(),
    st.sampled_from([1, ALL]),
)
def test_the_rule(
    known: list[Document],
    new: list[Document],
    select: str,
    threshold: str,
    contained: str | None,
    keep: str,
    estimate: bool,
    part_rows: tuple[int, int],
    w: int,
    mixed: bool,
    best: int,
) -> None:
    if mixed:  # more in common than two collections that were drawn apart
        new = new + [document._replace(id=f"x{document.id}") for document in known[::2]]
    rule = (select, threshold, contained, keep, estimate)
    check(known, new, *rule, part_rows, w, MassRule(), best)


@given(
    st.integers(0, 2**32).map(mass),
    st.integers(0, 40),
    st.sampled_from(["all", "mod:2", "adaptive:4", "adaptive:10"]),
    st.sampled_from(["0.4", "0.5", "0.6", "0.7"]),
    st.none() | st.sampled_from(["0.6", "0.8"]),
    st.sampled_from(["first", "longest"]),
    st.booleans(),
    st.sampled_from([MassRule(), MassRule(2, 1, 1), MassRule(2, 8, 4)]),
    st.sampled_from([1, 2, ALL]),
)
def test_the_rule_in_masses(
    documents: list[Document],
    cut: int,
    select: str,
    threshold: str,
    contained: str | None,
    keep: str,
    estimate: bool,
    masses: MassRule,
    best: int,
) -> None:
    known, new = documents[:cut], documents[cut:]
    rule = (select, threshold, contained, keep, estimate)
    check(known, new, *rule, (8, 4), 1, masses, best)


def check(
    known: list[Document],
    new: list[Document],
    select: str,
    threshold: str,
    contained: str | None,
    keep: str,
    estimate: bool,
    part_rows: tuple[int, int],
    w: int,
    masses: MassRule,
    best: int,
) -> None:
    if select.startswith("min"):
        contained = None
    name, _, number = select.partition(":")
    parameters = sketch.Parameters(w, 64, name, int(number or 0), 0)  # type: ignore[arg-type]
    least = None if contained is None else Fraction(contained)
    known, new = named(known, "k"), named(new, "n")
    rules = (parameters, Fraction(threshold), least, keep, estimate)
    expected = greedy(known + new, *rules, known=len(known))
    sketcher = Sketcher(w=w, select=select)
    with (
        corpus_of(known, sketcher, part_rows=part_rows[0]) as corpus,
        patch.dict(SegmentWriter.__init__.__kwdefaults__, part_rows=part_rows[1]),
        patch.object(candidates, "MASS", masses),
        patch.object(Join, "seems_massed", return_value=True),
        patch.object(candidates, "_BEST", best),
        patch.object(candidates, "_GATHERED_PAIRS", 3),
    ):
        result = roughly.dedup(
            given_as(new),
            float(threshold),
            keep=keep,
            containment=None if contained is None else float(contained),
            estimate=estimate,
            against=corpus,
            content_type="text",
        )
        found = found_by(result)
        places = result.removals()["kept_in"].to_pylist()
    gone = [removal.removed for removal in expected]
    assert [removal.removed for removal in found] == gone
    assert list(result) == [document.id for document in new if document.id not in gone]
    assert places == ["corpus" if f.kept.startswith("k") else "input" for f in found]
    assert result.in_corpus == places.count("corpus")
    if name == "min" and estimate:
        expected = [e._replace(containment=None) for e in expected]
        found = [f._replace(containment=None) for f in found]
    if masses == MassRule() and best == ALL:
        assert found == expected
        return
    # The first good reason in the corpus will do, if it is one.
    by_id = {document.id: document for document in known + new}
    for removal, wanted in zip(found, expected, strict=True):
        pair = [by_id[removal.kept], by_id[removal.removed]]
        [alone] = greedy(pair, *rules, known=1)
        if name == "min" and estimate:
            alone = alone._replace(containment=None)
        assert removal == alone
        assert removal == wanted or removal.kept.startswith("k") or wanted.kept.startswith("k")


def test_no_text_but_estimates() -> None:
    known = [Document("a", "one two three", None), Document("b", "Four five", None)]
    known += [Document("c", "", None), Document("d", " ".join(map(str, range(40))), None)]
    new = ["one two three", "four, FIVE", "", " ", " ".join(map(str, range(41))), "six"]
    with corpus_of(known, Sketcher(w=2), text=False) as corpus:
        with pytest.raises(ParameterError, match="cannot count exactly: the corpus keeps no text"):
            roughly.dedup(new, against=corpus)
        result = roughly.dedup(new, against=str(corpus.path), estimate=True)
        rows = result.removals().to_pylist()
        assert [(row["kept"], row["kind"]) for row in rows] == [
            ("a", "identical"),
            ("b", "lexical"),
            ("c", "identical"),
            ("d", "near"),
        ]
        assert result.stays.tolist() == [False, False, False, True, False, True]
        assert repr(result).endswith("keep first, against 4 documents)")
        with pytest.raises(ParameterError, match="none was kept"):
            list(result.largest(1))


def test_hashes_do_not_decide(monkeypatch: pytest.MonkeyPatch) -> None:
    """Documents whose keys all collide: each is compared with what it seems to be."""
    keys, forms = against.form_keys, equivalence.forms_in_order
    monkeypatch.setattr(against, "form_keys", lambda pool: keys(pool) * 0)
    monkeypatch.setattr(
        equivalence,
        "forms_in_order",
        lambda *pool: lambda: ((places, hashes * 0) for places, hashes in forms(*pool)()),
    )
    known = [
        Document(n, text, None) for n, text in (("a", "a b c"), ("b", "d e f"), ("c", "D e f"))
    ]
    with corpus_of(known, Sketcher()) as corpus:
        result = roughly.dedup(["A B C", "d e f", "g h i"], against=corpus)
    rows = result.removals().to_pylist()
    # Only the first of a group is compared with: the others are found by their shingles.
    assert [(row["kept"], row["kind"]) for row in rows] == [("a", "lexical"), ("b", "shingle")]


def test_the_sketcher_is_the_corpus_s() -> None:
    words = [f"w{n}" for n in range(30)]
    known = [Document("a", " ".join(words), None)]
    with corpus_of(known, Sketcher(w=3, select="mod:2", seed=7)) as corpus:
        result = roughly.dedup([" ".join(words[1:])], against=corpus)
        # 28 shingles of three words, and all but one of them.
        assert result.removals()["resemblance"].to_pylist() == [27 / 28]
        again = roughly.dedup(
            [" ".join(words)], against=corpus, sketcher=Sketcher(w=3, select="mod:2", seed=7)
        )
        assert again.removed == 1
        for other, message in (
            (Sketcher(), "w: differs from the corpus: 5, wanted 3 as in"),
            (Sketcher(w=3), "select: differs from the corpus: adaptive:200, wanted mod:2 as in"),
            (Sketcher(w=3, select="mod:2"), "seed: differs from the corpus: 0, wanted 7 as in"),
            (Sketcher(3, "mod:2", 7, bits=40), "bits: differs from the corpus: 40, wanted 64"),
        ):
            with pytest.raises(MismatchError, match=message):
                roughly.dedup(["a"], against=corpus, sketcher=other)


def test_a_mass_in_the_corpus_costs_no_square(monkeypatch: pytest.MonkeyPatch) -> None:
    """Hundreds of pages from one mould, none equivalent to another, in the corpus and outside."""
    counted = []
    real = Verifier.count

    def count(self: Verifier, a: Any, b: Any, *more: Any, along: int = 0, **options: Any) -> Any:
        counted.append(len(a) - along)
        return real(self, a, b, *more, along=along, **options)

    monkeypatch.setattr(Verifier, "count", count)
    chance = random.Random(5)
    base = [f"w{n}" for n in range(400)]

    def page(number: int) -> Document:
        words = list(base)
        for _ in range(4):
            words[chance.randrange(len(words))] = f"x{chance.random()}"
        return Document(str(number), " ".join(words), None)

    known, new = [page(n) for n in range(300)], [page(n) for n in range(300)]
    with corpus_of(known, Sketcher()) as corpus:
        result = roughly.dedup(given_as(new), against=corpus)
    assert (result.removed, result.in_corpus) == (300, 300)
    assert sum(counted) <= 9 * 300, "not 300 * 300 pairs: the hub and eight more for each"


# --- the command ----------------------------------------------------------------------------------

LONG = " ".join(f"w{n}" for n in range(60))


def contents_of(folder: Path) -> dict[str, tuple[bytes, int]]:
    return {
        str(path.relative_to(folder)): (path.read_bytes(), path.stat().st_mtime_ns)
        for path in folder.rglob("*")
        if path.is_file()
    }


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A corpus of three documents, and a file of five: one is in it, two are like one in it, two
    are like each other."""
    old = [{"id": "1", "text": LONG}, {"id": "2", "text": "a b c"}, {"id": "3", "text": "A b c"}]
    new = [
        {"id": "1", "text": LONG + " end", "date": "2020"},
        {"id": "2", "text": "first " + LONG, "date": "2026"},
        {"id": "3", "text": "something else that nobody has seen", "date": "2020"},
        {"id": "4", "text": "a b c", "date": "2024"},
        {"id": "5", "text": "Something else that nobody has seen!", "date": "2025"},
    ]
    for name, rows in (("old", old), ("new", new)):
        lines = "".join(json.dumps(row) + "\n" for row in rows)
        (tmp_path / f"{name}.jsonl").write_text(lines)
    made = command("cluster", "old.jsonl", "-o", "old.roughly", "--quiet", cwd=tmp_path)
    assert made.returncode == 0, made.stderr
    return tmp_path


@pytest.mark.parametrize(
    ("keep", "stays", "reason"),
    [("first", "3", ("5", "3")), ("newest", "5", ("3", "5")), ("longest", "3", ("5", "3"))],
)
def test_the_command(folder: Path, keep: str, stays: str, reason: tuple[str, str]) -> None:
    before = contents_of(folder / "old.roughly")
    run = command(
        "dedup", "new.jsonl", "-o", "out.jsonl", "--against", "old.roughly", "--keep", keep,
        cwd=folder,
    )  # fmt: skip
    assert run.returncode == 0, run.stderr
    assert b"5 documents, 4 removed (1 identical, 1 lexical, 2 near), 1 kept" in run.stderr
    assert b"3 removed for a document in old.roughly" in run.stderr
    assert contents_of(folder / "old.roughly") == before, "not a byte is changed, no file added"
    kept = [json.loads(line)["id"] for line in (folder / "out.jsonl").read_text().splitlines()]
    assert kept == [stays]
    removals = (folder / "out.jsonl.removals.jsonl").read_text()
    rows = [json.loads(line) for line in removals.splitlines()]
    # 56 shingles of five words, and one more.
    near: dict[str, Any] = {"kind": "near", "resemblance": 56 / 57, "containment": 56 / 57}
    same: dict[str, Any] = {"resemblance": 1, "containment": 1}
    expected = [
        {"removed": "1", "kept": "1", **near, "kept_in": "corpus"},
        {"removed": "2", "kept": "1", **near, "kept_in": "corpus"},
        {"removed": "4", "kept": "2", "kind": "identical", **same, "kept_in": "corpus"},
        {"removed": reason[0], "kept": reason[1], "kind": "lexical", **same, "kept_in": "input"},
    ]
    assert rows == sorted(expected, key=lambda row: str(row["removed"]))


def test_containment_and_what_is_said(folder: Path) -> None:
    part = " ".join(LONG.split()[10:40])
    (folder / "part.jsonl").write_text(json.dumps({"id": "p", "text": part}) + "\n")
    words = ("dedup", "part.jsonl", "--against", "old.roughly", "--json")
    run = command(*words, "-o", "a.jsonl", cwd=folder)
    assert json.loads(run.stdout)["removed"] == 0
    run = command(*words, "-o", "b.jsonl", "--containment", "0.9", cwd=folder)
    facts = json.loads(run.stdout)
    assert (facts["kinds"]["contained"], facts["in_corpus"]) == (1, 1)
    assert facts["against"] == "old.roughly"
    row = json.loads((folder / "b.jsonl.removals.jsonl").read_text())
    assert (row["kept"], row["containment"], row["kept_in"]) == ("1", 1, "corpus")
    run = command(
        "dedup", "new.jsonl", "-o", "c.jsonl", "--against", "old.roughly", "--explain", "2",
        cwd=folder,
    )  # fmt: skip
    assert run.returncode == 0 and b"w58 w59" in run.stdout


def test_a_corpus_that_somebody_writes_to_is_only_read(folder: Path) -> None:
    with WriterLock(folder / "old.roughly"):
        run = command(
            "dedup", "new.jsonl", "-o", "out.jsonl", "--against", "old.roughly", cwd=folder
        )
    assert run.returncode == 0, run.stderr


def test_options_that_the_corpus_fixes(folder: Path) -> None:
    words = ("dedup", "new.jsonl", "-o", "out.jsonl", "--against", "old.roughly")
    for option, message in (
        (("-w", "3"), "w: differs from the corpus: 3, wanted 5 as in old.roughly"),
        (("--select", "all"), "select: differs from the corpus: all, wanted adaptive:200 as in"),
        (("--seed", "1"), "seed: differs from the corpus: 1, wanted 0 as in old.roughly"),
        (("--preset", "broder97"), "w: differs from the corpus: 10, wanted 5 as in old.roughly"),
    ):
        assert_error(command(*words, *option, cwd=folder), message, "leave out")
    assert not (folder / "out.jsonl.unfinished").exists()
    same = ("-w", "5", "--select", "adaptive:200", "--seed", "0")
    assert command(*words, *same, cwd=folder).returncode == 0


def test_a_preset_s_corpus(folder: Path) -> None:
    make = ("cluster", "old.jsonl", "-o", "p.roughly", "--preset", "broder97", "--quiet")
    assert command(*make, cwd=folder).returncode == 0
    words = ("dedup", "new.jsonl", "--against", "p.roughly", "--quiet")
    assert command(*words, "-o", "a.jsonl", cwd=folder).returncode == 0
    assert command(*words, "-o", "b.jsonl", "--preset", "broder97", cwd=folder).returncode == 0
    assert (folder / "a.jsonl").read_bytes() == (folder / "b.jsonl").read_bytes()


def test_what_is_refused(folder: Path) -> None:
    words = ("dedup", "new.jsonl", "-o", "out.jsonl", "--against")
    assert_error(command(*words, "none.roughly", cwd=folder), "none.roughly: no corpus", "make one")
    make = ("cluster", "old.jsonl", "-o", "n.roughly", "--no-text", "--quiet")
    assert command(*make, cwd=folder).returncode == 0
    run = command(*words, "n.roughly", cwd=folder)
    assert_error(run, "n.roughly: cannot count exactly: the corpus keeps no text", "let sketches")
    run = command(*words, "n.roughly", "--estimate", "--explain", "1", cwd=folder)
    assert_error(run, "--explain: cannot show passages: n.roughly keeps no text", "leave out")
    assert command(*words, "n.roughly", "--estimate", cwd=folder).returncode == 0
    into = ("dedup", "new.jsonl", "-o", "old.roughly/out.jsonl", "--against", "old.roughly")
    run = command(*into, cwd=folder)
    assert_error(run, "old.roughly/out.jsonl: will not write: it is in the corpus", "choose")
    onto = ("dedup", "*.jsonl", "-o", "old.roughly", "--against", "old.roughly", "--force")
    run = command(*onto, cwd=folder)
    assert_error(run, "old.roughly: will not write: it is in the corpus old.roughly", "choose")


def test_a_directory_that_holds_the_corpus(folder: Path) -> None:
    run = command(
        "dedup", ".", "-o", "../out", "--against", "old.roughly", "--json",
        cwd=folder,
    )  # fmt: skip
    assert run.returncode == 0, run.stderr
    # All of old.jsonl is in the corpus, and one document of new.jsonl stays.
    assert (facts := json.loads(run.stdout))["documents"] == 8
    assert facts["kept"] == 1
    written = [path.name for path in (folder.parent / "out").rglob("*") if path.is_file()]
    assert sorted(written) == ["new.jsonl", "old.jsonl"]


def test_an_input_that_is_read_from_its_beginning(folder: Path) -> None:
    """Whose text is wanted comes from a copy, and from the corpus."""
    (folder / "new.jsonl.gz").write_bytes(gzip.compress((folder / "new.jsonl").read_bytes()))
    for name in ("new.jsonl", "new.jsonl.gz"):
        words = ("dedup", name, "-o", f"out.{name}", "--against", "old.roughly", "--explain", "3")
        run = command(*words, cwd=folder)
        assert run.returncode == 0 and b"w58 w59" in run.stdout, run.stderr
    removals = [folder / f"out.{name}.removals.jsonl" for name in ("new.jsonl", "new.jsonl.gz")]
    assert removals[0].read_bytes() == removals[1].read_bytes()
    packed = gzip.decompress((folder / "out.new.jsonl.gz").read_bytes())
    assert packed == (folder / "out.new.jsonl").read_bytes()


def test_none_on_either_side(folder: Path) -> None:
    (folder / "empty.jsonl").write_text("")
    make = ("cluster", "empty.jsonl", "-o", "e.roughly", "--quiet")
    assert command(*make, cwd=folder).returncode == 0
    words = ("dedup", "new.jsonl", "-o", "a.jsonl", "--against", "e.roughly", "--json")
    facts = json.loads(command(*words, cwd=folder).stdout)
    assert (facts["removed"], facts["in_corpus"]) == (2, 0)
    words = ("dedup", "empty.jsonl", "-o", "b.jsonl", "--against", "old.roughly", "--json")
    assert json.loads(command(*words, cwd=folder).stdout)["documents"] == 0
    assert (folder / "b.jsonl.removals.jsonl").read_bytes() == b""
