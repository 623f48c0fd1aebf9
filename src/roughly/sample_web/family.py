"""Families: the pages that belong together, over all sweeps, with what is known about them.

A family is a function of (seed, block, slot, dates) alone. The makers in `related.py` and `fate.py`
fill it. Pages of different families are unrelated, except that pages of one site share its
boilerplate, that all notices (`customized`) are one text, and that short pages are few texts.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field

from roughly.sample_web import revise
from roughly.sample_web.design import Page
from roughly.sample_web.prose import Article, draw_length, write_article
from roughly.sample_web.site import Site, alternates_of, language_of, site_of, url_of, with_cast
from roughly.sample_web.stream import Stream
from roughly.sample_web.truth import Move

FAMILY_STREAM = 1  # label that keeps the numbers of families apart from those of sites
SITES_PER_BLOCK = 5  # new English sites in every block of pages, each with its home page


@dataclass(frozen=True, slots=True)
class Link:
    """A pair of pages, each with the number of the sweep it is taken from."""

    a: tuple[Page, int]
    b: tuple[Page, int]
    relation: str
    detail: str = ""


@dataclass
class Family:
    """Pages of each sweep, links between them, and the moves from sweep to sweep."""

    seed: int
    block: int
    slot: int
    code: str  # language
    dates: tuple[str, ...]
    stream: Stream
    sweeps: list[list[Page]]
    links: list[Link] = field(default_factory=list)
    moves: list[Move] = field(default_factory=list)
    made: int = 0  # articles, edits and URLs so far

    def _count(self) -> int:
        self.made += 1
        return self.made

    def site(self, *others: Site) -> Site:
        """A site of the family's language, other than those given."""
        english = self.code == "en"
        known = SITES_PER_BLOCK * (self.block + 1) if english else 3 + self.block // 8
        number = self.stream.below(known)
        while any(number == other.number for other in others):
            number = (number + 1) % known
        return site_of(self.seed, self.code, number)

    def article(self, site: Site, length: int = 0) -> Article:
        """A new article for a site; its length is drawn unless given."""
        origin = (self.block, self.slot, self._count())
        lists = with_cast(self.code, site.topic, site.place, self.stream)
        words = length or draw_length(self.stream)
        return write_article(language_of(self.code), site.topic, lists, self.stream, origin, words)

    def url(self, site: Site, title: str, style: int | None = None) -> str:
        """A URL that no other page has."""
        number = (self.block * 100 + self.slot) * 100 + self._count()
        return url_of(site, title, number, style)

    def page(self, site: Site, article: Article, style: int | None = None) -> Page:
        """The article as a page of the site, at a new URL."""
        return Page(self.url(site, article.title.text, style), site, article, design=site.design)

    def edited(self, article: Article, share: float) -> Article:
        """The article with a share of its words replaced."""
        alternates = alternates_of(article.language, article.topic)
        return revise.replace_words(article, share, alternates, self.stream, self._count())

    def add(self, *pages: Page) -> None:
        """Pages of the first sweep."""
        self.sweeps[0] += pages

    def link(self, a: Page, b: Page, relation: str, detail: str = "") -> None:
        """Two pages of the first sweep that belong together."""
        self.links.append(Link((a, 0), (b, 0), relation, detail))

    def move(self, at: int, old: Page | None, new: Sequence[Page], kind: str) -> None:
        """What became of `old` between the sweeps at and at + 1."""
        self.moves.append(
            Move(
                old.url if old else None,
                tuple(page.url for page in new),
                kind,
                self.dates[at],
                self.dates[at + 1],
            )
        )

    def keep(self) -> None:
        """All pages of the first sweep stay as they are in the later ones."""
        for at in range(len(self.dates) - 1):
            for page in self.sweeps[at]:
                self.move(at, page, [page], "same")
            self.sweeps[at + 1] += self.sweeps[at]
