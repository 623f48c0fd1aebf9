"""Reading documents in tests: plain rows, and the promises that hold for every reading."""

from pathlib import Path
from typing import Any

import pyarrow as pa

from roughly.documents import Documents, open_documents


def rows(documents: Documents) -> list[dict[str, Any]]:
    """All rows of a pass, after checking what every pass promises."""
    batches = list(documents)
    for batch in batches:
        assert batch.schema == documents.schema
        batch.validate(full=True)
        assert batch.num_rows
        batch.column("content").cast(pa.large_string())  # valid UTF-8
    found = [row for batch in batches for row in batch.to_pylist()]
    order = [(row["source"], row["position"]) for row in found]
    assert order == sorted(set(order)), "documents come in order, each once"
    ids = [row["id"] for row in found]
    assert len(set(ids)) == len(ids), "ids are unique"
    skipped = documents.skipped
    again = list(documents)
    assert again == batches, "a second pass gives the same batches"
    assert documents.skipped == skipped, "and skips the same documents"
    return found


def texts(documents: Documents) -> list[str]:
    return [row["content"].decode() for row in rows(documents)]


def read(path: Path, data: bytes, **options: Any) -> tuple[list[dict[str, Any]], Documents]:
    """The rows of a file with this content."""
    path.write_bytes(data)
    documents = open_documents(path, **options)
    return rows(documents), documents


def records(documents: Documents, found: list[dict[str, Any]]) -> list[bytes]:
    """The bytes of each document's record, as `begin` and `end` give them."""
    streams = {}
    for number, source in enumerate(documents.sources):
        with source.open() as stream:
            data = b""
            while True:
                while part := stream.read(1 << 16):
                    data += part
                if not stream.resume():
                    break
            streams[number] = data
    return [streams[row["source"]][row["begin"] : row["end"]] for row in found]
