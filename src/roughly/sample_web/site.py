"""The sites of the sample web: a name, a host under .example, a look, a way of forming URLs.

A site is a function of (seed, language, number) alone, so that a page can be made without knowing
the other pages. Every page of a site repeats the site's `top` and `bottom` blocks.
"""

from dataclasses import dataclass
from functools import cache, lru_cache

from roughly.sample_web.english import (
    COMMON,
    FIRST_NAMES,
    HEADINGS,
    LAST_NAMES,
    POINTS,
    QUOTATIONS,
    SENTENCES,
    TITLES,
)
from roughly.sample_web.languages import LANGUAGES
from roughly.sample_web.prose import Block, Language, Writer, alternatives, words
from roughly.sample_web.stream import Stream
from roughly.sample_web.topics import TOPICS

TOPIC_NAMES = tuple(TOPICS)
SITE_STREAM = 2  # label that keeps the numbers of sites apart from those of pages

ENGLISH = Language(
    code="en",
    direction="ltr",
    joiner=" ",
    lists=COMMON,
    sentences=SENTENCES,
    titles=TITLES,
    headings=HEADINGS,
    points=POINTS,
    quotations=QUOTATIONS,
    byline="By {author}, {town}",
    navigation=("Home", "Articles", "Calendar", "Members", "Contact"),
    notices=(
        "You may copy these pages for any good purpose if you say where they came from.",
        "Corrections, old photographs and cuttings are always welcome at the desk.",
        "This site keeps no cookies and sells nothing.",
        "Meetings are held on the first Thursday of the month, with tea.",
        "Please write to the editor before you reprint a drawing.",
        "The society is run by volunteers and answers letters within a week.",
    ),
    site_names=(),
    places=(),
)

# Topic: names of a site and their hosts.
ENGLISH_SITES: dict[str, tuple[tuple[str, str], ...]] = {
    "orchard": (
        ("{place} Orchard Society", "www.{place}-orchard.example"),
        ("The {place} Fruit Register", "fruit.{place}.example"),
    ),
    "coast": (
        ("{place} Harbour Log", "harbour.{place}.example"),
        ("Friends of the {place} Light", "www.{place}-light.example"),
    ),
    "bread": (
        ("The {place} Bakehouse", "{place}-bakehouse.example"),
        ("{place} Flour and Water", "bread.{place}.example"),
    ),
    "stars": (
        ("{place} Astronomical Club", "www.{place}-astro.example"),
        ("Night Sky over {place}", "nightsky.{place}.example"),
    ),
    "railway": (
        ("{place} Branch Line Trust", "www.{place}-branch.example"),
        ("The {place} Signal Box", "signalbox.{place}.example"),
    ),
    "bees": (
        ("{place} Beekeepers", "www.{place}-bees.example"),
        ("The {place} Hive Diary", "hives.{place}.example"),
    ),
    "hills": (
        ("{place} Walkers", "walkers.{place}.example"),
        ("The {place} Footpath Letter", "www.{place}-paths.example"),
    ),
    "paper": (
        ("{place} Town Library", "library.{place}.example"),
        ("The {place} Press", "www.{place}-press.example"),
    ),
}

_PLACE_HEADS = (
    "Lark Elm Thorn Ash Kes Hol Wren Bram Alder Hazel Fen Grey Stan Mar Oak Pem Quar Rook Sel Tarn "
    "Under Wether Yar Birch Cole Dun Ever Fal Gor Hart Ives Led"
).split()
_PLACE_TAILS = (
    "field combe ford wick mere holt dale ness bury stead gate brook ley worth haven cliffe low"
).split()
_PLACE_COUNT = len(_PLACE_HEADS) * len(_PLACE_TAILS)
_PLACE_STEP = 201  # shares no factor with 32 * 17, so every place comes once before any returns
_PLACE_WORDS = (
    "",
    "Upper ",
    "Lower ",
    "New ",
    "Old ",
    "North ",
    "South ",
    "East ",
    "West ",
    "Long ",
)
_STREETS = ("Mill Lane", "Station Road", "Church Row", "The Green", "Quay Street", "Hill View")

URL_STYLES = 5


@dataclass(frozen=True, eq=False)
class Site:
    """One site. `design` and `palette` are numbers that `design.py` understands."""

    language: Language
    topic: str
    number: int
    name: str
    host: str
    place: str
    design: int
    palette: int
    url_style: int
    top: tuple[Block, ...]
    bottom: tuple[Block, ...]

    @property
    def title_name(self) -> Block:
        """The site's name as it stands in the title element of its pages."""
        return self.top[0]


def language_of(code: str) -> Language:
    """The language of a BCP 47 code used here."""
    return ENGLISH if code == "en" else LANGUAGES[code]


@cache
def topic_lists(topic: str) -> dict[str, tuple[str, ...]]:
    """All lists of an English topic."""
    return {**COMMON, **TOPICS[topic]}


@cache
def alternates_of(code: str, topic: str) -> dict[str, tuple[str, ...]]:
    """The words that an edit may put in the place of a word."""
    return alternatives(topic_lists(topic)) if code == "en" else LANGUAGES[code].alternates


def with_cast(code: str, topic: str, town: str, stream: Stream) -> dict[str, tuple[str, ...]]:
    """The lists for one article: in English with the persons and the town it is about."""
    if code != "en":
        return LANGUAGES[code].lists
    hero, friend, elder = (stream.choice(FIRST_NAMES) for _ in range(3))
    return {
        **topic_lists(topic),
        "hero": (hero,),
        "friend": (friend if friend != hero else "Ottilie",),
        "elder": (f"old {'Mr' if stream.below(2) else 'Mrs'} {stream.choice(LAST_NAMES)}", elder),
        "author": (f"{hero} {stream.choice(LAST_NAMES)}",),
        "town": (town,),
    }


def _english_place(number: int) -> str:
    spot = number * _PLACE_STEP % _PLACE_COUNT
    head, tail = divmod(spot, len(_PLACE_TAILS))
    again = number // _PLACE_COUNT
    word = _PLACE_WORDS[again] if again < len(_PLACE_WORDS) else f"{again} "
    return f"{word}{_PLACE_HEADS[head]}{_PLACE_TAILS[tail]}"


def _named(code: str, number: int) -> tuple[str, str, str, str]:
    """Topic, name, host and place of a site; every (code, number) has a host of its own."""
    if code == "en":
        topic = TOPIC_NAMES[number % len(TOPIC_NAMES)]
        place = _english_place(number)
        patterns = ENGLISH_SITES[topic]
        name, host = patterns[number // len(TOPIC_NAMES) % len(patterns)]
        in_host = place.lower().replace(" ", "-")
        return topic, name.format(place=place), host.format(place=in_host), place
    language = LANGUAGES[code]
    rest, pattern = divmod(number, len(language.site_names))
    again, spot = divmod(rest, len(language.places))
    name, host = language.site_names[pattern]
    place, in_host = language.places[spot]
    suffix = f"-{again + 1}" if again else ""
    return code, name.format(place=place), host.format(place=in_host + suffix), place


@lru_cache(maxsize=4096)
def site_of(seed: int, code: str, number: int) -> Site:
    """The site of this number in this language."""
    language = language_of(code)
    stream = Stream(seed, SITE_STREAM, *code.encode(), number)
    topic, name, host, place = _named(code, number)
    lists = topic_lists(topic) if code == "en" else language.lists
    writer = Writer(language, stream, {**lists, "town": (place,)})
    motto = "{doing^} and {doing} since {year}" if code == "en" else "{remark^}"
    street = f"{stream.between(1, 90)} {stream.choice(_STREETS)}" if code == "en" else ""
    top = [
        Block("site", name, ("site", code, number)),
        Block("motto", writer.fill(motto), ("motto", code, number)),
        *(Block("nav", item, ("nav", code, at)) for at, item in enumerate(language.navigation)),
    ]
    # What several sites have in common has one origin on all of them.
    notices = stream.some(tuple(enumerate(language.notices)), 2)
    bottom = [
        *(Block("notice", notice, ("foot", code, at)) for at, notice in notices),
        *([Block("address", street, ("street", code, number))] if street else []),
        Block("address", place, ("place", code, place)),
        Block("address", f"\u00a9 2026 {name}", ("owner", code, number)),
    ]
    turn = number + sum(code.encode())
    return Site(
        language,
        topic,
        number,
        name,
        host,
        place,
        # In turn and not drawn: even a few sites should not look alike.
        design=(turn + turn // 8) % 4,
        palette=turn * 3 % 8,
        url_style=stream.below(URL_STYLES),
        top=tuple(top),
        bottom=tuple(bottom),
    )


def _slug(site: Site, title: str) -> str:
    found = [word.lower() for word in words(title) if word.isascii()]
    if site.language.slug or not found:
        return site.language.slug or "page"
    return "-".join(found[:6])


def url_of(site: Site, title: str, number: int, style: int | None = None) -> str:
    """The URL of a page; a number that is the page's own keeps it unique on every host."""
    slug = _slug(site, title)
    styles = (
        f"/{site.topic}/{slug}-{number}.html",
        f"/article.php?id={number}",
        f"/{2019 + number % 7}/{number % 12 + 1:02d}/{slug}-{number}/",
        f"/~editor/{slug}-{number}.htm",
        f"/wiki/{slug.replace('-', '_').capitalize()}_{number}",
    )
    return f"https://{site.host}{styles[site.url_style if style is None else style % URL_STYLES]}"
