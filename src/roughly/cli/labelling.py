"""`roughly hamming sample INPUT...` and `roughly hamming evaluate LABELS`: pairs for people to
label, and what k is worth by their labels."""

from __future__ import annotations

import argparse
import json
from typing import TYPE_CHECKING, Any

from roughly.cli.distribution import add_inputs, check_page, write_page
from roughly.cli.options import add_reading, count, positive
from roughly.cli.options import seed as seed_of
from roughly.cli.output import refuse_to_overwrite, say, write_file
from roughly.cli.progress import Progress
from roughly.cli.simhash import (
    FEATURE_OPTIONS,
    READING_OPTIONS,
    add_features,
    given_option,
    load_documents,
    load_simhashes,
)
from roughly.documents.file import printable
from roughly.errors import ParameterError

if TYPE_CHECKING:
    from roughly.simhashing.evaluation import LabelledPair, Point, Share
    from roughly.simhashing.sensitivity import Judged

SAMPLE = """\
Draws an equal number of pairs of documents at each distance, by chance, for
people to label (section 4.1 of the 2007 paper): lines of JSON with the ids of two
documents and an empty label. Put true (they are nearly the same), false or
unknown into each, then ask `roughly hamming evaluate`."""

SAMPLE_EPILOG = """\
examples:
  roughly hamming sample crawl.parquet -o pairs.jsonl
  roughly hamming sample docs.jsonl --from 0 --to 12 --each 100 > pairs.jsonl

INPUT is a file of simhashes that `roughly simhash` made, or documents. All pairs
of at most --documents of them are compared. Exit status: 0 done, 2 error."""

EVALUATE = """\
Says what precision and recall every k gives on labelled pairs (Figure 1 of the
2007 paper). LABELS are lines as `roughly hamming sample` writes them. With the
documents that they are about, the distances are computed anew, so that other
features and weights can be tried; --choices tries many of them at once."""

EVALUATE_EPILOG = """\
examples:
  roughly hamming evaluate pairs.jsonl
  roughly hamming evaluate pairs.jsonl docs.jsonl --features shingles:3
  roughly hamming evaluate pairs.jsonl docs.jsonl --choices --html choices.html

Exit status: 0 done, 2 error."""


def add_sample_parser(subparsers: Any) -> None:
    """Adds `sample` to the commands of `roughly hamming`."""
    parser: argparse.ArgumentParser = subparsers.add_parser(
        "sample",
        help="an equal number of pairs at each distance, to be labelled",
        description=SAMPLE,
        epilog=SAMPLE_EPILOG,
        formatter_class=argparse.RawDescriptionHelpFormatter,
        allow_abbrev=False,
    )
    add_inputs(parser)
    add = parser.add_argument_group("what is drawn").add_argument
    add("-o", "--output", metavar="FILE", help="a file (default: standard output)")
    add(
        "--from",
        dest="least",
        type=count,
        metavar="K",
        default=1,
        help="from this distance on (default: 1)",
    )
    add(
        "--to",
        dest="most",
        type=count,
        metavar="K",
        default=10,
        help="up to this one (default: 10)",
    )
    add("--each", type=positive, metavar="N", default=50, help="pairs at each (default: 50)")
    add("--draw", type=seed_of, metavar="N", default=0, help="seed of what is drawn (default: 0)")
    add(
        "--documents",
        type=positive,
        metavar="N",
        default=200_000,
        help="documents to compare with one another, by chance (default: 200000)",
    )
    add("--force", action="store_true", help="overwrite the file")
    parser.set_defaults(run=run_sample)


def run_sample(arguments: argparse.Namespace) -> int:
    """Draws the pairs and writes them."""
    from roughly.simhashing.pair_sample import sample_pairs

    if arguments.output is not None and not arguments.force:
        refuse_to_overwrite(arguments.output)
    _check_range(arguments.least, arguments.most)
    table, _ = load_simhashes(arguments, arguments.inputs, arguments.output)
    sample = sample_pairs(
        table,
        arguments.least,
        arguments.most,
        arguments.each,
        arguments.draw,
        arguments.documents,
        arguments.threads,
    )
    text = "".join(f"{json.dumps(row, ensure_ascii=False)}\n" for row in sample.rows(table))
    if arguments.output is None:
        print(text, end="")
    else:
        write_file(arguments.output, text, arguments.force)
    if sample.documents < sample.of:
        say(f"compared {sample.documents:,} of {sample.of:,} documents, drawn by chance")
    there = [f"{n:,} at {distance}" for distance, n in sample.counts.items() if n]
    none = len(sample.counts) - len(there)
    if none:
        there.append(f"none at {none if there else 'any'}" + (" others" if there else ""))
    say(f"{len(sample.pairs):,} pairs of " + ", ".join(there))
    return 0


def _check_range(least: int, most: int) -> None:
    for option, value, largest in (("--to", most, 64), ("--from", least, most)):
        if value > largest:
            raise ParameterError(
                f"{option}: out of range: {value}, wanted at most {largest}"
                + (", the bits of a simhash" if option == "--to" else f", as in --to {most}")
            )


def add_evaluate_parser(subparsers: Any) -> None:
    """Adds `evaluate` to the commands of `roughly hamming`."""
    parser: argparse.ArgumentParser = subparsers.add_parser(
        "evaluate",
        help="precision and recall of every k on labelled pairs",
        description=EVALUATE,
        epilog=EVALUATE_EPILOG,
        formatter_class=argparse.RawDescriptionHelpFormatter,
        allow_abbrev=False,
    )
    parser.add_argument("labels", metavar="LABELS", help="labelled pairs, as JSON Lines")
    parser.add_argument(
        "inputs",
        metavar="INPUT",
        nargs="*",
        help="the documents, or their simhashes (default: the distances in LABELS)",
    )
    add_features(parser)
    add_reading(parser)
    shown = parser.add_argument_group("what is shown")
    add = shown.add_argument
    add("--choices", action="store_true", help="try many features and weights (needs documents)")
    add("--to", dest="most", type=count, metavar="K", help="the largest k (default: as it is)")
    add("--threads", type=positive, metavar="N", help="threads to use (default: all cores)")
    what = shown.add_mutually_exclusive_group()
    what.add_argument("--json", action="store_true", help="one JSON object instead of a table")
    what.add_argument(
        "--html", metavar="FILE", help="write a page with plots (- is standard output)"
    )
    add("--force", action="store_true", help="let --html overwrite a file")
    parser.set_defaults(run=run_evaluate)


def run_evaluate(arguments: argparse.Namespace) -> int:
    """Counts, and shows as asked."""
    from roughly.simhashing.evaluation import precision_recall, read_labels, with_distances

    check_page(arguments, arguments.labels)
    _refuse_meaningless(arguments)
    pairs = read_labels(arguments.labels)
    judged: list[Judged] = []
    if arguments.choices:
        judged = _judge(arguments, pairs)
    if arguments.inputs:
        table, _ = load_simhashes(arguments, arguments.inputs, arguments.html)
        ids = [table.id(row) for row in range(len(table))]
        values = [
            None if none else value
            for value, none in zip(table.simhashes.tolist(), table.empty.tolist(), strict=True)
        ]
        pairs = with_distances(pairs, dict(zip(ids, values, strict=True)))
    elif any(pair.distance is None for pair in pairs):
        raise ParameterError(
            f"{printable(arguments.labels)}: no distances: a pair has none, and no documents are"
            " named",
            hint=f"roughly hamming evaluate {printable(arguments.labels)} INPUT...",
        )
    points = precision_recall(pairs, arguments.most)
    _show(arguments, points, judged)
    return 0


def _refuse_meaningless(arguments: argparse.Namespace) -> None:
    """What would be read and then not looked at."""
    option = given_option(arguments, (*FEATURE_OPTIONS, *READING_OPTIONS))
    if not arguments.inputs and (arguments.choices or option):
        option = "--choices" if arguments.choices else option
        raise ParameterError(
            f"{option}: cannot do without documents: none are named",
            hint=f"roughly hamming evaluate {printable(arguments.labels)} INPUT... {option}",
        )
    option = given_option(arguments, FEATURE_OPTIONS)
    if arguments.choices and option:
        raise ParameterError(
            f"{option}: cannot stand beside --choices: it has features and weights of its own",
            hint="leave out one of them",
        )


def _judge(arguments: argparse.Namespace, pairs: list[LabelledPair]) -> list[Judged]:
    from roughly.simhashing.sensitivity import CHOICES, sensitivity

    documents = load_documents(arguments, arguments.inputs, arguments.html, "--choices")
    with Progress(quiet=arguments.json) as progress:
        advance = progress.phase("choices", len(CHOICES), "choices")
        return sensitivity(pairs, documents, threads=arguments.threads, told=advance)


def _show(arguments: argparse.Namespace, points: list[Point], judged: list[Judged]) -> None:
    if arguments.json:
        print(
            json.dumps(
                {
                    "points": [point.to_dict() for point in points],
                    "choices": [each.to_dict() for each in judged],
                }
            )
        )
        return
    if arguments.html is not None:
        from roughly.report.simhash_page import evaluation_page

        write_page(arguments, evaluation_page(points, judged, arguments.labels))
        return
    weighed = any(point.weighed_precision is not None for point in points)
    head = f"{'k':>3} {'true':>7} {'false':>7} {'unknown':>8}  precision            recall"
    print(head + ("               weighed by pairs" if weighed else ""))
    for point in points:
        line = (
            f"{point.k:>3} {point.true:>7,} {point.false:>7,} {point.unknown:>8,}"
            f"  {_share(point.precision):<20} {_share(point.recall):<20}"
        )
        if weighed:
            line += f" {_number(point.weighed_precision)} {_number(point.weighed_recall)}"
        print(line.rstrip())
    if judged:
        print(
            f"\n{'features and weights':<34} separation   k=3: P     R   best k     P     R    F1"
        )
    for each in judged:
        three, best = each.at_paper_k, each.best
        print(
            f"{each.name:<34} {_number(each.separation):>10}"
            f"  {_value(three.precision):>6} {_value(three.recall)}"
            f" {best.k:>8} {_value(best.precision)} {_value(best.recall)} {best.f1:.3f}"
        )


def _share(found: Share | None) -> str:
    if found is None:
        return "-"
    return f"{found.value:.3f} ({found.low:.3f}-{found.high:.3f})"


def _value(found: Share | None) -> str:
    return _number(None if found is None else found.value)


def _number(value: float | None) -> str:
    return "    -" if value is None else f"{value:.3f}"
