"""How alike two URLs are: evidence that costs nothing and decides between pages of equal text."""

from __future__ import annotations

import re
from functools import lru_cache

from roughly.url import is_url, split_url

_EXTENSION = re.compile(r"\.[a-z0-9]{1,5}$")
_WORD = re.compile(r"[a-z0-9]+|[^\x00-\x7f]+")
# Last names that say nothing: the directory's is taken.
_INDEX = {"index", "default", "home", "welcome", "main"}

# URLs that are remembered: each is held against several others in turn.
_RECENT = 1 << 12


def same_name(one: str, other: str) -> bool:
    """Whether the paths end in the same name, directories' index files and extensions aside."""
    name = last_name(one)
    return bool(name) and name == last_name(other)


@lru_cache(_RECENT)
def last_name(url: str) -> str:
    """The last name of a path that says something, in lower case; empty if there is none."""
    path, query = _path(url)
    names = [_EXTENSION.sub("", name) for name in path.split("/")]
    names = [name for name in names if name and name not in _INDEX]
    return (names[-1] if names else "") + (f"?{query}" if query else "")


def nearness(one: str, other: str) -> float:
    """From 0 to 2: the share of words that both paths have, and whether the host is the same."""
    a, b = _words(one), _words(other)
    shared = len(a & b) / max(1, len(a | b))
    return shared + (_host(one) == _host(other))


@lru_cache(_RECENT)
def _words(url: str) -> frozenset[str]:
    path, query = _path(url)
    return frozenset(_WORD.findall(f"{path} {query}"))


@lru_cache(_RECENT)
def _host(url: str) -> str | None:
    return split_url(url).host if is_url(url) else None


def _path(url: str) -> tuple[str, str]:
    if not is_url(url):
        return url.lower(), ""
    parts = split_url(url)
    return parts.path.lower(), (parts.query or "").lower()
