"""The Hamming distance problem in plain Python, from the definition (2007 paper, section 3)."""

from collections.abc import Sequence


def distance(a: int, b: int) -> int:
    return bin(a ^ b).count("1")


def find(stored: Sequence[int], x: int, k: int) -> list[int]:
    """The positions of all within k bits."""
    return [position for position, value in enumerate(stored) if distance(value, x) <= k]


def nearest(stored: Sequence[int], x: int, k: int) -> tuple[int, int, int] | None:
    """Position, value and distance of the nearest within k bits, of equally near ones the first."""
    near = [(distance(stored[p], x), p) for p in find(stored, x, k)]
    return (min(near)[1], stored[min(near)[1]], min(near)[0]) if near else None


def join(queries: Sequence[int], stored: Sequence[int], k: int) -> list[tuple[int, int]]:
    """All pairs (query, stored) of positions within k bits."""
    return [(q, s) for q, x in enumerate(queries) for s in find(stored, x, k)]


def seen(stored: list[int], x: int, k: int) -> int:
    """The crawler's question: the position of the nearest, or -1 and x is added."""
    found = nearest(stored, x, k)
    if found is None:
        stored.append(x)
        return -1
    return found[0]
