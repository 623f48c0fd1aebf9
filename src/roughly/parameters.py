"""What a sketch depends on besides the document, and the checks that parameters go through."""

from __future__ import annotations

import operator
import os
import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

from roughly.errors import ParameterError

if TYPE_CHECKING:
    from fractions import Fraction

ALGORITHM_VERSION = 1

# Longer shingles than this only find copies that `identical` and `lexical` find too.
LARGEST_WIDTH = 1000

# What is measured to be good on all kinds of documents, see docs/accuracy.md.
WIDTH = 5
WORDS = 200
# How many words a document has must fit a byte of an index.
MOST_WORDS = 256


@dataclass(frozen=True, slots=True)
class Parameters:
    """Everything a sketch depends on besides the document."""

    algorithm: int  # version, see docs/algorithm.md
    w: int  # tokens in a shingle
    bits: int  # of a fingerprint
    select: str  # what is kept: all, mod:M, min:K, adaptive:T or perm:K
    seed: int  # derives every key
    features: Literal[
        "text", "given"
    ]  # made from a document's text, or from features the caller gave
    words: int = 0  # documents of fewer shingles have single words beside them; 0: none have

    @property
    def selection(self) -> tuple[str, int]:
        """The selection's name and its number (0 for `all`)."""
        name, _, number = self.select.partition(":")
        return name, int(number or 0)


def check_integer(name: str, value: object, least: int, most: int) -> int:
    """The value as an int, if it is a whole number in that range; anything else is refused."""
    try:
        if isinstance(value, bool):
            raise TypeError
        number = operator.index(value)  # type: ignore[arg-type]
    except TypeError:
        number = least - 1
    if not least <= number <= most:
        raise ParameterError(
            f"{name}: out of range: {value!r}, wanted a whole number from {least} to {most}"
        )
    return int(number)


# The largest number a selection may be given. Beyond a million permutations a sketch is larger
# than any document; the others only have to fit in 63 bits.
_SELECTIONS = {
    "all": None,
    "mod": (1 << 63) - 1,
    "min": (1 << 63) - 1,
    "adaptive": (1 << 63) - 1,
    "perm": 1_000_000,
}


def parse_select(select: str) -> tuple[str, int]:
    name, colon, number = str(select).partition(":")
    most = _SELECTIONS.get(name)
    if name == "all" and not colon:
        return name, 0
    if most is not None and re.fullmatch("[0-9]{1,19}", number) and 1 <= int(number) <= most:
        return name, int(number)
    raise ParameterError(
        f"select: unknown: {select!r}, wanted all, mod:M, min:K, adaptive:T or perm:K",
        hint="adaptive:200 is the default; the number is from 1 to"
        f" {most or _SELECTIONS['adaptive']}",
    )


def words_for(words: int | None, named_width: bool, bits: int, select: str) -> int:
    """Below how many shingles documents have words: the number given, or the default. A width that
    was named is the only one unless words are asked for; short documents must be kept whole."""
    name, number = parse_select(select)
    most = {"all": MOST_WORDS, "adaptive": min(MOST_WORDS, number)}.get(name, 0) * (bits == 64)
    if words is None:
        return 0 if named_width else min(WORDS, most)
    words = check_integer("words", words, 0, MOST_WORDS)
    if words > most:
        raise ParameterError(
            f"words: not to be had: {words} with {bits} bits and {select}, wanted {most} at most",
            hint="words need 64 bits and select=all or adaptive:T with a T that is no smaller",
        )
    return words


def threads_or_all(threads: int | None) -> int:
    """The number given, or that of the cores this process may use."""
    if threads is not None:
        return check_integer("threads", threads, 1, 1 << 16)
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


# A number with a longer exponent would be written out before it is found to be out of range.
_EXPONENT = re.compile(r"e[+-]?[\d_]{4}", re.I)
_SHOWN = 80


def exact_ratio(name: str, value: float | str | Fraction, bits: int = 32) -> Fraction:
    """A threshold without rounding, 0.7 is 7/10; both its parts have at most so many bits."""
    from fractions import Fraction  # not for who only sketches

    try:
        text = str(value)
        ratio = Fraction(0) if _EXPONENT.search(text) else Fraction(text)
    except (ValueError, ZeroDivisionError):
        ratio = Fraction(0)
    ratio = ratio.limit_denominator((1 << bits) - 1)
    if not 0 < ratio <= 1:
        raise ParameterError(
            f"{name}: out of range: {repr(value)[:_SHOWN]}, wanted more than 0 and at most 1"
        )
    return ratio


# With less the phases would spend their time on moving partitions.
LEAST_MEMORY = 512 << 20

_UNITS = {"": 1, "K": 1 << 10, "M": 1 << 20, "G": 1 << 30, "T": 1 << 40}


def memory_or_half(memory: int | str | None) -> int:
    """Bytes: the number given ("2G", "1.5 GiB", or plain bytes), or half of the machine's."""
    if memory is None:
        return max(_machine_memory() // 2, LEAST_MEMORY)
    size = _bytes_of(memory)
    if size < LEAST_MEMORY:
        raise ParameterError(
            f"memory: out of range: {memory!r}, wanted 512M or more, as in 512M, 2G or 1.5G"
        )
    return size


def size_in_bytes(name: str, size: int | str) -> int:
    """Bytes: any number of them but none, as "100M"."""
    found = _bytes_of(size)
    if found < 1:
        raise ParameterError(f"{name}: not a size: {size!r}, wanted one as in 512M, 2G or 1.5G")
    return found


def _bytes_of(size: int | str) -> int:
    """0 for what is no size."""
    found = re.fullmatch(
        r"\s*([0-9]{1,18}(?:\.[0-9]{1,18})?)\s*([KMGT]?)(?:i?B)?\s*", str(size), re.I
    )
    return int(float(found[1]) * _UNITS[found[2].upper()]) if found else 0


def _machine_memory() -> int:
    """Bytes of memory; a guess of 2 GiB where the system does not tell."""
    try:
        return os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    except (AttributeError, ValueError, OSError):
        return 1 << 31
