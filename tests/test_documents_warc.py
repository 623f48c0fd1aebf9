"""Web archives: which records are documents, and how their text is found in what a server sent."""

import gzip
import zlib
from pathlib import Path

import pyarrow as pa
import pytest
import zstandard
from hypothesis import given
from hypothesis import strategies as st

from roughly.documents import open_documents
from roughly.documents.http_message import unchunked
from tests.archive import ARC_HEAD, HTML, arc, http, members, page, warc
from tests.optional import truth
from tests.reading import read, records, rows

TEXT = "Grüße aus Köln"
PAGE = HTML % TEXT.encode()


def test_which_records_are_documents(tmp_path: Path) -> None:
    archive = [
        warc(b"software: test\r\n", "", b"warcinfo", b"application/warc-fields"),
        warc(http(PAGE, b"Content-Type: text/html"), "http://example.com/a"),
        warc(b"GET / HTTP/1.1\r\n\r\n", "http://example.com/a", b"request"),
        warc(b"plain", "http://example.com/b", b"resource", b"text/plain"),
        warc(b"extracted", "<http://example.com/c>", b"conversion", b"text/plain"),
        warc(b"", "http://example.com/d", b"revisit"),
        warc(http(b"", status=b"301 Moved"), "http://example.com/e"),
        warc(http(b"\x89PNG", b"Content-Type: image/png"), "http://example.com/f"),
        warc(http(b"%PDF-1.4" + bytes(range(256)) * 9), "http://example.com/g"),
        warc(http(b"no page here", status=b"404 Not Found"), "http://example.com/h"),
        warc(http(b"nameless"), ""),
        warc(b"dns answer", "dns:example.com", b"response", b"text/dns"),
    ]
    for name, data in (
        ("a.warc", b"".join(archive)),
        ("a.warc.gz", members(archive)),
        ("b.warc.gz", gzip.compress(b"".join(archive))),
        ("a.warc.zst", b"".join(zstandard.compress(record) for record in archive)),
    ):
        found, documents = read(tmp_path / name, data)
        assert [(row["id"], row["html"], row["position"]) for row in found] == [
            ("http://example.com/a", True, 1),
            ("http://example.com/b", False, 3),
            ("http://example.com/c", False, 4),
            ("http://example.com/h", False, 9),
            (f"{tmp_path / name}#11", False, 10),
        ]
        assert {row["date"] for row in found} == {"2026-11-15"}
        assert not documents.skipped
        assert documents.skipped.ignored == {
            "warcinfo record": 1,
            "request record": 1,
            "revisit record": 1,
            "without content": 1,
            "not text": 3,
        }
        assert records(documents, found) == [archive[row["position"]] for row in found]


def test_arc(tmp_path: Path) -> None:
    archive = [
        ARC_HEAD,
        arc(http(PAGE, b"Content-Type: text/html; charset=utf-8"), "http://example.com/a"),
        arc(http(b"x" * 5000), "http://example.com/with a space", "19970401120000"),
        arc(http(b"last"), "http://example.com/c"),
    ]
    for name, data in (("a.arc", b"".join(archive)), ("a.arc.gz", members(archive))):
        found, documents = read(tmp_path / name, data)
        assert [(row["id"], row["date"]) for row in found] == [
            ("http://example.com/a", "2026-11-15"),
            ("http://example.com/with a space", "1997-04-01"),
            ("http://example.com/c", "2026-11-15"),
        ]
        assert found[0]["content"] == PAGE
        assert documents.skipped.ignored == {"filedesc record": 1}
        assert records(documents, found) == archive[1:]


def brotli(data: bytes) -> bytes:
    sink = pa.BufferOutputStream()
    with pa.CompressedOutputStream(sink, "brotli") as stream:
        stream.write(data)
    result: bytes = sink.getvalue().to_pybytes()
    return result


def raw_deflate(data: bytes) -> bytes:
    packer = zlib.compressobj(wbits=-15)
    return packer.compress(data) + packer.flush()


CODINGS = {
    "gzip": gzip.compress,
    "x-gzip": gzip.compress,
    "deflate": zlib.compress,
    "deflate, identity": raw_deflate,
    "zstd": zstandard.compress,
    "br": brotli,
    "deflate, gzip": lambda data: gzip.compress(zlib.compress(data)),
    "gzip, ": lambda data: data,  # declared and not done
}


@pytest.mark.parametrize("coding", CODINGS)
@pytest.mark.parametrize("chunked", [False, True])
def test_encodings_of_http(coding: str, chunked: bool, tmp_path: Path) -> None:
    body = CODINGS[coding](PAGE)
    head = [b"content-TYPE:text/HTML", b"Content-Encoding: " + coding.encode()]
    if chunked:
        head.append(b"Transfer-Encoding: chunked")
        body = b"5;x=y\r\n" + body[:5] + b"\r\n%X\r\n" % len(body[5:]) + body[5:] + b"\r\n0\r\n\r\n"
    found, documents = read(tmp_path / "a.warc", warc(http(body, *head)))
    assert [row["content"] for row in found] == [PAGE]
    assert not documents.skipped


def test_a_payload_cut_short(tmp_path: Path) -> None:
    body = gzip.compress(PAGE * 50)[:-20]
    block = http(body, b"Content-Type: text/html", b"Content-Encoding: gzip")
    found, documents = read(tmp_path / "a.warc", warc(block) + page(1))
    assert [row["id"] for row in found] == ["http://example.com/1"]
    assert "compressed payload: cut short" in str(documents.skipped.first[0])
    cut = warc(
        block,
        "http://example.com/",
        b"response",
        b"application/http",
        b"2026",
        b"WARC-Truncated: length",
    )
    found, documents = read(tmp_path / "a.warc", cut + page(1))
    assert found[0]["content"].startswith(PAGE) and not documents.skipped
    assert found[0]["date"] == "2026"


@given(st.lists(st.binary(min_size=1, max_size=40)), st.binary(max_size=5))
def test_chunks_are_put_together(chunks: list[bytes], trailer: bytes) -> None:
    body = b"".join(b"%x\r\n%s\r\n" % (len(chunk), chunk) for chunk in chunks)
    assert unchunked(body + b"0\r\n" + trailer) == b"".join(chunks)
    assert unchunked(b"not chunked at all") == b"not chunked at all"


def test_charsets(tmp_path: Path) -> None:
    cases = [
        (b"text/html; charset=windows-1251", "Привет, мир".encode("cp1251"), "windows-1251"),
        (b"text/html;charset='UTF-8'", TEXT.encode(), "utf-8"),
        (b"text/plain", TEXT.encode("latin-1"), "windows-1252"),
        (b"text/html", b'<meta charset="koi8-r">' + "Привет".encode("koi8-r"), "koi8-r"),
    ]
    archive = b"".join(
        warc(http(body, b"Content-Type: " + type), f"http://example.com/{n}")
        for n, (type, body, _) in enumerate(cases)
    )
    found, _ = read(tmp_path / "a.warc", archive)
    assert [row["encoding"] for row in found] == [encoding for *_, encoding in cases]
    assert [row["content"].decode()[-5:] for row in found] == [", мир", " Köln", " Köln", "ривет"]
    assert [row["html"] for row in found] == [True, True, False, True]
    assert [
        row["html"] for row in rows(open_documents(tmp_path / "a.warc", content_type="text"))
    ] == [False] * 4


def test_heads_with_line_feeds_only(tmp_path: Path) -> None:
    record = page(1).replace(b"\r\n", b"\n")
    length = len(
        http(
            HTML % b"page1word0 page1word1 page1word2", b"Content-Type: text/html; charset=utf-8"
        ).replace(b"\r\n", b"\n")
    )
    head, _, rest = record.partition(b"Content-Length: ")
    record = head + b"Content-Length: %d\n" % length + rest.partition(b"\n")[2]
    found, documents = read(tmp_path / "a.warc", record + page(2))
    assert [row["id"] for row in found] == ["http://example.com/1", "http://example.com/2"]
    assert not documents.skipped


def test_an_archive_packed_with_a_dictionary(tmp_path: Path) -> None:
    """The .warc.zst of some crawlers: a frame with the dictionary, then a frame a record."""
    archive = [page(n) for n in range(20)]
    content = b"".join(archive)[:2000]
    dictionary = zstandard.ZstdCompressionDict(content, dict_type=zstandard.DICT_TYPE_RAWCONTENT)
    packer = zstandard.ZstdCompressor(dict_data=dictionary)
    for stored in (content, zstandard.compress(content)):
        data = b"\x5d\x2a\x4d\x18" + len(stored).to_bytes(4, "little") + stored
        data += b"".join(packer.compress(record) for record in archive)
        found, documents = read(tmp_path / "a.warc.zst", data)
        assert (len(found), documents.skipped.count) == (20, 0)


def test_archives_of_others() -> None:
    """Every archive is read, or refused with a reason; where warcio reads one whole, it has as many
    documents as we read or count."""
    from warcio.archiveiterator import ArchiveIterator
    from warcio.exceptions import ArchiveLoadFailed

    judged = 0
    for path in sorted((truth() / "formats" / "warc").rglob("*")):
        if path.is_dir() or path.name == "LICENSE":
            continue
        documents = open_documents(path, format="arc" if ".arc" in path.name else "warc")
        found = rows(documents)
        skipped = documents.skipped
        assert found or skipped or skipped.ignored, path.name
        wanted = 0
        try:
            with path.open("rb") as file:
                for record in ArchiveIterator(file, arc2warc=True):
                    wanted += record.rec_type in ("response", "resource", "conversion")
                    record.content_stream().read()
        except ArchiveLoadFailed:
            continue
        if path.name == "bad.arc":  # lengths that are all wrong, which warcio passes over
            continue
        no_text = skipped.ignored["not text"] + skipped.ignored["without content"]
        assert len(found) + skipped.count + no_text == wanted, path.name
        judged += 1
    assert judged >= 18
