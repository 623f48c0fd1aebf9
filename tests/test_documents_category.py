"""Categories of documents: the same in every format that has fields, refused where none are."""

import json
from collections.abc import Callable
from datetime import date
from decimal import Decimal
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.feather
import pyarrow.parquet as pq
import pytest

from roughly.documents import Documents, open_documents, open_inputs
from roughly.documents.batch import SCHEMA
from roughly.documents.category import category_texts
from roughly.documents.selection import Places, read_selected
from roughly.errors import DocumentError
from tests.archive import warc
from tests.reading import rows
from tests.test_documents_frame import Dataset

RECORDS: list[dict[str, Any]] = [
    {"url": "u1", "text": "one", "lang": "en"},
    {"url": "u2", "text": None, "lang": "fr"},
    {"url": "u3", "text": "three", "lang": "größe"},
    {"url": "u4", "text": "four", "lang": None},
    {"url": "u5", "text": "five", "lang": ""},
    {"url": "u6", "text": "six", "lang": "en"},
]
# The second has no text.
WANTED = [("u1", "en"), ("u3", "größe"), ("u4", None), ("u5", ""), ("u6", "en")]
TABLE = pa.Table.from_pylist(RECORDS)


def lines(records: list[Any]) -> bytes:
    return "".join(json.dumps(record) + "\n" for record in records).encode()


def written(name: str, write: Callable[[Path], Any]) -> Callable[[Path], Any]:
    def source(folder: Path) -> Path:
        write(folder / name)
        return folder / name

    return source


def arrow_stream(path: Path) -> None:
    with pa.ipc.new_stream(path, TABLE.schema) as writer:
        writer.write_table(TABLE, max_chunksize=2)


FORMS: dict[str, Callable[[Path], Any]] = {
    "jsonl": written("a.jsonl", lambda path: path.write_bytes(lines(RECORDS))),
    "parquet": written("a.parquet", lambda path: pq.write_table(TABLE, path, row_group_size=2)),
    "feather": written("a.feather", lambda path: pyarrow.feather.write_feather(TABLE, path)),
    "stream": written("a.arrows", arrow_stream),
    "table": lambda _: TABLE,
    "dictionary": lambda _: TABLE.set_column(2, "lang", TABLE["lang"].dictionary_encode()),
    "view": lambda _: TABLE.set_column(2, "lang", TABLE["lang"].cast(pa.string_view())),
    "bytes": lambda _: TABLE.set_column(2, "lang", TABLE["lang"].cast(pa.binary())),
    "reader": lambda _: TABLE.to_reader(),
    "pandas": lambda _: pd.DataFrame(RECORDS),
    "pandas objects": lambda _: pd.DataFrame(RECORDS, dtype=object),
    "pandas categories": lambda _: pd.DataFrame(RECORDS).astype({"lang": "category"}),
    "polars": lambda _: pl.DataFrame(RECORDS),
    "dataset": lambda _: Dataset(TABLE),
    "dicts": lambda _: RECORDS,
    "dicts once": lambda _: iter(RECORDS),
}


def categories(documents: Documents) -> list[tuple[str, str | None]]:
    return [(row["id"], row["category"]) for row in rows(documents)]


@pytest.mark.parametrize("form", FORMS)
def test_every_format_gives_the_same_categories(form: str, tmp_path: Path) -> None:
    source = FORMS[form]
    documents = open_documents(source(tmp_path), category_field="lang")
    assert categories(documents) == WANTED
    assert documents.schema.field("category") == pa.field("category", pa.string())
    assert documents.options["fields"] == {"category": "lang"}
    assert documents.skipped.unread_categories == 0
    # Batches of any size, and none of it where it was not asked for.
    small = open_documents(source(tmp_path), category_field="lang", batch_bytes=1)
    assert categories(small) == WANTED
    plain = open_documents(source(tmp_path))
    assert plain.schema == SCHEMA
    assert plain.options["fields"] == {}
    with_category = [{k: v for k, v in row.items() if k != "category"} for row in rows(small)]
    assert rows(plain) == with_category


@pytest.mark.parametrize(("name", "delimiter"), [("a.csv", ","), ("a.tsv", "\t"), ("b.csv", ";")])
def test_csv(name: str, delimiter: str, tmp_path: Path) -> None:
    table = 'url,lang,text\nu1,en,one\nu2,"a ""b""",two\nu3,,three\nu4,1.0,four\nbad row\n'
    path = tmp_path / name
    path.write_text(table.replace(",", delimiter))
    documents = open_inputs([str(path)], category_field="lang")
    # A row cannot say that a field is missing: what is there is an empty text.
    assert categories(documents) == [("u1", "en"), ("u2", 'a "b"'), ("u3", ""), ("u4", "1.0")]
    assert [str(fields) for fields in documents.guesses] == [
        "text=text (guessed), id=url (guessed), category=lang"
    ]
    path.write_bytes(b"")
    assert rows(open_documents(path, category_field="lang")) == []


# value as JSON -> category; numbers and truth values are their JSON text
VALUES = {
    "1": "1",
    "-7": "-7",
    "1.0": "1.0",
    "1.5": "1.5",
    "1e+300": "1e+300",
    "true": "true",
    "false": "false",
    '"true"': "true",
    '"a\\u00e4\\n"': "aä\n",
    "null": None,
}


@pytest.mark.parametrize("value", VALUES)
def test_kinds_of_values(value: str, tmp_path: Path) -> None:
    """In JSON Lines, in columns of their type, and among objects of all types."""
    path = tmp_path / "a.jsonl"
    path.write_text(f'{{"text": "x", "c": {value}}}\n{{"text": "y", "c": "z"}}\n{{"text": "w"}}\n')
    given = json.loads(value)
    mixed = [{"text": "x", "c": given}, {"text": "y", "c": "z"}, {"text": "w"}]
    for source in (path, mixed, iter(mixed), pd.DataFrame(mixed)):
        found = [category for _, category in categories(open_documents(source, category_field="c"))]
        assert found == [VALUES[value], "z", None]
    table = pa.table({"text": ["x", "y"], "c": [given, None]})
    found = [category for _, category in categories(open_documents(table, category_field="c"))]
    assert found == [VALUES[value], None]


def test_values_of_python() -> None:
    values = [np.int64(3), np.float64(2), np.bool_(True), Decimal("1.50"), date(2026, 11, 15), b"b"]
    wanted = ["3", "2.0", "true", "1.50", "2026-11-15", "b"]
    items = [{"text": f"t{n}", "c": value} for n, value in enumerate(values)]
    for source in (items, pd.DataFrame(items)):
        assert [c for _, c in categories(open_documents(source, category_field="c"))] == wanted
    # A value of a column of objects has one text, whatever its neighbours are.
    numbers: list[Any] = [1] * 5000 + [1.5]
    frame = pd.DataFrame({"text": map(str, range(5001)), "c": pd.Series(numbers, dtype=object)})
    found = {c for _, c in categories(open_documents(frame, category_field="c"))}
    assert found == {"1", "1.5"}
    halves = [{"text": "x", "c": "a\ud800"}]
    assert categories(open_documents(halves, category_field="c")) == [("documents#1", "a?")]


def test_types_of_columns() -> None:
    for column, wanted in (
        (pa.array([1, None], pa.int8()), ["1", None]),
        (pa.array([1.0, 0.1]), ["1.0", "0.1"]),
        (pa.array([1, None], pa.float16()), ["1.0", None]),
        (pa.array([True, False]), ["true", "false"]),
        (pa.array([None, None]), [None, None]),
        (pa.array([date(2026, 11, 15)]), ["2026-11-15"]),
        (pa.array(["a", "b"], pa.large_string()), ["a", "b"]),
    ):
        assert category_texts(column) == (pa.array(wanted, pa.string()), 0)
    assert category_texts(pa.array([b"a", b"\xff", None]))[0].to_pylist() == ["a", None, None]
    assert category_texts(pa.array([b"a", b"\xff", None]))[1] == 1
    assert category_texts(pa.array([["a"], None])) == (pa.nulls(2, pa.string()), 1)


def test_lists_and_objects_are_counted(tmp_path: Path) -> None:
    path = tmp_path / "a.jsonl"
    records = [
        {"text": "a", "c": ["en"]},
        {"text": "b", "c": {"lang": "en"}},
        {"text": "c", "c": "en"},
        {"text": None, "c": ["no text, so no document"]},
        {"text": "d"},
    ]
    path.write_bytes(lines(records))
    for source in (path, records, iter(records), str(path)):
        documents = open_documents(source, category_field="c")
        assert [c for _, c in categories(documents)] == [None, None, "en", None]
        assert documents.skipped.unread_categories == 2
    for table in (
        pa.table({"text": ["a"], "c": [["en"]]}),
        pa.table({"text": ["a"], "c": [{"lang": "en"}]}),
        pd.DataFrame({"text": ["a"], "c": [["en"]]}),
    ):
        with pytest.raises(DocumentError, match="'c' cannot be the category: it is of type"):
            list(open_documents(table, category_field="c"))


def test_one_field_may_be_two_things(tmp_path: Path) -> None:
    """What is the id or the date may be the category as well."""
    records = [{"url": "u1", "text": "a", "date": "2026"}, {"url": "u2", "text": "b", "date": None}]
    path = tmp_path / "a.jsonl"
    path.write_bytes(lines(records))
    (tmp_path / "a.csv").write_text("url,text,date\nu1,a,2026\nu2,b,2025\n")
    frames = (pd.DataFrame(records), pl.DataFrame(records))
    for source in (path, tmp_path / "a.csv", records, *frames):
        found = categories(open_documents(source, category_field="url"))
        assert found == [("u1", "u1"), ("u2", "u2")]
        first = rows(open_documents(source, category_field="date"))[0]
        assert (first["date"], first["category"]) == ("2026", "2026")


def test_a_field_that_no_record_has(tmp_path: Path) -> None:
    records = [{"text": "a", "n": 1}, {"text": "b", "n": 2}]
    path = tmp_path / "a.jsonl"
    path.write_bytes(lines(records))
    (tmp_path / "a.csv").write_text("text,n\na,1\n")
    pq.write_table(pa.Table.from_pylist(records), tmp_path / "a.parquet")
    for source in (
        *(path, tmp_path / "a.csv", tmp_path / "a.parquet", records, iter(records)),
        *(pd.DataFrame(records), pl.DataFrame(records), pa.Table.from_pylist(records)),
    ):
        with pytest.raises(DocumentError, match=r"'nope' for the category.*text, ?n") as caught:
            list(open_documents(source, category_field="nope"))
        assert "category_field (within, --within)" in str(caught.value)
    # What was found may be something else: lines have no category, columns cannot be without.
    documents = open_documents(tmp_path, category_field="nope")
    assert [row["category"] for row in rows(documents)] == [None, None]
    assert documents.skipped.reasons == {"no such field": 2}


def test_what_has_no_fields_has_no_category(tmp_path: Path) -> None:
    (tmp_path / "a.txt").write_text("a text")
    (tmp_path / "a.html").write_text("<html>a page")
    (tmp_path / "plain").write_text("without an ending")
    (tmp_path / "a.warc").write_bytes(warc(b"text", kind=b"conversion", type=b"text/plain"))
    (tmp_path / "a.jsonl").write_bytes(lines([{"text": "one", "lang": "en"}]))
    message = "no field 'lang' for the category: {} have no fields"
    for name, what in (
        ("a.txt", "text files"),
        ("a.html", "text files"),
        ("plain", "text files"),
        ("a.warc", "web archives"),
        ("*.txt", "text files"),
    ):
        for words in ([name], ["a.jsonl", name], [name, "a.jsonl"]):
            if "*" in name and len(words) > 1:
                continue  # found, and beside something that has fields
            with pytest.raises(DocumentError, match=message.format(what)) as caught:
                open_inputs([str(tmp_path / word) for word in words], category_field="lang")
            assert "--within host" in str(caught.value)
    for source in (["a text"], [("id", "a text")], iter(["a text"])):
        with pytest.raises(DocumentError, match=message.format("texts and pairs")):
            list(open_documents(source, category_field="lang"))
    assert rows(open_documents([], category_field="lang")) == []
    with pytest.raises(DocumentError, match="no column 'lang' for the category"):
        list(open_documents(pa.array(["a text"]), category_field="lang"))


def test_directories_of_many_formats(tmp_path: Path) -> None:
    (tmp_path / "a.txt").write_text("a text")
    with pytest.raises(DocumentError, match="text files have no fields"):
        open_documents(tmp_path, category_field="lang")
    (tmp_path / "b.jsonl").write_bytes(lines([{"text": "one", "lang": "en"}, {"text": "two"}]))
    (tmp_path / "c").write_bytes(lines([{"text": "three", "lang": 3}]))
    (tmp_path / "d.txt").write_text("another")
    found = rows(open_documents(tmp_path, category_field="lang"))
    assert [row["category"] for row in found] == [None, "en", None, "3", None]
    mixture = [{"text": "x", "lang": "en"}, "a text", ("id", "another")]
    found = rows(open_documents(mixture, category_field="lang"))
    assert [row["category"] for row in found] == ["en", None, None]


def test_chosen_documents_are_read_again(tmp_path: Path) -> None:
    """Content and html as before, whether or not there is a category."""
    path = tmp_path / "a.jsonl"
    path.write_bytes(lines(RECORDS))
    pq.write_table(TABLE, tmp_path / "b.parquet")
    documents = open_documents([path, tmp_path / "b.parquet"], category_field="lang")
    table = pa.Table.from_batches(documents)
    places = Places(*(table[n].to_numpy() for n in ("source", "position", "begin", "end")))
    again = pa.Table.from_batches(read_selected(documents, places))
    assert again == table.select(["content", "html"])


def test_documents_of_one_date_have_a_category(tmp_path: Path) -> None:
    documents = open_documents(RECORDS, category_field="lang")
    documents.date = "2026"
    assert categories(documents) == WANTED
    assert {row["date"] for row in rows(documents)} == {"2026"}
