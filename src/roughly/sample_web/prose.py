"""From word lists and sentence patterns to articles.

A `Language` holds the patterns; `write_article` draws from it. An article is a list of `Block`s,
and every block knows where its words come from (`origin`), so that the truth about two pages can be
told from how they were made instead of from what they look like.
"""

import re
from dataclasses import dataclass, field, replace
from functools import cache

from roughly.sample_web.stream import GOLDEN_GAMMA, MASK, Stream, mix

# One word of the algorithm's canonical form in the texts written here: one character of Japanese,
# or a run without space or punctuation.
_JAPANESE = "\u3005\u3041-\u3096\u30a1-\u30fa\u30fc\u4e00-\u9fff"
_PUNCTUATION = (
    ".,;:!?()\\[\\]<>\"'/|=+*@#%&~_\u00a9\u00ab\u00b7\u00bb\u0387\u060c\u061b\u061f\u0964\u2013\u2014"
    "\u2018\u2019\u201c\u201d\u201e\u2026\u3001\u3002\u300c\u300d\u30fb-"
)
WORD = re.compile(f"[{_JAPANESE}]|[^\\s{_JAPANESE}{_PUNCTUATION}]+")
_SLOT = re.compile(r"\{(a )?(\w+)([<>]?)(\^?)\}")

Origin = tuple[int | str, ...]
Mark = tuple[Origin, int, int]  # block of origin, position in it, number of the edit or 0


def words(text: str) -> list[str]:
    """The words of a text, each one token of the canonical form."""
    return WORD.findall(text)


@dataclass(frozen=True, slots=True)
class Block:
    """A heading (h), paragraph (p), list item (li), quotation (q) or other run of text."""

    kind: str
    text: str
    origin: Origin  # two blocks of equal origin hold the same words, edits aside
    first: int = 0  # position of the first word in the block of origin
    edits: tuple[tuple[int, int], ...] = ()  # (position in the block of origin, edit number)
    parts: tuple[
        "Block", ...
    ] = ()  # where its words come from several places; joined they are text

    def marks(self) -> list[Mark]:
        """One mark a word; equal marks are the same word of the same text."""
        if self.parts:
            return [mark for part in self.parts for mark in part.marks()]
        edits = dict(self.edits)
        first, origin = self.first, self.origin
        count = len(words(self.text))
        return [(origin, at, edits.get(at, 0)) for at in range(first, first + count)]


@dataclass(frozen=True, slots=True)
class Article:
    """A text without a place: title, author's line and body."""

    language: str
    topic: str
    title: Block
    byline: Block
    body: tuple[Block, ...]

    def with_body(self, body: list[Block]) -> "Article":
        """The same article with another body."""
        return replace(self, body=tuple(body))


@dataclass(frozen=True, eq=False)
class Language:
    """The patterns of one language. Every slot of a pattern names one of the lists."""

    code: str  # BCP 47
    direction: str  # ltr or rtl
    joiner: str  # what stands between two sentences
    lists: dict[str, tuple[str, ...]]
    sentences: tuple[str, ...]
    titles: tuple[str, ...]
    headings: tuple[str, ...]
    points: tuple[str, ...]
    quotations: tuple[str, ...]
    byline: str
    navigation: tuple[str, ...]
    notices: tuple[str, ...]  # what stands at the foot of a site's pages
    site_names: tuple[tuple[str, str], ...]  # (name, host) of a site; {place} is filled in both
    places: tuple[tuple[str, str], ...]  # (name of a place, the same in a host name)
    slug: str = ""  # of pages whose titles have no Latin letters
    alternates: dict[str, tuple[str, ...]] = field(default_factory=dict)  # see alternatives()


def alternatives(lists: dict[str, tuple[str, ...]]) -> dict[str, tuple[str, ...]]:
    """For each last word of an entry, the last words of the list's other entries.

    An edit takes its words from here, so that an edited text still reads well.
    """
    result: dict[str, tuple[str, ...]] = {}
    for name in sorted(lists):
        # Each word once, in the order of the list: never a set, whose order is not fixed.
        last = tuple(dict.fromkeys(found[-1] for entry in lists[name] if (found := words(entry))))
        for word in last:
            others = tuple(other for other in last if other != word)
            if len(word) > 2 and len(others) > 2:
                result.setdefault(word, others)
    return result


# A compiled pattern: text with one %s a slot, and for each slot the list's name, the form of the
# entry (with its article, which half, capitalised) and whether it belongs to the draw before.
_Slot = tuple[str, str, bool]
_Pattern = tuple[str, tuple[_Slot, ...]]


@cache
def _compiled(pattern: str) -> _Pattern:
    slots = tuple(
        (name, ("a" if article else "") + half + capital, half == ">")
        for article, name, half, capital in _SLOT.findall(pattern)
    )
    return _SLOT.sub("%s", pattern.replace("%", "%%")), slots


def capitalised(text: str) -> str:
    """The text with its first letter in upper case."""
    return text[:1].upper() + text[1:]


def _with_article(entry: str) -> str:
    return ("an " if entry[0] in "aeiou" or entry.startswith("honest") else "a ") + entry


@cache
def _formed(entries: tuple[str, ...], form: str) -> tuple[str, ...]:
    if "<" in form:
        entries = tuple(entry.partition("|")[0] for entry in entries)
    elif ">" in form:
        entries = tuple(entry.partition("|")[2] for entry in entries)
    if "a" in form:
        entries = tuple(map(_with_article, entries))
    return tuple(map(capitalised, entries)) if "^" in form else entries


class Writer:
    """Fills patterns for one article: the language's lists with this article's cast in them."""

    def __init__(self, language: Language, stream: Stream, lists: dict[str, tuple[str, ...]]):
        self.language = language
        self.stream = stream
        self.lists = lists
        self._formed: dict[tuple[str, str], tuple[str, ...]] = {}
        self._left: dict[tuple[str, ...], list[str]] = {}

    def next_of(self, patterns: tuple[str, ...]) -> str:
        """A filled pattern; every pattern is used once before any is used again."""
        left = self._left.get(patterns)
        if not left:
            left = self._left[patterns] = list(patterns)
        return self.fill(self.stream.take(left))

    def fill(self, pattern: str) -> str:
        """The pattern with an entry in every slot, nested slots included."""
        text, slots = _compiled(pattern)
        # Written out instead of calling stream.word(): this is where the time goes.
        stream = self.stream
        stream.state = state = (stream.state + GOLDEN_GAMMA) & MASK
        number = mix(state)
        chosen: list[str] = []
        drawn: dict[str, list[int]] = {}
        for name, form, second_half in slots:
            entries = self._formed.get((name, form)) or self._form(name, form)
            size = len(entries)
            used = drawn.setdefault(name, [])
            if second_half:
                at = used[-1]
            else:
                number, at = divmod(number, size)
                # A list used again in one sentence gives another entry, where it has one.
                while at in used and len(used) < size:
                    at = (at + 1) % size
                used.append(at)
                if number < size:
                    number = stream.word()
            chosen.append(entries[at])
        result = text % tuple(chosen)
        return self.fill(result) if "{" in result else result

    def _form(self, name: str, form: str) -> tuple[str, ...]:
        entries = _formed(self.lists[name], form)
        self._formed[name, form] = entries
        return entries


# Shares in percent and numbers of words of an article: a median of about 420 words, some long.
_LENGTHS = ((14, 110, 200), (32, 200, 400), (30, 400, 750), (18, 750, 1500), (5, 1500, 2600))


def draw_length(stream: Stream) -> int:
    """How many words an article should have."""
    percent = stream.below(100)
    for share, low, high in _LENGTHS:
        if percent < share:
            return stream.between(low, high)
        percent -= share
    return stream.between(3000, 5000)


def write_article(
    language: Language,
    topic: str,
    lists: dict[str, tuple[str, ...]],
    stream: Stream,
    origin: Origin,
    length: int,
) -> Article:
    """An article of about `length` words. `origin` must be its own in the whole web."""
    writer = Writer(language, stream, lists)
    title = writer.next_of(language.titles)
    byline = writer.fill(language.byline)
    body: list[Block] = []
    left = length

    def add(kind: str, text: str) -> None:
        nonlocal left
        body.append(Block(kind, text, (*origin, len(body))))
        left -= text.count(" ") + 1 if language.joiner else len(text) // 2

    def paragraph() -> None:
        count = stream.between(3, 6)
        add("p", language.joiner.join(writer.next_of(language.sentences) for _ in range(count)))

    paragraph()
    while left > 0:
        if left > 120 and stream.below(3) == 0:
            add("h", writer.next_of(language.headings))
        paragraph()
        extra = stream.below(9)
        if left > 60 and extra == 0:
            for _ in range(stream.between(3, 5)):
                add("li", writer.next_of(language.points))
            paragraph()
        elif left > 60 and extra == 1:
            add("q", writer.next_of(language.quotations))
            paragraph()
    return Article(
        language.code,
        topic,
        Block("title", title, (*origin, "title")),
        Block("byline", byline, (*origin, "byline")),
        tuple(body),
    )
