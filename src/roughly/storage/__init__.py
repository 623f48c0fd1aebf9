"""What lies on disk and survives: checked files, the journal of a run, segments of documents.

`checked` files carry a CRC32C for each block and appear whole or not at all, `arrow_file` puts
Arrow into them; `steps` records what a run has done, durably; `lock` lets one writer in; `segment`
holds documents and their sketches, `segment_index` makes them searchable. docs/format.md describes
the files.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from roughly.storage.arrow_file import ArrowFile, arrow_writer
    from roughly.storage.checked import CheckedMap, checked_writer
    from roughly.storage.collection import Collection
    from roughly.storage.index_writer import write_index
    from roughly.storage.lock import WriterLock
    from roughly.storage.segment import Segment
    from roughly.storage.segment_index import SegmentIndex
    from roughly.storage.segment_writer import SegmentWriter
    from roughly.storage.steps import Steps

_HOME = {
    "ArrowFile": "arrow_file",
    "CheckedMap": "checked",
    "Collection": "collection",
    "Segment": "segment",
    "SegmentIndex": "segment_index",
    "SegmentWriter": "segment_writer",
    "Steps": "steps",
    "WriterLock": "lock",
    "arrow_writer": "arrow_file",
    "checked_writer": "checked",
    "write_index": "index_writer",
}

__all__ = [
    "ArrowFile",
    "CheckedMap",
    "Collection",
    "Segment",
    "SegmentIndex",
    "SegmentWriter",
    "Steps",
    "WriterLock",
    "arrow_writer",
    "checked_writer",
    "write_index",
]


def __getattr__(name: str) -> Any:
    # A lock needs neither numpy nor pyarrow: each waits until it is wanted.
    if name in _HOME:
        from importlib import import_module

        return getattr(import_module(f"roughly.storage.{_HOME[name]}"), name)
    raise AttributeError(f"module 'roughly.storage' has no attribute {name!r}")
