"""CRC32C: the vectors of RFC 3720, a bit-by-bit reference, and every instruction set the same."""

import random

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from roughly import _core
from tests import core

pytestmark = pytest.mark.core

levels = pytest.mark.parametrize("simd", core.LEVELS)

# RFC 3720, B.4; the first is the check value of Williams's catalogue.
READ_COMMAND = bytes.fromhex(
    "01c00000 00000000 00000000 00000000 14000000 00000400"
    "00000014 00000018 28000000 00000000 02000000 00000000"
)
VECTORS = [
    (b"123456789", 0xE3069283),
    (b"", 0),
    (bytes(32), 0x8A9136AA),
    (b"\xff" * 32, 0x62A8AB43),
    (bytes(range(32)), 0x46DD794E),
    (bytes(range(31, -1, -1)), 0x113FDB5C),
    (READ_COMMAND, 0xD9963A56),
]


def reference(data: bytes) -> int:
    """Division by the polynomial, a bit at a time."""
    state = 0xFFFFFFFF
    for byte in data:
        state ^= byte
        for _ in range(8):
            state = state >> 1 ^ (0x82F63B78 if state & 1 else 0)
    return state ^ 0xFFFFFFFF


@levels
@pytest.mark.parametrize(("data", "expected"), VECTORS)
def test_known_vectors(data: bytes, expected: int, simd: str) -> None:
    assert reference(data) == expected
    assert _core.crc32c(data, simd=simd) == expected


@levels
@given(data=st.binary(max_size=2000), begin=st.integers(0, 9))
def test_is_the_reference(data: bytes, begin: int, simd: str) -> None:
    """At any place in memory, and of any length, several short lanes included."""
    assert _core.crc32c(memoryview(data)[begin:], simd=simd) == reference(data[begin:])


# The kernel has lanes of 4,096 and of 128 bytes, three of them at a time.
LENGTHS = [3 * 128, 3 * 4096, 3 * 4096 + 3 * 128, 65536, 6 * 4096]


@pytest.mark.parametrize("length", [n + d for n in LENGTHS for d in (-9, -8, -1, 0, 1, 7, 8)])
def test_instruction_sets_agree(length: int) -> None:
    data = random.Random(length).randbytes(length)
    found = {_core.crc32c(data, simd=simd) for simd in core.LEVELS}
    assert found == {_core.crc32c(data[200:], reference(data[:200]), simd="plain")}


def test_plain_is_the_reference_on_a_block() -> None:
    data = random.Random(5).randbytes(65536)
    assert _core.crc32c(data, simd="plain") == reference(data)


@levels
@given(data=st.binary(max_size=1500), cut=st.integers(0, 1500))
def test_goes_on_from_a_checksum(data: bytes, cut: int, simd: str) -> None:
    before = _core.crc32c(data[:cut], simd=simd)
    assert _core.crc32c(data[cut:], before, simd) == _core.crc32c(data)


@levels
@given(data=st.binary(max_size=300), block=st.integers(1, 400), threads=st.sampled_from([1, 2, 5]))
def test_blocks(data: bytes, block: int, threads: int, simd: str) -> None:
    expected = [reference(data[i : i + block]) for i in range(0, len(data), block)]
    found = _core.crc32c_blocks(data, block, threads, simd)
    assert found.dtype == np.uint32
    assert found.tolist() == expected


def test_any_buffer_will_do() -> None:
    data = bytes(range(100))
    buffers = [bytearray(data), memoryview(data), np.frombuffer(data, np.uint32)]
    assert {_core.crc32c(buffer) for buffer in buffers} == {reference(data)}


def test_what_is_refused() -> None:
    with pytest.raises(TypeError):
        _core.crc32c("text")
    with pytest.raises(BufferError):
        _core.crc32c(memoryview(bytes(10))[::2])
    with pytest.raises(ValueError, match="block_bytes: out of range: 0"):
        _core.crc32c_blocks(b"abc", 0, 1)
