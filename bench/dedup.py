"""`python -m bench.dedup [CORPUS.jsonl]`: from JSON Lines to JSON Lines without near duplicates.

roughly's command and the peers' programs (`bench/dedup_peer.py`) each run in a process of their
own, reading and writing included: seconds, memory, and what went. Then all of them on every k-th
document, beside the exact answer of `bench/exact.py`; and roughly on the first half, for what its
memory grows by. The corpus is that of `bench/debian.py` unless another one is named; markup is text
for everybody (`--as text`), so that all have the same words.
"""

import argparse
import compileall
import json
import os
import sys
import tempfile
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from importlib.util import find_spec
from itertools import islice
from pathlib import Path

import numpy as np
import numpy.typing as npt

import roughly
from bench import exact
from bench.dedup_peer import PEERS
from bench.machine import touch_free_memory
from bench.process import Usage, run
from bench.report import Check, Result, Section, Table, merged
from bench.session import Session, add_output_options
from bench.shingle import words_fastest

MIB = 1024 * 1024
OWN = "roughly"
HALF = "roughly, half of it"
IN_ORDER = "what stays is some of the input, in its order"

Program = Callable[[Path, Path], list[str]]


def own_command(source: Path, target: Path) -> list[str]:
    """roughly's command line for this."""
    options = ["-o", str(target), "--threshold", "0.7", "--as", "text"]
    return [sys.executable, "-m", "roughly", "dedup", str(source), *options]


def programs(names: Iterable[str]) -> dict[str, Program]:
    """The command lines of roughly and of those peers that are installed."""
    found: dict[str, Program] = {OWN: own_command}
    for name in names:
        if find_spec(PEERS[name].package) is not None:
            found[name] = _peer_command(name)
    return found


def _peer_command(name: str) -> Program:
    def command(source: Path, target: Path) -> list[str]:
        return [sys.executable, "-m", "bench.dedup_peer", name, str(source), str(target)]

    return command


@dataclass(frozen=True)
class Outcome:
    """What one program did with a file."""

    usage: Usage
    ids: list[str]  # of what stays, in the order of the output
    untouched: bool = True  # every line that stays is one of the input, in its order


def deduplicate(program: Program, source: Path, folder: Path) -> Outcome:
    """Runs a program on a file; its output is read and deleted."""
    # A folder of its own: what else a program leaves goes with it.
    with tempfile.TemporaryDirectory(dir=folder) as own:
        target = Path(own) / "kept.jsonl"
        command = program(source, target)
        print(f"bench: {' '.join(command[1:])}", file=sys.stderr, flush=True)
        os.sync()  # or a program would pay for what the one before it has left to write
        usage = run(command)
        return Outcome(usage, read_ids(target), is_part(target, source))


def in_rounds(
    runs: dict[str, tuple[Program, Path]], folder: Path, rounds: int
) -> dict[str, Outcome]:
    """Programs on their files, which take turns: a machine that is slow for a while is so for all
    of them."""
    taken: dict[str, list[Outcome]] = {name: [] for name in runs}
    for _ in range(rounds):
        for name, (program, source) in runs.items():
            taken[name].append(deduplicate(program, source, folder))
    return {name: best_of(outcomes) for name, outcomes in taken.items()}


def best_of(outcomes: Sequence[Outcome]) -> Outcome:
    """The fastest one, with the middle one of the peaks: threads meet differently each time."""
    peaks = sorted(outcome.usage.peak_bytes for outcome in outcomes)
    fastest = min(outcomes, key=lambda outcome: outcome.usage.wall_s)
    return replace(fastest, usage=replace(fastest.usage, peak_bytes=peaks[len(peaks) // 2]))


def is_part(part: Path, whole: Path) -> bool:
    """Whether the lines of one file are some of another's, in their order."""
    with part.open("rb") as few, whole.open("rb") as many:
        # `in` takes what it looks at, so that each search goes on after the one before.
        return all(line in many for line in few)


def read_ids(path: Path) -> list[str]:
    with path.open("rb") as file:
        return [json.loads(line)["id"] for line in file]


def first_stays(name: str) -> bool:
    return name == OWN or PEERS[name].first_stays


def check_outcome(name: str, ids: Sequence[str], outcome: Outcome) -> Check:
    """What stays is some of the input, each once, in its order."""
    place = {id: number for number, id in enumerate(ids)}
    places = [place.get(id, -1) for id in outcome.ids]
    right = bool(places) and places[0] >= 0 and places == sorted(set(places))
    if first_stays(name):
        right = right and places[0] == 0
    if name == OWN:
        right = right and outcome.untouched
    return Check(name, right, f"{len(places):,} kept")


def take(source: Path, target: Path, step: int, most: int | None) -> None:
    """Every step-th line, so many at most."""
    with source.open("rb") as file, target.open("wb") as output:
        output.writelines(islice(file, 0, None if most is None else most * step, step))


def flags(ids: Sequence[str], outcome: Outcome) -> npt.NDArray[np.bool_]:
    kept = set(outcome.ids)
    return np.array([id in kept for id in ids], dtype=bool)


def speed_section(source: Path, found: dict[str, Program], folder: Path, rounds: int) -> Section:
    """Speed and memory on the whole file."""
    size = source.stat().st_size  # this also says that it can be read
    # The peers were installed with their bytecode; a checkout has none where nobody may write it.
    compileall.compile_dir(str(Path(roughly.__file__).parent), quiet=2)
    ids = read_ids(source)  # and now it is in the system's cache, for everybody
    section = Section("dedup", "JSON Lines without near duplicates at 0.7, w=5, from file to file")
    section.notes.append(f"{source.name}: {len(ids):,} documents, {size / 1e6:,.1f} MB")
    half = folder / "half.jsonl"
    take(source, half, 1, len(ids) // 2)
    runs = {name: (program, source) for name, program in found.items()}
    outcomes = in_rounds({**runs, HALF: (own_command, half)}, folder, rounds)
    half_peak = outcomes.pop(HALF).usage.peak_bytes
    own = outcomes[OWN].usage
    section.tables.append(
        Table(
            ["", "MB/s", "seconds", "CPU s", "peak MiB", "removed", "slower by"],
            [
                [
                    name,
                    size / 1e6 / outcome.usage.wall_s,
                    outcome.usage.wall_s,
                    outcome.usage.cpu_s,
                    outcome.usage.peak_bytes / MIB,
                    len(ids) - len(outcome.ids),
                    outcome.usage.wall_s / own.wall_s,
                ]
                for name, outcome in outcomes.items()
            ],
        )
    )
    peers = {name: outcome.usage for name, outcome in outcomes.items() if name != OWN}
    if peers:
        fastest = min(peers, key=lambda name: peers[name].wall_s)
        ratio = peers[fastest].wall_s / own.wall_s
        section.results.append(
            Result(f"times the throughput of the fastest peer, {fastest}", ratio, "x", ">=", 10)
        )
    if "rensa" in peers:
        ratio = own.peak_bytes / peers["rensa"].peak_bytes
        section.results.append(Result("peak memory against rensa's", ratio, "x", "<", 1))
    growth = (own.peak_bytes - half_peak) / max(1, len(ids) - len(ids) // 2)
    section.results.append(Result("peak of roughly, half of it", half_peak / MIB, "MiB"))
    section.results.append(Result("more for each further document", growth, "bytes", "<=", 100))
    checks = [check_outcome(name, ids, outcome) for name, outcome in outcomes.items()]
    section.checks.append(merged(IN_ORDER, checks))
    return section


def exact_section(source: Path, found: dict[str, Program], folder: Path, wanted: int) -> Section:
    """What each removes from a sample, beside what should go."""
    with source.open("rb") as file:
        step = max(1, sum(1 for _ in file) // wanted)
    sample = folder / "sample.jsonl"
    take(source, sample, step, wanted)
    with sample.open("rb") as file:
        rows = [json.loads(line) for line in file]
    ids = [row["id"] for row in rows]
    texts = [row["text"].encode() for row in rows]
    right = exact.answer(texts)
    section = Section("exact", "the same on a sample, beside the exact answer")
    section.notes.append(
        f"every {step}. document, {len(texts):,} in all, of which {right.removals:,} should go."
        " wrong: gone although nothing that stays before it is near;"
        " missed: should have gone and stayed"
    )
    section.notes.append(
        "where any document of a kind may stay: wrong if nothing that stays is near,"
        " missed if something that stays before it is"
    )
    section.notes.append(peer_words_note(texts, right))
    rows_shown: list[list[str | float | None]] = []
    checks: list[Check] = []
    for name, program in found.items():
        outcome = deduplicate(program, sample, folder)
        checks.append(check_outcome(name, ids, outcome))
        stays = flags(ids, outcome)
        if first_stays(name):
            wrong, missed = right.wrong(stays), right.missed(stays)
        else:
            wrong, missed = right.wrong_in_any_order(stays), right.missed_in_any_order(stays)
        share = 100 * missed / max(1, right.removals)
        rows_shown.append([name, int((~stays).sum()), wrong, missed, f"{share:.2f}%"])
        if name == OWN:
            section.results.append(Result("documents removed wrongly", wrong, "", "<=", 0))
            section.results.append(Result("of the true removals missed", share, "%", "<", 0.2))
    section.tables.append(Table(["", "removed", "wrong", "missed", "missed of all"], rows_shown))
    section.checks.append(merged(IN_ORDER, checks))
    return section


def peer_words_note(texts: Sequence[bytes], right: exact.Answer) -> str:
    """How much of a difference it makes that words are cut in Python for rensa and datasketch."""
    cut = [[word.encode() for word in words_fastest(text.decode())] for text in texts]
    other = sum(one != two for one, two in zip(cut, exact.words(texts), strict=True))
    stays = exact.greedy(exact.near_before(exact.shingle_sets(cut)))
    differ = int((stays != right.stays).sum())
    return (
        f"words as cut for rensa and datasketch are other ones in {other:,} documents (accents,"
        f" scripts without spaces); the exact answer by them differs in {differ:,}"
    )


def main(argv: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(
        prog="python -m bench.dedup",
        description="Deduplicates JSON Lines (fields id and text) with roughly and its peers.",
        allow_abbrev=False,
    )
    parser.add_argument("corpus", nargs="?", type=Path, default=Path("build/debian/corpus.jsonl"))
    parser.add_argument("--documents", type=int, help="only the first so many")
    parser.add_argument("--sample", type=int, default=20_000, help="for the exact answer; 0: none")
    parser.add_argument(
        "--rounds", type=int, default=1, help="of which the fastest counts; all take turns"
    )
    parser.add_argument(
        "--peers",
        default=",".join(PEERS),
        help=f"some of {', '.join(PEERS)}, joined by commas; 'none' for none",
    )
    parser.add_argument(
        "--touch",
        action="store_true",
        help="touch all free memory first: a virtual machine may have none of it before",
    )
    add_output_options(parser)
    arguments = parser.parse_args(argv)
    names = [] if arguments.peers == "none" else arguments.peers.split(",")
    for name in names:
        if name not in PEERS:
            parser.error(f"--peers: unknown: {name!r}, wanted some of {', '.join(PEERS)}")
    if not arguments.corpus.is_file():
        parser.error(f"{arguments.corpus}: no such file, wanted JSON Lines; try bench.debian first")
    found = programs(names)
    session = Session(arguments.corpus.name, "dedup")
    touched = touch_free_memory() if arguments.touch else 0
    with tempfile.TemporaryDirectory(prefix="bench-dedup-", dir=arguments.corpus.parent) as name:
        folder, source = Path(name), arguments.corpus
        if arguments.documents:
            source = folder / "first.jsonl"
            take(arguments.corpus, source, 1, arguments.documents)
        section = speed_section(source, found, folder, arguments.rounds)
        if touched:
            section.notes.append(f"free memory was touched before, {touched:.1f} GiB")
        section.notes += [
            f"{name} is not installed: no comparison" for name in names if name not in found
        ]
        session.add(section)
        if arguments.sample:
            session.add(exact_section(source, found, folder, arguments.sample))
    return session.finish(arguments.json, arguments.record)


if __name__ == "__main__":
    sys.exit(main())
