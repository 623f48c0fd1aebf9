"""The benchmarks of Hamming distances run, and notice an answer that is wrong."""

from pathlib import Path

import numpy as np

from bench.hamming import check_index, run_index
from bench.hamming_data import by_chance, expected, moved, near, random_simhashes
from bench.hamming_join import run_join
from bench.hamming_peer import run_peers
from bench.hamming_seen import run_seen
from roughly import HammingIndex


def test_everything_runs_and_is_right(tmp_path: Path) -> None:
    sections = [
        run_index(20_000, tmp_path),
        run_join(3000, 30_000, tmp_path),
        run_seen(150_000, tmp_path),
        run_peers(20_000),
    ]
    for section in sections:
        assert section.checks, section.name
        assert [check.name for check in section.checks if not check.passed] == []
        assert list(section.lines())


def test_planted_simhashes_are_as_far_as_said() -> None:
    values = random_simhashes(500, 1)
    for bits in (0, 1, 3, 11):
        far = np.bitwise_xor(values, moved(values, bits, 2))
        assert {bin(x).count("1") for x in far.tolist()} == {bits}
    assert near(np.array([0, 7, 15], np.uint64), 0, 3) == [0, 1]


def test_a_wrong_index_is_noticed() -> None:
    """One that misses what is 3 bits away, and one that finds what is 4 bits away."""
    values = random_simhashes(5000, 1)
    for k in (2, 4):
        index = HammingIndex(values, k)
        checks = check_index("x", lambda x, i=index: i.find(x).tolist(), values, 3, 50)
        assert not all(check.passed for check in checks)
    assert expected(2**34, 1, 3) == 43745 / 2**30
    assert by_chance(5, 2.4)
    assert not by_chance(50, 2.4)
