from collections.abc import Sequence
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

def tokenize(data: bytes, html: bool, simd: str = '') -> tuple[bytes, Annotated[NDArray[numpy.uint32], dict(shape=(None,), order='C', writable=False)]]:
    """
    Canonical form, and one past the last byte of each token in it (a space stands there).
    """

def token_spans(data: bytes, html: bool) -> Annotated[NDArray[numpy.uint64], dict(shape=(None, None), order='C', writable=False)]:
    """For each token, the bytes of `data` it came from: begin and end."""

def html_batch(source: object, threads: int) -> tuple[Annotated[NDArray[numpy.uint8], dict(shape=(None,), order='C', writable=False)], Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', writable=False)]]:
    """The texts of a batch of HTML documents: bytes and offsets."""

def token_batch(source: object, content_type: str, threads: int, simd: str = '') -> tuple[Annotated[NDArray[numpy.uint8], dict(shape=(None,), order='C', writable=False)], Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', writable=False)]]:
    """The canonical forms of a batch of documents: bytes and offsets."""

def shingle_batch(source: object, w: int, bits: int, seed: int, content_type: str, threads: int, simd: str = '') -> tuple[Annotated[NDArray[numpy.uint64], dict(shape=(None,), order='C', writable=False)], Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', writable=False)]]:
    """
    The fingerprints of a batch of documents, in document order: values and offsets.
    """

class SketchColumns:
    """Sketches of a batch, a row a document."""

    @property
    def values(self) -> Annotated[NDArray[numpy.uint64], dict(shape=(None,), order='C', writable=False)]:
        """Sketches, one after the other."""

    @property
    def offsets(self) -> Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', writable=False)]:
        """Where each sketch begins; one more than rows."""

    @property
    def size(self) -> Annotated[NDArray[numpy.uint32], dict(shape=(None,), order='C', writable=False)]:
        """Distinct shingles."""

    @property
    def tokens(self) -> Annotated[NDArray[numpy.uint32], dict(shape=(None,), order='C', writable=False)]:
        """Tokens."""

    @property
    def level(self) -> Annotated[NDArray[numpy.uint8], dict(shape=(None,), order='C', writable=False)]:
        """Level of adaptive sketches, else 0."""

    @property
    def content(self) -> Annotated[NDArray[numpy.uint64], dict(shape=(None, None), order='C', writable=False)]:
        """Hash of the bytes, high and low half."""

    @property
    def canonical(self) -> Annotated[NDArray[numpy.uint64], dict(shape=(None, None), order='C', writable=False)]:
        """Hash of the canonical form, high and low half."""

    @property
    def sketch(self) -> Annotated[NDArray[numpy.uint64], dict(shape=(None, None), order='C', writable=False)]:
        """Hash of the sketch, high and low half."""

def sketch_batch(source: object, w: int, bits: int, select: str, parameter: int, seed: int, content_type: str, threads: int, simd: str = '', html: Annotated[NDArray[numpy.uint8], dict(shape=(None,), order='C', device='cpu', writable=False)] | None = None) -> SketchColumns:
    """
    Sketches of a list of bytes or an Arrow array of strings or binary. `html` says of every document whether it is HTML, instead of the content type.
    """

def sketch_features(source: object, w: int, bits: int, select: str, parameter: int, seed: int, simd: str = '') -> SketchColumns:
    """The sketch of one object with these features, as one row."""

def fingerprints(data: bytes, html: bool, w: int, bits: int, seed: int, simd: str = '') -> Annotated[NDArray[numpy.uint64], dict(shape=(None,), order='C', writable=False)]:
    """Fingerprint of every shingle in document order, repeats kept."""

def super_shingles(values: Annotated[NDArray[numpy.uint64], dict(shape=(None,), order='C', device='cpu', writable=False)], length: int, grouped: bool, seed: int) -> Annotated[NDArray[numpy.uint64], dict(shape=(None,), order='C', writable=False)]:
    """
    Hashes of `length` consecutive values, at every position or group by group.
    """

def passages(a: bytes, a_html: bool, b: bytes, b_html: bool, w: int) -> Annotated[NDArray[numpy.uint32], dict(shape=(None, None), order='C', writable=False)]:
    """
    Runs of common shingles, ascending in a: first token in a, first token in b, tokens.
    """

def common_tokens(a: bytes, a_html: bool, b: bytes, b_html: bool, w: int) -> Annotated[NDArray[numpy.uint8], dict(shape=(None,), order='C', writable=False)]:
    """
    For every token of a, 1 if it lies in a shingle that b has too, else 0.
    """

def content_hash(data: bytes, simd: str = '') -> str:
    """The equivalence hash of a byte string, 32 hexadecimal digits."""

def join(values: Annotated[NDArray[numpy.uint64], dict(shape=(None,), order='C', device='cpu', writable=False)], offsets: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)], size: Annotated[NDArray[numpy.uint32], dict(shape=(None,), order='C', device='cpu', writable=False)], level: Annotated[NDArray[numpy.uint8], dict(shape=(None,), order='C', device='cpu', writable=False)], numerator: int, denominator: int, smallest: int, threads: int) -> Annotated[NDArray[numpy.uint32], dict(shape=(None, None), order='C', writable=False)]:
    """
    Pairs of sketches whose resemblance reaches numerator / denominator: a, b, common, sampled.
    """

def measure_pairs(values: Annotated[NDArray[numpy.uint64], dict(shape=(None,), order='C', device='cpu', writable=False)], offsets: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)], size: Annotated[NDArray[numpy.uint32], dict(shape=(None,), order='C', device='cpu', writable=False)], level: Annotated[NDArray[numpy.uint8], dict(shape=(None,), order='C', device='cpu', writable=False)], pairs: Annotated[NDArray[numpy.uint32], dict(shape=(None, 4), order='C', device='cpu', writable=False)], smallest: int, threads: int) -> Annotated[NDArray[numpy.uint32], dict(shape=(None, None), order='C', writable=False)]:
    """The same pairs with their common and sampled elements counted."""

def spanning_forest(pairs: Annotated[NDArray[numpy.uint32], dict(shape=(None, 4), order='C', device='cpu', writable=False)], documents: int) -> Annotated[NDArray[numpy.uint32], dict(shape=(None, None), order='C', writable=False)]:
    """The pairs of a maximum spanning forest, heaviest first."""

def components(links: Annotated[NDArray[numpy.uint32], dict(shape=(None, 4), order='C', device='cpu', writable=False)], documents: int, numerator: int, denominator: int) -> Annotated[NDArray[numpy.uint32], dict(shape=(None,), order='C', writable=False)]:
    """
    For every document the first document of its cluster at that threshold.
    """

class JsonlColumns:
    """Fields of JSON Lines, a row a line that is not blank."""

    @property
    def line_begin(self) -> Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', writable=False)]:
        """First byte of each line."""

    @property
    def line_end(self) -> Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', writable=False)]:
        """One past its last byte, without the newline."""

    @property
    def error(self) -> Annotated[NDArray[numpy.uint8], dict(shape=(None,), order='C', writable=False)]:
        """1 where the line is no JSON object, else 0."""

    def column(self, field: int) -> tuple[Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', writable=False)], Annotated[NDArray[numpy.uint8], dict(shape=(None,), order='C', writable=False)], Annotated[NDArray[numpy.uint8], dict(shape=(None,), order='C', writable=False)]]:
        """
        Offsets, data and kind (0 missing, 1 string, 2 null, 3 number or boolean, 4 nested) of a field.
        """

def jsonl_columns(data: bytes, fields: Sequence[str]) -> JsonlColumns:
    """The named fields of the JSON objects in `data`, one a line."""
