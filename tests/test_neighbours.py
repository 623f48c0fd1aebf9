"""Neighbours by the inverted index: the same rows and the same counts as comparing with every
stored sketch, whatever the selection, floors, segments, removed rows and threads."""

import random
from collections.abc import Sequence
from fractions import Fraction
from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np
import pytest
from hypothesis import Phase, given, settings
from hypothesis import strategies as st

import roughly
from roughly.documents import open_documents
from roughly.errors import DamageError, ParameterError
from roughly.search import searcher as searching
from roughly.search.searcher import QueryColumns, Searcher, Shelf
from roughly.sketch import Sketch
from roughly.storage.index_writer import write_index
from roughly.storage.segment import Segment
from roughly.storage.segment_index import FILES, SegmentIndex, index_path
from roughly.storage.segment_part import part_path
from roughly.storage.segment_writer import SegmentWriter
from roughly.storage.steps import Steps
from tests.optional import FULL

pytestmark = pytest.mark.core

Row = tuple[int, int, int, int, int]


def texts(count: int, seed: int, large: bool = False) -> list[str]:
    """Documents of few and of many words, or of many only; some words are in nearly all, and some
    documents are copies, extracts or edited copies of others."""
    lengths = [90, 150, 300] if large else [0, 1, 3, 20, 120]
    chance = random.Random(seed)
    common = [f"c{i}" for i in range(12)]
    found: list[str] = []
    for _ in range(count):
        kind = chance.random()
        if found and kind < 0.15:
            words = chance.choice(found).split()
        elif found and kind < 0.45:
            words = chance.choice(found).split()
            words = words[: chance.randrange(len(words) // 2 if large else 0, len(words) + 1)]
            words += [f"w{chance.randrange(4000)}" for _ in range(chance.randrange(6))]
        else:
            words = [f"w{chance.randrange(4000)}" for _ in range(chance.choice(lengths))]
        if chance.random() < 0.95:
            words += common[: chance.randrange(4, len(common))]  # enough of them to be lists
        chance.shuffle(words)
        found.append(" ".join(words))
    return found


def make_segment(
    directory: Path, documents: Sequence[str], sketcher: roughly.Sketcher, part_rows: int = 64
) -> Segment:
    rows = [{"id": f"http://example.com/{i}", "text": text} for i, text in enumerate(documents)]
    with (
        Steps(directory, {}, durable=False) as steps,
        SegmentWriter(
            directory / "segment", sketcher.parameters, text=True, steps=steps, part_rows=part_rows
        ) as writer,
    ):
        for batch in open_documents(rows, content_type="text") if rows else ():
            writer.add(batch, sketcher.sketch_documents(batch).columns)
        return writer.finish(["here"], {})


@cache
def elements(sketch: Sketch, level: int) -> frozenset[int]:
    return frozenset(x for x in sketch.fingerprints.tolist() if x % (1 << level) == 0)


def counted(a: Sketch, b: Sketch) -> tuple[int, int, int, int]:
    """common, sampled, elements of each, from the definitions."""
    level = max(a.level, b.level)
    one, two = (elements(sketch, level) for sketch in (a, b))
    union, common = one | two, one & two
    name, number = a.parameters.selection
    if name == "min" and len(union) > number and max(a.size, b.size) > number:
        smallest = set(sorted(union)[:number])
        return len(common & smallest), number, len(one), len(two)
    return len(common), len(union), len(one), len(two)


def expected(
    query: Sketch,
    stored: Sequence[Sketch],
    floor: Fraction | None,
    contained: Fraction | None,
    contains: Fraction | None,
    least: int,
) -> dict[int, Row]:
    found = {}
    for row, sketch in enumerate(stored):
        common, sampled, own, others = counted(query, sketch)
        if not (own and others and common):
            continue
        enough = own >= least or own == query.size
        enough_there = others >= least or others == sketch.size
        if (
            (floor is not None and Fraction(common, sampled) >= floor)
            or (contained is not None and enough and Fraction(common, own) >= contained)
            or (contains is not None and enough_there and Fraction(common, others) >= contains)
        ):
            found[row] = (common, sampled, own, others, common)
    return found


SELECTIONS = [
    "all",
    "mod:2",
    "mod:5",
    "min:6",
    "min:40",
    "adaptive:3",
    "adaptive:20",
    "adaptive:70",
]
FLOORS = st.sampled_from([None, *(Fraction(n, 20) for n in (1, 6, 10, 13, 18, 20))])


@pytest.mark.parametrize("select", SELECTIONS)
@settings(max_examples=30 if FULL else 4, phases=[Phase.generate])
@given(data=st.data())
def test_neighbours_are_those_of_brute_force(select: str, data: st.DataObject) -> None:
    seed = data.draw(st.integers(0, 1 << 20))
    bits = data.draw(st.sampled_from([64, 40]))
    sketcher = roughly.Sketcher(w=1, select=select, seed=seed % 7, bits=bits)
    counts = data.draw(st.lists(st.sampled_from([0, 1, 40, 900]), min_size=1, max_size=2))
    removed_share = data.draw(st.sampled_from([0.0, 0.3, 1.0]))
    floor = data.draw(FLOORS)
    containment = data.draw(FLOORS) if not select.startswith("min") else None
    direction = data.draw(st.sampled_from(["both", "contained", "contains"]))
    least = data.draw(st.sampled_from([0, 3, 10]))
    threads = data.draw(st.sampled_from([1, 3]))
    large = data.draw(st.booleans())
    everything = texts(sum(counts), seed, large)
    chance = random.Random(seed)
    with TemporaryDirectory() as place:
        shelves, live, stored, at, first = [], [], [], 0, 0
        for number, count in enumerate(counts):
            some = everything[at : at + count]
            segment = make_segment(Path(place) / str(number), some, sketcher)
            small = data.draw(st.booleans())
            write_index(segment, memory_bytes=1000 if small else 1 << 30, threads=2, durable=False)
            removed = np.array([chance.random() < removed_share for _ in some], bool)
            shelves.append(Shelf.of(segment, first, removed if removed_share else None))
            live += [first + row for row in range(count) if not removed[row]]
            stored += [(first + row, sketcher.sketch(t, "text")) for row, t in enumerate(some)]
            at += count
            first += -(-count // 64) * 64  # as in a corpus: rows of a short part are left free
        searcher = Searcher(shelves)
        asked = [everything[i] for i in range(0, len(everything), 29)]
        asked += texts(9, seed + 1) + texts(9, seed + 1, large=True)
        queries = sketcher.sketch_batch(asked, "text")
        elements.cache_clear()
        found = searcher.neighbours(
            queries.columns,
            floor,
            containment,
            direction=direction,
            least_contained=least,
            threads=threads,
        ).tolist()
        sketches = [sketch for _, sketch in stored]
        wanted = []
        of_live = set(live)
        for number, query in enumerate(queries):
            rows = expected(
                query,
                sketches,
                floor,
                containment if direction != "contains" else None,
                containment if direction != "contained" else None,
                least,
            )
            for row, counts_of_row in rows.items():
                if stored[row][0] in of_live:
                    wanted.append([number, stored[row][0], *counts_of_row])
        assert found == sorted(wanted)


@pytest.mark.parametrize("mapped", [True, False])
@pytest.mark.parametrize("alike", [3, 700])
def test_neighbours_by_some_of_the_elements(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, alike: int, mapped: bool
) -> None:
    """Words that all documents share, long and short ones: each has two lists. Few documents that
    are alike are measured by their sketches, many by what was not looked up at first."""
    if not mapped:
        monkeypatch.setattr(searching, "MAPPED_BYTES", 0)
    chance = random.Random(alike)
    shared = [f"s{i}" for i in range(120)]
    own = [[f"w{chance.randrange(9000)}" for _ in range(150)] for _ in range(700)]
    documents = [
        " ".join(words + shared[: 120 if i < alike else 40]) for i, words in enumerate(own)
    ]
    documents += [" ".join([*chance.sample(shared[:40], 30), f"x{i}"]) for i in range(900)]
    sketcher = roughly.Sketcher(w=1, select="all")
    segment = make_segment(tmp_path, documents, sketcher)
    write_index(segment, memory_bytes=1 << 30, threads=1, durable=False)
    searcher = Searcher([Shelf.of(segment)])
    stored = [sketcher.sketch(text, "text") for text in documents]
    asked = [stored[0], stored[699], stored[-1], sketcher.sketch(" ".join(shared), "text")]
    third, half = Fraction(1, 3), Fraction(1, 2)
    for number, query in enumerate(asked):
        columns = QueryColumns.of_sketch(query)
        for floors in ((third, None), (half, None), (None, half), (third, Fraction(9, 10))):
            found = searcher.neighbours(columns, *floors, least_contained=3, threads=1).tolist()
            wanted = expected(query, stored, floors[0], floors[1], floors[1], 3)
            assert found == [[0, row, *counts] for row, counts in wanted.items()], number


def test_damaged_sketches_of_candidates(tmp_path: Path) -> None:
    sketcher = roughly.Sketcher(w=1, select="all")
    documents = texts(100, 5, large=True)
    segment = make_segment(tmp_path, documents, sketcher, part_rows=128)
    write_index(segment, memory_bytes=1 << 30, threads=1, durable=False)
    path = part_path(segment.directory, "sketches", 0)
    damaged = bytearray(path.read_bytes())
    damaged[len(damaged) // 2] ^= 1
    path.write_bytes(damaged)
    queries = sketcher.sketch_batch(documents, "text").columns
    with pytest.raises(DamageError, match=path.name):
        Searcher([Shelf.of(segment)]).neighbours(queries, 0.9, threads=1)


def test_the_sketches_of_rows_are_queries(tmp_path: Path) -> None:
    sketcher = roughly.Sketcher(w=1, select="adaptive:4")
    documents = texts(150, 3)
    segment = make_segment(tmp_path, documents, sketcher)
    write_index(segment, memory_bytes=1 << 30, threads=1, durable=False)
    searcher = Searcher([Shelf.of(segment, 64)])
    rows = [64, 64 + 149, 64 + 70]
    columns = searcher.sketches(rows)
    for i, row in enumerate(rows):
        sketch = sketcher.sketch(documents[row - 64], "text")
        begin, end = columns.offsets[i : i + 2]
        assert columns.values[begin:end].tolist() == sketch.fingerprints.tolist()
        assert (columns.size[i], columns.level[i]) == (sketch.size, sketch.level)


def test_urls_and_contents(tmp_path: Path) -> None:
    sketcher = roughly.Sketcher(w=1)
    documents = ["a b", "a b", "A b", ""]
    segment = make_segment(tmp_path, documents, sketcher)
    index = write_index(segment, memory_bytes=1 << 30, threads=1, durable=False)
    assert index.rows_of_url("http://example.com/2").tolist() == [2]
    assert index.rows_of_url("http://example.com/4").tolist() == []
    halves = [int(sketcher.sketch(t).content_hash[:16], 16) for t in ("a b", "b", "A b")]
    which, rows = index.rows_of_content(np.array(halves, np.uint64))
    assert (which.tolist(), rows.tolist()) == ([0, 0, 2], [0, 1, 2])


def test_ids_may_be_found_by_another_form(tmp_path: Path) -> None:
    import pyarrow.compute as pc

    segment = make_segment(tmp_path, ["a", "b"], roughly.Sketcher(w=1))
    index = write_index(
        segment, memory_bytes=1 << 30, threads=1, durable=False, canonical=pc.utf8_upper
    )
    assert index.rows_of_url("HTTP://EXAMPLE.COM/1").tolist() == [1]


def test_counts_of_elements(tmp_path: Path) -> None:
    """A word in all of 600 documents is in a list, one in three of them is not; copies count
    once."""
    documents = [f"all d{i} {'three' if i < 3 else ''}" for i in range(600)] + ["all d7"] * 5
    sketcher = roughly.Sketcher(w=1, select="all")
    segment = make_segment(tmp_path, documents, sketcher)
    index = write_index(segment, memory_bytes=1 << 30, threads=1, durable=False)
    one = [sketcher.sketch(word).fingerprints[0] for word in ("all", "three", "d7", "nowhere")]
    assert index.postings(np.array(one, np.uint64)).tolist() == [600, 3, 1, 0]


def test_no_search_by_permutations(tmp_path: Path) -> None:
    sketcher = roughly.Sketcher(w=1, select="perm:8")
    segment = make_segment(tmp_path, ["a b c"], sketcher)
    write_index(segment, memory_bytes=1 << 30, threads=1, durable=False)
    searcher = Searcher([Shelf.of(segment)])
    with pytest.raises(ParameterError, match="perm:8"):
        searcher.neighbours(sketcher.sketch_batch(["a"]).columns, 0.5)
    assert searcher.shelves[0].index.verify() == []


def test_no_containment_by_smallest(tmp_path: Path) -> None:
    sketcher = roughly.Sketcher(w=1, select="min:8")
    segment = make_segment(tmp_path, ["a b c"], sketcher)
    write_index(segment, memory_bytes=1 << 30, threads=1, durable=False)
    with pytest.raises(ParameterError, match="min:8"):
        Searcher([Shelf.of(segment)]).neighbours(
            sketcher.sketch_batch(["a"]).columns, containment_floor=0.5
        )


@pytest.mark.parametrize("name", [*FILES, "index"])
def test_damage_is_found(tmp_path: Path, name: str) -> None:
    """Every changed byte is found by `verify`; a search raises, or its answer is right."""
    sketcher = roughly.Sketcher(w=1, select="adaptive:40")
    documents = texts(900, 5)
    segment = make_segment(tmp_path, documents, sketcher)
    index = write_index(segment, memory_bytes=1 << 30, threads=1, durable=False)
    queries = sketcher.sketch_batch(documents, "text").columns
    right = Searcher([Shelf.of(segment)]).neighbours(queries, 0.3, 0.8)
    path = index_path(index.directory, name)
    if name == "index":
        path = index.directory / "index.json"
    whole = path.read_bytes()
    size = len(whole)
    places = range(0, size, 1 if FULL and size < 300 else max(1, size // 7))
    for place in places:
        damaged = bytearray(whole)
        damaged[place] ^= 1 << place % 8
        path.write_bytes(damaged)
        problems = segment.verify()
        assert len(problems) == 1 and path.name in problems[0]
        try:
            found = Searcher([Shelf.of(segment)]).neighbours(queries, 0.3, 0.8)
            assert np.array_equal(found, right)
            assert name in ("urls", "contents", "sketches"), "it was read"
        except DamageError as error:
            assert path.name in str(error)
    path.write_bytes(whole[:-1] if whole else b"x")
    assert any(path.name in problem for problem in segment.verify())
    path.write_bytes(whole)
    assert segment.verify() == []


def test_a_file_cut_while_it_is_read(tmp_path: Path) -> None:
    sketcher = roughly.Sketcher(w=1, select="all")
    documents = texts(100, 5)
    segment = make_segment(tmp_path, documents, sketcher)
    write_index(segment, memory_bytes=1 << 30, threads=1, durable=False)
    searcher = Searcher([Shelf.of(segment)])
    query = QueryColumns.of_sketch(sketcher.sketch(" ".join(documents), "text"))
    assert len(searcher.neighbours(query, containment_floor=1))
    index_path(segment.directory, "entries").write_bytes(b"")
    with pytest.raises(DamageError, match="entries"):
        searcher.neighbours(query, containment_floor=1)


def test_an_index_of_another_segment_is_refused(tmp_path: Path) -> None:
    sketcher = roughly.Sketcher(w=1)
    one = make_segment(tmp_path / "1", ["a"], sketcher)
    two = make_segment(tmp_path / "2", ["a", "b"], sketcher)
    for segment in (one, two):
        write_index(segment, memory_bytes=1 << 30, threads=1, durable=False)
    for name in ("index.json", "index.json.crc32c"):
        (one.directory / name).write_bytes((two.directory / name).read_bytes())
    with pytest.raises(DamageError, match=r"index\.json"):
        SegmentIndex(one)
