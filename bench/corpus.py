"""The documents of a run: made by `bench/text.py` and `bench/page.py`, or read from a file."""

import gzip
import hashlib
import json
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

import pyarrow as pa

from bench.page import page, small_page
from bench.text import english_texts

# Documents in an Arrow batch: 20 MB of text. Readers of tables give batches of this size or more.
ROWS = 4096


class Corpus:
    """Texts and HTML pages, made or read when first asked for, the same for every benchmark."""

    def __init__(
        self, texts: int, pages: int, text_file: Path | None = None, html_file: Path | None = None
    ) -> None:
        self.text_count = texts
        self.page_count = pages
        self.text_file = text_file
        self.html_file = html_file

    @property
    def made(self) -> bool:
        """Whether page n is made of text n."""
        return self.text_file is None and self.html_file is None

    @cached_property
    def texts(self) -> list[str]:
        if self.text_file:
            return read_documents(self.text_file, ("text", "html"))
        return english_texts(self.text_count)

    @cached_property
    def pages(self) -> list[str]:
        if self.html_file:
            return read_documents(self.html_file, ("html", "text"))
        texts = self.texts if self.made else english_texts(self.page_count)
        return [page(text, number) for number, text in enumerate(texts[: self.page_count])]

    @cached_property
    def small_pages(self) -> list[str]:
        """Pages of about 5 kB, whatever the others are."""
        texts = english_texts(2 * self.page_count, words=300)
        return [small_page(text, number) for number, text in enumerate(texts)]

    def description(self, which: str) -> str:
        """What is measured on, in words; `which` is texts, pages or small_pages."""
        file = {"texts": self.text_file, "pages": self.html_file}.get(which)
        found = describe(getattr(self, which))
        name = which.replace("_", " ")
        origin = f"of {file.name}" if file else "made for this"
        return (
            f"{found.documents:,} {name} {origin},"
            f" {found.megabytes:.1f} MB, {found.mean_bytes:,} bytes on average,"
            f" {found.non_ascii:.2%} of them not ASCII; digest {found.digest}"
        )


def read_documents(path: Path, fields: Sequence[str]) -> list[str]:
    """The first of these fields in every row of a JSON Lines file, compressed by gzip or not."""
    data = path.read_bytes()
    lines = (gzip.decompress(data) if path.suffix == ".gz" else data).splitlines()
    rows = [json.loads(line) for line in lines if line.strip()]
    found = [next((str(row[field]) for field in fields if row.get(field)), "") for row in rows]
    documents = [document for document in found if document]
    if not documents:
        raise SystemExit(
            f"{path.name}: no documents: none of {len(rows)} rows has a field {fields[0]}"
            f"\nhint: JSON Lines are wanted, objects with a field {' or '.join(fields)}"
        )
    return documents


def arrow_batches(documents: Sequence[str], rows: int = ROWS) -> list[pa.Array]:
    """The documents as Arrow arrays of strings, as they would come from a table."""
    return [pa.array(documents[at : at + rows]) for at in range(0, len(documents), rows)]


@dataclass(frozen=True)
class Description:
    """What was measured on, for the record."""

    documents: int
    megabytes: float  # of 10^6 bytes of UTF-8
    mean_bytes: int
    non_ascii: float  # share of bytes
    digest: str  # equal digests, equal documents


def describe(documents: Iterable[str]) -> Description:
    hasher = hashlib.blake2b(digest_size=8)
    count = size = ascii_bytes = 0
    for document in documents:
        data = document.encode("utf-8", "surrogatepass")
        hasher.update(len(data).to_bytes(8, "little") + data)
        count += 1
        size += len(data)
        ascii_bytes += len(document.encode("ascii", "ignore"))
    return Description(
        count, size / 1e6, size // max(1, count), 1 - ascii_bytes / max(1, size), hasher.hexdigest()
    )
