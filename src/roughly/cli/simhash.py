"""`roughly simhash INPUT... [-o OUT]`: the simhash of every document; and the options that say how
documents become features, for every command that makes simhashes."""

from __future__ import annotations

import argparse
import os
import sys
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any

from roughly.cli.options import add_reading, documents_of, positive, seed
from roughly.cli.output import check_output, refuse_inputs, say, say_reading
from roughly.cli.progress import Progress
from roughly.documents.file import printable, read_document
from roughly.errors import ParameterError

if TYPE_CHECKING:
    import pyarrow as pa

    from roughly.documents import Documents
    from roughly.simhashing.simhash_file import SimhashTable
    from roughly.simhashing.simhasher import Simhasher

DESCRIPTION = """\
Prints the simhash of every document: 64 bits, as 16 hexadecimal digits, that
differ in few places where documents are nearly the same. Every term of a
document weighs as much as it occurs; options choose other features and weights.
A document without terms has no simhash: null, or - in the plain form."""

EPILOG = """\
examples:
  roughly simhash 'crawl/*.warc.gz' -o crawl.parquet
  roughly simhash docs.jsonl --stop-words english --stem english > simhashes.jsonl
  roughly simhash docs.jsonl --count-frequencies docs.frequencies
  roughly simhash docs.jsonl --frequencies docs.frequencies -o docs.txt

OUT is .parquet, .jsonl, .u64 (8 bytes each, no ids, documents without one left
out) or, by any other name, plain: digits, tab, id. Exit status: 0 done, 2 error."""


FEATURE_OPTIONS = ("features", "weights", "frequencies", "stop_words", "stem", "seed")
READING_OPTIONS = ("text_field", "id_field", "date_field", "format")
# What every file that is not for people begins with.
_OWN = b"RGHLY"


def add_features(parser: argparse.ArgumentParser) -> None:
    """The options of a Simhasher."""
    add = parser.add_argument_group("what a simhash is made of").add_argument
    add(
        "--features",
        metavar="KIND",
        help="terms, phrases:N (runs of 1 to N terms) or shingles:W (runs of W) (default: terms)",
    )
    add(
        "--weights",
        choices=("count", "once"),
        help="a feature weighs as much as it occurs, or 1 (default: count)",
    )
    add(
        "--frequencies",
        metavar="FILE",
        help="weigh by tf-idf, with the table that --count-frequencies made",
    )
    add("--stop-words", metavar="WHICH", help="leave out words: english, or a file of them")
    add("--stem", choices=("english",), help="take the stems of words")
    add("--seed", type=seed, metavar="N", help="seed of all keys, or random (default: 0)")


def simhasher_of(arguments: argparse.Namespace) -> Simhasher:
    """The simhasher that the options describe."""
    from roughly.simhashing.frequency import DocumentFrequencies
    from roughly.simhashing.simhasher import Simhasher

    weights: Any = arguments.weights or "count"
    if arguments.frequencies is not None:
        if arguments.weights is not None:
            raise ParameterError(
                f"--weights: cannot stand beside --frequencies: {arguments.weights} is another"
                " weight than tf-idf",
                hint="leave out one of them",
            )
        weights = DocumentFrequencies.load(arguments.frequencies)
    stop_words: Any = arguments.stop_words
    if stop_words not in (None, "english"):
        stop_words = read_document(stop_words, "text").text_utf8.decode().split()
    return Simhasher(
        arguments.features or "terms",
        weights,
        stop_words,
        arguments.stem,
        0 if arguments.seed is None else arguments.seed,
    )


def given_option(arguments: argparse.Namespace, names: tuple[str, ...]) -> str | None:
    """The first of these options that the user gave, as it is written."""
    given = (name for name in names if getattr(arguments, name) is not None)
    name = next(given, None)
    return None if name is None else f"--{name.replace('_', '-')}"


def open_documents(
    arguments: argparse.Namespace, inputs: list[str], output: str | None = None
) -> Documents:
    """Documents to be read, none of which is `output`, nor one of the files made of simhashes."""
    documents = documents_of(arguments, inputs)
    if output not in (None, "-"):
        refuse_inputs(str(output), [source.path for source in documents.sources])
    for source in documents.sources:
        if not source.found and source.path is not None and os.path.isfile(source.path):
            with open(source.path, "rb") as file:
                begin = file.read(8)
            if begin.startswith(_OWN):
                raise ParameterError(
                    f"{source.name}: cannot read: it begins with {begin!r}, wanted documents",
                    hint="give the file that it was made of",
                )
    return documents


def load_documents(
    arguments: argparse.Namespace, inputs: list[str], output: str | None, option: str
) -> pa.Table:
    """All documents, in memory; `option` is what needs them. What was read is for `load_simhashes`
    to say."""
    import pyarrow as pa

    documents = open_documents(arguments, inputs, output)
    for source, simhashes in zip(
        documents.sources, _hold_simhashes(arguments, documents), strict=True
    ):
        if simhashes:
            raise _no_documents(option, source.name)
    return pa.Table.from_batches(documents, documents.schema)


def load_simhashes(
    arguments: argparse.Namespace, inputs: list[str], output: str | None = None
) -> tuple[SimhashTable, Documents | None]:
    """The simhashes of files, or of documents, which then come with them. Raises if an input is
    where the output goes."""
    import numpy as np
    import pyarrow as pa

    from roughly.pipeline import read_ahead
    from roughly.simhashing.simhash_file import SimhashTable, read_simhashes, together

    documents = open_documents(arguments, inputs, output)
    held = _hold_simhashes(arguments, documents)
    if any(held):
        sources = documents.sources
        if not all(held):
            one, other = sources[held.index(True)].name, sources[held.index(False)].name
            raise ParameterError(
                f"{one}: cannot stand beside {other}: it holds simhashes, the other documents",
                hint="give one or the other; with --text-field all of them are documents",
            )
        option = given_option(arguments, (*FEATURE_OPTIONS, *READING_OPTIONS))
        if option is not None:
            raise _no_documents(option, sources[0].name)
        return together([read_simhashes(str(source.path)) for source in sources]), None
    simhasher = simhasher_of(arguments)
    ids: list[pa.Array] = []
    values: list[Any] = []
    empty: list[Any] = []
    for batch in read_ahead(documents):
        made = simhasher.simhash_documents(batch, arguments.threads)
        ids.append(batch["id"])
        values.append(made.simhashes)
        empty.append(made.empty)
    say_reading(documents)
    table = SimhashTable(
        np.concatenate([np.zeros(0, np.uint64), *values]),
        np.concatenate([np.zeros(0, np.bool_), *empty]),
        pa.chunked_array(ids, pa.string()),
        simhasher.parameters,
    )
    return table, documents


def _hold_simhashes(arguments: argparse.Namespace, documents: Documents) -> list[bool]:
    """Which of the sources are files of simhashes; none if the user says how to read documents."""
    from roughly.simhashing.simhash_file import is_simhash_file

    if arguments.text_field is not None or arguments.format is not None:
        return [False for _ in documents.sources]
    return [
        source.path is not None and is_simhash_file(source.path) for source in documents.sources
    ]


def _no_documents(option: str, name: str) -> ParameterError:
    return ParameterError(
        f"{option}: cannot change simhashes: {name} holds no documents",
        hint="give the documents instead",
    )


def add_parser(subparsers: Any) -> None:
    """Adds the command to the parser of all commands."""
    parser: argparse.ArgumentParser = subparsers.add_parser(
        "simhash",
        help="64 bits for every document that differ in few places where documents do",
        description=DESCRIPTION,
        epilog=EPILOG,
        formatter_class=argparse.RawDescriptionHelpFormatter,
        allow_abbrev=False,
    )
    parser.add_argument(
        "inputs", metavar="INPUT", nargs="+", help="a file, pattern or directory, - for stdin"
    )
    parser.add_argument(
        "-o", "--output", metavar="OUT", help="a file (default: -, JSON Lines to standard output)"
    )
    add_features(parser)
    add_reading(parser)
    group = parser.add_argument_group("the run and what it shows")
    add = group.add_argument
    add("--threads", type=positive, metavar="N", help="threads to use (default: all cores)")
    add("--plain", action="store_true", help="digits, tab and id on standard output")
    add(
        "--count-frequencies",
        metavar="FILE",
        help="write the table of how many documents have each feature, and no simhashes",
    )
    add("--force", action="store_true", help="overwrite files")
    add("--quiet", action="store_true", help="no summary and no progress, errors only")
    parser.set_defaults(run=run)


def run(arguments: argparse.Namespace) -> int:
    """Makes the simhashes, or the table of frequencies."""
    started = time.monotonic()
    output = arguments.count_frequencies or arguments.output
    _check_output(arguments, output)
    simhasher = simhasher_of(arguments)
    documents = open_documents(arguments, arguments.inputs, output)
    if arguments.count_frequencies is not None:
        told = _count(arguments, simhasher, documents)
    else:
        told = _write(arguments, simhasher, documents)
    if not arguments.quiet:
        say_reading(documents)
        say(f"{told}, in {time.monotonic() - started:.1f} s")
        if output not in (None, "-"):
            say(f"wrote {printable(output)}")
    return 0


def _check_output(arguments: argparse.Namespace, output: str | None) -> None:
    if arguments.count_frequencies is not None and arguments.output is not None:
        raise ParameterError(
            f"--output: cannot stand beside --count-frequencies: {printable(arguments.output)}"
            " would stay empty",
            hint="run twice: first count, then make simhashes with --frequencies FILE",
        )
    weighing = given_option(arguments, ("weights", "frequencies"))
    if arguments.count_frequencies is not None and weighing is not None:
        raise ParameterError(
            f"{weighing}: cannot stand beside --count-frequencies: what is counted does not"
            " depend on weights",
            hint="leave out one of them",
        )
    if arguments.plain and output not in (None, "-"):
        raise ParameterError(
            f"--plain: cannot stand beside {printable(output)}: a file's form is in its name",
            hint="leave it out, and name the file .txt for the plain form",
        )
    if output is not None and output != "-" and not _is_device(output):
        read = [arguments.frequencies, arguments.stop_words]
        check_output(output, arguments.force, read)


def _is_device(path: str) -> bool:
    """Whether it is something to write to that cannot be overwritten."""
    return os.path.exists(path) and not (os.path.isfile(path) or os.path.isdir(path))


def _count(arguments: argparse.Namespace, simhasher: Simhasher, documents: Documents) -> str:
    from roughly.pipeline import read_ahead

    with Progress(quiet=arguments.quiet) as progress:
        advance = progress.phase("count", documents.size_bytes or None, "B")
        counter = simhasher.frequency_counter(arguments.threads)
        done = 0
        for batch in read_ahead(documents):
            counter.add(batch)
            advance(documents.bytes_read - done)
            done = documents.bytes_read
        table = counter.result()
    table.save(arguments.count_frequencies, force=arguments.force)
    return f"{table.documents:,} documents, {len(table):,} different features"


def _write(arguments: argparse.Namespace, simhasher: Simhasher, documents: Documents) -> str:
    import contextlib

    from roughly.pipeline import read_ahead
    from roughly.simhashing.simhash_file import SimhashWriter, simhash_writer

    counted = empty = size = done = 0
    with contextlib.ExitStack() as stack:
        progress = stack.enter_context(Progress(quiet=arguments.quiet))
        if arguments.output not in (None, "-"):
            path = Path(arguments.output)
            writer = stack.enter_context(simhash_writer(path, simhasher.parameters))
        else:
            form: Any = "plain" if arguments.plain else "jsonl"
            writer = SimhashWriter(sys.stdout.buffer, form, simhasher.parameters)
        advance = progress.phase("simhash", documents.size_bytes or None, "B")
        for batch in read_ahead(documents):
            made = simhasher.simhash_documents(batch, arguments.threads)
            writer.write(batch["id"], made)
            counted += len(made)
            empty += int(made.empty.sum())
            size += batch["content"].nbytes
            advance(documents.bytes_read - done)
            done = documents.bytes_read
    none = f", {empty:,} without a simhash" if empty else ""
    return f"{counted:,} documents{none}, {size / 1e6:,.1f} MB of text"
