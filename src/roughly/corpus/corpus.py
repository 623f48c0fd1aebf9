"""A corpus: the directory NAME.roughly with documents, sketches, forests and results.

    corpus.json          what it is made of (manifest.py)
    segments/000001/     documents, sketches, text (roughly.storage.segment); one for each addition
    forest/000001/       document order, pairs, links (roughly.clustering.run), the rows removed
    lock                 held by the one writer
    work/                of a change that is being made

Any number of processes may read it, each the state that was there when it opened it; one may change
it. A change is there wholly or not at all, whatever stops it.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from roughly import _core
from roughly.clustering.clusters import Clusters
from roughly.clustering.outcome import Outcome
from roughly.clustering.settings import DEFAULT_THRESHOLD, condition_for, settings_for
from roughly.clustering.sketching import Progress, no_progress, read_skipped
from roughly.corpus.change import Change
from roughly.corpus.creation import leave_out, make_corpus, make_empty
from roughly.corpus.manifest import Manifest
from roughly.corpus.snapshot import Snapshot
from roughly.documents import Documents, open_documents
from roughly.errors import ParameterError
from roughly.parameters import memory_or_half, threads_or_all
from roughly.sketcher import Sketcher, preset_named
from roughly.storage.collection import Collection

if TYPE_CHECKING:
    from fractions import Fraction

    from roughly.clustering.settings import Linkage, Settings
    from roughly.condition import Method
    from roughly.corpus.changes import Changes
    from roughly.corpus.collapse import Result
    from roughly.corpus.compaction import Compacted
    from roughly.corpus.growth import Added
    from roughly.corpus.history import History
    from roughly.corpus.information import Information
    from roughly.corpus.lookup import NamedDocument
    from roughly.corpus.lost import Move, Trace
    from roughly.corpus.over_time import Collapsed
    from roughly.corpus.removal import Removed
    from roughly.corpus.sweeps import Period
    from roughly.documents.file import Document
    from roughly.search.match import Found
    from roughly.search.searcher import Direction, Searcher
    from roughly.simhashing.simhasher import Simhasher


class Corpus:
    """A corpus on disk: the state that it had when it was opened, or that this object gave it."""

    def __init__(self, path: str | Path) -> None:
        self.path = Path(path)
        self._snapshot = Snapshot(self.path)

    @classmethod
    def create(
        cls,
        path: str | Path,
        sketcher: Sketcher | None = None,
        threshold: float | str | Fraction | None = None,
        *,
        floor: float | str | Fraction | None = None,
        containment: float | str | Fraction | None = None,
        containment_floor: float | str | Fraction | None = None,
        linkage: Linkage = "single",
        exact: bool = False,
        preset: str | None = None,
        method: Method | None = None,
        distance: int | None = None,
        size_ratio: float | str | Fraction | None = None,
        within: str | None = None,
        simhasher: Simhasher | None = None,
        discount: str | None = None,
        text: bool = True,
        force: bool = False,
    ) -> Corpus:
        """A corpus without documents, in a new directory. What is given here is fixed: how
        documents are sketched, from where on pairs are found, whether the text is kept. All of it
        means what it means for `roughly.cluster`."""
        if sketcher is not None and preset is not None:
            raise ParameterError("preset: cannot stand beside a sketcher: wanted one of the two")
        if preset is not None:
            sketcher = preset_named(preset).sketcher()
        sketcher = Sketcher() if sketcher is None else sketcher
        settings = settings_for(
            sketcher.parameters,
            threshold,
            floor,
            containment,
            containment_floor,
            preset,
            exact=exact,
            condition=condition_for(preset, method, distance, size_ratio, within, simhasher),
            discount=discount,
            linkage=linkage,
        )
        make_empty(Path(path), sketcher, settings, text=text, force=force)
        return cls(path)

    def __len__(self) -> int:
        """Documents."""
        return self.manifest.documents

    def __repr__(self) -> str:
        return f"Corpus({str(self.path)!r}, {len(self)} documents)"

    @property
    def manifest(self) -> Manifest:
        return self._snapshot.manifest

    @property
    def collection(self) -> Collection:
        """All documents that are there."""
        return self._snapshot.collection

    @property
    def segment(self) -> Collection:
        """The same, to whom a collection is as good as one segment."""
        return self._snapshot.collection

    @property
    def searcher(self) -> Searcher:
        """Looks many documents up at once, by their sketches."""
        return self._snapshot.searcher

    @property
    def outcome(self) -> Outcome:
        """Document order, groups, pairs and forests."""
        return self._snapshot.outcome

    @property
    def forest(self) -> Path:
        """The directory of the clusters that it has now."""
        return self._snapshot.forest

    def reopen(self) -> None:
        """Goes on with the state that the corpus has now."""
        self._snapshot = Snapshot(self.path)

    def find(
        self,
        text: str | bytes | Document | None = None,
        url: str | None = None,
        *,
        threshold: float | str | Fraction | None = None,
        containment: float | str | Fraction | None = None,
        direction: Direction = "both",
        date: str | None = None,
        limit: int | None = 10,
        exact: bool | None = None,
        method: Method | None = None,
        distance: int | None = None,
        size_ratio: float | str | Fraction | None = None,
        within: str | None = None,
        category: str | None = None,
        content_type: str = "auto",
        threads: int | None = 1,
        progress: Progress = no_progress,
    ) -> Found:
        """Documents like a text, or like the latest document of a URL, best first: those that
        resemble it by `threshold`, and those that contain it, or are contained in it, by
        `containment` (`direction`: "contained" for the former alone, "contains" for the latter).
        If neither is given, 0.5 and 0.8. `date`: those of one sweep alone, a day, a month, a year,
        "undated" or "latest".

        `exact`: True counts by the stored text, also where sketches cannot tell; False believes
        the estimates; None has those counted that rest on few samples.

        `method` "simhash" finds documents whose simhashes differ in at most `distance` (3) bits,
        nearest first; "both" leaves only those of what else is found. `size_ratio` and `within`
        mean what they mean for `roughly.cluster`; `category` is that of the query, which for a URL
        is known."""
        from roughly.corpus.finding import Asked, find_documents

        return find_documents(
            self._snapshot,
            text,
            url,
            threshold=threshold,
            containment=containment,
            direction=direction,
            date=date,
            limit=limit,
            exact=exact,
            asked=Asked(method, distance, size_ratio, within, category),
            content_type=content_type,
            threads=threads_or_all(threads),
            progress=progress,
        )

    def document(self, row: int) -> Document:
        """A document of the collection with its stored text, as for `roughly.compare`."""
        from roughly.corpus.finding import stored_document

        return stored_document(self.collection, row)

    def clusters(
        self,
        threshold: float | str | Fraction | None = None,
        containment: float | str | Fraction | None = None,
        linkage: Linkage | None = None,
        threads: int | None = None,
        *,
        distance: int | None = None,
    ) -> Clusters:
        """The clusters at any thresholds from the floors up, by either linkage; those it was made
        with unless given. The containment "none" leaves out that of the corpus, for stars too. Of a
        corpus by simhash: at any distance up to its own."""
        settings = self.manifest.settings
        found = Clusters(
            self.collection,
            self.outcome,
            settings,
            settings.threshold,
            settings.containment,
            settings.linkage,
            read_skipped(self.collection.skipped),
            self.manifest.phases,
            threads_or_all(threads),
            self._snapshot,
        )
        return found.at(threshold, containment, linkage, distance=distance)

    def add(
        self,
        documents: Any,
        date: str | None = None,
        *,
        content_type: str = "auto",
        text_field: str | None = None,
        id_field: str | None = None,
        date_field: str | None = None,
        base: str | None = None,
        strict: bool = False,
        memory: int | str | None = None,
        threads: int | None = None,
        progress: Progress = no_progress,
    ) -> Added:
        """Adds documents, as a sweep of that date for those that have none of their own, and brings
        the clusters up to date. `documents`: as for `roughly.cluster`, or opened ones.

        The same id at another date is another version of a document. At the same date it is known
        if its content is the same, and becomes id#2 if not. Only content that is not there yet is
        sketched. Files of a directory are called by their path, or by `base` and their path inside
        it."""
        from roughly.corpus.growth import add_documents, checked_date

        date = checked_date(date)
        opened = documents
        if not isinstance(documents, Documents):
            opened = open_documents(
                documents,
                text_field=text_field,
                id_field=id_field,
                date_field=date_field,
                category_field=self.manifest.settings.condition.category_field,
                base=base,
                content_type=content_type,
                strict=strict,
            )
        leave_out(opened, self.path)
        memory_bytes = memory_or_half(memory)
        with Change(self.path) as change, _core.ResidentLimit(memory_bytes):
            added = add_documents(
                change,
                opened,
                date,
                threads=threads_or_all(threads),
                memory_bytes=memory_bytes,
                progress=progress,
            )
            self._move_on(change)
        return added

    def remove(
        self,
        names: str | Iterable[str],
        date: str | None = None,
        *,
        strict: bool = False,
        memory: int | str | None = None,
        threads: int | None = None,
        progress: Progress = no_progress,
    ) -> Removed:
        """Removes all documents of these ids or URLs, or only those of one date. They are gone from
        everything at once, and from the disk with the next `compact`. With `strict` a name that no
        document has is an error, and nothing is removed."""
        from roughly.corpus.growth import checked_date
        from roughly.corpus.removal import remove_documents

        names = [names] if isinstance(names, str) else list(names)
        memory_bytes = memory_or_half(memory)
        with Change(self.path) as change, _core.ResidentLimit(memory_bytes):
            removed = remove_documents(
                change,
                names,
                checked_date(date),
                strict=strict,
                threads=threads_or_all(threads),
                memory_bytes=memory_bytes,
                progress=progress,
            )
            self._move_on(change)
        return removed

    def compact(
        self,
        seed: int | Literal["random"] | None = None,
        *,
        memory: int | str | None = None,
        threads: int | None = None,
        progress: Progress = no_progress,
    ) -> Compacted:
        """Makes one segment of all, without what was removed, and clusters it as if it were new.
        With a `seed` (or "random") all documents are sketched again, from the stored text: nobody
        can know beforehand which of a text's shingles the sketches keep."""
        from roughly.corpus.compaction import bytes_on_disk, compact_corpus

        if seed is not None:
            seed = Sketcher(seed=seed).seed
        memory_bytes = memory_or_half(memory)
        with Change(self.path) as change, _core.ResidentLimit(memory_bytes):
            compacted = compact_corpus(
                change,
                seed,
                threads=threads_or_all(threads),
                memory_bytes=memory_bytes,
                progress=progress,
            )
            self._move_on(change)
            compacted.bytes_after = bytes_on_disk(change)
        return compacted

    def verify(self, threads: int | None = None) -> list[str]:
        """Checks every byte and every reference; what is wrong, a line a problem."""
        from roughly.corpus.check import problems_of

        # Opened anew: files may have changed since this was.
        return problems_of(Snapshot(self.path), threads)

    def info(self) -> Information:
        """What the corpus holds, how it was made, and what it takes on disk."""
        from roughly.corpus.information import information

        return information(self._snapshot)

    def documents(self, url: str) -> list[NamedDocument]:
        """All documents of a page, oldest first. The URL may be in another spelling than the ids
        have it."""
        from roughly.corpus.over_time import documents_at

        return documents_at(self.collection, url)

    def cluster_of(
        self, url: str, threshold: float | str | Fraction | None = None
    ) -> list[NamedDocument]:
        """All documents in the cluster of a page's latest document, that one among them."""
        from roughly.corpus.over_time import cluster_of

        return cluster_of(self.collection, self.clusters(threshold), url)

    def lost(
        self, url: str, by: Period = "day", *, exact: bool = False, threads: int | None = None
    ) -> Trace | None:
        """Where a page is now; None if no sweep has it. Documents of one day, month or year are
        one sweep. With `exact` resemblance and containment are counted on the stored text."""
        from roughly.corpus.over_time import lost

        return lost(self.collection, url, by, exact, threads_or_all(threads))

    def lost_each(
        self,
        urls: Iterable[str],
        by: Period = "day",
        *,
        exact: bool = False,
        threads: int | None = None,
    ) -> Iterator[Trace | None]:
        """The same for several pages, in their order, each when it is asked for."""
        from roughly.corpus.over_time import lost_each

        return lost_each(self.collection, list(urls), by, exact, threads_or_all(threads))

    def moves(
        self,
        begin: str | None = None,
        end: str | None = None,
        by: Period = "day",
        *,
        exact: bool = False,
        threads: int | None = None,
        progress: Progress = no_progress,
    ) -> list[Move]:
        """What became of every page that vanished between two sweeps; the last two unless their
        dates are given. `exact` as for `lost`."""
        from roughly.corpus.over_time import moves

        return moves(self.collection, begin, end, by, exact, threads_or_all(threads), progress)

    def moves_of(
        self,
        urls: Iterable[str],
        begin: str | None = None,
        end: str | None = None,
        by: Period = "day",
        *,
        exact: bool = False,
        threads: int | None = None,
    ) -> Iterator[list[Move] | None]:
        """The same for some pages, in their order, each when it is asked for: to its own URL if a
        page is there; None if the earlier sweep does not have it."""
        from roughly.corpus.over_time import moves_of

        threads = threads_or_all(threads)
        return moves_of(self.collection, list(urls), begin, end, by, exact, threads)

    def urls(self, date: str | None = None, by: Period = "day") -> list[str]:
        """The ids of all pages of one sweep, the last unless its date is given."""
        from roughly.corpus.over_time import urls

        return urls(self.collection, date, by)

    def changes(
        self,
        by: Period = "day",
        threads: int | None = None,
        *,
        progress: Progress = no_progress,
    ) -> Changes:
        """How pages change from sweep to sweep."""
        from roughly.corpus.over_time import changes

        return changes(self.collection, by, threads_or_all(threads), progress)

    def history(self, url: str, by: Period = "day", threads: int | None = None) -> History | None:
        """One page over all sweeps; None if none has it."""
        from roughly.corpus.over_time import history

        return history(self.collection, url, by, threads_or_all(threads))

    def collapse(
        self,
        results: Iterable[str | Result],
        threshold: float | str | Fraction | None = None,
        containment: float | str | Fraction | None = None,
        *,
        threads: int | None = None,
    ) -> Collapsed:
        """Ranked results, URLs or `Result`s, each under the best-ranked one that says the same."""
        from roughly.corpus.over_time import collapse, result_of

        ranked = [result_of(rank, item) for rank, item in enumerate(results, 1)]
        if threshold is None:
            settings = self.manifest.settings
            by_simhash = settings.method == "hamming"
            threshold = DEFAULT_THRESHOLD if by_simhash else settings.threshold
        threads = threads_or_all(threads)
        return collapse(self.collection, ranked, threshold, containment, threads)

    def _move_on(self, change: Change) -> None:
        """From the state before a change to the one after; what only the former has may go."""
        if change.after is not None:
            del self._snapshot  # Clusters that were made of it keep it, and its files.
            try:
                change.collect()
            finally:
                self._snapshot = Snapshot(self.path)


def create_corpus(
    documents: Documents,
    sketcher: Sketcher,
    settings: Settings,
    path: str | Path,
    **options: Any,
) -> Corpus:
    """Clusters documents into a new corpus, or goes on with a run that did not finish. For
    `options` see `creation.make_corpus`."""
    make_corpus(documents, sketcher, settings, Path(path), **options)
    return Corpus(path)
