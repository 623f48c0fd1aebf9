"""Estimates from sketches: the papers' ratio, a 95% interval, and the number of samples.

Here is the arithmetic alone; which elements count as sampled is decided in `sketch.py`. Every
interval is Wilson's, with the variance of sampling without replacement and a continuity
correction that fades as the variance grows, less a trim from 30 samples on; docs/estimates.md
derives it and tabulates its coverage. What always holds: 0 <= low <= value <= high <= 1; `value`
is the unbiased ratio, never clamped; low == value == high when everything was kept.

Other engines reproduce these numbers bit for bit: all counts become IEEE doubles first, then
only + - * / and sqrt in the order written here, none of them fused. Pure functions, no state:
any thread may call them.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import sqrt

from roughly.errors import ParameterError

# Square of 1.959963984540054, the normal deviate that leaves 2.5% on either side.
_Z2 = 3.841458820694124
# The continuity correction is 5/8 / standard deviation, at most half a count. 5/8 is the smallest
# number of eighths with which no fixed number of samples has a coverage below 94% at small counts.
_HALF = 0.5
_FADE = 0.625
# From 30 samples on, the limit towards the nearer end (0 or n) takes a trim off its correction;
# without it the coverage passes 98% at 30 to 50 samples. Fitted: 9.5 to 9.9 keep perm:K within 93%
# and 98% there; below 9.75 more finite populations pass 98%.
_TRIM_FROM = 30.0
_TRIM = 9.75


@dataclass(frozen=True, slots=True)
class Estimate:
    """A measure read off two sketches."""

    value: float
    """The unbiased estimate, in [0, 1]."""
    low: float
    """Lower end of the 95% interval."""
    high: float
    """Upper end of the 95% interval."""
    samples: int
    """Sampled elements that the ratio was taken over."""

    def __float__(self) -> float:
        return self.value

    def __str__(self) -> str:
        # Two more digits where two would hide the interval.
        digits = 2 if self.high - self.low >= 0.02 else 4
        noun = "sample" if self.samples == 1 else "samples"
        return (
            f"{self.value:.{digits}f} [{self.low:.{digits}f}, {self.high:.{digits}f}]"
            f" from {self.samples} {noun}"
        )


def resemblance_interval(common: int, union: int, size_a: int, size_b: int) -> Estimate:
    """Resemblance, when `common` of `union` sampled elements of A or B lie in both.

    The sample is V(A) | V(B) for modulus sketches, MIN_s of the union for minimum sketches;
    size_a and size_b are the exact numbers of distinct shingles. Not for `perm` sketches.
    """
    _check_counts("resemblance_interval", common, union, size_a, size_b)
    if common > size_a or common > size_b or union + common > size_a + size_b:
        raise ParameterError(
            f"resemblance_interval: more sampled than there is: {union} elements, {common} of"
            f" them in both, from documents of {size_a} and {size_b} shingles",
            hint="size_a and size_b count a document's distinct shingles, not its sketch",
        )
    if size_a == 0 or size_b == 0:
        return _empty_document(size_a, size_b, union)
    if union == 0:
        return Estimate(0.0, 0.0, 1.0, 0)
    x, n = float(common), float(union)
    total = float(size_a) + float(size_b)
    value = x / n
    if n + x == total:  # every element of A and of B was sampled
        return Estimate(value, value, value, union)

    # |A | B| is unknown, but (|A| + |B|) / (1 + r) for each r that is considered: the variance
    # at a limit is taken for the population that belongs there.
    unseen = _unseen(n, total / (1.0 + value))
    fewer = max(x - _correction(x, n, unseen), 0.0)
    more = min(x + _correction(n - x, n, unseen), n)
    low = _lower(fewer, n, _unseen(n, total / (1.0 + fewer / n)))
    high = 1.0 - _lower(n - more, n, _unseen(n, total / (1.0 + more / n)))

    # Certain: the common elements seen are common; of the total - n - x occurrences not seen an
    # unseen common element takes two; and no more are common than the smaller document has.
    half = float((size_a + size_b - union + common) // 2)
    most = min(half, float(size_a), float(size_b))
    low = min(max(low, x / (total - x)), half / (total - half))
    high = min(high, most / (total - most))
    return _around(value, low, high, union)


def containment_interval(common: int, sample_a: int, size_a: int, size_b: int) -> Estimate:
    """Containment of A in B, when `common` of `sample_a` sampled elements of A lie in B."""
    _check_counts("containment_interval", common, sample_a, size_a, size_b)
    if sample_a > size_a or common > size_b:
        raise ParameterError(
            f"containment_interval: more sampled than there is: {sample_a} elements of A,"
            f" {common} of them in B, from documents of {size_a} and {size_b} shingles",
            hint="size_a and size_b count a document's distinct shingles, not its sketch",
        )
    if size_a == 0 or size_b == 0:
        return _empty_document(size_a, size_b, sample_a)
    if sample_a == 0:
        return Estimate(0.0, 0.0, 1.0, 0)
    x, n, population = float(common), float(sample_a), float(size_a)
    value = x / n
    if sample_a == size_a:
        return Estimate(value, value, value, sample_a)

    unseen = _unseen(n, population)
    low = _lower(x - _correction(x, n, unseen), n, unseen)
    high = 1.0 - _lower(n - x - _correction(n - x, n, unseen), n, unseen)

    # Certain: the common elements seen, and all but the elements of A seen outside B.
    most = float(min(size_b, size_a - sample_a + common))
    low = max(low, x / population)
    high = min(high, most / population)
    return _around(value, low, high, sample_a)


def agreement_interval(agreeing: int, positions: int, size_a: int, size_b: int) -> Estimate:
    """Resemblance, when the minima of A and B agree at `agreeing` of `positions` permutations.

    Each permutation is a draw of its own, so the population never runs out: the interval has
    a width even for documents of few shingles.
    """
    _check_counts("agreement_interval", agreeing, positions, size_a, size_b)
    if size_a == 0 or size_b == 0:
        return _empty_document(size_a, size_b, 0)
    if positions == 0:
        return Estimate(0.0, 0.0, 1.0, 0)
    x, n = float(agreeing), float(positions)
    low = _lower(x - _correction(x, n, 1.0), n, 1.0)
    high = 1.0 - _lower(n - x - _correction(n - x, n, 1.0), n, 1.0)
    high = min(high, float(min(size_a, size_b)) / float(max(size_a, size_b)))
    return _around(x / n, low, high, positions)


def _unseen(n: float, population: float) -> float:
    """Factor by which the variance shrinks because n of the population were drawn unrepeated.

    0 when all were drawn. The caller excludes a population of one that was drawn whole.
    """
    population = max(population, n)
    return (population - n) / (population - 1.0)


def _correction(x: float, n: float, unseen: float) -> float:
    """How far the count x is moved down before its lower limit is computed.

    For the upper limit x is the count of the others, n - x. Negative (moved up) where the trim
    is larger than what it is taken off.
    """
    variance = x * (n - x) / n * unseen
    if variance == 0.0:
        return _HALF
    shift = _FADE / sqrt(variance)
    share = x / n
    if n >= _TRIM_FROM and share < 0.5:
        spread = 4.0 * share * (1.0 - share)
        trim = _TRIM * spread * spread * spread * (1.0 - 2.0 * share) * unseen / sqrt(n)
        shift = shift - trim
    return min(shift, _HALF)


def _lower(x: float, n: float, unseen: float) -> float:
    """The smaller p with (x - n p)^2 = z^2 n p (1 - p) unseen.

    Written as a quotient of the product of both roots, so that nothing cancels.
    """
    if x <= 0.0:
        return 0.0
    share = x / n
    k = _Z2 * unseen / n
    return 2.0 * share * share / (2.0 * share + k + sqrt(k * (k + 4.0 * share * (1.0 - share))))


def _around(value: float, low: float, high: float, samples: int) -> Estimate:
    """The value is unbiased only unclamped, so a certain bound that excludes it gives way."""
    return Estimate(value, min(low, value), max(high, value), samples)


def _empty_document(size_a: int, size_b: int, samples: int) -> Estimate:
    """Two empty documents are the same; an empty one has nothing in common with any other."""
    both = 1.0 if size_a == size_b else 0.0
    return Estimate(both, both, both, samples)


def _check_counts(subject: str, common: int, samples: int, size_a: int, size_b: int) -> None:
    if not 0 <= common <= samples:
        raise ParameterError(
            f"{subject}: impossible count: {common} of {samples} samples,"
            " wanted a number from 0 to the samples"
        )
    if size_a < 0 or size_b < 0:
        raise ParameterError(
            f"{subject}: impossible size: {size_a} and {size_b} shingles, wanted 0 or more"
        )
