"""Two documents compared exactly: resemblance, containment, and the passages they share.

The measures are those of the 1997 paper on the documents' shingle sets; estimates from sketches
stand beside them for comparison. A shingle is told from another by its 64-bit fingerprint
(docs/algorithm.md, section 3, bounds the chance of an error); passages are verified token by token.
Nothing here keeps state; every function may be called from any thread.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal, NamedTuple

from roughly import _core
from roughly.documents.file import Document, document, is_html
from roughly.errors import ParameterError

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

    from roughly.estimate import Estimate
    from roughly.sketch import Sketcher

Kind = Literal["identical", "lexical", "shingle", "near", "contains", "contained", "empty"]

# From here on two documents are called near, as in the 1997 paper's clusters; and one is called
# contained in the other when at most a fifth of its shingles is missing there.
NEAR = 0.5
CONTAINED = 0.8

# The keys of the exact measures; nobody sees these fingerprints, so any fixed seed will do.
_SEED = 0


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
        return {name: getattr(self, name) for name in self.__slots__}


@dataclass(frozen=True, slots=True)
class Estimates:
    """What the two sketches say. A selection that cannot tell containment (min, perm) has None."""

    select: str
    bits: int
    seed: int
    samples_a: int  # elements in A's sketch
    samples_b: int
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
    resemblance: float  # exact, as are the next two
    containment_ab: float  # the share of A's shingles that B has
    containment_ba: float
    kind: Kind | None  # None below NEAR and CONTAINED
    common: int  # shingles of both
    union: int
    a: Side
    b: Side
    passages: list[Passage]  # ordered by position in A
    estimate: Estimates

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
            "a": self.a.to_dict(),
            "b": self.b.to_dict(),
            "estimate": self.estimate.to_dict(),
            "passages": [dict(zip(Passage._fields[:5], p[:5], strict=True)) for p in self.passages],
        }


def resemblance(
    a: str | bytes | Document, b: str | bytes | Document, w: int = 5, content_type: str = "auto"
) -> float:
    """The share of the two documents' shingles that are in both: 0.0 to 1.0, exact.

    Text (str) is taken as it is, bytes are decoded; both count as HTML if they look like it, unless
    `content_type` says. Two documents without a token resemble at 1.0, one alone at 0.0.
    """
    common, size_a, size_b = _counts(*_shingle_sets(a, b, w, content_type))
    return _resemblance(common, size_a, size_b)


def containment(
    a: str | bytes | Document, b: str | bytes | Document, w: int = 5, content_type: str = "auto"
) -> float:
    """The share of a's shingles that are in b: 0.0 to 1.0, exact. See `resemblance`."""
    common, size_a, size_b = _counts(*_shingle_sets(a, b, w, content_type))
    return _containment(common, size_a, size_b)


def compare(
    a: str | bytes | Document,
    b: str | bytes | Document,
    w: int = 5,
    content_type: str = "auto",
    sketcher: Sketcher | None = None,
) -> Comparison:
    """Everything `roughly compare` says about two documents. `sketcher` makes the sketches for the
    estimates, adaptive:200 unless given; its width then is the width of everything."""
    from roughly.sketch import Sketcher

    if sketcher is None:
        sketcher = Sketcher(w=w, select="adaptive:200")
    w = sketcher.w
    first, second = _document(a, "a", content_type), _document(b, "b", content_type)
    common, size_a, size_b = _counts(_shingles(first, w), _shingles(second, w))
    canonical_a, ends_a = _core.tokenize(first.text_utf8, first.html)
    canonical_b, ends_b = _core.tokenize(second.text_utf8, second.html)
    spans_a = _core.token_spans(first.text_utf8, first.html)
    spans_b = _core.token_spans(second.text_utf8, second.html)
    passages = []
    runs = _core.passages(first.text_utf8, first.html, second.text_utf8, second.html, w)
    for i, j, n in runs.tolist():
        a_start, a_end = int(spans_a[i, 0]), int(spans_a[i + n - 1, 1])
        b_start, b_end = int(spans_b[j, 0]), int(spans_b[j + n - 1, 1])
        passages.append(Passage(a_start, a_end, b_start, b_end, n, i, j))
    resembles = _resemblance(common, size_a, size_b)
    contained_ab = _containment(common, size_a, size_b)
    contained_ba = _containment(common, size_b, size_a)
    if size_a == size_b == 0:
        kind: Kind | None = "empty"
    elif first.data == second.data:
        kind = "identical"
    elif canonical_a == canonical_b:
        kind = "lexical"
    else:
        kind = _kind(resembles, contained_ab, contained_ba)
    return Comparison(
        w=w,
        resemblance=resembles,
        containment_ab=contained_ab,
        containment_ba=contained_ba,
        kind=kind,
        common=common,
        union=size_a + size_b - common,
        a=_side(first, len(ends_a), size_a),
        b=_side(second, len(ends_b), size_b),
        passages=passages,
        estimate=_estimates(sketcher, first, second),
    )


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
    # As str: bytes would be decoded once more, by what the page declares about itself.
    text_a = a.text_utf8.decode("utf-8", "surrogatepass")
    text_b = b.text_utf8.decode("utf-8", "surrogatepass")
    sketch_a = sketcher.sketch(text_a, content_type="html" if a.html else "text")
    sketch_b = sketcher.sketch(text_b, content_type="html" if b.html else "text")
    contains = sketcher.select.partition(":")[0] not in ("min", "perm")
    return Estimates(
        select=sketcher.select,
        bits=sketcher.bits,
        seed=sketcher.seed,
        samples_a=len(sketch_a),
        samples_b=len(sketch_b),
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


def _shingles(document: Document, w: int) -> npt.NDArray[np.uint64]:
    """The set S(D, w), as sorted distinct fingerprints."""
    import numpy as np

    if w < 1:
        raise ParameterError(f"w: out of range: {w}, wanted at least 1")
    return np.unique(_core.fingerprints(document.text_utf8, document.html, w, 64, _SEED))


def _shingle_sets(
    a: str | bytes | Document, b: str | bytes | Document, w: int, content_type: str
) -> tuple[npt.NDArray[np.uint64], npt.NDArray[np.uint64]]:
    return (
        _shingles(_document(a, "a", content_type), w),
        _shingles(_document(b, "b", content_type), w),
    )


def _counts(a: npt.NDArray[np.uint64], b: npt.NDArray[np.uint64]) -> tuple[int, int, int]:
    """(common, size of a, size of b)"""
    import numpy as np

    return len(np.intersect1d(a, b, assume_unique=True)), len(a), len(b)


def _resemblance(common: int, size_a: int, size_b: int) -> float:
    union = size_a + size_b - common
    return common / union if union else 1.0


def _containment(common: int, size_a: int, size_b: int) -> float:
    """Of a in b. Nothing is contained in nothing; nothing else is, and it is in nothing else."""
    if size_a == 0:
        return 1.0 if size_b == 0 else 0.0
    return common / size_a
