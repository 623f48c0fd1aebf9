"""Which elements are frequent, and the heads of masses, as they were when documents were clustered.

The rule for masses (src/core/mass.hpp) goes by frequencies. Counted anew for every document that is
added they would change everywhere; so they are counted when a corpus is clustered, and kept: as the
numbers of all counters that reach the rule's least frequency. Documents that come later are judged
by the same ones.
"""

from __future__ import annotations

import tempfile
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from roughly import _core
from roughly.clustering.frequency import Frequencies, by_chunk
from roughly.clustering.join import Hubs, Join, MassRule
from roughly.clustering.sketches import Rows, steps
from roughly.storage.arrow_file import ArrowFile, arrow_writer
from roughly.storage.durable import reserve

FREQUENT = "frequent.arrow"
HEADS = "heads.arrow"

# As in src/core/sketch_set.hpp and frequency.cpp.
_MIX = np.uint64(0x9E3779B97F4A7C15)
_LEAST_BITS, _MOST_BITS = 16, 40
# Counters that are gathered before those that are there twice are dropped.
_WAITING = 1 << 20
# A first look that most elements do not pass.
_LOOK_BITS = 22

_FREQUENT = pa.schema([pa.field("counter", pa.uint64(), nullable=False)])
_HEADS = pa.schema(
    [
        pa.field("key", pa.uint64(), nullable=False),  # ascending
        pa.field("row", pa.uint32(), nullable=False),  # of the collection; in document order
    ]
)

Elements = npt.NDArray[np.uint64]
Offsets = npt.NDArray[np.int64]


@dataclass(frozen=True)
class Frequent:
    """The counters that are high, of 2^bits."""

    bits: int
    counters: Elements  # ascending
    documents: int  # representatives that were counted

    def marks(self, elements: Elements) -> npt.NDArray[np.uint8]:
        """255 for every element that is frequent, else 0."""
        marked = np.zeros(len(elements), np.uint8)
        if not len(self.counters) or not len(elements):
            return marked
        mixed = elements * _MIX
        maybe = np.flatnonzero(self._look[mixed >> np.uint64(64 - min(self.bits, _LOOK_BITS))])
        some = mixed[maybe] >> np.uint64(64 - self.bits)
        at = np.searchsorted(self.counters, some)
        at[at == len(self.counters)] = 0
        marked[maybe[self.counters[at] == some]] = 255
        return marked

    @cached_property
    def _look(self) -> npt.NDArray[np.bool_]:
        """Where counters that are high may be, by their first bits."""
        look = np.zeros(1 << min(self.bits, _LOOK_BITS), bool)
        look[self.counters >> np.uint64(max(self.bits - _LOOK_BITS, 0))] = True
        return look

    def write(self, folder: Path) -> Path:
        path = folder / FREQUENT
        facts = {"roughly.bits": str(self.bits), "roughly.documents": str(self.documents)}
        with arrow_writer(path, _FREQUENT.with_metadata(facts)) as writer:
            writer.write(pa.record_batch([pa.array(self.counters)], schema=_FREQUENT))
        return path

    @classmethod
    def load(cls, folder: Path) -> Frequent:
        file = ArrowFile(folder / FREQUENT)
        facts = file.schema.metadata
        return cls(
            int(facts[b"roughly.bits"]),
            file.table()["counter"].to_numpy(),
            int(facts[b"roughly.documents"]),
        )


class Heads(NamedTuple):
    """The first documents that have each key, key by key."""

    keys: Elements
    rows: Rows

    def write(self, folder: Path) -> Path:
        path = folder / HEADS
        with arrow_writer(path, _HEADS) as writer:
            columns = [pa.array(self.keys), pa.array(self.rows)]
            writer.write(pa.record_batch(columns, schema=_HEADS))
        return path

    @classmethod
    def load(cls, folder: Path) -> Heads:
        table = ArrowFile(folder / HEADS).table()
        return cls(table["key"].to_numpy(), table["row"].to_numpy())


class FrozenJoin(Join):
    """A join whose masses go by frequencies that were counted before, if there are any."""

    def __init__(self, *arguments: Any, frequent: Frequent | None = None, **options: Any) -> None:
        super().__init__(*arguments, **options)
        self._known = frequent

    def hubs(self, threshold: Fraction, rule: MassRule | None = None) -> Hubs:
        """As those of a join."""
        rule = MassRule() if rule is None else rule
        if self._known is None:
            return super().hubs(threshold, rule)
        own = self._frequencies
        self._frequencies = self._marked(self._known)
        self._use()
        try:
            return super().hubs(threshold, rule)
        finally:
            self._frequencies = own
            self._use()

    def frequent(self, rule: MassRule) -> Frequent:
        """What it goes by."""
        if self._known is not None:
            return self._known
        elements = self._set.elements()
        bits = min(max(elements.bit_length() + 1, _LEAST_BITS), _MOST_BITS)
        # What was seen before is dropped again and again, or there would be some for every step.
        found, waiting = [np.zeros(0, np.uint64)], 0
        for begin, end in steps(len(self), self._step):
            found.append(
                self._set.frequent_counters(rule.least_frequency, bits, begin, end, self._threads)
            )
            waiting += len(found[-1])
            if waiting > max(_WAITING, len(found[0])):
                found, waiting = [np.unique(np.concatenate(found))], 0
            self._release(begin, end)
        return Frequent(bits, np.unique(np.concatenate(found)), len(self))

    def heads(self, rule: MassRule) -> Heads:
        """The heads of all keys."""
        own = self._frequencies
        if self._known is not None:
            self._frequencies = self._marked(self._known)
            self._use()
        # Those of all categories: who comes later may be of another one.
        masses = self._masses(rule, by_category=False)
        keys, documents = masses.heads()
        self._frequencies = own
        self._use()
        return Heads(keys, self._given_rows[documents])

    def _use(self) -> None:
        self._set.use_frequencies(by_chunk(self._sketches, self._frequencies))

    def _marked(self, frequent: Frequent) -> Frequencies:
        """Marks in the place of frequencies, in a scratch file too."""
        total = max(sum(len(values) for values, _ in self._sketches.chunks), 1)
        with tempfile.TemporaryFile(dir=self._scratch) as file:
            reserve(file.fileno(), total, self._scratch or Path(tempfile.gettempdir()))
            marks = _core.map_scratch(file.fileno(), total)
        begin = 0
        for values, _ in self._sketches.chunks:
            own = marks[begin : begin + len(values)]
            own[:] = frequent.marks(values)
            begin += len(values)
            _core.release_buffer(values)
            _core.release_buffer(own)
        return marks


def keys_of(
    elements: Elements,
    offsets: Offsets,
    frequent: Frequent,
    rule: MassRule,
    threads: int,
) -> tuple[Elements, Offsets]:
    """The keys of some documents whose sketches are given, and where each document's begin."""
    documents = len(offsets) - 1
    chunk_rows = 1 << max(documents - 1, 0).bit_length()
    every = np.arange(documents, dtype=np.uint32)
    level = np.zeros(documents, np.uint8)
    chunks = [(elements, offsets)] if documents else []
    some = _core.SketchSet(chunks, chunk_rows, every, every, level, 0)
    some.use_frequencies([frequent.marks(elements)] if documents else [])
    keys, ends = some.mass_keys(rule.least_frequency, rule.keys, 0, documents, threads)
    return keys, ends
