"""`roughly tune INPUT... [--labels PAIRS]`: what each threshold would merge, and which to take."""

from __future__ import annotations

import argparse
import json
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from roughly.cli.distribution import check_page, input_title, write_page
from roughly.cli.options import (
    add_reading,
    add_resources,
    add_width,
    count,
    documents_of,
    positive,
    ratio,
)
from roughly.cli.options import seed as seed_of
from roughly.cli.output import counted, say, say_reading
from roughly.documents.file import printable

if TYPE_CHECKING:
    from roughly.simhashing.evaluation import Share
    from roughly.tuning import Example, Tuning

DESCRIPTION = """\
Shows what each threshold would merge in your own documents: pairs, clusters and
documents at every level, pairs to look at with what they share, how far
estimates may be off, what other sketches would cost; and names a threshold with
the reason. With --labels it holds every threshold against pairs that you have
labelled: precision, recall and F1. A large input is answered from a sample."""

EPILOG = """\
examples:
  roughly tune docs.jsonl
  roughly tune 'crawl/*.warc.gz' --documents 20000 --html tune.html
  roughly tune docs.jsonl --labels pairs.jsonl
  roughly tune docs.jsonl -w 3 --examples 3

Labels are lines of JSON with the ids of two documents: {"a": ID, "b": ID,
"label": true}. Exit status: 0 done, 2 error."""

_SHOWN = 90  # letters of a name or a text in a line


def add_parser(subparsers: Any) -> None:
    """Adds the command to the parser of all commands."""
    parser: argparse.ArgumentParser = subparsers.add_parser(
        "tune",
        help="what each threshold would merge in your documents, and which to take",
        description=DESCRIPTION,
        epilog=EPILOG,
        formatter_class=argparse.RawDescriptionHelpFormatter,
        allow_abbrev=False,
    )
    parser.add_argument(
        "inputs", metavar="INPUT", nargs="+", help="a file, pattern or directory, - for stdin"
    )
    group = parser.add_argument_group("what is looked at")
    add = group.add_argument
    add("--labels", metavar="FILE", help="labelled pairs, as JSON Lines")
    add(
        "--documents",
        type=positive,
        metavar="N",
        default=100_000,
        help="of more documents than these a sample is drawn (default: 100000)",
    )
    add(
        "--floor",
        type=ratio,
        metavar="F",
        default="0.2",
        help="the lowest threshold to look at; lower takes longer (default: 0.2)",
    )
    add("--draw", type=seed_of, metavar="N", default=0, help="seed of what is drawn (default: 0)")
    group = parser.add_argument_group("how documents are shingled and sketched")
    add_width(group)
    group.add_argument(
        "--select",
        metavar="RULE",
        help="which fingerprints a sketch keeps: all, mod:M, min:K or adaptive:T"
        " (default: adaptive:200)",
    )
    group.add_argument(
        "--seed", type=seed_of, metavar="N", help="seed of all keys, or random (default: 0)"
    )
    add_reading(parser)
    group = parser.add_argument_group("the run and what it shows")
    add_resources(group)
    add = group.add_argument
    add(
        "--examples",
        type=count,
        metavar="N",
        default=1,
        help="pairs to show at each level (default: 1)",
    )
    what = group.add_mutually_exclusive_group()
    what.add_argument("--json", action="store_true", help="one JSON object instead of tables")
    what.add_argument(
        "--html", metavar="FILE", help="write a page with plots (- is standard output)"
    )
    add("--force", action="store_true", help="let --html overwrite a file")
    add("--quiet", action="store_true", help="no progress, errors only")
    parser.set_defaults(run=run, preset=None)


def run(arguments: argparse.Namespace) -> int:
    """Clusters once, and shows as asked."""
    from roughly.cli.options import sketcher_of
    from roughly.cli.output import refuse_inputs
    from roughly.cli.progress import Progress
    from roughly.simhashing.evaluation import read_labels
    from roughly.tuning import tune

    check_page(arguments, *([arguments.labels] if arguments.labels else []))
    labels = read_labels(arguments.labels) if arguments.labels else []
    documents = documents_of(arguments, arguments.inputs)
    if arguments.html not in (None, "-"):
        refuse_inputs(arguments.html, [source.path for source in documents.sources])
    with Progress(quiet=arguments.quiet) as progress:
        found = tune(
            documents,
            labels=labels,
            sketcher=sketcher_of(arguments),
            floor=arguments.floor,
            most=arguments.documents,
            each=arguments.examples,
            draw=arguments.draw,
            memory=arguments.memory,
            threads=arguments.threads,
            progress=progress.phase,
        )
    if not arguments.quiet:
        say_reading(documents)
        if found.sampled:
            say(_sample_note(found))
    if arguments.json:
        print(json.dumps(found.to_dict()))
    elif arguments.html is not None:
        from roughly.report.tuning_page import tuning_page

        write_page(arguments, tuning_page(found, input_title(arguments)))
    else:
        for line in _lines(found):
            print(line)
    return 0


def _sample_note(found: Tuning) -> str:
    return (
        f"looked at {found.documents:,} of {found.of:,} documents, drawn by chance: of all pairs"
        f" about one in {found.pair_scale:,.0f} is among them, and clusters are smaller than they"
        " would be"
    )


def _lines(found: Tuning) -> Iterator[str]:
    yield (
        f"{found.documents:,} documents, {found.equivalent:,} of them equal to another;"
        f" w={found.w}, {found.select}"
    )
    yield ""
    yield "threshold      pairs  just here  clusters  documents    surplus  largest   error"
    for each in reversed(found.levels):
        error = "-" if each.error is None else _error(each.error)
        yield (
            f"{each.threshold:>9.2f} {each.pairs:>10,} {each.here:>10,} {each.clusters:>9,}"
            f" {each.documents:>10,} {each.surplus:>10,} {each.largest:>8,} {error:>7}"
        )
    if found.points:
        yield ""
        yield "threshold   true  false  precision            recall                  F1"
        for point in found.points:
            yield (
                f"{point.threshold:>9.2f} {point.true:>6,} {point.false:>6,}"
                f"  {_share(point.precision):<20} {_share(point.recall):<20} {point.f1:>5.3f}"
            )
    if found.widths:
        yield ""
        yield "shingles of other widths, exactly: the best threshold of each"
        yield "    w  threshold  precision   recall     F1"
        for width in found.widths:
            best = width.best
            yield (
                f"{width.w:>5} {best.threshold:>10.2f} {_value(best.precision):>10}"
                f" {_value(best.recall):>8} {best.f1:>6.3f}"
            )
    if found.examples:
        yield ""
        yield "pairs to look at"
        for example in found.examples:
            yield from _example_lines(example)
    if found.predictions:
        yield ""
        yield f"other sketches   bytes for {found.of:,} documents   error at resemblance 0.5"
        for prediction in found.predictions:
            yield (
                f"{prediction.select:<14} {prediction.bytes:>18,} {_error(prediction.error):>27}"
            )
    yield ""
    yield _time_line(found)
    yield f"take --threshold {found.advice.threshold:g}: {found.advice.why}"


def _example_lines(example: Example) -> Iterator[str]:
    compared = example.comparison
    yield (
        f"  {compared.resemblance:.3f} (estimated {example.estimate:.3f})"
        f"  {printable(example.a.id)[:_SHOWN]}"
    )
    yield f"{'':27}{printable(example.b.id)[:_SHOWN]}"
    if example.shared:
        said = f"{counted(len(compared.passages), 'shared passage')}, the longest: "
        yield f"        {said}{printable(example.shared)[:_SHOWN]}"
    else:
        yield "        no shared passage"


def _time_line(found: Tuning) -> str:
    sketching = sum(each.wall_seconds for each in found.phases if each.name == "sketch")
    others = sum(each.wall_seconds for each in found.phases if each.name != "sketch")
    scale = found.of / found.documents if found.documents else 1
    said = f"sketching took {sketching:.1f} s, finding pairs and clusters {others:.1f} s"
    if found.sampled:
        said += f"; all documents would take about {sketching * scale:,.0f} s to sketch"
    return said


def _error(half: float) -> str:
    return f"±{half:.3f}" if half else "exact"


def _value(found: Share | None) -> str:
    return "-" if found is None else f"{found.value:.3f}"


def _share(found: Share | None) -> str:
    return "-" if found is None else f"{found.value:.3f} ({found.low:.3f}-{found.high:.3f})"
