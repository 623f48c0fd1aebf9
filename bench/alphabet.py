"""The letters of scripts other than plain Latin, for texts that exercise the non-ASCII paths.

Letters are listed with the frequent ones repeated. Words made of them mean nothing; what matters is
how many bytes a letter has, which letters fold to something else, and what separates words.
"""

from typing import NamedTuple


class Alphabet(NamedTuple):
    """How a text in a script is put together."""

    letters: tuple[str, ...]
    longest: int  # letters in a word
    sentence: tuple[tuple[str, float], ...]  # what stands after a word, and how often

    @property
    def marks(self) -> dict[str, float]:
        return dict(self.sentence)


_WESTERN = ((" ", 0.862), (", ", 0.06), (". ", 0.06), (".\n\n", 0.018))
_ARABIC = ((" ", 0.862), ("، ", 0.06), (". ", 0.06), (".\n\n", 0.018))
_HINDI = ((" ", 0.862), (", ", 0.06), ("। ", 0.06), ("।\n\n", 0.018))
# No spaces: words run together, and only punctuation is seen between them.
_CJK = (("", 0.862), ("、", 0.06), ("。", 0.06), ("。\n\n", 0.018))

ALPHABETS = {
    "accented Latin": Alphabet(
        tuple("eeeennniiissrraattddhhuullccggmmoobbwwffkkzzpv" * 2 + "äöüßéèàçê"), 11, _WESTERN
    ),
    "Cyrillic": Alphabet(
        tuple("ооооееееаааииинннтттсссррввллккммддппууяяыьгзбчйхжшюцщэфъё"), 11, _WESTERN
    ),
    "Greek": Alphabet(
        tuple("αααοοοιιιεεεττσσννηηυυρρππκκμμλλωωςςδδγγχθφβξζψάέήίόύώ"), 11, _WESTERN
    ),
    "Arabic": Alphabet(tuple("ااااللللييميممنننررتتووبببههععددسسفقكحجشصخةىئءذطغضظزث"), 8, _ARABIC),
    "Devanagari": Alphabet(
        tuple("ककररररननससततममलप हहदववयजगबटचशखभथधणडअइउआएऐ".replace(" ", "")) + tuple("ाााािीीेेेोैु्््ंं"),
        8,
        _HINDI,
    ),
    "Japanese": Alphabet(
        tuple("のののにはをたがでてとしれさいるなあもかうくこよりきっまらせみけめえお")
        + tuple("アイウカキクコサシスタテトナニフマメラリルレロンー")
        + tuple("日本人年大国会中出上生時行見月分後前間話学校東京都市新聞電車山川水火木金土"),
        6,
        _CJK,
    ),
    "Chinese": Alphabet(
        tuple(
            "的的的一一是是不不了在人有我他这中大来上国个到说们为子和你地出道也时年得就那要下以生会自着去之过家学对可她里后小"
        ),
        4,
        _CJK,
    ),
}
