"""KeptPages: the URLs of the pages that were kept, by their simhashes; an SQLite file.

It answers two questions: which page is it that another one duplicates, and is a page that looks
seen only itself, fetched once more? A page is entered before its simhash goes into an index, so a
killed crawl never leaves a simhash there whose page is unknown. SQLite keeps every entry that was
made when the process is killed, and after a power loss all but the last few. Memory is bounded,
whatever the number of pages.
"""

from __future__ import annotations

import contextlib
import sqlite3
import tempfile
from collections.abc import Iterator
from dataclasses import asdict
from pathlib import Path

from roughly.documents.file import printable
from roughly.errors import DamageError, DocumentError, MismatchError
from roughly.simhashing.parameters import SimhashParameters
from roughly.storage.durable import make_directory

_ALL = (1 << 64) - 1
_TABLES = """
CREATE TABLE IF NOT EXISTS parameter (name TEXT PRIMARY KEY, value TEXT NOT NULL);
CREATE TABLE IF NOT EXISTS page (
    simhash INTEGER NOT NULL, url TEXT NOT NULL, PRIMARY KEY (simhash, url)
) WITHOUT ROWID;
CREATE INDEX IF NOT EXISTS page_url ON page (url);
"""


class Workplace:
    """The directory of a crawl: the one that was asked for, or one that goes with the crawl."""

    def __init__(self, directory: Path | None) -> None:
        self._temporary = None
        if directory is None:
            self._temporary = tempfile.TemporaryDirectory(prefix="roughly-")
            directory = Path(self._temporary.name)
        self.path = directory
        make_directory(self.path)

    def close(self) -> None:
        if self._temporary is not None:
            self._temporary.cleanup()


class KeptPages:
    """Pages with simhashes of these parameters, in a file that is made where there is none."""

    def __init__(self, path: Path, parameters: SimhashParameters) -> None:
        self._path = path
        with self._checked():
            # No transaction spans statements: each is on its way to the disk when it returns.
            self._database = sqlite3.connect(path, isolation_level=None)
            self._database.execute("PRAGMA journal_mode = WAL")
            self._database.execute("PRAGMA synchronous = NORMAL")
            self._database.executescript(_TABLES)
            self._check(parameters)

    def _check(self, parameters: SimhashParameters) -> None:
        wanted = {name: str(value) for name, value in asdict(parameters).items()}
        self._database.execute("BEGIN IMMEDIATE")
        self._database.executemany(
            "INSERT OR IGNORE INTO parameter VALUES (?, ?)", sorted(wanted.items())
        )
        self._database.execute("COMMIT")
        found = dict(self._database.execute("SELECT name, value FROM parameter"))
        for name, value in wanted.items():
            if found[name] != value:
                self.close()
                raise MismatchError(
                    f"{printable(str(self._path))}: cannot be used: its pages have simhashes of"
                    f" {name} = {found[name]}, wanted {value}",
                    hint="set ROUGHLY_ features and weights as they were, or name another"
                    " ROUGHLY_DIRECTORY",
                )

    def add(self, url: str, simhash: int) -> None:
        with self._checked():
            self._database.execute(
                "INSERT OR IGNORE INTO page VALUES (?, ?)", (_signed(simhash), url)
            )

    def remove(self, url: str, simhash: int) -> None:
        with self._checked():
            self._database.execute(
                "DELETE FROM page WHERE simhash = ? AND url = ?", (_signed(simhash), url)
            )

    def distance(self, url: str, simhash: int) -> int | None:
        """Bits between this and the nearest simhash that this very URL was kept with."""
        with self._checked():
            rows = self._database.execute("SELECT simhash FROM page WHERE url = ?", (url,))
            return min(((simhash ^ row & _ALL).bit_count() for (row,) in rows), default=None)

    def url_of(self, simhash: int) -> str | None:
        """The page that was kept with this simhash."""
        with self._checked():
            row = self._database.execute(
                "SELECT url FROM page WHERE simhash = ? LIMIT 1", (_signed(simhash),)
            ).fetchone()
        return None if row is None else str(row[0])

    def close(self) -> None:
        with self._checked():
            self._database.close()

    @contextlib.contextmanager
    def _checked(self) -> Iterator[None]:
        shown = printable(str(self._path))
        try:
            yield
        except sqlite3.OperationalError as error:
            raise DocumentError(
                f"{shown}: cannot be used: {error}", hint="choose a place you may write to"
            ) from error
        except sqlite3.DatabaseError as error:
            raise DamageError(
                f"{shown}: damaged: {error}", hint="restore it from a copy, or remove its directory"
            ) from error


def _signed(simhash: int) -> int:
    """As SQLite has whole numbers: 64 bits with a sign."""
    return simhash - (1 << 64) if simhash >> 63 else simhash
