"""The page and the lines of changes: numbers of a web counted by hand, and pages that are well
formed, hold no foreign markup, ask nobody for anything and stay small, whatever the corpus."""

import base64
import hashlib
import re
from dataclasses import replace

import pytest

from roughly.corpus.changes import Changes, Interval, PageChange
from roughly.corpus.history import History, Version
from roughly.corpus.lost import Move, Step, Trace
from roughly.report.change_lines import (
    can_draw,
    certainty,
    change_lines,
    history_lines,
    move_lines,
    page_lines,
    strip,
    trace_lines,
)
from roughly.report.change_page import page
from roughly.report.change_plots import births
from tests.test_changes import A, small_web
from tests.test_report_cluster import HOSTILE, Page


def checked(changes: Changes, title: str = "") -> tuple[str, Page]:
    source = page(changes, title)
    assert len(source.encode()) < 1_000_000
    found = Page(source)
    tags = [tag for tag, _ in found.elements]
    assert (tags.count("script"), tags.count("style"), tags.count("h1")) == (0, 1, 1)
    assert not {"img", "iframe", "link", "object", "embed", "form", "image", "use"} & set(tags)
    assert not [key for _, each in found.elements for key in each if key.startswith("on")]
    assert not found.attributes("src") + found.attributes("style")
    ids = found.attributes("id")
    assert len(ids) == len(set(ids))
    assert all(href[:1] == "#" and href[1:] in ids for href in found.attributes("href"))
    (policy,) = [each["content"] for _, each in found.elements if "http-equiv" in each]
    digest = hashlib.sha256(found.content["style"].encode()).digest()
    assert policy.startswith("default-src 'none'; ")
    assert f"style-src 'sha256-{base64.b64encode(digest).decode()}'" in policy
    assert not re.search(r"https?:|url\(|@import", found.content["style"])
    return source, found


def test_numbers_of_the_page() -> None:
    source, found = checked(small_web()[1], "site")
    assert "<title>site: 23.1% of pages change from one sweep to the next</title>" in source
    assert [row[1:] for row in found.tables["resemblance"]][4:] == [
        ["1"],
        *[["0"]] * 3,
        ["1"],
        ["0"],
        ["1"],
    ]
    assert found.tables["survival"][1:] == [
        ["2026-01-01", "7", "100%", "7", "100%"],
        ["2026-01-31", "5", "71.4%", "6", "85.7%"],
        ["2026-03-02", "4", "57.1%", "6", "85.7%"],
    ]
    assert found.tables["births"][1:] == [
        ["2026-01-31", "1", "1", "0", "2", "1"],
        ["2026-03-02", "2", "1", "1", "2", "1"],
    ]
    numbers = found.tables["fates"][-2:]
    assert numbers[0][1:] == ["4", "1", "1", "0", "0", "1", "0.950"]
    assert numbers[1][1:] == ["2", "2", "0", "1", "0", "1", "0.550"]
    assert [row[0] for row in found.tables["restless"][1:]] == [
        f"{A}/edited",
        f"{A}/back",
        f"{A}/twin",
    ]
    assert len(found.tables["moved"]) == 1 + 3


def hostile_page(number: int) -> PageChange:
    name = f"{number}{HOSTILE}" * 20
    return PageChange(name, HOSTILE, HOSTILE, 3, 2, 0.5, 0.1, "moved", [name])


@pytest.mark.parametrize("count", [0, 1, 3000])
def test_any_names_and_any_number(count: int) -> None:
    interval = Interval(
        HOSTILE, HOSTILE, None, 9, 8, 2, 3, 1, 1, 0, 0, 0, 0, 1, 1, None, [2] + [0] * 9
    )
    changes = Changes(
        [HOSTILE] * (count + 1),
        3 * count,
        [hostile_page(n) for n in range(count)],
        [interval] * count,
        [(HOSTILE, 9, 9)] * (count + 1),
    )
    source, _ = checked(changes, HOSTILE)
    assert "<script" not in source
    assert "alert(1)</" not in source


def test_nothing() -> None:
    checked(Changes([], 0, [], [], []))
    said = next(change_lines(Changes([], 0, [], [], []), True))
    assert said == "0 sweeps: 0 pages, 0 versions"


# --- lines --------------------------------------------------------------------------------------


def history() -> History:
    versions = [
        Version("d1", "x", 100, 90, None, None, None),
        Version("d2", "x", 100, 90, False, 1.0, 1.0),
        Version("d4", "x", 120, 99, True, 0.99, 0.99),
        Version("d5", "x", 120, 99, True, 0.0, 0.0),
        Version("d6", "x", 120, 99, True, 0.5, 0.2),
    ]
    moves = [Move("x", "y", "moved", 0.5, 0.75, 0.9)]
    step = Step("d6", "d7", moves, [replace(moves[0], new="z", confidence=0.2)])
    trace = Trace("x", "d1", "d6", "d7", "d6", None, None, [step], moves)
    return History("x", ["d0", "d1", "d2", "d3", "d4", "d5", "d6", "d7"], versions, trace)


def test_strip() -> None:
    assert strip(history(), True) == "│█·▇▁▄·"
    assert strip(history(), False) == "|=.905."
    assert can_draw("utf-8")
    assert not can_draw("ascii")
    assert not can_draw(None)


def test_history() -> None:
    lines = list(history_lines(history(), False))
    assert lines[:2] == ["x", "|=.905.  in 5 sweeps, 3 changes"]
    assert lines[4].split() == ["d1", "100", "first", "seen"]
    assert lines[6].split() == ["d4", "0.990", "0.990", "120", "changed"]
    assert [line.strip() for line in lines[9:]] == [
        "last seen there on d6",
        "moved by d7, confidence 0.90",
        "y",
        "resemblance 0.500; 75% of the old text is there",
        "less likely",
        "z",
        "0.20: resemblance 0.500; 75% of the old text is there",
    ]


def test_traces() -> None:
    trace = history().trace
    there = replace(trace, last_seen="d7", resemblance_there=0.25, steps=[])
    assert list(trace_lines(there)) == [
        "still there on d7, last changed by d6",
        "  resemblance 0.250 to the version before",
    ]
    assert "unchanged since d1" in next(trace_lines(replace(there, changed=None)))
    reused = list(trace_lines(replace(there, reused="d7", steps=trace.steps)))
    assert reused[:3] == [
        "the URL is there on d7, but with another text since d7:",
        "  resemblance 0.250 to the version before",
        "moved by d7, confidence 0.90",
    ]
    gone = Move("x", None, "gone", None, None, 0.6)
    step = Step("d6", "d7", [gone], [Move("x", "z", "moved", 0.3, 0.4, 0.4)])
    assert list(trace_lines(replace(trace, steps=[step]))) == [
        "last seen there on d6",
        "gone: nothing is enough like it after d6, up to d7, confidence 0.60",
        "less likely",
        "  z",
        "  0.40: resemblance 0.300; 40% of the old text is there",
    ]


def test_what_is_not_certain_is_not_told_as_one() -> None:
    assert [certainty(value) for value in (1, 0.998, 0.99, 0.5)] == ["1.00", "0.99", "0.99", "0.50"]


def test_lines_upon_each_other_are_one() -> None:
    """Ten pages of which one leaves and one is born at each sweep; and only one interval."""
    interval = Interval("a", "b", 1, 10, 9, 0, 1, 0, 1, 1, 0, 0, 0, 0, 1, None, [0] * 10)
    dates = ["2026-01-01", "2026-01-02", "2026-01-03"]
    survival = [(date, 10, 10) for date in dates]
    changes = Changes(dates, 30, [], [interval] * 2, survival)
    assert "new, and left their URL" in births(changes)
    lone = births(Changes(dates[:2], 20, [], [interval], survival[:2]))
    assert "<svg" not in lone
    assert "Left their URL" in lone


def test_tables() -> None:
    _, changes = small_web()
    said = list(change_lines(changes, False))
    assert said[0] == "3 sweeps from 2026-01-01 to 2026-03-02: 10 pages, 20 versions"
    assert "2026-01-01 to 2026-01-31, 30 days: 7 pages" in said
    assert "a page changes every 90 days" in said
    assert "  changed ones resemble what they were by 0.550 (median)" in said
    assert (
        "of the 7 pages of 2026-01-01, 4 (57.1%) are at their URL on 2026-03-02, 6 (85.7%) anywhere"
        in said
    )
    # Every page changes, and every day.
    often = replace(changes.intervals[0], days=1, stayed=7, changed=7, vanished=0)
    daily = list(change_lines(replace(changes, intervals=[often]), False))
    assert "a page changes every 1 day" in daily
    assert any(line.endswith("0 0 0 1 0 0 0 1 0 1") for line in said)
    assert len(list(page_lines(changes))) == 11
    gone = Move("http://a.example/\x1b[31m", None, "gone", None, None, 0.9)
    lines = list(move_lines([gone, Move("a", "b", "same", 1, 1, 1)]))
    assert "\x1b" not in lines[1]
    assert lines[2].split() == ["same", "1.00", "1.000", "1.000", "a", "->", "b"]
