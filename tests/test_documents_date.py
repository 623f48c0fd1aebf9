"""Dates of documents: what is read as one, that they sort as texts, and what is none."""

import json
from datetime import UTC, date, datetime, timedelta, timezone
from pathlib import Path

import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given
from hypothesis import strategies as st

from roughly.documents import open_documents
from roughly.documents.date import iso_date, iso_dates
from roughly.errors import DocumentError
from tests.reading import read, rows

# value in a record -> date of the document
DATES = {
    "2026": "2026",
    "2026-11": "2026-11",
    "2026-11-15": "2026-11-15",
    "2026-11-15T08:30:00Z": "2026-11-15T08:30:00",
    "2026-11-15T08:30:00.25Z": "2026-11-15T08:30:00.25",
    "2026-11-15T08:30:00.2500": "2026-11-15T08:30:00.25",
    "2026-11-15T08:30:00.000Z": "2026-11-15T08:30:00",
    "2026-11-15T08:30:10Z": "2026-11-15T08:30:10",
    "2026-11-15T08:30:00.123456789Z": "2026-11-15T08:30:00.123456789",
    "2026-11-15T10:30:00.500+02:00": "2026-11-15T08:30:00.5",
    "2026-11-15 08:30:00": "2026-11-15T08:30:00",
    "2026-11-15T08:30": "2026-11-15T08:30:00",
    "2026-11-15T10:30:00+02:00": "2026-11-15T08:30:00",
    "20261115": "2026-11-15",
    "20261115083000": "2026-11-15T08:30:00",
    "1794731400": "2026-11-15T08:30:00",
    "1794731400000": "2026-11-15T08:30:00",
    "1794731400.5": "2026-11-15T08:30:00",
    "Sun, 15 Nov 2026 08:30:00 GMT": "2026-11-15T08:30:00",
    "Sun, 15 Nov 2026 10:30:00 +0200": "2026-11-15T08:30:00",
    "yesterday": None,
    "2026-13-01": None,
    "2026-00-01": None,
    "2026-00": None,
    "2026-13": None,
    # days that no calendar has
    "2026-02-30": None,
    "2026-02-29": None,
    "1900-02-29": None,
    "2026-04-31": None,
    "2026-11-31T08:30:00Z": None,
    "2026-01-32": None,
    "2026-01-00": None,
    "20260230": None,
    "20260230083000": None,
    "Mon, 30 Feb 2026 08:30:00 GMT": None,
    "0000-01-01": None,
    "0000": None,
    # and the last days of months
    "2028-02-29": "2028-02-29",
    "2000-02-29T08:30:00.123456789Z": "2000-02-29T08:30:00.123456789",
    "2026-02-28": "2026-02-28",
    "2026-01-31": "2026-01-31",
    "2026-04-30": "2026-04-30",
    "2016-12-31T23:59:60Z": "2016-12-31T23:59:60",
    "0001-01-01": "0001-01-01",
    "99": None,
    "": None,
}


@pytest.mark.parametrize("given", DATES)
def test_dates(given: str) -> None:
    assert iso_dates(pa.array([given, None]))[0].to_pylist() == [DATES[given], None]
    assert iso_date(given) == DATES[given]


def test_every_day_of_a_calendar() -> None:
    """Of a leap year and of one that is none: what Python's calendar has, and nothing else."""
    days = [
        f"{year}-{month:02}-{day:02}"
        for year in (1900, 2000, 2026, 2028)
        for month in range(14)
        for day in range(33)
    ]
    read = iso_dates(pa.array(days))[0].to_pylist()
    assert read == [iso_date(day) for day in days]
    for day, found in zip(days, read, strict=True):
        try:
            assert date.fromisoformat(day).isoformat() == found
        except ValueError:
            assert found is None


moments = st.datetimes(datetime(1, 1, 1), datetime(9999, 12, 31)) | st.sampled_from(
    [datetime(2026, 11, 15, 8, 30, 0, micro) for micro in (0, 1, 250_000, 500_000, 999_999)]
)


@given(st.lists(moments, min_size=2, max_size=8))
def test_dates_sort_as_their_times(given: list[datetime]) -> None:
    """Whatever wrote them: with Z, with an offset, as Arrow's timestamps of each precision."""
    written = [f"{moment.isoformat()}Z" for moment in given]
    padded = [f"{moment.isoformat(timespec='microseconds')}+00:00" for moment in given]
    read = iso_dates(pa.array(written))[0].to_pylist()
    assert iso_dates(pa.array(padded))[0].to_pylist() == read
    assert iso_dates(pa.array(given, pa.timestamp("us")))[0].to_pylist() == read
    assert [iso_date(text) for text in written] == read
    times = sorted(zip(given, read, strict=True))
    assert [text for _, text in times] == sorted(read)
    assert len(set(read)) == len(set(given))
    # A day, a month or a year sorts before the times in it.
    assert all(text[:10] < text < f"{text[:10]}~" for text in read)


def test_timestamps_keep_fractions_and_out_of_range_is_no_date() -> None:
    second = 1794731400
    for unit, per_second in (("s", 1), ("ms", 10**3), ("us", 10**6), ("ns", 10**9)):
        column = pa.array([second * per_second, second * per_second + 1, None], pa.timestamp(unit))
        fraction = f"{1 / per_second:.9f}".rstrip("0")[1:]
        later = "2026-11-15T08:30:01" if unit == "s" else f"2026-11-15T08:30:00{fraction}"
        assert iso_dates(column) == (pa.array(["2026-11-15T08:30:00", later, None]), 0)
    for type in (pa.timestamp("s"), pa.timestamp("ms", "UTC"), pa.timestamp("us"), pa.date64()):
        column = pa.array([2**62, None, 0, -(2**62)]).cast(pa.int64()).view(type)
        found, failed = iso_dates(column)
        assert [text and text[:10] for text in found.to_pylist()] == [
            *(None, None, "1970-01-01", None)
        ]
        assert failed == 2
    assert iso_dates(pa.array([2**31 - 1], pa.date32())) == (pa.nulls(1, pa.string()), 1)


def test_one_date_that_is_no_utf8_costs_itself(tmp_path: Path) -> None:
    days = [b"2026-11-%d" % day for day in (11, 12, 13, 14, 15)]
    data = b"".join(
        b'{"text": "x", "date": "%s"}\n' % day for day in [*days[:2], b"\xff", *days[2:]]
    )
    found, documents = read(tmp_path / "a.jsonl", data)
    wanted = [day.decode() for day in days]
    assert [row["date"] for row in found] == [*wanted[:2], None, *wanted[2:]]
    assert documents.skipped.unread_dates == 1


def test_a_list_is_no_date(tmp_path: Path) -> None:
    table = pa.table({"text": ["x"], "date": [["2026"]], "time": [{"s": 1}], "created": ["2025"]})
    pq.write_table(table, tmp_path / "a.parquet")
    frame = pd.DataFrame({name: table[name].to_pylist() for name in table.column_names})
    frame["odd"] = [1j]
    for source in (tmp_path, tmp_path / "a.parquet", table, frame):
        documents = open_documents(source)
        assert [row["date"] for row in rows(documents)] == ["2025"]
        assert documents.skipped.unread_dates == 0
    for source in (tmp_path / "a.parquet", table, frame):
        with pytest.raises(DocumentError, match=r"field 'date' cannot be the date: it is of type"):
            list(open_documents(source, date_field="date"))
    assert iso_dates(pa.array([["2026"], None])) == (pa.nulls(2, pa.string()), 1)


def test_dates_of_other_types() -> None:
    moment = datetime(2026, 11, 15, 8, 30, tzinfo=UTC)
    east = moment.astimezone(timezone(timedelta(hours=2)))
    zoned = pa.array([east], pa.timestamp("ms", "Europe/Helsinki"))
    for column, wanted in (
        (zoned, "2026-11-15T08:30:00"),
        (pa.array([moment.replace(tzinfo=None)]), "2026-11-15T08:30:00"),
        (pa.array([date(2026, 11, 15)]), "2026-11-15"),
        (pa.array([1794731400]), "2026-11-15T08:30:00"),
        (pa.array(["2026"]).dictionary_encode(), "2026"),
        (pa.array([None]), None),
        (pa.array([b"\xff"]), None),
    ):
        assert iso_dates(column)[0].to_pylist() == [wanted]


def test_dates_that_are_none_are_counted(tmp_path: Path) -> None:
    records = [{"text": "x", "date": value} for value in ("2026", "soon", None, 1794731400, [])]
    found, documents = read(
        tmp_path / "x.jsonl", b"".join(json.dumps(record).encode() + b"\n" for record in records)
    )
    assert [row["date"] for row in found] == ["2026", None, None, "2026-11-15T08:30:00", None]
    assert documents.skipped.unread_dates == 2
    assert not documents.skipped
