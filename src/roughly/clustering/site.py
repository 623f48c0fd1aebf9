"""Whether pairs are of one site: the site of a document is the host of its URL. Pairs of which one
document has no URL are neither of one site nor of two."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import NamedTuple

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from roughly.clustering.sketches import PairTable
from roughly.url import host_of

Numbers = npt.NDArray[np.int32]


class SitePairs(NamedTuple):
    """Pairs that were found."""

    same: int  # of documents of one site
    cross: int  # of documents of two


def site_numbers(columns: Iterable[pa.Array]) -> Numbers:
    """A number for the host of each id of some columns, one after the other, the same for the same
    host; -1 where an id is no URL."""
    return np.concatenate([np.zeros(0, np.int32), *site_number_pieces(columns)])


def site_number_pieces(columns: Iterable[pa.Array]) -> Iterator[Numbers]:
    """The same column by column."""
    import pyarrow.compute as pc

    known: dict[str, int] = {}
    for ids in columns:
        hosts = host_of(ids).dictionary_encode()
        numbers = [known.setdefault(host, len(known)) for host in hosts.dictionary.to_pylist()]
        yield np.array([*numbers, -1], np.int32)[pc.fill_null(hosts.indices, -1).to_numpy()]


def same_site(a: Numbers, b: Numbers) -> pa.Array:
    """Of pairs of such numbers whether both are the same; null where one is none."""
    return pa.array(a == b, mask=(a < 0) | (b < 0))


def count_by_cluster(
    pairs: Iterable[PairTable],
    sites: Numbers,
    first: npt.NDArray[np.uint32],
    clusters: npt.NDArray[np.int64],
) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.int64]]:
    """How many pairs of each cluster are of one site, and how many of two. `first` has for every
    document the first one of its cluster, `clusters` those of the clusters asked for, ascending:
    all that have pairs."""
    counts = np.zeros((2, len(clusters)), np.int64)
    for table in pairs:
        a, b = table[:, 0], table[:, 1]
        # Stars leave some pairs between clusters.
        known = (sites[a] >= 0) & (sites[b] >= 0) & (first[a] == first[b])
        cross = sites[a] != sites[b]
        for kind in range(2):
            chosen = np.searchsorted(clusters, first[a[known & (cross == bool(kind))]])
            np.add.at(counts[kind], chosen, 1)
    return counts[0], counts[1]
