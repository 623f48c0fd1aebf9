"""`roughly dedup` with a method and conditions, as its user meets it; and runs that are resumed."""

import json
from pathlib import Path
from typing import Any

import pytest

import roughly
from roughly import Simhasher
from roughly.clustering.sketching import identity, write_segment
from roughly.condition import make_condition
from roughly.deduplication import simhash_decision
from roughly.documents import open_documents, open_inputs
from roughly.errors import MismatchError, ParameterError
from roughly.storage.steps import Steps
from tests.test_cli import assert_error
from tests.test_cli import roughly as command

WORDS = [f"word{n}" for n in range(120)]
TEXT = " ".join(WORDS)
# The same words in another order: the same simhash, hardly a shingle in common.
SHUFFLED = " ".join(WORDS[1::2] + WORDS[::2])
REVERSED = " ".join(WORDS[::-1])
# Nearly the same shingles, one of them with very much weight: another simhash.
LOUD = TEXT + " buy" * 60
PAGES = [
    {"url": "http://a.example/1", "text": TEXT, "lang": "en"},
    {"url": "http://a.example/2", "text": TEXT + ".", "lang": "en"},
    {"url": "http://b.example/1", "text": TEXT.upper(), "lang": "de"},
    {"url": "http://b.example/2", "text": SHUFFLED, "lang": "en"},
    {"url": "http://a.example/3", "text": LOUD, "lang": "en"},
    {"url": "http://a.example/4", "text": "", "lang": "en"},
    {"url": "http://a.example/5", "text": "", "lang": "en"},
]


@pytest.fixture
def pages(tmp_path: Path) -> Path:
    write(tmp_path / "a.jsonl", PAGES)
    return tmp_path


def write(path: Path, rows: list[dict[str, Any]]) -> None:
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))


def removals(folder: Path, name: str = "b.jsonl") -> list[dict[str, Any]]:
    lines = (folder / f"{name}.removals.jsonl").read_text().splitlines()
    return [json.loads(line) for line in lines]


def test_the_words_of_the_test() -> None:
    """What the pages are said to be, by the parts that have tests of their own."""
    one, shuffled, loud = (Simhasher().simhash(text) for text in (TEXT, SHUFFLED, LOUD))
    assert one is not None and shuffled == one and loud is not None
    assert (one ^ loud).bit_count() > 10
    assert roughly.compare(TEXT, SHUFFLED, w=5).resemblance < 0.1
    assert roughly.compare(TEXT, LOUD, w=5).resemblance > 0.9


@pytest.mark.parametrize(
    ("options", "expected"),
    [
        ({}, "a/2 lexical, b/1 lexical, a/3 near, a/5 identical"),
        ({"method": "both"}, "a/2 lexical, b/1 lexical, a/5 identical"),
        ({"method": "simhash"}, "a/2 lexical, b/1 lexical, b/2 near, a/5 identical"),
        ({"within": "host"}, "a/2 lexical, a/3 near, a/5 identical"),
        ({"within": "lang"}, "a/2 lexical, a/3 near, a/5 identical"),
        ({"method": "simhash", "within": "lang"}, "a/2 lexical, b/2 near, a/5 identical"),
        ({"size_ratio": 1}, "a/2 lexical, b/1 lexical, a/5 identical"),
    ],
)
def test_who_goes(options: dict[str, Any], expected: str) -> None:
    result = roughly.dedup(PAGES, id_field="url", **options)
    found = result.removals().to_pylist()
    assert ", ".join(f"{shown(row['removed'])} {row['kind']}" for row in found) == expected
    sites = [row["removed"][:17] == row["kept"][:17] for row in found]
    assert (result.same_site, result.cross_site) == (sum(sites), len(sites) - sum(sites))
    if "method" not in options:
        assert all("distance" not in row for row in found)
        return
    # An empty document has no simhash.
    assert [row["distance"] for row in found] == [0] * (len(found) - 1) + [None]
    near = [(row["resemblance"], row["containment"]) for row in found if row["kind"] == "near"]
    assert near in ([], [(0, 0)]), "the same words, but no five of them in the same order"


def shown(id: str) -> str:
    """http://a.example/1 -> a/1"""
    return id.removeprefix("http://").replace(".example", "")


def test_the_command(pages: Path) -> None:
    words = ("--preset", "manku07", "-k", "2", "--json")
    run = command("dedup", "a.jsonl", "-o", "b.jsonl", *words, cwd=pages)
    assert run.returncode == 0, run.stderr
    assert (pages / "b.jsonl.removals.jsonl").read_text().splitlines()[2:] == [
        '{"removed": "http://b.example/2", "kept": "http://a.example/1", "kind": "near",'
        ' "resemblance": 0, "containment": 0, "distance": 0}',
        '{"removed": "http://a.example/5", "kept": "http://a.example/4", "kind": "identical",'
        ' "resemblance": 1, "containment": 1, "distance": null}',
    ]
    facts = json.loads(run.stdout)
    assert (facts["removed"], facts["same_site"], facts["cross_site"]) == (4, 2, 2)
    run = command("dedup", "a.jsonl", "-o", "c.jsonl", "--within", "host", cwd=pages)
    assert b"3 removed for a document of the same site, 0 for one of another" in run.stderr


def test_passages(pages: Path) -> None:
    words = ("--method", "simhash", "--explain", "4", "--quiet")
    run = command("dedup", "a.jsonl", "-o", "b.jsonl", *words, cwd=pages)
    assert run.returncode == 0, run.stderr
    assert b"http://b.example/2" in run.stdout and b"word1" in run.stdout


@pytest.mark.parametrize(
    ("words", "message", "hint"),
    [
        (["--method", "simhash", "--threshold", "0.8"], "threshold: nothing to apply to", "say"),
        (["-k", "2"], "distance: nothing to apply to: simhashes play no part", "choose"),
        (["--stem", "english"], "simhasher: nothing to apply to", "choose"),
        (["--within", "colour"], "a.jsonl: no field 'colour' for the category", "name one"),
    ],
)
def test_what_cannot_be(pages: Path, words: list[str], message: str, hint: str) -> None:
    assert_error(command("dedup", "a.jsonl", "-o", "b.jsonl", *words, cwd=pages), message, hint)
    assert sorted(path.name for path in pages.iterdir()) == ["a.jsonl"]


def test_the_same_of_python() -> None:
    result = roughly.dedup(PAGES, method="simhash", distance=2, id_field="url")
    assert repr(result) == (
        "Deduplicated(7 documents, 3 kept, 4 removed (1 identical, 2 lexical, 1 near) at distance"
        " 2, keep first)"
    )
    assert (result.same_site, result.cross_site) == (2, 2)
    assert result.removals().column_names[-1] == "distance"
    result = roughly.dedup(
        PAGES, "0.8", method="both", size_ratio=0.5, within="lang", id_field="url"
    )
    assert repr(result).endswith(
        "at threshold 0.8, distance 3, size ratio 0.5, within lang, keep first)"
    )
    for wrong, message in (
        ({"threshold": 0.5}, "threshold: nothing to apply to"),
        ({"containment": 0.5}, "containment: nothing to apply to"),
        ({"estimate": True}, "estimate: nothing to apply to"),
        ({"distance": 11}, "distance: out of range"),
        ({"size_ratio": 2}, "size ratio: out of range"),
    ):
        with pytest.raises(ParameterError, match=message):
            roughly.dedup(["a"], method="simhash", **wrong)  # type: ignore[arg-type]
    with pytest.raises(ParameterError, match="method: unknown: 'magic'"):
        roughly.dedup(["a"], method="magic")


def test_documents_of_the_caller_need_the_field(pages: Path) -> None:
    documents = open_documents(pages / "a.jsonl")
    with pytest.raises(ParameterError, match="opened with the category field None: wanted 'lang'"):
        roughly.dedup(documents, within="lang")
    documents = open_documents(pages / "a.jsonl", category_field="lang")
    assert roughly.dedup(documents, within="lang").removed == 3


def test_what_simhashes_are_made_of() -> None:
    """By shingles the order of words counts."""
    simhasher = Simhasher("shingles:3")
    assert roughly.dedup(PAGES, method="simhash", simhasher=simhasher).counts["near"] == 0


def test_against_a_corpus(pages: Path) -> None:
    made = ("--method", "both", "--within", "lang", "--stem", "english")
    run = command("cluster", "a.jsonl", "-o", "c.roughly", *made, "--quiet", cwd=pages)
    assert run.returncode == 0, run.stderr
    new = [
        {"url": "http://c.example/1", "text": REVERSED, "lang": "en"},
        {"url": "http://b.example/9", "text": TEXT, "lang": "de"},
        {"url": "http://c.example/3", "text": TEXT, "lang": "fr"},
        {"url": "http://c.example/4", "text": SHUFFLED, "lang": "de"},
    ]
    write(pages / "new.jsonl", new)
    # What the corpus was made with need not be said again.
    words = ("--method", "simhash", "-k", "3", "--within", "lang", "--against", "c.roughly")
    run = command("dedup", "new.jsonl", "-o", "b.jsonl", *words, "--json", cwd=pages)
    assert run.returncode == 0, run.stderr
    found = [(row["removed"], row["kept"], row["kind"], row["kept_in"]) for row in removals(pages)]
    assert found == [
        ("http://c.example/1", "http://a.example/1", "near", "corpus"),
        ("http://b.example/9", "http://b.example/1", "lexical", "corpus"),
        ("http://c.example/4", "http://b.example/1", "near", "corpus"),
    ]
    facts = json.loads(run.stdout)
    assert (facts["same_site"], facts["cross_site"], facts["in_corpus"]) == (1, 2, 3)
    other = ("--method", "simhash", "--stop-words", "english", "--against", "c.roughly")
    run = command("dedup", "new.jsonl", "-o", "d.jsonl", *other, cwd=pages)
    assert_error(run, "simhashes: stored with the documents are others", "use the options")

    corpus = pages / "c.roughly"
    both = {"method": "both", "within": "lang", "simhasher": Simhasher(stem="english")}
    # Hosts are in the ids.
    for options in (both, {"within": "host"}):
        result = roughly.dedup(new, against=corpus, id_field="url", **options)
        assert result.removals()["kept"].to_pylist() == ["http://b.example/1"]
    with pytest.raises(MismatchError, match="categories: stored with the documents are others"):
        roughly.dedup(new, within="url", against=corpus)
    with pytest.raises(MismatchError, match="simhashes: stored with the documents are others"):
        roughly.dedup(new, method="both", against=corpus, simhasher=Simhasher())


def test_a_corpus_without_simhashes(pages: Path) -> None:
    assert command("cluster", "a.jsonl", "-o", "c.roughly", "--quiet", cwd=pages).returncode == 0
    words = ("--method", "simhash", "--against", "c.roughly")
    run = command("dedup", "a.jsonl", "-o", "b.jsonl", *words, cwd=pages)
    assert_error(run, "simhashes: not stored with the documents", "make the corpus again")
    with pytest.raises(MismatchError, match="categories: not stored with the documents"):
        roughly.dedup(PAGES, within="lang", against=pages / "c.roughly")


def test_a_corpus_without_text_has_simhashes(pages: Path) -> None:
    made = ("--method", "simhash", "--no-text", "--quiet")
    assert command("cluster", "a.jsonl", "-o", "c.roughly", *made, cwd=pages).returncode == 0
    result = roughly.dedup(PAGES, method="simhash", against=pages / "c.roughly", id_field="url")
    kinds = [row["kind"] for row in result.removals().to_pylist()]
    assert kinds == [
        "identical",
        "lexical",
        "lexical",
        "identical",
        "identical",
        *["identical"] * 2,
    ]
    with pytest.raises(ParameterError, match="cannot count exactly: the corpus keeps no text"):
        roughly.dedup(PAGES, method="both", against=pages / "c.roughly", id_field="url")


def test_a_run_goes_on_only_with_its_condition(pages: Path) -> None:
    work = pages / "b.jsonl.unfinished"
    condition = make_condition("both", 5)
    documents, sketcher = open_inputs([str(pages / "a.jsonl")]), roughly.Sketcher(words=0)
    own = identity(documents, sketcher, condition.simhasher) | {"condition": condition.to_dict()}
    steps = Steps(work, own, durable=False)
    simhasher = condition.simhasher
    folder = work / "segment"
    write_segment(documents, sketcher, folder, steps, text=False, threads=1, simhasher=simhasher)
    steps.finish()
    (attributes,) = folder.glob("attributes-*.arrow")
    before = attributes.stat().st_mtime_ns
    dedup = ("dedup", str(pages / "a.jsonl"), "-o", "b.jsonl")
    for words in ((), ("--method", "both")):
        run = command(*dedup, *words, cwd=pages)
        assert_error(run, "b.jsonl.unfinished: cannot go on: a run was begun there with", "use")
        assert attributes.stat().st_mtime_ns == before
    assert command(*dedup, "--method", "both", "-k", "5", cwd=pages).returncode == 0
    assert not work.exists() and len(removals(pages)) == 3


def test_a_mass_by_simhash_holds_no_pairs(monkeypatch: pytest.MonkeyPatch) -> None:
    """Thousands of documents with one simhash, and of the same in many categories."""
    texts = [
        {
            "id": f"http://h{n % 500}.example/{n}",
            "text": " ".join(WORDS[n % 97 :] + WORDS[: n % 97]),
        }
        for n in range(4000)
    ]
    monkeypatch.setattr(simhash_decision, "_STEP", 1000)
    result = roughly.dedup(texts, method="simhash", memory="512M")
    assert len(result) == 1 and set(result.removals()["kept"].to_pylist()) == {texts[0]["id"]}
    # There are 97 forms, and 42 documents of the first one's, of which it is one.
    assert (result.counts["identical"], result.counts["near"]) == (41, 4000 - 42)
    result = roughly.dedup(texts, method="simhash", distance=0, within="host", memory="512M")
    assert (len(result), result.same_site, result.cross_site) == (500, 3500, 0)
