"""The four phases, in a directory: sketch, sort, pairs, forest.

    segments/000001/                  phase 1, the sketches (roughly.storage.segment)
    forest/000001/documents.arrow     document order and equivalents
    forest/000001/discount.arrow      what of the sketches is joined, if not all (discount.py)
    forest/000001/hubs.arrow          documents of masses and the one that stands for them
    forest/000001/frequent.arrow      by which elements masses are told, and
    forest/000001/heads.arrow         whom they are told by (frozen.py)
    forest/000001/pairs-*.arrow       phases 2 and 3, a file for each join
    forest/000001/links-*.arrow       phase 4, the maximum spanning forests

Pairs that are to be exact are counted again on complete sets of shingles, from estimated-*.arrow.
Every file is a step of its own: a run that was killed goes on with the first that is missing. All
results depend on the documents and the settings alone, never on memory, threads or batches.
"""

from __future__ import annotations

import shutil
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from roughly import _core
from roughly.clustering.clock import Clock
from roughly.clustering.comparable import (
    attributes_for,
    by_sketch,
    comparable,
    comparable_hubs,
)
from roughly.clustering.discount import FILE as DISCOUNT
from roughly.clustering.discount import discounted, write_discounted
from roughly.clustering.equivalence import Column, Groups, Pieces, equivalents
from roughly.clustering.expansion import Expansion
from roughly.clustering.forest import forest_links
from roughly.clustering.frozen import Frequent, FrozenJoin
from roughly.clustering.join import Budget, Hubs, Measure, levels_of
from roughly.clustering.mass import pairs_inside
from roughly.clustering.near_simhash import hub_pairs, simhash_hubs, simhash_pairs
from roughly.clustering.order import document_order
from roughly.clustering.outcome import (
    FOREST,
    Outcome,
    documents_of,
    link_file,
    reaching,
    read_pairs,
    write_documents,
    write_hubs,
    write_pairs,
)
from roughly.clustering.room import room_beside
from roughly.clustering.settings import Settings
from roughly.clustering.sketches import PairTable, Rows, Sketches
from roughly.clustering.sketching import Progress, no_progress
from roughly.clustering.super_shingle import super_pairs
from roughly.pipeline import give_back_memory
from roughly.storage.arrow_file import ArrowFile
from roughly.storage.durable import make_directory
from roughly.storage.scratch import Scratch, stretches
from roughly.storage.steps import Steps

if TYPE_CHECKING:
    from roughly.condition import Attributes
    from roughly.storage.collection import Stored
    from roughly.verification.exact import Verifier

# Sampled elements without which an estimate of containment is no reason to put documents together.
LEAST_CONTAINED = 10


def run_phases(
    segment: Stored,
    settings: Settings,
    directory: Path,
    steps: Steps,
    *,
    forest: str = FOREST,
    threads: int,
    memory_bytes: int,
    progress: Progress = no_progress,
    clock: Clock | None = None,
    verifier: Verifier | None = None,
    frequent: Frequent | None = None,
) -> Outcome:
    """Phases 2 to 4 over all documents, in the folder `forest`. `verifier` counts pairs exactly, if
    the settings ask for it; `frequent` are the frequencies by which masses are told, if these were
    counted before."""
    clock = Clock() if clock is None else clock
    folder = directory / forest
    make_directory(folder)
    for scratch in (*folder.glob("postings-*"), *folder.glob("lists-*")):
        shutil.rmtree(scratch, ignore_errors=True)  # of a run that was killed
    phases = _Phases(
        segment,
        settings,
        folder,
        steps,
        threads,
        memory_bytes,
        progress,
        clock,
        verifier,
        frequent,
        attributes_for(segment, settings),
        Scratch(folder),
    )
    rows = phases.documents()
    give_back_memory()
    files, facts = phases.pairs(rows)
    give_back_memory()
    if settings.exact:
        files = phases.verified(files, rows)
    count = len(rows)
    del rows
    phases.forest("resemblance", files, count)
    if settings.containment is not None:
        phases.forest("containment", files, count)
    give_back_memory()
    return Outcome.of_files(folder, files, facts)


_NOBODY = np.uint32(0xFFFFFFFF)


def _is_identity(order: Rows, rows: int) -> bool:
    if len(order) != rows:
        return False
    numbers = ((order[a:b], np.arange(a, b)) for a, b in stretches(rows))
    return all(np.array_equal(some, wanted) for some, wanted in numbers)


def _inverse(order: Rows, rows: int, scratch: Scratch) -> Rows:
    """Of every row its position in document order."""
    positions: Rows = scratch.full(rows, _NOBODY, np.uint32)
    for begin, end in stretches(len(order)):
        positions[order[begin:end]] = np.arange(begin, end, dtype=np.uint32)
    return positions


@dataclass(frozen=True, slots=True)
class _Phases:
    segment: Stored
    settings: Settings
    folder: Path
    steps: Steps
    threads: int
    memory_bytes: int
    progress: Progress
    clock: Clock
    verifier: Verifier | None
    frequent: Frequent | None
    attributes: Attributes | None  # if there is a condition on pairs
    scratch: Scratch

    def documents(self) -> Rows:
        """Finds document order, and who is equivalent to whom; the rows of representatives."""
        path = self.folder / "documents.arrow"
        if not self.steps.done("documents"):
            with self.clock("equivalents") as phase:
                segment = self.segment
                order = document_order(segment, self._room // 8, self.scratch)
                groups = self._equivalents(order)
                segment.release()
                phase.bytes_written += write_documents(self.folder, order, groups)[1]
                phase.rows += len(order)
                del order, groups
            self.steps.record("documents", [path], {})
        # The rest stays in the file: nobody needs it before there are clusters.
        file = ArrowFile(path)
        order, groups = documents_of(file)
        representatives = groups.representatives_in(self.scratch)
        rows: Rows = self.scratch.take(order, representatives)
        del representatives
        file.release()
        self.scratch.release()
        return rows

    def _equivalents(self, order: Rows) -> Groups:
        segment = self.segment
        positions: Rows | None = None
        if not _is_identity(order, len(segment)):
            positions = _inverse(order, len(segment), self.scratch)

        def column(name: str) -> Column:
            def pieces() -> Pieces:
                for begin, hashes in segment.hash_pieces(name):
                    rows = np.arange(begin, begin + len(hashes), dtype=np.uint32)
                    own = rows if positions is None else positions[begin : begin + len(hashes)]
                    if positions is not None and (own == _NOBODY).any():
                        live = own != _NOBODY
                        rows, own, hashes = rows[live], own[live], hashes[live]
                    if self.attributes is not None:
                        hashes = hashes.astype(np.uint64)
                        hashes = self.attributes.keyed(hashes, rows, name == "sketch")
                    yield own, hashes

            return pieces

        # Whether there are enough of them is all that counts.
        kept, size = np.zeros(len(segment), np.uint8), segment.size
        for begin, counts in segment.kept_pieces():
            kept[begin : begin + len(counts)] = np.minimum(counts, 255)
        if positions is not None:
            kept, size = self.scratch.take(kept, order), self.scratch.take(size, order)
        return equivalents(
            column("content"),
            column("canonical"),
            column("sketch"),
            size,
            kept,
            by_sketch=by_sketch(self.settings),
            room_bytes=self._room // 4,
            scratch=self.scratch,
        )

    def _sketches(self, rows: Rows) -> Sketches:
        """The sketches that are joined: without what is common, if that is asked for."""
        if self.settings.discount is None:
            return Sketches.of_segment(self.segment, self.scratch)
        path = self.folder / DISCOUNT
        if not self.steps.done("discount"):
            with self.clock("discount") as phase:
                write_discounted(
                    self.segment,
                    rows,
                    self.settings.discount,
                    self.folder,
                    threads=self.threads,
                    room_bytes=self._room // 8,
                )
                phase.rows += len(rows)
                phase.bytes_written += path.stat().st_size
            self.steps.record("discount", [path], {})
        return discounted(self.segment, ArrowFile(path), self.scratch)

    def pairs(self, rows: Rows) -> tuple[list[tuple[Measure, Path]], dict[str, int]]:
        """The files of all pairs, and what is to be known of them."""
        if self.settings.method == "join":
            files = self._joined(rows)
            names = (path.stem.replace(self._prefix, "pairs", 1) for _, path in files)
            scratch = (self.steps.facts(name).get("disk_bytes", 0) for name in names)
            return files, {"disk_bytes": max(scratch, default=0) + self.scratch.disk_bytes}
        if self.settings.method == "hamming":
            return self._by_simhash(rows), {}
        path = self.folder / f"{self._prefix}-resemblance.arrow"
        if not self.steps.done("pairs"):
            facts = self._expanded(rows, path)
            self.steps.record("pairs", [path], facts)
        return [("resemblance", path)], self.steps.facts("pairs")

    def _by_simhash(self, rows: Rows) -> list[tuple[Measure, Path]]:
        assert self.attributes is not None
        hub_path, links = self.folder / "hubs.arrow", self.folder / "pairs-hubs.arrow"
        path = self.folder / "pairs-resemblance.arrow"
        files: list[tuple[Measure, Path]] = [("resemblance", links), ("resemblance", path)]
        if self.steps.done("pairs"):
            return files
        advance = self.progress("pairs", len(rows), "documents")
        with self.clock("pairs") as phase:
            hubs = simhash_hubs(self.attributes, rows, self.settings.mass.least_frequency)
            write_hubs(self.folder, hubs)
            found = simhash_pairs(self.attributes, rows, hubs, self.threads)
            phase.bytes_written += write_pairs(links, [hub_pairs(hubs)]) + write_pairs(path, found)
        advance(len(rows))
        self.steps.record("pairs", [hub_path, links, path], {})
        return files

    def _comparable(self, tables: Iterable[PairTable], rows: Rows) -> Iterable[PairTable]:
        """Those pairs that meet the condition."""
        return tables if self.attributes is None else comparable(self.attributes, tables, rows)

    def _joined(self, rows: Rows) -> list[tuple[Measure, Path]]:
        settings = self.settings
        sketches = self._sketches(rows)
        floors: list[tuple[Measure, Fraction]] = [("resemblance", settings.floor)]
        if settings.containment_floor is not None:
            floors.append(("containment", settings.containment_floor))
        levels = levels_of(sketches, rows)
        joins = [(m, f, level) for m, f in floors for level in levels]
        paths = {(m, n): self.folder / f"{self._prefix}-{m}-{n:02}.arrow" for m, _, n in joins}
        files: list[tuple[Measure, Path]] = [(m, path) for (m, _), path in paths.items()]
        hub_path = self.folder / "hubs.arrow"
        hub_links = self.folder / f"{self._prefix}-hubs.arrow"
        held_links = self.folder / f"{self._prefix}-containment-hubs.arrow"
        inside = self.folder / f"{self._prefix}-masses.arrow"
        files[:0] = [("resemblance", hub_links), ("resemblance", inside)]
        if settings.containment_floor is not None:
            files.append(("containment", held_links))
        if self.steps.done("hubs"):
            hubs = ArrowFile(hub_path).table()["hub"].to_numpy()
            if self.steps.done("masses") and all(
                self.steps.done(f"pairs-{m}-{n:02}") for m, _, n in joins
            ):
                return files
        advance = self.progress("pairs", 2 * len(rows) * len(joins), "documents")
        join = self._join(sketches, rows, self.frequent)
        if not self.steps.done("hubs"):
            hubs = join.hubs(settings.threshold, settings.mass)
            links = join.hub_links(hubs)
            hubs, links = self._checked_hubs(hubs, links, rows, settings.threshold)
            write_hubs(self.folder, hubs)
            write_pairs(hub_links, [links])
            outputs = [
                hub_path,
                hub_links,
                join.frequent(settings.mass).write(self.folder),
                join.heads(settings.mass).write(self.folder),
            ]
            if settings.containment_floor is not None:
                # They are pairs of containment too, and the join leaves them out.
                held = join.measure("containment", links)
                held = held[reaching(held, settings.containment_floor)]
                write_pairs(held_links, [held])
                outputs.append(held_links)
            self.steps.record("hubs", outputs, {})
        if not self.steps.done("masses"):
            # Where masses are all there is, that join is there already, unless it goes by
            # frequencies of another time.
            every = len(rows) if self.frequent is None else None
            tables = pairs_inside(
                lambda some: join if len(some) == every else self._join(sketches, some),
                rows,
                hubs,
                settings.threshold,
                settings.mass,
                self._checked_hubs,
            )
            write_pairs(inside, self._comparable(tables, rows))
            self.steps.record("masses", [inside], {})
        for measure, floor, level in joins:
            step = f"pairs-{measure}-{level:02}"
            if self.steps.done(step):
                advance(2 * len(rows))
                continue
            tables = join.pairs(measure, floor, level, hubs, advance)
            written = write_pairs(paths[measure, level], self._comparable(tables, rows))
            with self.clock("pairs") as phase:
                phase.bytes_written += written
            self.steps.record(step, [paths[measure, level]], {"disk_bytes": join.disk_bytes})
        return files

    @property
    def _room(self) -> int:
        return room_beside(self.memory_bytes, len(self.segment))

    @property
    def _prefix(self) -> str:
        """Of the files of pairs as they are found."""
        return "estimated" if self.settings.exact else "pairs"

    def _join(self, sketches: Sketches, rows: Rows, frequent: Frequent | None = None) -> FrozenJoin:
        return FrozenJoin(
            sketches,
            rows,
            threads=self.threads,
            budget=Budget.of_memory(self._room),
            scratch=self.folder,
            clock=self.clock,
            least_contained=0 if self.settings.exact else LEAST_CONTAINED,
            frequent=frequent,
            attributes=self.attributes,
        )

    def _checked_hubs(
        self, hubs: Hubs, links: PairTable, rows: Rows, threshold: Fraction
    ) -> tuple[Hubs, PairTable]:
        """Only hubs that documents are comparable with, and, where pairs are to be exact, resemble
        in truth: the pairs of a mass rest on that."""
        if self.attributes is not None:
            hubs, links = comparable_hubs(self.attributes, hubs, links, rows)
        if not self.settings.exact:
            return hubs, links
        assert self.verifier is not None
        self.verifier.prepare(np.unique(rows[links[:, :2]]).astype(np.int64))
        exact = self._counted("resemblance", links, rows)
        wrong = ~reaching(exact, threshold)
        hubs = hubs.copy()
        hubs[exact[wrong, 1]] = _core.NO_HUB
        return hubs, links[~wrong]

    def verified(self, files: list[tuple[Measure, Path]], rows: Rows) -> list[tuple[Measure, Path]]:
        """The same pairs counted exactly, those of them that still reach the floor."""
        exact: list[tuple[Measure, Path]] = []
        self._prepare(files, rows)
        sizes = {path: sum(map(len, read_pairs(path))) for _, path in files}
        advance = self.progress("count", sum(sizes.values()), "pairs")
        for measure, path in files:
            to = path.with_name(path.name.replace("estimated", "pairs", 1))
            exact.append((measure, to))
            step = f"exact-{to.stem}"
            if self.steps.done(step):
                advance(sizes[path])
                continue
            floor = self.settings.floor
            if measure == "containment" and self.settings.containment_floor is not None:
                floor = self.settings.containment_floor
            with self.clock("count") as phase:
                tables = (self._counted(measure, t, rows, advance) for t in read_pairs(path))
                kept = (table[reaching(table, floor)] for table in tables)
                phase.bytes_written += write_pairs(to, kept)
            self.steps.record(step, [to], {})
        return exact

    def _prepare(self, files: list[tuple[Measure, Path]], rows: Rows) -> None:
        """Says whose text will be read."""
        assert self.verifier is not None
        wanted = np.zeros(len(self.segment), bool)
        for _, path in files:
            for table in read_pairs(path):
                wanted[rows[table[:, :2]]] = True
        self.verifier.prepare(np.flatnonzero(wanted))

    def _counted(
        self,
        measure: Measure,
        pairs: PairTable,
        rows: Rows,
        advance: Callable[[int], None] = lambda n: None,
    ) -> PairTable:
        """Pairs with the counts of complete sets of shingles."""
        assert self.verifier is not None
        a, b = rows[pairs[:, 0]].astype(np.int64), rows[pairs[:, 1]].astype(np.int64)
        common, size_a, size_b = self.verifier.count(a, b, advance, measure == "containment")
        exact = pairs.copy()
        exact[:, 2] = common
        smaller = np.minimum(size_a, size_b)
        exact[:, 3] = smaller if measure == "containment" else size_a + size_b - common
        return exact

    def _expanded(self, rows: Rows, path: Path) -> dict[str, int]:
        """Pairs by the paper's expansion, of sketches or of super shingles."""
        settings, sketches = self.settings, Sketches.of_segment(self.segment, self.scratch)
        budget = self._room // 4
        if settings.method == "super":
            found = super_pairs(
                sketches,
                rows,
                settings.super_length,
                settings.super_agreeing,
                threads=self.threads,
                budget_bytes=budget,
                scratch=self.folder,
                clock=self.clock,
                category=None if self.attributes is None else self.attributes.category,
            )
            return {"bytes": write_pairs(path, self._comparable(found, rows))}
        advance = self.progress("pairs", 2 * len(rows), "documents")
        with Expansion(
            sketches,
            rows,
            cut_off=settings.cut_off,
            threads=self.threads,
            budget_bytes=budget,
            scratch=self.folder,
            advance=advance,
            clock=self.clock,
        ) as expansion:
            tables = expansion.pairs(settings.floor, advance)
            written = write_pairs(path, self._comparable(tables, rows))
            return {
                "bytes": written,
                "elements": expansion.elements,
                "cut_elements": expansion.cut_elements,
                "expanded": expansion.expanded,
                "disk_bytes": expansion.disk_bytes,
            }

    def forest(self, measure: Measure, files: list[tuple[Measure, Path]], documents: int) -> None:
        path = link_file(self.folder, measure)
        step = f"forest-{measure}"
        if self.steps.done(step):
            return
        with self.clock("forest") as phase:
            chosen = [file for kind, file in files if kind == measure]

            def read() -> Iterator[PairTable]:
                for file in chosen:
                    yield from read_pairs(file)

            links = [0]

            def counted() -> Iterator[PairTable]:
                for table in forest_links(read, documents, self._room // 8):
                    links.append(len(table))
                    yield table

            phase.bytes_written += write_pairs(path, counted())
            phase.rows += sum(links)
        self.steps.record(step, [path], {})
