"""HTML to sketches, and HTML to words beside selectolax, whose lexbor builds a tree in C."""

import importlib
import re
from collections import Counter
from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

import roughly
from bench.corpus import Corpus, arrow_batches
from bench.measure import Scale, Task, level_that_counts, measure
from bench.report import Check, Result, Section, merged
from bench.sketch import (
    EQUAL,
    SKETCHERS,
    check_levels,
    sketch_all,
    thread_results,
    thread_tasks,
)
from roughly import _core

WORD = re.compile(r"\w+")
LABEL = "HTML, adaptive:200 w=5"
SMALL = "HTML of 5 kB, adaptive:200 w=5"
# What both sides must leave out; lexbor's text() alone has it in.
INVISIBLE = ["script", "style", "noscript", "template"]


def _lexbor() -> Any | None:
    try:
        return importlib.import_module("selectolax.lexbor").LexborHTMLParser
    except ImportError:
        return None


def _each(function: Callable[[bytes], object], pages: Sequence[bytes]) -> None:
    for page in pages:
        function(page)


def words_of_page(page: bytes) -> list[str]:
    """The words that roughly finds."""
    return _core.tokenize(page, True)[0].decode().split()


def check_words(pages: Sequence[bytes], peer_words: Callable[[bytes], list[str]]) -> Check:
    """Both sides find the same words, but for those that inline elements cut in two (lexbor joins
    all elements with a space here, roughly only those that separate)."""
    common = total = 0
    for page in pages:
        own, other = Counter(words_of_page(page)), Counter(peer_words(page))
        common += sum((own & other).values())
        total += max(sum(own.values()), sum(other.values()))
    share = common / total if total else 0.0
    return Check("roughly and lexbor find the same words", share >= 0.98, f"{share:.1%} in common")


def check_text_kept(texts: Sequence[str], pages: Sequence[str]) -> Check:
    """A page's text is nearly contained in the page; links inside it add a word here and there."""
    found = [roughly.containment(text, page, w=2) for text, page in zip(texts, pages, strict=True)]
    least = min(found, default=0.0)
    return Check("pages contain the text they were made of", least >= 0.75, f"least {least:.2f}")


def run(corpus: Corpus, scale: Scale) -> Section:
    level = level_that_counts()
    batches = arrow_batches(corpus.pages)
    pages = [page.encode() for page in corpus.pages]
    size = sum(map(len, pages))
    section = Section("html", "HTML -> sketch, and HTML -> words beside selectolax")
    section.notes.append(corpus.description("pages"))
    strip_share = sum(len(b" ".join(_core.html_text(page).split())) for page in pages) / size
    section.notes.append(f"{strip_share:.0%} of the bytes are text")

    sketcher = SKETCHERS["adaptive:200 w=5"]
    threads = thread_tasks(LABEL, sketcher, batches, size, "html")
    others = [
        Task(f"{LABEL}, {other}", partial(sketch_all, sketcher, batches, 1, other, "html"), size)
        for other in _core.simd_levels()
        if other != level
    ]
    small = arrow_batches(corpus.small_pages)
    small_size = sum(len(page.encode()) for page in corpus.small_pages)
    section.notes.append(corpus.description("small_pages"))
    threads += thread_tasks(SMALL, sketcher, small, small_size, "html")
    timings = measure(threads + others, scale)
    small_best = timings[f"{SMALL}, {level}, 1 thread"].best
    section.results.append(Result(f"{SMALL}, {level}, one core", small_best, "MB/s", ">=", 500.0))
    best = timings[f"{LABEL}, {level}, 1 thread"].best
    section.results.append(Result(f"{LABEL}, {level}, one core", best, "MB/s", ">=", 500.0))
    section.results += thread_results(LABEL, timings, None)
    section.timings = list(timings.values())
    checks = check_levels(LABEL, sketcher, batches, "html")
    checks += check_levels(SMALL, sketcher, small, "html")
    section.checks.append(merged(EQUAL, checks))
    if corpus.made:
        few = min(50, len(pages))
        section.checks.append(check_text_kept(corpus.texts[:few], corpus.pages[:few]))

    parser = _lexbor()
    if parser is None:
        section.notes.append("selectolax is not installed: no comparison")
        return section
    section.timings += _beside_lexbor(section, parser, pages, scale)
    return section


def _beside_lexbor(section: Section, parser: Any, pages: Sequence[bytes], scale: Scale) -> Any:
    level = level_that_counts()
    some = list(pages[: max(2, len(pages) // 4)])
    size = sum(map(len, some))
    tasks = [
        Task(
            f"roughly: HTML -> tokens, {level}",
            partial(_core.token_batch, some, "html", 1, level),
            size,
        ),
        Task("roughly: HTML -> text", partial(_core.html_batch, some, 1), size),
        Task(
            "selectolax: parse, text(), words by regular expression",
            partial(_each, lambda page: WORD.findall(parser(page).text().lower()), some),
            size,
        ),
        Task(
            "selectolax: parse, text()",
            partial(_each, lambda page: parser(page).text(), some),
            size,
        ),
        Task("selectolax: parse alone", partial(_each, parser, some), size),
    ]
    timings = measure(tasks, scale)
    tokens, text, peer_words, peer_text, peer_parse = (timings[task.name].best for task in tasks)
    section.results += [
        Result("HTML -> tokens: roughly against selectolax", tokens / peer_words, "x", ">=", 5.0),
        Result(
            "HTML -> tokens against selectolax parse, text()", tokens / peer_text, "x", ">=", 5.0
        ),
        Result("HTML -> text against selectolax parse, text()", text / peer_text, "x", ">=", 5.0),
        Result("HTML -> text against selectolax parse alone", text / peer_parse, "x"),
    ]

    def peer_visible_words(page: bytes) -> list[str]:
        tree = parser(page)
        tree.strip_tags(INVISIBLE)
        return words_of_text(tree.text(separator=" "))

    section.checks.append(check_words(some[:50], peer_visible_words))
    return timings.values()


def words_of_text(text: str) -> list[str]:
    """The same words by the same rules, from plain text."""
    return _core.tokenize(text.encode(), False)[0].decode().split()
