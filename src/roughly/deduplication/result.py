"""What a deduplication found: who stays, who goes and why; and the input without those that go.

The result keeps where its documents came from and their ids, on disk; the documents themselves are
read again when they are written. Why documents go may be found when somebody first asks, which
takes a while; else nothing here changes.
"""

from __future__ import annotations

import os
import tempfile
from collections.abc import Iterator
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from roughly.clustering.sketching import Progress, no_progress
from roughly.deduplication.removal import KINDS, Decision, Removals
from roughly.deduplication.removal_file import (
    count_sites,
    removal_lines,
    removal_tables,
    schema_of,
)
from roughly.documents.file import Document
from roughly.errors import ParameterError
from roughly.pipeline import give_back_memory
from roughly.storage.scratch import Scratch
from roughly.verification.column import Columns

if TYPE_CHECKING:
    from roughly.corpus import Corpus
    from roughly.deduplication.output import Written
    from roughly.deduplication.output_plan import Output
    from roughly.deduplication.rule import Rule
    from roughly.documents import Documents
    from roughly.documents.field import Fields
    from roughly.documents.skipped import Skipped
    from roughly.documents.source import Source
    from roughly.documents.state import States
    from roughly.storage.segment import Segment
    from roughly.verification.column import Rows
    from roughly.verification.contents import Texts


class Deduplicated:
    """The documents of a collection without near duplicates."""

    def __init__(
        self,
        documents: Documents,
        states: States,
        segment: Segment,
        rule: Rule,
        decision: Decision,
        skipped: Skipped,
        root: str | None,
        owner: object,
        against: Corpus | None = None,
    ) -> None:
        self.skipped = skipped
        """What could not be read, by reason."""
        self._documents = documents
        self._states = states
        self._segment = segment
        self._columns = Columns(segment)
        self._rule = rule
        self._decision = decision
        self._root = root  # the directory that all documents are files of, if they were named so
        self._owner = owner  # of the directory that the segment is in: it goes with the last user
        self._against = against
        self._corpus_columns = None if against is None else Columns(against.segment)

    @property
    def _removals(self) -> Removals:
        return self._decision.removals()

    @property
    def documents(self) -> int:
        """Documents that were read."""
        return len(self._segment)

    @property
    def removed(self) -> int:
        """Documents that go."""
        return len(self._decision.removed)

    @property
    def in_corpus(self) -> int:
        """Documents that go because of one in the corpus that they were held against."""
        return int(self._removals.in_corpus.sum())

    @property
    def keep(self) -> str:
        """Which of those alike stays."""
        return self._rule.keep

    @property
    def has_dates(self) -> bool:
        """Whether any document has one."""
        parts = range(self._segment.parts)
        columns = (self._segment.part_column(part, "date") for part in parts)
        return any(column.null_count < len(column) for column in columns)

    @property
    def counts(self) -> dict[str, int]:
        """Kind -> documents that go for it; see `removals`."""
        counts = np.bincount(self._removals.kind, minlength=len(KINDS)).tolist()
        return dict(zip(KINDS, counts, strict=True))

    @property
    def same_site(self) -> int:
        """Documents that go because of one of the same site, the host of their URLs."""
        return self._sites[0]

    @property
    def cross_site(self) -> int:
        """Documents that go because of one of another site. Those whose ids are no URLs, or that go
        because of such a one, are of neither kind."""
        return self._sites[1]

    @cached_property
    def _sites(self) -> tuple[int, int]:
        return count_sites(self._removals, self._columns, self._corpus_columns)

    @property
    def removed_bytes(self) -> int:
        """Bytes of text of the documents that go."""
        return int(self._columns.numbers("bytes", self._decision.removed).sum())

    @property
    def text_bytes(self) -> int:
        """Bytes of text of all documents."""
        parts = (np.arange(*self._segment.rows(part)) for part in range(self._segment.parts))
        return sum(int(self._columns.numbers("bytes", rows).sum()) for rows in parts)

    @property
    def fields(self) -> dict[Fields, list[Source]]:
        """Which fields were read, and from which sources."""
        return self._documents.guesses

    def __len__(self) -> int:
        """Documents that stay."""
        return self.documents - self.removed

    def __iter__(self) -> Iterator[str]:
        """The ids of the documents that stay, in input order."""
        stays = self.stays
        for part in range(self._segment.parts):
            rows = np.arange(*self._segment.rows(part))
            yield from self._columns.take("id", rows[stays[rows]]).to_pylist()

    @property
    def stays(self) -> npt.NDArray[np.bool_]:
        """For every document that was read, in input order, whether it stays."""
        stays = np.ones(self.documents, dtype=bool)
        stays[self._decision.removed] = False
        return stays

    def mask(self) -> npt.NDArray[np.bool_]:
        """For every record of the input, which must be one table, frame, list or file, whether it
        stays: `frame[result.mask()]`. Records that could not be read as documents stay; of a
        file those behind the last document are left out."""
        if len(self._documents.sources) != 1:
            raise ParameterError(
                f"mask: there are {len(self._documents.sources):,} sources, wanted one",
                hint="use stays, or write",
            )
        source = self._documents.sources[0]
        position = self._columns.numbers("position", self._decision.removed)
        last = self._columns.numbers("position", np.arange(self.documents)[-1:])
        records = int(last[0]) + 1 if len(last) else 0
        if hasattr(source.data, "__len__"):
            records = max(records, len(source.data))
        mask = np.ones(records, dtype=bool)
        mask[position] = False
        return mask

    def removals(self) -> pa.Table:
        """A row a document that goes, in input order: removed (its id), kept (the id of the
        document that stays in its place), kind, resemblance, containment (of removed in kept); by
        the methods simhash and both distance (bits in which their simhashes differ); and if they
        were held against a corpus kept_in ("corpus" or "input": where kept is).

        Kinds: identical (the same bytes), lexical (the same words), shingle (the same shingles),
        near (resemblance at the threshold or more; by the method simhash: a simhash within the
        distance), contained (containment at its threshold).
        """
        tables = list(removal_tables(self._removals, self._columns, self._corpus_columns))
        return pa.concat_tables(tables) if tables else self._schema.empty_table()

    def to_arrow(self) -> pa.Table:
        """The same as `removals()`."""
        return self.removals()

    def to_pandas(self) -> Any:
        """`removals()` as a pandas frame."""
        return self.removals().to_pandas()

    def to_polars(self) -> Any:
        """`removals()` as a polars frame."""
        from importlib import import_module

        try:
            polars = import_module("polars")
        except ModuleNotFoundError as error:
            raise ParameterError(
                "polars: not installed: wanted it for to_polars()", hint="pip install polars"
            ) from error
        return polars.from_arrow(self.removals())

    def write(self, out: str | os.PathLike[str], *, force: bool = False) -> None:
        """Writes the input without the documents that go, in its own format, and beside it
        `OUT.removals.jsonl`. For several files, a directory or a pattern `out` is a directory."""
        from roughly.deduplication.output_plan import plan_output

        corpus = None if self._against is None else self._against.path
        self.write_to(plan_output(self._documents, os.fspath(out), force, self._root, corpus))

    def write_to(self, output: Output, progress: Progress = no_progress) -> Written:
        """The same, to where it was planned before the documents were read."""
        from roughly.deduplication.output import write_output

        if output.stream:
            # Nothing is written beside it, and what was written cannot be taken back.
            self._decision.removals(progress)
        give_back_memory()  # what the decisions took
        return write_output(
            self._documents,
            self._states,
            self._decision,
            self._columns,
            self._lines(),
            output,
            progress,
            Scratch(self._segment.directory.parent),
        )

    def _lines(self) -> Iterator[bytes]:
        yield from removal_lines(self._removals, self._columns, self._corpus_columns)
        # They will be told: counted here, where lines are made, that is done beside the copying.
        _ = self._sites

    def largest(self, count: int) -> Iterator[tuple[Document, Document]]:
        """The largest documents that go, by their bytes, each with the one that stays."""
        from roughly.verification.contents import Contents, StoredContents

        removals = self._removals
        sizes = self._columns.numbers("bytes", removals.removed).astype(np.int64)
        chosen = np.argsort(-sizes, kind="stable")[:count]
        removed, kept = removals.removed[chosen], removals.kept[chosen]
        in_corpus = removals.in_corpus[chosen]
        with tempfile.TemporaryDirectory(prefix="roughly-") as folder:
            contents = Contents(self._documents, self._segment, Path(folder))
            rows = np.concatenate((removed, kept[~in_corpus]))
            own = _read_documents(contents, self._columns, rows)
            contents.close()
        known = {}
        if self._against is not None and self._corpus_columns is not None:
            stored = StoredContents(self._against.segment)
            known = _read_documents(stored, self._corpus_columns, kept[in_corpus])
        for one, two, there in zip(removed.tolist(), kept.tolist(), in_corpus, strict=True):
            yield own[one], known[two] if there else own[two]

    @property
    def _schema(self) -> pa.Schema:
        return schema_of(self._removals, self._corpus_columns)

    def __repr__(self) -> str:
        rule = self._rule
        kinds = ", ".join(f"{count:,} {kind}" for kind, count in self.counts.items() if count)
        skipped = f", {self.skipped.count:,} skipped" if self.skipped.count else ""
        against = "" if self._against is None else f", against {len(self._against):,} documents"
        return (
            f"Deduplicated({self.documents:,} documents{skipped}, {len(self):,} kept,"
            f" {self.removed:,} removed{f' ({kinds})' if kinds else ''} at"
            f" {self._limits}, keep {rule.keep}{against})"
        )

    @property
    def _limits(self) -> str:
        """From when on documents go, in words."""
        rule, condition = self._rule, self._rule.condition
        words = []
        if condition.method != "simhash":
            words.append(f"threshold {float(rule.threshold)}")
        if rule.containment is not None:
            words.append(f"containment {float(rule.containment)}")
        if condition.simhash is not None:
            words.append(f"distance {condition.distance}")
        if condition.size_ratio is not None:
            words.append(f"size ratio {float(condition.size_ratio)}")
        if condition.within is not None:
            words.append(f"within {condition.within}")
        return ", ".join(words)

    def _repr_html_(self) -> str:
        from html import escape

        tables = removal_tables(self._removals, self._columns, self._corpus_columns)
        table = next(tables, self._schema.empty_table())
        head = "".join(f"<th>{name}</th>" for name in table.column_names)
        rows = "".join(
            "<tr>" + "".join(f"<td>{escape(_shown(v))}</td>" for v in row.values()) + "</tr>"
            for row in table.slice(0, 10).to_pylist()
        )
        return f"<p>{escape(repr(self))}</p><table><tr>{head}</tr>{rows}</table>"


def _read_documents(contents: Texts, columns: Columns, rows: Rows) -> dict[int, Document]:
    """Documents by their rows."""
    rows = np.unique(rows)
    contents.prepare(rows)
    texts = [row for batch in contents.read(rows) for row in batch.to_pylist()]
    ids = columns.take("id", rows).to_pylist()
    encodings = columns.take("encoding", rows).to_pylist()
    return {
        row: Document(id, text["content"], text["content"], text["html"], encoding, "utf-8")
        for row, id, text, encoding in zip(rows.tolist(), ids, texts, encodings, strict=True)
    }


def _shown(value: Any) -> str:
    return f"{value:.3f}" if isinstance(value, float) else str(value)
