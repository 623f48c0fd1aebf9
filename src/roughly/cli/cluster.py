"""`roughly cluster INPUT... -o CORPUS`: documents that are roughly the same, grouped; and
`roughly cluster CORPUS --threshold T`: the same at another threshold, in seconds."""

from __future__ import annotations

import argparse
import json
import time
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from roughly.cli.engine import add_engine, cluster_on_spark, on_spark
from roughly.cli.options import (
    add_condition_options,
    add_reading,
    add_resources,
    add_simhashing,
    add_sketching,
    condition_of,
    count,
    documents_of,
    positive,
    ratio,
    sketcher_of,
)
from roughly.cli.output import changing, counted, say, say_fields, say_skipped
from roughly.documents.file import printable
from roughly.errors import DocumentError, ParameterError

if TYPE_CHECKING:
    from roughly.clustering import Clusters
    from roughly.corpus import Corpus

DESCRIPTION = """\
Groups documents that are roughly the same, or roughly contained in one another.
With -o the documents are read, sketched and clustered into CORPUS, a directory
that holds everything needed to ask again: tables (documents, clusters, pairs), a
report to look at, and two forests from which any threshold at or above the floor
is answered in seconds. A run that was interrupted goes on where it stopped when
the same command is given again."""

EPILOG = """\
examples:
  roughly cluster 'crawl/*.warc.gz' -o crawl.roughly
  roughly cluster docs.jsonl -o docs.roughly --threshold 0.6 --containment 0.8
  roughly cluster docs.roughly --threshold 0.9
  roughly cluster 'crawl/*.warc.gz' -o crawl.roughly --method both --within host
  roughly cluster 'crawl/*.warc.gz' -o crawl.roughly --discount host:0.5
  roughly cluster docs.jsonl -o docs.roughly --method simhash -k 4 --stem english
  roughly cluster docs.roughly -k 2
  roughly cluster docs.roughly --json > clusters.jsonl
  roughly cluster docs.roughly --common 20
  roughly cluster docs.roughly --url https://example.com/page
  roughly cluster 'hdfs:///crawl/*.parquet' -o hdfs:///out --engine spark --master yarn
  roughly cluster 'crawl/*.parquet' -o out --engine spark --exact --within host

Exit status: 0 done, 2 error."""

_SHOWN = 10


def add_parser(subparsers: Any) -> None:
    """Adds the command to the parser of all commands."""
    parser: argparse.ArgumentParser = subparsers.add_parser(
        "cluster",
        help="groups of documents that are roughly the same, or contain one another",
        description=DESCRIPTION,
        epilog=EPILOG,
        formatter_class=argparse.RawDescriptionHelpFormatter,
        allow_abbrev=False,
    )
    parser.add_argument(
        "inputs",
        metavar="INPUT",
        nargs="+",
        help="a file, pattern or directory, - for stdin; or one CORPUS",
    )
    parser.add_argument("-o", "--output", metavar="CORPUS", help="the corpus to make")
    parser.add_argument(
        "--date", metavar="D", help="for documents that have none, as 2026-11-15 (default: none)"
    )
    add = parser.add_argument_group("what belongs together").add_argument
    add("--threshold", type=ratio, metavar="T", help="least resemblance (default: 0.5)")
    add(
        "--containment",
        type=_ratio_or_none,
        metavar="C",
        help="documents belong together too if this share of one is in the other; none: without "
        "that of CORPUS",
    )
    add(
        "--floor",
        type=ratio,
        metavar="F",
        help="pairs are kept from here on, for other thresholds (default: T - 0.1)",
    )
    add("--containment-floor", type=ratio, metavar="F", help="the same for C (default: C - 0.1)")
    add(
        "--linkage",
        choices=("single", "star"),
        help="single: whoever is linked, by others too; star: whoever resembles the first "
        "(default: single, or as CORPUS was made)",
    )
    add(
        "--exact",
        action="store_true",
        help="count every pair that was found again on complete sets of shingles",
    )
    add(
        "--cut-off",
        type=positive,
        metavar="N",
        help="with --preset broder97, shingles of more documents are ignored (default: 1000)",
    )
    add(
        "--discount",
        metavar="SCOPE:SHARE",
        help="leave out shingles that this share of a host's documents have, as host:0.5, or of"
        " all, as corpus:0.1: the frames of sites",
    )
    add_condition_options(parser)
    add_simhashing(parser)
    add_sketching(parser)
    add_reading(parser)
    group = parser.add_argument_group("the run and what it shows")
    add_resources(group)
    add = group.add_argument
    add("--no-text", action="store_true", help="do not keep the text in the corpus")
    add("--force", action="store_true", help="make the corpus anew")
    add("--json", action="store_true", help="a JSON object a cluster, with the ids of its members")
    add(
        "--common",
        type=count,
        metavar="N",
        default=0,
        help="show the N shingles that most documents have",
    )
    add("--url", metavar="URL", help="show only the documents in the cluster of this page")
    add("--quiet", action="store_true", help="no summary and no progress, errors only")
    add_engine(parser)
    parser.set_defaults(run=run)


def _ratio_or_none(text: str) -> str:
    return text if text == "none" else ratio(text)


def run(arguments: argparse.Namespace) -> int:
    """Makes a corpus, or asks one."""
    if arguments.output is not None:
        if arguments.linkage is None:
            arguments.linkage = "single"
        if arguments.containment == "none":
            arguments.containment = None
    if on_spark(arguments):
        return cluster_on_spark(arguments)
    from roughly.corpus import Corpus, is_corpus, is_unfinished

    if arguments.output is None:
        first = arguments.inputs[0]
        if len(arguments.inputs) != 1 or not (is_corpus(first) or is_unfinished(first)):
            raise ParameterError(
                f"{printable(arguments.inputs[0])}: no corpus, and no place to make one",
                hint="name the corpus to make with -o, as in -o NAME.roughly",
            )
        _refuse_fixed(arguments)
        corpus = Corpus(arguments.inputs[0])
        if arguments.threshold is not None and corpus.manifest.settings.method == "hamming":
            raise ParameterError(
                f"--threshold: nothing to apply to: {printable(arguments.inputs[0])} was clustered"
                " by simhash alone",
                hint="say how many bits may differ with -k",
            )
        _restore_results(corpus, arguments)
        found = corpus.clusters(
            arguments.threshold,
            arguments.containment,
            arguments.linkage,
            arguments.threads,
            distance=arguments.distance,
        )
    else:
        found = _make(arguments)
    if arguments.url is not None:
        _show_beside(found, arguments)
    elif arguments.common:
        _show_common(found, arguments)
    elif arguments.json:
        _write_json(found)
    elif not arguments.quiet:
        _show(found)
    return 0


def _make(arguments: argparse.Namespace) -> Clusters:
    from roughly.cli.progress import Progress
    from roughly.clustering.common import refuse_minima
    from roughly.clustering.settings import settings_for
    from roughly.corpus import create_corpus
    from roughly.corpus.growth import checked_date
    from roughly.parameters import memory_or_half, threads_or_all

    started = time.monotonic()
    sketcher = sketcher_of(arguments)
    settings = settings_for(
        sketcher.parameters,
        arguments.threshold,
        arguments.floor,
        arguments.containment,
        arguments.containment_floor,
        arguments.preset,
        arguments.cut_off,
        arguments.exact,
        condition_of(arguments),
        arguments.discount,
        arguments.linkage,
    )
    if arguments.common:
        refuse_minima(sketcher.parameters)
    documents = documents_of(arguments, arguments.inputs)
    documents.date = checked_date(arguments.date)
    path = Path(arguments.output)
    memory_bytes = memory_or_half(arguments.memory)
    scratch_bytes = 0

    def finish(found: Clusters) -> None:
        nonlocal scratch_bytes
        scratch_bytes = found.outcome.facts.get("disk_bytes", 0)
        _write_results(found, path)

    with changing(arguments.output, arguments.force), Progress(quiet=arguments.quiet) as progress:
        corpus = create_corpus(
            documents,
            sketcher,
            settings,
            path,
            text=not arguments.no_text,
            memory_bytes=memory_bytes,
            threads=threads_or_all(arguments.threads),
            force=arguments.force,
            progress=progress.phase,
            finish=finish,
        )
    found = replace(corpus.clusters(threads=arguments.threads), memory_bytes=memory_bytes)
    if not arguments.quiet:
        say_fields(documents)
        say_skipped(found.skipped)
        say(
            f"wrote {printable(arguments.output)} in {time.monotonic() - started:.1f} s;"
            f" {scratch_bytes / 1e6:.1f} MB of temporary files"
        )
    return found


def _restore_results(corpus: Corpus, arguments: argparse.Namespace) -> None:
    """Writes the tables and the report again, if a change of the corpus has removed them."""
    from roughly.corpus.results import NAMES, REPORT
    from roughly.errors import BusyError
    from roughly.storage.lock import WriterLock

    asked = (arguments.threshold, arguments.containment, arguments.distance, arguments.linkage)
    missing = [name for name in (*NAMES, REPORT) if not (corpus.path / name).exists()]
    if not missing or asked != (None,) * 4 or arguments.common:
        return
    try:
        with WriterLock(corpus.path):
            corpus.reopen()  # What they tell is true until the lock is free.
            _write_results(corpus.clusters(threads=arguments.threads), corpus.path)
    except (BusyError, DocumentError) as error:
        say(f"{error.message}; tables and report are not written")
        return
    if not arguments.quiet:
        say(f"wrote {', '.join(missing)}")


def _write_results(found: Clusters, directory: Path) -> None:
    """The tables and the report."""
    from roughly.cli.output import write_file
    from roughly.clustering.common import common_shingles
    from roughly.corpus.results import REPORT, seal_results, write_results
    from roughly.report.cluster_page import page
    from roughly.report.cluster_report import CommonShingle, gather

    write_results(found, directory)
    shingles = []
    # Without their text shingles are only numbers; minima of permutations are not even shingles.
    if found.segment.has_text and found.segment.parameters.selection[0] != "perm":
        shingles = [CommonShingle(s.text, s.documents) for s in common_shingles(found, 20)]
    report = gather(found, title=directory.name, shingles=shingles)
    write_file(str(directory / REPORT), page(report), force=True)
    seal_results(directory)


# What is fixed when a corpus is made: option and where it is kept.
_FIXED = (
    ("--date", "date"),
    ("--method", "method"),
    ("--size-ratio", "size_ratio"),
    ("--within", "within"),
    ("--features", "features"),
    ("--stop-words", "stop_words"),
    ("--stem", "stem"),
    ("--floor", "floor"),
    ("--containment-floor", "containment_floor"),
    ("--cut-off", "cut_off"),
    ("--exact", "exact"),
    ("--discount", "discount"),
    ("-w", "w"),
    ("--words", "words"),
    ("--select", "select"),
    ("--seed", "seed"),
    ("--preset", "preset"),
    ("--text-field", "text_field"),
    ("--id-field", "id_field"),
    ("--date-field", "date_field"),
    ("--base", "base"),
    ("--format", "format"),
    ("--as", "content_type"),
    ("--memory", "memory"),
    ("--no-text", "no_text"),
    ("--force", "force"),
    ("--strict", "strict"),
)


def _refuse_fixed(arguments: argparse.Namespace) -> None:
    for option, name in _FIXED:
        given = getattr(arguments, name)
        if not (given is None or given is False or given == "auto"):
            raise ParameterError(
                f"{option}: cannot be changed for a corpus that exists",
                hint="cluster the documents again, into another corpus with -o",
            )


def _show(found: Clusters) -> None:
    """A few lines, and the largest clusters."""
    documents, sizes = found.segment.documents, found.sizes()
    print(counted(documents, "document"))
    by = f"at resemblance {float(found.threshold):g}"
    if found.settings.method == "hamming":
        by = f"by simhashes within {counted(found.distance or 0, 'bit')}"
    elif found.distance is not None:
        by += f" and simhashes within {counted(found.distance, 'bit')}"
    if found.settings.method == "super" and not found.settings.exact:
        by = f"by super shingles of which {float(found.threshold):.0%} agree"
    if found.containment is not None:
        by += f" or containment {float(found.containment):g}"
    if found.linkage == "star":
        by += ", stars"
    clustered = int(sizes.sum())
    print(f"{counted(len(sizes), 'cluster')} of {counted(clustered, 'document')} {by}")
    print(f"{counted(documents - clustered + len(sizes), 'document')} if each cluster is one")
    same, cross = found.site_pairs
    if same or cross:
        print(f"{counted(same, 'same-site pair')}, {cross:,} cross-site")
    if not len(sizes):
        return
    print("\n    size  weakest link  least like the first  first document")
    for row in found.largest(_SHOWN).to_pylist():
        print(
            f"{row['size']:8,}  {row['weakest_link']:12.3f}"
            f"  {row['smallest_resemblance']:20.3f}  {printable(row['representative'])}"
        )
    if len(sizes) > _SHOWN:
        print(f"     and {len(sizes) - _SHOWN:,} more; --json lists all")


def _write_json(found: Clusters) -> None:
    rows = found.clusters().to_pylist()
    same, cross = (counts.tolist() for counts in found.site_pairs_by_cluster)
    for row, own, others, members in zip(rows, same, cross, found, strict=True):
        pairs = {"same_site_pairs": own, "cross_site_pairs": others}
        print(json.dumps(row | pairs | {"members": members}))


def _show_beside(found: Clusters, arguments: argparse.Namespace) -> None:
    """The documents in the cluster of one page."""
    from roughly.corpus import Corpus
    from roughly.corpus.over_time import cluster_of

    corpus = Corpus(arguments.output or arguments.inputs[0])
    members = cluster_of(corpus.collection, found, arguments.url)
    if not members:
        raise DocumentError(
            f"{printable(arguments.url)}: not known: no document of this corpus has it",
            hint="look for its text with: roughly find",
        )
    for document in members:
        if arguments.json:
            print(json.dumps({"id": document.id, "date": document.date}))
        else:
            print(f"{document.date or '':20}  {printable(document.id)}")


def _show_common(found: Clusters, arguments: argparse.Namespace) -> None:
    from roughly.clustering.common import common_shingles
    from roughly.parameters import memory_or_half

    memory = memory_or_half(arguments.memory)
    for shingle in common_shingles(found, arguments.common, memory):
        if arguments.json:
            print(json.dumps({"documents": shingle.documents, "text": shingle.text}))
        else:
            print(f"{shingle.documents:9,}  {shingle.text or '(text not kept)'}")
