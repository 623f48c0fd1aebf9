"""Porter's stemmer: the examples of his paper, rule by rule, and core = reference."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from roughly import _core
from tests.reference.stem import m, stem

pytestmark = pytest.mark.core

# Whole words of the paper's examples that no later step changes, or with what later steps leave.
PUBLISHED = """
caresses caress|ponies poni|ties ti|caress caress|cats cat|feed feed|agreed agre|plastered plaster
bled bled|motoring motor|sing sing|conflated conflat|troubled troubl|sized size|hopping hop
tanned tan|falling fall|hissing hiss|fizzed fizz|failing fail|filing file|happy happi|sky sky
relational relat|conditional condit|rational ration|valenci valenc|hesitanci hesit|digitizer digit
conformabli conform|radicalli radic|differentli differ|vileli vile|analogousli analog
vietnamization vietnam|predication predic|operator oper|feudalism feudal|decisiveness decis
hopefulness hope|callousness callous|formaliti formal|sensitiviti sensit|sensibiliti sensibl
triplicate triplic|formative form|formalize formal|electriciti electr|electrical electr
hopeful hope|goodness good|revival reviv|allowance allow|inference infer|airliner airlin
gyroscopic gyroscop|adjustable adjust|defensible defens|irritant irrit|replacement replac
adjustment adjust|dependent depend|adoption adopt|homologou homolog|communism commun
activate activ|angulariti angular|homologous homolog|effective effect|bowdlerize bowdler
probate probat|rate rate|cease ceas|controll control|roll roll
generalizations gener|oscillators oscil
"""
EXAMPLES = [
    example.split() for line in PUBLISHED.strip().splitlines() for example in line.split("|")
]

# The paper's examples of the measure.
MEASURES = {
    0: "tr ee tree y by",
    1: "trouble oats trees ivy",
    2: "troubles private oaten orrery",
}


@pytest.mark.parametrize(("word", "wanted"), EXAMPLES)
def test_examples_of_the_paper(word: str, wanted: str) -> None:
    assert _core.stem_english(word.encode()) == wanted.encode()
    assert stem(word.encode()) == wanted.encode()


def test_measure_of_the_reference() -> None:
    for measure, examples in MEASURES.items():
        assert [m(word) for word in examples.split()] == [measure] * len(examples.split())


@pytest.mark.parametrize(
    "token", [b"", b"as", b"is", b"caf\xc3\xa9s", b"x2s", b"1990s", b"s" * 65, b"yy" * 40]
)
def test_what_is_no_english_word_stays(token: bytes) -> None:
    assert _core.stem_english(token) == token == stem(token)


SUFFIXES = """ational tional enci anci izer abli alli entli eli ousli ization ation ator alism
iveness fulness ousness aliti iviti biliti icate ative alize iciti ical ful ness al ance ence er ic
able ible ant ement ment ent sion tion ou ism ate iti ous ive ize e ll sses ies ss s eed ed ing
y""".split()
letters = st.text(st.sampled_from("aeiouybcdlstz"), max_size=8)


@given(st.lists(st.one_of(letters, st.sampled_from(SUFFIXES)), min_size=1, max_size=4).map("".join))
def test_core_is_the_reference(word: str) -> None:
    token = word.encode()
    found = _core.stem_english(token)
    assert found == stem(token)
    assert len(found) <= len(token)
