"""Segments: the documents that were added come back, whatever the batches and parts, and whenever
the writer was stopped."""

import gc
import os
import random
import signal
import subprocess
import sys
import time
import weakref
from functools import cache
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

import roughly
from roughly.documents import open_documents
from roughly.errors import DamageError, DocumentError, ParameterError, RoughlyError
from roughly.storage import segment_part
from roughly.storage.checked import CheckedMap
from roughly.storage.segment import Segment
from roughly.storage.segment_part import READ
from roughly.storage.segment_writer import SegmentWriter
from roughly.storage.steps import Steps
from tests.optional import FULL

SKETCHER = roughly.Sketcher(w=2, select="mod:2", seed=3)


def made(count: int, seed: int = 1) -> list[dict[str, Any]]:
    """Documents with and without dates, HTML and text, empty ones and some that are large."""
    chance = random.Random(seed)
    found = []
    for i in range(count):
        words = [f"wört{chance.randrange(50)}" for _ in range(chance.choice([0, 1, 5, 40, 300]))]
        text = " ".join(words)
        found.append(
            {
                "id": f"http://example.com/{i}",
                "text": f"<html><p>{text}" if chance.random() < 0.4 else text,
                "date": chance.choice([None, "2026-11-15", "1997-04-07"]),
            }
        )
    return found


@cache
def whole(count: int) -> pa.RecordBatch:
    return pa.concat_batches(list(open_documents(made(count))))


def batches(count: int, cuts: list[int]) -> list[pa.RecordBatch]:
    edges = sorted({0, count, *(cut for cut in cuts if cut < count)})
    return [whole(count).slice(a, b - a) for a, b in pairwise(edges)] or [whole(count)]


def run_steps(directory: Path) -> Steps:
    return Steps(directory, {"run": 1}, durable=False)


def write(
    directory: Path,
    parts: list[pa.RecordBatch],
    part_rows: int,
    text: bool = True,
    stop_after: int | None = None,
) -> Segment:
    """Writes a segment, or goes on with it; stops in the middle after some batches."""
    with (
        run_steps(directory) as steps,
        SegmentWriter(
            directory / "segment", SKETCHER.parameters, text=text, steps=steps, part_rows=part_rows
        ) as writer,
    ):
        skip = writer.rows_done
        for i, batch in enumerate(parts):
            if i == stop_after:
                raise InterruptedError
            rest = batch.slice(min(skip, len(batch)))
            skip -= len(batch) - len(rest)
            if len(rest):
                writer.add(rest, SKETCHER.sketch_documents(rest).columns)
        return writer.finish(["first.jsonl", "second"], {"not JSON": 2})


class _Bytes(bytearray):
    """Which a weak reference can be made to."""


@pytest.mark.parametrize("text", [True, False])
def test_what_is_taken_of_a_batch_holds_its_text_only_if_that_is_wanted(
    tmp_path: Path, text: bool
) -> None:
    batch = whole(23)
    _, offsets, data = batch.column("content").buffers()
    copied = _Bytes(data.to_pybytes())
    alive = weakref.ref(copied)
    content = pa.Array.from_buffers(
        pa.large_binary(), len(batch), [None, offsets, pa.py_buffer(copied)]
    )
    batch = batch.set_column(batch.schema.names.index("content"), "content", content)
    columns = SKETCHER.sketch_documents(batch).columns
    with (
        run_steps(tmp_path) as steps,
        SegmentWriter(tmp_path / "segment", SKETCHER.parameters, text=text, steps=steps) as writer,
    ):
        taken = writer.taken(batch, columns)
        del batch, content, copied, data
        gc.collect()
        assert (alive() is not None) == text
        writer.put(taken)
        written = writer.finish([], {})
    lengths = [len(t) for t in whole(23).column("content").to_pylist()]
    assert written.column("bytes").to_pylist() == lengths


def test_attributes_are_stored_where_they_are_wanted(tmp_path: Path) -> None:
    simhashes = pa.array([None if row % 5 == 0 else row << 59 for row in range(23)], pa.uint64())
    names = pa.array([None if row % 3 == 0 else f"language {row}" for row in range(23)])
    batch = whole(23).append_column("simhash", simhashes).append_column("category", names)
    wanted = {"category": "lang", "simhash": {"features": "terms"}}
    with (
        run_steps(tmp_path) as steps,
        SegmentWriter(
            tmp_path / "segment",
            SKETCHER.parameters,
            text=False,
            steps=steps,
            part_rows=10,
            attributes=wanted,
        ) as writer,
    ):
        for begin, end in pairwise([0, 4, 19, 23]):
            some = batch.slice(begin, end - begin)
            writer.add(some, SKETCHER.sketch_documents(some).columns)
        writer.finish([], {})
    segment = Segment(tmp_path / "segment")
    assert segment.attributes == wanted
    assert segment.column("simhash").to_pylist() == simhashes.to_pylist()
    assert segment.column("category").to_pylist() == names.to_pylist()
    assert segment.verify() == []
    path = tmp_path / "segment" / "attributes-00001.arrow"
    data = bytearray(path.read_bytes())
    data[len(data) // 2] ^= 1
    path.write_bytes(data)
    assert [line for line in segment.verify() if "attributes-00001" in line]
    path.unlink()
    assert [line for line in Segment(segment.directory).verify() if "attributes-00001" in line]
    assert not write(tmp_path / "other", batches(3, []), 2).attributes


def check(segment: Segment, count: int, part_rows: int, text: bool) -> None:
    """Everything a segment gives out, against the documents sketched in one batch."""
    expected = whole(count)
    columns = SKETCHER.sketch_documents(expected).columns
    assert len(segment) == count
    assert segment.part_rows == part_rows
    assert segment.parts == -(-count // part_rows)
    assert segment.parameters == SKETCHER.parameters
    assert segment.sources == ["first.jsonl", "second"]
    assert segment.skipped == {"not JSON": 2}
    assert segment.has_text == text
    for name in READ:
        assert (
            segment.column(name)
            .combine_chunks()
            .equals(pa.chunked_array([expected[name]]).combine_chunks())
        ), name
    assert segment.ids().to_pylist() == expected["id"].to_pylist()
    assert segment.dates().to_pylist() == expected["date"].to_pylist()
    contents = expected["content"].to_pylist()
    assert segment.column("bytes").to_pylist() == [len(content) for content in contents]
    for name, dtype in (("size", np.uint32), ("tokens", np.uint32), ("level", np.uint8)):
        found = getattr(segment, name)
        assert found.dtype == dtype
        assert found.tolist() == getattr(columns, name).tolist()
    for name in ("content", "canonical", "sketch"):
        assert segment.hashes(name).dtype == np.uint64
        assert segment.hashes(name).tolist() == getattr(columns, name).tolist()
    digits = [f"{high:016x}{low:016x}" for high, low in columns.content.tolist()]
    assert [each.hex() for each in segment.column("content").to_pylist()] == digits
    for part in range(segment.parts):
        values, offsets = segment.chunk(part)
        begin, end = segment.rows(part)
        assert (begin, end) == (part * part_rows, min(count, (part + 1) * part_rows))
        assert (values.dtype, offsets.dtype) == (np.uint64, np.int64)
        wanted = columns.offsets[begin : end + 1]
        assert offsets.tolist() == (wanted - wanted[0]).tolist()
        assert values.tolist() == columns.values[wanted[0] : wanted[-1]].tolist()
    if text:
        rows = np.arange(count)
        for some in (rows, rows[:0], rows[::3], rows[-1:], rows[count // 2 :]):
            assert segment.text(some).to_pylist() == [contents[i] for i in some]
            assert segment.text(some).type == pa.large_binary()
    assert segment.verify() == []


def contents_of(directory: Path) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in sorted((directory / "segment").iterdir())}


@pytest.mark.parametrize("text", [True, False])
@pytest.mark.parametrize("part_rows", [1, 7, 64, 200, 1000])
@pytest.mark.parametrize("batch_rows", [1, 13, 64, 1000])
def test_round_trip(tmp_path: Path, part_rows: int, batch_rows: int, text: bool) -> None:
    count = 200 if FULL or part_rows > 1 else 20
    segment = write(tmp_path, batches(count, [*range(0, count, batch_rows)]), part_rows, text)
    check(segment, count, part_rows, text)
    check(Segment(tmp_path / "segment"), count, part_rows, text)
    kinds = ["documents", "sketches", *(["text"] if text else [])]
    names = [f"{kind}-{part:05}.arrow" for kind in kinds for part in range(segment.parts)]
    names.append("segment.json")
    assert sorted(contents_of(tmp_path)) == sorted([*names, *(f"{n}.crc32c" for n in names)])


@given(
    count=st.integers(1, 60),
    part_rows=st.integers(1, 70),
    cuts=st.lists(st.integers(0, 60), max_size=8),
    text_bytes=st.sampled_from([1, 500, 3000, 1 << 20]),
    spill_bytes=st.sampled_from([1, 2000, 1 << 26]),
)
def test_files_do_not_depend_on_the_batches(
    tmp_path_factory: pytest.TempPathFactory,
    count: int,
    part_rows: int,
    cuts: list[int],
    text_bytes: int,
    spill_bytes: int,
) -> None:
    """Nor on whether sketches waited in a file."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(segment_part, "TEXT_BYTES", text_bytes)
        one, two = (tmp_path_factory.mktemp("segment") for _ in range(2))
        write(one, [whole(60).slice(0, count)], part_rows)
        patch.setattr(segment_part, "SPILL_BYTES", spill_bytes)
        edges = sorted({0, count, *(cut for cut in cuts if cut < count)})
        pieces = [whole(60).slice(a, b - a) for a, b in pairwise(edges)]
        segment = write(two, pieces, part_rows)
    assert contents_of(one) == contents_of(two)
    contents = whole(60)["content"].to_pylist()[:count]
    assert segment.text(np.arange(count)).to_pylist() == contents


def test_text_batches_end_with_the_document_that_fills_them(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(segment_part, "TEXT_BYTES", 10)
    contents = [b"12345", b"1234", b"1", b"", b"1234567890123", b"123456789", b"", b"12", b"", b""]
    documents = pa.table(
        {"id": [str(i) for i in range(10)], "text": [c.decode() for c in contents]}
    )
    segment = write(tmp_path, list(open_documents(documents)), 100)
    found = pa.ipc.open_file(tmp_path / "segment" / "text-00000.arrow")
    rows = [found.get_batch(i).column(0).to_pylist() for i in range(found.num_record_batches)]
    assert rows == [contents[:3], contents[3:5], contents[5:8], contents[8:]]
    assert segment.text(np.array([2, 3, 7, 9])).to_pylist() == [b"1", b"", b"12", b""]


def test_no_documents(tmp_path: Path) -> None:
    segment = write(tmp_path, [], 10)
    assert (len(segment), segment.parts) == (0, 0)
    assert segment.ids().to_pylist() == []
    assert segment.size.tolist() == []
    assert segment.hashes("content").shape == (0, 2)
    assert segment.text(np.array([], np.int64)).to_pylist() == []
    assert segment.verify() == []


def test_everybody_reads_the_files(tmp_path: Path) -> None:
    write(tmp_path, [whole(50)], 20)
    files = sorted((tmp_path / "segment").glob("documents-*.arrow"))
    table = pa.concat_tables(pa.ipc.open_file(path).read_all() for path in files)
    assert table["id"].to_pylist() == whole(50)["id"].to_pylist()
    sketches = pa.ipc.open_file(tmp_path / "segment" / "sketches-00001.arrow").read_all()
    batch = SKETCHER.sketch_documents(whole(50).slice(20, 20)).to_arrow()
    assert sketches["sketch"].to_pylist() == batch["sketch"].to_pylist()
    assert sketches.schema.metadata == batch.schema.metadata


def test_what_is_given_out_stays_valid(tmp_path: Path) -> None:
    segment = write(tmp_path, [whole(100)], 30)
    (values, offsets), ids = segment.chunk(1), segment.ids()
    copy = values.copy(), offsets.copy(), ids.to_pylist()
    for let_go in (segment.release, segment.close):
        let_go()
        assert values.tolist() == copy[0].tolist()
        assert offsets.tolist() == copy[1].tolist()
        assert ids.to_pylist() == copy[2]
    assert segment.chunk(1)[0].tolist() == copy[0].tolist()
    assert not values.flags.writeable


def test_other_binary_columns_will_do(tmp_path: Path) -> None:
    batch = whole(30)
    at = batch.schema.get_field_index("content")
    other = batch.set_column(at, "content", batch["content"].cast(pa.binary()))
    check(write(tmp_path, [other], 8), 30, 8, True)


def test_rows_that_cannot_be_had(tmp_path: Path) -> None:
    segment = write(tmp_path / "a", [whole(20)], 8)
    for rows in ([3, 2], [-1], [20], [5, 21]):
        with pytest.raises(ParameterError, match="rows: out of order or range: wanted 0 to 20"):
            segment.text(np.array(rows))
    with pytest.raises(ParameterError, match="segment: cannot read text: none was kept"):
        write(tmp_path / "b", [whole(20)], 8, text=False).text(np.array([1]))


# --- stopped --------------------------------------------------------------------------------------


@pytest.mark.parametrize("part_rows", [7, 30, 1000])
@pytest.mark.parametrize("stop_after", [0, 1, 5, 9])
def test_goes_on_after_an_error(tmp_path: Path, part_rows: int, stop_after: int) -> None:
    parts = batches(100, [*range(0, 100, 10)])
    write(tmp_path / "a", parts, part_rows)
    with pytest.raises(InterruptedError):
        write(tmp_path / "b", parts, part_rows, stop_after=stop_after)
    # Whole parts, and no temporary file; how many of them does not depend on the writer's thread.
    steps = run_steps(tmp_path / "b")
    folder = tmp_path / "b" / "segment"
    assert not [path for path in folder.iterdir() if path.name.startswith(".")]
    writer = SegmentWriter(folder, SKETCHER.parameters, text=True, steps=steps, part_rows=part_rows)
    assert writer.rows_done == stop_after * 10 // part_rows * part_rows
    assert len(list(folder.glob("documents-*.arrow"))) == stop_after * 10 // part_rows
    with pytest.raises(DamageError, match=r"segment\.json: damaged: it is missing"):
        Segment(folder)
    check(write(tmp_path / "b", parts, part_rows), 100, part_rows, True)
    assert contents_of(tmp_path / "a") == contents_of(tmp_path / "b")


def test_the_last_part_is_made_anew(tmp_path: Path) -> None:
    """It ended an input that may have grown since."""
    write(tmp_path, [whole(60).slice(0, 25)], 10)
    steps = run_steps(tmp_path)
    assert steps.done("segment")
    assert steps.facts("part-00002") == {"rows": 5}
    writer = SegmentWriter(
        tmp_path / "segment", SKETCHER.parameters, text=True, steps=steps, part_rows=10
    )
    assert writer.rows_done == 20
    check(write(tmp_path, [whole(60)], 10), 60, 10, True)


def test_a_part_that_is_missing_is_made_anew(tmp_path: Path) -> None:
    write(tmp_path, [whole(60)], 10)
    before = contents_of(tmp_path)
    (tmp_path / "segment" / "sketches-00003.arrow").unlink()
    writer = SegmentWriter(
        tmp_path / "segment",
        SKETCHER.parameters,
        text=True,
        steps=run_steps(tmp_path),
        part_rows=10,
    )
    assert writer.rows_done == 30
    check(write(tmp_path, [whole(60)], 10), 60, 10, True)
    assert contents_of(tmp_path) == before


RUN = """
import sys
from pathlib import Path
from tests.test_segment import batches, write
count, part_rows = int(sys.argv[2]), int(sys.argv[3])
parts = batches(count, list(range(0, count, 37)))
print("begun", flush=True)
write(Path(sys.argv[1]), parts, part_rows)
print("ended", flush=True)
"""


def test_killed_at_any_moment(tmp_path: Path) -> None:
    chance = random.Random() if FULL else random.Random(3)
    count, part_rows = 3000, 100
    write(tmp_path / "a", batches(count, [*range(0, count, 37)]), part_rows)
    command = [sys.executable, "-c", RUN, str(tmp_path / "b"), str(count), str(part_rows)]
    for _ in range(25 if FULL else 3):
        with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as child:
            assert child.stdout is not None
            assert child.stdout.readline() == "begun\n"
            time.sleep(chance.random() ** 2 * 0.3)
            child.send_signal(signal.SIGKILL)
        check_parts(tmp_path / "b", part_rows)
    subprocess.run(command, check=True, stdout=subprocess.DEVNULL, timeout=120)
    assert contents_of(tmp_path / "a") == contents_of(tmp_path / "b")


def check_parts(directory: Path, part_rows: int) -> None:
    """Of every part that is recorded, every file is whole."""
    for record in (directory / "steps").glob("part-*.json"):
        for kind in ("documents", "sketches", "text"):
            name = f"{kind}-{record.stem.removeprefix('part-')}.arrow"
            CheckedMap(directory / "segment" / name).verify()


# --- damage and full disks ------------------------------------------------------------------------


def test_damage_anywhere_is_named(tmp_path: Path) -> None:
    segment = write(tmp_path, [whole(40)], 15)
    chance = random.Random(1)
    for path in sorted((tmp_path / "segment").iterdir()):
        size = path.stat().st_size
        places = range(size) if FULL and size < 300 else [chance.randrange(size) for _ in range(5)]
        data = path.read_bytes()
        for at in places:
            path.write_bytes(data[:at] + bytes([data[at] ^ 0x40]) + data[at + 1 :])
            [problem] = segment.verify()
            assert problem.startswith(f"{path}: damaged: ")
        path.write_bytes(data[:-1])
        [problem] = segment.verify()
        assert problem.startswith(f"{path}: damaged: ")
        path.unlink()
        [problem] = segment.verify()
        assert problem == f"{path}: damaged: it is missing"
        path.write_bytes(data)
    assert segment.verify() == []


def test_damage_is_met_when_it_is_read(tmp_path: Path) -> None:
    write(tmp_path, [whole(40)], 15)
    path = tmp_path / "segment" / "sketches-00001.arrow"
    data = bytearray(path.read_bytes())
    data[len(data) // 2] ^= 1
    path.write_bytes(data)
    segment = Segment(tmp_path / "segment")
    segment.chunk(0)
    assert len(segment.tokens) == 40
    for read in (lambda: segment.chunk(1), lambda: segment.size, lambda: segment.hashes("sketch")):
        with pytest.raises(DamageError, match=f"^{path}: damaged: block at byte 0 "):
            read()


def test_files_of_another_segment(tmp_path: Path) -> None:
    """Whole in themselves, but not what belongs there."""
    segment = write(tmp_path / "a", [whole(40)], 15)
    write(tmp_path / "b", [whole(40).slice(0, 20)], 12)
    for kind in ("documents", "sketches", "text"):
        for end in ("", ".crc32c"):
            name = f"{kind}-00000.arrow{end}"
            (tmp_path / "b" / "segment" / name).replace(tmp_path / "a" / "segment" / name)
    problems = segment.verify()
    assert [p.partition(": ")[2] for p in problems] == [
        "damaged: it has 12 documents, wanted 15"
    ] * 3
    with pytest.raises(DamageError, match="it has 12 documents, wanted 15"):
        Segment(tmp_path / "a" / "segment").chunk(0)


FULL_DISK = """
import resource, sys
from pathlib import Path
from roughly.errors import DocumentError
from tests.test_segment import batches, write
parts = batches(3000, list(range(0, 3000, 37)))
resource.setrlimit(resource.RLIMIT_FSIZE, (150_000, 150_000))
try:
    write(Path(sys.argv[1]), parts, 1500)
except DocumentError as error:
    print(error)
"""


def test_disk_full(tmp_path: Path) -> None:
    """One clear error from the writer's thread, and no file without its name."""
    run = subprocess.run(
        [sys.executable, "-c", FULL_DISK, str(tmp_path)], capture_output=True, text=True, timeout=60
    )
    assert (run.returncode, run.stderr) == (0, "")
    path, rest = run.stdout.split(": ", 1)
    assert rest == "cannot write: file too large\nhint: make room, or choose another place\n"
    assert Path(path).parent == tmp_path / "segment"
    assert not [path for path in (tmp_path / "segment").iterdir() if path.name.startswith(".")]


def test_an_error_of_the_thread_reaches_add(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Also when the caller goes on adding, and when it asks again."""
    steps = run_steps(tmp_path)
    folder = tmp_path / "segment"
    writer = SegmentWriter(folder, SKETCHER.parameters, text=True, steps=steps, part_rows=5)
    folder.rmdir()
    columns = SKETCHER.sketch_documents(whole(40)).columns
    with pytest.raises(DocumentError, match="cannot write: no such file or directory"):
        for _ in range(100):
            writer.add(whole(40), columns)
            time.sleep(0.01)
    for _ in range(2):
        with pytest.raises(DocumentError, match="cannot write: no such file or directory"):
            writer.finish([], {})
    writer.close()


def test_a_place_that_cannot_be_written_to(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(RoughlyError, match="cannot write: "):
        SegmentWriter(
            tmp_path / "file" / "segment",
            SKETCHER.parameters,
            text=True,
            steps=run_steps(tmp_path),
        )
    assert "file" in os.listdir(tmp_path)
