"""Two documents compared exactly: resemblance, containment, and the passages they share.

The measures are those of the 1997 paper on the documents' shingle sets, to which the resemblance of
short documents adds their words; estimates from sketches stand beside them for comparison. A
shingle is told from another by its 64-bit fingerprint (docs/algorithm.md, section 3, bounds the
chance of an error); passages are verified token by token. Nothing here keeps state; every function
may be called from any thread.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal, NamedTuple

from roughly import _core
from roughly.documents.file import Document, document, is_html
from roughly.errors import ParameterError
from roughly.parameters import WIDTH
from roughly.sketcher import Sketcher

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

    from roughly.estimate import Estimate
    from roughly.sketch import Sketch

Kind = Literal["identical", "lexical", "shingle", "near", "contains", "contained", "empty"]

# From here on two documents are called near, as in the 1997 paper's clusters; and one is called
# contained in the other when at most a fifth of its shingles is missing there.
NEAR = 0.5
CONTAINED = 0.8

Counts = tuple[int, int, int]  # distinct ones of both, of a, of b


class Passage(NamedTuple):
    """A run of tokens that both documents have, as long as it can be."""

    a_start: int  # bytes of A's decoded UTF-8, the first token's first
    a_end: int  # one past the last token's last byte
    b_start: int
    b_end: int
    tokens: int  # its length
    a_token: int  # the position of its first token in A
    b_token: int


@dataclass(frozen=True, slots=True)
class Side:
    """What one of the two documents is."""

    id: str
    bytes: int  # as read
    tokens: int
    shingles: int  # distinct
    encoding: str
    how: str  # how the encoding was found
    html: bool

    def to_dict(self) -> dict[str, Any]:
        # A file's name that is no text holds lone surrogates, which strict JSON parsers refuse.
        name = self.id.encode("utf-8", "backslashreplace").decode()
        return {each: getattr(self, each) for each in self.__slots__} | {"id": name}


@dataclass(frozen=True, slots=True)
class Estimates:
    """What the two sketches say. A selection that cannot tell containment (min, perm) has None."""

    select: str
    bits: int
    seed: int
    kept_a: int  # fingerprints in A's sketch
    kept_b: int
    resemblance: Estimate
    containment_ab: Estimate | None
    containment_ba: Estimate | None

    def to_dict(self) -> dict[str, Any]:
        def numbers(estimate: Estimate | None) -> dict[str, Any] | None:
            if estimate is None:
                return None
            return {
                "value": estimate.value,
                "low": estimate.low,
                "high": estimate.high,
                "samples": estimate.samples,
            }

        return {
            "select": self.select,
            "bits": self.bits,
            "seed": self.seed,
            "resemblance": numbers(self.resemblance),
            "containment_ab": numbers(self.containment_ab),
            "containment_ba": numbers(self.containment_ba),
        }


@dataclass(frozen=True, slots=True)
class Comparison:
    """Two documents, A and B, side by side."""

    w: int  # tokens in a shingle
    words: int  # documents of fewer shingles have words beside them, for their resemblance
    resemblance: float  # exact, as are the next two
    containment_ab: float  # the share of A's shingles that B has
    containment_ba: float
    kind: Kind | None  # None below NEAR and CONTAINED
    common: int  # shingles of both, and words if they are short
    union: int
    a: Side
    b: Side
    passages: list[Passage]  # ordered by position in A
    estimate: Estimates

    @property
    def evidence_width(self) -> int:
        """Tokens that a passage has at least: one where every word of both documents counts."""
        return _evidence_width(self.w, self.words, self.a.tokens, self.b.tokens)

    def to_dict(self) -> dict[str, Any]:
        """What `roughly compare --json` prints."""
        return {
            "resemblance": self.resemblance,
            "containment_ab": self.containment_ab,
            "containment_ba": self.containment_ba,
            "kind": self.kind,
            "common": self.common,
            "union": self.union,
            "w": self.w,
            "words": self.words,
            "a": self.a.to_dict(),
            "b": self.b.to_dict(),
            "estimate": self.estimate.to_dict(),
            "passages": [dict(zip(Passage._fields[:5], p[:5], strict=True)) for p in self.passages],
        }


def resemblance(
    a: str | bytes | Document,
    b: str | bytes | Document,
    w: int | None = None,
    content_type: str = "auto",
    words: int | None = None,
) -> float:
    """The share of the two documents' shingles that are in both: 0.0 to 1.0, exact.

    `w` and `words` are those of a Sketcher: of documents of fewer than 200 shingles single words
    count as well, unless `w` is given.
    Text (str) is taken as it is, bytes are decoded; both count as HTML if they look like it, unless
    `content_type` says. Two documents without a token resemble at 1.0, one alone at 0.0.
    """
    first, second = _document(a, "a", content_type), _document(b, "b", content_type)
    near, _ = _counts(first, second, Sketcher(w, "all", words=words))
    return _resemblance(*near)


def containment(
    a: str | bytes | Document, b: str | bytes | Document, w: int = WIDTH, content_type: str = "auto"
) -> float:
    """The share of a's shingles that are in b: 0.0 to 1.0, exact. See `resemblance`."""
    first, second = _document(a, "a", content_type), _document(b, "b", content_type)
    _, inside = _counts(first, second, Sketcher(w, "all", words=0))
    return _containment(*inside)


def compare(
    a: str | bytes | Document,
    b: str | bytes | Document,
    w: int | None = None,
    content_type: str = "auto",
    sketcher: Sketcher | None = None,
) -> Comparison:
    """Everything `roughly compare` says about two documents. `sketcher` makes the sketches for the
    estimates, adaptive:200 unless given; its width and its words then are those of everything."""
    if sketcher is None:
        sketcher = Sketcher(w, "adaptive:200")
    w = sketcher.w
    first, second = _document(a, "a", content_type), _document(b, "b", content_type)
    # The seed chooses the words of documents of middle length.
    whole = Sketcher(w, "all", sketcher.seed, words=sketcher.words)
    near, inside = _counts(first, second, whole)
    spans_a = _core.token_spans(first.text_utf8, first.html)
    spans_b = _core.token_spans(second.text_utf8, second.html)
    width = _evidence_width(w, sketcher.words, len(spans_a), len(spans_b))
    passages = _passages(first, second, spans_a, spans_b, width)
    resembles = _resemblance(*near)
    shared, size_a, size_b = inside
    contained_ab = _containment(shared, size_a, size_b)
    contained_ba = _containment(shared, size_b, size_a)
    if first.data == second.data:
        kind: Kind | None = "identical"
    elif size_a == size_b == 0:
        kind = "empty"
    # One passage that is all of both: the same tokens in the same order.
    elif passages and len(spans_a) == len(spans_b) == passages[0].tokens:
        kind = "lexical"
    else:
        kind = _kind(resembles, contained_ab, contained_ba)
    return Comparison(
        w=w,
        words=sketcher.words,
        resemblance=resembles,
        containment_ab=contained_ab,
        containment_ba=contained_ba,
        kind=kind,
        common=near[0],
        union=near[1] + near[2] - near[0],
        a=_side(first, len(spans_a), size_a),
        b=_side(second, len(spans_b), size_b),
        passages=passages,
        estimate=_estimates(sketcher, first, second),
    )


def _evidence_width(w: int, words: int, tokens_a: int, tokens_b: int) -> int:
    return 1 if 2 * max(tokens_a, tokens_b) <= words else w


def _passages(
    a: Document,
    b: Document,
    spans_a: npt.NDArray[np.uint64],
    spans_b: npt.NDArray[np.uint64],
    w: int,
) -> list[Passage]:
    runs = _core.passages(a.text_utf8, a.html, b.text_utf8, b.html, w)
    i, j, n = runs[:, 0], runs[:, 1], runs[:, 2]
    columns = (
        spans_a[i, 0],
        spans_a[i + n - 1, 1],
        spans_b[j, 0],
        spans_b[j + n - 1, 1],
        n,
        i,
        j,
    )
    return [Passage(*row) for row in zip(*(column.tolist() for column in columns), strict=True)]


def _kind(resembles: float, contained_ab: float, contained_ba: float) -> Kind | None:
    if resembles == 1.0:
        return "shingle"
    if resembles >= NEAR:
        return "near"
    if max(contained_ab, contained_ba) >= CONTAINED:
        return "contained" if contained_ab >= contained_ba else "contains"
    return None


def _side(document: Document, tokens: int, shingles: int) -> Side:
    return Side(
        id=document.id,
        bytes=len(document.data),
        tokens=tokens,
        shingles=shingles,
        encoding=document.encoding,
        how=document.how,
        html=document.html,
    )


def _estimates(sketcher: Sketcher, a: Document, b: Document) -> Estimates:
    sketch_a, sketch_b = _sketch(sketcher, a), _sketch(sketcher, b)
    contains = sketcher.select.partition(":")[0] not in ("min", "perm")
    return Estimates(
        select=sketcher.select,
        bits=sketcher.bits,
        seed=sketcher.seed,
        kept_a=len(sketch_a),
        kept_b=len(sketch_b),
        resemblance=sketch_a.resemblance(sketch_b),
        containment_ab=sketch_a.containment(sketch_b) if contains else None,
        containment_ba=sketch_b.containment(sketch_a) if contains else None,
    )


def _document(given: str | bytes | Document, name: str, content_type: str) -> Document:
    if isinstance(given, Document):
        return given
    if isinstance(given, bytes):
        return document(name, given, content_type)
    if isinstance(given, str):
        text = given.encode("utf-8", "surrogatepass")
        return Document(name, text, text, is_html(text, content_type), "utf-8", "utf-8")
    raise ParameterError(
        f"{name}: cannot compare: it is of type {type(given).__name__}, wanted str or bytes",
        hint="read a file's bytes first, as with pathlib.Path(...).read_bytes()",
    )


def _counts(a: Document, b: Document, sketcher: Sketcher) -> tuple[Counts, Counts]:
    """Of shingles and the words of short documents, and of shingles alone."""
    import numpy as np

    def counts(one: npt.NDArray[np.uint64], two: npt.NDArray[np.uint64]) -> Counts:
        return len(np.intersect1d(one, two, assume_unique=True)), len(one), len(two)

    first, second = _sketch(sketcher, a), _sketch(sketcher, b)
    near = counts(first.fingerprints, second.fingerprints)
    return near, counts(first.shingles, second.shingles) if sketcher.words else near


def _sketch(sketcher: Sketcher, document: Document) -> Sketch:
    # As str: bytes would be decoded once more, by what the page declares about itself.
    text = document.text_utf8.decode("utf-8", "surrogatepass")
    return sketcher.sketch(text, content_type="html" if document.html else "text")


def _resemblance(common: int, size_a: int, size_b: int) -> float:
    union = size_a + size_b - common
    return common / union if union else 1.0


def _containment(common: int, size_a: int, size_b: int) -> float:
    """Of a in b. Nothing is contained in nothing; nothing else is, and it is in nothing else."""
    if size_a == 0:
        return 1.0 if size_b == 0 else 0.0
    return common / size_a
