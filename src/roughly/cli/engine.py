"""`--engine spark` of `roughly cluster` and `roughly dedup`: the same job on Apache Spark, from
files that Spark reads to folders that it writes."""

from __future__ import annotations

import argparse
import contextlib
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from roughly.cli.options import condition_of, sketcher_of
from roughly.cli.output import counted, say
from roughly.errors import ParameterError

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

    from roughly.corpus import Corpus
    from roughly.deduplication.rule import Rule
    from roughly.sketcher import Sketcher

# What means the same on Spark.
_SHARED = {
    *("inputs", "output", "run", "parser", "engine", "master", "checkpoint", "order_field"),
    *("threshold", "containment", "floor", "containment_floor", "keep", "estimate", "exact"),
    *("linkage", "cut_off", "method", "distance", "size_ratio", "within"),
    *("features", "stop_words", "stem", "preset", "against"),
    *("w", "words", "select", "seed", "text_field", "id_field", "date_field", "content_type"),
    *("force", "quiet", "command"),
}
# Why others are refused.
_SHOWN = "it shows what a corpus tells; make one with roughly.spark.write_corpus"
_REASONS = {
    "format": "it tells formats by the ends of names",
    "base": "a row is a document there, and has an id",
    "date": "give the rows a column of dates",
    "strict": "it decides by itself what cannot be read",
    "memory": "it is a setting of Spark's, spark.executor.memory",
    "threads": "it is a setting of Spark's, spark.executor.cores",
    "no_text": "no corpus is made",
    "discount": "what a site shares is counted over one corpus",
    **dict.fromkeys(("json", "common", "url", "explain"), _SHOWN),
}
_SPARK_ONLY = ("master", "checkpoint", "order_field")


def add_engine(parser: argparse.ArgumentParser, order: bool = False) -> None:
    """Adds the options of the engine."""
    add = parser.add_argument_group("on many machines").add_argument
    add(
        "--engine",
        choices=("local", "spark"),
        default="local",
        help="spark: the same job on Apache Spark; -o is then a folder of tables (default: local)",
    )
    add("--master", metavar="URL", help="of Spark, as local[8], yarn or spark://host:7077")
    add(
        "--checkpoint",
        metavar="DIR",
        help="where Spark keeps its tables, so that the same command goes on (default: OUT/run)",
    )
    if order:
        add("--order-field", metavar="NAME", help="the order of the input (default: of its files)")
    parser.set_defaults(parser=parser)


def on_spark(arguments: argparse.Namespace) -> bool:
    """Whether Spark is asked for; options that do not go with the engine are an error."""
    parser: argparse.ArgumentParser = arguments.parser
    given = {name for name, value in vars(arguments).items() if value != parser.get_default(name)}
    if arguments.engine != "spark":
        for name in _SPARK_ONLY:
            if name in given:
                raise ParameterError(
                    f"--{name.replace('_', '-')}: nothing to apply to: wanted --engine spark too"
                )
        return False
    for action in parser._actions:
        if action.dest in given - _SHARED:
            option = action.option_strings[0] if action.option_strings else action.dest
            raise ParameterError(
                f"{option}: not on Spark: {_REASONS[action.dest]}",
                hint="leave it out, or the engine",
            )
    return True


def cluster_on_spark(arguments: argparse.Namespace) -> int:
    """`roughly cluster --engine spark`."""
    if arguments.output is None:
        raise ParameterError("-o: missing: wanted a folder for the tables")
    from roughly.clustering.settings import settings_for
    from roughly.spark.clustering import cluster_by
    from roughly.spark.files import read_files, write_tables

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
    )
    with _session(arguments) as session:
        found = cluster_by(
            settings,
            read_files(session, arguments.inputs),
            sketcher,
            arguments.linkage,
            **_options(arguments),
        )
        tables = {
            "documents": found.documents(),
            "clusters": found.clusters(),
            "pairs": found.pairs(),
            "links": found.links(),
        }
        write_tables(arguments.output, tables, arguments.force)
        if not arguments.quiet:
            clusters = found.clusters().count()
            documents = found.documents().count()
            say(f"{counted(documents, 'document')}, {counted(clusters, 'cluster')}")
            say(f"wrote {', '.join(f'{arguments.output}/{name}' for name in tables)}")
    return 0


def dedup_on_spark(
    arguments: argparse.Namespace, rule: Rule, sketcher: Sketcher, against: Corpus | None
) -> int:
    """`roughly dedup --engine spark`."""
    from roughly.spark.deduplication import dedup_by
    from roughly.spark.files import ORDER, format_of, read_files, write_rows, write_tables

    with _session(arguments) as session:
        found = dedup_by(
            rule,
            read_files(session, arguments.inputs),
            sketcher,
            arguments.order_field or ORDER,
            against,
            **_options(arguments),
        )
        removals = found.removals()
        rows = f"{arguments.output}/documents"
        write_rows(found.documents(), format_of(arguments.inputs), rows, arguments.force)
        write_tables(arguments.output, {"removals": removals}, arguments.force)
        if not arguments.quiet:
            say(f"{counted(removals.count(), 'document')} removed")
            say(f"wrote {rows} and {arguments.output}/removals")
    return 0


def _options(arguments: argparse.Namespace, like: Sketcher | None = None) -> dict[str, Any]:
    def progress(name: str, rows: int, seconds: float) -> None:
        if not arguments.quiet:
            say(f"{name}: {rows:,} rows, {seconds:.1f} s")

    return {
        "content_type": arguments.content_type,
        "text_field": arguments.text_field,
        "id_field": arguments.id_field,
        "date_field": arguments.date_field,
        "checkpoint": arguments.checkpoint or f"{arguments.output}/run",
        "progress": progress,
    }


@contextlib.contextmanager
def _session(arguments: argparse.Namespace) -> Iterator[SparkSession]:
    """A session at the master; whatever Spark fails with is an error of one line."""
    from roughly.spark.session import SparkError, open_session

    session = open_session(arguments.master, {"spark.log.level": "ERROR"})
    from py4j.protocol import Py4JError
    from pyspark.errors import PySparkException

    try:
        yield session
    except (PySparkException, Py4JError) as error:
        reason = str(error).strip().splitlines()[0]
        raise SparkError(
            f"spark: failed: {reason}",
            hint="Spark's own log says more; the same command goes on behind the last table",
        ) from error
    finally:
        session.stop()
