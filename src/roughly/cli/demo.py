"""`roughly demo`: everything roughly can do today, shown on a small web made for the purpose."""

from __future__ import annotations

import argparse
import shlex
import shutil
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

from roughly.cli.output import cannot_write
from roughly.documents.file import printable
from roughly.errors import DocumentError, ParameterError

if TYPE_CHECKING:
    from roughly.report.terminal import Terminal
    from roughly.sample_web import Pair, SampleWeb

DESCRIPTION = """\
Makes a small web of which the truth is known, compares pages of it, finds an
excerpt, holds what it measures against what must come out, and says how fast
it was. Nothing is written unless --directory is given."""

EPILOG = """\
examples:
  roughly demo
  roughly demo --directory roughly-demo

Exit status: 0 done, 2 error."""

# Below this the web holds no edited page or no excerpt to show.
_LEAST_PAGES = 10
# The shares of replaced words are shown one by one, the other relations in one row each.
_EDITED = "edited"


def add_parser(subparsers: Any) -> None:
    """Adds the command to the parser of all commands."""
    parser: argparse.ArgumentParser = subparsers.add_parser(
        "demo",
        help="see it work on a small web made for the purpose",
        description=DESCRIPTION,
        epilog=EPILOG,
        formatter_class=argparse.RawDescriptionHelpFormatter,
        allow_abbrev=False,
    )
    parser.add_argument(
        "--directory",
        metavar="DIR",
        help="keep the web in this directory, with an index.html to look around; it must be new",
    )
    parser.add_argument(
        "--pages",
        type=int,
        metavar="N",
        default=300,
        help="pages of the web in its first sweep (default: 300)",
    )
    parser.set_defaults(run=run)


def run(arguments: argparse.Namespace) -> int:
    """Makes the web and prints one section after the other as it is ready."""
    from roughly.report.terminal import Terminal
    from roughly.sample_web import sample_web

    if arguments.pages < _LEAST_PAGES:
        raise ParameterError(
            f"--pages: too few: {arguments.pages}, wanted at least {_LEAST_PAGES}",
            hint="leave it out: 300 pages take a few seconds",
        )
    terminal = Terminal(sys.stdout, None, "auto")
    web = sample_web(arguments.pages)
    if arguments.directory is not None:
        _write(web, arguments.directory)
    edited, excerpt = _edited_pair(web), _excerpt_pair(web)
    sections = (
        ("A small web, made for this demo", _made(web, arguments.directory)),
        ("Two pages compared", _compared(web, edited)),
        ("An excerpt, found by containment", _found(web, excerpt)),
        ("What was known and what was measured", _measured(web)),
        ("Speed", _speed(web)),
        ("What to try next", _next(web, arguments.directory, edited, excerpt)),
    )
    for title, lines in sections:
        _print(terminal, title, lines)
    return 0


def _write(web: SampleWeb, directory: str) -> None:
    root = Path(directory)
    there = root.is_dir()
    try:
        web.write(root)
    except DocumentError:
        raise  # It refused before it wrote anything.
    except BaseException as error:
        # Half a web would be in the way of the next try.
        begun = [] if not root.is_dir() else list(root.iterdir()) if there else [root]
        for path in begun:
            shutil.rmtree(path) if path.is_dir() else path.unlink()
        if not isinstance(error, OSError):
            raise
        aside = "; what was begun is removed" if begun else ""
        raise cannot_write(printable(directory), error, aside) from error


def _print(terminal: Terminal, title: str, lines: Iterator[str]) -> None:
    """A section, line by line; what stands between backquotes is set off."""
    print(terminal.style(title, "strong"))
    for line in lines:
        before, *rest = line.split("`")
        shown = [before]
        for number, part in enumerate(rest):
            shown.append(part if number % 2 else terminal.style(part, "first"))
        print("  " + "".join(shown) if line else "", flush=True)
    print()


def _edited_pair(web: SampleWeb) -> Pair:
    pairs = [pair for pair in web.pairs if pair.relation == _EDITED and pair.a[1] == pair.b[1]]
    # One in twenty words replaced is an edit that people call small and that changes a third.
    return next((pair for pair in pairs if pair.detail.startswith("5%")), pairs[0])


def _excerpt_pair(web: SampleWeb) -> Pair:
    return next(pair for pair in web.pairs if pair.relation == "excerpt")


def _made(web: SampleWeb, directory: str | None) -> Iterator[str]:
    hosts = {document.url.split("/")[2] for document in web.documents}
    size = sum(len(document.content) for document in web.documents)
    yield (
        f"{len(web.documents)} documents from {len(hosts)} hosts under .example, "
        f"{size / 1e6:.1f} MB, in {len(web.dates)} sweeps:"
    )
    previous: dict[str, bytes] = {}
    for date in web.dates:
        now = {
            document.url: document.content for document in web.documents if document.date == date
        }
        line = f"  {date}  {len(now):6} pages"
        if previous:
            same = sum(previous.get(url) == content for url, content in now.items())
            changed = sum(url in previous for url in now) - same
            new = len(now) - same - changed
            lost = sum(url not in now for url in previous)
            line += f"   {same} as before, {changed} changed, {new} new, {lost} no longer there"
        yield line
        previous = now
    if web.pages >= 100:  # a smaller web lacks some of these
        yield "Among them mirrors, edited copies, editions, excerpts, texts in eight languages."
    if directory is not None:
        yield f"They are in `{directory}`; open `{Path(directory) / 'index.html'}` to look around."


def _compared(web: SampleWeb, pair: Pair) -> Iterator[str]:
    import roughly

    a, b = web.document(*pair.a).content, web.document(*pair.b).content
    sketcher = roughly.Sketcher(w=5, select="adaptive:200", seed=0)
    first, second = sketcher.sketch(a), sketcher.sketch(b)
    yield f"A  {_short(pair.a[0])}"
    yield f"B  {_short(pair.b[0])}"
    yield f"B is a copy of A with {pair.detail}. Every shingle is five words in a row."
    yield ""
    yield f"resemblance          `{roughly.resemblance(a, b, w=5):.3f}`  exact"
    yield f"                     {first.resemblance(second)}, with 95% confidence"
    yield f"containment, A in B  `{roughly.containment(a, b, w=5):.3f}`  exact"
    yield f"                     {first.containment(second)}"


def _found(web: SampleWeb, pair: Pair) -> Iterator[str]:
    import roughly

    documents = [document for document in web.documents if document.date == pair.a[1]]
    sketcher = roughly.Sketcher(w=5, select="adaptive:200", seed=0)
    sketches = sketcher.sketch_batch([document.content for document in documents])
    query = sketcher.sketch(web.document(*pair.a).content)
    ranked = sorted(
        (-query.containment(sketch).value, document.url)
        for document, sketch in zip(documents, sketches, strict=True)
        if document.url != pair.a[0]
    )
    yield f"Q  {_short(pair.a[0])}"
    yield "Q quotes another page among words of its own. Which of the other"
    yield f"{len(ranked)} pages is it? Sketches alone say:"
    yield ""
    yield "containment  resemblance"
    by_url = {document.url: sketch for document, sketch in zip(documents, sketches, strict=True)}
    for contained, url in ranked[:3]:
        mark = "  <- the source" if url == pair.b[0] else ""
        resembles = query.resemblance(by_url[url]).value
        yield f"   `{-contained:.2f}`         {resembles:.2f}      {_short(url)}{mark}"
    exact = roughly.containment(web.document(*pair.a).content, web.document(*pair.b).content)
    yield ""
    yield f"Exactly {exact:.3f} of Q is in its source. Resemblance alone would hardly tell."


def _measured(web: SampleWeb) -> Iterator[str]:
    import roughly

    rows: dict[str, list[tuple[float, float, float]]] = {}
    for pair in web.pairs:
        name = pair.relation
        if name == _EDITED:
            name += f", {pair.detail.partition('%')[0].rpartition(' ')[2]}% of words"
        value = roughly.resemblance(web.document(*pair.a).content, web.document(*pair.b).content)
        rows.setdefault(name, []).append((value, *pair.resemblance))
    yield "resemblance              pairs   must lie in    was found in   as promised"
    for name in sorted(rows, key=_row_order):
        values = rows[name]
        kept = sum(low <= value <= high for value, low, high in values)
        yield (
            f"{name:24} {len(values):5}   "
            f"{_range(min(low for _, low, _ in values), max(high for _, _, high in values)):12}   "
            f"{_range(min(values)[0], max(values)[0]):12}   `{kept} of {len(values)}`"
        )


def _row_order(name: str) -> tuple[int, int]:
    """The order in which the relations are documented, then the share of words."""
    from roughly.sample_web import RELATIONS

    relation, _, share = name.partition(", ")
    return list(RELATIONS).index(relation), int(share.partition("%")[0] or 0)


def _speed(web: SampleWeb) -> Iterator[str]:
    import pyarrow as pa

    import roughly

    contents = [document.content for document in web.documents]
    array = pa.array(contents, pa.large_binary())
    size = sum(map(len, contents))
    sketcher = roughly.Sketcher(w=5, select="adaptive:200", seed=0)
    sketches = sketcher.sketch_batch(array)
    kept = sum(len(sketch) for sketch in sketches)
    fastest = min(_timed(lambda: sketcher.sketch_batch(array)) for _ in range(5))
    yield (
        f"All {len(contents)} documents, markup included, sketched in {fastest * 1000:.0f} ms "
        f"on all cores: `{size / fastest / 1e6:,.0f} MB/s`."
    )
    yield f"A sketch keeps {kept / len(contents):.0f} numbers of a document on average."


def _timed(work: Any) -> float:
    start = time.perf_counter()
    work()
    return time.perf_counter() - start


def _next(web: SampleWeb, directory: str | None, edited: Pair, excerpt: Pair) -> Iterator[str]:
    root = Path("roughly-demo" if directory is None else directory)
    if directory is None:
        yield f"Keep this web in files, with an index.html to look around:\n    `{_again(web)}`"
    for what, pair, options in (
        ("See the passages that the two pages share:", edited, ""),
        ("See them side by side in a browser:", edited, " --html difference.html"),
        ("See where the excerpt stands in its source:", excerpt, ""),
    ):
        a, b = (shlex.quote(str(root / web.document(*key).path)) for key in (pair.a, pair.b))
        yield f"{what}\n    `roughly compare {a} \\`\n        `{b}{options}`"


def _again(web: SampleWeb) -> str:
    pages = "" if web.pages == 300 else f" --pages {web.pages}"
    return f"roughly demo{pages} --directory roughly-demo"


def _short(url: str) -> str:
    return url.removeprefix("https://")


def _range(low: float, high: float) -> str:
    first, last = f"{low:.2f}", f"{high:.2f}"
    return first if first == last else f"{first} - {last}"
