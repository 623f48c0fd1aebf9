"""Which pairs of documents count: the method, and the conditions that two documents must meet.

A pair is comparable if its documents are of one category, if neither is much larger than the other,
and, where both methods are asked for, if their simhashes differ in few bits. A document's size is
its number of distinct shingles; its category is its host or a field of the input, where none is a
category like any other; an empty document has no simhash and is near none.

Identical and lexically equivalent documents have equal sizes and simhashes, so only the category
tells them apart; documents with the same sketch may have other simhashes too. `keyed` sees to that.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from fractions import Fraction
from typing import TYPE_CHECKING, Any, Literal, cast, get_args

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from roughly import _core
from roughly.errors import MismatchError, ParameterError
from roughly.parameters import check_integer, exact_ratio
from roughly.simhashing.parameters import SimhashParameters
from roughly.simhashing.simhasher import Simhasher
from roughly.url import host_of

if TYPE_CHECKING:
    from roughly.storage.collection import Stored

Method = Literal["shingles", "simhash", "both"]
METHODS: tuple[Method, ...] = get_args(Method)

HOST = "host"
DISTANCE = 3
LARGEST_DISTANCE = 10
SIMHASH_BITS = 64
NO_SIMHASH = 255
"""The distance of documents of which one has no simhash."""

Rows = npt.NDArray[Any]
Hashes = npt.NDArray[np.uint64]  # two columns


@dataclass(frozen=True, slots=True)
class Condition:
    """What documents are compared by, and which of them."""

    method: Method = "shingles"
    distance: int = DISTANCE  # bits in which simhashes may differ
    size_ratio: Fraction | None = None  # of the smaller document to the larger, at least
    within: str | None = None  # "host", or the name of the field that has the category
    simhash: SimhashParameters | None = None  # what simhashes are made with, if the method has any

    @property
    def filters(self) -> bool:
        """Whether there are pairs that are not comparable."""
        return self.method == "both" or self.size_ratio is not None or self.within is not None

    @property
    def category_field(self) -> str | None:
        """The field that the readers must give, if any."""
        return None if self.within == HOST else self.within

    @property
    def simhasher(self) -> Simhasher | None:
        """What makes the simhashes that are asked for."""
        p = self.simhash
        if p is None:
            return None
        return Simhasher(
            p.features,
            cast("Literal['count', 'once']", p.weights),
            None if p.stop_words == "none" else p.stop_words,
            None if p.stem == "none" else cast("Literal['english']", p.stem),
            p.seed,
        )

    def to_dict(self) -> dict[str, Any]:
        """As it is recorded with a run."""
        plain = asdict(self)
        plain["size_ratio"] = None if self.size_ratio is None else str(self.size_ratio)
        return plain

    @classmethod
    def from_dict(cls, plain: dict[str, Any]) -> Condition:
        ratio, simhash = plain["size_ratio"], plain["simhash"]
        return cls(
            plain["method"],
            plain["distance"],
            None if ratio is None else Fraction(ratio),
            plain["within"],
            None if simhash is None else SimhashParameters(**simhash),
        )


NO_CONDITION = Condition()


def make_condition(
    method: str | None = None,
    distance: int | None = None,
    size_ratio: float | str | Fraction | None = None,
    within: str | None = None,
    simhasher: Simhasher | None = None,
) -> Condition:
    """The condition of some options, or an error that says which of them is wrong."""
    method = "shingles" if method is None else method
    if method not in METHODS:
        raise ParameterError(f"method: unknown: {method!r}, wanted one of {', '.join(METHODS)}")
    for name, value in (("distance", distance), ("simhasher", simhasher)):
        if value is not None and method == "shingles":
            raise ParameterError(
                f"{name}: nothing to apply to: simhashes play no part",
                hint="choose the method simhash or both",
            )
    simhasher = Simhasher() if simhasher is None else simhasher
    if simhasher.parameters.weights not in ("count", "once") or (
        simhasher.parameters.stop_words not in ("none", "english")
    ):
        raise ParameterError(
            "simhasher: cannot be kept with documents: it has a table of frequencies or a list of"
            " stop words of its own",
            hint="take weights 'count' or 'once' and the stop words 'english' or none",
        )
    return Condition(
        method,
        check_integer("distance", DISTANCE if distance is None else distance, 0, LARGEST_DISTANCE),
        None if size_ratio is None else exact_ratio("size ratio", size_ratio, 31),
        within,
        None if method == "shingles" else simhasher.parameters,
    )


@dataclass(frozen=True, slots=True)
class Attributes:
    """What a condition looks at, of all rows of a collection, in memory."""

    condition: Condition
    size: npt.NDArray[np.uint32]
    simhash: npt.NDArray[np.uint64] | None = None
    has_simhash: npt.NDArray[np.bool_] | None = None
    category: npt.NDArray[np.uint64] | None = None  # a hash of it

    @classmethod
    def of(cls, stored: Stored, condition: Condition) -> Attributes:
        """Of stored documents; an error if they were stored without what is needed."""
        check_stored(stored, condition)
        simhash = has_simhash = category = None
        if condition.simhash is not None:
            import pyarrow.compute as pc

            column = stored.column("simhash")
            has_simhash = pc.is_valid(column).to_numpy()
            simhash = pc.fill_null(column, 0).to_numpy()
        if condition.within is not None:
            category = _categories(stored, condition)
        return cls(condition, stored.size, simhash, has_simhash, category)

    @classmethod
    def joined(cls, parts: Sequence[Attributes], gaps: Sequence[int]) -> Attributes:
        """Those of several collections, one behind the other, with some rows that are nobody's
        behind each."""

        def together(name: str) -> Any:
            columns = [getattr(part, name) for part in parts]
            if columns[0] is None:
                return None
            filled = [np.pad(c, (0, gap)) for c, gap in zip(columns, gaps, strict=True)]
            return np.concatenate(filled)

        names = ("size", "simhash", "has_simhash", "category")
        return cls(parts[0].condition, *map(together, names))

    def comparable(self, a: Rows, b: Rows) -> npt.NDArray[np.bool_]:
        """Whether documents are comparable, row for row."""
        met = np.ones(len(a), bool)
        if self.category is not None:
            met &= self.category[a] == self.category[b]
        if self.condition.size_ratio is not None:
            one, other = self.size[a].astype(np.uint64), self.size[b].astype(np.uint64)
            p, q = self.condition.size_ratio.as_integer_ratio()
            # Both sides are below 2^64, for sizes and a ratio's parts are below 2^32.
            met &= np.minimum(one, other) * np.uint64(q) >= np.maximum(one, other) * np.uint64(p)
        if self.condition.method == "both":
            met &= self.distance(a, b) <= self.condition.distance
        return met

    def alike(self, rows: Rows) -> list[npt.NDArray[Any]]:
        """Numbers of some rows that are all equal only for documents of one category and, up to
        rounding, of like size."""
        keys: list[npt.NDArray[Any]] = [] if self.category is None else [self.category[rows]]
        ratio = self.condition.size_ratio
        if ratio is not None:
            size = np.maximum(self.size[rows], 1)
            keys.append(size if ratio == 1 else np.log(size) // -np.log(float(ratio)))
        return keys

    def distance(self, a: Rows, b: Rows) -> npt.NDArray[np.uint8]:
        """The bits in which simhashes differ, row for row."""
        assert self.simhash is not None and self.has_simhash is not None
        bits: npt.NDArray[np.uint8] = np.bitwise_count(self.simhash[a] ^ self.simhash[b])
        bits[~(self.has_simhash[a] & self.has_simhash[b])] = NO_SIMHASH
        return bits

    def plain(
        self,
    ) -> tuple[npt.NDArray[np.uint64] | None, npt.NDArray[np.uint64] | None, int, tuple[int, int]]:
        """The same for the core: categories, simhashes, distance, ratio of sizes."""
        category, simhash = self.category, None
        if self.condition.method == "both":
            assert self.simhash is not None and self.has_simhash is not None
            simhash = self.simhash
            if not self.has_simhash.all():
                # Who has no simhash is near none: of a category of its own, but for chance.
                own = _mixed(np.arange(1, len(simhash) + 1, dtype=np.uint64))
                others = np.zeros(len(simhash), np.uint64) if category is None else category
                category = np.where(self.has_simhash, others, own)
        ratio = self.condition.size_ratio
        least = (0, 1) if ratio is None else ratio.as_integer_ratio()
        return category, simhash, self.condition.distance, least

    def keyed(self, hashes: Hashes, rows: Rows, by_sketch: bool = False) -> Hashes:
        """Hashes of some rows that are equal only where the documents may be equivalent: changed by
        their categories, and those of sketches by their simhashes too, where these must agree."""
        keys = [] if self.category is None else [self.category[rows]]
        if by_sketch and self.condition.method == "both":
            assert self.simhash is not None and self.has_simhash is not None
            keys += [self.simhash[rows], self.has_simhash[rows].astype(np.uint64)]
        if not keys:
            return hashes
        changed = hashes.copy()
        for number, key in enumerate(keys):
            changed[:, 0] ^= _mixed(key + np.uint64(2 * number + 1))
            changed[:, 1] ^= _mixed(key + np.uint64(2 * number + 2))
        return changed


def _categories(stored: Stored, condition: Condition) -> npt.NDArray[np.uint64]:
    if condition.within == HOST:
        chunks = [host_of(chunk) for chunk in stored.column("id").chunks]
        names = pa.chunked_array(chunks, pa.string())
    else:
        names = stored.column("category")
    return category_hashes(names.combine_chunks())


def category_hashes(names: pa.Array | pa.ChunkedArray) -> npt.NDArray[np.uint64]:
    """What categories are told by, each distinct one hashed once."""
    import pyarrow.compute as pc

    coded = pc.fill_null(names, "").dictionary_encode()
    if isinstance(coded, pa.ChunkedArray):
        coded = coded.combine_chunks()
    hashes = np.array([category_hash(name) for name in coded.dictionary.to_pylist()], np.uint64)
    return hashes[coded.indices.to_numpy()] if len(hashes) else np.zeros(len(names), np.uint64)


def check_stored(stored: Stored, condition: Condition) -> None:
    """Documents must have been stored with what a condition looks at."""
    if condition.simhash is not None:
        _check_stored(stored, "simhash", asdict(condition.simhash), "simhashes")
    if condition.category_field is not None:
        _check_stored(stored, "category", condition.category_field, "categories")


def _check_stored(stored: Stored, name: str, wanted: Any, what: str) -> None:
    found = stored.attributes.get(name)
    if found == wanted or not stored.documents:
        return
    if found is None:
        raise MismatchError(
            f"{what}: not stored with the documents: wanted {wanted}",
            hint="make the corpus again with the same options",
        )
    raise MismatchError(
        f"{what}: stored with the documents are others: {found}, wanted {wanted}",
        hint="use the options that the corpus was made with",
    )


def category_hash(name: str | None) -> int:
    """What a category is told by; None is the category of those that have none."""
    return int(_core.content_hash((name or "").encode())[:16], 16)


def _mixed(values: npt.NDArray[np.uint64]) -> npt.NDArray[np.uint64]:
    """Different for different values, and far apart (the finalizer of MurmurHash3, a bijection)."""
    values = values ^ (values >> np.uint64(33))
    values *= np.uint64(0xFF51AFD7ED558CCD)
    values ^= values >> np.uint64(33)
    values *= np.uint64(0xC4CEB9FE1A85EC53)
    return values ^ (values >> np.uint64(33))
