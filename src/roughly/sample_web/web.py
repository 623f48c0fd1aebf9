"""The sample web itself: documents, truth, and a copy of it in files.

`SampleWeb.iterate` makes documents one after the other and keeps none, so a web of a hundred
thousand pages needs no more memory than one of a hundred; `documents`, `pairs` and `moves` are
lists.
"""

import json
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from datetime import date as calendar_date
from functools import cached_property
from pathlib import Path, PurePosixPath
from urllib.parse import urlsplit

from roughly.errors import DocumentError, ParameterError
from roughly.sample_web.contents_page import contents_page
from roughly.sample_web.family import Family
from roughly.sample_web.plan import families
from roughly.sample_web.truth import MOVES, RELATIONS, Move, Pair, expected_ranges

DEFAULT_DATES = ("2026-01-01", "2026-04-01", "2026-07-01")


@dataclass(frozen=True, slots=True)
class SampleDocument:
    """One page as one sweep found it."""

    url: str
    date: str  # of the sweep, ISO 8601
    content: bytes
    content_type: str  # as a server would declare it

    @property
    def path(self) -> PurePosixPath:
        """Where `SampleWeb.write` puts it: DATE/HOST/PATH, with an extension for its type."""
        return document_path(self.url, self.date, self.content_type)


def document_path(url: str, date: str, content_type: str) -> PurePosixPath:
    """The relative path of a document in the files of a web."""
    parts = urlsplit(url)
    name = parts.path.lstrip("/")
    if not name or name.endswith("/"):
        name += "index"
    if parts.query:
        # A question mark is no part of a file name everywhere.
        name += "_" + parts.query.replace("=", "-")
    extension = ".txt" if content_type.startswith("text/plain") else ".html"
    if not name.endswith((extension, ".htm")):
        name += extension
    return PurePosixPath(date, parts.netloc, name)


class SampleWeb:
    """A small web with known truth. The same arguments give the same bytes everywhere."""

    def __init__(self, pages: int, seed: int, dates: tuple[str, ...]) -> None:
        self.pages = pages
        self.seed = seed
        self.dates = dates

    def __repr__(self) -> str:
        return f"SampleWeb(pages={self.pages}, seed={self.seed}, dates={self.dates})"

    def iterate(self, date: str | None = None) -> Iterator[SampleDocument]:
        """The documents of one sweep, or of all in order of date, made one at a time."""
        if date is not None and date not in self.dates:
            raise ParameterError(
                f"date: no sweep of this web: {date!r}", f"the sweeps are {', '.join(self.dates)}"
            )
        for at, day in enumerate(self.dates):
            if date is None or date == day:
                for family in families(self.pages, self.seed, self.dates):
                    for page in family.sweeps[at]:
                        yield SampleDocument(page.url, day, page.content(), page.content_type)

    @cached_property
    def documents(self) -> list[SampleDocument]:
        """All documents, sweep after sweep."""
        return list(self.iterate())

    @cached_property
    def _by_key(self) -> dict[tuple[str, str], SampleDocument]:
        return {(document.url, document.date): document for document in self.documents}

    def document(self, url: str, date: str) -> SampleDocument:
        """The document that the sweep of this date found at this URL."""
        found = self._by_key.get((url, date))
        if found is None:
            raise DocumentError(f"{url}: not in the sweep of {date}", "see SampleWeb.documents")
        return found

    @cached_property
    def _families(self) -> list[Family]:
        return list(families(self.pages, self.seed, self.dates))

    @cached_property
    def pairs(self) -> list[Pair]:
        """Related documents and what their resemblance must be with shingles of five words."""
        return self.pairs_at(5)

    def pairs_at(self, w: int) -> list[Pair]:
        """The same for shingles of w words."""
        result: list[Pair] = []
        for family in self._families:
            for link in family.links:
                (page_a, sweep_a), (page_b, sweep_b) = link.a, link.b
                exact = link.relation in ("short", "empty")
                ranges = expected_ranges(page_a.marks(), page_b.marks(), w, family.code, exact)
                result.append(
                    Pair(
                        (page_a.url, self.dates[sweep_a]),
                        (page_b.url, self.dates[sweep_b]),
                        link.relation,
                        link.detail,
                        w,
                        *ranges,
                    )
                )
        return result

    @cached_property
    def moves(self) -> list[Move]:
        """What became of every page between every two consecutive sweeps."""
        return [move for family in self._families for move in family.moves]

    def truth(self) -> dict[str, object]:
        """Pairs and moves as plain values for JSON."""
        return {
            "pages": self.pages,
            "seed": self.seed,
            "dates": list(self.dates),
            "relations": RELATIONS,
            "move_kinds": MOVES,
            "pairs": [asdict(pair) for pair in self.pairs],
            "moves": [asdict(move) for move in self.moves],
        }

    def write(self, directory: str | Path) -> int:
        """Lays the web out as files: DATE/HOST/PATH, truth.json, and index.html to look around.

        Returns the number of bytes of the documents. The directory must be empty or not exist.
        """
        root = Path(directory)
        if root.exists() and (not root.is_dir() or any(root.iterdir())):
            raise DocumentError(
                f"{root}: cannot write the sample web: it exists and is not an empty directory",
                "name another directory, or remove this one first",
            )
        size = 0
        listed: list[tuple[str, str, str]] = []
        for document in self.iterate():
            path = root / document.path
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(document.content)
            size += len(document.content)
            listed.append((document.date, document.url, str(document.path)))
        truth = json.dumps(self.truth(), ensure_ascii=False, indent=1)
        (root / "truth.json").write_bytes(truth.encode() + b"\n")
        paths = {(url, day): path for day, url, path in listed}
        (root / "index.html").write_bytes(contents_page(paths, self.pairs, self.moves).encode())
        return size


def sample_web(
    pages: int = 300, seed: int = 0, dates: tuple[str, ...] = DEFAULT_DATES
) -> SampleWeb:
    """A web with `pages` pages in its first sweep, one sweep for each of the dates.

    From 100 pages and two sweeps on it holds every relation and every kind of move.
    """
    if pages < 1:
        raise ParameterError(f"pages: too few: {pages}, wanted at least 1", "try pages=300")
    dates = tuple(dates)
    if not dates or list(dates) != sorted(dict.fromkeys(dates)):
        raise ParameterError(
            f"dates: not in ascending order: {dates!r}", 'try dates=("2026-01-01", "2026-04-01")'
        )
    for day in dates:
        try:
            calendar_date.fromisoformat(day)
        except ValueError as error:
            raise ParameterError(f"dates: no date: {day!r}: {error}", "write YYYY-MM-DD") from None
    return SampleWeb(pages, seed, dates)
