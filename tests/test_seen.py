"""A growing index answers as a list would, whatever was sealed and merged, and survives its end."""

import os
import random
import shutil
import signal
import subprocess
import sys
import threading
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import roughly
from roughly.errors import BusyError, DamageError, MismatchError, ParameterError
from roughly.hamming.seen_log import read_log
from tests.optional import FULL
from tests.reference import hamming as reference
from tests.strategy_hamming import clustered

# Seals and merges all the time.
SMALL = 8


@st.composite
def histories(draw: st.DrawFn) -> tuple[int, int, list[tuple[str, list[int]]]]:
    """bits, k, and what is done: calls with their simhashes."""
    bits = draw(st.sampled_from([64, 64, 12]))
    k = draw(st.sampled_from([0, 1, 3, 3, 6, 10]))
    kinds = st.sampled_from(["seen", "seen", "one", "add", "find", "reopen"])
    steps = draw(
        st.lists(st.tuples(kinds, clustered(bits, 1, 30, flips=k + 2)), min_size=1, max_size=8)
    )
    return bits, k, steps


@pytest.mark.core
@settings(max_examples=300 if FULL else 25)
@given(histories())
def test_answers_as_a_list(
    tmp_path_factory: pytest.TempPathFactory,
    history: tuple[int, int, list[tuple[str, list[int]]]],
) -> None:
    bits, k, steps = history
    directory = tmp_path_factory.mktemp("seen")
    stored: list[int] = []
    index = roughly.SeenIndex(directory, k, bits=bits, memory_simhashes=SMALL)
    try:
        for kind, values in steps:
            if kind == "seen":
                wanted = [reference.seen(stored, x, k) for x in values]
                assert index.seen(np.array(values, np.uint64)).tolist() == wanted
            elif kind == "one":
                near = reference.nearest(stored, values[0], k)
                assert index.seen(values[0]) == near
                if near is None:
                    stored.append(values[0])
            elif kind == "add":
                index.add(values)
                stored += values
            elif kind == "find":
                assert index.find(values[0]).tolist() == reference.find(stored, values[0], k)
            else:
                index.close()
                index = roughly.SeenIndex(directory, k, bits=bits, memory_simhashes=SMALL)
            assert len(index) == len(stored)
        assert index.simhashes().tolist() == stored
        index.wait()
        assert index.simhashes().tolist() == stored
    finally:
        index.close()


def test_a_batch_is_its_members_in_order(tmp_path: Path) -> None:
    with roughly.SeenIndex(tmp_path / "a", 3) as index:
        assert index.seen(np.array([0b0, 0b111, 0b1111111, 0b0], np.uint64)).tolist() == [
            -1,  # new
            0,  # three bits from the first
            -1,  # four from the second, which was not added; seven from the first
            0,
        ]
        assert index.simhashes().tolist() == [0, 0b1111111]
        assert index.seen(0b11111) == (1, 0b1111111, 2)
        assert index.seen(0b1111) == (1, 0b1111111, 3)


def test_large_batches_and_threads(tmp_path: Path) -> None:
    """Many threads ask for the same simhashes: each is added once."""
    values = np.random.default_rng(1).integers(0, 2**64, 150_000, np.uint64)
    with roughly.SeenIndex(tmp_path / "a", 3, memory_simhashes=30_000) as index:
        answers: list[list[int]] = []

        def ask(seed: int) -> None:
            order = np.random.default_rng(seed).permutation(len(values))
            got = [index.seen(values[part]) for part in np.array_split(order, 7)]
            answers.append(np.concatenate(got).tolist())

        threads = [threading.Thread(target=ask, args=(seed,)) for seed in range(3)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert sum(answer.count(-1) for answer in answers) == len(values)
        assert sorted(index.simhashes().tolist()) == sorted(values.tolist())
        index.wait()
        assert (index.seen(values) >= 0).all()
        assert len(list((tmp_path / "a").glob("segment-*"))) <= 8  # with their checksums


def test_whatever_holds_simhashes(tmp_path: Path) -> None:
    with roughly.SeenIndex(tmp_path / "a", 3) as index:
        assert index.seen(np.uint64(5)) is None
        assert index.seen(np.uint64(4)) == (0, 5, 1)
        index.add([2**64 - 1])
        assert index.seen([5, 2**63]).tolist() == [0, 0]
        assert index.seen(pa.array([2**64 - 1, 6], pa.uint64())).tolist() == [1, 0]
        for missing in ([5, None], pa.array([5, None], pa.uint64())):
            with pytest.raises(ParameterError, match="1 of 2 are missing"):
                index.seen(missing)
        for wrong in ("a", 1.5, None):
            with pytest.raises(ParameterError, match="simhash: out of range"):
                index.seen(wrong)


# --- ends -----------------------------------------------------------------------------------------

# Has everything loaded, and for each line of its input makes a process that writes until it ends.
NURSERY = """
import os, sys
import numpy as np
from roughly import SeenIndex

def write(directory, seed, memory):
    random = np.random.default_rng(int(seed))
    with SeenIndex(directory, 3, memory_simhashes=int(memory)) as index:
        while True:
            values = random.integers(0, 2**64, random.integers(1, 50), np.uint64)
            index.seen(values)
            os.write(1, values.tobytes().hex().encode() + b"\\n")  # at once: it is short

for line in sys.stdin:
    if (child := os.fork()) == 0:
        os.write(1, f"born {os.getpid()}\\n".encode())
        write(*line.rstrip("\\n").split("\\t"))
    _, status = os.waitpid(child, 0)
    os.write(1, f"gone {os.waitstatus_to_exitcode(status)}\\n".encode())
"""


def killed_writer(nursery: "subprocess.Popen[str]", directory: Path, seed: int) -> list[int]:
    """Has a writer made, kills it at some moment, and returns what its calls had returned."""
    chance = random.Random(seed)
    assert nursery.stdin is not None and nursery.stdout is not None
    nursery.stdin.write(f"{directory}\t{seed}\t{chance.choice([40, 400])}\n")
    nursery.stdin.flush()
    born, writer = nursery.stdout.readline().split()
    assert born == "born"
    timer = threading.Timer(chance.uniform(0, 0.1), os.kill, [int(writer), signal.SIGKILL])
    timer.start()
    returned: list[int] = []
    while not (line := nursery.stdout.readline()).startswith("gone"):
        assert line.endswith("\n")
        returned += np.frombuffer(bytes.fromhex(line), np.uint64).tolist()
    timer.join()
    assert line == f"gone {-signal.SIGKILL}\n"
    return returned


def outlive(folder: Path, seeds: range) -> int:
    """Kills one writer after the other and looks at what they left; returns how much was kept."""
    kept: list[int] = []
    total = 0
    directory = folder / "seen"
    with subprocess.Popen(
        [sys.executable, "-c", NURSERY], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    ) as nursery:
        for seed in seeds:
            returned = killed_writer(nursery, directory, seed)
            with roughly.SeenIndex(directory, 3, memory_simhashes=1000) as index:
                found = index.simhashes().tolist()
            assert found[: len(kept)] == kept
            assert found[len(kept) : len(kept) + len(returned)] == returned
            # The call in flight may have been kept.
            assert len(found) - len(kept) - len(returned) < 50
            total += len(found) - len(kept)
            kept = found
            if len(kept) > 50_000:
                shutil.rmtree(directory)
                kept = []
        assert nursery.stdin is not None
        nursery.stdin.close()
    return total


def test_a_killed_process_loses_nothing(tmp_path: Path) -> None:
    """Kills at random moments, of opening, sealing and merging too; every call that returned is
    there, in its place, and nothing that was never asked for. Several at once: each waits for the
    disk most of the time."""
    kills = int(os.environ.get("ROUGHLY_KILLS", 300 if FULL else 12))
    together = 6 if kills >= 100 else 2
    folders = [tmp_path / str(number) for number in range(together)]
    for folder in folders:
        folder.mkdir()
    with ThreadPoolExecutor(together) as pool:
        seeds = [range(number, kills, together) for number in range(together)]
        assert sum(pool.map(outlive, folders, seeds)) > 0


def test_a_power_loss_loses_nothing_before_sync(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """After another boot of the machine whatever was not synced may be gone, or wrong."""
    directory = tmp_path / "a"
    index = roughly.SeenIndex(directory, 0)
    index.seen(np.arange(10, dtype=np.uint64))
    index.sync()
    index.seen(np.arange(10, 20, dtype=np.uint64))
    log = next(directory.glob("log-*"))
    whole = log.read_bytes()
    index.close()
    manifest = (directory / "seen.json").read_bytes()
    synced = len(whole) - 4 - 12 - 10 * 8 - 4  # without the mark and the last frame
    assert whole[synced : synced + 8] == b"MARKFRAM"
    for boot, wrong, kept in [
        ("other", whole[: synced + 30], 10),
        ("other", whole[:synced], 10),
        ("other", whole[:-20] + bytes(20), 10),
        ("other", whole, 20),
        ("same", whole[:-20], 10),  # cut short: the call in flight
        ("same", whole[:-20] + bytes(20), None),
        ("other", whole[: synced - 20] + bytes(20) + whole[synced:], None),  # before the mark
    ]:
        for path in directory.glob("log-*"):
            path.unlink()
        log.write_bytes(wrong)
        (directory / "seen.json").write_bytes(manifest)
        with pytest.MonkeyPatch.context() as patch:
            if boot == "other":
                patch.setattr("roughly.hamming.seen_log.this_boot", lambda: b"x" * 36)
            if kept is None:
                with pytest.raises(DamageError, match="damaged"):
                    roughly.SeenIndex(directory, 0)
            else:
                with roughly.SeenIndex(directory, 0) as opened:
                    assert opened.simhashes().tolist() == list(range(kept))


def test_damage_is_noticed(tmp_path: Path) -> None:
    directory = tmp_path / "a"
    with roughly.SeenIndex(directory, 3, memory_simhashes=100) as index:
        for part in np.array_split(np.arange(0, 2**60, 2**50, dtype=np.uint64), 20):
            index.add(part)
        index.wait()
        index.add([1])
    for path in sorted(directory.iterdir()):
        whole = path.read_bytes()
        if path.name == "lock":
            continue
        for place in {*range(0, len(whole), max(1, len(whole) // 30)), len(whole) - 1}:
            flipped = bytearray(whole)
            flipped[place] ^= 1 << place % 8
            path.write_bytes(flipped)
            with pytest.raises((DamageError, MismatchError)):
                roughly.SeenIndex(directory, 3)
        path.unlink()
        with pytest.raises(DamageError, match="missing"):
            roughly.SeenIndex(directory, 3)
        path.write_bytes(whole)
    with roughly.SeenIndex(directory, 3) as index:
        assert len(index) == 1025


def test_a_full_disk_changes_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with roughly.SeenIndex(tmp_path / "a", 0) as index:
        index.seen(1)

        def full(descriptor: int, data: object) -> int:
            raise OSError(28, "No space left on device")

        with monkeypatch.context() as patch:
            patch.setattr(os, "write", full)
            with pytest.raises(roughly.DocumentError, match="cannot write"):
                index.seen(np.array([1, 2, 3], np.uint64))
        assert index.simhashes().tolist() == [1]
        assert index.seen(2) is None
    log = next((tmp_path / "a").glob("log-*"))
    assert np.concatenate(read_log(log)).tolist() == [1, 2]


def test_refused(tmp_path: Path) -> None:
    index = roughly.SeenIndex(tmp_path / "a", 3)
    with pytest.raises(BusyError, match="in use"):
        roughly.SeenIndex(tmp_path / "a", 3)
    with pytest.raises(ParameterError, match="simhash: out of range: -1"):
        index.seen(-1)
    index.close()
    index.close()
    with pytest.raises(ParameterError, match="it is closed"):
        index.seen(1)
    with pytest.raises(MismatchError, match="made for k = 3, wanted 2"):
        roughly.SeenIndex(tmp_path / "a", 2)
    with pytest.raises(MismatchError, match="made for bits = 64, wanted 32"):
        roughly.SeenIndex(tmp_path / "a", 3, bits=32)
    for name, value in (("k", 11), ("bits", 0), ("memory_simhashes", 0)):
        with pytest.raises(ParameterError, match=f"{name}: out of range"):
            roughly.SeenIndex(tmp_path / "b", **{name: value})
