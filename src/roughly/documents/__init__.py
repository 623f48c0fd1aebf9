"""Anything that holds documents, turned into Arrow record batches.

    documents = open_documents("corpus/*.jsonl.gz")     # a path, a table, an iterable: see there
    for batch in documents: ...                         # as often as needed

`collection` is the way in; a format a file below it; `charset` turns bytes into text for all.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from roughly.documents.collection import Documents, open_documents, open_inputs

__all__ = ["Documents", "open_documents", "open_inputs"]


def __getattr__(name: str) -> Any:
    # Comparing two files needs the charset alone: pyarrow and numpy wait until they are wanted.
    if name in __all__:
        from roughly.documents import collection

        return getattr(collection, name)
    raise AttributeError(f"module 'roughly.documents' has no attribute {name!r}")
