"""JSON Lines, CSV, Parquet and Arrow: what Python's json and csv and pyarrow write is read back."""

import bz2
import csv
import gzip
import io
import json
import lzma
import re
import shutil
import tempfile
import zipfile
from pathlib import Path
from typing import Any

import pandas as pd
import pyarrow as pa
import pyarrow.feather
import pyarrow.parquet as pq
import pytest
import zstandard
from hypothesis import example, given
from hypothesis import strategies as st

import roughly
from roughly.documents import open_documents
from roughly.documents.delimited import _record_ends, _scanned_ends
from roughly.documents.stream import Stream
from roughly.errors import DocumentError
from tests.reading import read, records, rows

# Where a reader may cut or quote wrongly; half of a surrogate pair cannot be written as UTF-8.
text = st.text(
    st.sampled_from('ab",;\t\r\n\\<é漢😀\0\x1b|') | st.characters(codec="utf-8"), max_size=30
)
batch_bytes = st.sampled_from([1, 13, 100, 1 << 20])

values = (
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats(allow_nan=False, allow_infinity=False)
    | text
)
nested = st.recursive(values, lambda v: st.lists(v) | st.dictionaries(text, v), max_leaves=5)


folder = tempfile.TemporaryDirectory(prefix="roughly-test-")


def fresh(name: str) -> Path:
    """A file to write; Hypothesis has no folder for each of its examples."""
    return Path(folder.name) / name


def packed(name: str, data: bytes) -> bytes:
    if name.endswith(".gz"):
        return gzip.compress(data)
    return zstandard.compress(data) if name.endswith(".zst") else data


@given(
    st.lists(st.fixed_dictionaries({}, optional={"text": nested, "id": nested, "x": nested})),
    st.sampled_from(["\n", "\r\n", "\n\n", " \n\t\n"]),
    st.booleans(),
    st.sampled_from(["a.jsonl", "a.jsonl.gz", "a.jsonl.zst"]),
    batch_bytes,
)
@example([{"text": "\ufeffx"}], "\n", True, "a.jsonl", 1)
def test_json_lines(
    given: list[dict[str, Any]], end: str, ascii: bool, name: str, batch_bytes: int
) -> None:
    # In a file that was named some record must have the fields that were.
    given = [*given, {"text": "last", "id": "last"}]
    lines = [json.dumps(record, ensure_ascii=ascii).encode() for record in given]
    data = end.encode().join(lines)
    options = {"text_field": "text", "id_field": "id", "batch_bytes": batch_bytes}
    found, documents = read(fresh(name), packed(name, data), **options)
    path = str(documents.sources[0].path)
    good = [n for n, record in enumerate(given) if readable(record.get("text"))]
    assert [row["position"] for row in found] == good
    for row in found:
        record = given[row["position"]]
        assert row["content"].decode() == as_text(record["text"])
        id = record.get("id")
        if isinstance(id, list | dict):
            continue  # as it stands in the file
        wanted = f"{path}#{row['position'] + 1}" if id is None or id == "" else as_text(id)
        assert row["id"] == wanted or row["id"].startswith(wanted + "#")
        assert not row["content"].startswith(b"\xef\xbb\xbf") or record["text"][0] == "\ufeff"
    for row, raw in zip(found, records(documents, found), strict=True):
        assert json.loads(raw) == given[row["position"]]
    assert documents.skipped.count == len(given) - len(good)


def readable(value: Any) -> bool:
    return isinstance(value, str | int | float)


def as_text(value: Any) -> str:
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)


def test_json_lines_with_a_mark_and_without_utf8(tmp_path: Path) -> None:
    data = b"\xef\xbb\xbf" + b'{"text": "caf\xe9 cr\xe8me", "id": "\xff"}\n{"text": "plain"}\n'
    found, documents = read(tmp_path / "a.jsonl", data)
    assert [(r["content"].decode(), r["encoding"]) for r in found] == [
        ("café crème", "windows-1252"),
        ("plain", "utf-8"),
    ]
    assert found[0]["id"] == "\ufffd"
    assert [(row["begin"], row["end"]) for row in found] == [(3, 37), (37, len(data))]
    assert records(documents, found)[0].startswith(b'{"text"')


def test_line_numbers_count_blank_lines(tmp_path: Path) -> None:
    data = b'{"text": "1"}\n\n\n[]\n{"text": "5"}\n{"text": {}}\n \n{"x": 1}\n{"text": 9}\nnull'
    for size in (1, 20, 1000):
        found, documents = read(tmp_path / "a.jsonl", data, batch_bytes=size)
        assert [row["content"] for row in found] == [b"1", b"5", b"9"]
        assert [row["position"] for row in found] == [0, 2, 5]
        assert [unread.name.rpartition(" ")[2] for unread in documents.skipped.first] == [
            *("4", "6", "8", "10")
        ]
        assert documents.skipped.reasons == {"not a JSON object": 2, "no text": 2}


cells = st.lists(st.tuples(text, text), max_size=8)


@given(
    cells,
    st.sampled_from([",", ";", "\t", "|"]),
    st.sampled_from(["\n", "\r\n", "\r"]),
    st.sampled_from(["a.csv", "a.csv.gz", "a.csv.zst"]),
    batch_bytes,
)
def test_csv(
    given: list[tuple[str, str]], delimiter: str, end: str, name: str, batch_bytes: int
) -> None:
    # The csv module leaves line ends unquoted that are not its own, and cannot read them back.
    quoting = csv.QUOTE_MINIMAL if end == "\r\n" else csv.QUOTE_ALL
    out = io.StringIO(newline="")
    writer = csv.writer(out, delimiter=delimiter, lineterminator=end, quoting=quoting)
    writer.writerow(["n", "text", "id"])
    writer.writerows((n, *cell) for n, cell in enumerate(given))
    data = out.getvalue().encode()
    if delimiter == "\t":
        name = name.replace("csv", "tsv")
    found, documents = read(fresh(name), packed(name, data), batch_bytes=batch_bytes)
    assert not documents.skipped
    assert [row["content"].decode() for row in found] == [cell[0] for cell in given]
    for row, raw, cell in zip(found, records(documents, found), given, strict=True):
        (again,) = csv.reader(io.StringIO(raw.decode(), newline=""), delimiter=delimiter)
        assert again == [str(row["position"]), *cell]
        assert row["id"] == cell[1] or not cell[1] or row["id"].startswith(cell[1] + "#")
    if found:
        assert found[-1]["end"] == len(data)


@pytest.mark.parametrize(
    ("head", "format"),
    [
        ('id,text\n1,"one, two"\n2,"of\nseveral lines"\n', "csv"),
        ("\ufeffURL;Body\r\nu1;one\r\nu2;two\r\n", "csv"),
        ("content|id\none|1\n\ntwo|2\n", "csv"),
        ("id\ttext\n1\tone, two\n", "tsv"),
        ("id,text\n" + '1,"' + "word " * 200 + '"\n2,two\n', "csv"),
        ("id,text\n" + "".join(f"{n},{'word ' * 99}\n" for n in range(500)), "csv"),
        ("id,text\n1,'" + "word " * 20_000 + "'\n2,two\n", "csv"),  # the first row goes on
        (",text,label\n0,one,a\n1,two,b\n", "csv"),  # as pandas writes it
        ("url,text\na,one\n", "csv"),
        ("text,label\n" + "one,two\n" * 12 + "one,two,three\n", "csv"),
        ("text,label\n" + "one,two\n" * 2 + "one,two,three\n", "text"),
        ("text,label\none,two\n", "text"),  # or a line of prose
        ("html,body\n{margin:0,padding:0}\n", "text"),
        ("id,text\n", "text"),  # no row
        ("id,title\n1,one\n2,two\n", "text"),  # nothing that is a text
        ("text\none\ntwo\n", "text"),  # one column: any text is that
        ("id,text\n1,one,two\n", "text"),
        ("Dear text, dear reader,\nthis, too, is\na text\n", "text"),
        ("text,\none,two\n", "text"),
        ("Text, drawings and photographs\nJohn Smith, London\n", "text"),
        ('{"text": "one", "id": 1}\n', "jsonl"),
    ],
)
def test_the_format_that_the_first_bytes_show(head: str, format: str, tmp_path: Path) -> None:
    (tmp_path / "a").write_text(head, newline="")
    assert open_documents(tmp_path / "a").sources[0].format == format
    # Of a directory's many files some prose may look like rows.
    found = open_documents(tmp_path).sources[0].format
    assert found == ("text" if format in ("csv", "tsv") else format)


def test_csv_that_is_not_as_it_should_be(tmp_path: Path) -> None:
    data = b'text,id\n5" pipe,a\n3" and 4",b\nshort\n\n"two\nlines",c\nlong,d,e\r\n\r\nlast,f'
    for size in (1, 9, 1000):
        found, documents = read(tmp_path / "a.csv", data, batch_bytes=size)
        assert [(row["id"], row["content"].decode()) for row in found] == [
            *(("a", '5" pipe'), ("b", '3" and 4"'), ("c", "two\nlines"), ("f", "last"))
        ]
        assert [row["position"] for row in found] == [0, 1, 3, 5]
        assert b"".join(records(documents, found)) == data.replace(b"text,id\n", b"").replace(
            b"short\n\n", b""
        ).replace(b"long,d,e\r\n\r\n", b"")
        assert [str(unread).rpartition(", row ")[2] for unread in documents.skipped.first] == [
            "3: wrong number of fields: 1, wanted 2",
            "5: wrong number of fields: 3, wanted 2",
        ]
    latin = "text\ncafé crème brûlée\n".encode("latin-1")
    found, _ = read(tmp_path / "b.csv", b"\xef\xbb\xbf" + latin)
    assert found[0]["content"].decode() == "café crème brûlée"
    with pytest.raises(DocumentError, match=r"c\.csv: cannot read: it is UTF-16, wanted UTF-8"):
        read(tmp_path / "c.csv", "text,id\nx,1\n".encode("utf-16"))
    with pytest.raises(DocumentError, match=r"no column 'body' for the text: the first row names"):
        list(open_documents(tmp_path / "a.csv", text_field="body"))


UNCLOSED = "quote that is never closed"


@given(
    st.lists(st.tuples(text, text), min_size=1, max_size=6),
    st.integers(1, 200),
    st.sampled_from([",", ";", "\t"]),
    st.sampled_from(["a.csv", "a.csv.gz", "a.csv.zst"]),
    batch_bytes,
)
def test_a_file_that_is_cut_inside_a_quoted_field(
    given: list[tuple[str, str]], cut: int, delimiter: str, name: str, batch_bytes: int
) -> None:
    out = io.StringIO(newline="")
    writer = csv.writer(out, delimiter=delimiter, lineterminator="\n", quoting=csv.QUOTE_ALL)
    writer.writerow(["id", "text"])
    writer.writerows((n, f"x{cell}") for n, (cell, _) in enumerate(given))
    whole = out.getvalue().encode()
    last = f"x{given[-1][1]}".replace('"', '""').encode()
    begun = b'"last"' + delimiter.encode() + b'"' + last[:cut]
    if (len(begun) - len(begun.rstrip(b'"'))) % 2 and begun.endswith(b'"') and last[:cut]:
        begun = begun[:-1]  # half of a doubled quote would close the field
    if delimiter == "\t":
        name = name.replace("csv", "tsv")
    found, documents = read(fresh(name), packed(name, whole + begun), batch_bytes=batch_bytes)
    assert [row["id"] for row in found] == [str(n) for n in range(len(given))]
    assert [row["content"].decode() for row in found] == [f"x{cell}" for cell, _ in given]
    assert [str(unread).rpartition(", row ")[2] for unread in documents.skipped.first] == [
        f"{len(given) + 1}: {UNCLOSED}: it takes the rest of the file, {len(begun)} bytes"
    ]
    assert documents.skipped.reasons == {UNCLOSED: 1}


@pytest.mark.parametrize("size", [1, 7, 20, 1 << 20])
@pytest.mark.parametrize("end", ["", ".gz", ".zst"])
def test_a_quote_that_is_never_closed_costs_what_is_behind_it(
    size: int, end: str, tmp_path: Path
) -> None:
    rows_before = b'id,text\na,one\n\nb,"two ""quoted"" words"\n'
    # In the second a quote in an odd place makes the reader look at each field.
    for before, row in ((rows_before, 3), (rows_before + b'c,5" pipe\n', 4)):
        data = before + b'd,"never closed\ne,five\nf,six, ""seven""\n'
        path = tmp_path / f"a.csv{end}"
        found, documents = read(path, packed(end, data), batch_bytes=size)
        assert [row["id"] for row in found] == ["a", "b", "c"][: row - 1]
        assert found[1]["content"] == b'two "quoted" words'
        assert [str(unread) for unread in documents.skipped.first] == [
            f"{path}, row {row}: {UNCLOSED}: it takes the rest of the file, "
            f"{len(data) - len(before)} bytes"
        ]
        with pytest.raises(DocumentError, match=rf"row {row}: cannot read: {UNCLOSED}"):
            list(open_documents(path, strict=True, batch_bytes=size))


@pytest.mark.parametrize("size", [1, 20, 60])
@pytest.mark.parametrize("end", ["", ".gz"])
def test_a_quote_that_takes_more_than_a_row_may_have(
    size: int, end: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    # So that pieces of gzip are no larger than the limit either.
    monkeypatch.setattr("roughly.documents.stream._OUTPUT_BYTES", 16)
    monkeypatch.setattr("roughly.documents.block.RECORD_BYTES", 50)
    before = b"id,text\na,one\nb,two\n"
    path = tmp_path / f"a.csv{end}"
    found, documents = read(path, packed(end, before + b'c,"' + b"open\n" * 99), batch_bytes=size)
    assert [row["id"] for row in found] == ["a", "b"]
    assert [str(unread) for unread in documents.skipped.first] == [
        f"{path}, row 3: {UNCLOSED}: a record of more than 50 bytes"
    ]
    with pytest.raises(DocumentError, match=rf"row 3: cannot read: {UNCLOSED}"):
        list(open_documents(path, strict=True, batch_bytes=size))
    # Where no quote is open the row alone is too long.
    found, documents = read(path, packed(end, before + b"c," + b"open " * 99), batch_bytes=size)
    assert [row["id"] for row in found] == ["a", "b"]
    assert [str(unread) for unread in documents.skipped.first] == [
        f"{path}: cannot be read: a record of more than 50 bytes"
    ]


def test_a_row_may_have_as_much_as_is_said_and_no_more(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("roughly.documents.block.RECORD_BYTES", 1000)
    path = tmp_path / "a.csv"
    for more in (0, 1):
        row = b"a," + b"x" * (998 + more) + b"\n"  # the line end is not counted
        path.write_bytes(b"id,text\nb,two\n" + row + b"c,three\n" * 999)
        documents = open_documents(path, batch_bytes=300)  # which twice over is not the limit
        assert len(rows(documents)) == (1 if more else 1001)
        assert documents.skipped.count == more


def test_a_first_row_of_more_than_a_row_may_have(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("roughly.documents.block.RECORD_BYTES", 100_000)
    asked: list[int] = []
    read = Stream.read
    monkeypatch.setattr(Stream, "read", lambda self, n: asked.append(n) or read(self, n))
    for quote, said in ((b'"', f"the first row has a {UNCLOSED}"), (b"", "a first row of more")):
        (tmp_path / "a.csv").write_bytes(b"id," + quote + b"text," * 99_999)
        with pytest.raises(DocumentError, match=rf"a\.csv: cannot read: {said}"):
            list(open_documents(tmp_path / "a.csv"))
        assert sum(asked) == 100_001
        asked.clear()


@pytest.mark.parametrize("before", ["\n", "\r\n", "\r", "\n\n\r\n", "\ufeff\n", "\n" * 70_000])
@pytest.mark.parametrize("head", ["id,text\n", '"id","text"\n'])
def test_empty_lines_before_the_first_row(before: str, head: str, tmp_path: Path) -> None:
    data = f'{before}{head}\na,one\n\nb,"two\nlines"\n'.encode()
    for name, size in (("a.csv", 1), ("a.csv", 1 << 20), ("a.csv.gz", 9)):
        found, documents = read(tmp_path / name, packed(name, data), batch_bytes=size)
        assert [(row["id"], row["content"]) for row in found] == [
            ("a", b"one"),
            ("b", b"two\nlines"),
        ]
        assert not documents.skipped
        assert records(documents, found) == [b"a,one\n", b'b,"two\nlines"\n']
    if len(before) < 9:
        found, documents = read(tmp_path / "b", data)
        assert documents.sources[0].format == "csv" and len(found) == 2
    found, _ = read(tmp_path / "c.csv", before.encode())
    assert found == []


def test_a_quote_in_the_first_row_that_is_never_closed(tmp_path: Path) -> None:
    (tmp_path / "b.csv").write_text("id,text\nb,two\n")
    for head in ('id,"text\na,one\n', '\ufeff"id;text\na;one\n', 'id;"text\n' + "a;b\n" * 20_000):
        (tmp_path / "a.csv").write_text(head)
        with pytest.raises(
            DocumentError, match=rf"a\.csv: cannot read: the first row has a {UNCLOSED}"
        ):
            list(open_documents(tmp_path / "a.csv"))
        documents = open_documents(tmp_path)
        assert [row["id"] for row in rows(documents)] == ["b"]
        assert documents.skipped.reasons == {"cannot be read": 1}
    # A first row that is closed, however far behind.
    name = "n\n" * 60_000
    found, _ = read(tmp_path / "c.csv", f'id;text;"{name}"\nc;three;"\n'.encode())
    assert found == []


def test_a_long_row_that_is_not_utf_8_and_has_too_many_fields(tmp_path: Path) -> None:
    data = b"id,text\na,one\nb,caf\xe9 " + b"word " * 40_000 + b',"x,y",\nc,three\n'
    found, documents = read(tmp_path / "a.csv", data)
    assert [row["id"] for row in found] == ["a", "c"]
    assert [str(unread).rpartition(", row ")[2] for unread in documents.skipped.first] == [
        "2: wrong number of fields: 4, wanted 2"
    ]


@given(st.lists(st.sampled_from(['"', '""', ",", "\n", "\r", "\r\n", "a", "b "])), st.booleans())
def test_rows_end_where_a_plain_reading_ends_them(pieces: list[str], last: bool) -> None:
    data = "".join(pieces).encode()
    wanted = []
    quoted = begins = False
    start = True
    at = 0
    while at < len(data):
        character = data[at : at + 1]
        if quoted:
            if data[at : at + 2] == b'""':
                at += 1
            elif character == b'"':
                quoted = False
        elif character == b'"' and start:
            quoted = True
        elif character == b"\n" or (character == b"\r" and data[at + 1 : at + 2] != b"\n"):
            if character == b"\n" or last or at + 1 < len(data):
                wanted.append(at + 1)
            begins = True
        start = not quoted and (character == b"," or begins)
        begins = False
        at += 1
    if last and data and (not wanted or wanted[-1] != len(data)):
        wanted.append(len(data))
    ends, unclosed = _record_ends(data, ",", last)
    assert (ends.tolist(), unclosed) == (wanted, quoted)
    scanned, unclosed = _scanned_ends(data, ",", last)
    assert scanned.tolist() == wanted or [*scanned.tolist(), len(data)] == wanted
    assert unclosed == quoted


tables = st.lists(st.tuples(st.none() | text, st.none() | text), max_size=12)


@given(tables, st.integers(1, 5), st.sampled_from(["parquet", "feather", "arrow"]), batch_bytes)
def test_tables(
    given: list[tuple[str | None, str | None]], chunk: int, kind: str, batch_bytes: int
) -> None:
    columns = [pa.array(column, pa.string()) for column in zip(*given, strict=True)] or [
        pa.array([], pa.string())
    ] * 2
    table = pa.table({"text": columns[0], "id": columns[1], "n": range(len(given))})
    path = fresh(f"a.{kind}")
    if kind == "parquet":
        pq.write_table(table, path, row_group_size=chunk)
    elif kind == "feather":
        pyarrow.feather.write_feather(table, path, chunksize=chunk)
    else:
        with pa.ipc.new_stream(path, table.schema) as writer:
            writer.write_table(table, max_chunksize=chunk)
    documents = open_documents(path, batch_bytes=batch_bytes)
    found = rows(documents)
    good = [n for n, (content, _) in enumerate(given) if content is not None]
    assert [row["position"] for row in found] == good
    assert [row["content"].decode() for row in found] == [given[n][0] for n in good]
    assert [(row["begin"], row["end"]) for row in found] == [(n, n + 1) for n in good]
    for row in found:
        wanted = given[row["position"]][1] or f"{path}#{row['position'] + 1}"
        assert row["id"] == wanted or row["id"].startswith(wanted + "#")
    assert documents.skipped.reasons == (
        {"no text": len(given) - len(good)} if len(given) > len(good) else {}
    )


@pytest.mark.parametrize("pack", [gzip.compress, zstandard.compress])
def test_tables_that_were_compressed_as_a_whole(pack: Any, tmp_path: Path) -> None:
    table = pa.table({"text": ["one", "two"]})
    tool = "gzip" if pack is gzip.compress else "zstd"
    end = {"gzip": "gz", "zstd": "zst"}[tool]
    pq.write_table(table, tmp_path / "a.parquet")
    pyarrow.feather.write_feather(table, tmp_path / "a.feather")
    with pa.ipc.new_stream(tmp_path / "a.arrows", table.schema) as writer:
        writer.write_table(table)
    found, _ = read(tmp_path / f"a.arrows.{end}", pack((tmp_path / "a.arrows").read_bytes()))
    assert [row["content"] for row in found] == [b"one", b"two"]
    for plain, ending, what in (
        ("a.parquet", ".parquet", "a Parquet file"),
        ("a.feather", ".arrow", "an Arrow file"),
    ):
        data = (tmp_path / plain).read_bytes()
        for name in (f"{plain}.{end}", plain, "a"):
            path = tmp_path / "sub" / name
            path.parent.mkdir(exist_ok=True)
            with pytest.raises(DocumentError) as error:
                read(path, pack(data))
            assert str(error.value.message).endswith(
                f"{name}: cannot read: it is {what} compressed with {tool}, wanted the file itself"
            )
            hint = re.fullmatch(r"decompress it: (\S+ -dc (\S+) > (\S+))", error.value.hint or "")
            assert hint is not None
            assert (hint[1].split()[0], hint[2]) == (tool, str(path))
            target = {plain: f"{plain}{ending}", "a": f"a{ending}"}.get(name, plain)
            assert hint[3] == str(path.with_name(target))
            (tmp_path / "sub" / "b.txt").write_text("text")
            documents = open_documents(tmp_path / "sub")
            assert [row["content"] for row in rows(documents)] == [b"text"]
            assert documents.skipped.reasons == {"cannot be read": 1}
            assert "compressed with" in documents.skipped.first[0].detail
            shutil.rmtree(tmp_path / "sub")
        # The first bytes say that a name does not tell the truth.
        found, _ = read(tmp_path / f"b.{plain}.{end}", data)
        assert [row["content"] for row in found] == [b"one", b"two"]


@pytest.mark.parametrize("name", ["a.feather", "a"])
def test_feather_of_version_1(name: str, tmp_path: Path) -> None:
    # As it begins and ends: the magic, filled up to eight bytes, and the magic.
    file = b"FEA1\0\0\0\0" + bytes(120) + b"\x80\0\0\0FEA1"
    for data in (file, gzip.compress(file)):
        with pytest.raises(
            DocumentError, match=r"it is a Feather file of version 1, wanted.*\nhint: write it anew"
        ):
            read(tmp_path / name, data)


TYPES = [
    pa.string(),
    pa.large_string(),
    pa.binary(),
    pa.large_binary(),
    pa.string_view(),
    pa.binary_view(),
    pa.dictionary(pa.int32(), pa.string()),
]


@pytest.mark.parametrize("type", TYPES, ids=str)
def test_every_type_of_text(type: pa.DataType, tmp_path: Path) -> None:
    column = pa.array(["a", None, "é", "", "<p>"]).cast(type)
    table = pa.table({"text": column, "id": column})
    wanted = [("a", "a"), ("é", "é"), ("documents#4", ""), ("<p>", "<p>")]
    found = rows(open_documents(table))
    assert [(row["id"], row["content"].decode()) for row in found] == wanted
    pq.write_table(
        table.cast(pa.schema([("text", storable(type)), ("id", storable(type))])), tmp_path / "a.pq"
    )
    assert [row["content"].decode() for row in rows(open_documents(tmp_path / "a.pq"))] == [
        text for _, text in wanted
    ]


def storable(type: pa.DataType) -> pa.DataType:
    return {pa.string_view(): pa.string(), pa.binary_view(): pa.binary()}.get(type, type)


def test_bytes_in_columns_are_decoded(tmp_path: Path) -> None:
    page = '<meta charset="koi8-r"><p>Привет, мир'.encode("koi8-r")
    table = pa.table({"html": [page, b"plain", "déjà vu, crème".encode("latin-1")]})
    found = rows(open_documents(table))
    assert [(row["encoding"], row["html"]) for row in found] == [
        *(("koi8-r", True), ("utf-8", False), ("windows-1252", False))
    ]
    assert found[0]["content"].decode().endswith("Привет, мир")


def test_columns_that_are_not_there(tmp_path: Path) -> None:
    table = pa.table({"n": [1], "text": ["x"]})
    pq.write_table(table, tmp_path / "a.parquet")
    for source in (table, tmp_path / "a.parquet"):
        with pytest.raises(DocumentError, match="no column 'body' for the text: the columns are n"):
            list(open_documents(source, text_field="body"))
    with pytest.raises(DocumentError, match="no field looks like the text: the fields are n"):
        list(open_documents(pa.table({"n": [1]})))
    assert [row["content"] for row in rows(open_documents(table, text_field="n"))] == [b"1"]


def test_two_columns_with_the_name_of_the_text(tmp_path: Path) -> None:
    columns = [pa.array(["a"]), pa.array(["b"]), pa.array(["c"])]
    table = pa.Table.from_arrays(columns, names=["text", "id", "text"])
    pq.write_table(table, tmp_path / "a.parquet")
    pyarrow.feather.write_feather(table, tmp_path / "a.feather")
    (tmp_path / "a.csv").write_text("text,id,text\na,b,c\n")
    frame = pd.DataFrame([["a", "b", "c"]], columns=["text", "id", "text"])
    for source in (
        *(table, table.to_reader(), [table, table], iter([table]), frame),
        *(tmp_path / "a.parquet", tmp_path / "a.feather", tmp_path / "a.csv"),
    ):
        with pytest.raises(DocumentError, match=r"2 fields are named 'text', wanted one") as error:
            list(open_documents(source))
        assert "rename all but one" in str(error.value.hint)
    # Of others the first is taken.
    (tmp_path / "b.csv").write_text("text,id,id,n,n\na,b,c,1,2\n")
    names = ["text", "id", "id", "n", "n"]
    frame = pd.DataFrame([["a", "b", "c", 1, 2]], columns=names)
    table = pa.Table.from_arrays([*columns, columns[0], columns[0]], names=names)
    for source in (table, table.to_reader(), [table], iter([table]), frame, tmp_path / "b.csv"):
        assert [(row["id"], row["content"]) for row in rows(open_documents(source))] == [
            ("b", b"a")
        ]


def lines(records: list[dict[str, Any]]) -> str:
    return "".join(json.dumps(record) + "\n" for record in records)


@pytest.mark.parametrize("role", ["text", "id", "date"])
def test_a_field_that_no_record_has(role: str, tmp_path: Path) -> None:
    records: list[dict[str, Any]] = [{"text": "a", "n": 1}, {"text": "b", "n": 2}]
    path = tmp_path / "a.jsonl"
    path.write_text(lines(records))
    (tmp_path / "a.csv").write_text("text,n\na,1\n")
    field: dict[str, Any] = {f"{role}_field": "nope"}
    for source in (
        *(path, [path], tmp_path / "a.csv", records, tuple(records), iter(records)),
        *(pd.DataFrame(records), pa.Table.from_pylist(records)),
    ):
        with pytest.raises(
            DocumentError, match=rf"'nope' for the {role}.*text, ?n\n.*{role}_field"
        ):
            list(open_documents(source, **field))
    # A field that comes late is there; and what was found may be something else.
    late = records * 100 + [{"text": "c", "nope": "2026"}]
    path.write_text(lines(late))
    wanted = 1 if role == "text" else 201
    for source in (path, late, iter(late)):
        assert len(rows(open_documents(source, batch_bytes=50, **field))) == wanted
    path.write_text(lines(records))
    assert len(rows(open_documents(str(tmp_path / "*.jsonl"), **field))) == 2 * (role != "text")


def test_the_field_without_text_is_named_as_the_caller_named_it() -> None:
    for items in ([{"txt": "a"}], iter([{"body": None}]), [{"body": "x"}, {"body": None}]):
        name = "nope" if items == [{"txt": "a"}] else "body"
        with pytest.raises(DocumentError, match=rf"no text: null in field '{name}'"):
            list(open_documents(items, text_field=name, strict=True))


def zipped() -> bytes:
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w") as archive:
        archive.writestr("a.jsonl", "one")
    return out.getvalue()


@pytest.mark.parametrize(
    ("packed", "name"),
    [
        (bz2.compress(b"one"), "bzip2"),
        (bz2.compress(b""), "bzip2"),
        (lzma.compress(b"one"), "xz"),
        (zipped(), "zip"),
    ],
)
def test_compressions_that_are_not_read(packed: bytes, name: str, tmp_path: Path) -> None:
    """The bytes are no text, and one document of them would be found like no other."""
    (tmp_path / "a.jsonl.packed").write_bytes(packed)
    said = f"a.jsonl.packed: cannot read: it is compressed with {name}, wanted gzip, zstd or no"
    with pytest.raises(DocumentError, match=f"{said} compression\nhint: decompress it"):
        list(open_documents(tmp_path / "a.jsonl.packed"))
    with pytest.raises(DocumentError, match=said):
        roughly.dedup(tmp_path / "a.jsonl.packed")
    # In a directory it is one of the files that are no text.
    documents = open_documents(tmp_path)
    assert list(documents) == [] and documents.skipped.ignored == {"not text": 1}


@pytest.mark.parametrize("prose", ["BZhou is a city", "BZh", "BZh1, of several", "PK is a name"])
def test_prose_that_begins_like_a_compression(prose: str, tmp_path: Path) -> None:
    found, _ = read(tmp_path / "notes", prose.encode())
    assert [row["content"].decode() for row in found] == [prose]


def test_a_file_without_lines_is_not_read_whole(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("roughly.documents.block.RECORD_BYTES", 1 << 17)
    (tmp_path / "a.jsonl").write_text('{"text": "' + "word " * 100_000)
    with pytest.raises(DocumentError, match=r"cannot read: a first line of more than 131"):
        list(open_documents(tmp_path / "a.jsonl"))
    (tmp_path / "a.jsonl").write_text('{"text": "' + "word " * 20_000 + '"}')
    assert len(list(open_documents(tmp_path / "a.jsonl"))) == 1
