"""Designs of a Hamming index: which tables it has, and why no match can escape them.

    scan          no table: every simhash is looked at
    compact:M     M blocks of bits, one table for each. Two simhashes that differ in k bits differ
                  in at most radius(i) bits of some block i, if the sum of radius(i) + 1 is k + 1;
                  so each table is probed with all within its radius of the query's block
    tables:R+R    the 2007 paper's (3.1): R blocks, of which R - k must agree, a table for each
                  choice of these; with a further +R the other blocks' bits are split again

In every table the bits of a value are permuted, the table's leading bits first. The first table's
are the highest bits, so that it is in the order of the values themselves.
"""

from __future__ import annotations

import itertools
import re
from dataclasses import dataclass
from math import comb

from roughly.errors import ParameterError
from roughly.parameters import check_integer

LARGEST_K = 10
LARGEST_BITS = 64
# Tables of which each has every simhash: more is a mistake.
MOST_TABLES = 1024
# Simhashes of one index: positions have 31 bits.
MOST_SIMHASHES = 2**31 - 1
# Probes of one table, as the core has it.
MOST_PROBES = 1 << 24


@dataclass(frozen=True, slots=True)
class Table:
    """The leading bits of a table, as a mask, and how many of them may differ."""

    leading: int
    radius: int

    @property
    def key_bits(self) -> int:
        return self.leading.bit_count()


@dataclass(frozen=True, slots=True)
class Design:
    """The tables of an index for simhashes of `bits` bits that differ in at most `k`."""

    name: str
    bits: int
    k: int
    tables: tuple[Table, ...]

    @property
    def paper(self) -> bool:
        return self.name.startswith("tables:")


def check_k(k: object) -> int:
    return check_integer("k", k, 0, LARGEST_K)


def check_bits(bits: object) -> int:
    return check_integer("bits", bits, 1, LARGEST_BITS)


def check_simhash(value: object, bits: int) -> int:
    return check_integer("simhash", value, 0, 2**bits - 1)


def parse_design(name: str, bits: int, k: int) -> Design:
    """The design of that name."""
    if name == "scan":
        return Design(name, bits, k, ())
    if found := re.fullmatch(r"compact:([0-9]{1,2})", name):
        return compact(int(found[1]), bits, k)
    if re.fullmatch(r"tables:[0-9]{1,2}(\+[0-9]{1,2})*", name):
        return paper([int(number) for number in name.partition(":")[2].split("+")], bits, k)
    raise ParameterError(
        f"design: unknown: {name!r}, wanted auto, scan, compact:M or tables:R",
        hint="roughly hamming plan shows the designs there are",
    )


def compact(blocks: int, bits: int, k: int) -> Design:
    """`blocks` tables, each with one block in front, the radius shared out among them."""
    most = min(k + 1, bits)
    if not 1 <= blocks <= most:
        raise ParameterError(
            f"design: compact:{blocks} cannot be: {blocks} blocks, wanted 1 to {most} for"
            f" {bits} bits and k = {k}"
        )
    radius, larger = divmod(k + 1, blocks)
    tables = []
    for number, block in enumerate(split(range(bits - 1, -1, -1), blocks)):
        tables.append(Table(mask(block), radius - (number >= larger)))
    return Design(f"compact:{blocks}", bits, k, tuple(tables))


def paper(splits: list[int], bits: int, k: int) -> Design:
    """The paper's: at each level as many blocks as `splits` says, all but k of them in front."""
    name = "tables:" + "+".join(map(str, splits))
    count = 1
    for blocks in splits:
        if blocks <= k:
            raise ParameterError(
                f"design: {name} cannot be: {blocks} blocks, wanted more than k = {k}"
            )
        count *= comb(blocks, k)
    if count > MOST_TABLES:
        raise ParameterError(
            f"design: {name} cannot be: {count:,} tables, wanted at most {MOST_TABLES:,}"
        )
    tables = tuple(Table(mask(front), 0) for front in fronts(range(bits - 1, -1, -1), splits, k))
    if any(table.leading == 0 for table in tables):
        raise ParameterError(f"design: {name} cannot be: {bits} bits are too few for its blocks")
    return Design(name, bits, k, tables)


def fronts(places: range | list[int], splits: list[int], k: int) -> list[list[int]]:
    """The bits in front of each table, highest first, of those that are at these places."""
    if not splits:
        return [[]]
    made = []
    blocks = split(places, splits[0])
    for chosen in itertools.combinations(range(len(blocks)), len(blocks) - k):
        front = [place for number in chosen for place in blocks[number]]
        rest = [p for number, block in enumerate(blocks) if number not in chosen for p in block]
        made += [front + further for further in fronts(rest, splits[1:], k)]
    return made


def split(places: range | list[int], blocks: int) -> list[list[int]]:
    """As even as can be, the larger blocks first."""
    size, larger = divmod(len(places), blocks)
    ends = list(itertools.accumulate(size + (number < larger) for number in range(blocks)))
    return [list(places[begin:end]) for begin, end in zip([0, *ends], ends, strict=False)]


def mask(places: list[int]) -> int:
    return sum(1 << place for place in places)


def probe_count(bits: int, radius: int) -> int:
    """How many numbers of so many bits have at most `radius` ones."""
    return sum(comb(bits, ones) for ones in range(min(bits, radius) + 1))
