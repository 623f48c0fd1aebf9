"""The generated Web has the paper's mix, and shares what it should share and nothing else."""

import hashlib
from collections import defaultdict
from itertools import combinations
from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest

from bench import web, web1997
from bench.block_text import names, pool
from bench.engine import Clustering, Run
from bench.shingle import shingles, words_fastest
from roughly import _core
from roughly.documents.batch import SCHEMA

W = 10


def texts(documents: int, kind: web.Kind = web.TEXT, rows: int = 1000) -> list[str]:
    found = web.batches(documents, batch_rows=rows, kind=kind)
    return [content.decode() for batch in found for content in batch["content"].to_pylist()]


def sets(documents: list[str]) -> list[set[str]]:
    return [set(shingles(words_fastest(text), W)) for text in documents]


# --- the mix --------------------------------------------------------------------------------------


def test_a_unit_has_the_proportions_of_the_paper() -> None:
    """Of 30 million documents 5.3 in 2.1 million clusters, 7 in 1.5 million: a unit is 300 of
    30,000,000, so a hundred-thousandth."""
    assert (len(web.IDENTICAL), sum(web.IDENTICAL)) == (21, 53)
    assert (len(web.MIXED), sum(web.MIXED)) == (15, 70)
    assert len(web.unit()) == 300
    assert min(web.DISTINCT) == 2  # or a mixed cluster would be an identical one
    assert all(one <= two for one, two in zip(web.DISTINCT, web.MIXED, strict=True))


def test_the_mix_of_a_corpus() -> None:
    found = web.places(3000, 0, 3000)
    members: dict[int, list[int]] = defaultdict(list)
    for content, original in zip(found.content.tolist(), found.original.tolist(), strict=True):
        members[original].append(content)
    clusters = [contents for contents in members.values() if len(contents) > 1]
    identical = [contents for contents in clusters if len(set(contents)) == 1]
    mixed = [contents for contents in clusters if len(set(contents)) > 1]
    assert (len(identical), sum(map(len, identical))) == (210, 530)
    assert (len(mixed), sum(map(len, mixed))) == (150, 700)
    assert len(np.unique(found.content)) == 2500
    # One region of sites.
    sizes = np.unique(
        found.site[np.unique(found.content, return_index=True)[1]], return_counts=True
    )
    assert sorted(sizes[1].tolist()) == sorted(web.SITES)


def test_copies_lie_apart() -> None:
    """A reader that looks at its neighbours only would find nothing."""
    found = web.places(30_000, 0, 30_000)
    assert not (np.diff(found.original) == 0).any()


# --- the text -------------------------------------------------------------------------------------


@pytest.mark.parametrize("kind", [web.TEXT, web.HTML])
def test_documents_are_of_5_kb_and_never_change(kind: web.Kind) -> None:
    documents = texts(600, kind)
    assert 4_700 < sum(map(len, documents)) / 600 < 5_300
    assert min(map(len, documents)) > 2_000
    assert documents == texts(600, kind, rows=7)
    digest = hashlib.blake2b("".join(documents).encode(), digest_size=8).hexdigest()
    assert digest == {False: "64bcbe31a3ded630", True: "e527e114756faa67"}[kind.html]
    other = next(iter(web.batches(600, seed=1, kind=kind)))["content"][0].as_py()
    assert not set(shingles(words_fastest(other.decode()), W)) & set(
        shingles(words_fastest(documents[0]), W)
    )


def test_identical_are_those_with_one_content() -> None:
    documents = texts(600)
    contents = web.places(600, 0, 600).content.tolist()
    of_content: dict[int, set[str]] = defaultdict(set)
    for content, text in zip(contents, documents, strict=True):
        of_content[content].add(text)
    assert all(len(found) == 1 for found in of_content.values())
    assert len(set(documents)) == len(of_content) == 500


def test_clusters_resemble_and_others_share_boilerplate_only() -> None:
    documents = texts(300)
    found = web.places(300, 0, 300)
    shingle_sets = sets(documents)
    shared = 10 * (web.NOTICE_BLOCKS + web.TEXT.site_blocks)
    boilerplate = [set(shingles(words_fastest(text)[:shared], W)) for text in documents]
    together = sites = notices = 0
    for a, b in combinations(range(300), 2):
        common = shingle_sets[a] & shingle_sets[b]
        if found.original[a] == found.original[b]:
            together += 1
            assert len(common) / len(shingle_sets[a] | shingle_sets[b]) > 0.5
        else:
            assert common <= boilerplate[a] & boilerplate[b]
            same_site = bool(found.site[a] == found.site[b])
            same_notice = bool((found.original[a] - found.original[b]) % web.NOTICES == 0)
            # Two blocks of ten words are 11 shingles, three are 21, five are 41.
            assert len(common) == [0, 11, 21, 41][2 * same_site + same_notice]
            sites += same_site
            notices += same_notice
    assert together == sum(size * (size - 1) // 2 for size in web.IDENTICAL + web.MIXED)
    assert sites > 1000 and notices > 10_000


def test_every_ten_words_hold_a_stamp() -> None:
    """Else a shingle of ten words could be in two unrelated documents."""
    for html in (False, True):
        rows = [bytes(row).decode() for row in pool(html).view(np.uint8)]
        assert {len(_core.tokenize(row.encode(), html)[0].split()) for row in rows} == {10}
        assert all(row.startswith("stampstm ") and not row[-1].isalnum() for row in rows)


def test_markup_is_no_text() -> None:
    plain, marked = (next(iter(web.batches(300, kind=kind))) for kind in (web.TEXT, web.HTML))
    assert not any(plain["html"].to_pylist())
    assert all(marked["html"].to_pylist())
    content = marked["content"][5].as_py()
    words = _core.tokenize(content, True)[0].split()
    assert len(words) == len(content) // 10  # a block of 100 bytes has ten words
    assert 0.35 < 1 - sum(map(len, words)) / len(content) < 0.65


def test_batches_are_as_readers_yield_them() -> None:
    first, second = web.batches(700, batch_rows=400)
    for batch in (first, second):
        batch.validate(full=True)
        assert batch.schema == SCHEMA
    ids = pa.concat_arrays([first["id"], second["id"]]).to_pylist()
    assert len(set(ids)) == 700
    assert {len(id) for id in ids} == {60}
    assert second["position"].to_pylist()[0] == 400
    assert set(first["encoding"].to_pylist()) == {"utf-8"}


def test_names() -> None:
    rows = names("a##@", {"#": np.array([7, 123]), "@": np.array([1, 2])})
    assert [bytes(row) for row in rows] == [b"a071", b"a232"]


# --- what the paper's expansion makes of it -------------------------------------------------------


def test_expansion_by_hand() -> None:
    elements = np.array([1, 1, 1, 2, 2, 3], dtype=np.uint64)
    assert web.expansion(elements) == 3 + 1
    assert web.expansion(elements, most=2) == 1


@pytest.mark.parametrize("kind", [web.TEXT, web.HTML])
def test_pairs_of_an_element(kind: web.Kind) -> None:
    """As many as the paper had, at least 3; too many would be another workload."""
    elements, pairs = web1997.expansion(20_000, 0, kind)
    assert 3.0 <= pairs < 4.5
    # The paper: 600 million of 30 million documents, which were HTML.
    assert 19 < elements < 21 if kind.html else 32 < elements < 35


# --- the run --------------------------------------------------------------------------------------


def run(documents: int, seconds: float, clusters: int, clustered: int) -> Run:
    clustering = Clustering(clusters, clustered, 9, {"Sketching": 2.0, "Checking": 1.0})
    return Run(documents, 5 * documents, seconds, seconds + 2, 1.0, 2.0, 1, 1, clustering)


def test_lost_clusters_are_noticed() -> None:
    assert web1997.check_clusters(run(300_000, 1, 36_000, 123_000)).passed
    assert web1997.check_clusters(run(300_000, 1, 35_500, 121_500)).passed
    assert not web1997.check_clusters(run(300_000, 1, 34_000, 123_000)).passed
    assert not web1997.check_clusters(run(300_000, 1, 36_000, 110_000)).passed
    assert not web1997.check_clusters(run(300_000, 1, 36_000, 200_000)).passed


def test_the_phases_stand_beside_the_paper() -> None:
    rows = {str(row[0]): row[1:] for row in web1997.phase_table(run(300_000, 8.64, 1, 2)).rows}
    assert list(rows)[-2:] == ["Checking", "Total"]
    assert rows["Shingle merging"] == [1.7, None, None, None]
    # 8.64 s for a hundredth of the documents is a hundredth of a day for all.
    days, seconds, full, times = rows["Total"]
    assert days == 10.5
    assert (seconds, full, times) == pytest.approx((8.64, 0.01, 1050))


def test_exponent() -> None:
    assert web1997.exponent([run(10**n, 3.0 * 10 ** (1.2 * n), 1, 2) for n in (3, 4, 5)]) == (
        pytest.approx(1.2)
    )


def test_a_small_run(tmp_path: Path) -> None:
    found = web1997.cluster(tmp_path, 3000, seed=0, html=False, memory=None)
    assert found.documents == 3000
    assert found.bytes > 3000 * 4_700
    assert 0 < found.generation_s < found.wall_s
    assert web1997.check_clusters(found).passed
