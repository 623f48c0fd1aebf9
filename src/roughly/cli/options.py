"""Options that several commands have, defined once: how documents are read, shingled and sketched,
which are compared, and what a run may use. An option means the same wherever it appears.
"""

from __future__ import annotations

import argparse
from typing import TYPE_CHECKING, Any

from roughly.errors import ParameterError
from roughly.parameters import exact_ratio

if TYPE_CHECKING:
    from roughly.condition import Condition
    from roughly.documents import Documents
    from roughly.simhashing.parameters import SimhashParameters
    from roughly.sketcher import Sketcher


def add_reading(parser: argparse.ArgumentParser) -> None:
    """The options of `open_documents`."""
    group = parser.add_argument_group("how documents are read")
    add = group.add_argument
    add("--text-field", metavar="NAME", help="the field that holds the text (default: guessed)")
    add("--id-field", metavar="NAME", help="the field that holds the id (default: guessed)")
    add("--date-field", metavar="NAME", help="the field that holds the date (default: guessed)")
    add(
        "--format",
        metavar="NAME",
        help="text, jsonl, csv, tsv, parquet, arrow, warc or arc (default: as each file looks)",
    )
    add(
        "--base",
        metavar="URL",
        help="call files that are one document each by URL and their path in the directory named",
    )
    add_content_type(group)
    add("--strict", action="store_true", help="stop at the first document that cannot be read")


def documents_of(arguments: argparse.Namespace, inputs: list[str]) -> Documents:
    """Opens the inputs as the options say."""
    from roughly.documents import open_inputs

    return open_inputs(
        inputs,
        text_field=arguments.text_field,
        id_field=arguments.id_field,
        date_field=arguments.date_field,
        category_field=category_field_of(arguments),
        base=arguments.base,
        format=arguments.format,
        content_type=arguments.content_type,
        strict=arguments.strict,
    )


def add_condition_options(parser: argparse.ArgumentParser) -> None:
    """Which pairs of documents count as alike. What is not given is None."""
    group = parser.add_argument_group("which documents are compared")
    add = group.add_argument
    add(
        "--method",
        choices=("shingles", "simhash", "both"),
        help="what tells that documents are alike: common shingles, simhashes that differ in few"
        " bits, or both at once, which errs least (default: shingles)",
    )
    add(
        "-k",
        dest="distance",
        type=distance,
        metavar="N",
        help="bits of the simhash that may differ, 0 to 10, with --method simhash or both"
        " (default: 3)",
    )
    add(
        "--size-ratio",
        type=ratio,
        metavar="R",
        help="only documents of like size: the smaller has at least R times the distinct shingles"
        " of the larger, as 0.5 (default: any size)",
    )
    add(
        "--within",
        metavar="host|FIELD",
        help="only documents of one category: the host of their URLs, or what a field of the input"
        " holds, as --within language; those without it are one category (default: all)",
    )


def add_simhashing(parser: argparse.ArgumentParser) -> None:
    """What the simhashes of a method are made of: the options of `roughly simhash` that can be kept
    with documents."""
    add = parser.add_argument_group("what a simhash is made of").add_argument
    add(
        "--features",
        metavar="KIND",
        help="terms, phrases:N (runs of 1 to N terms) or shingles:W (runs of W) (default: terms)",
    )
    add("--stop-words", choices=("english",), help="leave out words")
    add("--stem", choices=("english",), help="take the stems of words")


def condition_of(
    arguments: argparse.Namespace, stored: SimhashParameters | None = None
) -> Condition:
    """The condition that the options describe, with what the preset brings; what they leave open of
    simhashes is as in those that are stored, or else the default."""
    from dataclasses import replace

    from roughly.clustering.settings import condition_for
    from roughly.simhashing.simhasher import Simhasher

    simhasher = None
    names = ("features", "stop_words", "stem")
    given = [name for name in names if getattr(arguments, name) is not None]
    if given:
        simhasher = Simhasher(
            arguments.features or "terms", "count", arguments.stop_words, arguments.stem
        )
    condition = condition_for(
        arguments.preset,
        arguments.method,
        arguments.distance,
        arguments.size_ratio,
        arguments.within,
        simhasher,
    )
    if condition.simhash is None or stored is None:
        return condition
    chosen = {name: getattr(condition.simhash, name) for name in given}
    return replace(condition, simhash=replace(stored, **chosen))


def category_field_of(arguments: argparse.Namespace) -> str | None:
    """The field that `--within` names; hosts are in the ids, so they need none."""
    within: str | None = getattr(arguments, "within", None)
    return None if within == "host" else within


def add_content_type(group: Any, documents: str = "all documents") -> None:
    """HTML or text."""
    group.add_argument(
        "--as",
        dest="content_type",
        choices=("auto", "html", "text"),
        default="auto",
        help=f"take {documents} for HTML or for text (default: auto, as each looks)",
    )


def add_sketching(parser: argparse.ArgumentParser, words: bool = True) -> None:
    """The options of a Sketcher; those of words where they count."""
    group = parser.add_argument_group("how documents are shingled and sketched")
    add_width(group, words)
    add_selection(group, "all, mod:M, min:K or adaptive:T")


def add_width(group: Any, words: bool = True) -> None:
    """How documents are shingled."""
    group.add_argument("-w", type=positive, metavar="N", help="tokens in a shingle (default: 5)")
    if words:
        group.add_argument(
            "--words",
            type=count,
            metavar="N",
            help="single words count for resemblance, beside shingles, in documents of fewer"
            " distinct shingles (default: 200; 0 with -w)",
        )


def add_selection(group: Any, rules: str) -> None:
    """How their shingles are sketched; `rules` are those that the command can use."""
    add = group.add_argument
    add(
        "--select",
        metavar="RULE",
        help=f"which fingerprints a sketch keeps: {rules} (default: adaptive:200)",
    )
    add("--seed", type=seed, metavar="N", help="seed of all keys, or random (default: 0)")
    add("--preset", metavar="NAME", help="width and sketch of a published method, as broder97")


def sketcher_of(arguments: argparse.Namespace, like: Sketcher | None = None) -> Sketcher:
    """The sketcher that the options describe; what they leave open is as in `like`, or else the
    default."""
    from roughly.sketcher import Sketcher, preset

    w, words = arguments.w, getattr(arguments, "words", None)
    if like is not None:
        w, words = like.w if w is None else w, like.words if words is None else words
    like = Sketcher() if like is None else like
    chosen_seed = like.seed if arguments.seed is None else arguments.seed
    if arguments.preset is None:
        return Sketcher(
            w=w,
            select=like.select if arguments.select is None else arguments.select,
            seed=chosen_seed,
            bits=like.bits,
            words=words,
        )
    for option, given in (
        ("-w", arguments.w),
        ("--words", getattr(arguments, "words", None)),
        ("--select", arguments.select),
    ):
        if given is not None:
            raise ParameterError(
                f"{option}: cannot stand beside --preset {arguments.preset}: the preset fixes it",
                hint=f"leave out {option} or --preset",
            )
    return preset(arguments.preset, seed=chosen_seed)


def add_resources(group: Any) -> None:
    """What a run may use."""
    group.add_argument(
        "--memory",
        metavar="SIZE",
        help="memory to use, as 2G or 800M (default: half of the machine's)",
    )
    group.add_argument(
        "--threads", type=positive, metavar="N", help="threads to use (default: all cores)"
    )


def positive(text: str) -> int:
    """A count of at least 1."""
    value = count(text)
    if value < 1:
        raise argparse.ArgumentTypeError(f"out of range: {text}, wanted at least 1")
    return value


def count(text: str) -> int:
    """A whole number that is not negative."""
    if not (text.isascii() and text.isdigit() and len(text) < 10):
        raise argparse.ArgumentTypeError(f"not a count: {text!r}, wanted a number such as 5")
    return int(text)


def distance(text: str) -> int:
    """Bits that simhashes may differ in."""
    value = count(text)
    if value > 10:
        raise argparse.ArgumentTypeError(f"out of range: {text}, wanted 0 to 10")
    return value


def seed(text: str) -> int:
    """64 bits, or `random`."""
    if text == "random":
        import secrets

        return secrets.randbits(64)
    try:
        value = int(text, 0)
    except ValueError:
        value = -1
    if not 0 <= value < 2**64:
        raise argparse.ArgumentTypeError(
            f"not a seed: {text!r}, wanted a number from 0 to 2^64 - 1, or random"
        )
    return value


def ratio(text: str) -> str:
    """A threshold, kept as it was written: 0.7 is 7/10."""
    try:
        exact_ratio("share", text)
    except ParameterError:
        raise argparse.ArgumentTypeError(
            f"not a share: {text!r}, wanted more than 0 and at most 1, as 0.7"
        ) from None
    return text
