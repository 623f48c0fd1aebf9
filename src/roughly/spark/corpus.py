"""A corpus directory (docs/format.md) from what Spark has clustered, and the documents of one as a
DataFrame: so that what was clustered there is served here.

A corpus is for one machine, so here everything does come to the driver, in bounded pieces: first
the documents, in document order, into a segment; then the pairs, as steps that the local run need
not take any more. The local engine then makes the forests, the index and the manifest of it, as it
goes on with any run that was stopped.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from roughly import _core
from roughly.clustering import SEGMENT
from roughly.clustering.frozen import FrozenJoin
from roughly.clustering.join import Budget, Hubs
from roughly.clustering.outcome import FOREST, write_hubs, write_pairs
from roughly.clustering.sketches import PairTable, Rows, Sketches
from roughly.clustering.sketching import write_segment
from roughly.clustering.whole import run_parameters
from roughly.condition import NO_CONDITION
from roughly.corpus import Corpus, create_corpus
from roughly.documents import open_documents
from roughly.errors import ParameterError
from roughly.parameters import memory_or_half, threads_or_all
from roughly.sketcher import Sketcher
from roughly.spark.clusters import SparkClusters
from roughly.spark.sketching import fields_of, readable
from roughly.storage.durable import make_directory
from roughly.storage.lock import WriterLock
from roughly.storage.steps import Steps

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

# Documents whose texts, or pairs, come to the driver at once.
_PIECE = 100_000
_TEXTS = pa.schema([("id", pa.string()), ("date", pa.string()), ("text", pa.large_binary())])


def write_corpus(
    found: SparkClusters,
    documents: DataFrame,
    path: str | Path,
    *,
    text: bool = True,
    content_type: str = "auto",
    text_field: str | None = None,
    id_field: str | None = None,
    date_field: str | None = None,
    memory: int | str | None = None,
    threads: int | None = None,
) -> Corpus:
    """A corpus on the driver's machine, of the documents that were clustered; its clusters are
    those that were found."""
    parameters, settings = found.parameters, found.settings
    if settings.method != "join" or settings.exact or settings.condition != NO_CONDITION:
        raise ParameterError(
            "corpus: cannot be made of this: Spark hands over plain pairs by sketches only, and"
            " these are of a preset, exact, or of a method or condition",
            hint="write the tables, or make the corpus with: roughly cluster",
        )
    sketcher = Sketcher.of(parameters)
    fields = fields_of(documents, text_field, id_field, date_field, content_type)
    texts = readable(documents, fields).select("id", "text")
    named = found.names.join(texts, "id").select("number", "id", "date", "text")
    count = found.names.count()
    reader = pa.RecordBatchReader.from_batches(_TEXTS, _ordered(named, count))
    opened = open_documents(
        reader, text_field="text", id_field="id", date_field="date", content_type=content_type
    )
    directory = Path(path)
    options: dict[str, Any] = {
        "text": text,
        "memory_bytes": memory_or_half(memory),
        "threads": threads_or_all(threads),
    }
    make_directory(directory)
    if any(directory.iterdir()):
        raise ParameterError(f"{directory}: will not write: it is not empty", hint="name another")
    run = run_parameters(opened, sketcher, settings, text)
    with WriterLock(directory), Steps(directory, run) as steps:
        segment = write_segment(
            opened,
            sketcher,
            directory / SEGMENT,
            steps,
            text=text,
            threads=options["threads"],
        )
        own = found.groups.where("number = representative").select("number")
        rows = np.concatenate(
            [np.zeros(0, np.uint32), *(t[:, 0] for t in _pieces(own, "number", count))]
        ).astype(np.uint32)
        folder = directory / FOREST
        make_directory(folder)
        sketches = Sketches.of_segment(segment)
        join = FrozenJoin(
            sketches,
            rows,
            threads=options["threads"],
            budget=Budget.of_memory(options["memory_bytes"]),
            scratch=folder,
        )
        _write_steps(found, join, sketches, rows, count, folder, steps)
    return create_corpus(opened, sketcher, settings, directory, **options)


def _ordered(named: DataFrame, count: int) -> Iterator[pa.RecordBatch]:
    """The documents in document order, a piece at a time."""
    from pyspark.sql import functions as F

    for begin in range(0, count, _PIECE):
        piece = named.where(F.col("number").between(begin, begin + _PIECE - 1))
        table = piece.orderBy("number").select("id", "date", "text").toArrow()
        yield from table.cast(_TEXTS).to_batches()


def _pieces(table: DataFrame, key: str, count: int) -> Iterator[npt.NDArray[np.int64]]:
    """The rows of numbers, sorted, as many documents' at a time."""
    from pyspark.sql import functions as F

    for begin in range(0, count, _PIECE):
        piece = table.where(F.col(key).between(begin, begin + _PIECE - 1))
        columns = piece.orderBy(*piece.columns).toArrow().columns
        yield np.stack([column.to_numpy() for column in columns], axis=1)


def _pairs(table: DataFrame, rows: Rows, count: int) -> Iterator[PairTable]:
    """Pairs of numbers as pairs of representatives, which are numbered by themselves."""
    for piece in _pieces(table.select("a", "b", "common", "sampled"), "a", count):
        piece[:, :2] = np.searchsorted(rows, piece[:, :2])
        if len(piece):
            yield piece.astype(np.uint32)


def _write_steps(
    found: SparkClusters,
    join: FrozenJoin,
    sketches: Sketches,
    rows: Rows,
    count: int,
    folder: Path,
    steps: Steps,
) -> None:
    """What the local run would have found, by the names it gives it (roughly.clustering.run)."""
    rule = found.settings.mass
    hubs: Hubs = np.full(len(rows), _core.NO_HUB, np.uint32)
    links = np.concatenate(
        [np.zeros((0, 4), np.uint32), *_pairs(found.resembling.where("mass"), rows, count)]
    )
    hubs[links[:, 1]] = links[:, 0]
    hub_links = folder / "pairs-hubs.arrow"
    write_pairs(hub_links, [links[np.argsort(links[:, 1], kind="stable")]])
    outputs = [write_hubs(folder, hubs), hub_links]
    outputs += [join.frequent(rule).write(folder), join.heads(rule).write(folder)]
    if found.containing is not None:
        held = folder / "pairs-containment-hubs.arrow"
        write_pairs(held, _pairs(found.containing.where("mass"), rows, count))
        outputs.append(held)
    steps.record("hubs", outputs, {})

    inside = folder / "pairs-masses.arrow"
    rest = found.resembling.where("not mass")
    choose = partial(_of_masses, hubs)
    write_pairs(inside, (t[choose(t)] for t in _pairs(rest, rows, count)))
    steps.record("masses", [inside], {})
    others = (t[~choose(t)] for t in _pairs(rest, rows, count))
    measures: list[tuple[str, Iterator[PairTable]]] = [("resemblance", others)]
    if found.containing is not None:
        measures.append(("containment", _pairs(found.containing.where("not mass"), rows, count)))
    levels = np.unique(sketches.level[rows]).tolist()
    for measure, tables in measures:
        for level in levels:
            # All in the file of the first level: which file a pair is in means nothing.
            path = folder / f"pairs-{measure}-{level:02}.arrow"
            write_pairs(path, tables if level == levels[0] else [])
            steps.record(f"pairs-{measure}-{level:02}", [path], {})


def _of_masses(hubs: Hubs, pairs: PairTable) -> npt.NDArray[np.bool_]:
    """Which are pairs of two documents with the same hub."""
    a, b = hubs[pairs[:, 0]], hubs[pairs[:, 1]]
    inside: npt.NDArray[np.bool_] = (a == b) & (a != _core.NO_HUB)
    return inside


def read_corpus(session: SparkSession, path: str | Path) -> DataFrame:
    """id, date and text of a corpus's documents, read by the executors: all of them must have the
    directory under this path."""
    directory = str(Path(path).absolute())
    corpus = Corpus(directory)
    if not corpus.collection.has_text:
        raise ParameterError(f"{path}: keeps no text", hint="make it without --no-text")
    parts = session.range(0, len(corpus.collection), 1).withColumnRenamed("id", "row")
    return parts.mapInArrow(partial(_read, directory), "id string, date string, text string")


def _read(directory: str, arrow: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    stored = Corpus(directory).collection
    live = stored.live
    for batch in arrow:
        rows = batch.column("row").to_numpy()
        rows = rows[live[rows]]
        if len(rows):
            columns = [stored.take("id", rows), stored.take("date", rows)]
            columns.append(stored.text(rows).cast(pa.large_string()).cast(pa.string()))
            yield pa.RecordBatch.from_arrays(columns, ["id", "date", "text"])
