"""The documents of `bench/web.py` in words of their own: for shingles of any width.

`bench/web.py` copies blocks of ten words that only a stamp tells apart, so with shingles of fewer
words half of them are in every fiftieth document. Here each word of a block comes from the block's
key: 65,536 words of seven letters, the common ones far more often than the rare. What documents
share is as there: notices that a quarter of them have, boilerplate of sites, text of clusters.
"""

from collections.abc import Iterator
from functools import cache

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from bench import web
from bench.block_text import GOLDEN, Keys, mix, record_batch

WORD_BYTES = 8  # seven letters and a space
BLOCK_WORDS = 10
# 5 kB.
KIND = web.Kind(False, BLOCK_WORDS * WORD_BYTES, 57, 3)

_LETTERS = np.frombuffer(b"etaoinshrdlucmfw", np.uint8)


@cache
def _vocabulary() -> npt.NDArray[np.uint64]:
    """Every word as the number that its eight bytes are."""
    number = np.arange(1 << 16, dtype=np.uint64)
    mixed = mix(number * GOLDEN + np.uint64(7))
    letters = np.empty((len(number), WORD_BYTES), np.uint8)
    for place in range(4):
        letters[:, place] = _LETTERS[(number >> np.uint64(4 * place)) & np.uint64(15)]
    for place in range(4, 7):
        letters[:, place] = _LETTERS[(mixed >> np.uint64(4 * place)) & np.uint64(15)]
    letters[:, 7] = ord(" ")
    return letters.view(np.uint64).reshape(-1)


def text_of(keys: Keys) -> npt.NDArray[np.uint8]:
    """The text of blocks, one after the other."""
    # Mixed first: the keys of a document's blocks lie as far apart as those of a block's words.
    word = np.repeat(mix(keys.copy()), BLOCK_WORDS) + np.tile(
        np.arange(1, BLOCK_WORDS + 1, dtype=np.uint64) * GOLDEN, len(keys)
    )
    # The cube of a uniform number: the commonest word is every fortieth.
    part = (mix(word) >> np.uint64(40)).astype(np.float64) / (1 << 24)
    chosen = (part * part * part * (1 << 16)).astype(np.intp)
    return _vocabulary()[chosen].view(np.uint8)


def batch(documents: int, first: int, rows: int, seed: int = 0) -> pa.RecordBatch:
    """`rows` documents from this one on, of so many in all."""
    found, keys, ends = web.block_keys(documents, first, rows, seed, KIND)
    text = text_of(keys)
    return record_batch(first, web.urls(found, first), text, ends * KIND.block_bytes, False)


def batches(documents: int, seed: int = 0, batch_rows: int = 1000) -> Iterator[pa.RecordBatch]:
    """All documents, in the schema of `roughly.documents`."""
    for first in range(0, documents, batch_rows):
        yield batch(documents, first, min(batch_rows, documents - first), seed)
