"""`roughly cluster` and the commands of a corpus with a method and conditions."""

import json
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq
import pytest

from roughly import Corpus
from roughly.cli.main import main

SHARED = " ".join(f"w{i}" for i in range(60))
DOCUMENTS = [
    {"id": "http://a.org/1", "text": SHARED, "language": "en"},
    {"id": "http://a.org/2", "text": f"{SHARED} more", "language": "en"},
    {"id": "http://b.org/1", "text": f"{SHARED} other", "language": "de"},
    {"id": "http://b.org/2", "text": " ".join(reversed(SHARED.split())), "language": "en"},
    {"id": "none", "text": f"{SHARED} none"},
]


@pytest.fixture
def pages(tmp_path: Path) -> Path:
    path = tmp_path / "pages.jsonl"
    path.write_text("".join(json.dumps(document) + "\n" for document in DOCUMENTS))
    return path


def clusters(capsys: pytest.CaptureFixture[str], *words: Any) -> list[list[str]]:
    assert main(["cluster", *map(str, words), "--json"]) == 0
    rows = [json.loads(line) for line in capsys.readouterr().out.splitlines()]
    return [row["members"] for row in rows]


def test_methods(pages: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    ids = [document["id"] for document in DOCUMENTS]
    near, turned = [ids[0], ids[1], ids[2], ids[4]], ids[3]
    for number, (options, expected) in enumerate(
        [
            ([], [near]),
            (["--method", "both", "-k", "10"], [near]),
            (["--method", "simhash", "-k", "10"], [[*ids[:3], turned, ids[4]]]),
            (["--within", "host"], [ids[:2]]),
            (["--within", "language"], [ids[:2]]),
            (["--size-ratio", "1"], [[ids[1], ids[2], ids[4]]]),
            (["--method", "simhash", "-k", "10", "--within", "host"], [ids[:2], ids[2:4]]),
            (["--method", "simhash", "-k", "0", "--stem", "english"], [[ids[0], turned]]),
        ]
    ):
        path = tmp_path / f"{number}.roughly"
        assert clusters(capsys, pages, "-o", path, *options, "--quiet") == expected, options
        assert clusters(capsys, path) == expected
        assert main(["verify", str(path)]) == 0
        capsys.readouterr()


def test_tables_and_sites(pages: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "c.roughly"
    assert main(["cluster", str(pages), "-o", str(path), "--method", "both", "-k", "10"]) == 0
    shown = capsys.readouterr().out
    assert "1 cluster of 4 documents at resemblance 0.5 and simhashes within 10 bits" in shown
    assert "1 same-site pair, 2 cross-site" in shown
    rows = pq.read_table(path / "pairs.parquet").to_pylist()
    assert sorted(row["same_site"] for row in rows if row["same_site"] is not None) == [
        False,
        False,
        True,
    ]
    assert all(row["distance"] <= 10 for row in rows)
    capsys.readouterr()
    assert main(["cluster", str(path), "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert (found["same_site_pairs"], found["cross_site_pairs"]) == (1, 2)
    assert "cross-site" in (path / "report.html").read_text()


def test_a_corpus_lives_on(pages: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Added to, removed from, compacted, asked: as if it had been made of what is left."""
    path = tmp_path / "c.roughly"
    options = ["--method", "simhash", "-k", "10", "--within", "language", "--quiet"]
    assert main(["cluster", str(pages), "-o", str(path), *options]) == 0
    more = tmp_path / "more.jsonl"
    more.write_text(
        json.dumps({"id": "http://c.org/1", "text": SHARED, "language": "de"})
        + "\n"
        + json.dumps({"id": "http://c.org/2", "text": f"{SHARED} last", "language": "en"})
        + "\n"
    )
    assert main(["add", str(path), str(more)]) == 0
    assert main(["remove", str(path), "http://a.org/1"]) == 0
    capsys.readouterr()
    expected = [
        ["http://a.org/2", "http://b.org/2", "http://c.org/2"],
        ["http://b.org/1", "http://c.org/1"],
    ]
    assert clusters(capsys, path) == expected
    for words in (["compact", str(path)], ["compact", str(path), "--seed", "7"]):
        assert main(words) == 0
        assert main(["verify", str(path)]) == 0
        capsys.readouterr()
        assert clusters(capsys, path) == expected
    assert main(["info", str(path)]) == 0
    assert "clusters: by simhashes within 10 bits, within language\n" in capsys.readouterr().out
    assert main(["info", str(path), "--json"]) == 0
    condition = json.loads(capsys.readouterr().out)["settings"]["condition"]
    assert (condition["method"], condition["distance"], condition["within"]) == (
        "simhash",
        10,
        "language",
    )
    assert main(["cluster", str(path), "-k", "0", "--json"]) == 0
    capsys.readouterr()
    corpus = Corpus(path)
    assert len(corpus.collapse(["http://a.org/2", "http://c.org/2"]).groups) == 1
    assert corpus.lost("http://a.org/2") is not None
    assert len(corpus.cluster_of("http://c.org/1")) == 2


def test_preset_of_the_2007_paper(
    pages: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    one, other = tmp_path / "one", tmp_path / "other"
    found = clusters(capsys, pages, "-o", one, "--preset", "manku07", "--quiet")
    assert found == clusters(
        capsys, pages, "-o", other, "--method", "simhash", "-k", "3", "--quiet"
    )
    assert main(["cluster", str(pages), "-o", "x", "--preset", "manku07", "-w", "3"]) == 2


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["--method", "simhash", "--threshold", "0.5"], "threshold: nothing to apply to"),
        (["-k", "2"], "distance: nothing to apply to"),
        (["--stem", "english"], "simhasher: nothing to apply to"),
        (["--within", "colour"], "colour"),
        (["--method", "simhash", "--preset", "broder97"], "preset: cannot stand beside"),
    ],
)
def test_refusals(
    words: list[str],
    message: str,
    pages: Path,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
) -> None:
    assert main(["cluster", str(pages), "-o", str(tmp_path / "c"), *words]) == 2
    assert message in capsys.readouterr().err


def test_what_is_fixed(pages: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = str(tmp_path / "c.roughly")
    assert main(["cluster", str(pages), "-o", path, "--method", "simhash", "--quiet"]) == 0
    for words, message in (
        (["--method", "both"], "--method: cannot be changed"),
        (["--within", "host"], "--within: cannot be changed"),
        (["--size-ratio", "0.5"], "--size-ratio: cannot be changed"),
        (["--features", "terms"], "--features: cannot be changed"),
        (["--threshold", "0.5"], "was clustered by simhash alone"),
        (["-k", "4"], "distance: above that of the clustering: 4, wanted 3 or less"),
    ):
        assert main(["cluster", path, *words]) == 2
        assert message in capsys.readouterr().err
