"""English-like text at memory speed: blocks of ten words that are copied and then made unique.

A block is 60 bytes, one of a pool of 4,096: a word of eight letters and nine common words. Copying
a block and writing another first word into it costs little, and every ten consecutive words hold
such a first word, a *stamp*, so that two documents share a shingle of ten words only where their
blocks have equal keys: by chance in one of 2^44 pairs of blocks, or where a generator gives
documents the same keys because they should share text. As HTML, a block has 40 bytes of markup too.

Keys are 64-bit numbers, hashed here; equal keys, equal blocks, on any machine.
"""

from functools import cache
from random import Random

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from bench.text import english_vocabulary
from roughly.documents.batch import SCHEMA
from roughly.documents.encoding_label import ENCODINGS

Keys = npt.NDArray[np.uint64]
Integers = npt.NDArray[np.int64]

WORDS = 10  # in a block
TEXT_BYTES = 60
MARKUP_BYTES = 40
POOL = 4096

# Sixteen letters, so that four bits of a key make one.
_LETTERS = b"abdefgiklmnoprst"
_SEPARATORS = [" ", ", ", ".\n"]
_SEPARATOR_WEIGHTS = [0.88, 0.07, 0.05]
_MARKUP = (
    '</p>\n<p align="left">',
    '<br><a href="index.html">',
    "</a></td>\n<td valign=top>",
    '<img src="dot.gif"><b>',
    "</b></font>\n<font size=2>",
    "</li>\n<li><i>",
    "<hr>\n<!-- next -->",
)

# Steele, Lea, Flood: SplitMix64.
GOLDEN = np.uint64(0x9E3779B97F4A7C15)
_FIRST = np.uint64(0xBF58476D1CE4E5B9)
_SECOND = np.uint64(0x94D049BB133111EB)


def mix(keys: Keys) -> Keys:
    """A bijection of 64-bit numbers that leaves no trace of their order; in place."""
    scratch = keys >> np.uint64(30)
    keys ^= scratch
    keys *= _FIRST
    np.right_shift(keys, np.uint64(27), out=scratch)
    keys ^= scratch
    keys *= _SECOND
    np.right_shift(keys, np.uint64(31), out=scratch)
    keys ^= scratch
    return keys


def numbered(key: int, numbers: Integers) -> Keys:
    """A new family of keys, one for each number."""
    begin = np.uint64(key * int(GOLDEN) % 2**64)
    return mix(mix(numbers.astype(np.uint64) + begin))


@cache
def pool(html: bool) -> npt.NDArray[np.uint32]:
    """The blocks, a row each, in units of four bytes."""
    vocabulary, random = english_vocabulary(), Random(5)
    # An apostrophe would make two words of one.
    plain = {word for word in vocabulary.words if word.isascii() and word.isalpha()}
    rest = TEXT_BYTES - len("stampstm ")
    rows: list[bytes] = []
    while len(rows) < POOL:
        words = vocabulary.draw(random, WORDS - 1)
        after = random.choices(_SEPARATORS, _SEPARATOR_WEIGHTS, k=WORDS - 1)
        text = "".join(word + mark for word, mark in zip(words, after, strict=True))
        if len(text) == rest and plain.issuperset(words):
            markup = _MARKUP[len(rows) % len(_MARKUP)].ljust(MARKUP_BYTES) if html else ""
            rows.append(f"stampstm {text}{markup}".encode("ascii"))
    return np.frombuffer(b"".join(rows), np.uint32).reshape(POOL, -1)


@cache
def _letters() -> npt.NDArray[np.uint32]:
    """Four letters for every 16 bits."""
    letters = np.frombuffer(_LETTERS, np.uint8)
    bits = np.arange(1 << 16, dtype=np.uint32)
    columns = [letters[bits >> shift & 15] for shift in (0, 4, 8, 12)]
    return np.ascontiguousarray(np.stack(columns, axis=1)).view(np.uint32).ravel()


def _words(hashed: Keys) -> npt.NDArray[np.uint32]:
    """Eight letters for the lower half of every hash, a row each, in units of four bytes."""
    return _letters()[hashed.view(np.uint16).reshape(-1, 4)[:, :2]]


def stamps(keys: Keys) -> npt.NDArray[np.uint32]:
    """A word of eight letters for every key, a row each; the keys are used up."""
    return _words(mix(keys))


def blocks(keys: Keys, html: bool = False) -> npt.NDArray[np.uint8]:
    """The text of blocks with these keys, one after the other; the keys are used up."""
    hashed = mix(keys)
    source = pool(html)
    text = np.empty((len(keys), source.shape[1]), dtype=np.uint32)
    # Without a mode `take` would fill a buffer first.
    np.take(source, (hashed >> np.uint64(52)).view(np.int64), axis=0, out=text, mode="clip")
    text[:, :2] = _words(hashed)
    return text.view(np.uint8).reshape(-1)


def record_batch(
    first: int,
    names: npt.NDArray[np.uint8],
    content: npt.NDArray[np.uint8],
    ends: Integers,
    html: bool = False,
) -> pa.RecordBatch:
    """Documents as the readers would yield them: a row of `names` is an id, `ends` says where each
    document of `content` ends; the first one has this number."""
    rows, width = names.shape
    id_offsets = np.arange(rows + 1, dtype=np.int32) * np.int32(width)
    offsets = np.concatenate([np.zeros(1, np.int64), ends])
    position = np.arange(first, first + rows)
    codes = pa.array(np.full(rows, ENCODINGS.index("utf-8"), dtype=np.int8))
    return pa.RecordBatch.from_arrays(
        [
            pa.StringArray.from_buffers(rows, pa.py_buffer(id_offsets), pa.py_buffer(names)),
            pa.nulls(rows, pa.string()),
            pa.Array.from_buffers(
                pa.large_binary(), rows, [None, pa.py_buffer(offsets), pa.py_buffer(content)]
            ),
            pa.array(np.full(rows, html)),
            pa.DictionaryArray.from_arrays(codes, pa.array(ENCODINGS)),
            pa.array(np.zeros(rows, dtype=np.int32)),
            *(pa.array(column) for column in (position, position, position + 1)),
        ],
        schema=SCHEMA,
    )


def names(template: str, numbers: dict[str, Integers]) -> npt.NDArray[np.uint8]:
    """A row of bytes for each document: the template with decimal digits for each character that
    stands for a number."""
    row = np.frombuffer(template.encode("ascii"), np.uint8)
    filled = np.tile(row, (len(next(iter(numbers.values()))), 1))
    for character, column in numbers.items():
        rest = column.copy()
        for digit in np.flatnonzero(row == ord(character))[::-1]:
            filled[:, digit] = ord("0") + rest % 10
            rest //= 10
    return filled
