"""Which families a web of n pages consists of.

Pages come in blocks of a hundred with the same families in each; a web that is no multiple of a
block takes as many families of the last one as fit. So a larger web begins with the
pages of a smaller one, and any part of it can be made without the rest.
"""

from collections.abc import Iterator

from roughly.sample_web.family import FAMILY_STREAM, SITES_PER_BLOCK, Family
from roughly.sample_web.fate import live
from roughly.sample_web.related import MAKERS
from roughly.sample_web.stream import Stream

# Kind, language, pages in the first sweep. A kind with a colon is a single page and its first fate.
BLOCK: tuple[tuple[str, str, int], ...] = (
    ("edited", "en", 4),
    ("excerpt", "en", 3),
    ("mirror", "en", 3),
    ("reformatted", "en", 2),
    ("republished", "en", 3),
    ("live:moved_between", "en", 1),
    ("live:moved_within", "en", 1),
    ("live:merged", "en", 2),
    ("live:split", "en", 1),
    ("live:gone", "en", 1),
    ("live:born", "en", 0),
    ("home", "en", SITES_PER_BLOCK),
    ("version", "en", 4),
    ("combined", "en", 4),
    ("split", "en", 4),
    ("customized", "en", 4),
    ("session", "en", 2),
    ("dynamic", "en", 1),
    ("short", "en", 3),
    ("empty", "en", 2),
    ("boilerplate", "en", 2),
    ("unrelated", "en", 2),
    ("edited", "de", 2),
    ("edited", "el", 2),
    ("edited", "en", 4),
    ("mirror", "ru", 2),
    ("reformatted", "fr", 2),
    ("republished", "de", 2),
    ("excerpt", "ja", 2),
    ("split", "hi", 3),
    ("live:moved_within", "ar", 1),
    ("live:moved_between", "fr", 1),
    ("live:edited", "ru", 1),
    ("live:edited", "en", 1),
    ("live:moved_within", "en", 1),
    ("live:moved_between", "en", 1),
    ("live:gone", "en", 1),
    ("live:born", "en", 0),
    ("live:same", "ja", 1),
    ("live:same", "ar", 1),
    ("live:born", "hi", 0),
    ("live:", "el", 1),
    ("live:", "hi", 1),
    *(("live:", "en", 1) for _ in range(18)),
)
PAGES_PER_BLOCK = sum(pages for _, _, pages in BLOCK)


def build_family(
    seed: int, block: int, slot: int, kind: str, code: str, pages: int, dates: tuple[str, ...]
) -> Family:
    """One family with all its pages."""
    stream = Stream(seed, FAMILY_STREAM, block, slot)
    family = Family(seed, block, slot, code, dates, stream, [[] for _ in dates])
    name, colon, fate = kind.partition(":")
    if colon:
        live(family, pages, fate)
    else:
        MAKERS[name](family, pages)
    return family


def families(pages: int, seed: int, dates: tuple[str, ...]) -> Iterator[Family]:
    """The families of a web with this many pages in its first sweep, one after the other."""
    left = pages
    block = 0
    while left > 0:
        for slot, (kind, code, count) in enumerate(BLOCK):
            # The single pages at the end of a block fill what the larger families leave open.
            if count <= left:
                left -= count
                yield build_family(seed, block, slot, kind, code, count, dates)
        block += 1
