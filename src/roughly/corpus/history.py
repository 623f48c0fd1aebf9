"""What `changes` and `lost` ask of a corpus: versions of pages, how much they are alike, and the
history of one page."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from roughly.clustering.sketches import Sketches
from roughly.clustering.sketching import Progress, no_progress
from roughly.corpus.changes import Changes, Versions, change_statistics, pairs_of_versions
from roughly.corpus.lost import Move, Trace, found_again, lost_page, lost_pages
from roughly.corpus.sweeps import NOWHERE, Pages, Rows, Sweeps

if TYPE_CHECKING:
    from collections.abc import Callable

    import numpy.typing as npt

    from roughly.corpus.commonness import Counter
    from roughly.storage.collection import Collection


@dataclass(frozen=True, slots=True)
class Version:
    """A page as one sweep found it."""

    date: str
    id: str
    tokens: int
    size: int  # distinct shingles
    changed: bool | None  # against the version before; None for the first
    resemblance: float | None  # to the version before, estimated
    to_first: float | None  # to the first version


@dataclass(frozen=True, slots=True)
class History:
    """One page over all sweeps; sweeps that do not have it are among `dates` only."""

    url: str
    dates: list[str]  # of all sweeps
    versions: list[Version]
    trace: Trace  # and where it went

    def to_dict(self) -> dict[str, Any]:
        """As one JSON object."""
        return {
            "url": self.url,
            "sweeps": self.dates,
            "versions": [asdict(version) for version in self.versions],
            "moves": [
                {"from_date": step.from_date, "to_date": step.to_date} | move.to_dict()
                for step in self.trace.steps
                for move in step.moves
            ],
        }


def resemblances(
    collection: Collection, pairs: Rows, threads: int
) -> tuple[npt.NDArray[np.bool_], npt.NDArray[np.float64]]:
    """Of pairs of rows: whether the canonical form is the same, and the estimated resemblance."""
    canonical = collection.hashes("canonical")
    same = (canonical[pairs[:, 0]] == canonical[pairs[:, 1]]).all(axis=1)
    found = np.ones(len(pairs))
    differ = np.flatnonzero(~same)
    if len(differ):
        rows, positions = np.unique(pairs[differ], return_inverse=True)
        table = np.zeros((len(differ), 4), np.uint32)
        table[:, :2] = positions.reshape(-1, 2)
        perm = collection.parameters.selection[0] == "perm"
        sketches = Sketches.of_segment(collection).taking_part(rows.astype(np.uint32))
        counted = sketches.measure("agreement" if perm else "resemblance", table, threads)
        # Nothing sampled of either: nothing is known to be alike.
        found[differ] = counted[:, 2] / np.maximum(counted[:, 3], 1)
        collection.release()
    return same, found


def read_versions(collection: Collection, sweeps: Sweeps, threads: int) -> Versions:
    """All versions that follow each other."""
    page, begin, end = pairs_of_versions(sweeps)
    pairs = np.column_stack([sweeps.row[page, begin], sweeps.row[page, end]])
    return Versions(page, begin, end, *resemblances(collection, pairs, threads))


def read_changes(
    collection: Collection, sweeps: Sweeps, threads: int, progress: Progress = no_progress
) -> Changes:
    """How the pages of a corpus change."""
    # Every version that another sweep follows is looked for twice, see `lost_pages`.
    looked_for = 2 * int(sweeps.present[:, :-1].sum())
    advance = progress("pages", looked_for, "pages")
    moves: list[list[Move]] = []
    later: list[list[Move]] = []
    missing: dict[int, int] = {}  # page -> its last row
    for end in range(1, len(sweeps)):
        found = lost_pages(collection, sweeps, end - 1, end, advance=advance)
        moves.append([move for move in found if not move.reused])
        missing = {page: row for page, row in missing.items() if not sweeps.present[page, end]}
        rows = np.array(sorted(missing.values()), np.int64)
        taken = {move.new for move in found if move.new is not None}
        later.append(found_again(collection, sweeps, rows, end, taken) if missing else [])
        for page in sweeps.numbers([move.old for move in later[-1]]).tolist():
            missing.pop(page, None)
        gone = sweeps.numbers([move.old for move in moves[-1] if move.new is None])
        missing |= dict(zip(gone.tolist(), sweeps.row[gone, end - 1].tolist(), strict=True))
    return change_statistics(sweeps, read_versions(collection, sweeps, threads), moves, later)


def read_history(
    collection: Collection,
    pages: Pages,
    row: int,
    threads: int,
    counter: Callable[[int, int], Counter] | None = None,
) -> History:
    """The history of the page that a row is a version of; for `counter` see `lost_page`."""
    versions_of = pages.versions(row)
    seen = np.flatnonzero(versions_of != NOWHERE)
    rows = versions_of[seen]
    before = np.concatenate([rows[:1], rows[:-1]])
    first = np.repeat(rows[:1], len(rows))
    same, resemblance = resemblances(collection, np.column_stack([before, rows]), threads)
    _, to_first = resemblances(collection, np.column_stack([first, rows]), threads)
    versions = [
        Version(
            pages.dates[int(sweep)],
            pages.name(int(row)),
            int(collection.tokens[row]),
            int(collection.size[row]),
            None if number == 0 else not bool(same[number]),
            None if number == 0 else round(float(resemblance[number]), 4),
            None if number == 0 else round(float(to_first[number]), 4),
        )
        for number, (sweep, row) in enumerate(zip(seen.tolist(), rows.tolist(), strict=True))
    ]
    trace = lost_page(collection, pages, int(rows[-1]), counter)
    return History(versions[-1].id, pages.dates, versions, trace)
