"""Bytes in columns that are UTF-8, beside others that are not; and files of a mark alone."""

from pathlib import Path

import pyarrow as pa
import pytest

import roughly
from roughly.documents import open_documents
from tests.reading import read, rows

PAGE = '<meta charset="koi8-r"><p>Москва'.encode()  # UTF-8, whatever it says
MARKED = b"\xef\xbb\xbfOne two"
WIDE = "plain".encode("utf-16-le")  # NULs and ASCII
LATIN = "Überraschung für Ärzte".encode("latin-1")


def test_a_document_is_read_the_same_beside_any_other() -> None:
    alone = [rows(open_documents(pa.table({"text": [each]})))[0] for each in (PAGE, MARKED, WIDE)]
    assert [row["content"] for row in alone] == [PAGE, MARKED, WIDE]
    together = rows(open_documents(pa.table({"text": [PAGE, LATIN, MARKED, WIDE, LATIN]})))
    assert [row["content"] for row in together] == [
        PAGE,
        "Überraschung für Ärzte".encode(),
        MARKED,
        WIDE,
        "Überraschung für Ärzte".encode(),
    ]
    assert [(row["html"], row["encoding"]) for row in together] == [
        (True, "utf-8"),
        (False, "windows-1252"),
        (False, "utf-8"),
        (False, "utf-8"),
        (False, "windows-1252"),
    ]
    for row, beside in zip(alone, (together[0], together[2], together[3]), strict=True):
        assert (row["html"], row["encoding"]) == (beside["html"], beside["encoding"])


def test_what_is_not_utf8_is_still_decoded_as_it_says() -> None:
    page = '<meta charset="koi8-r"><p>Москва'.encode("koi8-r")
    [first, second] = rows(open_documents(pa.table({"text": [page, PAGE]})))
    assert (first["encoding"], second["encoding"]) == ("koi8-r", "utf-8")
    assert first["content"] == second["content"] == PAGE


@pytest.mark.parametrize("data", [b"\xef\xbb\xbf", b"\xef\xbb\xbf\n", b"\xef\xbb\xbf \r\n\n"])
def test_a_mark_alone_is_an_empty_file(data: bytes, tmp_path: Path) -> None:
    found, documents = read(tmp_path / "a.jsonl", data)
    assert (found, documents.skipped.count) == ([], 0)
    result = roughly.dedup(tmp_path / "a.jsonl")
    result.write(tmp_path / "b.jsonl")
    assert (tmp_path / "b.jsonl").read_bytes() == data
