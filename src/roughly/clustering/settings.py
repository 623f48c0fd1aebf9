"""What a clustering is asked to find, and how."""

from __future__ import annotations

from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any, Literal

from roughly.clustering.discount import Discount
from roughly.clustering.join import ALL_PAIRS, MassRule
from roughly.condition import NO_CONDITION, SIMHASH_BITS, Condition, make_condition
from roughly.errors import ParameterError
from roughly.parameters import Parameters, exact_ratio
from roughly.simhashing.simhasher import Simhasher
from roughly.sketcher import Preset, preset_named

Method = Literal["join", "expansion", "super", "hamming"]
Linkage = Literal["single", "star"]
Threshold = float | str | Fraction

DEFAULT_THRESHOLD = "0.5"

# How far below the threshold pairs are kept, so that other thresholds can be asked for later.
_FLOOR_BELOW = Fraction(1, 10)

# The 1997 paper ignores shingles that more documents have.
CUT_OFF = 1000


@dataclass(frozen=True, slots=True)
class Settings:
    """Fixed when documents are clustered; thresholds down to the floors may be asked for later."""

    threshold: Fraction  # of resemblance
    floor: Fraction
    containment: Fraction | None = None  # its threshold; None: containment is not looked for
    containment_floor: Fraction | None = None
    method: Method = "join"
    cut_off: int = CUT_OFF  # of the expansion: shingles of more documents are ignored
    super_length: int = 0  # of the super shingles: sketch elements in one,
    super_agreeing: int = 0  # and how many of a pair's must agree
    exact: bool = False  # whether pairs are counted again on complete sets of shingles
    mass: MassRule = field(default_factory=MassRule)
    condition: Condition = NO_CONDITION  # which pairs count
    discount: Discount | None = None  # which elements are left out of sketches
    linkage: Linkage = "single"  # of the clusters, unless another is asked for

    def to_dict(self) -> dict[str, Any]:
        """As it is recorded with a run."""
        plain = {name: getattr(self, name) for name in self.__slots__}
        ratios = {n: str(v) for n, v in plain.items() if isinstance(v, Fraction)}
        plain |= ratios | {"mass": list(self.mass)}
        del plain["condition"], plain["discount"]
        if self.condition != NO_CONDITION:
            plain["condition"] = self.condition.to_dict()
        if self.discount is not None:
            plain["discount"] = self.discount.to_dict()
        if self.linkage == "single":
            del plain["linkage"]
        return plain

    @classmethod
    def from_dict(cls, plain: dict[str, Any]) -> Settings:
        names = ("threshold", "floor", "containment", "containment_floor")
        ratios = {n: None if plain[n] is None else Fraction(plain[n]) for n in names}
        # Corpora made before there were dense masses have none.
        made: dict[str, Any] = {"mass": MassRule(*(*plain["mass"], ALL_PAIRS)[:4])}
        if "condition" in plain:
            made["condition"] = Condition.from_dict(plain["condition"])
        if "discount" in plain:
            made["discount"] = Discount.from_dict(plain["discount"])
        return cls(**(plain | ratios | made))


def settings_for(
    parameters: Parameters,
    threshold: Threshold | None = None,
    floor: Threshold | None = None,
    containment: Threshold | None = None,
    containment_floor: Threshold | None = None,
    preset: str | None = None,
    cut_off: int | None = None,
    exact: bool = False,
    condition: Condition = NO_CONDITION,
    discount: str | None = None,
    linkage: Linkage = "single",
) -> Settings:
    """Settings that fit the sketches, or an error that says what does not. `preset` brings its way
    to find pairs, and its threshold unless one is given."""
    check_linkage(linkage, containment, exact)
    system = None if preset is None else preset_named(preset)
    if system is not None and system.method == "hamming" and condition.method != "simhash":
        raise ParameterError(
            f"preset: cannot stand beside the method {condition.method}: {preset} compares by"
            " simhash",
            hint="leave out one of the two",
        )
    if condition.method == "simhash":
        given = {
            "threshold": threshold,
            "floor": floor,
            "containment": containment,
            "containment floor": containment_floor,
            "cut-off": cut_off,
            "exact": exact or None,
            "discount": discount,
        }
        return _by_simhash(condition, preset, system, given, linkage)
    method: Method = "join" if system is None else system.method
    super_length = 0 if system is None else system.super_length
    # Pairs found by super shingles have the share that agrees, unless their resemblance is counted.
    by_share = method == "super" and not exact
    if threshold is None:
        own = None if system is None or (method == "super" and exact) else system.cluster_threshold
        threshold = own or DEFAULT_THRESHOLD
    if cut_off is not None and method != "expansion":
        raise ParameterError("cut-off: nothing to apply to: wanted the preset broder97 too")
    least, lowest = _with_floor("threshold", threshold, "floor", floor)
    if by_share and floor is None:
        lowest = least
    of_containment: tuple[Fraction | None, Fraction | None] = (None, None)
    if containment is not None:
        of_containment = _with_floor(
            "containment", containment, "containment floor", containment_floor
        )
    elif containment_floor is not None:
        raise ParameterError("containment floor: nothing to apply to: wanted containment too")
    name = parameters.selection[0]
    if (name == "perm") != (method == "super"):
        wanted = "perm:K" if method == "super" else "all, mod:M, min:K or adaptive:T"
        raise ParameterError(
            f"select: cannot cluster {parameters.select} sketches by {_NAMES[method]},"
            f" wanted {wanted}"
        )
    if method == "super" and (super_length < 1 or parameters.selection[1] % super_length):
        raise ParameterError(
            f"super shingles: cannot be made of {super_length} elements each:"
            f" a sketch has {parameters.selection[1]}, wanted a part of that"
        )
    if method == "expansion" and name not in ("all", "mod"):
        raise ParameterError(
            f"select: cannot expand the pairs of {parameters.select} sketches, wanted all or mod:M"
        )
    if containment is not None and (name == "min" or method != "join"):
        raise ParameterError(
            f"containment: not to be had from {parameters.select} sketches by {_NAMES[method]},"
            " wanted all, mod:M or adaptive:T and a join"
        )
    if discount is not None:
        _check_discount(parameters, method, exact)
    return Settings(
        least,
        lowest,
        *of_containment,
        method,
        CUT_OFF if cut_off is None else cut_off,
        super_length,
        0 if system is None else system.super_agreeing,
        exact,
        condition=condition,
        discount=None if discount is None else Discount.parse(discount),
        linkage=linkage,
    )


def check_linkage(linkage: str, containment: Threshold | None, exact: bool) -> None:
    """Raises if there are no such clusters."""
    if linkage not in ("single", "star"):
        raise ParameterError(f"linkage: unknown: {linkage!r}, wanted 'single' or 'star'")
    if linkage == "star" and containment is not None:
        raise ParameterError("linkage: no stars by containment: wanted one of the two")
    if linkage == "star" and exact:
        raise ParameterError("linkage: no exact stars: they are made of estimates")


def _check_discount(parameters: Parameters, method: Method, exact: bool) -> None:
    if exact:
        raise ParameterError(
            "discount: cannot stand beside exact: which shingles are common is known of those in"
            " sketches only",
            hint="--select all keeps every shingle: what is told of pairs is exact then",
        )
    if method != "join" or parameters.selection[0] not in ("all", "mod", "adaptive"):
        raise ParameterError(
            f"discount: not to be had from {parameters.select} sketches by {_NAMES[method]},"
            " wanted all, mod:M or adaptive:T and a join"
        )


def condition_for(
    preset: str | None = None,
    method: str | None = None,
    distance: int | None = None,
    size_ratio: Threshold | None = None,
    within: str | None = None,
    simhasher: Simhasher | None = None,
) -> Condition:
    """The condition of some options; a preset brings its method and distance."""
    system = None if preset is None else preset_named(preset)
    if system is not None and system.method == "hamming":
        method = "simhash" if method is None else method
        if distance is None and method != "shingles":
            distance = system.distance
    return make_condition(method, distance, size_ratio, within, simhasher)


def bits_threshold(distance: int) -> Fraction:
    """The share of bits that agree in simhashes that differ in so many."""
    return Fraction(SIMHASH_BITS - distance, SIMHASH_BITS)


def _by_simhash(
    condition: Condition,
    preset: str | None,
    system: Preset | None,
    given: dict[str, Any],
    linkage: Linkage,
) -> Settings:
    for name, value in given.items():
        if value is not None:
            raise ParameterError(
                f"{name}: nothing to apply to: documents are compared by simhash alone",
                hint="say how many bits may differ (-k, distance), or choose the method both",
            )
    if system is not None and system.method != "hamming":
        raise ParameterError(
            f"preset: cannot stand beside the method simhash: {preset} finds pairs by"
            f" {_NAMES[system.method]}",
            hint="leave out one of the two",
        )
    least = bits_threshold(condition.distance)
    return Settings(least, least, method="hamming", condition=condition, linkage=linkage)


_NAMES: dict[Method, str] = {
    "join": "a join",
    "expansion": "full expansion",
    "super": "super shingles",
}


def _with_floor(
    name: str,
    threshold: Threshold,
    floor_name: str,
    floor: Threshold | None,
) -> tuple[Fraction, Fraction]:
    least = exact_ratio(name, threshold)
    if floor is None:
        return least, max(least - _FLOOR_BELOW, least / 2)
    lowest = exact_ratio(floor_name, floor)
    if lowest > least:
        raise ParameterError(
            f"{floor_name}: above the {name}: {float(lowest)}, wanted {float(least)} or less"
        )
    return least, lowest
