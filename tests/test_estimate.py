"""The intervals: values worked out by hand, exact coverage, and the real sketches end to end.

Coverage is summed, not simulated: given n samples the count of common ones is hypergeometric
(binomial for perm:K); a `mod:M` sketch draws n itself from a binomial distribution. The seeds of
what is simulated are fixed, and its bounds are 4 standard errors wide: a failure has a cause.
docs/estimates.md quotes the figures that the full grids (make test-all) hold.
"""

import math
from collections.abc import Callable, Iterable, Iterator
from functools import lru_cache
from itertools import pairwise
from typing import NamedTuple

import numpy as np
import numpy.typing as npt
import pytest

from roughly import Sketcher
from roughly.errors import ParameterError
from roughly.estimate import (
    Estimate,
    agreement_interval,
    containment_interval,
    resemblance_interval,
)
from tests.optional import FULL

Floats = npt.NDArray[np.float64]
Z2 = 1.959963984540054**2


# --- by hand -------------------------------------------------------------------------------------


def test_agreement_by_hand() -> None:
    # 50 of 100: variance 25, moved by 0.625 / 5 = 0.125 to 49.875, where
    # p^2 (1 + k) - p (0.9975 + k) + 0.49875^2 = 0 with k = z^2 / 100.
    found = agreement_interval(50, 100, 9, 9)
    assert found.value == 0.5
    assert found.low == pytest.approx(0.402628061648132, abs=1e-14)
    assert found.high == pytest.approx(0.597371938351868, abs=1e-14)
    # 7 of 30: variance 161/30, correction 0.269791; the lower limit's trim is 0.347835, more
    # than that, so it moves inwards to 7.078043; the upper limit moves outwards to 7.269791.
    found = agreement_interval(7, 30, 9, 9)
    assert found.low == pytest.approx(0.119753959743801, abs=1e-14)
    assert found.high == pytest.approx(0.418875050243223, abs=1e-14)
    # 0 of 10: variance 0, moved by 1/2 to 0.5.
    found = agreement_interval(0, 10, 9, 9)
    assert (found.value, found.low, found.samples) == (0.0, 0.0, 10)
    assert found.high == pytest.approx(0.344537218306923, abs=1e-14)


def test_containment_by_hand() -> None:
    # 10 of 20 out of 40: 20/39 of the variance remains, 5 * 20/39 = 100/39, moved by 0.390312...
    found = containment_interval(10, 20, 40, 40)
    assert found.low == pytest.approx(0.332616020693845, abs=1e-14)
    assert found.high == pytest.approx(0.667383979306155, abs=1e-14)
    # One seen outside B leaves at most one of two.
    assert containment_interval(0, 1, 2, 5) == Estimate(0.0, 0.0, 0.5, 1)
    # 2 of 10 out of 300: variance 1.6 * 290/299 < 25/16, moved by 1/2 to 1.5. B has 3 elements,
    # so that c <= 0.01; the value stays.
    found = containment_interval(2, 10, 300, 3)
    assert found.value == found.high == 0.2
    assert found.low == pytest.approx(0.036114855201586, abs=1e-14)


def test_resemblance_by_hand() -> None:
    # 12 of 60 from 100 + 140: |A | B| = 240 / 1.2 = 200, variance 12 * 48/60 * 140/199 =
    # 6.753769, correction 0.240495, trim 0.139282 below: moved to 11.898787 and 12.240495, where
    # |A | B| is 200.282 and 199.334.
    found = resemblance_interval(12, 60, 100, 140)
    assert found.value == 0.2
    assert found.low == pytest.approx(0.127504831590497, abs=1e-14)
    assert found.high == pytest.approx(0.301317632703122, abs=1e-14)
    # Of 2 + 2 one occurrence was not seen; it is not common, for that would be two.
    assert resemblance_interval(1, 2, 2, 2) == Estimate(0.5, 1 / 3, 0.5, 2)
    # Two of 10 + 100 seen, both common: the value stays, although r <= 10/100.
    assert resemblance_interval(2, 2, 10, 100).high == 1.0


def test_bits_are_frozen() -> None:
    """Every engine must arrive at these doubles; the digits above show that they are right."""
    assert agreement_interval(50, 100, 9, 9) == Estimate(
        0.5, 0.40262806164813214, 0.5973719383518679, 100
    )
    assert agreement_interval(7, 30, 9, 9) == Estimate(
        7 / 30, 0.11975395974380094, 0.41887505024322325, 30
    )
    assert containment_interval(10, 20, 40, 40) == Estimate(
        0.5, 0.33261602069384494, 0.6673839793061551, 20
    )
    assert resemblance_interval(12, 60, 100, 140) == Estimate(
        0.2, 0.12750483159049714, 0.3013176327031222, 60
    )


def test_everything_kept_is_exact() -> None:
    assert resemblance_interval(30, 70, 45, 55) == Estimate(3 / 7, 3 / 7, 3 / 7, 70)
    assert resemblance_interval(1, 1, 1, 1) == Estimate(1.0, 1.0, 1.0, 1)
    assert containment_interval(30, 45, 45, 55) == Estimate(30 / 45, 30 / 45, 30 / 45, 45)


def test_empty_documents_and_samples() -> None:
    exact: list[Callable[[int, int, int, int], Estimate]]
    exact = [resemblance_interval, containment_interval, agreement_interval]
    for interval in exact:
        assert interval(0, 0, 0, 0) == Estimate(1.0, 1.0, 1.0, 0)
        assert interval(0, 0, 0, 7) == Estimate(0.0, 0.0, 0.0, 0)
        assert interval(0, 0, 7, 0) == Estimate(0.0, 0.0, 0.0, 0)
        assert interval(0, 0, 7, 7) == Estimate(0.0, 0.0, 1.0, 0)
    assert resemblance_interval(0, 5, 0, 7) == Estimate(0.0, 0.0, 0.0, 5)
    assert containment_interval(0, 5, 7, 0) == Estimate(0.0, 0.0, 0.0, 5)


@pytest.mark.parametrize(
    ("call", "said"),
    [
        (lambda: resemblance_interval(3, 2, 9, 9), "impossible count: 3 of 2 samples"),
        (lambda: agreement_interval(-1, 2, 9, 9), "impossible count: -1 of 2 samples"),
        (lambda: containment_interval(0, 0, -1, 9), "impossible size: -1 and 9 shingles"),
        (lambda: resemblance_interval(4, 15, 9, 9), "more sampled than there is: 15 elements, 4"),
        (lambda: resemblance_interval(2, 2, 1, 9), "more sampled than there is"),
        (lambda: containment_interval(1, 5, 4, 9), "more sampled than there is: 5 elements of A"),
        (lambda: containment_interval(2, 4, 4, 1), "more sampled than there is"),
    ],
)
def test_impossible_counts(call: Callable[[], Estimate], said: str) -> None:
    with pytest.raises(ParameterError, match=said):
        call()


def test_estimate_reads_well() -> None:
    assert str(Estimate(0.6171, 0.5512, 0.6888, 180)) == "0.62 [0.55, 0.69] from 180 samples"
    assert str(Estimate(0.0, 0.0, 0.5, 1)) == "0.00 [0.00, 0.50] from 1 sample"
    assert (
        str(Estimate(0.9994, 0.9991, 0.9997, 9000)) == "0.9994 [0.9991, 0.9997] from 9000 samples"
    )
    assert float(Estimate(0.25, 0.0, 1.0, 4)) == 0.25


# --- what always holds ---------------------------------------------------------------------------


def test_order_range_and_monotony() -> None:
    """low <= value <= high in [0, 1]; more common samples never lower a limit."""
    sizes = [(1, 1), (1, 4), (3, 3), (7, 9), (10, 60), (40, 40), (90, 110)]
    for a, b in sizes + [(1000, 1300), (5000, 5000)] * FULL:
        for n in range(1, a + b + 1, 1 if a + b <= 200 else 97):
            rows = [[resemblance_interval(x, n, a, b) for x in range(min(n, a, b, a + b - n) + 1)]]
            if n <= a:
                rows.append([containment_interval(x, n, a, b) for x in range(min(n, b) + 1)])
            rows.append([agreement_interval(x, n, a, b) for x in range(n + 1)])
            for row in rows:
                assert all(0 <= e.low <= e.value <= e.high <= 1 for e in row), (a, b, n)
                for p, q in pairwise(row):
                    # Limits are rounded, so a few units in the last place do not count.
                    assert p.low <= q.low + 1e-12, (a, b, n)
                    assert p.high <= q.high + 1e-12, (a, b, n)


def test_limits_solve_the_equation() -> None:
    """(x' - n p)^2 = z^2 n p (1 - p) (N - n) / (N - 1) at the moved count x'."""
    for x, n, population in [(3, 40, 90), (30, 40, 400), (200, 900, 1000), (39, 40, 41)]:
        found = containment_interval(x, n, population, population)
        left = (population - n) / (population - 1)
        variance = x * (n - x) / n * left
        share = x / n
        trim = 9.75 * (4 * share * (1 - share)) ** 3 * (1 - 2 * share) * left / math.sqrt(n)
        down = min(0.5, 0.625 / math.sqrt(variance) - max(trim, 0))
        up = min(0.5, 0.625 / math.sqrt(variance) - max(-trim, 0))
        for p, count, bound in (
            (found.low, x - down, x / population),
            (found.high, x + up, (population - n + x) / population),
        ):
            residue = (count - n * p) ** 2 - Z2 * n * p * (1 - p) * left
            assert p == bound or residue == pytest.approx(0, abs=1e-9), (x, n, population)


# --- exact coverage ------------------------------------------------------------------------------

_LOG_FACTORIAL: Floats = np.concatenate([[0.0], np.cumsum(np.log(np.arange(1.0, 10_001.0)))])


class Case(NamedTuple):
    """Two documents, a number of samples, and the probability that the interval holds the truth."""

    size_a: int
    size_b: int
    common: int
    samples: float  # the mean where it is random
    truth: float
    deviation: float  # standard deviation of the number of common samples
    coverage: float

    @property
    def central(self) -> bool:
        return self.samples >= 30 and 0.1 <= self.truth <= 0.9


class Limits(NamedTuple):
    """Both ends of the interval, for each count from 0 on."""

    low: Floats
    high: Floats


class Measure(NamedTuple):
    population: Callable[[int, int, int], int]  # of A, B and their common elements
    limits: Callable[[int, int, int], Limits]  # of samples, A and B


def limits(estimates: Iterable[Estimate]) -> Limits:
    ends = np.array([(e.low, e.high) for e in estimates])
    return Limits(ends[:, 0], ends[:, 1])


@lru_cache(maxsize=3000)
def resemblance_limits(n: int, a: int, b: int) -> Limits:
    return limits(resemblance_interval(x, n, a, b) for x in range(min(n, a, b, a + b - n) + 1))


@lru_cache(maxsize=3000)
def containment_limits(n: int, a: int, b: int) -> Limits:
    return limits(containment_interval(x, n, a, b) for x in range(min(n, b) + 1))


MEASURES = {
    "resemblance": Measure(lambda a, b, t: a + b - t, resemblance_limits),
    "containment": Measure(lambda a, b, t: a, containment_limits),
}


def choose(n: int, k: npt.NDArray[np.int64]) -> Floats:
    """Logarithms of binomial coefficients."""
    return np.asarray(_LOG_FACTORIAL[n] - _LOG_FACTORIAL[k] - _LOG_FACTORIAL[n - k])


def binomial(n: int, share: float) -> Floats:
    if share in (0.0, 1.0):
        return np.asarray(np.eye(n + 1)[n if share else 0], dtype=np.float64)
    x = np.arange(n + 1)
    p = np.exp(choose(n, x) + x * math.log(share) + (n - x) * math.log1p(-share))
    return np.asarray(p / p.sum())


def fixed(measure: Measure, a: int, b: int, t: int, n: int) -> Case:
    """Exactly n samples: min:S, or a modulus sketch given the number of elements it got."""
    population = measure.population(a, b, t)
    truth = t / population
    least = max(0, n - (population - t))
    x = np.arange(least, min(n, t) + 1)
    p = np.exp(choose(t, x) + choose(population - t, n - x) - choose(population, np.array([n])))
    low, high = (ends[least : least + len(x)] for ends in measure.limits(n, a, b))
    covered = float(p[(low <= truth) & (truth <= high)].sum() / p.sum())
    variance = n * truth * (1 - truth) * (population - n) / max(1, population - 1)
    return Case(a, b, t, n, truth, math.sqrt(variance), covered)


def modulus(measure: Measure, a: int, b: int, t: int, m: int) -> Case:
    """mod:M, each element kept with probability 1/m; an empty sample excludes nothing."""
    population = measure.population(a, b, t)
    weights = binomial(population, 1 / m)
    covered = float(weights[0]) + sum(
        float(weights[n]) * fixed(measure, a, b, t, n).coverage
        for n in np.flatnonzero(weights > 1e-9).tolist()
        if n > 0
    )
    mean, truth = population / m, t / population
    return Case(a, b, t, mean, truth, math.sqrt(mean * truth * (1 - truth) * (1 - 1 / m)), covered)


def agreement(k: int) -> Iterator[Case]:
    """perm:K for every resemblance: the coverage has its extremes beside the ends of intervals."""
    low, high = limits(agreement_interval(x, k, 1, 1) for x in range(k + 1))
    near = np.concatenate(
        [low - 1e-9, low + 1e-9, high - 1e-9, high + 1e-9, np.linspace(0, 1, 101)]
    )
    for r in np.unique(near[(near >= 0) & (near <= 1)]).tolist():
        covered = float(binomial(k, r)[(low <= r) & (r <= high)].sum())
        yield Case(0, 0, 0, k, r, math.sqrt(k * r * (1 - r)), covered)


def commons(most: int, steps: int) -> list[int]:
    """Numbers of common elements: the extremes, and evenly in between."""
    if most <= steps:
        return list(range(most + 1))
    ends = {*range(4), *range(most - 3, most + 1)}
    return sorted(ends | {round(most * i / steps) for i in range(steps + 1)})


# What is asked: 93% to 98% of central cases, 94% of others. The mean over n has closer bounds.
LEAST = {True: 0.93, False: 0.94}
MOST = 0.98
LEAST_MEAN = 0.948
MOST_MEAN = 0.978

SIZES = [(5, 5), (5, 9), (9, 5), (20, 20), (15, 90), (35, 35), (50, 50), (60, 45), (100, 100)]
SIZES += [(110, 130), (200, 260), (500, 100)]
if FULL:
    SIZES += [(7, 8), (10, 100), (100, 10), (75, 75), (100, 150), (200, 200), (250, 1000)]
    SIZES += [(500, 500), (1000, 250), (1000, 1000), (2000, 2000)]
DRAWN = [
    *range(1, 13),
    15,
    20,
    25,
    29,
    30,
    31,
    36,
    43,
    50,
    60,
    75,
    84,
    100,
    150,
    200,
    300,
    400,
    800,
]


@pytest.mark.parametrize("name", MEASURES)
@pytest.mark.parametrize(("a", "b"), SIZES)
def test_coverage_of_every_number_of_samples(name: str, a: int, b: int) -> None:
    """93% in the centre and 94% elsewhere, given n: the strongest of the promises. At most 98%
    in the centre, unless the count has so few values that one more or less is too much."""
    measure = MEASURES[name]
    for t in commons(min(a, b), 100 if FULL else 40):
        population = measure.population(a, b, t)
        drawn = {*DRAWN, *(population - left for left in range(5)), population // 2}
        every = range(1, population + 1) if population <= (300 if FULL else 120) else sorted(drawn)
        for n in every:
            if not 0 < n <= population:
                continue
            case = fixed(measure, a, b, t, n)
            assert case.coverage >= LEAST[case.central], case
            if case.central and case.deviation >= 2.5:
                assert case.coverage <= MOST, case
            if n == population:
                assert case.coverage == 1, case


@pytest.mark.parametrize("name", MEASURES)
@pytest.mark.parametrize("population", [1000, 2000, 4000] if FULL else [1000])
def test_coverage_in_large_populations(name: str, population: int) -> None:
    """93% to 98% in the centre, 94% elsewhere, at every truth: no exception for few values.

    At 41 and 42 samples one truth beside 0.1 has 98.014%: the only excess known.
    """
    drawn = [10, 20, 29, *range(30, 46), 50, 60, 84, 100, 200] if FULL else [29, 30, 33, 36, 41, 84]
    for t in range(0, population + 1, 1 if FULL else 3):
        if name == "resemblance":
            a, b = (population + t + 1) // 2, (population + t) // 2
        else:
            a, b = population, population
        for n in drawn:
            case = fixed(MEASURES[name], a, b, t, n)
            assert case.coverage >= LEAST[case.central], case
            if case.central:
                assert case.coverage <= (0.9802 if n in (41, 42) else MOST), case


# Beyond 2,500 samples all is as near to normal as just below, and slow.
MODULI = [
    (a, b, m)
    for a, b in [*SIZES, *[(5000, 5000), (1000, 5000)] * FULL]
    for m in (2, 4, 8, 25)
    if (a + b) / m <= 2500
]


@pytest.mark.parametrize("name", MEASURES)
@pytest.mark.parametrize(("a", "b", "m"), MODULI)
def test_coverage_of_modulus_sketches(name: str, a: int, b: int, m: int) -> None:
    """On the average over n: at least 94.8%, and at most 97.8% in the centre of populations of
    100 or more; 30 samples are then expected ones."""
    measure = MEASURES[name]
    for t in commons(min(a, b), 24 if FULL else 10):
        case = modulus(measure, a, b, t, m)
        assert case.coverage >= LEAST_MEAN, case
        if case.central and measure.population(a, b, t) >= 100:
            assert case.coverage <= MOST_MEAN, case


@pytest.mark.parametrize("name", MEASURES)
@pytest.mark.parametrize("n", [30, 33, 36, 41, 42, 50, 60, 84, 100, 200, 400])
def test_coverage_over_documents_of_many_sizes(name: str, n: int) -> None:
    """93% to 98%, without exception, for collections: n samples of unions that are barely larger
    up to twelve times as large. Where a single one is above 98%, its neighbours are not."""
    for tenths in range(1, 10):
        chance = np.random.default_rng(10 * n + tenths)
        found = []
        for population in chance.integers(5 * n // 4, 12 * n, 40 if FULL else 15).tolist():
            t = round(population * tenths / 10)
            a, b = (population, population)
            if name == "resemblance":
                a, b = (population + t + 1) // 2, (population + t) // 2
            found.append(fixed(MEASURES[name], a, b, t, n).coverage)
        assert 0.93 <= np.mean(found) <= 0.98, (tenths, np.mean(found))


@pytest.mark.parametrize("s", [20, 50, 100, 200, 400])
def test_coverage_of_minimum_sketches(s: int) -> None:
    """min:S has S samples, or the whole union where that is smaller."""
    sizes = [(a, b) for a, b in SIZES if a <= b]
    for a, b in [*sizes, (400, 600), *[(1000, 1500), (5000, 5000)] * FULL]:
        for t in commons(min(a, b), 40 if FULL else 16):
            case = fixed(MEASURES["resemblance"], a, b, t, min(s, a + b - t))
            assert case.coverage >= LEAST[case.central], case
            if case.central and case.deviation >= 2.5:
                assert case.coverage <= MOST, case


@pytest.mark.parametrize("k", [*range(1, 131 if FULL else 51), 64, 84, 128, 200, 256, 400, 1000])
def test_coverage_of_permutation_sketches(k: int) -> None:
    """93% to 98% in the centre and 94% elsewhere, for every K and every resemblance."""
    for case in agreement(k):
        assert case.coverage >= LEAST[case.central], case
        if case.central:
            assert case.coverage <= MOST, case


# --- the real sketches ---------------------------------------------------------------------------

SEEDS = 10_000 if FULL else 1500


class Simulation(NamedTuple):
    select: str
    a: int
    b: int
    t: int
    measure: str = "resemblance"
    bits: int = 64

    def run(self, seeds: int = SEEDS) -> list[Estimate]:
        """One estimate for each seed: every seed is a permutation of its own."""
        one = [f"feature {i}" for i in range(self.a)]
        two = [f"feature {i}" for i in range(self.a - self.t, self.a - self.t + self.b)]
        found = []
        for seed in range(seeds):
            sketcher = Sketcher(select=self.select, seed=seed, bits=self.bits)
            a, b = sketcher.sketch_features(one), sketcher.sketch_features(two)
            found.append(a.resemblance(b) if self.measure == "resemblance" else a.containment(b))
        return found


SIMULATIONS = [
    (Simulation("mod:4", 300, 400, 200), 4),
    (Simulation("mod:25", 1200, 900, 700), 25),
    (Simulation("mod:25", 1200, 900, 700, bits=40), 25),
    (Simulation("mod:2", 60, 40, 30, "containment"), 2),
    (Simulation("mod:8", 500, 700, 450, "containment"), 8),
    (Simulation("min:100", 150, 300, 90), None),
    (Simulation("min:50", 400, 400, 350), None),
    # Sizes of levels 1 and 3, 2 and 0: the finer sketch is reduced to the coarser.
    (Simulation("adaptive:50", 120, 500, 100), 8),
    (Simulation("adaptive:50", 350, 90, 60, "containment"), 4),
    (Simulation("perm:84", 100, 120, 70), None),
    (Simulation("perm:128", 6, 5, 4), None),
]


@pytest.mark.parametrize(("simulation", "m"), SIMULATIONS, ids=lambda value: str(value))
def test_sketches_behave_as_computed(simulation: Simulation, m: int | None) -> None:
    """Mean, variance and coverage are those of random samples, to 4 standard errors."""
    select, a, b, t, name, _ = simulation
    measure = MEASURES[name]
    population = measure.population(a, b, t)
    truth = t / population
    found = simulation.run()
    samples = np.array([e.samples for e in found], dtype=np.float64)
    left = (population - samples) / (population - 1) if not select.startswith("perm") else 1.0
    variance = float(np.mean(truth * (1 - truth) / samples * left))
    values = np.array([e.value for e in found])
    assert abs(values.mean() - truth) <= 4 * math.sqrt(variance / SEEDS)
    assert values.var() / variance == pytest.approx(1, abs=4 * math.sqrt(2 / SEEDS))

    if m is not None:
        exact = modulus(measure, a, b, t, m).coverage
        assert samples.mean() == pytest.approx(
            population / m, abs=4 * math.sqrt(population / m / SEEDS)
        )
    elif select.startswith("min"):
        assert set(samples) == {float(select.removeprefix("min:"))}
        exact = fixed(measure, a, b, t, int(samples[0])).coverage
    else:
        k = int(samples[0])
        low, high = limits(agreement_interval(x, k, a, b) for x in range(k + 1))
        exact = float(binomial(k, truth)[(low <= truth) & (truth <= high)].sum())
    covered = sum(e.low <= truth <= e.high for e in found) / SEEDS
    assert abs(covered - exact) <= 4 * math.sqrt(exact * (1 - exact) / SEEDS)
    assert 0.93 <= exact <= 0.98


def test_small_documents_are_exact_end_to_end() -> None:
    """All of both documents kept: no width, whatever the seed."""
    for select in ("all", "mod:1", "min:200", "adaptive:200"):
        for measure, truth in (("resemblance", 60 / 120), ("containment", 60 / 100)):
            if select.startswith("min") and measure == "containment":
                continue
            simulation = Simulation(select, 100, 80, 60, measure)
            for e in simulation.run(seeds=20):
                assert (e.value, e.low, e.high) == (truth, truth, truth)
