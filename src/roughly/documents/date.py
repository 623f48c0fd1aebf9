"""Dates as they stand in records, in the one form that sorts: ISO 8601, in UTC, as text.

`2026`, `2026-11`, `2026-11-15` stay as they are, so that precision is neither lost nor invented.
Times are `2026-11-15T08:30:00`, or `2026-11-15T08:30:00.25` with a fraction: in UTC always and
therefore without a Z, which would sort after the point of a fraction; and without zeros at the end
of a fraction. So the order of the texts is that of the times, and equal times are equal texts.
Read as well: a space for the T, offsets from UTC, the digits alone as web archives have them
(`20261115083000`), seconds or milliseconds since 1970, and the dates of mail and HTTP headers. What
is no date, or not in the years 1 to 9999, becomes null.
"""

from __future__ import annotations

import re
from datetime import UTC, datetime
from datetime import date as calendar_date
from email.utils import parsedate_to_datetime
from functools import lru_cache

import pyarrow as pa
import pyarrow.compute as pc

_YEAR = r"(000[1-9]|00[1-9][0-9]|0[1-9][0-9]{2}|[1-9][0-9]{3})"
_CLOCK = r"(T([01][0-9]|2[0-3]):[0-5][0-9](:[0-5][0-9]|:60)(\.[0-9]{1,9})?Z?)?"
# What has the form, whether or not the calendar has the day.
_FORM = rf"^{_YEAR}(-[0-9]{{2}}(-[0-9]{{2}}{_CLOCK})?)?$"
# What needs no more than `_TIME` to be a date. The 29th of February is asked of the calendar.
_MONTH = r"(0[1-9]|1[0-2])"
_DAY = (
    r"((0[1-9]|1[0-2])-(0[1-9]|1[0-9]|2[0-8])"
    r"|(0[13-9]|1[0-2])-(29|30)|(0[13578]|1[02])-31)"
)
_ISO = rf"^{_YEAR}(-({_MONTH}|{_DAY}{_CLOCK}))?$"

# A time: what is kept are the first two groups.
_TIME = r"(T[0-9:]{8})(\.[0-9]*[1-9])?(\.0+|0*)Z?$"

_ISO_FORM = re.compile(_FORM)
_ISO_TIME = re.compile(_TIME)
_DIGITS = re.compile(r"[0-9]+(\.[0-9]*)?")
# 2001-09-09 in seconds, and the same in milliseconds; up to the year 2286.
_SECONDS = range(1_000_000_000, 10_000_000_000)
# The years 1 to 9999, in seconds since 1970.
_FIRST_SECOND, _END_SECOND = -62_135_596_800, 253_402_300_800
_PER_SECOND = {"s": 1, "ms": 1_000, "us": 1_000_000, "ns": 1_000_000_000}


def iso_dates(column: pa.Array) -> tuple[pa.Array, int]:
    """A column of any type as dates, and how many values were no dates."""
    if pa.types.is_dictionary(column.type):
        column = column.dictionary_decode()
    if pa.types.is_null(column.type):
        return pa.nulls(len(column), pa.string()), 0
    if pa.types.is_timestamp(column.type):
        # Arrow counts zoned timestamps in UTC; one without a zone is taken for UTC.
        unit = column.type.unit
        count, failed = _in_range(column.cast(pa.int64()), unit)
        text = pc.strftime(count.cast(pa.timestamp(unit)), "%Y-%m-%dT%H:%M:%S")
        return _trimmed(text.cast(pa.string())), failed
    if pa.types.is_date(column.type):
        count, failed = _in_range(column.cast(pa.date64()).cast(pa.int64()), "ms")
        return count.cast(pa.timestamp("ms")).cast(pa.date32()).cast(pa.string()), failed
    unread = 0
    try:
        text = column.cast(pa.string())
    except pa.ArrowNotImplementedError:  # a type without a text, as a list
        return _none_of(column)
    except pa.ArrowInvalid:  # bytes that are no UTF-8, some of them
        text = pa.array([_utf8(value) for value in column.to_pylist()], pa.string())
        unread = text.null_count - column.null_count
    good = pc.match_substring_regex(text, _ISO)
    if pc.all(good).as_py() in (True, None):
        return _trimmed(text), unread
    # Few different values, or few that are not in the form: a cache makes either cheap.
    given = text.to_pylist()
    read = [
        value if fine or value is None else iso_date(value)
        for value, fine in zip(given, good.to_pylist(), strict=True)
    ]
    failed = sum(old is not None and new is None for old, new in zip(given, read, strict=True))
    return _trimmed(pa.array(read, pa.string())), failed + unread


def can_be_dates(type: pa.DataType) -> bool:
    """Whether a column of a type can hold dates: lists and objects cannot."""
    if pa.types.is_dictionary(type):
        type = type.value_type
    try:
        pa.nulls(0, type).cast(pa.string())
    except (pa.ArrowNotImplementedError, pa.ArrowInvalid):
        return False
    return True


def _none_of(column: pa.Array) -> tuple[pa.Array, int]:
    return pa.nulls(len(column), pa.string()), len(column) - column.null_count


def _in_range(count: pa.Array, unit: str) -> tuple[pa.Array, int]:
    """Times since 1970, null where the year has not four digits; and how many those are."""
    scale = _PER_SECOND[unit]
    first, last = max(_FIRST_SECOND * scale, -(2**63)), min(_END_SECOND * scale, 2**63) - 1
    inside = pc.and_(pc.greater_equal(count, first), pc.less_equal(count, last))
    kept = pc.if_else(inside, count, pa.scalar(None, pa.int64()))
    return kept, kept.null_count - count.null_count


def _trimmed(text: pa.Array) -> pa.Array:
    """Times without Z and without zeros at the end of a fraction."""
    if not pc.any(pc.match_substring(text, "T")).as_py():
        return text
    return pc.replace_substring_regex(text, _TIME, r"\1\2")


def _utf8(value: bytes | None) -> str | None:
    try:
        return None if value is None else value.decode()
    except UnicodeDecodeError:
        return None


@lru_cache(maxsize=1 << 16)
def iso_date(value: str) -> str | None:
    """One date; None if it is none. An empty one is none."""
    value = value.strip()
    try:
        if _ISO_FORM.match(value):
            # Of a year or a month the first day stands for it.
            calendar_date.fromisoformat(value[:10] + "-01-01"[len(value) - 4 :])
            return _ISO_TIME.sub(r"\1\2", value)
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
    return _ISO_TIME.sub(r"\1\2", moment.isoformat())
