"""Where the time goes: the stages of a sketch that the core offers one by one.

Each call takes one document and returns arrays or bytes to Python, which costs what the row
"an empty call" shows; a batch of sketches pays that once.
"""

from collections.abc import Callable, Sequence
from functools import partial

from bench.corpus import Corpus, arrow_batches
from bench.measure import Scale, Task, level_that_counts, measure
from bench.report import Check, Section
from bench.sketch import sketch_all
from roughly import Sketcher, _core


def _each(function: Callable[[bytes], object], documents: Sequence[bytes]) -> None:
    for document in documents:
        function(document)


def run(corpus: Corpus, scale: Scale) -> Section:
    level = level_that_counts()
    texts = [text.encode() for text in corpus.texts[: max(4, scale.texts // 4)]]
    pages = [page.encode() for page in corpus.pages[: max(2, scale.pages // 4)]]
    text_size, page_size = sum(map(len, texts)), sum(map(len, pages))
    batches = arrow_batches([text.decode() for text in texts])
    section = Section("stage", f"single stages, {level}, one core, one call a document")

    def text_task(name: str, function: Callable[[bytes], object]) -> Task:
        return Task(f"text: {name}", partial(_each, function, texts), text_size)

    def page_task(name: str, function: Callable[[bytes], object]) -> Task:
        return Task(f"HTML: {name}", partial(_each, function, pages), page_size)

    sketcher = Sketcher(w=5)
    tasks = [
        text_task("an empty call (sniff)", _core.sniff_html),
        text_task("tokenize", lambda data: _core.tokenize(data, False, level)),
        text_task(
            "tokenize, fingerprints w=5",
            lambda data: _core.fingerprints(data, False, 5, 64, 0, level),
        ),
        text_task(
            "tokenize, fingerprints w=10",
            lambda data: _core.fingerprints(data, False, 10, 64, 0, level),
        ),
        text_task("content hash", lambda data: _core.content_hash(data, level)),
        Task(
            "text: whole sketches in batches, for comparison",
            partial(sketch_all, sketcher, batches, 1, level, "text"),
            text_size,
        ),
        page_task("strip", _core.html_text),
        page_task("strip, tokenize", lambda data: _core.tokenize(data, True, level)),
        page_task(
            "strip, tokenize, fingerprints w=5",
            lambda data: _core.fingerprints(data, True, 5, 64, 0, level),
        ),
    ]
    section.timings = list(measure(tasks, scale).values())
    section.checks.append(check_stages(texts + pages, level))
    return section


def check_stages(documents: Sequence[bytes], level: str) -> Check:
    """Single stages against the sketch that keeps everything: the same fingerprints."""
    sketcher = Sketcher(w=5, select="all")
    for document in documents:
        html = _core.sniff_html(document)
        sketch = sketcher.sketch(document.decode())
        fingerprints = _core.fingerprints(document, html, 5, 64, 0, level)
        if sorted(set(fingerprints.tolist())) != sketch.fingerprints.tolist():
            return Check("stages give what whole sketches hold", False, "fingerprints differ")
        if len(_core.tokenize(document, html, level)[1]) != sketch.tokens:
            return Check("stages give what whole sketches hold", False, "tokens differ")
    return Check(
        "stages give what whole sketches hold", bool(documents), f"{len(documents)} documents"
    )
