"""Chosen documents that are read again are what the first reading gave, whatever the format."""

import gzip
import json
import tempfile
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
import zstandard
from hypothesis import given
from hypothesis import strategies as st

from roughly.documents import Documents, open_documents
from roughly.documents.selection import Places, read_selected
from roughly.errors import DocumentError
from tests.archive import members, page

# Text, a page, nothing, escapes, a number, and things that are no documents.
VALUES: list[Any] = [
    "plain",
    "<p>page</p>",
    "",
    'a "quoted"\n\\line',
    7,
    "é漢😀" * 9,
    None,
    {"a": 1},
]


def lines(values: list[Any], end: str = "\n") -> bytes:
    return "".join(json.dumps({"id": n, "text": v}) + end for n, v in enumerate(values)).encode()


def table(values: list[Any]) -> pa.Table:
    texts = [v if isinstance(v, str) else None for v in values]
    return pa.table({"id": range(len(values)), "text": pa.array(texts, pa.string())})


def write(folder: Path, name: str, values: list[Any]) -> None:
    path = folder / name
    data = lines([*values, "last"])
    if name.endswith((".jsonl", ".jsonl.gz", ".jsonl.zst")):
        if len(values) % 2:
            data = b"\xef\xbb\xbf" + data.rstrip(b"\n")
        if name.endswith(".gz"):
            data = gzip.compress(data)
        if name.endswith(".zst"):
            data = zstandard.compress(data)
        path.write_bytes(data)
    elif name.endswith(".csv"):
        rows = [f'{n},"{v}"\n' for n, v in enumerate(values) if isinstance(v, str) and '"' not in v]
        path.write_text("id,text\n" + "".join(rows), encoding="utf-8")
    elif name.endswith(".parquet"):
        pq.write_table(table(values), path, row_group_size=3)
    elif name.endswith(".arrow"):
        with pa.ipc.new_file(path, table(values).schema) as writer:
            writer.write_table(table(values), max_chunksize=3)
    elif name.endswith(".warc.gz"):
        path.write_bytes(members([page(n) for n in range(len(values))]))
    else:
        path.write_text(f"text of {name} {len(values)}")


NAMES = [
    *("a.jsonl", "b.jsonl", "c.jsonl.gz", "d.jsonl.zst", "e.csv", "f.parquet", "g.arrow"),
    *("h.warc.gz", "i.txt", "j.html"),
]


def first_reading(documents: Documents) -> tuple[list[dict[str, Any]], Places]:
    batches = list(documents)
    rows = [row for batch in batches for row in batch.to_pylist()]
    columns = (
        np.concatenate(
            [np.zeros(0, np.int64), *(batch.column(name).to_numpy() for batch in batches)]
        )
        for name in ("source", "position", "begin", "end")
    )
    source, *rest = columns
    return rows, Places(source.astype(np.int32), *rest)


def chosen(places: Places, rows: list[int]) -> Places:
    return Places(*(getattr(places, name)[rows] for name in Places.__slots__))


@given(
    st.dictionaries(
        st.sampled_from(NAMES), st.lists(st.sampled_from(VALUES), max_size=8), min_size=1
    ),
    st.data(),
    st.sampled_from([1, 30, 1 << 20]),
    st.sampled_from([1, 30, 1 << 20]),
)
def test_what_was_read_before(
    files: dict[str, list[Any]], data: st.DataObject, size: int, again: int
) -> None:
    with tempfile.TemporaryDirectory(prefix="roughly-test-") as folder:
        for name, values in files.items():
            write(Path(folder), name, values)
        documents = open_documents(folder, batch_bytes=size)
        rows, places = first_reading(documents)
        wanted = data.draw(st.sets(st.integers(0, max(0, len(rows) - 1)))) if rows else set()
        numbers = sorted(wanted)
        batches = list(read_selected(documents, chosen(places, numbers), again))
        found = [row for batch in batches for row in batch.to_pylist()]
        assert found == [{n: rows[row][n] for n in ("content", "html")} for row in numbers]
        assert all(batch.num_rows for batch in batches)


@pytest.mark.parametrize("kind", ["list", "table", "generator"])
def test_documents_in_memory(kind: str) -> None:
    texts = [f"text {n}" for n in range(50)]
    source = {"list": texts, "table": pa.table({"text": texts}), "generator": iter(texts)}[kind]
    documents = open_documents(source, batch_bytes=40)
    _, places = first_reading(documents)
    for numbers in ([0], [49], [3, 4, 30], list(range(50)), []):
        batches = read_selected(documents, chosen(places, numbers))
        found = [row["content"].decode() for batch in batches for row in batch.to_pylist()]
        assert found == [texts[n] for n in numbers]


def test_only_the_chosen_lines_are_read(tmp_path: Path) -> None:
    path = tmp_path / "a.jsonl"
    path.write_bytes(lines(["x" * 9000, "wanted", "y" * 9000, "also"]))
    documents = open_documents(path)
    _, places = first_reading(documents)
    # What is not chosen may be anything by now.
    data = bytearray(path.read_bytes())
    data[5:8000] = b"?" * 7995
    path.write_bytes(data)
    (batch,) = read_selected(documents, chosen(places, [1, 3]))
    assert batch.column("content").to_pylist() == [b"wanted", b"also"]


@pytest.mark.parametrize("name", ["a.jsonl", "c.jsonl.gz", "f.parquet", "i.txt"])
def test_a_source_that_was_changed(name: str, tmp_path: Path) -> None:
    write(tmp_path, name, ["one", "two", "three"])
    documents = open_documents(tmp_path / name)
    _, places = first_reading(documents)
    if name == "i.txt":
        (tmp_path / name).unlink()
    else:
        write(tmp_path, name, ["one"] if name == "f.parquet" else [])
    with pytest.raises(DocumentError, match="cannot read"):
        list(read_selected(documents, chosen(places, list(range(len(places))))))
