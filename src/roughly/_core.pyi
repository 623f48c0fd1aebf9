from typing import Annotated

import numpy
from numpy.typing import NDArray


def simd_levels() -> list[str]:
    """
    Instruction sets usable on this machine, ascending; all give the same bytes.
    """

def simd_level() -> str:
    """
    The instruction set in use: ROUGHLY_SIMD of the environment, or the best.
    """

def sniff_html(data: bytes) -> bool:
    """Whether a document of unknown type looks like HTML."""

def html_text(data: bytes) -> bytes:
    """The text of an HTML document, block elements separated by newlines."""

def tokenize(data: bytes, html: bool, simd: str = '') -> tuple[bytes, Annotated[NDArray[numpy.uint32], dict(shape=(None,), order='C')]]:
    """
    Canonical form, and one past the last byte of each token in it (a space stands there).
    """

def token_spans(data: bytes, html: bool) -> Annotated[NDArray[numpy.uint64], dict(shape=(None, None), order='C')]:
    """For each token, the bytes of `data` it came from: begin and end."""

class SketchColumns:
    """Sketches of a batch, a row a document."""

    @property
    def values(self) -> Annotated[NDArray[numpy.uint64], dict(shape=(None,), order='C')]:
        """Sketches, one after the other."""

    @property
    def offsets(self) -> Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C')]:
        """Where each sketch begins; one more than rows."""

    @property
    def size(self) -> Annotated[NDArray[numpy.uint32], dict(shape=(None,), order='C')]:
        """Distinct shingles."""

    @property
    def tokens(self) -> Annotated[NDArray[numpy.uint32], dict(shape=(None,), order='C')]:
        """Tokens."""

    @property
    def level(self) -> Annotated[NDArray[numpy.uint8], dict(shape=(None,), order='C')]:
        """Level of adaptive sketches, else 0."""

    @property
    def content(self) -> Annotated[NDArray[numpy.uint64], dict(shape=(None, None), order='C')]:
        """Hash of the bytes, high and low half."""

    @property
    def canonical(self) -> Annotated[NDArray[numpy.uint64], dict(shape=(None, None), order='C')]:
        """Hash of the canonical form, high and low half."""

def sketch_batch(source: object, w: int, bits: int, select: str, parameter: int, seed: int, content_type: str, threads: int, simd: str = '') -> SketchColumns:
    """Sketches of a list of bytes or an Arrow array of strings or binary."""

def sketch_features(source: object, w: int, bits: int, select: str, parameter: int, seed: int, simd: str = '') -> SketchColumns:
    """The sketch of one object with these features, as one row."""

def fingerprints(data: bytes, html: bool, w: int, bits: int, seed: int, simd: str = '') -> Annotated[NDArray[numpy.uint64], dict(shape=(None,), order='C')]:
    """Fingerprint of every shingle in document order, repeats kept."""

def super_shingles(values: Annotated[NDArray[numpy.uint64], dict(shape=(None,), order='C', device='cpu', writable=False)], length: int, grouped: bool, seed: int) -> Annotated[NDArray[numpy.uint64], dict(shape=(None,), order='C')]:
    """
    Hashes of `length` consecutive values, at every position or group by group.
    """

def passages(a: bytes, a_html: bool, b: bytes, b_html: bool, w: int) -> Annotated[NDArray[numpy.uint32], dict(shape=(None, None), order='C')]:
    """
    Runs of common shingles, ascending in a: first token in a, first token in b, tokens.
    """

def common_tokens(a: bytes, a_html: bool, b: bytes, b_html: bool, w: int) -> Annotated[NDArray[numpy.uint8], dict(shape=(None,), order='C')]:
    """
    For every token of a, 1 if it lies in a shingle that b has too, else 0.
    """

def content_hash(data: bytes, simd: str = '') -> str:
    """The equivalence hash of a byte string, 32 hexadecimal digits."""
