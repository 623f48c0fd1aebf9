"""Whether pairs are of one site: the site of a document is the host of its URL. Pairs of which one
document has no URL are neither of one site nor of two."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from roughly.url import host_of

Numbers = npt.NDArray[np.int64]


class SitePairs(NamedTuple):
    """Pairs that were found."""

    same: int  # of documents of one site
    cross: int  # of documents of two


def site_numbers(ids: pa.Array) -> Numbers:
    """A number for the host of each id, the same for the same host; -1 where it is no URL."""
    hosts = host_of(ids).dictionary_encode()
    numbers: Numbers = pc.fill_null(hosts.indices, -1).to_numpy().astype(np.int64)
    return numbers


def same_site(a: Numbers, b: Numbers) -> pa.Array:
    """Of pairs of such numbers whether both are the same; null where one is none."""
    return pa.array(a == b, mask=(a < 0) | (b < 0))
