"""What dedup writes, byte for byte, against the input filtered by hand, for every format."""

import csv
import gzip
import io
import json
import os
import subprocess
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

import pyarrow as pa
import pyarrow.feather
import pyarrow.parquet as pq
import pytest
import zstandard
from hypothesis import given
from hypothesis import strategies as st

import roughly
from roughly.errors import DocumentError, ParameterError
from tests.archive import ARC_HEAD, HTML, arc, http, warc
from tests.optional import optional
from tests.test_cli import assert_error
from tests.test_cli import roughly as command

# Texts without a shingle in common; those that differ in case alone are equivalent.
WORDS = [
    "ant bee cow",
    "DOG eel fox gnu hen",
    "ibis jay",
    "",
    "koi <p>",
    'lark "mole", newt\n\npug',
]
TEXTS = [text for words in WORDS for text in (words, words.upper())]


class Record(NamedTuple):
    text: str | None  # None: something that is no document and stays
    stays: bool


def expected(texts: list[str | None]) -> list[Record]:
    """The first of equal texts stays; of empty ones the first of equal bytes."""
    seen: set[str] = set()
    records = []
    for text in texts:
        key = text if text is None or not text.strip() else text.lower()
        records.append(Record(text, key is None or key not in seen))
        if key is not None:
            seen.add(key)
    return records


texts = st.lists(st.none() | st.sampled_from(TEXTS), max_size=12)


# --- formats of bytes -----------------------------------------------------------------------------


def jsonl(record: Record, number: int) -> bytes:
    if record.text is None:
        return [b"\n", b"no JSON\n", b'{"text": null}\n', b'  {"id": "x"}\r\n'][number % 4]
    return json.dumps({"n": number, "text": record.text}).encode() + [b"\n", b"\r\n"][number % 2]


def row(delimiter: str) -> Callable[[Record, int], bytes]:
    def made(record: Record, number: int) -> bytes:
        if record.text is None:
            return [b"\n", b"too few\n"][number % 2]
        out = io.StringIO(newline="")
        csv.writer(out, delimiter=delimiter, quoting=csv.QUOTE_ALL).writerow([number, record.text])
        return out.getvalue().encode()

    return made


def warc_record(record: Record, number: int) -> bytes:
    uri = f"http://example.com/{number}"
    if record.text is None:
        return warc(b"GET / HTTP/1.1\r\n\r\n", uri, b"request")
    return warc(http(record.text.encode() or b" ", b"Content-Type: text/plain"), uri)


def arc_record(record: Record, number: int) -> bytes:
    if record.text is None:
        return arc(http(b"", status=b"301 Moved"), f"http://example.com/{number}")
    return arc(http(HTML % record.text.encode()), f"http://example.com/{number}")


class Form(NamedTuple):
    name: str
    head: bytes
    record: Callable[[Record, int], bytes]
    # Whether every record is compressed by itself.
    single: bool = False


FORMS = [
    Form("a.jsonl", b"", jsonl),
    Form("b.jsonl", b"\xef\xbb\xbf", jsonl),
    Form("a.csv", b"n,text\n", row(",")),
    Form("a.tsv", b"n\ttext\r\n", row("\t")),
    Form("a.warc", warc(b"software: x\r\n", "", b"warcinfo"), warc_record, True),
    Form("a.arc", ARC_HEAD, arc_record, True),
]
PACKED = {
    "": lambda data: data,
    ".gz": gzip.compress,
    ".zst": zstandard.ZstdCompressor().compress,
}


def unpacked(name: str, data: bytes) -> bytes:
    if name.endswith(".gz"):
        return gzip.decompress(data)
    if name.endswith(".zst"):
        with zstandard.ZstdDecompressor().stream_reader(data, read_across_frames=True) as reader:
            return reader.read()
    return data


def members(name: str, data: bytes) -> list[bytes]:
    """What is inside each member or frame."""
    found = []
    while data:
        import zlib

        decoder: Any = zlib.decompressobj(31)
        if name.endswith(".zst"):
            decoder = zstandard.ZstdDecompressor().decompressobj()
        found.append(decoder.decompress(data) + decoder.flush())
        data = decoder.unused_data
    return found


@given(texts, st.sampled_from(FORMS), st.sampled_from(list(PACKED)), st.sampled_from(list(PACKED)))
def test_bytes(given: list[str | None], form: Form, packed: str, wanted: str) -> None:
    if form.name == "a.warc" or form.name == "a.arc":
        given = [text for text in given if text != ""]  # a response without content is none
    records = expected([*given, "the last one"])  # guessing fields needs a document
    pieces = [form.head, *(form.record(record, n) for n, record in enumerate(records))]
    stays = [True, *(record.stays for record in records)]
    kept = [piece for piece, stay in zip(pieces, stays, strict=True) if stay]
    pack = PACKED[packed]
    data = b"".join(map(pack, pieces)) if form.single else pack(b"".join(pieces))
    with tempfile.TemporaryDirectory(prefix="roughly-test-") as folder:
        source = Path(folder) / f"in.{form.name}{packed}"
        source.write_bytes(data)
        result = roughly.dedup(source)
        assert result.removed == len(records) - sum(record.stays for record in records)
        out = Path(folder) / f"out.{form.name}{wanted}"
        result.write(out)
        written = out.read_bytes()
        assert unpacked(out.name, written) == b"".join(kept)
        if form.single and wanted:
            assert members(out.name, written) == kept
        removals = [
            json.loads(line)
            for line in out.with_name(out.name + ".removals.jsonl").read_bytes().splitlines()
        ]
        assert removals == result.removals().to_pylist()
        assert sorted(os.listdir(folder)) == sorted(
            [source.name, out.name, out.name + ".removals.jsonl"]
        )
        assert source.read_bytes() == data


def test_the_name_without_an_ending_keeps_the_compression(tmp_path: Path) -> None:
    data = gzip.compress(b'{"text": "a b"}\n{"text": "A b"}\n')
    (tmp_path / "a.jsonl.gz").write_bytes(data)
    result = roughly.dedup(tmp_path / "a.jsonl.gz")
    result.write(tmp_path / "clean")
    assert gzip.decompress((tmp_path / "clean").read_bytes()) == b'{"text": "a b"}\n'


def test_a_last_line_without_an_end(tmp_path: Path) -> None:
    path = tmp_path / "a.jsonl"
    for data, kept in (
        (b'{"text": "a"}\n{"text": "b"}', b'{"text": "a"}\n{"text": "b"}'),
        (b'{"text": "a"}\n{"text": "a"}', b'{"text": "a"}\n'),
        (b'{"text": "a"}', b'{"text": "a"}'),
        (b"", b""),
    ):
        path.write_bytes(data)
        roughly.dedup(path, text_field="text" if data else None).write(
            tmp_path / "b.jsonl", force=True
        )
        assert (tmp_path / "b.jsonl").read_bytes() == kept


def test_more_pieces_than_the_system_takes_at_once(tmp_path: Path) -> None:
    lines = [json.dumps({"text": f"w{n // 2 if n % 3 else n}"}) + "\n" for n in range(9000)]
    seen: set[str] = set()
    kept = [line for line in lines if not (line in seen or seen.add(line))]  # type: ignore[func-returns-value]
    (tmp_path / "a.jsonl").write_text("".join(lines))
    roughly.dedup(tmp_path / "a.jsonl").write(tmp_path / "b.jsonl")
    assert (tmp_path / "b.jsonl").read_text() == "".join(kept)


# --- tables ---------------------------------------------------------------------------------------


def parquet(table: pa.Table, path: Path, chunk: int, codec: str) -> None:
    pq.write_table(table, path, row_group_size=chunk, compression=codec)


def feather(table: pa.Table, path: Path, chunk: int, codec: str) -> None:
    with pa.ipc.new_file(
        path, table.schema, options=pa.ipc.IpcWriteOptions(compression=ipc_codec(codec))
    ) as writer:
        writer.write_table(table, max_chunksize=chunk)


def stream(table: pa.Table, path: Path, chunk: int, codec: str) -> None:
    with pa.ipc.new_stream(
        path, table.schema, options=pa.ipc.IpcWriteOptions(compression=ipc_codec(codec))
    ) as writer:
        writer.write_table(table, max_chunksize=chunk)


def ipc_codec(codec: str) -> str | None:
    return {"none": None, "snappy": "lz4"}.get(codec, codec)


@given(
    texts,
    st.integers(1, 5),
    st.sampled_from([parquet, feather, stream]),
    st.sampled_from(["none", "snappy", "zstd"]),
)
def test_tables(
    given: list[str | None], chunk: int, write: Callable[..., None], codec: str
) -> None:
    records = expected(given)
    schema = pa.schema(
        [
            pa.field("n", pa.int16(), nullable=False, metadata={"unit": "none"}),
            pa.field("text", pa.large_string()),
            pa.field("kind", pa.dictionary(pa.int8(), pa.string())),
            pa.field("tags", pa.list_(pa.string())),
        ],
        metadata={"made": "by hand"},
    )
    columns = [
        pa.array(range(len(records)), pa.int16()),
        pa.array([record.text for record in records], pa.large_string()),
        pa.array(["even", "odd"] * len(records), pa.string())[: len(records)].dictionary_encode(),
        pa.array([["x"] * (n % 3) for n in range(len(records))], pa.list_(pa.string())),
    ]
    columns[2] = columns[2].cast(schema.field("kind").type)
    table = pa.Table.from_arrays(columns, schema=schema)
    kept = table.filter(pa.array([record.stays for record in records], pa.bool_()))
    with tempfile.TemporaryDirectory(prefix="roughly-test-") as folder:
        name = "parquet" if write is parquet else "arrow"
        source, out = Path(folder) / f"in.{name}", Path(folder) / f"out.{name}"
        write(table, source, chunk, codec)
        result = roughly.dedup(source, text_field="text")
        result.write(out)
        if write is parquet:
            before, after = pq.ParquetFile(source), pq.ParquetFile(out)
            assert after.schema_arrow.equals(before.schema_arrow, check_metadata=True)
            found = after.read()
            assert found.cast(kept.schema).equals(kept)
            if after.num_row_groups and before.num_row_groups:
                codecs = [f.metadata.row_group(0).column(1).compression for f in (before, after)]
                assert codecs[0] == codecs[1]
            assert after.num_row_groups <= before.num_row_groups
        else:
            opened = pa.ipc.open_stream if write is stream else pa.ipc.open_file
            with opened(out) as reader:
                assert reader.schema.equals(schema, check_metadata=True)
                assert reader.read_all().equals(kept)
            from roughly.deduplication.table_output import _body_compression
            from roughly.documents.source import file_source

            if len(kept):
                assert _body_compression(file_source(str(out))) == ipc_codec(codec)


@pytest.mark.parametrize("end", [".gz", ".zst"])
def test_a_compressed_stream_of_arrow(end: str, tmp_path: Path) -> None:
    table = pa.table({"text": ["one two", "three", "One, two"], "n": [1, 2, 3]})
    out = io.BytesIO()
    with pa.ipc.new_stream(out, table.schema) as writer:
        writer.write_table(table, max_chunksize=2)
    (tmp_path / f"a.arrows{end}").write_bytes(PACKED[end](out.getvalue()))
    result = roughly.dedup(tmp_path / f"a.arrows{end}")
    for name in (f"b.arrows{end}", "c.arrows"):
        result.write(tmp_path / name)
        data = unpacked(name, (tmp_path / name).read_bytes())
        assert pa.ipc.open_stream(data).read_all().equals(table.slice(0, 2))


def test_a_large_row_group_becomes_several(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from roughly.deduplication import table_output

    monkeypatch.setattr(table_output, "_GROUP_BYTES", 1 << 12)
    table = pa.table({"text": [f"text {n // 2} " * 20 for n in range(200)]})
    pq.write_table(table, tmp_path / "a.parquet")
    roughly.dedup(tmp_path / "a.parquet").write(tmp_path / "b.parquet")
    written = pq.ParquetFile(tmp_path / "b.parquet")
    assert written.num_row_groups > 1
    assert written.read().equals(table.take(list(range(0, 200, 2))))


# --- directories ----------------------------------------------------------------------------------


def tree(folder: Path) -> dict[str, bytes]:
    return {
        str(path.relative_to(folder)): path.read_bytes()
        for path in folder.rglob("*")
        if path.is_file()
    }


def test_a_directory_of_texts(tmp_path: Path) -> None:
    files = {
        "a.txt": b"one two three",
        "b/c.txt": b"four five six",
        "b/d.html": b"<html><body>One, two, three!",
        "b/e/f.txt": b"seven eight nine",
        "b/g.txt.gz": gzip.compress(b"ten eleven"),
        "picture.png": b"\x89PNG\r\n\x1a\n\0\0\0",
    }
    for name, data in files.items():
        path = tmp_path / "in" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(data)
    result = roughly.dedup(tmp_path / "in")
    result.write(tmp_path / "out")
    del files["b/d.html"]
    assert tree(tmp_path / "out") == files
    (removal,) = (tmp_path / "out.removals.jsonl").read_text().splitlines()
    assert json.loads(removal) == {
        "removed": str(tmp_path / "in/b/d.html"),
        "kept": str(tmp_path / "in/a.txt"),
        "kind": "lexical",
        "resemblance": 1.0,
        "containment": 1.0,
    }


def test_several_files(tmp_path: Path) -> None:
    lines = [b'{"text": "a b c"}\n', b'{"text": "d e f"}\n', b'{"text": "g h i"}\n']
    for name, data in (
        ("x/1.jsonl", lines[0] + lines[1]),
        ("x/2.jsonl.gz", gzip.compress(lines[1] + lines[2])),
        ("y/1.jsonl", lines[0] + lines[0]),
        ("y/2.csv", b"text\nd e f\nj k l\n"),
    ):
        (tmp_path / "in" / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / "in" / name).write_bytes(data)
    paths = sorted((tmp_path / "in").rglob("*.*"))
    roughly.dedup(paths).write(tmp_path / "out")
    found = tree(tmp_path / "out")
    found["x/2.jsonl.gz"] = gzip.decompress(found["x/2.jsonl.gz"])
    assert found == {
        "x/1.jsonl": lines[0] + lines[1],
        "x/2.jsonl.gz": lines[2],
        "y/1.jsonl": b"",
        "y/2.csv": b"text\nj k l\n",
    }
    with pytest.raises(ParameterError, match=r"1\.jsonl: cannot be written back: it would be of"):
        roughly.dedup([paths[0], paths[0]]).write(tmp_path / "again")


def test_a_directory_that_is_there(tmp_path: Path) -> None:
    (tmp_path / "in").mkdir()
    (tmp_path / "in/a.txt").write_text("one")
    (tmp_path / "out").mkdir()
    result = roughly.dedup(tmp_path / "in")
    result.write(tmp_path / "out")
    (tmp_path / "out/other").write_text("mine")
    with pytest.raises(DocumentError, match="will not write: the directory is not empty"):
        result.write(tmp_path / "out")
    (tmp_path / "out/a.txt").write_text("changed")
    result.write(tmp_path / "out", force=True)
    assert tree(tmp_path / "out") == {"a.txt": b"one", "other": b"mine"}
    with pytest.raises(DocumentError, match="it is a file, wanted a directory"):
        result.write(tmp_path / "out/other", force=True)


def test_an_earlier_output_loses_what_does_not_stay(tmp_path: Path) -> None:
    (tmp_path / "in/deep").mkdir(parents=True)
    (tmp_path / "in/a.txt").write_text("one two three four five six seven")
    (tmp_path / "in/deep/b.txt").write_text("one two three four five six eight")
    words = roughly.Sketcher(w=1)
    roughly.dedup(tmp_path / "in", threshold=0.9, sketcher=words).write(tmp_path / "out")
    (tmp_path / "out/other").write_text("mine")
    assert set(tree(tmp_path / "out")) == {"a.txt", "deep/b.txt", "other"}
    result = roughly.dedup(tmp_path / "in", threshold=0.7, sketcher=words)
    assert result.removed == 1
    result.write(tmp_path / "out", force=True)
    assert set(tree(tmp_path / "out")) == {"a.txt", "other"}


# --- refusals -------------------------------------------------------------------------------------


@pytest.fixture
def lines(tmp_path: Path) -> Path:
    path = tmp_path / "a.jsonl"
    path.write_bytes(b'{"text": "a b c"}\n{"text": "A b c"}\n')
    return path


def test_refusals(lines: Path, tmp_path: Path) -> None:
    result = roughly.dedup(lines)
    os.link(lines, tmp_path / "link.jsonl")
    for name in ("a.jsonl", "link.jsonl", "./a.jsonl"):
        with pytest.raises(
            ParameterError, match=r"will not write: .*a\.jsonl is one of the inputs"
        ):
            result.write(tmp_path / name, force=True)
    with pytest.raises(ParameterError, match="the name says parquet, the documents are jsonl"):
        result.write(tmp_path / "b.parquet")
    (tmp_path / "c.jsonl").write_text("mine")
    with pytest.raises(DocumentError, match=r"c\.jsonl: will not write: the file exists"):
        result.write(tmp_path / "c.jsonl")
    (tmp_path / "l.jsonl").symlink_to("c.jsonl")
    (tmp_path / "d.jsonl.removals.jsonl").write_text("mine")
    with pytest.raises(DocumentError, match=r"d\.jsonl\.removals\.jsonl: will not write: the file"):
        result.write(tmp_path / "d.jsonl")
    result.write(tmp_path / "l.jsonl", force=True)
    assert (tmp_path / "l.jsonl").is_symlink()
    assert (tmp_path / "c.jsonl").read_bytes() == b'{"text": "a b c"}\n'
    with pytest.raises(DocumentError, match="it is a directory, wanted a file"):
        result.write(tmp_path, force=True)
    with pytest.raises(DocumentError, match=r"x\.jsonl: cannot write: "):
        result.write(lines / "x.jsonl")
    with pytest.raises(ParameterError, match="cannot be written back: they are in memory"):
        roughly.dedup(["a", "b"]).write(tmp_path / "e.jsonl")
    assert lines.read_bytes() == b'{"text": "a b c"}\n{"text": "A b c"}\n'


def test_an_input_that_changes(lines: Path, tmp_path: Path) -> None:
    from roughly.documents import open_documents

    documents = open_documents(lines)
    list(documents)
    result = roughly.dedup(documents)
    lines.write_bytes(b"nothing like it, and just as long.....")
    with pytest.raises(DocumentError, match="it was changed while it was being read"):
        list(result.largest(1))


# --- the command ----------------------------------------------------------------------------------


def test_command(lines: Path, tmp_path: Path) -> None:
    run = command("dedup", "a.jsonl", "-o", "b.jsonl", "--json", cwd=tmp_path)
    assert (run.returncode, run.stderr) == (0, b"")
    found = json.loads(run.stdout)
    assert {name: found[name] for name in ("documents", "kept", "removed", "kinds", "bytes")} == {
        "documents": 2,
        "kept": 1,
        "removed": 1,
        "kinds": {"identical": 0, "lexical": 1, "shingle": 0, "near": 0, "contained": 0},
        "bytes": 10,
    }
    assert (found["output"], found["removals"]) == ("b.jsonl", "b.jsonl.removals.jsonl")
    assert sorted(os.listdir(tmp_path)) == ["a.jsonl", "b.jsonl", "b.jsonl.removals.jsonl"]
    again = command("dedup", "a.jsonl", "-o", "b.jsonl", cwd=tmp_path)
    assert_error(again, "b.jsonl: will not write: the file exists", "choose another name")
    forced = command("dedup", "a.jsonl", "-o", "b.jsonl", "--force", cwd=tmp_path)
    assert (forced.returncode, forced.stdout) == (0, b"")
    assert b"2 documents, 1 removed (1 lexical), 1 kept" in forced.stderr
    quiet = command("dedup", "a.jsonl", "-o", "c.jsonl", "--quiet", cwd=tmp_path)
    assert (quiet.returncode, quiet.stdout, quiet.stderr) == (0, b"", b"")


def test_standard_input_and_output(lines: Path, tmp_path: Path) -> None:
    for data in (lines.read_bytes(), gzip.compress(lines.read_bytes())):
        run = command("dedup", "-", "-o", "-", "--quiet", cwd=tmp_path, stdin=data)
        assert (run.returncode, run.stderr) == (0, b"")
        kept = run.stdout if data is not None and data[:1] == b"{" else gzip.decompress(run.stdout)
        assert kept == b'{"text": "a b c"}\n'
    pq.write_table(pa.table({"text": ["a"]}), tmp_path / "a.parquet")
    run = command("dedup", "a.parquet", "-o", "-", cwd=tmp_path)
    assert_error(run, "-: cannot write parquet to standard output", "name a file")
    run = command("dedup", "a.jsonl", "-o", "-", "--json", cwd=tmp_path)
    assert_error(run, "--json: cannot stand beside -o -", "name a file with -o")


def test_what_standard_input_is(tmp_path: Path) -> None:
    data = b"id,text\n1,one two\n2,One two\n3,three\n"
    run = command("dedup", "-", "-o", "b.csv", cwd=tmp_path, stdin=data)
    assert b"read text=text (guessed), id=id (guessed) from -\n" in run.stderr
    assert (tmp_path / "b.csv").read_bytes() == b"id,text\n1,one two\n3,three\n"
    run = command("dedup", "-", "-o", "c.csv", cwd=tmp_path, stdin=b"one\ntwo\n")
    assert b"-: read as one text; if it is many documents, say how with --format" in run.stderr
    assert b"1 document, 0 removed, 1 kept" in run.stderr
    run = command("dedup", "-", "-o", "d.csv", cwd=tmp_path, stdin=b"")
    assert run.returncode == 0 and b"0 documents, 0 removed, 0 kept" in run.stderr
    assert (tmp_path / "d.csv").read_bytes() == b""
    # A file of these has more than nothing.
    run = command("dedup", "-", "-o", "d.parquet", cwd=tmp_path, stdin=b"")
    assert_error(run, "d.parquet: will not write: the name says parquet", "the input")
    (tmp_path / "e.jsonl").write_bytes(b"")
    run = command("dedup", "e.jsonl", "-o", "e.csv", cwd=tmp_path)
    assert_error(run, "e.csv: will not write: the name says csv", "the input")


@pytest.mark.parametrize("words", [["a.txt"], ["a", "--format", "text"]])
def test_a_text_that_was_said_to_be_one(words: list[str], tmp_path: Path) -> None:
    (tmp_path / words[0]).write_text("one\ntwo\n")
    run = command("dedup", *words, "-o", "b", cwd=tmp_path)
    assert run.returncode == 0 and b"read as one text" not in run.stderr


def test_a_pipe_stays_one(lines: Path, tmp_path: Path) -> None:
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    reader = subprocess.Popen(["cat", str(pipe)], stdout=subprocess.PIPE)
    run = command("dedup", "a.jsonl", "-o", "pipe", "--quiet", "--force", cwd=tmp_path)
    assert (run.returncode, run.stderr) == (0, b"")
    assert reader.communicate()[0] == b'{"text": "a b c"}\n'
    assert sorted(os.listdir(tmp_path)) == ["a.jsonl", "pipe"]
    assert command("dedup", "a.jsonl", "-o", os.devnull, cwd=tmp_path).returncode == 0
    assert not Path(os.devnull).is_file()


def test_explain(tmp_path: Path) -> None:
    words = " ".join(f"word{n}" for n in range(40))
    table = [{"id": "long", "text": words}, {"id": "copy", "text": f"{words} and more"}]
    (tmp_path / "a.jsonl").write_text("".join(json.dumps(row) + "\n" for row in table))
    run = command("dedup", "a.jsonl", "-o", "b.jsonl", "--explain", "5", cwd=tmp_path)
    shown = run.stdout.decode()
    assert run.returncode == 0
    assert "A  copy" in shown and "B  long" in shown and "1 shared passage" in shown


@pytest.mark.parametrize(
    ("arguments", "message", "hint"),
    [
        (["none.jsonl", "-o", "x"], "none.jsonl: cannot read: no such file", ""),
        (["a.jsonl", "-o", "no/such/a.jsonl/x"], "", ""),
        (["a.jsonl", "-o", "x", "--preset", "broder97-super"], "select: cannot deduplicate by", ""),
        (["a.jsonl", "-o", "x", "--text-field", "body"], "a.jsonl: no field 'body'", "name one"),
    ],
)
def test_errors_of_the_command(
    lines: Path, tmp_path: Path, arguments: list[str], message: str, hint: str
) -> None:
    run = command("dedup", *arguments, cwd=tmp_path)
    if not message:
        assert run.returncode == 0  # directories are made
        return
    shown = run.stderr.decode().splitlines()
    assert (run.returncode, run.stdout) == (2, b"")
    assert shown[0].startswith(f"roughly: {message}")
    assert not hint or shown[1].startswith(f"hint: {hint}")
    assert sorted(os.listdir(tmp_path)) == ["a.jsonl"]


@pytest.mark.skipif(os.name != "posix" or os.geteuid() == 0, reason="root may write everywhere")
def test_a_place_that_may_not_be_written(lines: Path, tmp_path: Path) -> None:
    closed = tmp_path / "closed"
    closed.mkdir(mode=0o500)
    run = command("dedup", "a.jsonl", "-o", "closed/b.jsonl", cwd=tmp_path)
    assert_error(run, "closed/b.jsonl.unfinished: cannot write: permission denied", "choose")


@pytest.mark.parametrize("size_kib", [6000, 8400, 8950])
def test_a_full_disk(tmp_path: Path, size_kib: int) -> None:
    """In the second part, while counting, and in the output; on a file system of its own."""
    disk = tmp_path / "disk"
    disk.mkdir()
    mounted = subprocess.run(
        ["mount", "-t", "tmpfs", "-o", f"size={size_kib}k", "tmpfs", str(disk)], capture_output=True
    )
    if mounted.returncode:
        optional("tmpfs", "mount is not allowed here")
    try:
        text = " ".join(f"w{n}" for n in range(100))
        with open(tmp_path / "a.jsonl", "w") as file:
            file.writelines(json.dumps({"text": f"{n} {text}"}) + "\n" for n in range(9000))
        run = command("dedup", "a.jsonl", "-o", "disk/b.jsonl", cwd=tmp_path)
        assert run.returncode == 2
        shown = run.stderr.decode().splitlines()
        assert "cannot write: no space left on device" in shown[0]
        assert shown[1] == (
            "hint: make room, or choose another place;"
            " then the same command goes on from disk/b.jsonl.unfinished"
        )
        assert os.listdir(disk) == ["b.jsonl.unfinished"]
        subprocess.run(["mount", "-o", "remount,size=40m", str(disk)], check=True)
        assert command("dedup", "a.jsonl", "-o", "disk/b.jsonl", cwd=tmp_path).returncode == 0
        assert sorted(os.listdir(disk)) == ["b.jsonl", "b.jsonl.removals.jsonl"]
    finally:
        subprocess.run(["umount", str(disk)], check=True)


def test_old_timestamps_of_nanoseconds(tmp_path: Path) -> None:
    """INT96 is the one type of the oldest Parquet version that holds nanoseconds."""
    times = pa.array([1, 2, 3], pa.timestamp("ns"))
    table = pa.table({"id": ["a", "b", "c"], "text": ["x y z", "x y z", "u v w"], "when": times})
    path = tmp_path / "old.parquet"
    pq.write_table(table, path, version="1.0", use_deprecated_int96_timestamps=True)
    roughly.dedup(path).write(tmp_path / "new.parquet")
    written = pq.ParquetFile(tmp_path / "new.parquet")
    assert written.read()["when"].cast(pa.int64()).to_pylist() == [1, 3]
    assert written.metadata.row_group(0).column(2).physical_type == "INT96"
