"""The site a document comes from: an address's host, else the first folder of a path.

Folders that all paths share say nothing and are passed over. The work is Arrow's, column by column:
there may be tens of millions of ids.
"""

from __future__ import annotations

from itertools import takewhile
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

# The scheme, perhaps a user, then the host, which in brackets may hold colons.
_HOST = r"^[A-Za-z][A-Za-z0-9+.\-]*://(?:[^/?#@]*@)?(?P<site>\[[^\]/?#]*\]|[^/?#:]*)"
_FOLDER = r"^/*(?P<site>[^/]+)/"


def sites(ids: pa.ChunkedArray) -> pa.ChunkedArray:
    """The site of every id; "" where it names none."""
    ids = pc.replace_substring_regex(_chunked(ids).cast(pa.large_string()), "^file://", "")
    hosts = pc.utf8_lower(pc.struct_field(pc.extract_regex(ids, _HOST), "site"))
    paths = pc.if_else(pc.is_valid(hosts), pa.scalar(None, pa.large_string()), ids)
    return pc.fill_null(pc.coalesce(hosts, _folders(paths)), "")


def _folders(paths: Any) -> Any:
    """The first folder below those that all paths share; where there is none, the last shared."""
    paths = pc.if_else(pc.match_substring(paths, "/"), paths, pa.scalar(None, pa.large_string()))
    ends = pc.min_max(paths).as_py()
    if ends["min"] is None:
        return paths
    # What the first and the last in order begin with, all begin with.
    both = takewhile(lambda pair: pair[0] == pair[1], zip(ends["min"], ends["max"], strict=False))
    shared = "".join(character for character, _ in both)
    shared = shared[: shared.rfind("/") + 1]
    below = pc.utf8_slice_codeunits(paths, len(shared))
    folders = pc.struct_field(pc.extract_regex(below, _FOLDER), "site")
    last = shared.rstrip("/").rpartition("/")[2]
    return pc.if_else(pc.is_valid(paths), pc.fill_null(folders, last), paths)


def _chunked(column: Any) -> pa.ChunkedArray:
    return column if isinstance(column, pa.ChunkedArray) else pa.chunked_array([column])
