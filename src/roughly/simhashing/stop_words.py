"""English stop words: function words that nearly every text has, as tokens of the canonical form.

The list is frozen with the algorithm version. Other lists are the caller's to give: any words,
brought to canonical form here, so that "Don't" stands for the tokens that it becomes.
"""

from __future__ import annotations

from collections.abc import Iterable

from roughly import _core
from roughly.errors import ParameterError

# What an apostrophe cuts off or leaves over (don't, it's, we'll) is in the last line.
ENGLISH = frozenset(
    """
    a about above after again against all also am an and any are as at be because been before being
    below between both but by can could did do does doing down during each few for from further had
    has have having he her here hers herself him himself his how i if in into is it its itself just
    me more most my myself no nor not now of off on once only or other our ours ourselves out over
    own same she should so some such than that the their theirs them themselves then there these
    they this those through to too under until up upon very was we were what when where which while
    who whom why will with would you your yours yourself yourselves
    d didn doesn don isn ll m re s t ve wasn weren won wouldn
    """.split()
)


def stop_word_tokens(words: str | Iterable[str] | None) -> list[bytes] | None:
    """The tokens to leave out, sorted: those of a named list, of the words given, or None."""
    if words is None:
        return None
    if isinstance(words, str):
        if words != "english":
            raise ParameterError(
                f"stop_words: unknown: {words!r}, wanted 'english' or a list of words",
                hint="one's own words: stop_words=['und', 'oder']",
            )
        return sorted(word.encode() for word in ENGLISH)
    found: set[bytes] = set()
    for word in words:
        if not isinstance(word, str):
            raise ParameterError(
                f"stop_words: wrong type: {type(word).__name__} in the list, wanted str"
            )
        canonical, _ = _core.tokenize(word.encode("utf-8", "surrogatepass"), False)
        found.update(canonical.split())
    return sorted(found)
