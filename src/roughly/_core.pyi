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

def token_batch(source: object, content_type: str, threads: int, simd: str = '', rows: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)] | None = None) -> tuple[Annotated[NDArray[numpy.uint8], dict(shape=(None,), order='C', writable=False)], Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', writable=False)]]:
    """
    The canonical forms of a batch of documents, or of these rows of it: bytes and offsets.
    """

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

def sketch_batch(source: object, w: int, bits: int, select: str, parameter: int, seed: int, content_type: str, threads: int, simd: str = '', html: Annotated[NDArray[numpy.uint8], dict(shape=(None,), order='C', device='cpu', writable=False)] | None = None, words: int = 0, hashes: bool = True) -> SketchColumns:
    """
    Sketches of a list of bytes or an Arrow array of strings or binary. `html` says of every document whether it is HTML, instead of the content type; documents of fewer shingles than `words` have single words too. Without `hashes` there are none.
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

def same_documents(source: object, a: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)], b: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)]) -> Annotated[NDArray[numpy.uint8], dict(shape=(None,), order='C', writable=False)]:
    """
    For every pair of documents, given by their numbers, 1 if their bytes are the same, else 0.
    """

def content_hash(data: bytes, simd: str = '') -> str:
    """The equivalence hash of a byte string, 32 hexadecimal digits."""

def content_hashes(source: object, threads: int) -> Annotated[NDArray[numpy.uint64], dict(shape=(None, None), order='C', writable=False)]:
    """
    The equivalence hashes of a batch of documents, as they are: their two halves.
    """

def distinct(numbers: Annotated[NDArray[numpy.uint64], dict(shape=(None,), order='C', device='cpu', writable=False)], bits: int) -> tuple[Annotated[NDArray[numpy.uint64], dict(shape=(None,), order='C', writable=False)], Annotated[NDArray[numpy.uint32], dict(shape=(None,), order='C', writable=False)], Annotated[NDArray[numpy.uint32], dict(shape=(None,), order='C', writable=False)]]:
    """
    The distinct numbers, ascending, how often each is there, and the place of every number among them.
    """

class DocumentSets:
    """Documents that links have put together so far."""

    def __init__(self, documents: int) -> None: ...

    def add(self, pairs: Annotated[NDArray[numpy.uint32], dict(shape=(None, 4), order='C', device='cpu', writable=False)]) -> Annotated[NDArray[numpy.uint32], dict(shape=(None, None), order='C', writable=False)]:
        """Those pairs, heaviest first, that put together what was apart."""

    def first(self) -> Annotated[NDArray[numpy.uint32], dict(shape=(None,), order='C', writable=False)]:
        """For every document the first of those it was put together with."""

def spanning_forest(pairs: Annotated[NDArray[numpy.uint32], dict(shape=(None, 4), order='C', device='cpu', writable=False)], documents: int) -> Annotated[NDArray[numpy.uint32], dict(shape=(None, None), order='C', writable=False)]:
    """The pairs of a maximum spanning forest, heaviest first."""

def components(links: Annotated[NDArray[numpy.uint32], dict(shape=(None, 4), order='C', device='cpu', writable=False)], documents: int, numerator: int, denominator: int) -> Annotated[NDArray[numpy.uint32], dict(shape=(None,), order='C', writable=False)]:
    """
    For every document the first document of its cluster at that threshold.
    """

def stars(pairs: Annotated[NDArray[numpy.uint32], dict(shape=(None, 4), order='C', device='cpu', writable=False)], documents: int, numerator: int, denominator: int) -> Annotated[NDArray[numpy.uint32], dict(shape=(None,), order='C', writable=False)]:
    """For every document the centre of its star at that threshold."""

class SketchSet:
    """Sketches in chunks, and those of them that take part in a join."""

    def __init__(self, chunks: Sequence[tuple[Annotated[NDArray[numpy.uint64], dict(shape=(None,), order='C', device='cpu', writable=False)], Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)]]], chunk_rows: int, rows: Annotated[NDArray[numpy.uint32], dict(shape=(None,), order='C', device='cpu', writable=False)], size: Annotated[NDArray[numpy.uint32], dict(shape=(None,), order='C', device='cpu', writable=False)], level: Annotated[NDArray[numpy.uint8], dict(shape=(None,), order='C', device='cpu', writable=False)], smallest: int, files: Sequence[tuple[int, int]] = [], words: bool = False, shingles_only: bool = False, visits: Annotated[NDArray[numpy.uint32], dict(shape=(None,), order='C', device='cpu', writable=False)] | None = None) -> None:
        """
        chunks: (values, offsets) of chunk_rows rows each; rows: those that take part, in document order; size, level: of all rows; smallest: the K of min:K, else 0; files: open file, which is closed in the end, and first byte of every chunk's values; words: whether short documents have words, which count for resemblance unless shingles_only; visits: the documents in the order of their rows, which is found if it is not given.
        """

    @property
    def reads_files(self) -> bool:
        """
        Whether single sketches are read from their files, and not used in place.
        """

    def elements(self) -> int:
        """Elements of all documents that take part."""

    def use_frequencies(self, frequencies: Sequence[Annotated[NDArray[numpy.uint8], dict(shape=(None,), order='C', device='cpu', writable=False)]]) -> None:
        """Takes the frequencies, an array for each chunk, for what follows."""

    def use_condition(self, category: Annotated[NDArray[numpy.uint64], dict(shape=(None,), order='C', device='cpu', writable=False)] | None, simhash: Annotated[NDArray[numpy.uint64], dict(shape=(None,), order='C', device='cpu', writable=False)] | None, distance: int, least_size: tuple[int, int]) -> None:
        """
        Only comparable documents are joined, or have hubs: of one category (a hash for every row), with simhashes (for every row) that differ in at most `distance` bits, and of sizes of which the smaller is at least that ratio of the larger; 0 for any.
        """

    def postings(self, measure: str, floor: tuple[int, int], level: int, begin: int, end: int, smallest_native: int, visited: bool, threads: int, counts: Annotated[NDArray[numpy.uint32], dict(shape=(None,), order='C', device='cpu')], bounds: Annotated[NDArray[numpy.uint32], dict(shape=(None,), order='C', device='cpu')], signatures: Annotated[NDArray[numpy.uint64], dict(shape=(None, 8), order='C', device='cpu')]) -> tuple[Annotated[NDArray[numpy.uint32], dict(shape=(None, None), order='C', writable=False)], Annotated[NDArray[numpy.uint64], dict(shape=(None,), order='C', writable=False)]]:
        """
        Postings (key in the bucket, document, position) by bucket, and where each bucket ends; writes the documents' elements at the level into counts and bounds, which has no fewer before, and what they look like from afar into signatures, if there are any.
        """

    def keyed_postings(self, measure: str, floor: tuple[int, int], level: int, begin: int, end: int, smallest_native: int, visited: bool, threads: int, counts: Annotated[NDArray[numpy.uint32], dict(shape=(None,), order='C', device='cpu')], bounds: Annotated[NDArray[numpy.uint32], dict(shape=(None,), order='C', device='cpu')], signatures: Annotated[NDArray[numpy.uint64], dict(shape=(None, 8), order='C', device='cpu')]) -> tuple[Annotated[NDArray[numpy.uint64], dict(shape=(None, None), order='C', writable=False)], Annotated[NDArray[numpy.uint64], dict(shape=(None,), order='C', writable=False)]]:
        """
        The same for whoever brings them together: whole keys; position and document.
        """

    def frequent_counters(self, least_frequency: int, bits: int, begin: int, end: int, threads: int) -> Annotated[NDArray[numpy.uint64], dict(shape=(None,), order='C', writable=False)]:
        """
        The counters, of 2^bits, of elements of documents from begin to end that have this frequency or a higher one, ascending.
        """

    def release(self, begin: int, end: int) -> None:
        """
        Takes the sketches of documents from begin to end, in the order of rows, and their frequencies out of memory, if it reads files.
        """

    def mass_keys(self, least_frequency: int, keys: int, begin: int, end: int, threads: int) -> tuple[Annotated[NDArray[numpy.uint64], dict(shape=(None,), order='C', writable=False)], Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', writable=False)]]:
        """
        The keys by which masses are found of documents from begin to end, in their order, and where each document's begin.
        """

    def add_expansions(self, lists: tuple[Annotated[NDArray[numpy.uint32], dict(shape=(None,), order='C', device='cpu', writable=False)], Annotated[NDArray[numpy.uint64], dict(shape=(None,), order='C', device='cpu', writable=False)]], expansions: Annotated[NDArray[numpy.uint64], dict(shape=(None,), order='C', device='cpu')]) -> None:
        """Adds to each document how often it comes before another one in a list."""

    def expand(self, lists: Sequence[tuple[Annotated[NDArray[numpy.uint32], dict(shape=(None,), order='C', device='cpu', writable=False)], Annotated[NDArray[numpy.uint64], dict(shape=(None,), order='C', device='cpu', writable=False)]]], mapped: int, counts: Annotated[NDArray[numpy.uint32], dict(shape=(None,), order='C', device='cpu', writable=False)], expansions: Annotated[NDArray[numpy.uint64], dict(shape=(None,), order='C', device='cpu', writable=False)], floor: tuple[int, int], begin: int, end: int, threads: int) -> Annotated[NDArray[numpy.uint32], dict(shape=(None, None), order='C', writable=False)]:
        """
        Pairs whose first document is from begin to end: a, b, common, sampled.
        """

    def measure(self, measure: str, pairs: Annotated[NDArray[numpy.uint32], dict(shape=(None, 4), order='C', device='cpu', writable=False)], threads: int) -> Annotated[NDArray[numpy.uint32], dict(shape=(None, None), order='C', writable=False)]:
        """The same pairs with their common and sampled elements counted."""

class FrequencyTable:
    """Counters of how many documents have each element."""

    def __init__(self, elements: int, bytes: int) -> None: ...

    @property
    def passes(self) -> int:
        """How often everything has to be counted and written, a part each time."""

    def clear(self, number: int) -> None:
        """Begins with a pass."""

    def count(self, sketches: SketchSet, begin: int, end: int, threads: int) -> None:
        """Counts the elements of documents from begin to end."""

    def write(self, sketches: SketchSet, begin: int, end: int, threads: int, out: Sequence[Annotated[NDArray[numpy.uint8], dict(shape=(None,), order='C', device='cpu')]]) -> None:
        """Writes their frequencies, into an array for each chunk."""

class Masses:
    """Where very many documents all resemble one another."""

    def __init__(self, sketches: SketchSet, least_frequency: int, keys: int, heads: int, by_category: bool = True, every: int = 1) -> None:
        """
        Without `by_category` the heads of a key are the first documents of all. One document of `every` takes part.
        """

    def add(self, begin: int, end: int, threads: int) -> None:
        """
        Takes the keys of documents from begin to end; all come in their order.
        """

    def finish(self, signature_bytes: int, threads: int) -> None:
        """
        Ends the adding. Signatures of the heads, which spare looks at their sketches, are made if so many bytes have room for them.
        """

    def find_hubs(self, threshold: tuple[int, int], begin: int, end: int, threads: int, hubs: Annotated[NDArray[numpy.uint32], dict(shape=(None,), order='C', device='cpu')]) -> None:
        """
        Writes their hubs, once it is finished, into an array of all documents' hubs, which are UNKNOWN_HUB before, or that of a lower threshold if it does not do here.
        """

    def heads(self) -> tuple[Annotated[NDArray[numpy.uint64], dict(shape=(None,), order='C', writable=False)], Annotated[NDArray[numpy.uint32], dict(shape=(None,), order='C', writable=False)]]:
        """
        The heads of each key, and the keys, which ascend; those of one in document order.
        """

class ListCollector:
    """Documents under each element that two or more have."""

    def __init__(self, first_bucket: int, last_bucket: int, cut_off: int, most_common: int) -> None: ...

    def add(self, sketches: SketchSet, begin: int, end: int, threads: int) -> None:
        """Takes the elements of documents from begin to end."""

    def finish(self, threads: int) -> tuple[Annotated[NDArray[numpy.uint32], dict(shape=(None,), order='C', writable=False)], Annotated[NDArray[numpy.uint64], dict(shape=(None,), order='C', writable=False)], list[tuple[int, int, int]], int, int]:
        """
        Documents by element, where each list ends, the commonest elements (element, documents, first document), how many elements there are, and how many of them the cut-off took.
        """

class LevelIndex:
    """
    Postings of one level by key, ready to be probed. Those it is made of, unless they lie in a file, are lost.
    """

    def __init__(self, sketches: SketchSet, measure: str, floor: tuple[int, int], level: int, runs: Sequence[tuple[Annotated[NDArray[numpy.uint32], dict(shape=(None, 3), order='C', device='cpu', writable=False)], Annotated[NDArray[numpy.uint64], dict(shape=(None,), order='C', device='cpu', writable=False)]]], counts: Annotated[NDArray[numpy.uint32], dict(shape=(None,), order='C', device='cpu', writable=False)], signatures: Annotated[NDArray[numpy.uint64], dict(shape=(None, 8), order='C', device='cpu', writable=False)], hubs: Annotated[NDArray[numpy.uint32], dict(shape=(None,), order='C', device='cpu', writable=False)], groups: Annotated[NDArray[numpy.uint32], dict(shape=(None,), order='C', device='cpu', writable=False)], least_contained: int, first_bucket: int, last_bucket: int, threads: int) -> None: ...

    def probe(self, begin: int, end: int, threads: int, leaders: Annotated[NDArray[numpy.uint32], dict(shape=(None,), order='C', device='cpu')], surely: tuple[int, int]) -> Annotated[NDArray[numpy.uint32], dict(shape=(None, None), order='C', writable=False)]:
        """
        Pairs found by documents from begin to end: a, b, common, sampled. With `leaders`, one of each document or NO_HUB, those of two that have one may be left out, and who reaches `surely` with an earlier one that has none gets it.
        """

class PartnerFinder:
    """
    Pairs of some documents with each other and with marked ones that reach a floor.
    """

    def __init__(self, sketches: SketchSet, measure: str, floor: tuple[int, int], documents: Annotated[NDArray[numpy.uint32], dict(shape=(None,), order='C', device='cpu', writable=False)], marks: Annotated[NDArray[numpy.uint8], dict(shape=(None,), order='C', device='cpu', writable=False)]) -> None: ...

    def find(self, begin: int, end: int, threads: int) -> Annotated[NDArray[numpy.uint32], dict(shape=(None, None), order='C', writable=False)]:
        """Those found at documents from begin to end: a, b, common, sampled."""

POSTING_BUCKETS: int = 256

NO_HUB: int = 4294967295

UNKNOWN_HUB: int = 4294967294

SIGNATURE_WORDS: int = 8

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

def jsonl_columns(data: bytes, fields: Sequence[str], size: int | None = None, simd: str = '') -> JsonlColumns:
    """
    The named fields of the JSON objects in `data`, or in its first `size` bytes, one a line.
    """

def crc32c(buffer: object, before: int = 0, simd: str = '') -> int:
    """
    CRC32C of a buffer's bytes, or of these after the bytes whose checksum is `before`.
    """

def crc32c_blocks(buffer: object, block_bytes: int, threads: int, simd: str = '') -> Annotated[NDArray[numpy.uint32], dict(shape=(None,), order='C', writable=False)]:
    """CRC32C of each block of a buffer; the last block may be shorter."""

def read_stretches(descriptor: int, begin: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)], end: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)]) -> bytes:
    """
    Stretches of an open file, one behind the other; less where the file is shorter.
    """

def map_file(descriptor: int, size: int) -> Annotated[NDArray[numpy.uint8], dict(shape=(None,), order='C', writable=False)]:
    """
    The first bytes of an open file as an array that reads them when they are touched; it outlives the descriptor.
    """

def map_scratch(descriptor: int, size: int) -> Annotated[NDArray[numpy.uint8], dict(shape=(None,), order='C')]:
    """The same, to be written to as well. The file must have the room."""

class ResidentLimit:
    """
    While it is there, pages of arrays of `map_file` and `map_scratch` leave memory when this process has more than so much of it.
    """

    def __init__(self, bytes: int) -> None: ...

    def close(self) -> None:
        """Stops looking."""

    def __enter__(self) -> object: ...

    def __exit__(self, *args: object) -> None: ...

def release_pages(mapped: Annotated[NDArray[numpy.uint8], dict(shape=(None,), order='C', device='cpu', writable=False)]) -> None:
    """
    Takes an array of `map_file` out of this process's memory; it stays valid.
    """

def release_all_pages() -> None:
    """
    The same for all arrays of `map_file` and `map_scratch`: for whoever is about to take much memory at once.
    """

def release_buffer(buffer: object) -> None:
    """
    Takes the pages that a buffer lies in out of this process's memory, if it lies in an array of `map_file` or `map_scratch`; nothing is done to any other.
    """

def in_huge_pages(words: Annotated[NDArray[numpy.uint64], dict(shape=(None,), order='C', device='cpu', writable=False)]) -> Annotated[NDArray[numpy.uint64], dict(shape=(None,), order='C', writable=False)]:
    """A copy in pages of 2 MiB, where the system has them."""

def allocate(file: int, size: int) -> None:
    """
    Gets a file, by its descriptor, room for so many bytes before they are written: that is less work than room for each write. Its size stays; where there is no room nothing is said, and the writing fails.
    """

def wait_until_written(file: int, size: int) -> float:
    """
    Waits until the disk has taken the first so many bytes of a file, by its descriptor: for how many seconds, or infinity where the system does not say; OSError if the disk could not. They are not safe yet: the file's size and the disk's own cache are not seen to.
    """

def sync_file_system(file: int) -> None:
    """
    Waits until all that was written to the file system of a file, by its descriptor, is on the disk: one wait for very many files.
    """

def is_near_its_peak() -> bool:
    """
    Whether this process has much memory, or nearly as much as it had before: if not, what it has freed may as well stay with it for the next phase.
    """

def give_back_memory() -> None:
    """
    Returns freed memory to the system; for the end of a phase that needed much.
    """

def share_freed_memory() -> None:
    """
    Lets every thread have what another one has freed, before there are threads, and keeps all of it until `give_back_memory`; for a process that is one's own.
    """

def greedy_decide(pairs: Annotated[NDArray[numpy.uint32], dict(shape=(None, 4), order='C', device='cpu', writable=False)], exact: Annotated[NDArray[numpy.uint8], dict(shape=(None,), order='C', device='cpu', writable=False)], parts: Annotated[NDArray[numpy.uint32], dict(shape=(None, 2), order='C', device='cpu', writable=False)], place: Annotated[NDArray[numpy.uint32], dict(shape=(None,), order='C', device='cpu', writable=False)], last: Annotated[NDArray[numpy.uint32], dict(shape=(None,), order='C', device='cpu', writable=False)], threshold: tuple[int, int], containment: tuple[int, int], errors: float, reasons: bool) -> tuple[Annotated[NDArray[numpy.uint8], dict(shape=(None,), order='C', writable=False)], Annotated[NDArray[numpy.uint64], dict(shape=(None,), order='C', writable=False)], Annotated[NDArray[numpy.uint64], dict(shape=(None,), order='C', writable=False)]]:
    """
    One round of the dedup rule: the fate of each document (0 undecided, 1 kept, 2 removed), the pairs that must be counted exactly before the next round, with those that may be the best reasons if these are wanted, and others that may be wanted then.
    """

def number_anew(pairs: Annotated[NDArray[numpy.uint32], dict(shape=(None, 4), order='C', device='cpu', writable=False)], count: int, to: Annotated[NDArray[numpy.uint32], dict(shape=(None, 4), order='C', device='cpu')]) -> Annotated[NDArray[numpy.uint32], dict(shape=(None,), order='C', writable=False)]:
    """
    Writes pairs with their documents, of `count`, numbered anew in their order; the documents that have a pair.
    """

def greedy_reasons(pairs: Annotated[NDArray[numpy.uint32], dict(shape=(None, 4), order='C', device='cpu', writable=False)], exact: Annotated[NDArray[numpy.uint8], dict(shape=(None,), order='C', device='cpu', writable=False)], parts: Annotated[NDArray[numpy.uint32], dict(shape=(None, 2), order='C', device='cpu', writable=False)], place: Annotated[NDArray[numpy.uint32], dict(shape=(None,), order='C', device='cpu', writable=False)], last: Annotated[NDArray[numpy.uint32], dict(shape=(None,), order='C', device='cpu', writable=False)], threshold: tuple[int, int], containment: tuple[int, int], errors: float, fate: Annotated[NDArray[numpy.uint8], dict(shape=(None,), order='C', device='cpu', writable=False)], documents: Annotated[NDArray[numpy.uint32], dict(shape=(None,), order='C', device='cpu', writable=False)], places: Annotated[NDArray[numpy.uint32], dict(shape=(None,), order='C', device='cpu', writable=False)]) -> Annotated[NDArray[numpy.uint64], dict(shape=(None, None), order='C', writable=False)]:
    """
    Why documents go: for each the pair with the best kept document before its place (2^64 - 1: none), and 1 if it goes by containment only.
    """

class DamagedBlock(RuntimeError):
    pass

class BlockFile:
    """A checked file that is read piece by piece, each block checked first."""

    def __init__(self, name: str, descriptor: int, size: int, sums: Annotated[NDArray[numpy.uint32], dict(shape=(None,), order='C', device='cpu', writable=False)]) -> None:
        """
        An open file, which is closed in the end, its size and its blocks' checksums.
        """

    def map(self) -> None:
        """Maps it: for a file that is small, or read a great many times."""

    @property
    def size(self) -> int:
        """Bytes."""

    def read(self, offset: int, bytes: int) -> Annotated[NDArray[numpy.uint8], dict(shape=(None,), order='C', writable=False)]:
        """Those bytes, checked."""

    def search(self, count: int, wanted: Annotated[NDArray[numpy.uint64], dict(shape=(None,), order='C', device='cpu', writable=False)]) -> Annotated[NDArray[numpy.uint64], dict(shape=(None,), order='C', writable=False)]:
        """
        Of a file that begins with `count` ascending numbers: the place of each wanted one, as often as it is there: numbers of wanted ones and places by turns.
        """

def inverted_shape(rows: int, postings: int) -> tuple[int, int]:
    """Bits of a bucket and of a value, for so many of them."""

def scatter(values: Annotated[NDArray[numpy.uint64], dict(shape=(None,), order='C', device='cpu', writable=False)], offsets: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)], first_row: int, left_out: Annotated[NDArray[numpy.uint8], dict(shape=(None,), order='C', device='cpu', writable=False)], kept: Annotated[NDArray[numpy.uint32], dict(shape=(None,), order='C', device='cpu', writable=False)]) -> tuple[Annotated[NDArray[numpy.uint64], dict(shape=(None,), order='C', writable=False)], Annotated[NDArray[numpy.uint32], dict(shape=(None,), order='C', writable=False)], Annotated[NDArray[numpy.uint64], dict(shape=(None,), order='C', writable=False)]]:
    """
    Postings of sketches by partition: keys, rows, where each partition ends. kept: of every row its elements but words.
    """

def invert(shape: tuple[int, int], runs: Sequence[tuple[Annotated[NDArray[numpy.uint64], dict(shape=(None,), order='C', device='cpu', writable=False)], Annotated[NDArray[numpy.uint32], dict(shape=(None,), order='C', device='cpu', writable=False)], Annotated[NDArray[numpy.uint64], dict(shape=(None,), order='C', device='cpu', writable=False)]]], first: int, last: int, first_unit: int, threads: int) -> tuple[Annotated[NDArray[numpy.uint64], dict(shape=(None,), order='C', writable=False)], Annotated[NDArray[numpy.uint64], dict(shape=(None,), order='C', writable=False)], Annotated[NDArray[numpy.uint32], dict(shape=(None,), order='C', writable=False)]]:
    """Entries, bucket ends and lists of partitions from first to last."""

class InvertedIndex:
    """For every element the rows that have it."""

    def __init__(self, files: list[BlockFile], open_part: object, part_rows: int, shape: tuple[int, int], rows: int, least_kept: Annotated[NDArray[numpy.uint32], dict(shape=(None,), order='C', device='cpu', writable=False)], least_met: Annotated[NDArray[numpy.uint32], dict(shape=(None,), order='C', device='cpu', writable=False)], has_small: bool) -> None:
        """
        files: directory, entries, lists, rows, copies; open_part: number of a part -> (file, first byte of the elements, first byte of the offsets) of its sketches; least_kept: by level, the fewest elements of a document there that is not small; least_met: of one of that level or a finer one, at this level.
        """

    def neighbours(self, values: Annotated[NDArray[numpy.uint64], dict(shape=(None,), order='C', device='cpu', writable=False)], offsets: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)], size: Annotated[NDArray[numpy.uint32], dict(shape=(None,), order='C', device='cpu', writable=False)], level: Annotated[NDArray[numpy.uint8], dict(shape=(None,), order='C', device='cpu', writable=False)], resemblance: tuple[int, int], contained: tuple[int, int], contains: tuple[int, int], least_contained: int, smallest: int, removed: Annotated[NDArray[numpy.uint8], dict(shape=(None,), order='C', device='cpu', writable=False)], threads: int, with_words: bool = False) -> Annotated[NDArray[numpy.uint32], dict(shape=(None, None), order='C', writable=False)]:
        """
        Of queries all rows that reach a floor, a denominator of 0 for none: query, row, common, sampled, elements of the query and of the row where they meet. Words of rows count if queries have them.
        """

    def count(self, elements: Annotated[NDArray[numpy.uint64], dict(shape=(None,), order='C', device='cpu', writable=False)]) -> Annotated[NDArray[numpy.uint32], dict(shape=(None,), order='C', writable=False)]:
        """For each element how many rows have it, copies not counted."""

    def sketch(self, row: int) -> Annotated[NDArray[numpy.uint64], dict(shape=(None,), order='C', writable=False)]:
        """The elements of a row's sketch."""

def coarser_levels(values: Annotated[NDArray[numpy.uint64], dict(shape=(None,), order='C', device='cpu', writable=False)], offsets: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)], level: Annotated[NDArray[numpy.uint8], dict(shape=(None,), order='C', device='cpu', writable=False)]) -> Annotated[NDArray[numpy.uint16], dict(shape=(None,), order='C', writable=False)]:
    """
    For every row its elements at the levels above its own, 2^16 - 1 for as many or more.
    """

COARSER_LEVELS: int = 9

LEAST_LARGE: int = 64

PARTITIONS: int = 256

LIST_UNIT: int = 512

def probe_index(files: tuple[Annotated[NDArray[numpy.uint64], dict(shape=(None,), order='C', device='cpu', writable=False)], Annotated[NDArray[numpy.uint64], dict(shape=(None,), order='C', device='cpu', writable=False)], Annotated[NDArray[numpy.uint32], dict(shape=(None,), order='C', device='cpu', writable=False)], Annotated[NDArray[numpy.uint32], dict(shape=(None,), order='C', device='cpu', writable=False)], Annotated[NDArray[numpy.uint32], dict(shape=(None,), order='C', device='cpu', writable=False)]], shape: tuple[int, int], floor: tuple[int, int], smallest: int, values: Annotated[NDArray[numpy.uint64], dict(shape=(None,), order='C', device='cpu', writable=False)], offsets: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)], size: Annotated[NDArray[numpy.uint32], dict(shape=(None,), order='C', device='cpu', writable=False)], level: Annotated[NDArray[numpy.uint8], dict(shape=(None,), order='C', device='cpu', writable=False)], own: Annotated[NDArray[numpy.uint32], dict(shape=(None,), order='C', device='cpu', writable=False)], group_of: Annotated[NDArray[numpy.uint32], dict(shape=(None,), order='C', device='cpu', writable=False)], most_rows: int, threads: int) -> tuple[Annotated[NDArray[numpy.uint32], dict(shape=(None, None), order='C', writable=False)], bool]:
    """
    Groups of rows that may resemble queries at a floor, from the files of an index in memory (directory, entries, lists, rows, copies): query and group, and whether no more than most_rows rows had to be read.
    """

NO_GROUP: int = 4294967295

def hamming_build(values: Annotated[NDArray[numpy.uint64], dict(shape=(None,), order='C', device='cpu', writable=False)], bits: int, tables: Sequence[tuple[int, int, int, int, int, int, int]], threads: int) -> tuple[list[tuple[tuple[int, int, int, int, int, int, int], list[Annotated[NDArray[numpy.uint64], dict(shape=(None,), order='C', writable=False)]]]], Annotated[NDArray[numpy.uint64], dict(shape=(None,), order='C', writable=False)]]:
    """
    The tables of a Hamming index, each with its numbers (leading bits, radius, coding, head, extra, pointer, entries) and its arrays; then the positions.
    """

class HammingTables:
    """All values within k bits of a query, exactly."""

    def __init__(self, bits: int, k: int, count: int, tables: Sequence[tuple[int, int, int, int, int, int, int]], arrays: Sequence[Sequence[Annotated[NDArray[numpy.uint64], dict(shape=(None,), order='C', device='cpu', writable=False)]]], positions: Annotated[NDArray[numpy.uint64], dict(shape=(None,), order='C', device='cpu', writable=False)], simd: str = '') -> None: ...

    def find(self, x: int) -> Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', writable=False)]:
        """The positions of all values within k bits, ascending."""

    def find_many(self, queries: Annotated[NDArray[numpy.uint64], dict(shape=(None,), order='C', device='cpu', writable=False)], threads: int) -> tuple[Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', writable=False)], Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', writable=False)]]:
        """
        The positions for each query, one after the other, and where each query's begin.
        """

    def matches(self, x: int) -> list[tuple[int, int, int]]:
        """Position, value and distance of all within k bits, nearest first."""

    def nearest(self, x: int) -> tuple[int, int, int] | None:
        """
        Position, value and distance of the nearest within k bits, of these the first.
        """

    def nearest_many(self, queries: Annotated[NDArray[numpy.uint64], dict(shape=(None,), order='C', device='cpu', writable=False)], threads: int) -> tuple[Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', writable=False)], Annotated[NDArray[numpy.uint64], dict(shape=(None,), order='C', writable=False)], Annotated[NDArray[numpy.uint8], dict(shape=(None,), order='C', writable=False)]]:
        """
        For each query the nearest value, of these the first: its position (-1: none), the value and the distance (65: none).
        """

    def values(self) -> Annotated[NDArray[numpy.uint64], dict(shape=(None,), order='C', writable=False)]:
        """All values by position."""

class HammingMemory:
    """Values that can be added to, and what is within k bits of one."""

    def __init__(self, bits: int, k: int, blocks: int, capacity: int, simd: str = '') -> None: ...

    def __len__(self) -> int: ...

    def add(self, values: Annotated[NDArray[numpy.uint64], dict(shape=(None,), order='C', device='cpu', writable=False)]) -> None:
        """Adds all of them."""

    def add_one(self, value: int) -> None:
        """Adds one."""

    def nearest(self, x: int) -> tuple[int, int, int] | None:
        """
        Number, value and distance of the nearest within k bits, of these the first.
        """

    def forget(self, count: int) -> None:
        """Takes the last ones back."""

    def find(self, x: int) -> Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', writable=False)]:
        """The numbers of all values within k bits, ascending."""

    def nearest_many(self, queries: Annotated[NDArray[numpy.uint64], dict(shape=(None,), order='C', device='cpu', writable=False)]) -> tuple[Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', writable=False)], Annotated[NDArray[numpy.uint64], dict(shape=(None,), order='C', writable=False)], Annotated[NDArray[numpy.uint8], dict(shape=(None,), order='C', writable=False)]]:
        """
        For each query the nearest value, of these the first: its number (-1: none), the value and the distance (65: none).
        """

    def seen(self, values: Annotated[NDArray[numpy.uint64], dict(shape=(None,), order='C', device='cpu', writable=False)], positions: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)], simhashes: Annotated[NDArray[numpy.uint64], dict(shape=(None,), order='C', device='cpu', writable=False)], distances: Annotated[NDArray[numpy.uint8], dict(shape=(None,), order='C', device='cpu', writable=False)], first: int) -> tuple[Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', writable=False)], Annotated[NDArray[numpy.uint64], dict(shape=(None,), order='C', writable=False)], Annotated[NDArray[numpy.uint8], dict(shape=(None,), order='C', writable=False)]]:
        """
        For each value in order its nearest match, given those elsewhere; a value without one is added. Columns as of nearest_many, with `first` added to numbers.
        """

    def values(self) -> Annotated[NDArray[numpy.uint64], dict(shape=(None,), order='C', writable=False)]:
        """All values in the order they were added."""

class HammingGreedy:
    """
    The dedup rule for values of 64 bits: one goes if one that stays is within k bits.
    """

    def __init__(self, k: int, blocks: int, capacity: int, size_ratio: tuple[int, int] = (0, 0), simd: str = '') -> None: ...

    def keep(self, values: Annotated[NDArray[numpy.uint64], dict(shape=(None,), order='C', device='cpu', writable=False)], sizes: Annotated[NDArray[numpy.uint32], dict(shape=(None,), order='C', device='cpu', writable=False)]) -> None:
        """Values that stay in any case."""

    def take(self, values: Annotated[NDArray[numpy.uint64], dict(shape=(None,), order='C', device='cpu', writable=False)], sizes: Annotated[NDArray[numpy.uint32], dict(shape=(None,), order='C', device='cpu', writable=False)]) -> tuple[Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', writable=False)], Annotated[NDArray[numpy.uint64], dict(shape=(None,), order='C', writable=False)], Annotated[NDArray[numpy.uint8], dict(shape=(None,), order='C', writable=False)]]:
        """
        For each value in order the nearest that stays, of these the first: its number among all given (-1: none, so the value stays), the value and the distance (65: none).
        """

class HammingJoin:
    """Queries, to be joined with values."""

    def __init__(self, queries: Annotated[NDArray[numpy.uint64], dict(shape=(None,), order='C', device='cpu', writable=False)], bits: int, k: int, blocks: int, threads: int, simd: str = '') -> None: ...

    def probe(self, stored: Annotated[NDArray[numpy.uint64], dict(shape=(None,), order='C', device='cpu', writable=False)], first: int, threads: int) -> Annotated[NDArray[numpy.uint64], dict(shape=(None, None), order='C', writable=False)]:
        """
        Rows (stored, query) of all pairs within k bits, sorted; stored values are numbered from `first`.
        """

def xor_blocks_encode(sorted: Annotated[NDArray[numpy.uint64], dict(shape=(None,), order='C', device='cpu', writable=False)], bits: int) -> tuple[Annotated[NDArray[numpy.uint64], dict(shape=(None,), order='C', writable=False)], Annotated[NDArray[numpy.uint64], dict(shape=(None,), order='C', writable=False)], Annotated[NDArray[numpy.uint64], dict(shape=(None,), order='C', writable=False)], Annotated[NDArray[numpy.uint8], dict(shape=(None,), order='C', writable=False)]]:
    """
    Sorted values in blocks of 128 words: blocks, the last value of each, how many values come before each and in all, and the code's lengths.
    """

def xor_blocks_decode(blocks: Annotated[NDArray[numpy.uint64], dict(shape=(None,), order='C', device='cpu', writable=False)], lengths: Annotated[NDArray[numpy.uint8], dict(shape=(None,), order='C', device='cpu', writable=False)], bits: int, threads: int) -> Annotated[NDArray[numpy.uint64], dict(shape=(None,), order='C', writable=False)]:
    """The values of some blocks."""

class FeatureMaker:
    """How documents become features."""

    def __init__(self, first_width: int, last_width: int, once: bool, stem: bool, seed: int, stop_words: Sequence[bytes] | None = None) -> None: ...

class FeatureWeights:
    """What each feature weighs."""

    def __init__(self, features: Annotated[NDArray[numpy.uint64], dict(shape=(None,), order='C', device='cpu', writable=False)], weights: Annotated[NDArray[numpy.uint32], dict(shape=(None,), order='C', device='cpu', writable=False)], others: int) -> None: ...

class FrequencyCounter:
    """How many documents have each feature."""

    def __init__(self) -> None: ...

    @property
    def documents(self) -> int:
        """Documents counted so far."""

    def add(self, source: object, maker: FeatureMaker, content_type: str, threads: int, simd: str = '', html: Annotated[NDArray[numpy.uint8], dict(shape=(None,), order='C', device='cpu', writable=False)] | None = None) -> None:
        """Counts a batch of documents."""

    def result(self) -> tuple[Annotated[NDArray[numpy.uint64], dict(shape=(None,), order='C', writable=False)], Annotated[NDArray[numpy.uint32], dict(shape=(None,), order='C', writable=False)]]:
        """The features, ascending, and how many documents have each."""

def simhash_batch(source: object, maker: FeatureMaker, content_type: str, threads: int, simd: str = '', html: Annotated[NDArray[numpy.uint8], dict(shape=(None,), order='C', device='cpu', writable=False)] | None = None, weights: FeatureWeights | None = None) -> tuple[Annotated[NDArray[numpy.uint64], dict(shape=(None,), order='C', writable=False)], Annotated[NDArray[numpy.uint32], dict(shape=(None,), order='C', writable=False)], Annotated[NDArray[numpy.uint32], dict(shape=(None,), order='C', writable=False)]]:
    """
    Simhashes of a list of bytes or an Arrow array of strings or binary, with the numbers of features (0: there is no simhash) and of tokens.
    """

def simhash_pairs(source: object, weights: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], offsets: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)], seed: int, threads: int, simd: str = '') -> tuple[Annotated[NDArray[numpy.uint64], dict(shape=(None,), order='C', writable=False)], Annotated[NDArray[numpy.uint32], dict(shape=(None,), order='C', writable=False)], Annotated[NDArray[numpy.uint32], dict(shape=(None,), order='C', writable=False)]]:
    """
    Simhashes of weighted features: row i has those from offsets[i] to offsets[i + 1].
    """

def sample_distances(simhashes: Annotated[NDArray[numpy.uint64], dict(shape=(None,), order='C', device='cpu', writable=False)], least: int, most: int, each: int, seed: int, threads: int, simd: str = '') -> tuple[Annotated[NDArray[numpy.uint64], dict(shape=(None,), order='C', writable=False)], Annotated[NDArray[numpy.uint32], dict(shape=(None, None), order='C', writable=False)]]:
    """
    How many pairs of simhashes have each distance from `least` to `most`, and `each` of every such distance: two positions and the distance.
    """

def stem_english(word: bytes) -> bytes:
    """The stem of an English word in lower case."""
