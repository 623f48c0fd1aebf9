"""Damaged files: all before the damage is read, the damage is reported, nothing hangs."""

import gzip
import json
import random
import tempfile
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.feather
import pyarrow.parquet as pq
import pytest
import zstandard
from hypothesis import given
from hypothesis import strategies as st

from roughly.documents import open_documents
from roughly.documents.stream import Stream
from roughly.errors import DocumentError
from tests.archive import ARC_HEAD, HTML, arc, http, members, page
from tests.reading import read, rows

folder = tempfile.TemporaryDirectory(prefix="roughly-test-")
WORDS = random.Random(7).choices([f"word{n}" for n in range(500)], k=20_000)
LINES = [
    json.dumps({"id": f"d{n}", "text": " ".join(WORDS[n * 60 : n * 60 + 60])}).encode() + b"\n"
    for n in range(300)
]
PAGES = [page(n, 1 + n % 7) for n in range(12)]


def ids_in(name: str, data: bytes, **options: Any) -> tuple[list[str], Any]:
    found, documents = read(Path(folder.name) / name, data, **options)
    return [row["id"] for row in found], documents


PACKERS = {"gz": gzip.compress, "zst": zstandard.compress}


@pytest.mark.parametrize("name", ["a.csv.zst", "a.tsv.zst", "a.csv.gz"])
@pytest.mark.parametrize("kept", [12, 300])
def test_damage_before_the_first_row_is_told(name: str, kept: int) -> None:
    rows = "".join(f"{n},{' '.join(WORDS[n * 60 : n * 60 + 60])}\n" for n in range(60))
    whole = PACKERS[name.rpartition(".")[2]](f"id,text\n{rows}".encode())
    found, documents = ids_in(name, whole[:kept])
    assert len(found) <= 1
    assert documents.skipped.reasons == {"damaged compression": 1}
    with pytest.raises(DocumentError, match="damaged compression"):
        ids_in(name, whole[:kept], strict=True)


def test_a_row_that_is_neither_utf_8_nor_whole_costs_itself() -> None:
    good = [f"d{n},text {n}\n".encode() for n in range(6)]
    bad = [b"x,y,caf\xe9\n", b"only\xff\n"]
    latin = [b"l,caf\xe9\n"]
    data = b"".join([b"id,text\n", *good[:3], bad[0], *good[3:5], bad[1], *latin, good[5]])
    found, documents = ids_in("r.csv", data)
    assert found == ["d0", "d1", "d2", "d3", "d4", "l", "d5"]
    assert documents.skipped.reasons == {"wrong number of fields": 2}
    told = [str(unread) for unread in documents.skipped.first]
    assert [line.partition("r.csv, ")[2] for line in told] == [
        "row 4: wrong number of fields: 3, wanted 2",
        "row 7: wrong number of fields: 1, wanted 2",
    ]


@given(st.sampled_from(sorted(PACKERS)), st.floats(0, 1), st.sampled_from([1000, 1 << 20]))
def test_a_cut_costs_what_comes_after(end: str, share: float, batch_bytes: int) -> None:
    whole = PACKERS[end](b"".join(LINES[:60]))
    cut = whole[: max(20, int(share * len(whole)))]
    found, documents = ids_in(
        f"a.jsonl.{end}", cut, batch_bytes=batch_bytes, text_field="text", id_field="id"
    )
    assert found == [f"d{n}" for n in range(len(found))]
    assert bool(documents.skipped) == (cut != whole)
    if cut != whole:
        assert documents.skipped.reasons == {"damaged compression": 1}
        assert "cut short" in str(documents.skipped.first[0])
    if end == "gz":
        # What zlib gives of the same bytes is the judge: each of its whole lines must be there.
        import zlib

        given = zlib.decompressobj(31).decompress(cut)
        assert len(found) == given.count(b"\n")


@given(st.integers(0, 9), st.integers(0, 10_000), st.integers(1, 255))
def test_a_flipped_byte_costs_its_member(member: int, at: int, flip: int) -> None:
    """Ten members of thirty lines. A flip spoils its own member at most; the others are read."""
    parts = [gzip.compress(b"".join(LINES[n * 30 : n * 30 + 30])) for n in range(10)]
    spoilt = bytearray(parts[member])
    at %= len(spoilt)
    spoilt[at] ^= flip
    parts[member] = bytes(spoilt)
    path = Path(folder.name) / "b.jsonl.gz"
    found, documents = read(path, b"".join(parts), text_field="text", id_field="id")
    whole = [json.loads(line)["text"] for line in LINES]
    others = [text for n, text in enumerate(whole) if n // 30 != member]
    texts = [row["content"].decode() for row in found]
    assert [text for text in texts if text in others] == others
    # Some bytes of a gzip header mean nothing: the time, the system.
    assert documents.skipped or texts == whole


@given(st.binary(max_size=300), st.integers(0, 3))
def test_rubbish_between_members_is_reported(rubbish: bytes, place: int) -> None:
    parts = [gzip.compress(b"".join(LINES[n * 9 : n * 9 + 9])) for n in range(3)]
    parts.insert(place, rubbish)
    found, documents = ids_in(
        "c.jsonl.gz", gzip.compress(b"\n") + b"".join(parts), text_field="text", id_field="id"
    )
    assert [id for id in found if id in {f"d{n}" for n in range(27)}] == [
        f"d{n}" for n in range(27)
    ]
    assert bool(documents.skipped) == bool(rubbish.strip(b"\0"))


def test_the_checksum_is_checked() -> None:
    whole = bytearray(gzip.compress(b"".join(LINES)))
    whole[-8] ^= 1
    found, documents = ids_in("d.jsonl.gz", bytes(whole))
    assert len(found) == 300
    assert documents.skipped.reasons == {"damaged compression": 1}
    with pytest.raises(DocumentError, match=r"d\.jsonl\.gz, after line 300: cannot read: damaged"):
        list(open_documents(Path(folder.name) / "d.jsonl.gz", strict=True))


def test_a_damaged_text_file_is_skipped_whole(tmp_path: Path) -> None:
    (tmp_path / "a.txt.gz").write_bytes(gzip.compress(b"text" * 100)[:-9])
    (tmp_path / "b.txt").write_bytes(b"b")
    documents = open_documents(tmp_path)
    assert [Path(row["id"]).name for row in rows(documents)] == ["b.txt"]
    assert documents.skipped.reasons == {"damaged compression": 1}


def test_csv_is_not_read_after_damage() -> None:
    parts = [gzip.compress(b"id,text\n" + b"".join(b"%d,x\n" % n for n in range(50)))]
    parts += [gzip.compress(b"".join(b"%d,x\n" % n for n in range(50, 90)))]
    spoilt = parts[0][:-1] + bytes([parts[0][-1] ^ 1])
    found, documents = ids_in("e.csv.gz", spoilt + parts[1])
    assert found == [str(n) for n in range(50)]
    assert "after row 50" in str(documents.skipped.first[0])


@pytest.mark.parametrize("size", [1, 1 << 20])
@pytest.mark.parametrize("pack", [gzip.compress, zstandard.compress])
def test_csv_that_is_damaged_in_a_quoted_field(pack: Any, size: int) -> None:
    """At a line end, where a row could end if the quote had been closed: that is the damage's."""
    packed = pack(b'id,text\na,one\nb,"two\n')
    # The rubbish behind is no member or frame.
    found, documents = ids_in("f.csv", packed + b"rubbish " * 9, batch_bytes=size)
    assert found == ["a"]
    assert documents.skipped.reasons == {"damaged compression": 1}
    assert "after row 1" in str(documents.skipped.first[0])


@given(st.floats(0, 1), st.booleans())
def test_a_cut_archive_loses_one_record(share: float, packed: bool) -> None:
    whole = members(PAGES) if packed else b"".join(PAGES)
    size = int(share * len(whole))
    found, documents = ids_in("a.warc", whole[:size])
    ends = [0]
    for record in [members([p]) for p in PAGES] if packed else PAGES:
        ends.append(ends[-1] + len(record))
    complete = sum(end <= size for end in ends) - 1
    # The line ends after a record may be missing without harm.
    near = not packed and any(end - 4 <= size < end for end in ends)
    assert found[:complete] == [f"http://example.com/{n}" for n in range(complete)]
    assert len(found) == complete + near
    assert bool(documents.skipped) == (size not in ends and not near)
    assert documents.skipped.count <= 1


@given(st.integers(0, 11), st.integers(0, 10_000), st.integers(1, 255))
def test_a_flipped_byte_costs_one_record_of_a_packed_archive(n: int, at: int, flip: int) -> None:
    parts = [members([record]) for record in PAGES]
    spoilt = bytearray(parts[n])
    spoilt[at % len(spoilt)] ^= flip
    parts[n] = bytes(spoilt)
    found, documents = ids_in("b.warc.gz", b"".join(parts))
    others = [f"http://example.com/{k}" for k in range(12) if k != n]
    assert [id for id in found if id in others] == others
    assert len(found) == 12 or (len(found) == 11 and documents.skipped.count in (1, 2))


@given(st.integers(0, 11), st.integers(0, 10_000), st.integers(1, 255))
def test_a_flipped_byte_costs_one_record_of_a_plain_archive(n: int, at: int, flip: int) -> None:
    parts = list(PAGES)
    spoilt = bytearray(parts[n])
    spoilt[at % len(spoilt)] ^= flip
    parts[n] = bytes(spoilt)
    found, documents = read(Path(folder.name) / "c.warc", b"".join(parts))
    others = [f"page{k}word0".encode() for k in range(12) if k != n]
    for row, text in zip([row for row in found if row["position"] != n], others, strict=True):
        assert text in row["content"]
    assert len(found) == 12 or documents.skipped or documents.skipped.ignored


@given(st.binary(max_size=200), st.integers(0, 12), st.booleans())
def test_rubbish_in_an_archive(rubbish: bytes, place: int, packed: bool) -> None:
    parts = [members([record]) for record in PAGES] if packed else list(PAGES)
    parts.insert(place, rubbish)
    found, _ = ids_in("d.warc", b"".join(parts), format="warc")
    if place == 0 and packed != rubbish.startswith(b"\x1f\x8b\x08"):
        return  # it does not look compressed when it is, or the other way round
    wanted = [f"http://example.com/{k}" for k in range(12)]
    assert [id for id in found if id in wanted] == wanted


@given(
    st.binary(max_size=400), st.sampled_from(["warc", "arc", "jsonl", "csv", "parquet", "arrow"])
)
def test_any_bytes_are_survived(data: bytes, format: str) -> None:
    for prefix in (
        b"",
        b"WARC/1.0\r\n",
        b"\x1f\x8b\x08\0",
        b"\x28\xb5\x2f\xfd",
        b"PAR1",
        b"ARROW1\0\0",
    ):
        attempt(prefix + data, format)


def attempt(data: bytes, format: str) -> None:
    try:
        ids_in("any", data, format=format, text_field="text")
    except DocumentError as error:
        assert "'text' for the text" in str(error) or "any: cannot read: " in str(error)


@given(
    st.integers(0, 100_000), st.integers(1, 255), st.sampled_from(["parquet", "arrow", "arrows"])
)
def test_a_flipped_byte_in_a_table(at: int, flip: int, end: str) -> None:
    table = pa.table(
        {"id": [f"d{n}" for n in range(300)], "text": [line.decode() for line in LINES]}
    )
    path = Path(folder.name) / f"table.{end}"
    if end == "parquet":
        pq.write_table(table, path, row_group_size=50, write_page_checksum=True)
    elif end == "arrow":
        pyarrow.feather.write_feather(table, path, chunksize=50, compression="lz4")
    else:
        with pa.ipc.new_stream(path, table.schema) as writer:
            writer.write_table(table, max_chunksize=50)
    data = bytearray(path.read_bytes())
    data[at % len(data)] ^= flip
    attempt(bytes(data), "parquet" if end == "parquet" else "arrow")


def test_a_spoilt_row_group_costs_its_rows(tmp_path: Path) -> None:
    table = pa.table(
        {"id": [f"d{n}" for n in range(300)], "text": [line.decode() for line in LINES]}
    )
    path = tmp_path / "a.parquet"
    pq.write_table(table, path, row_group_size=100, use_dictionary=False, write_page_checksum=True)
    column = pq.ParquetFile(path).metadata.row_group(1).column(1)
    data = bytearray(path.read_bytes())
    at = column.data_page_offset + column.total_compressed_size // 2
    data[at : at + 64] = bytes(64)
    found, documents = read(path, bytes(data))
    assert [row["id"] for row in found] == [f"d{n}" for n in range(300) if n // 100 != 1]
    assert [row["position"] for row in found][100] == 200
    assert documents.skipped.reasons == {"damaged rows": 100}
    assert "rows 101 to 200" in documents.skipped.first[0].name


def test_lengths_that_lie() -> None:
    """Too long by a little, by very much; too short; no number; no length at all."""
    for wrong in (b"999999", b"99999999999999", b"5", b"-1", b"x", b""):
        records = list(PAGES[:5])
        head, _, rest = records[2].partition(b"Content-Length: ")
        records[2] = head + b"Content-Length: " + wrong + b"\r\n" + rest.partition(b"\r\n")[2]
        found, documents = ids_in("e.warc", b"".join(records))
        wanted = [f"http://example.com/{n}" for n in (0, 1, 3, 4)]
        if wrong != b"99999999999999":
            assert found == wanted, wrong
            assert documents.skipped.reasons == {"damaged record": 1}
        else:
            assert found == wanted[:2] and documents.skipped
    body = http(HTML % b"x", b"Content-Type: text/html")
    records = [ARC_HEAD, *(arc(body, f"http://example.com/{n}") for n in range(3))]
    records[2] = records[2].replace(b"text/html %d" % len(body), b"text/html %d" % (len(body) - 9))
    found, documents = ids_in("e.arc", b"".join(records))
    assert found == ["http://example.com/0", "http://example.com/2"]
    assert documents.skipped.reasons == {"damaged record": 1}


@pytest.mark.parametrize("compression", ["", "gzip"])
def test_progress_is_told_while_and_after_a_file_is_read(tmp_path: Path, compression: str) -> None:
    """Another thread asks, at any moment: also when the file has just been closed."""
    data = b"some bytes\n" * 1000
    path = tmp_path / "a"
    path.write_bytes(gzip.compress(data) if compression else data)
    with Stream(str(path), compression) as stream:
        assert stream.file_offset == 0
        read = b""
        while more := stream.read(100):
            read += more
            assert stream.file_offset <= path.stat().st_size
    assert read == data
    assert stream.file_offset == path.stat().st_size
