"""`python -m bench.lost [--truth FOLDER]`: how well lost pages are found, and gone ones let go.

- moves: a real site on two dates with labelled moves (FOLDER/moves). Precision and recall of
  `moved`, of all claims and where the surest claims reach 0.95 of recall; how many `gone` pages are
  claimed. The one constant of the rules is chosen on one half of the labels, scored on the other.
- taken away: the same site without half of the pages to which others moved. Those are gone then:
  hundreds of them on pages that are as alike as pages of one site are.
- generated: sample webs, whose moves are known because they were made so.
- menus: a site of which nine tenths of every page are the same; pages move, vanish and are born.
"""

import argparse
import gzip
import json
import os
import random
import sys
import tempfile
import zlib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from bench.report import Result, Section, Table
from bench.session import Session, add_output_options
from roughly import Corpus
from roughly.corpus.lost import Move, lost_pages
from roughly.corpus.sweeps import read_sweeps
from roughly.sample_web import sample_web

Documents = Iterable[Mapping[str, Any]]
RECALL = 0.95
# What the constant of the rules may be chosen from.
EVEN = (0.05, 0.1, 0.15, 0.2, 0.25, 0.3, 0.4)


@dataclass(frozen=True)
class Score:
    """Claims against labels. A claim is right if it is the labelled place of a moved page."""

    moved: int  # pages that moved
    gone: int  # pages that are gone
    right: int
    wrong: int
    claimed: int  # gone pages that were found somewhere
    precision_at: float  # where the surest claims first find RECALL of the moved

    @property
    def precision(self) -> float:
        return self.right / max(1, self.right + self.wrong)

    @property
    def recall(self) -> float:
        return self.right / max(1, self.moved)


def score(moves: Sequence[Move], labels: Mapping[str, tuple[str, str | None]]) -> Score:
    """`labels` has the kind (moved, gone, or another, for which any claim but the place named is
    wrong and none is right) and the place of each page; pages without one are left out."""
    kinds = [kind for kind, _ in labels.values()]
    best: dict[str, Move] = {}
    for move in moves:
        if move.old in labels:
            best.setdefault(move.old, move)  # the largest part of a split page
    claims = sorted(
        (move for move in best.values() if move.new is not None), key=lambda m: -m.confidence
    )
    moved = kinds.count("moved")
    right = wrong = claimed = 0
    precision_at = 0.0
    for claim in claims:
        kind, place = labels[claim.old]
        if claim.new == place:
            right += kind == "moved"
        else:
            wrong += 1
            claimed += kind == "gone"
        if right >= RECALL * moved and not precision_at:
            precision_at = right / (right + wrong)
    return Score(moved, kinds.count("gone"), right, wrong, claimed, precision_at)


def read(path: Path) -> list[dict[str, Any]]:
    with gzip.open(path, "rt", encoding="utf-8") as file:
        return [json.loads(line) for line in file]


def moves_between(
    old: Documents, new: Documents, directory: str, evens: Sequence[float] = ()
) -> list[list[Move]]:
    """What `roughly lost --all` says, and what it would say with each of `evens` in its rules."""
    corpus = Corpus.create(Path(directory) / "bench.roughly", force=True, text=False)
    corpus.add(list(old), date="2000-01-01")
    corpus.add(list(new), date="2001-01-01")
    sweeps = read_sweeps(corpus.collection)
    return [
        corpus.moves("2000", "2001"),
        *(lost_pages(corpus.collection, sweeps, 0, 1, even) for even in evens),
    ]


def half(url: str) -> int:
    return zlib.crc32(url.encode()) & 1


def moves(folder: Path, scratch: str) -> Section:
    """The labelled site."""
    section = Section("moves", f"a real site on two dates, {folder.name}")
    old, new, lost = _site(folder)
    labels = {
        each["lost"]: (each["label"], each.get("to"))
        for each in lost
        if each["label"] != "empty_page"
    }
    said, *others = moves_between(old, new, scratch, EVEN)
    halves = [{url: label for url, label in labels.items() if half(url) == n} for n in (0, 1)]
    rows = []
    for even, found in zip(EVEN, others, strict=True):
        first, second = (score(found, some) for some in halves)
        rows.append((f"{even:g}", first.precision, first.recall, second.precision, second.recall))
    section.tables.append(
        Table(("even strength", "precision", "recall", "other half: p", "recall"), rows)
    )
    whole = score(said, labels)
    section.results += [
        Result("moved: precision of all claims", 100 * whole.precision, "%", ">=", 97),
        Result("moved: recall of all claims", 100 * whole.recall, "%", ">=", 95),
        Result("moved: precision at 0.95 recall", 100 * whole.precision_at, "%", ">=", 97),
        Result(f"gone pages claimed, of {whole.gone}", whole.claimed, "pages", "<=", 1),
    ]
    return section


def _site(folder: Path) -> tuple[list[dict[str, str]], list[dict[str, str]], list[dict[str, Any]]]:
    *dates, lost = sorted(path.name for path in folder.glob("*.jsonl.gz"))
    old, new = (
        [{"id": page["url"], "text": page["text"]} for page in read(folder / date)]
        for date in dates
    )
    return old, new, read(folder / lost)


def taken_away(folder: Path, scratch: str) -> Section:
    """The labelled site without half of the new places."""
    section = Section("taken away", "the same site without half of the new places")
    old, new, lost = _site(folder)
    moved = [each for each in lost if each["label"] == "moved"]
    dropped = {each["to"] for each in moved if half(each["to"])}
    labels: dict[str, tuple[str, str | None]] = {
        each["lost"]: ("gone", None) if each["to"] in dropped else ("moved", each["to"])
        for each in moved
    }
    (said,) = moves_between(old, [page for page in new if page["id"] not in dropped], scratch)
    found = score(said, labels)
    section.results += [
        Result(f"gone claimed, of {found.gone}", 100 * found.claimed / found.gone, "%", "<", 3),
        Result("moved: recall", 100 * found.recall, "%", ">=", 95),
        Result("moved: precision without the gone", 100 * _without_gone(found), "%", ">=", 97),
    ]
    return section


def _without_gone(found: Score) -> float:
    return found.right / max(1, found.right + found.wrong - found.claimed)


def generated(pages: int, seeds: Iterable[int], scratch: str) -> Section:
    """Sample webs."""
    section = Section("generated", f"sample webs of {pages:,} pages")
    total = claimed = moved = right = 0
    for seed in seeds:
        web = sample_web(pages=pages, seed=seed, dates=("2026-01-01", "2026-07-01"))
        sweeps = [
            [{"id": d.url, "text": d.content.decode("utf-8", "replace")} for d in web.iterate(day)]
            for day in web.dates
        ]
        places = {move.old: set(move.new) for move in web.moves if move.old is not None}
        (said,) = moves_between(*sweeps, scratch)
        found: dict[str, set[str]] = {}
        for move in said:
            if move.reused:
                continue  # the web's own list has only URLs that vanished
            found.setdefault(move.old, set()).update([move.new] if move.new else [])
        for old, new in found.items():
            if places[old]:
                moved += 1
                right += bool(new) and new <= places[old]
            else:
                total += 1
                claimed += bool(new)
    section.results += [
        Result(f"gone claimed, of {total:,}", 100 * claimed / max(1, total), "%", "<", 3),
        Result(f"found where they are, of {moved:,}", 100 * right / max(1, moved), "%", ">=", 95),
    ]
    return section


def menus(pages: int, seed: int, scratch: str) -> Section:
    """A site that is nearly all menu."""
    section = Section("menus", f"a site of {pages:,} pages, nine tenths of each the same")
    stream = random.Random(seed)

    def words(count: int) -> list[str]:
        return [f"w{stream.randrange(10**9)}" for _ in range(count)]

    menu = words(540)
    own = [words(60) for _ in range(pages)]

    def site(texts: Mapping[str, list[str]]) -> Iterator[dict[str, str]]:
        for path, text in texts.items():
            yield {"id": f"https://menu.example{path}", "text": " ".join([*menu, *text])}

    old = {f"/old/{n}": text for n, text in enumerate(own)}
    new: dict[str, list[str]] = {}
    labels: dict[str, tuple[str, str | None]] = {}
    for n, text in enumerate(own):
        name = f"https://menu.example/old/{n}"
        if n % 3 == 0:
            new[f"/old/{n}"] = text
        elif n % 3 == 1:
            new[f"/new/{n + pages}"] = [*text[:50], *words(10)]
            labels[name] = "moved", f"https://menu.example/new/{n + pages}"
        else:
            new[f"/born/{n + 2 * pages}"] = words(60)
            labels[name] = "gone", None
    (said,) = moves_between(site(old), site(new), scratch)
    found = score(said, labels)
    section.results += [
        Result(f"gone claimed, of {found.gone:,}", 100 * found.claimed / found.gone, "%", "<", 3),
        Result("moved: recall", 100 * found.recall, "%", ">=", 95),
    ]
    return section


def main(argv: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(
        prog="python -m bench.lost", description=(__doc__ or "").partition("\n")[0]
    )
    named = os.environ.get("ROUGHLY_TRUTH")
    default = Path(named) if named else Path(__file__).parents[2] / "shared" / "truth"
    parser.add_argument(
        "--truth", type=Path, default=default, metavar="FOLDER", help="where moves/ is"
    )
    parser.add_argument("--pages", type=int, default=2000, help="pages of each generated web")
    parser.add_argument("--webs", type=int, default=5, help="how many of them")
    add_output_options(parser)
    arguments = parser.parse_args(argv)
    session = Session(f"{arguments.webs} webs of {arguments.pages:,} pages", "lost")
    with tempfile.TemporaryDirectory() as scratch:
        folder = arguments.truth / "moves"
        if folder.is_dir():
            session.add(moves(folder, scratch))
            session.add(taken_away(folder, scratch))
        else:
            print(f"bench: moves: {folder}: not there, left out", file=sys.stderr)
        session.add(generated(arguments.pages, range(arguments.webs), scratch))
        session.add(menus(arguments.pages, 0, scratch))
    return session.finish(arguments.json, arguments.record)


if __name__ == "__main__":
    sys.exit(main())
