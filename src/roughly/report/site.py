"""The site a document comes from: an address's host, else the first folder of a path.

Folders that all paths share say nothing and are passed over. The work is Arrow's, column by column:
there may be tens of millions of ids.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from itertools import takewhile
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

# The scheme, perhaps a user, then the host, which in brackets may hold colons.
_HOST = r"^[A-Za-z][A-Za-z0-9+.\-]*://(?:[^/?#@]*@)?(?P<site>\[[^\]/?#]*\]|[^/?#:]*)"
_FOLDER = r"^/*(?P<site>[^/]+)/"


def sites(ids: Any, shared: str | None = None) -> pa.ChunkedArray:
    """The site of every id; "" where it names none. `shared` are the folders that all paths share,
    where these ids are not all there are."""
    hosts, paths = _hosts_and_paths(_chunked(ids))
    if shared is None:
        shared = shared_folders([ids])
    below = pc.utf8_slice_codeunits(paths, len(shared))
    folders = pc.struct_field(pc.extract_regex(below, _FOLDER), "site")
    # Where there is no folder below those that all share: the last of these.
    last = shared.rstrip("/").rpartition("/")[2]
    folders = pc.if_else(pc.is_valid(paths), pc.fill_null(folders, last), paths)
    return pc.fill_null(pc.coalesce(hosts, folders), "")


def site_codes(parts: Callable[[], Iterable[Any]]) -> tuple[npt.NDArray[np.int32], list[str]]:
    """The site of every id as a place among names, and these names. `parts` gives all ids, some at
    a time; they are read twice only if there are paths among them, for what all share is known when
    all were seen."""
    known: dict[str, int] = {}
    found = [np.zeros(0, np.int32)]
    for ids in parts():
        hosts, paths = _hosts_and_paths(_chunked(ids))
        if paths.null_count < len(paths):
            shared = shared_folders(parts())
            named = (sites(each, shared) for each in parts())
            known.clear()
            return np.concatenate([_codes(each, known) for each in named]), list(known)
        found.append(_codes(pc.fill_null(hosts, ""), known))
    return np.concatenate(found), list(known)


def _codes(names: pa.ChunkedArray, known: dict[str, int]) -> npt.NDArray[np.int32]:
    """Names as places among those that are known, to which new ones are added."""
    coded = names.combine_chunks().dictionary_encode()
    places = [known.setdefault(each, len(known)) for each in coded.dictionary.to_pylist()]
    found: npt.NDArray[np.int32] = np.array(places, np.int32)[coded.indices.to_numpy()]
    return found


def shared_folders(columns: Iterable[Any]) -> str:
    """What all paths among some columns of ids begin with, up to a slash; "" without paths."""
    first: str | None = None
    last = ""
    for ids in columns:
        ends = pc.min_max(_hosts_and_paths(_chunked(ids))[1]).as_py()
        if ends["min"] is not None:
            first = ends["min"] if first is None else min(first, ends["min"])
            last = max(last, ends["max"])
    # What the first and the last in order begin with, all begin with.
    both = takewhile(lambda pair: pair[0] == pair[1], zip(first or "", last, strict=False))
    shared = "".join(character for character, _ in both)
    return shared[: shared.rfind("/") + 1]


def _hosts_and_paths(ids: pa.ChunkedArray) -> tuple[Any, Any]:
    """Of every id the one or the other, or neither."""
    none = pa.scalar(None, pa.large_string())
    ids = pc.replace_substring_regex(ids.cast(pa.large_string()), "^file://", "")
    hosts = pc.utf8_lower(pc.struct_field(pc.extract_regex(ids, _HOST), "site"))
    path = pc.and_(pc.is_null(hosts), pc.match_substring(ids, "/"))
    return hosts, pc.if_else(path, ids, none)


def _chunked(column: Any) -> pa.ChunkedArray:
    return column if isinstance(column, pa.ChunkedArray) else pa.chunked_array([column])
