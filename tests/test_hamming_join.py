"""Joins find every pair once, in order, from every kind of file, in any share of its chunks."""

from pathlib import Path

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.feather as feather
import pyarrow.parquet as pq
import pytest
from hypothesis import given
from hypothesis import strategies as st

from roughly import HammingIndex, _core
from roughly.errors import DamageError, DocumentError, MismatchError, ParameterError
from roughly.hamming import JoinedChunk, SimhashFile, join, write_compressed
from tests.core import LEVELS
from tests.reference import hamming as reference
from tests.strategy_hamming import clustered

pytestmark = pytest.mark.core


def random(count: int, seed: int) -> npt.NDArray[np.uint64]:
    return np.random.default_rng(seed).integers(0, 2**64, count, np.uint64)


def pairs(chunks: list[JoinedChunk]) -> list[tuple[int, int]]:
    """(query, stored), in the order they came."""
    return [
        (q, s) for c in chunks for q, s in zip(c.query.tolist(), c.stored.tolist(), strict=True)
    ]


@given(st.data(), st.sampled_from([64, 33, 9]), st.sampled_from([0, 1, 3, 5, 10]))
def test_every_pair_once(data: st.DataObject, bits: int, k: int) -> None:
    queries = data.draw(clustered(bits, flips=k + 1))
    stored = data.draw(clustered(bits, flips=k + 1))
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("ROUGHLY_SIMD", data.draw(st.sampled_from(LEVELS)))
        found = list(join(queries, stored, k, bits=bits))
    wanted = reference.join(queries, stored, k)
    assert pairs(found) == sorted(wanted, key=lambda pair: (pair[1], pair[0]))
    for chunk in found:
        assert chunk.query_simhash.tolist() == [queries[q] for q in chunk.query.tolist()]
        assert chunk.stored_simhash.tolist() == [stored[s] for s in chunk.stored.tolist()]
        assert chunk.distance.tolist() == [
            reference.distance(a, b)
            for a, b in zip(
                chunk.query_simhash.tolist(), chunk.stored_simhash.tolist(), strict=True
            )
        ]


@pytest.mark.parametrize("blocks", [1, 2, 3, 4])
def test_every_number_of_blocks(blocks: int) -> None:
    """Many queries, more than one slice of stored values, on two threads."""
    queries, stored = random(2000, 1), random(40_000, 2)
    stored[::20] = queries ^ np.uint64(0b111 << 30)
    stored[1::20] = queries ^ np.uint64(0b1111 << 30)  # too far
    tables = _core.HammingJoin(queries, 64, 3, blocks, 2)
    rows = tables.probe(stored, 1000, 2)
    assert rows.tolist() == [[1000 + 20 * i, i] for i in range(2000)]


def chunk_files(tmp_path: Path, values: npt.NDArray[np.uint64]) -> dict[str, Path]:
    """The same simhashes in every kind of file; they are sorted, so that positions agree."""
    paths = {kind: tmp_path / f"stored.{kind}" for kind in ("u64", "xor", "parquet", "arrow")}
    values.tofile(paths["u64"])
    write_compressed(paths["xor"], values)
    table = pa.table({"id": [f"d{i}" for i in range(len(values))], "simhash": values})
    pq.write_table(table, paths["parquet"])
    feather.write_feather(table, paths["arrow"])
    return paths


def test_every_kind_of_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("roughly.hamming.simhash_file.CHUNK_BYTES", 8192)
    values = np.sort(random(10_000, 3))
    values[5000:5010] = values[5000]
    queries = random(100, 4)
    queries[:50] = values[::200] ^ np.uint64(0b10101)
    queries[50] = values[5000]
    wanted = pairs(list(join(queries, values)))
    assert len(wanted) == 50 + 10 + 9  # one of the 50 meets the ten equal ones
    for kind, path in chunk_files(tmp_path, values).items():
        file = SimhashFile(path)
        assert (file.count, (file.read() == values).all()) == (10_000, True)
        assert pairs(list(join(queries, file, threads=2))) == wanted, kind
        # The chunks' answers put one behind the other are the whole answer.
        assert file.chunks > 3
        shares = [
            pair
            for number in range(file.chunks)
            for pair in pairs(list(join(queries, file, begin_chunk=number, end_chunk=number + 1)))
        ]
        assert shares == wanted


def test_signed_columns_are_bits(tmp_path: Path) -> None:
    path = tmp_path / "a.parquet"
    pq.write_table(pa.table({"h": pa.array([-1, 5], pa.int64())}), path)
    assert SimhashFile(path).read().tolist() == [2**64 - 1, 5]
    assert SimhashFile(path, "h").count == 2


def test_missing_simhashes_are_nobody_s_match(tmp_path: Path) -> None:
    """Documents without features have no simhash, and keep their places."""
    queries = pa.array([None, 7, 0, None], pa.uint64())
    pq.write_table(pa.table({"simhash": queries, "id": list("abcd")}), tmp_path / "a.parquet")
    (tmp_path / "b.jsonl").write_text(
        "".join(
            f'{{"id": "{i}", "simhash": {x}}}\n'
            for i, x in enumerate(["null", '"0000000000000007"', '"0000000000000000"', "null"])
        )
    )
    (tmp_path / "c.txt").write_text("-\ta\n0000000000000007\tb\n0000000000000000\tc\n-\td\n")
    stored = [None, None, 0, 0b11111]
    wanted = [(1, 2), (2, 2), (1, 3)]  # by stored position, then by query
    files = [SimhashFile(tmp_path / name) for name in ("a.parquet", "b.jsonl", "c.txt")]
    for form in (queries, pa.chunked_array([queries]), queries.to_pylist(), *files):
        assert pairs(list(join(form, stored))) == wanted
        assert [(s, q) for q, s in pairs(list(join(stored, form)))] == sorted(wanted)
        index = HammingIndex(form)
        assert index.find(0).tolist() == [1, 2]
        assert index.nearest(0b111) == (1, 7, 0)
        offsets, positions = index.find([0, 2**63 - 1])
        assert (offsets.tolist(), positions.tolist()) == ([0, 2, 2], [1, 2])
        index.save(tmp_path / "index")
        assert HammingIndex.open(tmp_path / "index").find(0).tolist() == [1, 2]


@pytest.mark.parametrize("count", [0, 1, 2, 1000])
@pytest.mark.parametrize("bits", [64, 40, 1])
def test_compression_is_undone(tmp_path: Path, bits: int, count: int) -> None:
    values = random(count, 5) >> np.uint64(64 - bits)
    write_compressed(tmp_path / "a", values, bits)
    assert SimhashFile(tmp_path / "a").read().tolist() == sorted(values.tolist())


@given(clustered(64, 0, 60, 64))
def test_compression_of_anything(values: list[int]) -> None:
    ordered = np.array(sorted(values), np.uint64)
    blocks, keys, ranks, lengths = _core.xor_blocks_encode(ordered, 64)
    assert _core.xor_blocks_decode(blocks, lengths, 64, 1).tolist() == sorted(values)
    assert keys.tolist() == ordered[-1:].tolist()  # one block, whose key is its last value
    assert ranks.tolist() == ([0, len(values)] if values else [0])


def test_a_block_by_hand() -> None:
    """XORs of 4, 5, 7, 7: 1 (place 0), 2 (place 1, then the bit 0), 0 (equal)."""
    ordered = np.array([4, 5, 7, 7], np.uint64)
    blocks, keys, _, lengths = _core.xor_blocks_encode(ordered, 3)
    # Three symbols, each once: one code of one bit and two of two bits.
    assert sorted(lengths[lengths > 0].tolist()) == [1, 2, 2]
    assert keys.tolist() == [7]
    assert len(blocks) == 128
    # 16 bits of count, 3 of the first value.
    assert int(blocks[0]) & 0x7FFFF == 4 | 4 << 16
    # Codes take 1 + 2 + 2 bits and one bit follows: nothing is left beyond.
    assert int(blocks[0]) >> (16 + 3 + 5 + 1) == 0
    assert not blocks[1:].any()


def test_random_simhashes_take_half(tmp_path: Path) -> None:
    """The paper: 'approximately half their sizes' for 2^34; for 2^20 it is 64 - 20 bits and about
    three more."""
    values = np.sort(random(2**18, 6))
    write_compressed(tmp_path / "a", values)
    bits = (tmp_path / "a").stat().st_size * 8 / 2**18
    assert 64 - 18 < bits < 64 - 18 + 5


# --- what is refused ------------------------------------------------------------------------------


def test_damage_is_noticed(tmp_path: Path) -> None:
    path = tmp_path / "a"
    write_compressed(path, random(2000, 1))
    whole = path.read_bytes()
    for place in range(8, len(whole), len(whole) // 40):
        flipped = bytearray(whole)
        flipped[place] ^= 1 << place % 8
        path.write_bytes(flipped)
        with pytest.raises(DamageError, match="damaged"):
            SimhashFile(path).read()
    path.write_bytes(whole[:-1])
    with pytest.raises(DamageError, match="damaged"):
        SimhashFile(path)


@given(st.binary(min_size=1024, max_size=2048), st.binary(min_size=65, max_size=65))
def test_wrong_blocks_are_an_error_or_values(data: bytes, lengths: bytes) -> None:
    """Whatever the bytes are: never a crash."""
    blocks = np.frombuffer(data[: len(data) // 1024 * 1024], np.uint64)
    try:
        _core.xor_blocks_decode(blocks, np.frombuffer(lengths, np.uint8), 64, 1)
    except ValueError as error:
        assert "xor blocks" in str(error)


def test_refused(tmp_path: Path) -> None:
    with pytest.raises(DocumentError, match="no such file"):
        SimhashFile(tmp_path / "none")
    odd = tmp_path / "odd"
    odd.write_bytes(b"12345")
    with pytest.raises(DocumentError, match="it has 5 bytes, wanted a multiple of 8"):
        SimhashFile(odd)
    HammingIndex([1, 2]).save(tmp_path / "index")
    with pytest.raises(DocumentError, match="wanted simhashes"):
        SimhashFile(tmp_path / "index")
    table = tmp_path / "a.parquet"
    pq.write_table(pa.table({"a": [1], "b": [2], "c": ["x"]}), table)
    with pytest.raises(ParameterError, match="no column of simhashes: wanted simhash"):
        SimhashFile(table)
    with pytest.raises(ParameterError, match="no column of simhashes: wanted c"):
        SimhashFile(table, "c")
    table.write_bytes(b"nonsense")
    with pytest.raises(DocumentError, match="cannot read"):
        SimhashFile(table)
    write_compressed(tmp_path / "small", np.array([1, 2], np.uint64), 8)
    with pytest.raises(MismatchError, match="8 bits, wanted 64"):
        list(join([1], SimhashFile(tmp_path / "small")))
    with pytest.raises(ParameterError, match="k: out of range: 11"):
        list(join([1], [1], 11))
    with pytest.raises(ParameterError, match="simhash: out of range: 300"):
        list(join([1], np.array([300], np.uint64), bits=8))
