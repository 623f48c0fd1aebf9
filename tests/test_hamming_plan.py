"""Designs and plans: the paper's own numbers, and that no difference escapes a design."""

import json
from itertools import combinations
from math import comb

import pytest
from hypothesis import given
from hypothesis import strategies as st

from roughly import HammingIndex
from roughly.cli.main import main
from roughly.errors import ParameterError
from roughly.hamming.cost import cost
from roughly.hamming.design import Design, compact, paper, parse_design, probe_count
from roughly.hamming.plan import (
    choose,
    expected_matches,
    fewest_tables,
    most_key_bits,
    ours,
    papers,
    plan,
)
from tests.test_hamming import random

PAPER = 2**34


def escapes(design: Design, differing: int) -> bool:
    """Whether no table would find two simhashes with this XOR."""
    return all((differing & t.leading).bit_count() > t.radius for t in design.tables)


# --- the paper ------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("name", "tables", "key_bits", "matches"),
    [
        ("tables:6", 20, {31, 32, 33}, 8),
        ("tables:4+4", 16, {28}, 64),
        ("tables:5", 10, {25, 26}, 512),
        ("tables:4", 4, {16}, 256 * 1024),
    ],
)
def test_example_3_1(name: str, tables: int, key_bits: set[int], matches: int) -> None:
    design = parse_design(name, 64, 3)
    assert len(design.tables) == tables
    assert {table.key_bits for table in design.tables} == key_bits
    assert PAPER / 2 ** min(key_bits) == matches
    # 3.1.2 finds no fewer tables for as many bits.
    assert fewest_tables(64, 3, PAPER, min(key_bits))[0] == tables


def test_example_3_1_in_the_plan(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["hamming", "plan", "--documents", str(PAPER), "-k", "3"]) == 0
    rows = {line.split()[0]: line.split() for line in capsys.readouterr().out.splitlines()[3:7]}
    assert [rows[name][1:5] for name in ("tables:6", "tables:4+4", "tables:5", "tables:4")] == [
        ["20", "20", "31-33", "8"],
        ["16", "16", "28", "64"],
        ["10", "10", "25-26", "512"],
        ["4", "4", "16", "256K"],
    ]


def test_blocks_of_example_3_1() -> None:
    """11, 11, 11, 11, 10, 10: the first table has the three highest blocks in front."""
    design = paper([6], 64, 3)
    assert design.tables[0].leading == (2**33 - 1) << 31
    assert design.tables[-1].leading == 2**31 - 1
    assert len({table.leading for table in design.tables}) == 20


def test_recurrence_by_hand() -> None:
    """For 16 bits 4 tables do; one more bit needs r = 5, whose keys are of 25.6 bits."""
    assert fewest_tables(64, 3, PAPER, 16) == (4, [4])
    assert fewest_tables(64, 3, PAPER, 17) == (10, [5])
    assert fewest_tables(64, 3, PAPER, 25) == (10, [5])
    assert fewest_tables(64, 3, PAPER, 26) == (16, [4, 4])
    assert fewest_tables(64, 1, PAPER, 32) == (2, [2])
    assert fewest_tables(64, 0, PAPER, 64)[0] == 1
    assert most_key_bits(64, 3, PAPER, 4) == 16
    assert most_key_bits(64, 3, PAPER, 15) == 25
    assert most_key_bits(64, 3, PAPER, 16) == 28
    with pytest.raises(ParameterError, match="tables: too few: 3, wanted at least 4"):
        most_key_bits(64, 3, PAPER, 3)
    with pytest.raises(ParameterError, match="key bits: out of range: 64"):
        fewest_tables(64, 3, PAPER, 64)


def test_chance() -> None:
    """1 + 64 + 2,016 + 41,664 simhashes are within 3 bits."""
    assert expected_matches(2**34, 64, 3) == 43745 / 2**30
    assert probe_count(64, 3) == 43745
    assert probe_count(2, 5) == 4


# --- nothing escapes ------------------------------------------------------------------------------


@given(st.sampled_from([3, 8, 12, 13]), st.integers(0, 4), st.data())
def test_no_difference_escapes(bits: int, k: int, data: st.DataObject) -> None:
    """Every XOR of at most k bits, for every design of few bits."""
    names = [f"compact:{m}" for m in range(1, min(k + 1, bits) + 1)]
    names += [f"tables:{k + extra}" for extra in (1, 2, 3)] + [f"tables:{k + 1}+{k + 1}"]
    name = data.draw(st.sampled_from(names))
    try:
        design = parse_design(name, bits, k)
    except ParameterError:
        return
    for ones in range(min(k, bits) + 1):
        for places in combinations(range(bits), ones):
            assert not escapes(design, sum(1 << place for place in places))


def test_radii_are_as_small_as_can_be() -> None:
    """The sum of radius + 1 is k + 1, and some difference of k + 1 bits escapes."""
    for k in range(11):
        for blocks in range(1, k + 2):
            design = compact(blocks, 64, k)
            assert sum(table.radius + 1 for table in design.tables) == k + 1
            widths = [table.key_bits for table in design.tables]
            assert (sum(widths), max(widths) - min(widths)) in ((64, 0), (64, 1))
    assert escapes(compact(2, 64, 3), 0b11 << 40 | 0b11)
    assert [t.radius for t in compact(3, 64, 10).tables] == [3, 3, 2]


# --- costs ----------------------------------------------------------------------------------------


@pytest.mark.parametrize("count", [1000, 50_000, 300_000])
@pytest.mark.parametrize("coding", ["elias-fano", "plain", "xor-block"])
def test_bytes_are_as_planned(count: int, coding: str) -> None:
    values = random(count, 1)
    for name in ("compact:2", "compact:4", "tables:4"):
        index = HammingIndex(values, 3, design=name, coding=coding)
        planned = cost(parse_design(name, 64, 3), coding, count).bytes
        assert abs(index.nbytes - planned) < 0.03 * planned + 20_000, (name, index.nbytes)


def test_twelve_bytes_with_positions() -> None:
    """The target for 100 million, from the arithmetic that the test above holds to be right."""
    best = choose(100_000_000, 64, 3)
    assert best.name == "compact:2"
    assert cost(best, "elias-fano", 100_000_000).bytes <= 12 * 100_000_000


def test_choice() -> None:
    assert choose(0, 64, 3).name == choose(100, 64, 3).name == "scan"
    assert choose(100_000_000, 64, 10).name == "compact:3"
    assert choose(100_000_000, 64, 3, memory_bytes=900_000_000).name == "compact:1"
    assert choose(100_000_000, 64, 3, memory_bytes=810_000_000).name == "scan"
    for k in range(11):
        assert len(list(ours(10**8, 64, k))) >= 1
        assert plan(10**8, 64, k)[-1].design.name == "scan"
        assert all(comb(64, k) > 0 and row.cost.find_ns > 0 for row in plan(10**8, 64, k))


def test_plan_as_json(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["hamming", "plan", "--documents", str(PAPER), "-k", "3", "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert (found["documents"], found["k"], found["recommended"]) == (PAPER, 3, "compact:2")
    first = found["designs"][0]
    assert (first["design"], first["tables"], first["key_bits"], first["matches"]) == (
        *("tables:6", 20, [31, 33], 8.0),
    )
    assert main(["hamming", "plan", "--documents", "99", "--key-bits", "16", "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert found == {"key_bits": 16, "tables": 4, "design": "tables:4"}
    assert main(["hamming", "plan", "--documents", str(PAPER), "--tables", "16"]) == 0
    assert capsys.readouterr().out == ("16 tables have at least 28 leading bits: tables:4+4\n")


def test_more_than_one_index_holds() -> None:
    """All of several indexes are asked: each costs what one of its size does."""
    most = 2**31 - 1
    design = parse_design("compact:2", 64, 3)
    one = cost(design, "elias-fano", most)
    nine = cost(design, "elias-fano", 9 * most)
    assert nine.find_ns == pytest.approx(9 * one.find_ns)
    assert (nine.bytes, nine.probes) == (pytest.approx(9 * one.bytes), 9 * one.probes)
    assert cost(design, "elias-fano", most + 1).find_ns > 1.5 * one.find_ns


def test_a_plan_says_how_many_indexes(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["hamming", "plan", "--documents", str(PAPER), "-k", "3", "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert found["indexes"] == 9
    compact = next(each for each in found["designs"] if each["design"] == "compact:2")
    alone = cost(parse_design("compact:2", 64, 3), "elias-fano", -(-PAPER // 9))
    assert compact["find_seconds"] == pytest.approx(9 * alone.find_ns / 1e9)
    assert main(["hamming", "plan", "--documents", str(PAPER)]) == 0
    assert "in 9 indexes" in capsys.readouterr().out


def test_what_does_not_fit_is_left_out(capsys: pytest.CaptureFixture[str]) -> None:
    """Tables of 8 bytes and positions of 31 bits each: 20 tables of 2^34 take 2.8 TB."""
    assert main(f"hamming plan --documents {PAPER} --memory 300G --json".split()) == 0
    found = json.loads(capsys.readouterr().out)
    names = [each["design"] for each in found["designs"]]
    assert "tables:6" not in names and "scan" in names
    assert all(each["bytes"] <= 300 << 30 for each in found["designs"])
    assert found["recommended"] in names
    # A small index needs little: a million simhashes of 8 bytes.
    assert main("hamming plan --documents 1000000 --memory 9M".split()) == 0
    assert "take " in capsys.readouterr().out
    assert choose(1000, 16, 0, memory_bytes=7000).name != "scan"


def test_no_design_twice() -> None:
    assert [design.name for design in papers(64, 0)] == ["tables:1"]
    assert [design.name for design in papers(64, 3)] == [
        *("tables:6", "tables:4+4", "tables:5", "tables:4")
    ]
