"""The corpus on disk: `Corpus` reads and changes one, `create_corpus` makes one of documents."""

from __future__ import annotations

from roughly.corpus.corpus import Corpus, create_corpus
from roughly.corpus.manifest import is_corpus, is_unfinished

__all__ = ["Corpus", "create_corpus", "is_corpus", "is_unfinished"]
