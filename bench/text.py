"""Documents to measure on, made here from nothing: the same ones in every run and on every machine.

English-like text with the properties that speed depends on: word frequencies by Zipf's law, words
of 4.9 letters on average, sentences, paragraphs, numbers, and in one document of four the curly
quotes and dashes that make it non-ASCII. Text in other scripts by the same method. No two documents
are the same. `random.Random` draws the same numbers in every version of Python as long as only
`random` and what is a plain function of it (`choices` with weights) are used.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from itertools import accumulate
from random import Random

from bench.alphabet import ALPHABETS, Alphabet

# The words that make up nearly half of any English text, most frequent first.
FUNCTION_WORDS = """
the of and to a in is that it for was on as with be by he at from his are this have not or but had
they which you were her all she there would their we him been has when who will more no if out so
said what up its about into than them can only other new some could time these two may then do first
any my now such like our over man me even most made after also did many before must through back
years where much your way well down should because each just those people how too little state good
very make world still own see men work long get here between both life being under never day same
another know while last might us great old year off come since against go came right used take three
itself few house use during without again place around however home small found thought went say
part once general high upon school every does got united left number course war until always away
something fact though water less public put thing almost hand enough far took head yet government
system better set told nothing night end why called didn't eyes find going look asked later
""".split()

_BEGINNINGS = (
    "b bl br c ch cl cr d dr f fl fr g gl gr h j k l m n p pl pr qu r s sc sh sl sp st str t th tr"
    " v w wh"
).split()
_MIDDLES = "a a e e e i i o o u ai ea ee ie oa oo ou".split()
_ENDINGS = "b ck d ft g l ll m n nd ng nt p r rd rk rm rn rt s sk ss st t x".split()
_SUFFIXES = "ed ing s er ion ly able ment al ous ive ity ness ism ic".split()


@dataclass(frozen=True)
class Vocabulary:
    """Words, and the running totals of their frequencies."""

    words: tuple[str, ...]
    totals: tuple[float, ...]

    def draw(self, random: Random, count: int) -> list[str]:
        return random.choices(self.words, cum_weights=self.totals, k=count)


def _zipf(words: Sequence[str]) -> Vocabulary:
    """Frequencies by Zipf's law in Mandelbrot's form, the first word the most frequent."""
    totals = accumulate(1 / (rank + 2.7) for rank in range(1, len(words) + 1))
    return Vocabulary(tuple(words), tuple(totals))


def _english_word(random: Random, rank: int) -> str:
    """A word of one to three syllables, the frequent ones short."""
    long = min(0.6, rank / 10_000)
    syllables = 1 + (random.random() < long) + (random.random() < long / 4)
    parts: list[str] = []
    for _ in range(syllables):
        parts += random.choices(_BEGINNINGS) + random.choices(_MIDDLES)
    if random.random() < 0.7:
        parts += random.choices(_ENDINGS)
    if random.random() < 0.25:
        parts += random.choices(_SUFFIXES)
    word = "".join(parts)
    return word.capitalize() if random.random() < 0.08 else word


@cache
def english_vocabulary() -> Vocabulary:
    random = Random(1)
    words = dict.fromkeys(FUNCTION_WORDS)
    while len(words) < 30_000:
        words[_english_word(random, len(words))] = None
    return _zipf(list(words))


@cache
def script_vocabulary(script: Alphabet) -> Vocabulary:
    """Words of random letters; frequent ones are short, as everywhere."""
    random = Random(2)
    words: dict[str, None] = {}
    while len(words) < 20_000:
        short = len(words) < 100
        count = 1 + int(random.random() * (2 if short else script.longest))
        words["".join(random.choices(script.letters, k=count))] = None
    return _zipf(list(words))


# What stands after a word, and how often; a mark with "." ends the sentence.
PLAIN = {
    " ": 0.862,
    ", ": 0.055,
    ". ": 0.05,
    "; ": 0.004,
    " - ": 0.004,
    "? ": 0.004,
    ".\n\n": 0.016,
}
CURLY = {" ": 0.85, ", ": 0.055, ". ": 0.05, " — ": 0.006, "’s ": 0.008, " “": 0.005, "” ": 0.005}
CURLY |= {"? ": 0.004, ".\n\n": 0.016, "… ": 0.001}


def _text(random: Random, vocabulary: Vocabulary, marks: dict[str, float], count: int) -> str:
    words = vocabulary.draw(random, count)
    after = random.choices(list(marks), weights=list(marks.values()), k=count)
    after[-1] = ".\n"
    parts: list[str] = []
    begins = True
    for word, mark in zip(words, after, strict=True):
        parts += (word.capitalize() if begins else word, mark)
        begins = mark.startswith((".", "?"))
    return "".join(parts)


def english_texts(count: int, seed: int = 0, words: int = 850) -> list[str]:
    """This many texts of `words` words on average, half to one and a half of it; 850 are 5 kB."""
    random = Random(1000 + seed)
    vocabulary = english_vocabulary()
    texts = []
    for number in range(count):
        marks = CURLY if number % 4 == 3 else PLAIN
        text = _text(random, vocabulary, marks, max(1, int(words * (0.5 + random.random()))))
        # One word in a hundred or so is a number; they are cheap to put in here.
        year = 1900 + int(random.random() * 130)
        texts.append(text.replace(" number ", f" {year} ").replace(" two ", f" {year % 97} "))
    return texts


def script_texts(name: str, count: int, seed: int = 0) -> list[str]:
    """The same in another script of `bench/alphabet.py`, 5 kB of UTF-8 each on average."""
    script = ALPHABETS[name]
    random = Random(2000 + seed)
    vocabulary = script_vocabulary(script)
    sample = len(_text(Random(3), vocabulary, script.marks, 1000).encode()) / 1000
    words = 5000 / sample
    return [
        _text(random, vocabulary, script.marks, max(1, int(words * (0.5 + random.random()))))
        for _ in range(count)
    ]


def edited(text: str, share: float, seed: int = 0) -> str:
    """The text with this share of its words replaced, for pairs of known likeness."""
    random = Random(4000 + seed)
    vocabulary = english_vocabulary()
    words = text.split(" ")
    return " ".join(
        vocabulary.draw(random, 1)[0] if random.random() < share else word for word in words
    )
