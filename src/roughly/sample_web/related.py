"""The families of related pages: copies, editions, excerpts, parts, and look-alikes.

Each maker fills a family with as many pages in the first sweep as it is told, and links the pairs
whose resemblance is known.
"""

from collections.abc import Callable
from dataclasses import replace
from datetime import date

from roughly.sample_web import revise
from roughly.sample_web.design import DESIGNS, Page
from roughly.sample_web.family import SITES_PER_BLOCK, Family, Link
from roughly.sample_web.notice import notice_article
from roughly.sample_web.prose import Article, Block
from roughly.sample_web.site import Site, site_of

# Shares of words replaced in the copies of an `edited` family.
EDIT_SHARES = (0.01, 0.02, 0.03, 0.05, 0.08, 0.12)


def _medium(family: Family) -> int:
    """A length at which the expected resemblance is sharp."""
    return family.stream.between(320, 1100)


def mirror(family: Family, copies: int) -> None:
    """A page and its copies on mirror hosts, byte for byte."""
    site = family.site()
    original = family.page(site, family.article(site))
    family.add(original)
    for name in family.stream.some(("kestrel", "north", "attic", "relay"), copies - 1):
        path = original.url.removeprefix("https://")
        copy = replace(
            original, url=f"https://mirror.{name}.example/{path}", shown_url=original.url
        )
        family.add(copy)
        family.link(original, copy, "identical")
    family.keep()


def reformatted(family: Family, copies: int) -> None:
    """The same words in the same order, under another design."""
    site = family.site()
    first = family.page(site, family.article(site, _medium(family)))
    family.add(first)
    for number in range(1, copies):
        design = (first.design + number) % DESIGNS
        url = family.url(site, first.article.title.text, site.url_style + number)
        copy = replace(first, url=url, design=design)
        family.add(copy)
        family.link(first, copy, "reformatted", f"design {first.design} and design {design}")
    family.keep()


def republished(family: Family, copies: int) -> None:
    """An article on several sites, each with its own template; the last one as plain text."""
    site = family.site()
    first = family.page(site, family.article(site, _medium(family)))
    family.add(first)
    others = [site]
    for number in range(1, copies):
        other = family.site(*others)
        others.append(other)
        if number < copies - 1:
            copy, detail = family.page(other, first.article), "another site"
        else:
            page = family.page(other, first.article, style=0)
            copy = replace(page, url=page.url.removesuffix(".html") + ".txt", form="text")
            detail = "plain text on another site"
        family.add(copy)
        family.link(first, copy, "republished", detail)
    family.keep()


def customized(family: Family, copies: int) -> None:
    """One notice that many sites show with their own name and contact in it."""
    first: Page | None = None
    others: list[Site] = []
    for _ in range(copies):
        site = family.site(*others)
        others.append(site)
        page = family.page(site, notice_article(site))
        family.add(page)
        if first is None:
            first = page
        else:
            family.link(first, page, "customized", f"{first.site.name}, {site.name}")
    family.keep()


def edited(family: Family, copies: int) -> None:
    """A page and copies of it on the same site with a share of the words replaced."""
    site = family.site()
    first = family.page(site, family.article(site, _medium(family)))
    family.add(first)
    for share in family.stream.some(EDIT_SHARES, copies - 1):
        copy = family.page(site, family.edited(first.article, share))
        family.add(copy)
        family.link(first, copy, "edited", f"{round(share * 100)}% of the words replaced")
    family.keep()


def version(family: Family, copies: int) -> None:
    """Editions of a handbook: each replaces some words and some paragraphs of the one before."""
    site = family.site()
    article = family.article(site, family.stream.between(600, 1400))
    editions = [revise.titled(article, "(edition 1)", 1)]
    for number in range(2, copies + 1):
        article = family.edited(article, 0.015)
        fresh = [block for block in family.article(site, 200).body if block.kind == "p"]
        article = revise.replace_blocks(article, 0.10, fresh, family.stream)
        editions.append(revise.titled(article, f"(edition {number})", number))
    pages = [family.page(site, edition) for edition in editions]
    family.add(*pages)
    for number in range(1, copies):
        family.link(pages[number - 1], pages[number], "version", f"editions {number}, {number + 1}")
    if copies > 2:
        family.link(pages[0], pages[-1], "version", f"editions 1, {copies}")
    family.keep()


def excerpt(family: Family, copies: int) -> None:
    """A long page, and pages elsewhere that quote several of its paragraphs among their own."""
    site = family.site()
    source = family.page(site, family.article(site, family.stream.between(900, 2000)))
    family.add(source)
    for number in range(1, copies):
        other = family.site(site)
        quoted = revise.take_blocks(source.article, family.stream.between(150, 350), family.stream)
        frame = family.article(other, 110 if number == 1 else 300)
        body = [frame.body[0], *quoted, *frame.body[1:]]
        page = family.page(other, frame.with_body(body))
        family.add(page)
        family.link(page, source, "excerpt", f"{len(quoted)} paragraphs quoted")
    family.keep()


def combined(family: Family, copies: int) -> None:
    """Several pages of a site, and one page elsewhere that holds them all."""
    site = family.site()
    parts = [
        family.page(site, family.article(site, family.stream.between(250, 600)))
        for _ in range(copies - 1)
    ]
    other = family.site(site)
    frame = family.article(other, 60)
    articles = [part.article for part in parts]
    whole = family.page(other, revise.join(frame.title, frame.byline, articles))
    family.add(*parts, whole)
    for part in parts:
        family.link(part, whole, "combined", f"one of {len(parts)} documents")
    family.keep()


def split(family: Family, copies: int) -> None:
    """A long page and the same text in parts on another site."""
    site = family.site()
    whole = family.page(site, family.article(site, 350 * (copies - 1)))
    other = family.site(site)
    family.add(whole)
    for part in revise.split(whole.article, copies - 1):
        page = family.page(other, part)
        family.add(page)
        family.link(page, whole, "split", f"one of {copies - 1} parts")
    family.keep()


def session(family: Family, copies: int) -> None:
    """One page under several URLs: every visit has a session id, and every fetch a new one."""
    site = family.site()
    article = family.article(site, _medium(family))
    plain = family.page(site, article, style=0)
    urls = [f"{plain.url}?sid={family.stream.word():016x}" for _ in range(copies)]
    for at in range(len(family.dates)):
        for number, url in enumerate(urls):
            sid = f"{family.stream.word():016x}"
            text = f"Guest {family.stream.between(10000, 99999)}, session {sid}"
            status = Block("status", text, ("session", family.block, family.slot, at, number))
            family.sweeps[at].append(replace(plain, url=url, status=status, session=sid))
    for number in range(1, copies):
        family.link(family.sweeps[0][0], family.sweeps[0][number], "session")
    _refetch(family)


def dynamic(family: Family, copies: int) -> None:
    """Pages that show the day and a counter."""
    for number in range(copies):
        site = family.site()
        plain = family.page(site, family.article(site, _medium(family)))
        visits = family.stream.between(1000, 60000)
        for at, day in enumerate(family.dates):
            spoken = date.fromisoformat(day)
            visits += family.stream.between(100, 9000)
            text = f"Today is {_WEEKDAYS[spoken.weekday()]} {spoken.isoformat()}. Visitor {visits}."
            status = Block("status", text, ("day", family.block, family.slot, number, at))
            family.sweeps[at].append(replace(plain, status=status))
    _refetch(family)


_WEEKDAYS = ("Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday")


def home(family: Family, copies: int) -> None:
    """Home pages of the block's new sites: a constant welcome and a list of news."""
    for number in range(SITES_PER_BLOCK * family.block, SITES_PER_BLOCK * family.block + copies):
        site = site_of(family.seed, "en", number)
        greeting = Block("title", f"Welcome to {site.name}", ("welcome", number))
        welcome = replace(family.article(site, 150), title=greeting)
        news = [family.article(site, 30).title for _ in range(8 + 3 * len(family.dates))]
        heading = Block("h", "New on these pages", ("welcome",))
        for at in range(len(family.dates)):
            listed = [replace(title, kind="li") for title in reversed(news[3 * at : 3 * at + 8])]
            page = Page(
                f"https://{site.host}/",
                site,
                welcome.with_body([*welcome.body, heading, *listed]),
                design=site.design,
            )
            family.sweeps[at].append(page)
    _refetch(family)


def _refetch(family: Family) -> None:
    """Links and moves for pages that every sweep finds at the same URL with other content."""
    for at in range(len(family.dates) - 1):
        for old, new in zip(family.sweeps[at], family.sweeps[at + 1], strict=True):
            family.links.append(Link((old, at), (new, at + 1), "refetched"))
            family.move(at, old, [new], "edited")


_SHORT_TEXTS = (
    "Coming soon",
    "Page not found",
    "This page has moved, please update your bookmarks",
    "Under construction",
    "Closed for the season, see you in April",
)


def _untitled(name: str, body: list[Block]) -> Article:
    """An article of which only the body is shown; its URL is made from the name."""
    return Article("en", "", Block("title", name, ()), Block("byline", "", ()), tuple(body))


def short(family: Family, copies: int) -> None:
    """Pages of a few words, the first two with the same ones."""
    choice = family.stream.below(len(_SHORT_TEXTS))
    pages: list[Page] = []
    for number in range(copies):
        site = family.site(*(page.site for page in pages))
        place = (choice + max(0, number - 1)) % len(_SHORT_TEXTS)
        text = _SHORT_TEXTS[place]
        article = _untitled(text, [Block("p", text, ("short", place))])
        pages.append(replace(family.page(site, article), form="bare"))
    family.add(*pages)
    for page in pages[1:]:
        family.link(pages[0], page, "short")
    family.keep()


def empty(family: Family, copies: int) -> None:
    """Pages without a word: of no bytes, and of markup only."""
    pages: list[Page] = []
    for number in range(copies):
        site = family.site(*(page.site for page in pages))
        page = family.page(site, _untitled("start", []))
        pages.append(replace(page, form="blank" if number % 2 else "void"))
    family.add(*pages)
    for page in pages[1:]:
        family.link(pages[0], page, "empty")
    family.keep()


def boilerplate(family: Family, copies: int) -> None:
    """Short unrelated articles on one site."""
    site = family.site()
    pages = [
        family.page(site, family.article(site, family.stream.between(110, 250)))
        for _ in range(copies)
    ]
    family.add(*pages)
    for page in pages[1:]:
        family.link(pages[0], page, "boilerplate")
    family.keep()


def unrelated(family: Family, copies: int) -> None:
    """Articles on different sites."""
    pages: list[Page] = []
    for _ in range(copies):
        site = family.site(*(page.site for page in pages))
        pages.append(family.page(site, family.article(site, _medium(family))))
    family.add(*pages)
    for page in pages[1:]:
        family.link(pages[0], page, "unrelated")
    family.keep()


Maker = Callable[[Family, int], None]

MAKERS: dict[str, Maker] = {
    maker.__name__: maker
    for maker in (
        mirror,
        reformatted,
        republished,
        customized,
        edited,
        version,
        excerpt,
        combined,
        split,
        session,
        dynamic,
        home,
        short,
        empty,
        boilerplate,
        unrelated,
    )
}
