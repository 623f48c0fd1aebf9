"""The one text that many sites share: a notice with their own name and contact in it."""

import re

from roughly.sample_web.prose import Article, Block
from roughly.sample_web.site import Site

_SLOT = re.compile(r"\{(\w+)\}")

_PARAGRAPHS = (
    "These rules apply to everybody who reads, copies or adds to the pages of {name}. They were "
    "agreed at the general meeting and replace every earlier sheet.",
    "You may copy a page, translate it, print it and hand it on, as long as the name of its "
    "writer and the address {host} stay on the copy. You need not ask first. A line to let us "
    "know is kind, and it helps us to send you corrections.",
    "You may not put your own name in place of the writer's, nor remove a correction, nor sell "
    "a copy for more than the paper cost. Drawings and photographs belong to the people who "
    "made them and need their consent.",
    "What you send to {name} is read by two people before it appears. We correct spelling, "
    "shorten what is long, and leave out what could hurt somebody who cannot answer. We keep "
    "letters for five years and burn them in the garden afterwards.",
    "Measurements, recipes, routes and times are given with care and without warranty. Before "
    "you climb, sail, bake, graft or open a hive on our word, look at the weather and ask "
    "somebody who has done it lately.",
    "If you believe that a page here is yours and should not be, write to {contact}. We take "
    "the page down first and talk about it second. The same holds for the privacy of living "
    "persons.",
    "Other societies are welcome to use these rules as they stand, with their own name in them. "
    "If the rules change we shall say so on the front page for three months.",
)
_PATTERNS = (
    ("title", "Rules for copying and contributing"),
    ("byline", "Agreed by the members of {name}"),
    *(("p", paragraph) for paragraph in _PARAGRAPHS),
)


def _block(kind: str, pattern: str, at: int, values: dict[str, str], site: Site) -> Block:
    """The filled pattern; its fixed stretches have one origin on all sites."""
    parts = [
        Block("part", values[piece], ("notice", site.language.code, site.number, piece))
        if number % 2
        else Block("part", piece, ("notice", at, number))
        for number, piece in enumerate(_SLOT.split(pattern))
    ]
    return Block(kind, pattern.format(**values), ("notice", at), parts=tuple(parts))


def notice_article(site: Site) -> Article:
    """The notice as this site shows it."""
    contact = f"the secretary of {site.name}, {site.place}"
    values = {"name": site.name, "host": site.host, "contact": contact}
    title, byline, *body = (
        _block(kind, pattern, at, values, site) for at, (kind, pattern) in enumerate(_PATTERNS)
    )
    return Article("en", "notice", title, byline, tuple(body))
