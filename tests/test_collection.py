"""Several segments read as one: every value stands where the rule for rows puts it, and holes and
removed documents are nobody's.
"""

from pathlib import Path

import numpy as np
import pytest

from roughly import Sketcher
from roughly.clustering.order import document_order
from roughly.clustering.sketches import Sketches
from roughly.clustering.sketching import plain_skipped
from roughly.documents import open_documents
from roughly.errors import MismatchError, ParameterError
from roughly.storage.collection import Collection
from roughly.storage.segment import Segment
from roughly.storage.segment_writer import SegmentWriter
from roughly.storage.sketch_table import merged
from roughly.storage.steps import Steps

PART_ROWS = 4


def write(folder: Path, first: int, count: int, text: bool = True, seed: int = 0) -> Segment:
    rows = [
        {"id": f"d{n}", "text": " ".join(f"{n}x{i}" for i in range(n % 7)), "date": f"{2000 + n}"}
        for n in range(first, first + count)
    ]
    sketcher = Sketcher(w=2, select="adaptive:4", seed=seed)
    opened = open_documents(rows, content_type="text")
    with (
        Steps(folder / "steps", {}, durable=False) as steps,
        SegmentWriter(
            folder, sketcher.parameters, text=text, steps=steps, part_rows=PART_ROWS
        ) as writer,
    ):
        for batch in opened:
            writer.add(batch, sketcher.sketch_documents(batch, 1).columns)
        return writer.finish(["memory"], plain_skipped(opened.skipped))


@pytest.fixture
def collection(tmp_path: Path) -> Collection:
    """Documents 0 to 5 in rows 0 to 5, 6 to 8 in rows 8 to 10, 9 to 17 in rows 12 to 20."""
    segments = [
        write(tmp_path / "a", 0, 6),
        write(tmp_path / "b", 6, 3),
        write(tmp_path / "c", 9, 9),
    ]
    return Collection(segments, np.array([3, 8, 20]))


NUMBER = {**{n: n for n in range(6)}, **{8 + n: 6 + n for n in range(3)}}
NUMBER |= {12 + n: 9 + n for n in range(9)}
HOLES = [6, 7, 11]


def test_who_is_where(collection: Collection) -> None:
    assert len(collection) == 21 and collection.documents == 15 and collection.parts == 6
    lengths = {n: len(" ".join(f"{n}x{i}" for i in range(n % 7))) for n in range(18)}
    assert collection.content_bytes == sum(lengths.values()) - lengths[3] - lengths[6] - lengths[17]
    live = sorted(set(NUMBER) - {3, 8, 20})
    assert collection.live_rows.tolist() == live
    assert [collection.rows(part) for part in range(6)] == [
        *((0, 4), (4, 6), (8, 11), (12, 16), (16, 20), (20, 21))
    ]
    assert collection.segment_of(5) == (0, 5) and collection.segment_of(20) == (2, 8)
    ids = collection.ids().to_pylist()
    assert len(ids) == 21
    assert {row: ids[row] for row in NUMBER} == {row: f"d{n}" for row, n in NUMBER.items()}
    assert [ids[row] for row in HOLES] == [""] * 3
    dates = collection.dates().to_pylist()
    assert dates[20] == "2017" and dates[7] in ("", None)
    rows = np.array([20, 0, 12, 0, 10])
    assert collection.take("id", rows).to_pylist() == ["d17", "d0", "d9", "d0", "d8"]
    assert document_order(collection).tolist() == live


def test_what_is_stored(collection: Collection) -> None:
    rows = np.array(sorted(NUMBER))
    texts = collection.text(rows).to_pylist()
    for row, text in zip(rows.tolist(), texts, strict=True):
        words = [f"{NUMBER[row]}x{i}" for i in range(NUMBER[row] % 7)]
        assert text.decode() == " ".join(words)
        assert collection.tokens[row] == len(words)
        assert collection.size[row] == max(len(words) - 1, min(len(words), 1))
        values, offsets = collection.chunk(row // PART_ROWS)
        inside = row % PART_ROWS
        assert collection.kept[row] == offsets[inside + 1] - offsets[inside]
        own, ends = collection.sketch_elements(np.array([row]))
        assert own.tolist() == values[offsets[inside] : offsets[inside + 1]].tolist()
        assert ends.tolist() == [0, len(own)]
    for row in HOLES:
        assert collection.size[row] == collection.kept[row] == collection.tokens[row] == 0
        assert collection.hashes("content")[row].tolist() == [0, 0]
    sketches = Sketches.of_segment(collection)
    assert sketches.kept().tolist() == collection.kept.tolist()
    assert sketches.taking_part(collection.live_rows).elements() == sum(
        int(collection.kept[row]) for row in collection.live_rows
    )
    with pytest.raises(ParameterError, match="out of order or range"):
        collection.text(np.array([21]))


def test_columns_of_some_rows(collection: Collection) -> None:
    rows = np.array([20, 0, 12, 0, 10, 5])
    assert collection.values("id", rows) == collection.take("id", rows).to_pylist()
    size, html, content = collection.arrays(("size", "html", "content"), rows)
    assert size.tolist() == collection.size[rows].tolist()
    assert html.tolist() == [False] * 6
    assert content.tolist() == collection.hashes("content")[rows].tolist()
    assert [len(each) for each in collection.arrays(("size", "content"), np.zeros(0, int))] == [
        0,
        0,
    ]


def test_rows_of_a_hash(collection: Collection) -> None:
    """Documents 0, 7 and 14 are empty and have the same hashes; those of others are their own."""
    first = collection.hashes("content")[:, 0]
    rows = {number: row for row, number in NUMBER.items()}
    same = [rows[0], rows[7], rows[14]]
    assert collection.rows_hashed("content", first[same[1:]]).tolist() == same
    for wanted in ([rows[1]], [rows[17], rows[3]], sorted(set(NUMBER) - set(same))):
        found = collection.rows_hashed("content", first[np.array(wanted)])
        assert found.tolist() == sorted(wanted)
    assert not len(collection.rows_hashed("content", first[:1] + np.uint64(1)))
    assert not len(collection.rows_hashed("content", np.zeros(0, np.uint64)))


def test_memory_is_given_back(collection: Collection) -> None:
    collection.release()
    ids = collection.take("id", np.array([0, 8, 12]))
    before, touched = ids.to_pylist(), [each.touched_bytes for each in collection.segments]
    files = [each.directory / "documents-00000.arrow" for each in collection.segments]
    assert touched == [file.stat().st_size for file in files]
    collection.release_beyond(sum(touched))
    assert [each.touched_bytes for each in collection.segments] == touched
    collection.release_beyond(sum(touched) - 1)
    assert [each.touched_bytes for each in collection.segments] == [0, 0, 0]
    assert ids.to_pylist() == before == collection.take("id", np.array([0, 8, 12])).to_pylist()


def test_sketches_are_put_together(collection: Collection) -> None:
    one, two = collection.sketches(np.array([5, 12])), collection.sketches(np.array([20]))
    mixed = merged(one, two, np.array([True, False, True]))
    wanted = collection.sketches(np.array([5, 20, 12]))
    for name, column in zip(wanted._fields, wanted, strict=True):
        assert getattr(mixed, name).tolist() == column.tolist(), name


def test_segments_must_fit(tmp_path: Path) -> None:
    one, two = write(tmp_path / "a", 0, 2), write(tmp_path / "b", 0, 2, seed=1)
    with pytest.raises(MismatchError, match="cannot stand beside the others"):
        Collection([one, two])
    assert not Collection([one, write(tmp_path / "c", 2, 2, text=False)]).has_text
    with pytest.raises(ParameterError, match="segments: none"):
        Collection([])
    empty = Collection([], parameters=one.parameters)
    assert len(empty) == empty.documents == empty.parts == 0
    assert empty.text(np.zeros(0, np.int64)).to_pylist() == []
