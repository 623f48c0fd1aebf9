"""Who goes is known before why: what is found later is the same, and whoever writes meanwhile does
not wait for it in vain."""

import json
import os
import random
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import roughly
from roughly import _core
from roughly.cli.main import main
from roughly.clustering.sketching import Progress
from roughly.deduplication import output, run
from roughly.deduplication.removal import NEAR, Decision, GivenUp, Removals
from roughly.errors import DocumentError

W = 5
THRESHOLD = Fraction(7, 10)


def families(count: int, members: int, words: int) -> list[str]:
    """Texts whose sketches are samples. Those of a family are alike to all degrees, so that many
    go for a reason that others may be better than."""
    chance = random.Random(5)
    texts = []
    for family in range(count):
        base = [f"f{family}w{n}" for n in range(words)]
        for _ in range(members):
            changed = base.copy()
            for place in chance.sample(range(words), chance.randrange(1, words // 18)):
                changed[place] = f"x{chance.randrange(10**9)}"
            texts.append(" ".join(changed))
    chance.shuffle(texts)
    return texts


def shingles(text: str) -> set[tuple[str, ...]]:
    words = text.split()
    return {tuple(words[i : i + W]) for i in range(len(words) - W + 1)}


def best_reasons(texts: list[str]) -> dict[int, tuple[int, Fraction]]:
    """By the rule, on complete sets: who goes for whom."""
    sets = [shingles(text) for text in texts]
    kept: list[int] = []
    gone = {}
    for new, own in enumerate(sets):
        found = []
        for old in kept:
            common = len(own & sets[old])
            found.append((Fraction(common, len(own | sets[old])), -old))
        best, old = max(found, default=(Fraction(0), 0))
        if best >= THRESHOLD:
            gone[new] = -old, best
        else:
            kept.append(new)
    return gone


@pytest.fixture(scope="module")
def texts() -> list[str]:
    return families(count=6, members=25, words=1500)


@pytest.fixture
def lines(texts: list[str], tmp_path: Path) -> Path:
    path = tmp_path / "in.jsonl"
    rows = [json.dumps({"id": str(n), "text": text}) for n, text in enumerate(texts)]
    path.write_text("\n".join(rows) + "\n")
    return path


def rows_of(path: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in path.read_text().splitlines()]


def test_reasons_are_the_best(
    texts: list[str], lines: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """At once from Python, and beside the writing by the command. By one thread: which pairs are
    looked at may depend on who of several is faster, what is found does not."""
    decide = _core.greedy_decide
    for_reasons: dict[bool, int] = {}  # whether by the first thread -> pairs

    def watched(*columns: Any, reasons: bool) -> Any:
        fate, wanted, likely = decide(*columns, reasons=reasons)
        if reasons:
            first = threading.current_thread() is threading.main_thread()
            for_reasons[first] = for_reasons.get(first, 0) + len(wanted)
        return fate, wanted, likely

    monkeypatch.setattr(_core, "greedy_decide", watched)
    expected = best_reasons(texts)
    assert len(expected) > 50 and len({old for old, _ in expected.values()}) >= 6
    table = roughly.dedup(lines, threshold=float(THRESHOLD), threads=1).removals().to_pylist()
    assert list(for_reasons) == [True]
    output = lines.with_name("out.jsonl")
    assert main(["dedup", str(lines), "-o", str(output), "--quiet", "--threads", "1"]) == 0
    assert for_reasons[False] == for_reasons[True] > 0, "some are counted for the reasons alone"
    for rows in (table, rows_of(Path(f"{output}.removals.jsonl"))):
        assert [int(row["removed"]) for row in rows] == list(expected)
        for row, (old, best) in zip(rows, expected.values(), strict=True):
            assert (int(row["kept"]), row["resemblance"]) == (old, float(best))


def test_standard_output_waits_for_reasons(
    lines: Path, monkeypatch: pytest.MonkeyPatch, capsysbinary: pytest.CaptureFixture[bytes]
) -> None:
    """Nothing can be taken back of it, if they fail."""

    def find(progress: Progress) -> Removals:
        raise DocumentError("in.jsonl: has changed", hint="begin anew")

    monkeypatch.setattr(run, "decide", lambda *_: Decision(np.arange(3), find))
    assert main(["dedup", str(lines), "-o", "-"]) == 2
    out, err = capsysbinary.readouterr()
    assert out == b"" and b"in.jsonl: has changed" in err


def test_who_goes_is_known_before_why(lines: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[int] = []
    found = Decision.removals

    def removals(self: Decision, progress: Progress = run.no_progress) -> Removals:
        asked.append(len(self.removed))
        return found(self, progress)

    monkeypatch.setattr(Decision, "removals", removals)
    result = roughly.dedup(lines, threshold=float(THRESHOLD))
    assert len(asked) == 1, "whoever calls dedup gets all of it"
    assert result.removed == asked[0] == len(found(result._decision))
    assert (result._decision.removed == found(result._decision).removed).all()


def none_left(progress: Progress, until: Callable[[], bool]) -> Removals:
    """Tells of progress as a search that takes very long."""
    advance = progress("count", None, "pairs")
    begin = time.monotonic()
    while not until():
        assert time.monotonic() - begin < 60
        advance(1)
        time.sleep(0.001)
    none = np.zeros(0, np.int64)
    return Removals(none, none, none > 0, none.astype(np.uint8), none + 0.0, none + 0.0)


def test_giving_up() -> None:
    decision = Decision(np.arange(3), lambda progress: none_left(progress, lambda: False))
    errors: list[BaseException] = []

    def ask() -> None:
        try:
            decision.removals()
        except GivenUp as error:
            errors.append(error)

    thread = threading.Thread(target=ask)
    thread.start()
    decision.give_up()
    thread.join(60)
    assert len(errors) == 1


def test_what_is_known_stays_known() -> None:
    calls: list[int] = []

    def find(progress: Progress) -> Removals:
        calls.append(1)
        return none_left(progress, lambda: True)

    decision = Decision(np.zeros(0, np.int64), find)
    first = decision.removals()
    decision.give_up()
    assert decision.removals() is first and len(calls) == 1
    rows = np.arange(2)
    known = Removals(rows, rows + 2, rows > 5, np.full(2, NEAR, np.uint8), rows + 0.5, rows + 0.5)
    assert Decision.of(known).removals() is known


def written_with(decision: Decision, lines: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The command, in this process, with another search for reasons."""
    monkeypatch.setattr(run, "decide", lambda *_: decision)
    assert main(["dedup", str(lines), "-o", str(lines.with_name("out.jsonl")), "--quiet"]) == 2
    assert [path.name for path in sorted(lines.parent.iterdir())] in (
        ["in.jsonl"],
        ["in.jsonl", "out.jsonl.unfinished"],
    )


def test_a_failed_copy_does_not_wait_for_reasons(
    lines: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def fail(*_: Any, **__: Any) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(output, "_copy", fail)
    decision = Decision(np.arange(3), lambda progress: none_left(progress, lambda: False))
    written_with(decision, lines, monkeypatch)
    assert "no space left" in capsys.readouterr().err


def test_reasons_that_fail_leave_no_output(
    lines: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def find(progress: Progress) -> Removals:
        raise DocumentError("in.jsonl: has changed", hint="begin anew")

    written_with(Decision(np.arange(3), find), lines, monkeypatch)
    assert "in.jsonl: has changed" in capsys.readouterr().err


SLOW = """
import sys, threading, time
from roughly.deduplication import decision
from roughly.verification.exact import Verifier
count = Verifier.count
def slowly(self, a, b, advance, **options):
    found = count(self, a, b, advance, **options)
    if threading.current_thread() is not threading.main_thread():
        print("counting", flush=True)
        for _ in range(60_000):
            advance(0)
            time.sleep(0.001)
    return found
Verifier.count = slowly
from roughly.cli.main import run
sys.exit(run())
"""


@pytest.mark.skipif(os.name != "posix", reason="needs signals")
def test_an_interruption_while_reasons_are_counted(lines: Path) -> None:
    """The copy of what stays has long been made; the run ends at once, and goes on."""
    command = ["dedup", str(lines), "-o", str(lines.with_name("out.jsonl")), "--threads", "1"]
    with subprocess.Popen(
        [sys.executable, "-c", SLOW, *command],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    ) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == "counting\n"
        time.sleep(0.5)
        process.send_signal(signal.SIGINT)
        _, err = process.communicate(timeout=30)
    assert process.returncode == 130, err
    assert err.splitlines()[-1].startswith("roughly: interrupted; the same command goes on from")
    assert sorted(path.name for path in lines.parent.iterdir()) == [
        "in.jsonl",
        "out.jsonl.unfinished",
    ]
    assert main([*command, "--quiet"]) == 0
    assert len(rows_of(lines.with_name("out.jsonl.removals.jsonl"))) > 50
