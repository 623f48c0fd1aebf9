"""Any document against those that are indexed: `Searcher` finds neighbours by their sketches,
`find` turns them into matches, best first, settles them by the stored text, and says what the
sketches can promise."""

from __future__ import annotations

from roughly.search.searcher import Queries, Searcher, Shelf

__all__ = ["Queries", "Searcher", "Shelf"]
