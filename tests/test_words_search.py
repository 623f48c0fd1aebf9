"""Search among documents of which the short ones have words: rows and counts of neighbours, and all
that `find` says, against comparing the query with every document."""

import random
from collections.abc import Sequence
from fractions import Fraction
from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, Literal

import numpy as np
import pytest
from hypothesis import Phase, given, settings
from hypothesis import strategies as st

import roughly
from roughly import Sketcher
from roughly.search.searcher import QueryColumns, Searcher, Shelf
from roughly.sketch import Sketch
from roughly.storage.index_writer import write_index
from tests.optional import FULL
from tests.test_neighbours import make_segment

MARK = 1 << 63
Direction = Literal["both", "contained", "contains"]


def texts(count: int, seed: int) -> list[str]:
    """Short, middling and long documents; copies, extracts, edited ones, and the same words in
    another order. Some words and passages are in many."""
    chance = random.Random(seed)
    common = [f"c{i}" for i in range(14)]
    found: list[str] = []
    for _ in range(count):
        kind = chance.random()
        words = chance.choice(found).split() if found else []
        if kind < 0.1:
            pass
        elif kind < 0.25:
            at = chance.randrange(len(words) + 1)
            words = words[at : at + chance.choice([3, 15, 60, 130])]
        elif kind < 0.4:
            for _ in range(chance.randrange(1, 5)):
                words.insert(chance.randrange(len(words) + 1), f"w{chance.randrange(3000)}")
        elif kind < 0.5:
            chance.shuffle(words)
        elif kind < 0.6 and words:
            at = chance.randrange(len(words))
            words = [*words[at:], *words[: at + 4]]  # the same shingles, if it was so made before
        else:
            length = chance.choice([0, 1, 4, 5, 8, 15, 30, 70, 110, 150, 199, 260, 700])
            words = [f"w{chance.randrange(3000)}" for _ in range(length)]
            if chance.random() < 0.6:
                at = chance.randrange(len(words) + 1)
                words[at:at] = common[: chance.randrange(3, len(common))]
        found.append(" ".join(words))
    return found


@cache
def elements(sketch: Sketch, level: int, words: bool) -> frozenset[int]:
    values = sketch.fingerprints.tolist()
    return frozenset(x for x in values if x % (1 << level) == 0 and (words or x < MARK))


Counts = tuple[int, int, int, int, int]


def counted(a: Sketch, b: Sketch) -> Counts:
    """Common and all elements; of shingles those of each, and the common ones."""
    level = max(a.level, b.level)
    one, two = (elements(sketch, level, True) for sketch in (a, b))
    mine, others = (elements(sketch, level, False) for sketch in (a, b))
    return len(one & two), len(one | two), len(mine), len(others), len(mine & others)


def reaches(
    query: Sketch,
    sketch: Sketch,
    floor: Fraction | None,
    containment: Fraction | None,
    direction: Direction,
    least: int,
) -> bool:
    common, union, own, others, inside = counted(query, sketch)
    if floor is not None and common and common >= floor * union:
        return True
    if containment is None or not inside:
        return False
    enough = own >= least or own == query.size
    enough_there = others >= least or others == sketch.size
    return (direction != "contains" and enough and inside >= containment * own) or (
        direction != "contained" and enough_there and inside >= containment * others
    )


SKETCHINGS = [
    ("adaptive:200", 200, 5),
    ("adaptive:40", 40, 2),
    ("adaptive:100", 60, 3),
    ("all", 256, 5),
    ("all", 90, 1),
    ("adaptive:20", 7, 1),
]
FLOORS = st.sampled_from([None, *(Fraction(n, 20) for n in (1, 4, 8, 10, 13, 18, 20))])


@pytest.mark.core
@pytest.mark.parametrize("sketching", SKETCHINGS)
@settings(max_examples=10 if FULL else 2, phases=[Phase.generate])
@given(data=st.data())
def test_neighbours_are_those_of_brute_force(
    sketching: tuple[str, int, int], data: st.DataObject
) -> None:
    select, words, w = sketching
    seed = data.draw(st.integers(0, 1 << 20))
    sketcher = Sketcher(w, select, seed % 5, words=words)
    counts = data.draw(
        st.lists(st.sampled_from([0, 1, 40, 300 if FULL else 120]), min_size=1, max_size=2)
    )
    removed_share = data.draw(st.sampled_from([0.0, 0.3]))
    floor, containment = data.draw(FLOORS), data.draw(FLOORS)
    direction: Direction = data.draw(st.sampled_from(["both", "contained", "contains"]))
    least = data.draw(st.sampled_from([0, 3, 10]))
    threads = data.draw(st.sampled_from([1, 3]))
    everything = texts(sum(counts), seed)
    chance = random.Random(seed)
    with TemporaryDirectory() as place:
        shelves, stored, at, first = [], [], 0, 0
        for number, count in enumerate(counts):
            some = everything[at : at + count]
            segment = make_segment(Path(place) / str(number), some, sketcher)
            small = data.draw(st.booleans())
            write_index(segment, memory_bytes=1000 if small else 1 << 30, threads=2, durable=False)
            removed = np.array([chance.random() < removed_share for _ in some], bool)
            shelves.append(Shelf.of(segment, first, removed if removed_share else None))
            for row, text in enumerate(some):
                if not removed[row]:
                    stored.append((first + row, sketcher.sketch(text, "text")))
            at += count
            first += -(-count // 64) * 64
        searcher = Searcher(shelves)
        asked = everything[::17] + texts(25, seed + 1)
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
        wanted = [
            [number, row, *counted(query, sketch)]
            for number, query in enumerate(queries)
            for row, sketch in stored
            if reaches(query, sketch, floor, containment, direction, least)
        ]
        assert found == sorted(wanted)
        rows = np.array([row for row, _ in stored], np.int64)
        assert searcher.words(rows).tolist() == [sketch.words for _, sketch in stored]


def test_many_that_share_all_words(tmp_path: Path) -> None:
    """Words and shingles of many documents are lists; small ones have a list of their own. Few
    elements are looked up at first, and words count only where they should."""
    chance = random.Random(3)
    form = [f"f{i}" for i in range(30)]
    documents = []
    for n in range(400):
        own = [f"o{chance.randrange(5000)}" for _ in range(chance.choice([5, 20, 60, 100]))]
        words = [*form[:20], *own] if n % 2 else chance.sample([*form, *own], 30 + len(own))
        documents.append(" ".join(words))
    sketcher = Sketcher()
    segment = make_segment(tmp_path, documents, sketcher)
    write_index(segment, memory_bytes=1 << 30, threads=1, durable=False)
    searcher = Searcher([Shelf.of(segment)])
    stored = [sketcher.sketch(text, "text") for text in documents]
    asked = [stored[0], stored[1], stored[398], sketcher.sketch(" ".join(form), "text")]
    asked.append(sketcher.sketch(" ".join(documents[:9]), "text"))
    assert asked[-1].level > 0
    half, most = Fraction(1, 2), Fraction(9, 10)
    for query in asked:
        columns = QueryColumns.of_sketch(query)
        for floors in ((Fraction(1, 10), None), (Fraction(1, 3), None), (None, half), (half, most)):
            found = searcher.neighbours(columns, *floors, threads=1).tolist()
            wanted = [
                [0, row, *counted(query, sketch)]
                for row, sketch in enumerate(stored)
                if reaches(query, sketch, *floors, "both", 10)
            ]
            assert found == wanted


# --- find ----------------------------------------------------------------------------------------


def make(path: Path, documents: Sequence[str], sketcher: Sketcher, text: bool) -> roughly.Corpus:
    """In two segments, and some are removed again."""
    corpus = roughly.Corpus.create(path, sketcher, text=text)
    rows = [{"id": f"http://a.example/{n}", "text": t} for n, t in enumerate(documents)]
    corpus.add(rows[: len(rows) // 2], content_type="text")
    corpus.add(rows[len(rows) // 2 :], content_type="text")
    if len(rows) > 5:
        corpus.remove([row["id"] for row in rows[::6]])
    return corpus


@settings(max_examples=20 if FULL else 2, phases=[Phase.generate])
@given(data=st.data())
def test_find_is_brute_force(data: st.DataObject) -> None:
    select, words, w = data.draw(st.sampled_from(SKETCHINGS))
    seed = data.draw(st.integers(0, 1 << 20))
    sketcher = Sketcher(w, select, seed % 3, words=words)
    whole = Sketcher.of(sketcher.parameters, "all")
    documents = texts(data.draw(st.sampled_from([3, 30, 60])), seed)
    text = data.draw(st.booleans())
    with pytest.MonkeyPatch.context() as patch, TemporaryDirectory() as place:
        patch.setattr("os.fsync", lambda descriptor: None)
        corpus = make(Path(place) / "c", documents, sketcher, text)
        left = [n for n in range(len(documents)) if len(documents) <= 5 or n % 6]
        live = {
            f"http://a.example/{n}": (
                sketcher.sketch(documents[n], "text"),
                whole.sketch(documents[n], "text"),
            )
            for n in left
        }
        stored = [(documents[n], f"http://a.example/{n}") for n in left[::7]]
        others = [(t, None) for t in texts(8, seed + 1) + documents[::6][:3]]
        for query, url in stored + others:
            for exact in (False, True, None) if text else (False,):
                threshold, containment = data.draw(FLOORS), data.draw(FLOORS)
                direction: Direction = "both"
                if containment is not None:
                    direction = data.draw(st.sampled_from(["both", "contained", "contains"]))
                ask: dict[str, Any] = {"url": url} if url and data.draw(st.booleans()) else {}
                rule = threshold, containment, direction
                found = corpus.find(
                    *([] if ask else [query]),
                    **ask,
                    threshold=threshold,
                    containment=containment,
                    direction=direction,
                    limit=None,
                    exact=exact,
                    **({} if ask else {"content_type": "text"}),
                )
                own, complete = sketcher.sketch(query, "text"), whole.sketch(query, "text")
                if text or not ask:
                    own = with_all(own, complete)
                check_found(own, complete, ask.get("url"), live, rule, exact, found)


def with_all(sketch: Sketch, complete: Sketch) -> Sketch:
    """A query whose text is known has all its elements, at the finest level."""
    hashes = sketch.content_hash, sketch.canonical_hash
    return Sketch(sketch.parameters, complete.fingerprints, sketch.size, sketch.tokens, 0, *hashes)


def check_found(
    query: Sketch,
    complete: Sketch,
    url: str | None,
    live: dict[str, tuple[Sketch, Sketch]],
    rule: tuple[Fraction | None, Fraction | None, Direction],
    exact: bool | None,
    found: Any,
) -> None:
    threshold, containment, direction = rule
    if threshold is None and containment is None:
        threshold, containment = Fraction(1, 2), Fraction(4, 5)
    wanted = set()
    for name, (sketch, all_of_it) in live.items():
        if name == url:
            continue
        if query.size == 0:
            good = sketch.size == 0
        elif exact:
            good = reaches(complete, all_of_it, threshold, containment, direction, 0)
        else:
            good = reaches(query, sketch, threshold, containment, direction, 10)
        if good:
            wanted.add(name)
    names = [match.id for match in found]
    assert len(set(names)) == len(names) == found.total
    if exact is not None:
        assert set(names) == wanted
    for match in found:
        sketch, all_of_it = live[match.id]
        same = query.equivalence(sketch)
        if query.level == sketch.level:
            assert (match.kind == same) == (same is not None), (match.kind, same)
        if not query.size:
            continue
        assert match.containment_query is not None and match.containment_found is not None
        measures = match.resemblance, match.containment_query, match.containment_found
        if match.exact:
            common, union, own, others, inside = counted(complete, all_of_it)
            values = common / union, inside / own, inside / others
            assert tuple(m.value for m in measures) == values
            assert all(m.low == m.value == m.high for m in measures)
        elif same in ("identical", "lexical"):
            assert all((m.low, m.value, m.high) == (1, 1, 1) for m in measures)
        else:
            assert measures == (
                query.resemblance(sketch),
                query.containment(sketch),
                sketch.containment(query),
            )


def test_by_hand(tmp_path: Path) -> None:
    """Five words, of which one differs; the same words in another order; and a long text with the
    query in it, which has no words."""
    long = " ".join(["rain in the north today", *(f"w{i}" for i in range(300))])
    documents = [
        "rain in the south today",
        "today the north in rain",
        "nothing of all that here",
        long,
    ]
    corpus = make(tmp_path / "c", documents, Sketcher(), True)
    for exact in (None, True, False):
        found = corpus.find("rain in the north today", threshold=0.5, exact=exact)
        # 5 words of 5 and 2 shingles; 4 words of 6 and 2 shingles.
        assert [(m.id[-1], m.resemblance.value) for m in found] == [("1", 5 / 7), ("0", 4 / 8)]
        assert all(m.containment_query.value == 0 for m in found)  # type: ignore[union-attr]
        found = corpus.find("rain in the north today", containment=0.5, exact=exact)
        assert [(m.id[-1], m.kind) for m in found] == [("3", "contained")]
        assert found[0].containment_query.value == 1.0  # type: ignore[union-attr]
        # 301 shingles of the long text, one of which is the query's, and five words of that.
        assert found[0].resemblance.value == 1 / (301 + 5)
    found = corpus.find("rain in the north today", threshold=0.5, containment=0.5)
    assert [m.id[-1] for m in found] == ["1", "0", "3"]


def test_by_simhash(tmp_path: Path) -> None:
    """Where simhashes decide who is found, measures count words too."""
    chance = random.Random(2)
    words = [f"w{i}" for i in range(60)]
    documents = [" ".join(words[: 60 - n] + chance.sample(words, n)) for n in range(12)]
    documents += texts(20, 4)
    corpus = roughly.Corpus.create(tmp_path / "c", method="both", distance=10)
    rows = [{"id": f"{n:02}", "text": t} for n, t in enumerate(documents)]
    corpus.add(rows, content_type="text")
    sketcher = Sketcher()
    query = " ".join(words)
    found = corpus.find(query, method="simhash", distance=10, limit=None, content_type="text")
    assert len(found) > 5
    own = sketcher.sketch(query, "text")
    for match in found:
        other = sketcher.sketch(documents[int(match.id)], "text")
        if match.kind in ("identical", "lexical"):
            continue
        assert match.resemblance == own.resemblance(other)
        assert match.containment_query == own.containment(other)
        assert match.containment_found == other.containment(own)
