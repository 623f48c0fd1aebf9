"""Resemblance and containment, exact (1997 paper, section 2) and estimated from sketches (3).

Values only, as fractions; None where the quotient is 0/0, except that an empty document
resembles an empty one at 1. Intervals are the business of the package.
"""

from collections.abc import Hashable
from collections.abc import Set as AbstractSet
from fractions import Fraction

from tests.reference.sketch import Sketch


def resemblance(a: AbstractSet[Hashable], b: AbstractSet[Hashable]) -> Fraction:
    """r(A, B) of two sets of shingles; two empty documents resemble at 1."""
    return Fraction(len(a & b), len(a | b)) if a or b else Fraction(1)


def containment(a: AbstractSet[Hashable], b: AbstractSet[Hashable]) -> Fraction | None:
    """c(A, B), the share of A that is in B."""
    return Fraction(len(a & b), len(a)) if a else None


def check_equal_parameters(a: Sketch, b: Sketch) -> None:
    if a.parameters != b.parameters:
        raise ValueError(f"sketches differ in parameters: {a.parameters} and {b.parameters}")


def common_level(a: Sketch, b: Sketch) -> tuple[set[int], set[int]]:
    """V(A) and V(B) at the modulus of the longer document; other sketches stay whole."""
    modulus = 2 ** max(a.level, b.level)
    if a.parameters.select != "adaptive":
        modulus = 1
    return (
        {f for f in a.values if f % modulus == 0},
        {f for f in b.values if f % modulus == 0},
    )


def estimate_resemblance(a: Sketch, b: Sketch) -> Fraction | None:
    """The theorem's first two estimators; of `perm` the share of equal minima."""
    check_equal_parameters(a, b)
    if a.size == 0 and b.size == 0:
        return Fraction(1)
    if a.size == 0 or b.size == 0:
        return Fraction(0)
    select, parameter = a.parameters.select, a.parameters.parameter
    if select == "perm":
        return Fraction(sum(x == y for x, y in zip(a.values, b.values, strict=True)), parameter)
    if select == "min":
        f_a, f_b = set(a.values), set(b.values)
        smallest = set(sorted(f_a | f_b)[:parameter])
        if a.size <= parameter and b.size <= parameter:
            smallest = f_a | f_b  # nothing was left out of either, so the whole union is known
        return Fraction(len(smallest & f_a & f_b), len(smallest))
    v_a, v_b = common_level(a, b)
    return Fraction(len(v_a & v_b), len(v_a | v_b)) if v_a | v_b else None


def estimate_containment(a: Sketch, b: Sketch) -> Fraction | None:
    """The theorem's third estimator; the paper has none for `min`, nor is there one for `perm`."""
    check_equal_parameters(a, b)
    if a.parameters.select in ("min", "perm"):
        raise ValueError(f"containment: not estimable from {a.parameters.select}")
    v_a, v_b = common_level(a, b)
    return Fraction(len(v_a & v_b), len(v_a)) if v_a else None
