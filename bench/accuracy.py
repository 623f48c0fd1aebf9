"""`python -m bench accuracy [--truth FOLDER]`: how right answers are, on data others labelled.

Every set of FOLDER (ROUGHLY_TRUTH, or ../shared/truth): pairs with labels, where precision, recall,
F1 and exact sets are scored on the half of the pairs that the threshold was not chosen on; and the
sets that say something else (licences, moves, HTML), each with its own figures. Beside roughly
stand the exact ceiling and the peers. What is not there is left out and said to be; nothing is
copied.
"""

import argparse
import sys
import tempfile
from collections.abc import Callable, Sequence
from pathlib import Path

from bench import accuracy_choice, accuracy_page, accuracy_retrieval, lost, machine
from bench.accuracy_method import CEILING, SELECT, Documents, W, methods
from bench.accuracy_score import Score, score
from bench.accuracy_set import pair_sets, truth_folder
from bench.report import Check, Result, Section, Table
from bench.session import Session, add_output_options

WIDTHS = (1, 2, 3, 5, 7, 10)
LOSS = 0.01  # of F1 that estimates may lose
LEAST_F1 = {"plagiarism": 0.94, "pan": 0.88}
HEADS = ("method", "levels", "precision", "recall", "F1", "from", "to", "exact sets", "at default")


def of_pairs(documents: Documents) -> tuple[Section, list[Score]]:
    """One set, all methods."""
    pairs = documents.pairs
    section = Section(pairs.name, f"{len(pairs):,} pairs, {int(pairs.dup.sum()):,} of them copies")
    section.notes.append(
        "levels: chosen on one half, scored on the other, both ways; from, to: 95% of F1; at"
        " default: F1 on all pairs at the threshold that ships (0.5, k=3; bands: 0.7)"
    )
    scores = [score(pairs, each) for each in methods(documents, WIDTHS)]
    section.tables.append(Table(HEADS, [_row(each) for each in scores]))
    by_name = {each.method: each for each in scores}
    ceiling = by_name[CEILING]
    for name, loss in ((f"roughly estimate, {SELECT}", LOSS), ("roughly verified", 0.0)):
        lost_f1 = ceiling.f1 - by_name[name].f1
        section.results.append(Result(f"F1 lost by {name}", lost_f1, "", "<=", loss))
        if pairs.name in LEAST_F1:
            least = LEAST_F1[pairs.name]
            section.results.append(Result(f"F1 of {name}", by_name[name].f1, "", ">=", least))
    section.checks.append(_check_exact(documents))
    return section, scores


def _row(found: Score) -> tuple[str | float | None, ...]:
    return (
        found.method,
        " / ".join(dict.fromkeys(found.levels)),
        found.precision,
        found.recall,
        found.f1,
        found.low,
        found.high,
        found.exact_sets,
        None if found.default is None else found.default.f1,
    )


def _check_exact(documents: Documents) -> Check:
    """The ceiling is that of plain sets in Python."""
    exact, pairs, own = documents.resemblance(), documents.pairs, documents.shingles(W)
    worst = 0.0
    some = range(0, len(pairs), max(1, len(pairs) // 500))
    for at in some:
        one, two = set(own[pairs.a[at]]), set(own[pairs.b[at]])
        plain = len(one & two) / len(one | two) if one or two else 1.0
        worst = max(worst, abs(plain - float(exact[at])))
    detail = f"{len(some)} pairs, off by {worst:.1e} at most"
    return Check("exact resemblance is that of sets in Python", worst < 1e-9, detail)


def main(argv: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(
        prog="python -m bench accuracy", description=(__doc__ or "").partition("\n")[0]
    )
    parser.add_argument(
        "--truth",
        type=Path,
        default=truth_folder(),
        metavar="FOLDER",
        help="labelled data (default: ROUGHLY_TRUTH, or ../shared/truth)",
    )
    parser.add_argument("--only", nargs="*", metavar="SET", help="some of the sets, or sections")
    parser.add_argument("--html", type=Path, metavar="FILE", help="write a page with plots there")
    add_output_options(parser)
    arguments = parser.parse_args(argv)
    folder: Path = arguments.truth
    if not folder.is_dir():
        parser.error(f"--truth: {folder}: no such folder, wanted one of labelled data")
    session = Session(f"labelled data, {folder.name}", "accuracy")
    record = machine.machine()  # of what is measured, whatever is committed meanwhile

    def asked(name: str) -> bool:
        return not arguments.only or name in arguments.only

    found: list[tuple[str, Sequence[Score]]] = []
    sets: list[Documents] = []
    for each in pair_sets(folder):
        if isinstance(each, str):
            print(f"bench: {each}", file=sys.stderr)
        elif asked(each.name):
            documents = Documents(each)
            section, scores = of_pairs(documents)
            session.add(section)
            found.append((each.name, scores))
            sets.append(documents)
    if sets and asked("choices"):
        session.add(accuracy_choice.selection(sets))
        session.add(accuracy_choice.words(sets))
    for name, run in _others().items():
        if not asked(name):
            continue
        if (folder / name).is_dir():
            for section in run(folder / name):
                session.add(section)
        else:
            print(f"bench: {name}: not in the folder, left out", file=sys.stderr)
    status = session.finish(arguments.json, arguments.record)
    if found:
        versions = f"{record['cpu']}, {record['date']}, commit {str(record['git_commit'])[:12]}"
        page = accuracy_page.page(found, versions)
        if arguments.html:
            arguments.html.write_text(page, "utf-8")
        if arguments.record and status == 0:
            name = f"{machine.file_name(record)}-accuracy.html"
            (arguments.record / name).write_text(page, "utf-8")
    return status


def _others() -> dict[str, Callable[[Path], list[Section]]]:
    """Sets whose labels are no pairs."""

    def moves(folder: Path) -> list[Section]:
        with tempfile.TemporaryDirectory() as scratch:
            return [lost.moves(folder, scratch), lost.taken_away(folder, scratch)]

    retrieval = accuracy_retrieval
    return {
        "spdx": lambda folder: [
            retrieval.spdx(folder, WIDTHS),
            retrieval.spdx_html(folder),
        ],
        "html_pages": lambda folder: [retrieval.html_pages(folder)],
        "licences": lambda folder: [retrieval.licences(folder)],
        "moves": moves,
    }


if __name__ == "__main__":
    sys.exit(main())
