"""What becomes of single pages from sweep to sweep: they stay, change, move, merge, split, vanish.

The first change of a family is fixed by its kind, so that every web of at least one block has every
kind of move; the later ones are drawn.
"""

from dataclasses import replace

from roughly.sample_web import revise
from roughly.sample_web.design import Page
from roughly.sample_web.family import Family, Link

# Shares in percent of what happens to a page where nothing else is fixed.
_DRAWN = (
    (62, "same"),
    (18, "edited"),
    (6, "moved_within"),
    (5, "moved_between"),
    (3, "split"),
    (6, "gone"),
)
_EDIT_SHARES = (0.01, 0.03, 0.06, 0.10)


def _draw(family: Family) -> str:
    percent = family.stream.below(100)
    for share, fate in _DRAWN:
        if percent < share:
            return fate
        percent -= share
    return "same"


def _edited(family: Family, at: int, page: Page) -> list[Page]:
    share = family.stream.choice(_EDIT_SHARES)
    new = replace(page, article=family.edited(page.article, share))
    detail = f"{round(share * 100)}% of the words replaced in place"
    family.links.append(Link((page, at), (new, at + 1), "edited", detail))
    return [new]


def _moved_within(family: Family, at: int, page: Page) -> list[Page]:
    # The other style, or the number alone, makes the new URL differ.
    url = family.url(page.site, page.article.title.text, family.stream.below(5))
    new = replace(page, url=url)
    family.links.append(Link((page, at), (new, at + 1), "reformatted", "moved within the host"))
    return [new]


def _moved_between(family: Family, at: int, page: Page) -> list[Page]:
    other = family.site(page.site)
    article = page.article
    if other.language.joiner and family.stream.below(2):
        article = family.edited(article, 0.02)
        relation, detail = "edited", "moved to another host, 2% of the words replaced"
    else:
        relation, detail = "republished", "moved to another host"
    new = family.page(other, article)
    family.links.append(Link((page, at), (new, at + 1), relation, detail))
    return [new]


def _split(family: Family, at: int, page: Page) -> list[Page]:
    parts = [family.page(page.site, part) for part in revise.split(page.article, 2)]
    for part in parts:
        family.links.append(Link((part, at + 1), (page, at), "split", f"one of {len(parts)} parts"))
    return parts


def _merged(family: Family, at: int, pages: list[Page]) -> list[Page]:
    site = pages[0].site
    frame = family.article(site, 60)
    article = revise.join(frame.title, frame.byline, [page.article for page in pages])
    whole = family.page(site, article)
    for page in pages:
        detail = f"one of {len(pages)} documents"
        family.links.append(Link((page, at), (whole, at + 1), "combined", detail))
        family.move(at, page, [whole], "merged")
    return [whole]


def _next(family: Family, at: int, page: Page, fate: str) -> list[Page]:
    """The pages that the next sweep finds in the place of this one."""
    if fate == "split" and len(page.article.body) < 4:
        fate = "same"
    if fate == "edited" and not page.site.language.joiner:
        fate = "same"
    change = {
        "edited": _edited,
        "moved_within": _moved_within,
        "moved_between": _moved_between,
        "split": _split,
    }.get(fate)
    if fate == "gone":
        new = []
    elif change:
        new = change(family, at, page)
    else:
        new = [page]
    family.move(at, page, new, fate)
    return new


def live(family: Family, copies: int, fate: str) -> None:
    """`copies` single pages; `fate` is what happens to them first ("" to draw it).

    A family of fate `born` has no page in the first sweep, and one page from a later sweep on.
    """
    count = len(family.dates)
    birth = 1 + (family.block + family.slot) % (count - 1) if count > 1 else 0
    first = birth if fate == "born" else 0
    if fate == "born" and count == 1:
        return
    site = family.site()
    # What is to be split or merged must be long enough to be recognised afterwards.
    length = 700 if fate == "split" else 350 if fate == "merged" else 0
    pages = [family.page(site, family.article(site, length)) for _ in range(max(1, copies))]
    family.sweeps[first] += pages
    if fate == "born":
        for page in pages:
            family.move(first - 1, None, [page], "born")
    for at in range(first, count - 1):
        if at == first and fate == "merged":
            pages = _merged(family, at, pages)
        else:
            forced = fate if at == first and fate != "born" else ""
            pages = [
                new for page in pages for new in _next(family, at, page, forced or _draw(family))
            ]
        family.sweeps[at + 1] += pages
