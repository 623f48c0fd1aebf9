"""Removed documents are gone everywhere at once, and documents of every segment are there: whatever
asks a corpus that grew gets what one made at once of the same documents would give.
"""

from pathlib import Path
from typing import Any

import pytest

import roughly
from roughly import Corpus, Sketcher
from roughly.clustering.common import common_shingles
from roughly.report.cluster_report import gather
from tests.test_corpus_crash import documents

SKETCHER = Sketcher(w=2, select="adaptive:20")
GONE = ["0001", "0003", "0010", "0022", "0041"]


@pytest.fixture(autouse=True)
def no_waiting(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("os.fsync", lambda descriptor: None)


def left() -> list[dict[str, str]]:
    return [each for each in documents(0, 60) if each["id"] not in GONE]


@pytest.fixture
def grown(tmp_path: Path) -> Corpus:
    corpus = Corpus.create(tmp_path / "grown", SKETCHER, "0.5", containment="0.8")
    corpus.add(documents(0, 25))
    corpus.add(documents(25, 5))
    corpus.remove(GONE[:3])
    corpus.add(documents(30, 30))
    corpus.remove(GONE)
    assert len(corpus.manifest.segments) == 3 and corpus.manifest.removed == 5
    return corpus


@pytest.fixture
def at_once(tmp_path: Path) -> Corpus:
    corpus = Corpus.create(tmp_path / "once", SKETCHER, "0.5", containment="0.8")
    corpus.add(left())
    return corpus


def test_clusters_stars_and_tables(grown: Corpus, at_once: Corpus) -> None:
    for options in ({}, {"threshold": "0.7"}, {"linkage": "star", "containment": "none"}):
        found, wanted = (each.clusters(**options) for each in (grown, at_once))  # type: ignore[arg-type]
        assert list(found) == list(wanted) and len(found) > 5
        assert found.documents().equals(wanted.documents())
        assert found.clusters().equals(wanted.clusters())
        key: Any = str
        assert sorted(found.pairs().to_pylist(), key=key) == sorted(
            wanted.pairs().to_pylist(), key=key
        )
    in_memory = roughly.cluster(left(), 0.5, containment=0.8, sketcher=SKETCHER)
    assert list(grown.clusters()) == list(in_memory)
    assert repr(grown.clusters()) == repr(in_memory)


def test_the_report_and_common_shingles(grown: Corpus, at_once: Corpus) -> None:
    reports = []
    for corpus in (grown, at_once):
        report = gather(corpus.clusters(), title="t")
        told = (report.documents, report.bytes, report.clusters, report.clustered, report.kinds)
        reports.append((*told, report.distinct, common_shingles(corpus.clusters(), 7)))
    assert reports[0] == reports[1] and reports[0][0] == 55


def test_find(grown: Corpus, at_once: Corpus) -> None:
    for each in documents(0, 60)[::3]:
        found, wanted = (
            [match.to_dict() for match in corpus.find(each["text"], threshold="0.3", limit=None)]
            for corpus in (grown, at_once)
        )
        assert found == wanted and not {match["id"] for match in found} & set(GONE)


def test_dedup_against(grown: Corpus, at_once: Corpus) -> None:
    new = [*documents(0, 60)[::4], {"id": "new", "text": "nothing like it is there at all"}]
    for options in ({"estimate": True}, {}, {"containment": 0.8}, {"keep": "newest"}):
        found, wanted = (
            roughly.dedup(new, 0.7, against=corpus, **options)  # type: ignore[arg-type]
            for corpus in (grown, at_once)
        )
        assert found.removals().to_pylist() == wanted.removals().to_pylist()
        assert not {row["kept"] for row in found.removals().to_pylist()} & set(GONE)


def test_after_compaction_too(grown: Corpus, at_once: Corpus) -> None:
    before = grown.info().bytes["segments"]
    grown.compact()
    assert grown.info().bytes["segments"] < before
    assert grown.clusters().documents().equals(at_once.clusters().documents())
    assert list(grown.clusters()) == list(at_once.clusters())
    grown.add(documents(100, 3))
    assert len(grown) == 58 and grown.verify() == []
