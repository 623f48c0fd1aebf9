"""Files of simhashes: every form holds what was written, and what is wrong is told."""

import gzip
import json
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given
from hypothesis import strategies as st

from roughly import DocumentError, Simhasher
from roughly.simhashing.simhash_file import (
    form_of,
    hexadecimal,
    is_simhash_file,
    read_simhashes,
    simhash_writer,
)
from roughly.simhashing.simhasher import SimhashBatch

FORMS = {"parquet": "s.parquet", "jsonl": "s.jsonl", "plain": "s.txt"}


def batch(values: list[int | None]) -> SimhashBatch:
    return SimhashBatch(
        Simhasher().parameters,
        np.array([value or 0 for value in values], np.uint64),
        np.array([value is not None for value in values], np.uint32),
        np.arange(len(values), dtype=np.uint32),
    )


def write(path: Path, ids: list[str], values: list[int | None]) -> None:
    with simhash_writer(path, Simhasher().parameters) as writer:
        half = len(ids) // 2
        writer.write(pa.array(ids[:half], pa.string()), batch(values[:half]))
        writer.write(pa.array(ids[half:], pa.string()), batch(values[half:]))


def read(path: Path) -> tuple[list[str], list[int | None]]:
    table = read_simhashes(path)
    values = zip(table.simhashes.tolist(), table.empty.tolist(), strict=True)
    return (
        [table.id(row) for row in range(len(table))],
        [None if none else value for value, none in values],
    )


# Lone surrogates cannot be in an Arrow string; tabs and ends of lines are told apart below.
identifiers = st.text(st.characters(exclude_categories=("Cs", "Cc", "Zl", "Zp")), min_size=1)
simhashes = st.one_of(st.none(), st.integers(0, 2**64 - 1), st.sampled_from([0, 2**64 - 1]))


@pytest.mark.parametrize("form", FORMS)
@given(rows=st.lists(st.tuples(identifiers, simhashes), min_size=1, max_size=9))
def test_what_is_written_is_read(
    form: str, rows: list[tuple[str, int | None]], tmp_path_factory: pytest.TempPathFactory
) -> None:
    path = tmp_path_factory.mktemp("form") / FORMS[form]
    ids, values = [row[0] for row in rows], [row[1] for row in rows]
    write(path, ids, values)
    assert is_simhash_file(path)
    assert read(path) == (ids, values)
    assert not list(path.parent.glob(".*"))


def test_text_forms_by_hand(tmp_path: Path) -> None:
    ids, values = ['a"b', "c\td", "e"], [0xAB, None, 2**64 - 1]
    for name, text in {
        "s.jsonl": '{"id": "a\\"b", "simhash": "00000000000000ab", "tokens": 0}\n'
        '{"id": "c\\td", "simhash": null, "tokens": 0}\n'
        '{"id": "e", "simhash": "ffffffffffffffff", "tokens": 1}\n',
        "s.txt": '00000000000000ab\ta"b\n-\tc d\nffffffffffffffff\te\n',
    }.items():
        write(tmp_path / name, ids, values)
        assert (tmp_path / name).read_text() == text


def test_binary_by_hand(tmp_path: Path) -> None:
    path = tmp_path / "s.u64"
    write(path, ["a", "b", "c"], [1, None, 2**63])
    assert path.read_bytes() == bytes([1, *[0] * 14, 128])
    assert is_simhash_file(path)
    assert read(path) == (["#1", "#2"], [1, 2**63])
    path.write_bytes(b"1234567")
    assert not is_simhash_file(path)
    with pytest.raises(DocumentError, match="it has 7 bytes, wanted a multiple of 8"):
        read_simhashes(path)


def test_parquet_has_types_and_parameters(tmp_path: Path) -> None:
    path = tmp_path / "s.parquet"
    write(path, ["a", "b"], [2**63, None])
    table = pq.read_table(path)
    assert table.schema.names == ["id", "simhash", "tokens"]
    assert table["simhash"].type == pa.uint64()
    assert table["simhash"].to_pylist() == [2**63, None]
    assert read_simhashes(path).parameters == Simhasher().parameters


def test_other_writers(tmp_path: Path) -> None:
    """Signed numbers, no ids, upper case, Windows lines, compression, other fields."""
    signed = tmp_path / "signed.parquet"
    pq.write_table(pa.table({"simhash": pa.array([-1, None, 5], pa.int64())}), signed)
    assert read(signed) == (["#1", "#2", "#3"], [2**64 - 1, None, 5])
    digits = tmp_path / "digits.parquet"
    pq.write_table(pa.table({"id": [7], "simhash": ["00000000000000FF"]}), digits)
    assert read(digits) == (["7"], [255])
    plain = tmp_path / "plain.txt"
    plain.write_bytes(b"00000000000000Ff\r\n-\r\n0000000000000001")
    assert read(plain) == (["#1", "#2", "#3"], [255, None, 1])
    packed = tmp_path / "rows.jsonl.gz"
    packed.write_bytes(gzip.compress(b'{"simhash": "000000000000000a", "url": "x", "id": "i"}\n'))
    assert is_simhash_file(packed)
    assert read(packed) == (["i"], [10])


@pytest.mark.parametrize(
    ("name", "data", "why"),
    [
        ("a.txt", b"00000000000000ab\nxyz\n", "row 2: 'xyz' is none"),
        ("a.txt", b"0000000000000gab\n", "row 1"),
        ("a.jsonl", b'{"simhash": "12"}\n', "row 1: '12' is none"),
        ("a.jsonl", b"not json\n", "no simhashes"),
        ("a.parquet", b"PAR1", "no simhashes"),
    ],
)
def test_wrong_files(name: str, data: bytes, why: str, tmp_path: Path) -> None:
    path = tmp_path / name
    path.write_bytes(data)
    with pytest.raises(DocumentError, match=why):
        read_simhashes(path)


def test_other_files_are_none(tmp_path: Path) -> None:
    other = tmp_path / "other.parquet"
    pq.write_table(pa.table({"text": ["a"]}), other)
    with pytest.raises(DocumentError, match="it has the columns text, wanted simhash"):
        read_simhashes(other)
    documents = tmp_path / "documents.jsonl"
    documents.write_text(json.dumps({"id": "a", "text": "b"}))
    text = tmp_path / "text.txt"
    text.write_text("Deadbeef, said the cow.")
    for path in (other, documents, text, tmp_path / "missing", tmp_path):
        assert not is_simhash_file(path)
    with pytest.raises(DocumentError, match="no such file"):
        read_simhashes(tmp_path / "missing.parquet")


def test_a_failed_write_leaves_nothing(tmp_path: Path) -> None:
    path = tmp_path / "s.txt"
    with pytest.raises(ZeroDivisionError), simhash_writer(path, Simhasher().parameters):
        raise ZeroDivisionError
    assert not list(tmp_path.iterdir())
    with (
        pytest.raises(DocumentError, match="compressed simhashes are not to be had"),
        simhash_writer(tmp_path / "s.jsonl.gz", Simhasher().parameters),
    ):
        pass


def test_forms() -> None:
    named = {
        "a.parquet": "parquet",
        "A.JSONL": "jsonl",
        "a.json.gz": "jsonl",
        "a": "plain",
        "b.u64": "binary",
    }
    assert {name: form_of(name) for name in named} == named
    assert hexadecimal(np.array([1, 2**64 - 1], np.uint64)).to_pylist() == [
        "0" * 15 + "1",
        "f" * 16,
    ]
