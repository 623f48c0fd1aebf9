"""Names for documents that are added: which are there already, and what others are called.

A document's key is its id and its date. What comes with the key and the content of a document that
is there, is that document: a sweep that is added again adds nothing. Other content under a taken
key gets the next number that is free: `id#2`, and from `id#2` comes `id#3`, never `id#2#2`. What
came under such a number before is known again, too.
"""

from __future__ import annotations

import re
from collections import defaultdict

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from roughly.corpus.known import Known
from roughly.documents.unique_id import UniqueIds

Hashes = npt.NDArray[np.uint64]
Mask = npt.NDArray[np.bool_]
Key = tuple[str, str | None]  # id and date
_Content = tuple[bytes, bool]  # hash, and whether it is HTML

_NUMBERED = re.compile(r"(.+)#(?:[1-9][0-9]*)", re.DOTALL)


class Names:
    """The names of one addition, batch by batch."""

    def __init__(self, known: Known) -> None:
        self._known = known
        self._seen = UniqueIds()  # ids of this addition that end in a number
        self._given: set[Key] = set()  # names that were made here
        self._contents: dict[Key, set[_Content]] = defaultdict(set)  # by id without a number
        self._next: dict[Key, int] = defaultdict(lambda: 1)  # the number not yet looked at
        self.renamed = 0
        self.there = 0

    def given(self, batch: pa.RecordBatch, hashes: Hashes) -> tuple[pa.RecordBatch, Hashes]:
        """The documents that are not there yet, with the names that they get; and their contents'
        hashes."""
        ids, dates = batch.column("id"), batch.column("date")
        html = np.asarray(batch.column("html"))
        rows = self._known.rows_of_keys(ids, dates)
        there = self._known.same_content(rows, hashes, html)
        taken = rows >= 0
        names = ids.to_pylist() if taken.any() or self._given else []
        if self._given:
            keys = zip(names, dates.to_pylist(), strict=True)
            taken |= np.fromiter((key in self._given for key in keys), bool, len(names))
        waiting = np.flatnonzero(taken & ~there).tolist()
        numbered = pc.match_substring_regex(ids, r"#[1-9][0-9]*$")
        self._seen.add(ids.filter(numbered))
        if waiting:
            contents = [(hashes[row].tobytes(), bool(html[row])) for row in waiting]
            for row, name in self._named(waiting, contents, names, dates.to_pylist()).items():
                there[row] = name is None
                names[row] = name or names[row]
                self.renamed += name is not None
            at = batch.schema.get_field_index("id")
            batch = batch.set_column(at, batch.schema.field(at), pa.array(names, pa.string()))
        if not there.any():
            return batch, hashes
        self.there += int(np.count_nonzero(there))
        return batch.filter(pa.array(~there)), hashes[~there]

    def _named(
        self,
        waiting: list[int],
        contents: list[_Content],
        names: list[str],
        dates: list[str | None],
    ) -> dict[int, str | None]:
        """Of rows whose key is taken: a name that is free, or None if the content is there under
        one of the names that the id had before."""
        groups: dict[Key, list[tuple[int, _Content]]] = defaultdict(list)
        for row, content in zip(waiting, contents, strict=True):
            found = _NUMBERED.fullmatch(names[row])
            groups[found[1] if found else names[row], dates[row]].append((row, content))
        result: dict[int, str | None] = {}
        while groups:
            # As many numbers for each id as it has documents.
            some = [
                (key, number)
                for key, rows in groups.items()
                for number in range(self._next[key], self._next[key] + len(rows))
            ]
            tried = [key[0] if number == 1 else f"{key[0]}#{number}" for key, number in some]
            column = pa.array(tried, pa.string())
            own_dates = pa.array([key[1] for key, _ in some], pa.string())
            rows_of = self._known.rows_of_keys(column, own_dates)
            known = self._known.contents(rows_of)
            used = self._seen.has(column)
            for n, (key, number) in enumerate(some):
                if key not in groups:
                    continue
                self._next[key] = number + 1
                if rows_of[n] >= 0:
                    self._contents[key].add(known[n])
                elif number > 1 and not used[n] and (tried[n], key[1]) not in self._given:
                    self._leave_known(groups, key, result)
                    if key not in groups:
                        self._next[key] = number  # nobody took it
                        continue
                    row, content = groups[key].pop(0)
                    result[row] = tried[n]
                    self._given.add((tried[n], key[1]))
                    self._contents[key].add(content)
            for key in list(groups):
                self._leave_known(groups, key, result)
        return result

    def _leave_known(
        self,
        groups: dict[Key, list[tuple[int, _Content]]],
        key: Key,
        result: dict[int, str | None],
    ) -> None:
        """Those whose content was seen need no name; an id without others is done."""
        rows = groups.pop(key, [])
        for row, content in rows:
            if content in self._contents[key]:
                result[row] = None
        left = [each for each in rows if each[1] not in self._contents[key]]
        if left:
            groups[key] = left
