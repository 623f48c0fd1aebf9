"""What happens to articles on the web: small edits, new editions, excerpts, merging, splitting.

Nothing here looks at chance: every function is determined by its arguments and the stream. The
blocks keep their origin through every change, which is how the truth is known afterwards.
"""

from collections.abc import Sequence
from dataclasses import replace

from roughly.sample_web.prose import WORD, Article, Block, words
from roughly.sample_web.stream import Stream


def replace_words(
    article: Article,
    share: float,
    alternates: dict[str, tuple[str, ...]],
    stream: Stream,
    edit: int,
) -> Article:
    """The article with about this share of its body's words replaced, one by one.

    Only words with an alternative are replaced, so the share reached is at most that of such words.
    `edit` is a number above zero that no other edit of the same article has.
    """
    places: list[tuple[int, int]] = []
    spans: list[list[tuple[int, int]]] = []
    for at, block in enumerate(article.body):
        found = [match.span() for match in WORD.finditer(block.text)]
        spans.append(found)
        places += [
            (at, position)
            for position, (start, end) in enumerate(found)
            if block.text[start:end] in alternates
        ]
    total = sum(map(len, spans))
    count = min(len(places), max(1, int(share * total + 0.5)))
    chosen: dict[int, list[int]] = {}
    for at, position in stream.some(places, count):
        chosen.setdefault(at, []).append(position)

    body = list(article.body)
    for at in sorted(chosen):
        block = body[at]
        parts: list[str] = []
        last = 0
        for position in sorted(chosen[at]):
            start, end = spans[at][position]
            parts += [block.text[last:start], stream.choice(alternates[block.text[start:end]])]
            last = end
        edits = dict(block.edits)
        edits.update((block.first + position, edit) for position in chosen[at])
        text = "".join([*parts, block.text[last:]])
        body[at] = replace(block, text=text, edits=tuple(sorted(edits.items())))
    return article.with_body(body)


def replace_blocks(
    article: Article, share: float, fresh: Sequence[Block], stream: Stream
) -> Article:
    """The article with this share of its paragraphs replaced by fresh ones, as far as they last."""
    paragraphs = [at for at, block in enumerate(article.body) if block.kind == "p"]
    count = min(len(fresh), max(1, int(share * len(paragraphs) + 0.5)))
    body = list(article.body)
    for at, block in zip(stream.some(paragraphs, count), fresh, strict=False):
        body[at] = block
    return article.with_body(body)


def take_blocks(article: Article, length: int, stream: Stream) -> list[Block]:
    """Consecutive paragraphs of at least `length` words, where the article has that many."""
    sizes = [len(words(block.text)) for block in article.body]
    first, left = 0, sum(sizes)
    for _ in range(stream.below(len(sizes))):
        if left - sizes[first] < length:
            break
        left -= sizes[first]
        first += 1
    end, taken = first, 0
    while end < len(sizes) and taken < length:
        taken += sizes[end]
        end += 1
    return list(article.body[first:end])


def titled(article: Article, suffix: str, number: int) -> Article:
    """The article with something added to its title; `number` tells the additions apart."""
    title = article.title
    before = len(words(title.text))
    text = f"{title.text} {suffix}"
    added = tuple((at, number) for at in range(before, len(words(text))))
    return replace(article, title=replace(title, text=text, edits=(*title.edits, *added)))


def join(title: Block, byline: Block, articles: Sequence[Article]) -> Article:
    """One article made of several, each under its old title as a heading."""
    body: list[Block] = []
    for article in articles:
        body.append(replace(article.title, kind="h"))
        body += article.body
    return Article(articles[0].language, articles[0].topic, title, byline, tuple(body))


def split(article: Article, parts: int) -> list[Article]:
    """The article cut into parts of about equal length."""
    sizes = [len(words(block.text)) for block in article.body]
    total = sum(sizes)
    bodies: list[list[Block]] = [[] for _ in range(parts)]
    seen = 0
    for block, size in zip(article.body, sizes, strict=True):
        bodies[min(parts - 1, seen * parts // total)].append(block)
        seen += size
    return [
        titled(article.with_body(body), f"({number}/{parts})", number)
        for number, body in enumerate(bodies, 1)
        if body
    ]
