"""`roughly dedup INPUT... -o OUT`: the input without near duplicates, and why each of them went."""

from __future__ import annotations

import argparse
import contextlib
import json
import os
import shutil
import stat
import sys
import time
from typing import TYPE_CHECKING, Any

from roughly.cli.engine import add_engine, dedup_on_spark, on_spark
from roughly.cli.options import (
    add_condition_options,
    add_reading,
    add_resources,
    add_simhashing,
    add_sketching,
    condition_of,
    count,
    documents_of,
    ratio,
    sketcher_of,
)
from roughly.cli.output import counted, say, say_fields, say_skipped
from roughly.documents.file import printable
from roughly.errors import (
    DocumentError,
    MismatchError,
    ParameterError,
    RoughlyError,
)

if TYPE_CHECKING:
    from pathlib import Path

    from roughly.corpus import Corpus
    from roughly.deduplication import Deduplicated
    from roughly.deduplication.output import Written
    from roughly.deduplication.output_plan import Output
    from roughly.deduplication.rule import Rule
    from roughly.documents import Documents
    from roughly.documents.skipped import Skipped
    from roughly.sketcher import Sketcher

DESCRIPTION = """\
Writes the input back without its near duplicates, in its own format, every
record that stays untouched and in its place. Documents are taken in order, and
one goes if and only if a document that stays and came before it resembles it at
the threshold, or contains it. So nothing goes by a chain of small steps, and for
every document that goes OUT.removals.jsonl names the one that stays."""

EPILOG = """\
examples:
  roughly dedup crawl.jsonl -o clean.jsonl
  roughly dedup 'crawl/*.parquet' -o clean --keep newest
  roughly dedup pages.warc.gz -o clean.warc.gz --threshold 0.8 --explain 3
  roughly dedup new.jsonl -o fresh.jsonl --against crawl.roughly
  roughly dedup crawl.jsonl -o clean.jsonl --method both -k 3 --within language
  zcat crawl.jsonl.gz | roughly dedup - -o - > clean.jsonl
  roughly dedup 's3a://crawl/*.parquet' -o s3a://clean --engine spark --master yarn
  roughly dedup 'new/*.parquet' -o fresh --engine spark --against /mnt/all/crawl.roughly

Exit status: 0 done, 2 error."""


def add_parser(subparsers: Any) -> None:
    """Adds the command to the parser of all commands."""
    parser: argparse.ArgumentParser = subparsers.add_parser(
        "dedup",
        help="the input without near duplicates",
        description=DESCRIPTION,
        epilog=EPILOG,
        formatter_class=argparse.RawDescriptionHelpFormatter,
        allow_abbrev=False,
    )
    parser.add_argument(
        "inputs", metavar="INPUT", nargs="+", help="a file, pattern or directory, or - for stdin"
    )
    parser.add_argument(
        "-o",
        "--output",
        metavar="OUT",
        required=True,
        help="the file to write; a directory for several files, a pattern or a directory; - is "
        "standard output",
    )
    group = parser.add_argument_group("who goes")
    add = group.add_argument
    add(
        "--threshold",
        type=ratio,
        metavar="T",
        help="resemblance from which on a document goes (default: 0.7)",
    )
    add(
        "--containment",
        type=ratio,
        metavar="C",
        help="a document goes too if this share of it is in one that stays",
    )
    add(
        "--keep",
        choices=("first", "longest", "newest"),
        help="which of several stays (default: first; longest with --containment)",
    )
    add(
        "--against",
        metavar="CORPUS",
        help="what this corpus has goes, too; its documents come first, and it remains as it is",
    )
    how = group.add_mutually_exclusive_group()
    how.add_argument(
        "--exact",
        action="store_true",
        help="decide on complete sets of shingles (the default)",
    )
    how.add_argument("--estimate", action="store_true", help="let sketches decide: faster")
    add_condition_options(parser)
    add_simhashing(parser)
    add_sketching(parser, words=False)
    add_reading(parser)
    group = parser.add_argument_group("the run and what it shows")
    add_resources(group)
    add = group.add_argument
    add("--force", action="store_true", help="overwrite OUT, and begin anew")
    add(
        "--explain",
        type=count,
        metavar="N",
        default=0,
        help="show the passages that the N largest documents that went share with those that stay",
    )
    add("--json", action="store_true", help="the summary as one JSON object on standard output")
    add("--quiet", action="store_true", help="no summary and no progress, errors only")
    add_engine(parser, order=True)
    parser.set_defaults(run=run)


def run(arguments: argparse.Namespace) -> int:
    """Deduplicates the inputs and writes what stays."""
    if on_spark(arguments):
        return dedup_on_spark(arguments, *rule_of(arguments))
    started = time.monotonic()
    if arguments.output == "-" and (arguments.json or arguments.explain):
        option = "--json" if arguments.json else "--explain"
        raise ParameterError(
            f"{option}: cannot stand beside -o -: both write to standard output",
            hint="name a file with -o",
        )
    if arguments.json and arguments.explain:
        raise ParameterError(
            "--explain: cannot stand beside --json: both write to standard output",
            hint="leave out one of them",
        )
    from roughly import _core

    _core.share_freed_memory()
    # Arrow's own allocator gives back what is asked for again in the next moment.
    os.environ.setdefault("ARROW_DEFAULT_MEMORY_POOL", "system")
    from roughly.cli.loading import loading

    with loading():
        from roughly.cli.progress import Progress
        from roughly.documents.light_arrow import leave_pandas_out

        leave_pandas_out()
        from roughly.clustering.workplace import disk_bytes
        from roughly.deduplication import output_plan
        from roughly.deduplication.against import leave_out
        from roughly.deduplication.run import deduplicate, what_decides
        from roughly.parameters import memory_or_half, threads_or_all
        from roughly.storage.lock import WriterLock

    rule, sketcher, against = rule_of(arguments)
    threads, memory_bytes = threads_or_all(arguments.threads), memory_or_half(arguments.memory)
    documents = documents_of(arguments, arguments.inputs)
    root = arguments.inputs[0] if len(arguments.inputs) == 1 else None
    if against is not None:
        leave_out(documents, against)
    output_plan.leave_out(documents, arguments.output)
    corpus_path = None if against is None else against.path
    piped = any(map(_is_pipe, arguments.inputs))

    def what_now() -> str:
        return json.dumps(what_decides(documents, rule, sketcher, against, root))

    decided = "" if piped else what_now()
    output = output_plan.plan_output(
        documents, arguments.output, arguments.force, root, corpus_path, decided
    )
    temporary, directory = _workplace(piped, output)
    _refuse_other(directory)
    with WriterLock(directory):
        try:
            with (
                _core.ResidentLimit(memory_bytes),
                Progress(quiet=arguments.quiet or arguments.json) as progress,
            ):
                result = deduplicate(
                    documents,
                    rule,
                    sketcher,
                    directory,
                    against=against,
                    threads=threads,
                    memory_bytes=memory_bytes,
                    force=arguments.force,
                    progress=progress.phase,
                    root=root,
                    owner=temporary,
                    reasons_later=True,
                )
                written = result.write_to(output, progress.phase)
                used_bytes = disk_bytes(directory)
        except MismatchError:
            raise  # what is there belongs to another run
        except (KeyboardInterrupt, RoughlyError) as error:
            if temporary is not None:
                raise
            # What has been sketched is worth keeping: with more room or memory the run goes on.
            begun = any((directory / "steps").glob("part-*"))
            if not begun or arguments.force or decided != what_now():
                _remove_run(directory)
                raise
            kept = f"the same command goes on from {printable(str(directory))}"
            if isinstance(error, KeyboardInterrupt):
                error.add_note(kept)
                raise
            hint = f"then {kept}" if error.hint is None else f"{error.hint}; then {kept}"
            raise type(error)(error.message, hint) from error
        try:
            if arguments.explain:
                _explain(result, arguments.explain, sketcher)
            seconds = time.monotonic() - started
            _tell(arguments, documents, result, output, written, used_bytes, seconds)
        finally:
            _remove_run(directory)
    return 0


def rule_of(arguments: argparse.Namespace) -> tuple[Rule, Sketcher, Corpus | None]:
    """The rule that the options describe, the sketcher, and the corpus to hold documents against,
    which fixes what they leave open."""
    from roughly.deduplication.against import check_corpus, simhash_of_corpus, sketcher_of_corpus
    from roughly.deduplication.rule import make_rule
    from roughly.sketcher import Sketcher

    against = None if arguments.against is None else _corpus(arguments)
    if against is None:
        sketcher = sketcher_of(arguments, Sketcher(words=0))
        condition = condition_of(arguments)
    else:
        condition = condition_of(arguments, simhash_of_corpus(against))
        check_corpus(against, condition, arguments.estimate)
        sketcher = sketcher_of_corpus(against)
        sketcher = sketcher_of_corpus(against, sketcher_of(arguments, sketcher))
    threshold = arguments.threshold
    if threshold is None and condition.method != "simhash":
        threshold = _default_threshold(arguments)
    rule = make_rule(
        threshold, arguments.containment, arguments.keep, arguments.estimate, sketcher, condition
    )
    return rule, sketcher, against


def _refuse_other(directory: Path) -> None:
    """A directory by the name of an unfinished run that is none is somebody's."""
    from roughly.deduplication.placing import MARK
    from roughly.storage.durable import finished_names

    if directory.is_symlink():
        raise DocumentError(
            f"{printable(str(directory))}: will not be used: it is a link",
            hint="remove it, or choose another output",
        )
    names = finished_names(directory) if directory.is_dir() else set()
    # What a run has there, and copies and scratch files if it was killed.
    own = {"lock", "steps", "steps.json", "segment", MARK}
    others = {name for name in names - own if not name.startswith(("contents.arrow", "roughly-"))}
    # One that was killed as it began, or began anew, may have no journal, but then it has a lock.
    if others or (names and not names & {"lock", "steps.json"}):
        raise DocumentError(
            f"{printable(str(directory))}: will not be used: there is something else",
            hint="move it away, or choose another output",
        )


def _remove_run(directory: Path) -> None:
    """All at once: it is there, or has ended."""
    from roughly.storage.durable import temporary

    ended = temporary(directory)
    with contextlib.suppress(OSError):
        directory.rename(ended)
    _remove_all(ended)


def _remove_all(path: Path) -> None:
    """Whatever is there, also if that is interrupted."""
    try:
        shutil.rmtree(path, ignore_errors=True)
        path.unlink(missing_ok=True)
    except KeyboardInterrupt:
        _remove_all(path)
        raise
    except OSError:
        pass  # it has nothing that anybody waits for


def _corpus(arguments: argparse.Namespace) -> Corpus:
    """The corpus to hold the documents against."""
    from roughly.corpus import Corpus

    corpus = Corpus(arguments.against)
    if arguments.explain and not corpus.segment.has_text:
        raise ParameterError(
            f"--explain: cannot show passages: {printable(arguments.against)} keeps no text",
            hint="leave out --explain",
        )
    return corpus


def _default_threshold(arguments: argparse.Namespace) -> float:
    from roughly.deduplication.rule import THRESHOLD
    from roughly.sketcher import PRESETS

    chosen = PRESETS.get(arguments.preset)
    return THRESHOLD if chosen is None or chosen.threshold is None else chosen.threshold


def _workplace(piped: bool, output: Output) -> tuple[object, Path]:
    """A directory beside the output, by a name that another try finds, if the inputs can be read
    again then; else a temporary one and its owner."""
    from roughly.clustering.workplace import Workplace

    if output.stream or piped:
        workplace = Workplace()
        return workplace, workplace.path
    return None, output.unfinished


def _is_pipe(word: str) -> bool:
    try:
        mode = os.stat(word).st_mode
    except OSError:
        return word == "-"
    return not (stat.S_ISREG(mode) or stat.S_ISDIR(mode))


def _tell(
    arguments: argparse.Namespace,
    documents: Documents,
    result: Deduplicated,
    output: Output,
    written: Written,
    used_bytes: int,
    seconds: float,
) -> None:
    facts = {
        "documents": result.documents,
        "kept": len(result),
        "removed": result.removed,
        "kinds": result.counts,
        "bytes": result.text_bytes,
        "removed_bytes": result.removed_bytes,
        "skipped": dict(result.skipped.reasons),
        "unread": [str(unread) for unread in result.skipped.first],
        "repeated_ids": result.skipped.repeated_ids,
        "seconds": round(seconds, 3),
        "disk_bytes": used_bytes,
        "output": arguments.output,
        "same_site": result.same_site,
        "cross_site": result.cross_site,
    }
    if arguments.against is not None:
        facts["against"] = arguments.against
        facts["in_corpus"] = result.in_corpus
    if not output.stream:
        facts["removals"] = str(output.removals)
    if arguments.json:
        print(json.dumps(facts))
    if arguments.quiet or arguments.json:
        return
    say_fields(documents)
    say_skipped(result.skipped, _fate(result.skipped, written))
    if result.keep == "newest" and not result.has_dates:
        say("no document has a date: of those alike the first was kept, not the newest")
    kinds = ", ".join(f"{n:,} {kind}" for kind, n in result.counts.items() if n)
    say(
        f"{counted(result.documents, 'document')}, {result.removed:,} removed"
        f"{f' ({kinds})' if kinds else ''}, {len(result):,} kept"
    )
    if result.same_site or result.cross_site:
        say(
            f"{result.same_site:,} removed for a document of the same site,"
            f" {result.cross_site:,} for one of another"
        )
    if arguments.against is not None:
        say(f"{result.in_corpus:,} removed for a document in {printable(arguments.against)}")
    say(
        f"{_megabytes(result.text_bytes)} of text, {_megabytes(result.removed_bytes)} removed,"
        f" in {seconds:.1f} s; {_megabytes(used_bytes)} of temporary files"
    )
    if "removals" in facts:
        say(f"wrote {printable(arguments.output)} and {printable(str(facts['removals']))}")


def _fate(skipped: Skipped, written: Written) -> str:
    """What becomes of what could not be read."""
    from roughly.documents.skipped import DAMAGED, NOT_OPENED

    lost = []
    if NOT_OPENED in skipped.reasons:
        lost.append("what cannot be opened")
    if written.anew and any(reason in DAMAGED for reason in skipped.reasons):
        lost.append("damaged parts of what was written anew")
    if lost:
        return f"; the output is without {' and '.join(lost)}"
    return f"; {'it stays' if skipped.count == 1 else 'they stay'} in the output"


def _megabytes(size: Any) -> str:
    return f"{size / 1e6:,.1f} MB"


def _explain(result: Deduplicated, largest: int, sketcher: Any) -> None:
    """The passages that documents share with what stays in their place."""
    from roughly.comparison import compare
    from roughly.report.comparison_lines import lines
    from roughly.report.terminal import Terminal

    terminal = Terminal(sys.stdout, None, "auto")
    for removed, kept in result.largest(largest):
        comparison = compare(removed, kept, sketcher=sketcher.without_words())
        for line in lines(comparison, removed, kept, terminal, 3):
            print(line.replace(" (--passages N)", ""))
