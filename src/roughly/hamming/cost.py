"""What a table costs: bytes, probes, candidates, time. The arithmetic behind `plan`, and behind the
design that an index chooses for itself.

Everything is for simhashes that are spread evenly, as the 2007 paper has it; clusters of alike ones
add candidates that are matches as a rule.
"""

from __future__ import annotations

from dataclasses import dataclass

from roughly.hamming.design import (
    MOST_PROBES,
    MOST_SIMHASHES,
    Design,
    Table,
    compact,
    probe_count,
)

# Nanoseconds, measured by bench/hamming.py on two cores of a Zen 4 server: a probe that misses the
# caches, and one that does not; an entry looked at, the same (long runs are read ahead); a simhash
# in a scan; a group of the first table that a pointer leads to; finding a place by interpolation;
# decoding a value of an xor block.
_PROBE_NS, _CACHED_PROBE_NS = 40.0, 15.0
_ENTRY_NS, _CACHED_ENTRY_NS = 4.0, 1.0
_SCAN_NS = 0.4
_GROUP_NS = 100.0
_SEARCH_NS = 250.0
_XOR_VALUE_NS = 5.0
_CALL_NS = 500.0
# What a core has for itself and shares, in bytes: beyond it every probe waits for memory.
_CACHE_BYTES = 16 << 20

# Pointers instead of values pay where a query follows this many at most.
_MOST_GROUPS = 64
_POINTER_GROUP = 16
_SAMPLED = 64
# Values in a block of 1,024 bytes, about, when a value takes 5 bytes.
_XOR_BLOCK_VALUES = 200


@dataclass(frozen=True, slots=True)
class Cost:
    """What an index of one design costs for a number of simhashes."""

    bytes: float
    probes: int
    candidates: float  # entries that a query looks at, expected
    find_ns: float  # predicted


def extra_bits(count: int) -> int:
    """Bits of a key that a pointer table has beyond its buckets': each halves the groups looked at.
    Very many simhashes are to stay within 12 bytes each."""
    return 3 if count < 1 << 26 else 2


def head_bits(key_bits: int, count: int) -> int:
    """Bits of a bucket's number, as the core chooses them."""
    return min(key_bits, count.bit_length(), 31)


def probes_of(table: Table, coding: str, count: int) -> int:
    bits = head_bits(table.key_bits, count) if coding == "elias-fano" else table.key_bits
    return probe_count(bits, table.radius)


def table_coding(table: Table, number: int, coding: str, count: int) -> str:
    """The coding of a design's table: further ones of a few candidates point into the first."""
    if number == 0 or coding != "elias-fano" or count < 2:
        return coding
    return "pointer" if _groups(table, count) <= _MOST_GROUPS else coding


def indexes_of(count: int) -> int:
    """Into how many indexes so many simhashes are split."""
    return max(1, -(-count // MOST_SIMHASHES))


def cost(design: Design, coding: str, count: int) -> Cost:
    """The cost of an index, all tables together; of more simhashes than one holds, that of several
    indexes, all of which are asked."""
    indexes = indexes_of(count)
    if indexes == 1:
        return _cost_of_one(design, coding, count)
    one = _cost_of_one(design, coding, -(-count // indexes))
    return Cost(
        one.bytes * indexes, one.probes * indexes, one.candidates * indexes, one.find_ns * indexes
    )


def _cost_of_one(design: Design, coding: str, count: int) -> Cost:
    if not design.tables:
        return Cost(8.0 * count, 0, float(count), _CALL_NS + _SCAN_NS * count)
    size = count * max(0, count - 1).bit_length() / 8  # positions
    probes, candidates, nanoseconds = 0, 0.0, _CALL_NS
    for number, table in enumerate(design.tables):
        name = table_coding(table, number, coding, count)
        table_bytes = count * _bits_each(design.bits, table, name, count) / 8
        made = probes_of(table, coding, count)
        size += table_bytes
        probes += made
        bits = head_bits(table.key_bits, count) if coding == "elias-fano" else table.key_bits
        entries = made * count / 2.0**bits
        candidates += entries
        cached = table_bytes < _CACHE_BYTES
        probe_ns = _CACHED_PROBE_NS if cached else _PROBE_NS
        entry_ns = _CACHED_ENTRY_NS if cached or entries > 1000 * made else _ENTRY_NS
        if name in ("elias-fano", "pointer"):
            nanoseconds += made * probe_ns + entries * entry_ns
            nanoseconds += _groups(table, count) * _GROUP_NS if name == "pointer" else 0.0
        else:
            nanoseconds += made * _SEARCH_NS * (probe_ns / _PROBE_NS) + entries * entry_ns
            if name == "xor-block":
                nanoseconds += (made * _XOR_BLOCK_VALUES + entries) * _XOR_VALUE_NS
    return Cost(size, probes, candidates, nanoseconds)


def _groups(table: Table, count: int) -> float:
    """Groups of the first table that a pointer table leads to, expected."""
    bits = min(table.key_bits, head_bits(table.key_bits, count) + extra_bits(count))
    return probe_count(bits, table.radius) * count / 2.0**bits


def _bits_each(bits: int, table: Table, coding: str, count: int) -> float:
    """Bits that a table takes for each simhash."""
    count = max(1, count)
    if coding == "plain":
        return 64.0
    if coding == "xor-block":
        # The leading one of a XOR is on average a bit and a third below the leading log2(n) bits;
        # its Huffman code takes about two; 18 bytes of each block are no values.
        return max(3.0, bits - count.bit_length() + 3.4) * 1.04
    head = head_bits(table.key_bits, count)
    directory = 1 + 2.0**head / count * (1 + 32 / _SAMPLED)
    if coding == "elias-fano":
        return directory + bits - head
    extra = min(extra_bits(count), table.key_bits - head)
    return directory + extra + max(0, (count - 1) // _POINTER_GROUP).bit_length()


# Nanoseconds of looking up a key in memory, of an entry in a bucket, and of one in a list.
_LOOKUP_NS, _BUCKET_ENTRY_NS, _LIST_ENTRY_NS = 5.0, 0.7, 25.0
_MOST_KEY_BITS = 24


def join_blocks(queries: int, bits: int, k: int) -> int:
    """Into how many blocks to split the bits for a join with so many queries in memory."""
    return _cheapest_blocks(queries, bits, k, _BUCKET_ENTRY_NS)


def memory_blocks(capacity: int, bits: int, k: int) -> int:
    """The same for values in lists that can grow."""
    return _cheapest_blocks(capacity, bits, k, _LIST_ENTRY_NS)


def _cheapest_blocks(count: int, bits: int, k: int, entry_ns: float) -> int:
    def nanoseconds(blocks: int) -> float:
        total = 0.0
        for table in compact(blocks, bits, k).tables:
            key_bits = min(table.key_bits, _MOST_KEY_BITS, count.bit_length())
            probes = probe_count(key_bits, table.radius)
            if probes > MOST_PROBES:
                return float("inf")
            total += probes * (_LOOKUP_NS + entry_ns * count / 2.0**key_bits)
        return total

    return min(range(1, min(k + 1, bits) + 1), key=nanoseconds)
