"""Dates as they stand in records, in the one form that sorts: ISO 8601, in UTC, as text.

`2026`, `2026-11`, `2026-11-15` and `2026-11-15T08:30:00Z` (with fractions or without) stay as they
are, so that precision is neither lost nor invented. Read as well: a space for the T, offsets from
UTC, the digits alone as web archives have them (`20261115083000`), seconds or milliseconds since
1970, and the dates of mail and HTTP headers. What is no date becomes null.
"""

from __future__ import annotations

import re
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from functools import lru_cache

import pyarrow as pa
import pyarrow.compute as pc

# The form that is kept; the calendar is not asked, as an impossible day still sorts.
_DAY = r"[0-9]{4}(-(0[1-9]|1[0-2])(-(0[1-9]|[12][0-9]|3[01])"
_ISO = rf"^{_DAY}(T([01][0-9]|2[0-3]):[0-5][0-9](:[0-5][0-9]|:60)(\.[0-9]{{1,9}})?Z)?)?)?$"

_ISO_DATE = re.compile(_ISO)
_DIGITS = re.compile(r"[0-9]+(\.[0-9]*)?")
# 2001-09-09 in seconds, and the same in milliseconds; up to the year 2286.
_SECONDS = range(1_000_000_000, 10_000_000_000)


def iso_dates(column: pa.Array) -> tuple[pa.Array, int]:
    """A column of any type as dates, and how many values were no dates."""
    if pa.types.is_dictionary(column.type):
        column = column.dictionary_decode()
    if pa.types.is_null(column.type):
        return pa.nulls(len(column), pa.string()), 0
    if pa.types.is_timestamp(column.type):
        # Arrow counts zoned timestamps in UTC; one without a zone is taken for UTC.
        utc = column.cast(pa.timestamp("us", "UTC"), safe=False)
        whole = pc.strftime(utc.cast(pa.timestamp("s", "UTC"), safe=False), "%Y-%m-%dT%H:%M:%SZ")
        return whole.cast(pa.string()), 0
    if pa.types.is_date(column.type):
        return column.cast(pa.date32()).cast(pa.string()), 0
    try:
        text = column.cast(pa.string())
    except pa.ArrowInvalid:  # bytes that are no UTF-8, or a type without a text
        return pa.nulls(len(column), pa.string()), len(column) - column.null_count
    good = pc.match_substring_regex(text, _ISO)
    if pc.all(good).as_py() in (True, None):
        return text, 0
    # Few different values, or few that are not in the form: a cache makes either cheap.
    given = text.to_pylist()
    read = [
        value if fine or value is None else iso_date(value)
        for value, fine in zip(given, good.to_pylist(), strict=True)
    ]
    failed = sum(old is not None and new is None for old, new in zip(given, read, strict=True))
    return pa.array(read, pa.string()), failed


@lru_cache(maxsize=1 << 16)
def iso_date(value: str) -> str | None:
    """One date; None if it is none. An empty one is none."""
    value = value.strip()
    if _ISO_DATE.match(value):
        return value
    try:
        if _DIGITS.fullmatch(value):
            return _of_digits(value)
        if value[:1].isdigit():
            return _iso(datetime.fromisoformat(value), len(value) <= 10)
        return _iso(parsedate_to_datetime(value), False) if value else None
    except (ValueError, OverflowError, TypeError):
        return None


def _of_digits(value: str) -> str | None:
    digits, _, _ = value.partition(".")
    if len(digits) in (8, 14):
        form = "%Y%m%d" if len(digits) == 8 else "%Y%m%d%H%M%S"
        return _iso(datetime.strptime(digits, form), len(digits) == 8)
    number = int(digits)
    if number not in _SECONDS:
        number //= 1000
    if number not in _SECONDS:
        return None
    return _iso(datetime.fromtimestamp(number, UTC), False)


def _iso(moment: datetime, day: bool) -> str:
    if day:
        return f"{moment:%Y-%m-%d}" if moment.year > 999 else f"{moment.year:04}-{moment:%m-%d}"
    if moment.tzinfo is not None:
        moment = moment.astimezone(UTC).replace(tzinfo=None)
    return moment.isoformat(timespec="auto") + "Z"
