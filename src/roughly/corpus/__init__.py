"""The corpus on disk: `Corpus` reads one, `create_corpus` makes one."""

from __future__ import annotations

from roughly.corpus.corpus import Corpus, create_corpus
from roughly.corpus.manifest import is_corpus, is_unfinished

__all__ = ["Corpus", "create_corpus", "is_corpus", "is_unfinished"]
