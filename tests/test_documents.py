"""Documents from paths: what is found, how it is named, what is skipped; ids, batches."""

import gzip
import io
import json
import os
import random
import subprocess
import sys
import threading
import tracemalloc
from pathlib import Path

import pyarrow as pa
import pytest
import zstandard
from hypothesis import given
from hypothesis import strategies as st

from roughly.documents import open_documents, open_inputs
from roughly.documents.unique_id import UniqueIds
from roughly.errors import DocumentError, ParameterError
from tests.reading import read, rows, texts

ROOT = Path(__file__).parents[1]


def lines(*records: object) -> bytes:
    return b"".join(json.dumps(record).encode() + b"\n" for record in records)


def test_text_and_html_files(tmp_path: Path) -> None:
    (tmp_path / "a.txt").write_bytes("déjà vu".encode("latin-1"))
    (tmp_path / "b.html").write_bytes(b"<!doctype html><p>caf\xc3\xa9")
    (tmp_path / "c.txt.gz").write_bytes(gzip.compress(b"packed"))
    (tmp_path / "d.md.zst").write_bytes(zstandard.compress(b"packed too"))
    (tmp_path / "empty.txt").write_bytes(b"")
    found = rows(open_documents(tmp_path))
    seen = [(Path(row["id"]).name, row["content"].decode(), row["html"]) for row in found]
    assert seen == [
        ("a.txt", "déjà vu", False),
        ("b.html", "<!doctype html><p>café", True),
        ("c.txt.gz", "packed", False),
        ("d.md.zst", "packed too", False),
        ("empty.txt", "", False),
    ]
    assert [row["encoding"] for row in found] == ["windows-1252", *["utf-8"] * 4]
    assert [(row["begin"], row["end"]) for row in found[:3]] == [(0, 7), (0, 23), (0, 6)]


def test_content_type_decides_for_all(tmp_path: Path) -> None:
    (tmp_path / "a.txt").write_bytes(b"<p>x")
    for content_type, html in (("auto", True), ("html", True), ("text", False)):
        for documents in (
            open_documents(tmp_path, content_type=content_type),
            open_documents(["<p>x"], content_type=content_type),
        ):
            assert [row["html"] for row in rows(documents)] == [html]


def test_sniffing_in_columns_is_the_core_s() -> None:
    heads = ["<p>", " \n<p>", "\ufeff<html>", "text", "", "<", " ", "<x>", "<?xml ?>"]
    heads += ["<?xml ?>" + " " * 900 + "<html>", " " * 5000 + "<p>x", " " * 5000 + "x"]
    heads += ["<?xml ?>" + " " * 1100 + "<html>", " " * 3000 + "<?xml ?>" + " " * 900 + "<html>"]
    from roughly import _core

    wanted = [_core.sniff_html(head.encode()) for head in heads]
    assert [row["html"] for row in rows(open_documents(heads))] == wanted


def test_a_directory_is_all_files_below_it_by_name(tmp_path: Path) -> None:
    for name in ("b/2.txt", "b/1.txt", "a.txt", "B.txt", "c/d/e.jsonl"):
        path = tmp_path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(lines({"text": name}) if name.endswith("l") else name.encode())
    (tmp_path / "c" / "loop").symlink_to(tmp_path)
    wanted = ["B.txt", "a.txt", "b/1.txt", "b/2.txt", "c/d/e.jsonl"]
    assert texts(open_documents(tmp_path)) == wanted
    assert texts(open_documents(str(tmp_path))) == wanted
    assert texts(open_documents(str(tmp_path / "**"))) == wanted
    assert texts(open_documents(str(tmp_path / "b/*.txt"))) == ["b/1.txt", "b/2.txt"]
    assert texts(open_documents(str(tmp_path / "[ab]"))) == ["b/1.txt", "b/2.txt"]
    assert texts(open_documents([tmp_path / "b", tmp_path / "a.txt"])) == [*wanted[2:4], "a.txt"]
    (tmp_path / "[x].txt").write_text("brackets")
    assert texts(open_documents(tmp_path / "[x].txt")) == ["brackets"]


def tree(folder: Path, *names: str) -> Path:
    """Files whose text is their name."""
    for name in names:
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(name)
    return folder


ALIAS = "link to what is read anyway"


def test_a_link_to_what_is_in_the_directory_is_an_alias(tmp_path: Path) -> None:
    named = tree(tmp_path / "named", "b/1.txt", "b/c/2.txt", "d.txt")
    tree(tmp_path, "beside.txt")
    # By name before and after what they lead to, to files and to directories, also through links.
    for link, target in {
        "a": "b",
        "z": "b/c",
        "b/0": "c",
        "0.txt": "d.txt",
        "e.txt": "d.txt",
        "b/c/up": "..",
        "f": "a",
        "itself": ".",
    }.items():
        (named / link).symlink_to(target)
    (named / "above").symlink_to(tmp_path)
    (tmp_path / "other name").symlink_to(named)
    (named / "by another name").symlink_to(tmp_path / "other name")
    for name in (named, tmp_path / "other name", str(named) + "/"):
        documents = open_documents(name)
        found = rows(documents)
        assert [Path(row["id"]).relative_to(name).as_posix() for row in found] == [
            *("b/1.txt", "b/c/2.txt", "d.txt")
        ]
        assert documents.skipped.ignored == {ALIAS: 10}
        assert not documents.skipped


def test_links_that_lead_out_of_the_directory_are_followed(tmp_path: Path) -> None:
    named = tree(tmp_path / "named", "m.txt")
    tree(tmp_path / "away", "blob", "sub/1.txt", "sub/deep/2.txt", "z.txt")
    tree(tmp_path / "away too", "3.txt")
    (named / "file.txt").symlink_to(tmp_path / "away" / "blob")
    (named / "a").symlink_to(tmp_path / "away" / "sub")
    (named / "b").symlink_to(tmp_path / "away" / "sub")
    (named / "c").symlink_to(tmp_path / "away" / "sub" / "deep")
    (named / "n").symlink_to(tmp_path / "away too")
    (tmp_path / "away too" / "back").symlink_to(named)
    (tmp_path / "away too" / "0.txt").symlink_to("3.txt")
    (tmp_path / "away" / "sub" / "round").symlink_to("..")
    documents = open_documents(named)
    found = [Path(row["id"]).relative_to(named).as_posix() for row in rows(documents)]
    # `round` leads to all of `away`, of which `sub` has been entered already.
    assert found == [
        *("a/1.txt", "a/deep/2.txt", "a/round/blob", "a/round/z.txt"),
        *("m.txt", "n/3.txt"),
    ]
    # b, c, file.txt, n/0.txt and n/back
    assert documents.skipped.ignored == {ALIAS: 5}


def test_a_file_outside_is_read_under_the_name_of_its_link(tmp_path: Path) -> None:
    """So is the cache of a model hub: a snapshot of links to files that are named by checksum."""
    (tmp_path / "blobs").mkdir()
    (tmp_path / "blobs" / "5e1f").write_bytes(b"id,text\n1,one\n")
    (tmp_path / "snapshot" / "data").mkdir(parents=True)
    for name in ("train.csv", "test.csv"):
        (tmp_path / "snapshot" / "data" / name).symlink_to("../../blobs/5e1f")
    documents = open_documents(tmp_path / "snapshot")
    assert texts(documents) == ["one", "one"]
    assert [Path(source.name).name for source in documents.sources] == ["test.csv", "train.csv"]
    assert not documents.skipped.ignored


@pytest.mark.parametrize(
    ("links", "wanted", "ignored"),
    [
        ({"a": "x.txt", "b": "."}, ["a", "b/x/x.txt", "b/y.txt"], "read under the name of a link"),
        ({"a": ".", "b": "x.txt"}, ["a/x/x.txt", "a/x.txt", "a/y.txt"], ALIAS),
        ({"a/a": "x.txt", "b/b": "."}, ["a/a", "b/b/x/x.txt", "b/b/y.txt"], None),
    ],
)
def test_a_file_and_its_directory_outside_are_read_once(
    links: dict[str, str], wanted: list[str], ignored: str | None, tmp_path: Path
) -> None:
    # Another file of that name is another file.
    tree(tmp_path / "else", "x.txt", "y.txt", "x/x.txt")
    for link, target in links.items():
        (tmp_path / "in" / link).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / "in" / link).symlink_to(tmp_path / "else" / target)
    documents = open_documents(tmp_path / "in")
    found = [Path(row["id"]).relative_to(tmp_path / "in").as_posix() for row in rows(documents)]
    assert found == wanted
    assert ignored is None or documents.skipped.ignored == {ignored: 1}


def test_links_that_lead_nowhere(tmp_path: Path) -> None:
    tree(tmp_path, "a.txt")
    (tmp_path / "round").symlink_to("round")
    (tmp_path / "nowhere").symlink_to("b.txt")
    (tmp_path / "device").symlink_to(os.devnull)
    documents = open_documents(tmp_path)
    assert texts(documents) == ["a.txt"]
    assert documents.skipped.reasons == {"cannot be opened": 2}
    assert documents.skipped.ignored == {"not a regular file": 1}


def test_without_links_no_file_is_asked_for_what_it_is(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    tree(tmp_path, *(f"{n % 7}/{n}.txt" for n in range(100)))
    asked: list[object] = []
    stat = os.stat
    monkeypatch.setattr(os, "stat", lambda path, **more: asked.append(path) or stat(path, **more))
    monkeypatch.setattr(os.path, "realpath", lambda *_, **__: pytest.fail("no link is there"))
    assert len(open_documents(tmp_path).sources) == 100
    assert not [path for path in asked if str(path).endswith(".txt")]
    assert len(asked) < 4 * 8, "directories alone, a few times each"


def test_what_is_in_a_directory_need_not_be_text(tmp_path: Path) -> None:
    (tmp_path / "a.txt").write_text("text")
    (tmp_path / "b.png").write_bytes(b"\x89PNG\r\n\x1a\n" + bytes(range(32)) * 20)
    (tmp_path / "list.json").write_text('[\n {"text":\n "x"}\n]')
    documents = open_documents(tmp_path)
    assert texts(documents) == ["text"]
    assert documents.skipped.ignored == {"not text": 1}
    assert [(Path(u.name).name, u.reason) for u in documents.skipped.first] == [
        ("list.json", "no such field")
    ]


def test_what_is_no_text_is_not_read_whole(tmp_path: Path) -> None:
    noise = random.Random(3).randbytes(1 << 20) * 16
    (tmp_path / "a.mp4").write_bytes(noise)
    (tmp_path / "b.tar.gz").write_bytes(gzip.compress(noise, 1))
    (tmp_path / "c.img").write_bytes(bytes(1 << 24))
    # Cut within a character where the look ends, with more controls than a text may be guessed by.
    (tmp_path / "d.txt").write_bytes(b"\x01" * 65_535 + "é".encode() * 9)
    (tmp_path / "e.txt").write_bytes("漢字 ".encode("utf-16") * 20_000)
    documents = open_documents(tmp_path)
    tracemalloc.start()
    try:
        found = [Path(id).name for batch in documents for id in batch.column("id").to_pylist()]
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert found == ["d.txt", "e.txt"]
    assert documents.skipped.ignored == {"not text": 3}
    assert peak < 1 << 23


def test_the_one_file_that_was_named_must_be_readable(tmp_path: Path) -> None:
    (tmp_path / "x.parquet").write_bytes(b"garbage")
    (tmp_path / "y.txt").write_bytes(b"y")
    with pytest.raises(DocumentError, match=r"x\.parquet: cannot read: "):
        list(open_documents(tmp_path / "x.parquet"))
    for several in (tmp_path, [tmp_path / "x.parquet", tmp_path / "y.txt"]):
        documents = open_documents(several)
        assert texts(documents) == ["y"]
        assert documents.skipped.reasons == {"cannot be read": 1}


def test_what_is_not_there_is_an_error_at_once(tmp_path: Path) -> None:
    (tmp_path / "letter.txt").write_text("x")
    with pytest.raises(
        DocumentError, match=r"leter\.txt: cannot read: no such file\nhint: did you"
    ):
        open_documents(tmp_path / "leter.txt")
    with pytest.raises(DocumentError, match=r"\*\.csv: cannot read: the pattern matches no file"):
        open_documents(str(tmp_path / "*.csv"))
    for wrong in (5, None, {"text": "x"}, b"bytes"):
        with pytest.raises(ParameterError, match="documents: cannot read"):
            open_documents(wrong)
    with pytest.raises(ParameterError, match="paths and other items"):
        open_documents(["a", tmp_path])
    with pytest.raises(ParameterError, match="content_type"):
        open_documents(tmp_path, content_type="pdf")
    with pytest.raises(ParameterError, match="format: unknown value: 'xls', wanted one of auto"):
        open_documents(tmp_path, format="xls")
    with pytest.raises(ParameterError, match="batch_bytes"):
        open_documents(tmp_path, batch_bytes=0)


def test_no_documents_at_all(tmp_path: Path) -> None:
    assert list(open_documents(tmp_path)) == []
    assert list(open_documents([])) == []
    assert list(open_documents(iter([]))) == []
    for name in ("a.jsonl", "a.csv", "a.warc", "a.warc.gz", "a.arc"):
        (tmp_path / name).write_bytes(b"")
    documents = open_documents(tmp_path)
    assert list(documents) == []
    assert not documents.skipped


@pytest.mark.skipif(os.geteuid() == 0, reason="root may read everything")
def test_permission_denied(tmp_path: Path) -> None:
    (tmp_path / "a.txt").write_text("a")
    (tmp_path / "b.txt").write_text("b")
    (tmp_path / "closed").mkdir()
    (tmp_path / "b.txt").chmod(0)
    (tmp_path / "closed").chmod(0)
    try:
        documents = open_documents(tmp_path)
        assert texts(documents) == ["a"]
        assert documents.skipped.reasons == {"cannot be opened": 2}
    finally:
        (tmp_path / "closed").chmod(0o700)


def test_files_that_go_away_are_skipped(tmp_path: Path) -> None:
    (tmp_path / "a.txt").write_text("a")
    (tmp_path / "b.txt").write_text("b")
    (tmp_path / "dangling").symlink_to(tmp_path / "nowhere")
    documents = open_documents(tmp_path)
    (tmp_path / "b.txt").unlink()
    assert texts(documents) == ["a"]
    assert documents.skipped.reasons == {"cannot be opened": 2}
    with pytest.raises(DocumentError, match="dangling: cannot read: cannot be opened: no such"):
        open_documents(tmp_path, strict=True)


def test_formats_are_known_by_content(tmp_path: Path) -> None:
    record = lines({"text": "x", "id": "1"})
    for name in ("plain", "odd.dat", "page.json", "packed.gz", "packed", "wrong.jsonl"):
        data = gzip.compress(record) if "packed" in name or "wrong" in name else record
        found, documents = read(tmp_path / name, data)
        assert [row["id"] for row in found] == ["1"], name
        assert documents.sources[0].format == "jsonl"
    found, _ = read(tmp_path / "long", b'{"id": "1", "text": "' + b"x" * 100_000 + b'"}\n')
    assert [row["id"] for row in found] == ["1"]
    found, _ = read(tmp_path / "code.txt", record)
    assert found[0]["content"] == record, "a name that says text is believed"
    found, _ = read(tmp_path / "code.txt", record, format="jsonl")
    assert found[0]["content"] == b"x"
    found, _ = read(tmp_path / "notes", b"{ not json\n")
    assert found[0]["content"] == b"{ not json\n"


def test_standard_input_is_read_twice() -> None:
    code = (
        "from roughly.documents import open_inputs\n"
        "d = open_inputs(['-'])\n"
        "print([b.column('id').to_pylist() for p in range(2) for b in d], d.sources[0].format)\n"
    )
    run = subprocess.run(
        [sys.executable, "-c", code], input=lines({"text": "x"}), capture_output=True, check=True
    )
    assert run.stdout.decode().strip() == "[['-#1'], ['-#1']] jsonl"


def test_a_pipe_is_read_twice(tmp_path: Path) -> None:
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    writer = threading.Thread(target=lambda: pipe.write_bytes(lines({"text": "x"})))
    writer.start()
    documents = open_inputs([str(pipe)])
    writer.join()
    assert texts(documents) == ["x"]
    copy = documents.sources[0].path
    assert copy is not None and Path(copy).exists()
    del documents
    assert not Path(copy).exists(), "a temporary copy goes with its documents"


def test_ids_and_what_becomes_of_repeated_ones(tmp_path: Path) -> None:
    given = ["a", "b", "a", None, "a", "", "a#2", 7, 7.5, True]
    records = [{"text": str(n), "id": id} for n, id in enumerate(given)] + [{"text": "-"}]
    for size in (1, 20, 1 << 20):
        found, documents = read(tmp_path / "x.jsonl", lines(*records), batch_bytes=size)
        name = str(tmp_path / "x.jsonl")
        assert [row["id"] for row in found[:6]] == [
            *("a", "b", "a#2", f"{name}#4", "a#3", f"{name}#6")
        ]
        assert found[6]["id"] == "a#2#2"
        assert [row["id"] for row in found[7:]] == ["7", "7.5", "true", f"{name}#11"]
        assert documents.skipped.repeated_ids == 3


@given(
    st.lists(st.sampled_from(["a", "b", "a#2", "a#3", "a#2#2", "c"]), max_size=60),
    st.integers(1, 9),
    st.sampled_from([2, 16, 1 << 22]),
)
def test_ids_become_unique_and_keep_their_beginning(
    ids: list[str], step: int, run_values: int
) -> None:
    unique = UniqueIds(run_values)
    found = []
    for at in range(0, len(ids), step):
        found += unique.rename(pa.array(ids[at : at + step])).to_pylist()
    one_by_one = UniqueIds()
    assert found == [one_by_one.rename(pa.array([id]))[0].as_py() for id in ids]
    assert len(set(found)) == len(found)
    assert all(new == old or new.startswith(old + "#") for old, new in zip(ids, found, strict=True))
    assert unique.repeated == sum(new != old for old, new in zip(ids, found, strict=True))
    assert unique.repeated >= len(ids) - len(set(ids))


def test_many_repeats_are_numbered_without_gaps() -> None:
    unique = UniqueIds(1000)
    found = [id for _ in range(50) for id in unique.rename(pa.array(["x", "y"] * 50)).to_pylist()]
    assert sorted(found) == sorted(
        name if n == 1 else f"{name}#{n}" for name in "xy" for n in range(1, 2501)
    )


def test_fields_are_guessed_by_name_and_the_guess_is_shown(tmp_path: Path) -> None:
    (tmp_path / "a.jsonl").write_bytes(lines({"Body": "x", "url": "u", "timestamp": "2026"}))
    (tmp_path / "b.jsonl").write_bytes(lines({"content": "y", "body": 5}, {"other": "z"}))
    (tmp_path / "c.txt").write_text("no fields")
    documents = open_documents(tmp_path)
    shown = {str(fields): len(sources) for fields, sources in documents.guesses.items()}
    assert shown == {
        "text=Body (guessed), id=url (guessed), date=timestamp (guessed)": 1,
        "text=content (guessed)": 1,
    }
    assert texts(documents) == ["x", "y", "no fields"]
    only = open_documents(tmp_path / "a.jsonl", text_field="url", id_field="Body")
    assert [str(fields) for fields in only.guesses] == [
        "text=url, id=Body, date=timestamp (guessed)"
    ]
    assert [(row["id"], row["content"]) for row in rows(only)] == [("x", b"u")]
    alone = open_documents([{"n": 1, "essay": "the only text"}])
    assert texts(alone) == ["the only text"]


def test_without_a_text_field_the_fields_are_shown(tmp_path: Path) -> None:
    (tmp_path / "a.jsonl").write_bytes(lines({"one": "x", "two": "y"}))
    with pytest.raises(DocumentError, match=r"the fields are one, two.*\n?hint: .*--text-field"):
        list(open_documents(tmp_path / "a.jsonl"))
    (tmp_path / "b.json").write_text('[\n{"text":\n "x"}]')
    with pytest.raises(DocumentError, match=r"b.json: is not JSON Lines: it begins with '\['"):
        list(open_documents(tmp_path / "b.json"))


def test_strict_stops_at_the_first(tmp_path: Path) -> None:
    (tmp_path / "a.jsonl").write_bytes(lines({"text": "x"}, {"text": None}, 5))
    documents = open_documents(tmp_path, strict=True)
    with pytest.raises(DocumentError, match=r"a\.jsonl, line 2: cannot read: no text: null in"):
        list(documents)


def test_only_the_first_names_are_kept(tmp_path: Path) -> None:
    bad = b"".join(b"{%d\n" % n for n in range(500))
    _, documents = read(tmp_path / "a.jsonl", lines({"text": "x"}) + bad, batch_bytes=100)
    assert documents.skipped.count == 500
    assert len(documents.skipped.first) == 100
    assert str(documents.skipped) == "500 skipped (500 not a JSON object)"
    assert str(documents.skipped.first[99]).endswith("a.jsonl, line 101: not a JSON object: '{99'")


def test_batches_have_about_the_size_asked_for(tmp_path: Path) -> None:
    sizes = random.Random(5).choices(range(200), k=300)
    (tmp_path / "a.jsonl").write_bytes(lines(*({"text": "x" * size} for size in sizes)))
    for number in range(50):
        (tmp_path / f"b{number:02}.txt").write_text("y" * 50)
    (tmp_path / "c.jsonl").write_bytes(lines({"text": "z" * 10_000}, {"text": "z"}))
    documents = open_documents(tmp_path, batch_bytes=1000)
    found = list(documents)
    content = [sum(len(text.as_py()) for text in batch.column("content")) for batch in found]
    assert max(content) == 10_000, "one large document is one batch"
    assert sorted(content)[-2] <= 2000
    assert sum(content) / len(content) > 400
    one = open_documents(tmp_path, batch_bytes=1 << 30)
    (whole,) = list(one)
    assert pa.Table.from_batches(found) == pa.Table.from_batches([whole])


def test_progress_knows_its_end(tmp_path: Path) -> None:
    data = lines(*({"text": "x" * 100} for _ in range(1000)))
    (tmp_path / "a.jsonl").write_bytes(data)
    (tmp_path / "b.jsonl.gz").write_bytes(gzip.compress(data))
    documents = open_documents(tmp_path, batch_bytes=5000)
    assert documents.size_bytes == sum(path.stat().st_size for path in tmp_path.iterdir())
    seen = [documents.bytes_read for _ in documents]
    assert seen == sorted(seen) and 0 < seen[0] < len(data)
    assert documents.bytes_read == documents.size_bytes


def test_examples_of_the_manual(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    import doctest

    monkeypatch.chdir(tmp_path)
    failed, tried = doctest.testfile(
        str(ROOT / "docs" / "documents.md"), module_relative=False, encoding="utf-8"
    )
    assert (failed, tried > 9) == (0, True)


def test_the_package_is_light_until_used() -> None:
    code = "import sys, roughly.documents; print(*sys.modules)"
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    loaded = {name.partition(".")[0] for name in run.stdout.split()}
    assert not loaded & {"numpy", "pyarrow", "isal", "zstandard", "pandas"}


def test_output_of_a_stream_is_what_was_written(tmp_path: Path) -> None:
    """Large steps, members, padding: the decompressed bytes are those of gzip and zstandard."""
    data = bytes(random.Random(1).choices(b"abc \n", k=300_000)) + b"z" * 5_000_000
    cases = {
        "one.gz": gzip.compress(data),
        "many.gz": b"".join(gzip.compress(data[n : n + 1000]) for n in range(0, 9000, 1000)),
        "padded.gz": gzip.compress(b"x") + b"\0" * 100_000 + gzip.compress(b"y") + b"\0" * 7,
        "one.zst": zstandard.compress(data),
        "many.zst": zstandard.compress(b"x")
        + b"\x50\x2a\x4d\x18\3\0\0\0abc"
        + zstandard.compress(b"y"),
        "unsized.zst": zstandard.ZstdCompressor(write_content_size=False).compress(data),
    }
    wanted = {"many.gz": data[:9000], "padded.gz": b"xy", "many.zst": b"xy"}
    for name, packed in cases.items():
        (tmp_path / name).write_bytes(packed)
        source = open_documents(tmp_path / name).sources[0]
        for size in (1, 1000, 1 << 22):
            with source.open() as stream:
                got = io.BytesIO()
                while part := stream.read(size if size > 1 or len(data) < 9999 else 5000):
                    got.write(part)
                assert (stream.damage, got.getvalue() == wanted.get(name, data)) == (None, True)
