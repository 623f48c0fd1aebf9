"""The score of lost pages is what a count by hand says."""

import pytest

from bench.lost import menus, score
from roughly.corpus.lost import Move


def move(old: str, new: str | None, confidence: float) -> Move:
    return Move(old, new, "gone" if new is None else "moved", None, None, confidence)


def test_score() -> None:
    labels: dict[str, tuple[str, str | None]] = {f"a{n}": ("moved", f"b{n}") for n in range(20)}
    labels |= {"g1": ("gone", None), "g2": ("gone", None), "m": ("merged", "c")}
    # 19 right ones between 0.9 and 0.7; a wrong one surer than all; a gone page claimed at last.
    moves = [move(f"a{n}", f"b{n}", 0.9 - n / 100) for n in range(19)]
    moves += [move("a19", "b3", 0.95), move("g1", "x", 0.6), move("g2", None, 0.9)]
    moves += [move("m", "c", 0.99), move("not labelled", "x", 1)]
    found = score(moves, labels)
    assert (found.moved, found.gone) == (20, 2)
    assert (found.right, found.wrong, found.claimed) == (19, 2, 1)
    assert found.recall == 19 / 20
    assert found.precision == 19 / 21
    assert found.precision_at == pytest.approx(19 / 20)  # before the gone page is claimed


def test_menus(tmp_path: object) -> None:
    section = menus(60, 0, str(tmp_path))
    assert all(result.reached for result in section.results)
