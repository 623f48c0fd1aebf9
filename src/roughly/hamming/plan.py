"""Which design to take: the paper's recurrence and its four designs, ours beside them.

`plan` is the table that `roughly hamming plan` prints; `choose` is what an index does by itself: of
the designs that can be, the one with the least bytes times time, or a scan where that is as fast.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from math import comb, log2
from typing import Any

from roughly.errors import ParameterError
from roughly.hamming.cost import Cost, cost, indexes_of, probes_of
from roughly.hamming.design import (
    MOST_PROBES,
    MOST_TABLES,
    Design,
    Table,
    compact,
    paper,
    parse_design,
)
from roughly.parameters import size_in_bytes

# The splits of the paper's tables that are worth showing: these above k, and twice the first.
_SPLITS_ABOVE_K = (1, 2, 3)


@dataclass(frozen=True, slots=True)
class Row:
    """A design with what it costs."""

    design: Design
    coding: str
    cost: Cost
    origin: str  # paper, or ours

    @property
    def key_bits(self) -> tuple[int, int]:
        """The fewest and the most leading bits of a table."""
        bits = [table.key_bits for table in self.design.tables] or [0]
        return min(bits), max(bits)


def choose(count: int, bits: int, k: int, memory_bytes: float | None = None) -> Design:
    """The design for so many simhashes: least bytes times time of those that fit."""
    scan = parse_design("scan", bits, k)
    rows = [(design, cost(design, "elias-fano", count)) for design in ours(count, bits, k)]
    if memory_bytes is not None:
        rows = [row for row in rows if row[1].bytes <= memory_bytes]
    if not rows:
        return scan
    best, found = min(rows, key=lambda row: (row[1].bytes * row[1].find_ns, row[0].name))
    scanning = cost(scan, "plain", count)
    fits = memory_bytes is None or scanning.bytes <= memory_bytes
    return scan if fits and scanning.find_ns <= found.find_ns else best


def ours(count: int, bits: int, k: int) -> Iterator[Design]:
    """The compact designs that can be."""
    for blocks in range(1, min(k + 1, bits) + 1):
        design = compact(blocks, bits, k)
        if all(probes_of(t, "elias-fano", count) <= MOST_PROBES for t in design.tables):
            yield design


def papers(bits: int, k: int) -> Iterator[Design]:
    """The paper's designs for k, those of Example 3.1 among them: most tables first."""
    found: dict[tuple[Table, ...], Design] = {}
    for splits in [[k + above] for above in _SPLITS_ABOVE_K] + [[k + 1, k + 1]]:
        tables = 1
        for blocks in splits:
            tables *= comb(blocks, k)
        if tables > MOST_TABLES:
            continue
        try:
            design = paper(splits, bits, k)
        except ParameterError:
            continue
        # For k = 0 all of them are the same one table: the first name is the shortest.
        found.setdefault(design.tables, design)
    yield from sorted(found.values(), key=lambda design: (-len(design.tables), design.name))


def plan(count: int, bits: int, k: int, memory_bytes: float | None = None) -> list[Row]:
    """The paper's designs with plain tables, then ours, those that fit into the memory; the
    recommended one is `choose`'s."""
    rows = [Row(d, "plain", cost(d, "plain", count), "paper") for d in papers(bits, k)]
    rows += [
        Row(d, "elias-fano", cost(d, "elias-fano", count), "ours") for d in ours(count, bits, k)
    ]
    scan = parse_design("scan", bits, k)
    rows.append(Row(scan, "plain", cost(scan, "plain", count), "ours"))
    return [row for row in rows if memory_bytes is None or row.cost.bytes <= memory_bytes]


def plan_object(
    documents: int, bits: int, k: int, memory: str | None = None, name: str = "memory"
) -> dict[str, Any]:
    """The plan as plain values: every design that fits into a memory as 2G with what it costs, and
    the one to take. An error if none fits; `name` is what the memory is called there."""
    memory_bytes = None if memory is None else size_in_bytes(name, memory)
    best = choose(documents, bits, k, memory_bytes)
    taken = cost(best, "elias-fano", documents)
    if memory_bytes is not None and taken.bytes > memory_bytes:
        raise ParameterError(
            f"{name}: too little: {memory}, wanted {size(taken.bytes)} for a {best.name}",
            hint="split the simhashes among several machines",
        )
    designs = []
    for row in plan(documents, bits, k, memory_bytes):
        least, most = row.key_bits
        paper = row.origin == "paper"
        designs.append(
            {
                "design": row.design.name,
                "origin": row.origin,
                "coding": row.coding,
                "tables": len(row.design.tables),
                "key_bits": [least, most],
                "radius": [table.radius for table in row.design.tables],
                "matches": documents / 2.0**least if paper else None,
                "fewest_tables": fewest_tables(bits, k, documents, least)[0] if paper else None,
                "probes": row.cost.probes,
                "entries": row.cost.candidates,
                "bytes": round(row.cost.bytes),
                "find_seconds": row.cost.find_ns / 1e9,
            }
        )
    return {
        "documents": documents,
        "bits": bits,
        "k": k,
        "indexes": indexes_of(documents),
        "by_chance": expected_matches(documents, bits, k),
        "designs": designs,
        "recommended": best.name,
        "recommended_bytes": round(taken.bytes),
        "recommended_seconds": taken.find_ns / 1e9,
    }


def size(bytes_: float) -> str:
    """Bytes: 1.5 GB."""
    for unit, power in (("TB", 1e12), ("GB", 1e9), ("MB", 1e6), ("kB", 1e3)):
        if bytes_ >= power:
            return f"{bytes_ / power:.1f} {unit}"
    return f"{bytes_:.0f} B"


def fewest_tables(bits: int, k: int, count: int, least_key_bits: int) -> tuple[int, list[int]]:
    """X(f, k, d) of 3.1.2: the fewest tables in which at least so many leading bits agree, and the
    splits that give them. The paper stops where d < tau; keys of exactly the least number of bits
    are allowed by its own words, so this stops where d <= tau. Blocks may be fractions of a bit
    here, as there."""
    d = log2(max(1, count))
    tau = d - least_key_bits

    @cache
    def tables(f: float, left: float) -> tuple[int, tuple[int, ...]]:
        if left <= tau + 1e-9:
            return 1, ()
        if f < 1:  # Nothing is left to split.
            return 1 << 62, ()
        best: tuple[int, tuple[int, ...]] = (1 << 62, ())
        for r in range(k + 1, 65):
            factor = comb(r, k)
            if factor >= best[0]:
                break
            deeper, splits = tables(round(f * k / r, 9), round(left - (r - k) * f / r, 9))
            if factor * deeper < best[0]:
                best = factor * deeper, (r, *splits)
        return best

    if k == 0:
        return 1, []
    found, splits = tables(float(bits), d)
    if found >= 1 << 62:
        raise ParameterError(
            f"key bits: out of range: {least_key_bits}, wanted fewer for {bits} bits and k = {k}"
        )
    return found, list(splits)


def expected_matches(count: int, bits: int, k: int) -> float:
    """Simhashes within k of one, if all are random: the paper's section 2 assumption."""
    return count * sum(comb(bits, ones) for ones in range(k + 1)) / 2.0**bits


def most_key_bits(bits: int, k: int, count: int, tables: int) -> int:
    """The other question of 3.1.2: the most leading bits that so many tables can have."""
    for key_bits in range(bits, 0, -1):
        try:
            if fewest_tables(bits, k, count, key_bits)[0] <= tables:
                return key_bits
        except ParameterError:
            continue
    raise ParameterError(f"tables: too few: {tables}, wanted at least {k + 1} for k = {k}")
