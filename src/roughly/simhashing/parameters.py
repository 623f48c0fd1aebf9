"""What a simhash depends on besides the document."""

from __future__ import annotations

import re
from dataclasses import asdict, dataclass

from roughly.errors import MismatchError, ParameterError
from roughly.parameters import LARGEST_WIDTH

SIMHASH_VERSION = 1

# Longer phrases than this hardly ever occur twice, and each length counts every term again.
LONGEST_PHRASE = 10


@dataclass(frozen=True, slots=True)
class SimhashParameters:
    """Everything a simhash depends on besides the document; docs/simhash.md has the words."""

    algorithm: int  # version, see docs/simhash.md
    features: str  # terms, phrases:N, shingles:W; or given, by the caller
    weights: str  # count, once, given, or idf: and the digest of the frequencies
    stop_words: str  # none, english, or the digest of the words
    stem: str  # none or english
    seed: int  # derives every key

    def check_same(self, other: SimhashParameters, what: str = "simhashes") -> None:
        """Raises unless both are the same."""
        if self == other:
            return
        one, two = asdict(self), asdict(other)
        differing = [name for name in one if one[name] != two[name]]
        shown = [", ".join(f"{n}={p[n]!r}" for n in differing) for p in (one, two)]
        raise MismatchError(
            f"{what}: made with different parameters: {shown[0]} against {shown[1]}",
            hint="make both with the same Simhasher",
        )


def parse_features(features: str) -> tuple[int, int]:
    """The least and the largest number of terms in a feature."""
    found = re.fullmatch(r"(terms)|(phrases)(?::([0-9]{1,4}))?|(shingles):([0-9]{1,4})", features)
    if found and found[1]:
        return 1, 1
    if found and found[2] and 1 <= (longest := int(found[3] or 2)) <= LONGEST_PHRASE:
        return 1, longest
    if found and found[4] and 1 <= (width := int(found[5])) <= LARGEST_WIDTH:
        return width, width
    raise ParameterError(
        f"features: unknown: {features!r}, wanted terms, phrases:N or shingles:W",
        hint=f"N is from 1 to {LONGEST_PHRASE}, W from 1 to {LARGEST_WIDTH}",
    )


def features_name(first: int, last: int) -> str:
    """The one name of what several names may stand for."""
    if first == last == 1:
        return "terms"
    return f"phrases:{last}" if first == 1 else f"shingles:{first}"
