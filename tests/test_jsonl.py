"""The JSON Lines kernel against the standard library."""

import json
from typing import Any

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from roughly import _core
from tests import core

pytestmark = pytest.mark.core

MISSING, STRING, NULL, SCALAR, NESTED = range(5)
FIELDS = ["text", "id", "näme"]


def read(data: bytes) -> list[tuple[bytes, bool, list[tuple[int, bytes]]]]:
    """Of every line: its bytes, whether it is wrong, and kind and bytes of each field."""
    found = _core.jsonl_columns(data, FIELDS)
    columns = [found.column(i) for i in range(len(FIELDS))]
    rows = []
    for row, (begin, end) in enumerate(zip(found.line_begin, found.line_end, strict=True)):
        fields = [
            (int(kind[row]), values[offsets[row] : offsets[row + 1]].tobytes())
            for offsets, values, kind in columns
        ]
        rows.append((data[begin:end], bool(found.error[row]), fields))
    return rows


def expected_field(line: dict[str, Any], name: str) -> tuple[int, bytes | None]:
    """Kind and bytes; None where the bytes are the value's own spelling."""
    if name not in line:
        return MISSING, b""
    value = line[name]
    if value is None:
        return NULL, b""
    if isinstance(value, str):
        text = value.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
        return STRING, text.encode()
    return (NESTED if isinstance(value, dict | list) else SCALAR), None


def test_size_ends_the_reading() -> None:
    data = b'{"text": "a"}\n{"text": "b"}\n{"text'
    found = _core.jsonl_columns(data, ["text"], data.rindex(b"\n") + 1)
    assert found.line_end.tolist() == [13, 27]
    assert found.error.tolist() == [0, 0]
    assert _core.jsonl_columns(data, ["text"]).error.tolist() == [0, 0, 1]
    assert _core.jsonl_columns(data, ["text"], 0).error.tolist() == []


keys = st.sampled_from([*FIELDS, "other", "", "te\nxt"]) | st.text(max_size=4)
scalars = st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text()
values = st.recursive(
    scalars,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(keys, inner, max_size=3),
    max_leaves=8,
)


@given(
    st.lists(st.dictionaries(keys, values, max_size=4), max_size=5),
    st.booleans(),
    st.sampled_from([None, 1]),
    st.sampled_from(["\n", "\r\n", "\n\n", " \n\t"]),
)
def test_what_json_writes_is_read_back(
    lines: list[dict[str, Any]], ascii_only: bool, indent: int | None, newline: str
) -> None:
    separators = (",", ":") if indent is None else (" , ", " : ")
    written = [json.dumps(line, ensure_ascii=ascii_only, separators=separators) for line in lines]
    data = newline.join(written).encode("utf-8", "surrogatepass")
    if not ascii_only and any(0xD800 <= ord(c) < 0xE000 for line in written for c in line):
        return  # raw surrogates are no JSON
    rows = read(data)
    assert len(rows) == len(lines)
    for line, (_, wrong, fields) in zip(lines, rows, strict=True):
        assert not wrong
        for name, (kind, found) in zip(FIELDS, fields, strict=True):
            wanted_kind, wanted = expected_field(line, name)
            assert kind == wanted_kind
            if wanted is None:
                assert json.loads(found) == line[name]
            else:
                assert found == wanted


def is_object(line: bytes) -> bool:
    try:
        found = json.loads(line.decode("utf-8", "replace"), strict=False)
    except (ValueError, RecursionError):
        return False
    return isinstance(found, dict)


PIECES = r'{ } [ ] , : " \ text "text" "id": 1 -0 1e5 .5 01 true null nul \x a {} []'
CONSTANTS = "NaN Infinity -Infinity"
ESCAPES = r"\u00e9 \ud83d\ude00 \ud800"
pieces = st.sampled_from([*PIECES.split(), *CONSTANTS.split(), *ESCAPES.split(), " ", "\t"])


@given(st.lists(pieces, max_size=12).map("".join).map(str.encode) | st.binary(max_size=20))
@example(b'{"a":[{}],"text":"x"}')
@example(b'{"a":{"b":[]},"text":[{"c":[1,{"d":{}}]}]}')
@example(b'{"a":[1,]}')
@example(b'{"a":[}]}')
@example(b'{"x":{"a":},"text":"t"}')
@example(b'{"x":[{"a":}]}')
@example(b'{"text":"x"} {}')
@example(b'{"text":"\\ud800\\u0041"}')
@example(b'{"text":"\\ud800\\n"}')
def test_what_json_refuses_is_refused(data: bytes) -> None:
    """Raw control characters in strings are allowed here and there (strict=False)."""
    for line, wrong, fields in read(data):
        assert wrong == (not is_object(line)), line
        assert not wrong or fields == [(MISSING, b"")] * len(FIELDS)


# Escapes of every kind, runs of backslashes, and what must end the reading, with blocks of plain
# bytes between them: so that everything comes to stand at every place of a vector.
long_pieces = st.sampled_from(
    [
        *(rf"\{c}" for c in '"\\/bfnrt'),
        r"\u00e9",
        r"\ud83d\ude00",
        r"\x",
        r"\é",
        "é",
        '"',
        "\\",
        "a",
    ]
) | st.integers(1, 70).map(lambda n: "plain text"[: n % 10] + "b" * n)


@given(st.lists(long_pieces, max_size=24).map("".join), st.integers(0, 64))
@example("a" * 63 + r"\n" + "b" * 70, 0)
@example("a" * 62 + r"\\" + "b" * 70, 0)
@example("a" * 63 + r"\u0041" + "b" * 70, 0)
@example("\\" + r"\ud83d\ude00" * 12, 0)
@example(r"\\" * 40 + '"', 1)
@example(r"\\" * 40 + r"\x", 1)
def test_long_strings(inside: str, before: int) -> None:
    line = (" " * before + '{"text":"' + inside + '"}').encode()
    found = [
        (columns.error.tolist(), columns.column(0)[2].tolist(), columns.column(0)[1].tobytes())
        for columns in (_core.jsonl_columns(line, ["text"], simd=level) for level in core.LEVELS)
    ]
    kind, text = expected_field({}, "text")
    if is_object(line):
        kind, text = expected_field(json.loads(line, strict=False), "text")
    wanted = ([int(not is_object(line))], [kind], text)
    assert found == [wanted] * len(found)


def test_lines() -> None:
    assert [line for line, _, _ in read(b'\n \n{"a":1}\n\r\n{"b":2}')] == [b'{"a":1}', b'{"b":2}']
    assert read(b"") == []


def test_the_last_of_repeated_keys_counts() -> None:
    ((_, _, fields),) = read(b'{"text":"a long first value","text":"second","id":1,"id":null}')
    assert fields == [(STRING, b"second"), (NULL, b""), (MISSING, b"")]


def test_deep_and_long() -> None:
    """Deeper than any stack, and escapes by the million: linear, or this would not end."""
    deep = b'{"text":' + b"[" * 2_000_000 + b"]" * 2_000_000 + b"}"
    ((_, wrong, fields),) = read(deep)
    assert not wrong and fields[0] == (NESTED, deep[8:-1])
    ((_, wrong, fields),) = read(b'{"text":"' + b"\\n" * 3_000_000 + b'"}')
    assert not wrong and fields[0] == (STRING, b"\n" * 3_000_000)
    ((_, wrong, fields),) = read(b'{"text":"' + b"\\n" * 3_000_000)
    assert wrong
