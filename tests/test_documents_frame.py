"""Documents that a Python caller has: tables, frames, datasets, iterables; once or many times."""

import io
import re
from collections.abc import Iterator
from datetime import date, datetime
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.feather
import pyarrow.parquet as pq
import pytest

from roughly.documents import open_documents
from roughly.errors import DocumentError, ParameterError
from tests.reading import rows, texts

COLUMNS = {
    "url": ["u1", "u2", None, "u1"],
    "text": ["one", None, "<p>three", "four"],
    "date": ["2026-11-15", None, "2026", "2025-01-01"],
    "n": [1, 2, 3, 4],
}
# id, content, html, date, position
WANTED = [
    ("u1", b"one", False, "2026-11-15", 0),
    ("documents#3", b"<p>three", True, "2026", 2),
    ("u1#2", b"four", False, "2025-01-01", 3),
]


class Dataset:
    """What a Hugging Face dataset offers, in so far as it is used."""

    def __init__(self, table: pa.Table) -> None:
        self.table = table
        self.features = self
        self.arrow_schema = table.schema

    def __len__(self) -> int:
        return len(self.table)

    def __iter__(self) -> Iterator[Any]:
        raise AssertionError("read by columns, not by rows")

    def select_columns(self, names: list[str]) -> "Dataset":
        return Dataset(self.table.select(names))

    def with_format(self, format: str) -> "Dataset":
        assert format == "arrow"
        return self

    def iter(self, batch_size: int) -> Iterator[pa.Table]:
        for start in range(0, len(self.table), 3):
            yield self.table.slice(start, 3)


class Again:
    """Parts that can be iterated over again and again, but are no list."""

    def __init__(self, parts: list[Any]) -> None:
        self.parts = parts

    def __iter__(self) -> Iterator[Any]:
        return iter(self.parts)


class Batches:
    """Batches that can be iterated over more than once, as a set of files is."""

    def __init__(self, table: pa.Table) -> None:
        self.table = table

    def __iter__(self) -> Iterator[pa.RecordBatch]:
        return iter(self.table.to_batches(max_chunksize=3))


TABLE = pa.table(COLUMNS)
FORMS = {
    "table": lambda: TABLE,
    "batch": lambda: TABLE.to_batches()[0],
    "reader": TABLE.to_reader,
    "pandas": lambda: pd.DataFrame(COLUMNS),
    "pandas objects": lambda: pd.DataFrame(COLUMNS, dtype=object),
    "pandas arrow": lambda: TABLE.to_pandas(types_mapper=pd.ArrowDtype),
    "pandas index": lambda: pd.DataFrame(COLUMNS, index=[7, 7, "x", None]),
    "polars": lambda: pl.DataFrame(COLUMNS),
    "dataset": lambda: Dataset(TABLE),
    "dicts": TABLE.to_pylist,
    "dicts once": lambda: iter(TABLE.to_pylist()),
    "dicts in a tuple": lambda: tuple(TABLE.to_pylist()),
    "tables": lambda: [TABLE.slice(0, 1), TABLE.slice(1)],
    "batches": lambda: TABLE.to_batches(max_chunksize=1),
    "batches in a tuple": lambda: tuple(TABLE.to_batches(max_chunksize=3)),
    "batches once": lambda: iter(TABLE.to_batches(max_chunksize=2)),
    "batches again and again": lambda: Batches(TABLE),
    "pandas frames": lambda: [pd.DataFrame(COLUMNS)[:2], pd.DataFrame(COLUMNS)[2:]],
    "polars frames": lambda: [pl.DataFrame(COLUMNS)[:2], pl.DataFrame(COLUMNS)[2:]],
    "frames once": lambda: (pl.DataFrame(COLUMNS)[n] for n in range(4)),
}


@pytest.mark.parametrize("form", FORMS)
def test_every_form_gives_the_same_documents(form: str) -> None:
    documents = open_documents(FORMS[form]())
    found = rows(documents)
    assert [
        (row["id"], row["content"], row["html"], row["date"], row["position"]) for row in found
    ] == WANTED
    assert documents.skipped.reasons == {"no text": 1}
    assert "row 2" in str(documents.skipped.first[0])
    assert documents.skipped.repeated_ids == 1


def test_tables_that_do_not_go_together() -> None:
    one = pa.table({"id": ["a"], "text": ["one"]})
    null = pa.table({"text": pa.nulls(1), "id": ["b"]})
    number = pa.table({"id": [3], "text": ["three"]})
    without = pa.table({"id": ["d"]})
    # In a list what is not there is null; a type is found that holds all values.
    documents = open_documents([one, null, number.cast(one.schema), without])
    assert [(row["id"], row["content"]) for row in rows(documents)] == [
        *(("a", b"one"), ("3", b"three"))
    ]
    assert documents.skipped.reasons == {"no text": 2}
    with pytest.raises(ParameterError, match=r"the tables do not go together: .*type"):
        open_documents([one, pa.table({"text": [["a"]]})])
    # What comes once is copied with the types of the first.
    documents = open_documents(iter([one, null, number]))
    assert [row["id"] for row in rows(documents)] == ["a", "3"]
    with pytest.raises(
        ParameterError, match=r"item 2 has columns.*: 'text' is list<.*, wanted st"
    ) as error:
        open_documents(iter([one, pa.table({"id": ["a"], "text": [["a"]]})]))
    assert error.value.hint == "cast them to one schema"  # a list of them would not go together
    with pytest.raises(ParameterError, match="no column 'text' for the text in item 2: its col"):
        open_documents(iter([one, without]))
    for mixed in ([one, "text"], iter([one, "text"])):
        with pytest.raises(ParameterError, match="item 2 is of type str, wanted a table as the fi"):
            open_documents(mixed)
    frame = pd.DataFrame({"text": ["a", 5]}, dtype=object)
    with pytest.raises(ParameterError, match="item 1 cannot be made an Arrow table"):
        open_documents([frame])


def test_batches_with_dictionaries_of_their_own() -> None:
    parts = [pa.table({"text": pa.array([word]).dictionary_encode()}) for word in ("one", "two")]
    reader = pa.RecordBatchReader.from_batches(
        parts[0].schema, [batch for part in parts for batch in part.to_batches()]
    )
    for source in (parts, iter(parts), reader):
        assert texts(open_documents(source)) == ["one", "two"]


def test_only_the_first_table_is_looked_at_before_the_others_come() -> None:
    taken: list[int] = []

    def tables() -> Iterator[pa.Table]:
        for n in range(3):
            taken.append(n)
            yield pa.table({"text": [str(n)], "n": [n]})

    class Once(Batches):
        def __iter__(self) -> Iterator[Any]:
            return tables()

    for _ in open_documents(Once(TABLE)):
        pass
    # The names, the kind of item, then all of them.
    assert taken == [0, 0, 0, 1, 2]


def test_an_open_file_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "a.jsonl"
    path.write_text('{"text": "one"}\n')
    with path.open() as text, path.open("rb") as data, path.open("rb", buffering=0) as raw:
        for file in (text, data, raw):
            with pytest.raises(ParameterError, match=r"an open file \(.*\), wanted its") as error:
                open_documents(file)
            assert error.value.hint == f"pass its path: {str(path)!r}"
    with pytest.raises(ParameterError, match=r"an open file \(StringIO\)") as error:
        open_documents(io.StringIO("one text"))
    assert error.value.hint == "pass its path, or a list of texts: of one text, [file.read()]"
    # What reads a file in parts is none.
    frame = pd.DataFrame({"text": [f"row {n}" for n in range(5)], "date": [None] * 4 + ["2026"]})
    frame.to_csv(tmp_path / "a.csv", index=False)
    frame.to_json(path, orient="records", lines=True)
    for parts in (
        pd.read_csv(tmp_path / "a.csv", chunksize=2, dtype={"date": str}),
        pd.read_csv(tmp_path / "a.csv", chunksize=2),
        pd.read_csv(tmp_path / "a.csv", iterator=True),
        pd.read_json(path, lines=True, chunksize=2, dtype=False),
    ):
        assert texts(open_documents(parts)) == [f"row {n}" for n in range(5)]
    # A column may have that name.
    assert texts(open_documents(pd.DataFrame({"text": ["a"], "read": ["b"]}))) == ["a"]


EMPTY = {
    "pandas": lambda: pd.DataFrame({"text": []}),
    "pandas with more": lambda: pd.DataFrame({"n": [], "text": [], "url": []}),
    "pandas without types": lambda: pd.DataFrame(columns=["text", "id"]),
    "pandas, numbers": lambda: pd.DataFrame({"Body": np.zeros(0, np.int64)}),
    "polars": lambda: pl.DataFrame({"text": []}),
    "polars, numbers": lambda: pl.DataFrame({"text": []}, schema={"text": pl.Int64}),
    "table": lambda: pa.table({"text": pa.nulls(0)}),
    "table, numbers": lambda: pa.table({"text": pa.array([], pa.float64()), "n": pa.nulls(0)}),
    "tables": lambda: [pa.table({"text": pa.array([], pa.float64())})] * 2,
    "batches once": lambda: iter(pa.table({"text": pa.nulls(0)}).to_batches()),
    "reader": lambda: pa.table({"text": pa.nulls(0)}).to_reader(),
    "dataset": lambda: Dataset(pa.table({"text": pa.nulls(0)})),
}


@pytest.mark.parametrize("form", EMPTY)
def test_no_rows_are_no_documents(form: str, tmp_path: Path) -> None:
    documents = open_documents(EMPTY[form]())
    assert rows(documents) == []
    assert not documents.skipped


def test_files_without_rows(tmp_path: Path) -> None:
    frame = pd.DataFrame({"text": [], "n": []})
    frame.to_parquet(tmp_path / "a.parquet")
    frame.to_feather(tmp_path / "a.feather")
    documents = open_documents(tmp_path)
    assert rows(documents) == []
    assert not documents.skipped


def test_a_column_of_nulls_is_the_text_by_its_name() -> None:
    for frame in (pl.DataFrame({"text": [None], "n": [1]}), pa.table({"text": pa.nulls(1)})):
        documents = open_documents(frame)
        assert rows(documents) == []
        assert documents.skipped.reasons == {"no text": 1}
    # But text in another column is more.
    assert texts(open_documents(pa.table({"content": pa.nulls(1), "body": ["a"]}))) == ["a"]


URL_ALONE = {"url": ["http://x"], "text": [None]}
NAN = {"url": ["http://x"], "text": [float("nan")]}
WITHOUT_TEXT = {
    "table": lambda: pa.table({"url": ["http://x"], "text": pa.nulls(1)}),
    "table, numbers": lambda: pa.Table.from_pandas(pd.DataFrame(NAN)),
    "reader": lambda: pa.table({"url": ["http://x"], "text": pa.nulls(1)}).to_reader(),
    "tables": lambda: [pa.table(URL_ALONE), pa.table({"url": [None], "text": [None]})],
    "tables once": lambda: iter([pa.table(URL_ALONE)]),
    "dataset": lambda: Dataset(pa.table(URL_ALONE)),
    "pandas": lambda: pd.DataFrame(URL_ALONE),
    "pandas, numbers": lambda: pd.DataFrame(NAN),
    "pandas once": lambda: iter([pd.DataFrame(NAN)]),
    "polars": lambda: pl.DataFrame(URL_ALONE),
    "dicts": lambda: [{"url": "http://x", "text": None}],
    "dicts once": lambda: iter([{"url": "http://x", "text": None}]),
}


@pytest.mark.parametrize("form", WITHOUT_TEXT)
def test_an_id_is_not_the_text_because_there_is_none(form: str) -> None:
    documents = open_documents(WITHOUT_TEXT[form]())
    assert rows(documents) == []
    assert set(documents.skipped.reasons) == {"no text"}


def test_an_id_in_a_file_is_not_the_text_because_there_is_none(tmp_path: Path) -> None:
    table = pa.table({"id": ["1"], "text": pa.nulls(1)})
    pq.write_table(table, tmp_path / "a.parquet")
    pyarrow.feather.write_feather(table, tmp_path / "a.feather")
    (tmp_path / "a.jsonl").write_text('{"id": "1", "text": null}\n')
    for name in ("a.parquet", "a.feather", "a.jsonl"):
        documents = open_documents(tmp_path / name)
        assert rows(documents) == []
        assert documents.skipped.reasons == {"no text": 1}
    # The only text there is counts where nothing else is named like one.
    assert texts(open_documents([{"essay": "one", "n": None}])) == ["one"]


def test_the_first_frame_has_no_text_yet() -> None:
    second = pd.DataFrame({"url": ["u2"], "text": ["two"]})
    for nothing in (None, float("nan")):
        first = pd.DataFrame({"url": ["u1"], "text": [nothing]})
        for source in ([first, second], iter([first, second]), Again([first, second])):
            documents = open_documents(source)
            assert [(row["id"], row["content"]) for row in rows(documents)] == [("u2", b"two")]
            assert documents.skipped.reasons == {"no text": 1}


FULL = {"text": ["one", "two"], "n": [1, 2], "date": ["2026", "2025"]}
NOTHING = {
    "no rows": pd.DataFrame({"text": [], "n": [], "date": []}),
    "no columns": pd.DataFrame(),
    "no rows, other columns": pa.table({"body": pa.array([], pa.list_(pa.string()))}),
    "nulls": pa.table(dict.fromkeys(FULL, pa.nulls(1))),
    "numbers": pd.DataFrame({name: [float("nan")] for name in FULL}),
    "numbers that may be null": pa.table(dict.fromkeys(FULL, pa.nulls(1, pa.int64()))),
}


@pytest.mark.parametrize("name", NOTHING)
def test_tables_without_values_decide_no_types(name: str) -> None:
    nothing, full = NOTHING[name], pa.table(FULL)
    for parts in ([nothing, full], [nothing, nothing, full, nothing], [full, nothing]):
        for source in (parts, iter(parts), Again(parts)):
            documents = open_documents(source, category_field="n")
            assert [(row["content"], row["date"], row["category"]) for row in rows(documents)] == [
                (b"one", "2026", "1"),
                (b"two", "2025", "2"),
            ]
            assert set(documents.skipped.reasons) <= {"no text"}
    if "rows" in name:
        for source in ([nothing] * 2, iter([nothing] * 2)):
            assert rows(open_documents(source)) == []


def test_a_column_that_is_null_for_long(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("roughly.documents.frame._SAMPLE_BYTES", 0)
    first = pa.table({"text": ["one"], "date": pa.nulls(1), "id": pa.nulls(1)})
    others = [("2026-11-15", "b"), (date(2026, 11, 15), 7), (datetime(2026, 11, 15, 8), b"c")]
    parts = [pa.table({"text": ["x"], "date": [day], "id": [id]}) for day, id in others]
    documents = open_documents(iter([first, *parts]))
    assert [(row["id"], row["date"]) for row in rows(documents)] == [
        ("documents#1", None),
        ("b", "2026-11-15"),
        ("7", "2026-11-15"),
        ("c", "2026-11-15T08:00:00"),
    ]


def test_texts_pairs_and_mixtures() -> None:
    assert texts(open_documents(["a", "b"])) == ["a", "b"]
    assert texts(open_documents(("a", "b"))) == ["a", "b"]
    assert texts(open_documents(x for x in ("a", "b"))) == ["a", "b"]
    assert texts(open_documents(pa.array(["a", None, "b"]))) == ["a", "b"]
    assert texts(open_documents(pd.Series(["a", "b"]))) == ["a", "b"]
    assert texts(open_documents(pl.Series(["a", "b"]))) == ["a", "b"]
    assert texts(open_documents(np.array(["a", "b"]))) == ["a", "b"]
    documents = open_documents([("k", "a"), (7, b"caf\xe9 cr\xe8me"), ["l", "c"], 5, None, ("m",)])
    found = rows(documents)
    assert [(row["id"], row["content"].decode()) for row in found] == [
        *(("k", "a"), ("7", "café crème"), ("l", "c"))
    ]
    assert documents.skipped.reasons == {"no text": 3}


def test_halves_of_surrogate_pairs() -> None:
    found = rows(open_documents([("\ud83d", "a\ud800b"), ("\ud83d\ude00", "\ud83d\ude00")]))
    assert [(row["id"], row["content"].decode()) for row in found] == [
        ("\ufffd", "a\ufffdb"),
        ("😀", "😀"),
    ]
    frame = pd.DataFrame({"text": ["a\ud800b", "c"]}, dtype=object)
    assert texts(open_documents(frame)) == ["a\ufffdb", "c"]


def test_dates_of_python() -> None:
    items = [
        {"text": "a", "date": date(2026, 11, 15)},
        {"text": "b", "date": datetime(2026, 11, 15, 8, 30)},
        {"text": "c", "date": 1794731400},
    ]
    wanted = ["2026-11-15", "2026-11-15T08:30:00", "2026-11-15T08:30:00"]
    assert [row["date"] for row in rows(open_documents(items))] == wanted
    frame = pd.DataFrame({"text": ["a"], "date": [datetime(2026, 11, 15, 8, 30)]})
    assert [row["date"] for row in rows(open_documents(frame))] == wanted[1:2]


def test_what_is_read_once_is_kept_on_disk() -> None:
    documents = open_documents(f"text {n}" for n in range(1000))
    copy = documents.sources[0].path
    assert copy is not None
    assert len(texts(documents)) == 1000
    del documents
    assert not Path(copy).exists()


def test_large_tables_are_divided() -> None:
    table = pa.table({"text": ["x" * 100] * 1000})
    sizes = [len(batch) for batch in open_documents(table, batch_bytes=1000)]
    assert max(sizes) <= 20 and sum(sizes) == 1000


def test_frames_without_text() -> None:
    for frame in (pd.DataFrame({"a": [1]}), pl.DataFrame({"a": [1]}), [{"a": 1}]):
        with pytest.raises(DocumentError, match="no field looks like the text: the fields are a"):
            list(open_documents(frame))
    # The name alone is not enough where there are values.
    for frame in (pd.DataFrame({"text": [1]}), pl.DataFrame({"text": [1]}), [{"text": 1}]):
        with pytest.raises(DocumentError, match="fields are text, wanted text in 'text' or anoth"):
            list(open_documents(frame))
    with pytest.raises(ParameterError, match="documents: cannot read: LazyFrame"):
        open_documents(pl.DataFrame({"text": ["x"]}).lazy())


@pytest.mark.parametrize(
    ("given", "hint"),
    [
        (b"one text", r"put it into a list"),
        ({"text": "one"}, r"put it into a list"),
        ({"text": ["one", "two"]}, r"pyarrow\.table\(documents\)"),
        (pl.LazyFrame({"text": ["one"]}), r"documents\.collect\(\)"),
        (7, None),
    ],
)
def test_hints_for_what_is_no_collection(given: Any, hint: str | None) -> None:
    with pytest.raises(ParameterError, match="cannot read") as found:
        open_documents(given)
    assert found.value.hint is None if hint is None else re.search(hint, str(found.value.hint))


def test_any_python_value_of_a_mixed_column() -> None:
    frame = pd.DataFrame({"text": ["a", 5, None, b"caf\xe9 cr\xe8me", float("nan")]}, dtype=object)
    documents = open_documents(frame)
    assert texts(documents) == ["a", "café crème"]
    assert documents.skipped.reasons == {"no text": 3}
