"""OUT.removals.jsonl: for every document that went the one that stays in its place, and why.

    {"removed": id, "kept": id, "kind": "near", "resemblance": 0.83, "containment": 0.9}

A line a document, in input order; ids are made of text, so all but a few need no escapes. Where
simhashes play a part, each line has the `"distance"` of the two in bits; where documents are held
against a corpus, it says too where the one that stays is: `"kept_in": "corpus"` or `"input"`.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa

from roughly.condition import NO_SIMHASH
from roughly.deduplication.removal import KINDS, Removals
from roughly.url import host_of

if TYPE_CHECKING:
    from roughly.verification.column import Columns

SCHEMA = pa.schema(
    [
        pa.field("removed", pa.string(), nullable=False),  # id of the document that goes
        pa.field("kept", pa.string(), nullable=False),  # id of the one that stays
        pa.field("kind", pa.string(), nullable=False),  # a word of KINDS
        # of the two, and share of removed's shingles in kept; null where sketches cannot tell
        pa.field("resemblance", pa.float64()),
        pa.field("containment", pa.float64()),
    ]
)

# bits in which their simhashes differ; null where they have none
_DISTANCE = pa.field("distance", pa.uint8())
_KEPT_IN = pa.field("kept_in", pa.string(), nullable=False)
_PLACES = pa.array(["input", "corpus"])

# What a JSON string cannot hold as it is.
_SPECIAL = r'["\\\x00-\x1f]'
# Some kilobytes a row while lines are put together.
_ROWS = 1 << 13


def schema_of(removals: Removals, corpus: Columns | None) -> pa.Schema:
    """The schema of removals, with or without distances, of documents that were held against a
    corpus or not."""
    schema = SCHEMA if removals.distance is None else SCHEMA.append(_DISTANCE)
    return schema if corpus is None else schema.append(_KEPT_IN)


def removal_tables(
    removals: Removals, columns: Columns, corpus: Columns | None = None
) -> Iterator[pa.Table]:
    """The removals as tables of some thousand rows at most; `columns` are those of the
    documents, `corpus` those of what they were held against."""
    names = pa.array(KINDS)
    schema = schema_of(removals, corpus)
    for begin in range(0, len(removals), _ROWS):
        part = slice(begin, begin + _ROWS)
        resemblance, containment = removals.resemblance[part], removals.containment[part]
        found = [
            columns.take("id", removals.removed[part]),
            _kept_ids(removals, part, columns, corpus),
            names.take(pa.array(removals.kind[part])),
            pa.array(resemblance, mask=np.isnan(resemblance)),
            pa.array(containment, mask=np.isnan(containment)),
        ]
        if removals.distance is not None:
            distance = removals.distance[part]
            found.append(pa.array(distance, mask=distance == NO_SIMHASH))
        if corpus is not None:
            found.append(_PLACES.take(pa.array(removals.in_corpus[part].astype(np.int8))))
        columns.release()
        yield pa.table(found, schema=schema)


def count_sites(
    removals: Removals, columns: Columns, corpus: Columns | None = None
) -> tuple[int, int]:
    """Of how many removals both documents are of one site, and of how many of two; a document that
    is known by no URL is of none."""
    import pyarrow.compute as pc

    same = cross = 0
    for begin in range(0, len(removals), _ROWS):
        part = slice(begin, begin + _ROWS)
        one = host_of(columns.take("id", removals.removed[part]))
        two = host_of(_kept_ids(removals, part, columns, corpus))
        equal = pc.equal(one, two)
        same += equal.true_count
        cross += equal.false_count
        columns.release()
    return same, cross


def _kept_ids(
    removals: Removals, part: slice, columns: Columns, corpus: Columns | None
) -> pa.Array:
    kept, in_corpus = removals.kept[part], removals.in_corpus[part]
    if corpus is None:
        return columns.take("id", kept)
    found = pa.concat_arrays(
        [columns.take("id", kept[~in_corpus]), corpus.take("id", kept[in_corpus])]
    )
    back = np.argsort(np.argsort(in_corpus, kind="stable"), kind="stable")
    return found.take(pa.array(back))


def removal_lines(
    removals: Removals, columns: Columns, corpus: Columns | None = None
) -> Iterator[bytes]:
    """The same as JSON Lines, some at a time."""
    import pyarrow.compute as pc

    join: Any = pc.binary_join_element_wise
    for table in removal_tables(removals, columns, corpus):
        more: list[Any] = []
        if removals.distance is not None:
            bits = pc.fill_null(table["distance"].cast(pa.string()), "null")
            more += [', "distance": ', bits]
        if corpus is not None:
            more += [', "kept_in": "', table["kept_in"], '"']
        rows = join(
            '{"removed": ',
            _quoted(table["removed"]),
            ', "kept": ',
            _quoted(table["kept"]),
            ', "kind": "',
            table["kind"],
            '", "resemblance": ',
            pc.fill_null(table["resemblance"].cast(pa.string()), "null"),
            ', "containment": ',
            pc.fill_null(table["containment"].cast(pa.string()), "null"),
            *more,
            "}\n",
            "",
        )
        for chunk in rows.chunks:
            yield _bytes(chunk.cast(pa.large_string()))


def _quoted(column: pa.ChunkedArray) -> pa.ChunkedArray:
    import pyarrow.compute as pc

    special = pc.match_substring_regex(column, _SPECIAL)
    quoted = pc.binary_join_element_wise('"', column, '"', "")
    if not pc.any(special).as_py():
        return quoted
    escaped = [json.dumps(id, ensure_ascii=False) for id in column.filter(special).to_pylist()]
    return pc.replace_with_mask(
        quoted.combine_chunks(), special.combine_chunks(), pa.array(escaped)
    )


def _bytes(column: pa.Array) -> bytes:
    offsets = np.frombuffer(column.buffers()[1], np.int64)
    begin, end = offsets[column.offset], offsets[column.offset + len(column)]
    data: pa.Buffer = column.buffers()[2]
    raw: bytes = data[int(begin) : int(end)].to_pybytes()
    return raw
