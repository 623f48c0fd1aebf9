"""A Hamming plan as cells of a table, for a terminal and for a page. Numbers are written as the
2007 paper does: 8, 512, 256K."""

from __future__ import annotations

from typing import Any

from roughly.hamming.plan import size

HEAD = [
    *("design", "tables", "fewest", "leading bits", "matches"),
    *("probes", "entries", "bytes each", "in all", "a query"),
]


def cells(design: dict[str, Any], documents: int) -> list[str]:
    """A design of `plan_object`, a cell for each of HEAD; empty where a column says nothing."""
    least, most = design["key_bits"]
    bits = "" if not design["tables"] else f"{least}" if least == most else f"{least}-{most}"
    radii = sorted(set(design["radius"]))
    if radii not in ([], [0]):
        bits += f" within {radii[0]}" if len(radii) == 1 else f" within {radii[0]}-{radii[-1]}"
    paper = design["origin"] == "paper"
    return [
        design["design"],
        str(design["tables"] or ""),
        str(design["fewest_tables"]) if paper else "",
        bits,
        short(design["matches"]) if paper else "",
        short(design["probes"]) if design["probes"] else "",
        short(design["entries"]),
        f"{design['bytes'] / documents:.1f}",
        size(design["bytes"]),
        time(design["find_seconds"]),
    ]


def short(value: float) -> str:
    """As the paper writes numbers."""
    for unit, power in (("G", 1 << 30), ("M", 1 << 20), ("K", 10 << 10)):
        if value >= power:
            return f"{value / (power if unit != 'K' else 1024):.3g}{unit}"
    return f"{value:,.0f}" if value >= 10 or value == int(value) else f"{value:.2g}"


def time(seconds: float) -> str:
    """The time of a query: 12.5 us."""
    for unit, power in (("s", 1.0), ("ms", 1e-3), ("us", 1e-6)):
        if seconds >= power:
            return f"{seconds / power:.1f} {unit}"
    return f"{seconds * 1e9:.0f} ns"
