"""The settings of the add-on, read and checked once; docs/scrapy.md has the table of them.

A name that begins with ROUGHLY_ and is none of these is an error: a misspelt setting would be one
that does nothing.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from roughly.errors import ParameterError
from roughly.hamming.design import check_k
from roughly.parameters import check_integer
from roughly.simhashing.simhasher import Simhasher

DEFAULTS: dict[str, Any] = {
    "ROUGHLY_ENABLED": True,
    "ROUGHLY_ACTION": "drop",
    "ROUGHLY_PRIORITY": -10,
    "ROUGHLY_K": 3,
    "ROUGHLY_MIN_WORDS": 50,
    "ROUGHLY_FEATURES": "shingles:3",
    "ROUGHLY_WEIGHTS": "count",
    "ROUGHLY_STOP_WORDS": None,
    "ROUGHLY_STEM": None,
    "ROUGHLY_KEEP": (),
    "ROUGHLY_DIRECTORY": None,
    "ROUGHLY_STATS_URLS": 20,
    "ROUGHLY_SERVICE": None,
    "ROUGHLY_SERVICE_TOKEN": None,
    "ROUGHLY_SERVICE_TIMEOUT": 5.0,
    "ROUGHLY_SERVICE_DOWN": "keep",
}


@dataclass(frozen=True, slots=True)
class Options:
    """What the settings say."""

    demote: bool  # rather than drop
    priority: int  # added to that of a demoted page's links
    k: int
    min_words: int
    simhasher: Simhasher
    keep: re.Pattern[str] | None  # URLs of pages that are never dropped
    directory: Path | None  # None: one that goes with the crawl
    stats_urls: int
    service: str | None
    token: str | None
    timeout: float  # seconds
    close_when_down: bool


def read_options(settings: Any) -> Options:
    """Of Scrapy's settings; raises ParameterError."""
    for name in settings:
        if str(name).startswith("ROUGHLY_") and name not in DEFAULTS:
            raise ParameterError(
                f"{name}: unknown setting, wanted one of {', '.join(DEFAULTS)}",
                hint="docs/scrapy.md says what each of them does",
            )

    def value(name: str) -> Any:
        found = settings.get(name)
        return DEFAULTS[name] if found is None else found

    def number(name: str, least: int, most: int) -> int:
        try:  # on Scrapy's command line all settings are strings
            return check_integer(name, int(value(name)), least, most)
        except (TypeError, ValueError) as error:
            if isinstance(error, ParameterError):
                raise
            raise ParameterError(
                f"{name}: no number: {value(name)!r}, wanted {least} to {most}"
            ) from error

    def choice(name: str, *words: str) -> str:
        if value(name) not in words:
            wanted = " or ".join(map(repr, words))
            raise ParameterError(f"{name}: unknown: {value(name)!r}, wanted {wanted}")
        return str(value(name))

    directory = settings.get("ROUGHLY_DIRECTORY")
    if directory is None and settings.get("JOBDIR"):
        directory = Path(settings["JOBDIR"]) / "roughly"
    service = settings.get("ROUGHLY_SERVICE")
    return Options(
        demote=choice("ROUGHLY_ACTION", "drop", "demote") == "demote",
        priority=number("ROUGHLY_PRIORITY", -(1 << 31), 1 << 31),
        k=check_k(number("ROUGHLY_K", 0, 64)),
        min_words=number("ROUGHLY_MIN_WORDS", 1, 1 << 31),
        simhasher=Simhasher(
            value("ROUGHLY_FEATURES"),
            value("ROUGHLY_WEIGHTS"),
            value("ROUGHLY_STOP_WORDS"),
            value("ROUGHLY_STEM"),
        ),
        keep=_pattern(settings.getlist("ROUGHLY_KEEP")),
        directory=None if directory is None else Path(directory),
        stats_urls=number("ROUGHLY_STATS_URLS", 0, 1 << 31),
        service=None if service is None else str(service),
        token=settings.get("ROUGHLY_SERVICE_TOKEN"),
        timeout=_seconds("ROUGHLY_SERVICE_TIMEOUT", value("ROUGHLY_SERVICE_TIMEOUT")),
        close_when_down=choice("ROUGHLY_SERVICE_DOWN", "keep", "close") == "close",
    )


def _pattern(patterns: list[str]) -> re.Pattern[str] | None:
    for pattern in patterns:
        try:
            re.compile(pattern)
        except re.error as error:
            raise ParameterError(
                f"ROUGHLY_KEEP: no regular expression: {pattern!r}: {error}",
                hint="give patterns of URLs, as ['/archive/', '[?]page=']",
            ) from error
    return re.compile("|".join(f"(?:{pattern})" for pattern in patterns)) if patterns else None


def _seconds(name: str, value: Any) -> float:
    try:
        found = float(value)
    except (TypeError, ValueError):
        found = -1.0
    if not 0 < found < 3600:
        raise ParameterError(f"{name}: out of range: {value!r}, wanted seconds, as 5")
    return found
