"""What pages about time are asked: a URL, dates of sweeps, what counts as one sweep; checked here,
so that whatever comes is refused in words."""

from __future__ import annotations

import re
from typing import get_args

from roughly.corpus.sweeps import UNDATED, Period, sweep_numbers
from roughly.documents.file import printable
from roughly.errors import ParameterError
from roughly.web.job import state_of
from roughly.web.pages.page import Query, View

PERIODS: tuple[Period, ...] = get_args(Period)
MOST_CHARACTERS = 4000
# Sweeps that a page offers; of more the latest.
MOST_SWEEPS = 400

# What was asked for last, by corpus, state and period: of a large corpus all dates are many.
_known: dict[tuple[str, str, str], list[str]] = {}
_KEPT = 16

_DATE = re.compile(r"[0-9]{4}(-[0-9]{2}(-[0-9]{2})?)?")


def url_of(query: Query) -> str:
    """The URL that is asked for; empty if none is."""
    url = query.get("url")
    if len(url) > MOST_CHARACTERS:
        raise ParameterError(
            f"url: too long: {len(url):,} characters, wanted at most {MOST_CHARACTERS:,}"
        )
    return url


def period_of(query: Query) -> Period:
    """What is one sweep."""
    by = query.get("by") or "day"
    if by not in PERIODS:
        raise ParameterError(
            f"by: unknown: {printable(by[:40])}, wanted one of {', '.join(PERIODS)}"
        )
    return by


def date_of(query: Query, name: str) -> str | None:
    """The date of a sweep, of which a part will do; None if none is given."""
    date = query.get(name)
    if not date:
        return None
    if date != UNDATED and not _DATE.fullmatch(date):
        raise ParameterError(
            f"{name}: not a date: {printable(date[:40])}, wanted one as 2026-07-01, 2026-07 or 2026"
        )
    return date


def yes(query: Query, name: str) -> bool:
    """Whether a box is ticked."""
    return query.get(name) in ("1", "on", "true", "yes")


def share_of(query: Query, name: str, default: float) -> float:
    """A number from 0 to 1."""
    given = query.get(name)
    if not given:
        return default
    try:
        value = float(given) if len(given) < 20 else -1.0
    except ValueError:
        value = -1.0
    if not 0 <= value <= 1:
        raise ParameterError(f"{name}: out of range: {printable(given[:40])}, wanted 0 to 1")
    return value


def sweeps_of(view: View, by: Period) -> list[str]:
    """The dates of all sweeps, ascending."""
    key = str(view.path), state_of(view.corpus), by
    found = _known.get(key)
    if found is None:
        found = sweep_numbers(view.corpus.collection, by)[0]
        if len(_known) >= _KEPT:
            _known.clear()
        _known[key] = found
    return found
