"""Porter's stemmer, transcribed from "An algorithm for suffix stripping" (1980), rule by rule.

The form of a word is written out as a string of c and v and asked by regular expressions, which is
as near to the paper's notation as Python comes, and far from how the core does it.
"""

import re

STEP_2 = """ational ate|tional tion|enci ence|anci ance|izer ize|abli able|alli al|entli ent|eli e|
ousli ous|ization ize|ation ate|ator ate|alism al|iveness ive|fulness ful|ousness ous|aliti al|
iviti ive|biliti ble"""
STEP_3 = "icate ic|ative |alize al|iciti ic|ical ic|ful |ness "
STEP_4 = "al ance ence er ic able ible ant ement ment ent ion ou ism ate iti ous ive ize"


def form(word: str) -> str:
    """c for every consonant, v for every vowel; y is a consonant at the beginning and behind a
    vowel."""
    letters = ""
    for letter in word:
        vowel = letter in "aeiou" or (letter == "y" and letters.endswith("c"))
        letters += "v" if vowel else "c"
    return letters


def m(word: str) -> int:
    return len(re.findall("v+c+", form(word)))


def has_vowel(word: str) -> bool:
    return "v" in form(word)


def ends_double(word: str) -> bool:
    return len(word) > 1 and word[-1] == word[-2] and form(word).endswith("c")


def ends_cvc(word: str) -> bool:
    return form(word).endswith("cvc") and word[-1] not in "wxy"


def rules(text: str) -> list[tuple[str, str]]:
    pairs = [tuple(rule.strip("\n").split(" ")) for rule in text.replace("\n", "").split("|")]
    return sorted(((a, b) for a, b in pairs), key=lambda rule: -len(rule[0]))


def replaced(word: str, table: str) -> str:
    """The longest suffix that fits decides."""
    for suffix, other in rules(table):
        if word.endswith(suffix):
            head = word[: -len(suffix)]
            return head + other if m(head) > 0 else word
    return word


def step_1(word: str) -> str:
    for suffix, other in (("sses", "ss"), ("ies", "i"), ("ss", "ss"), ("s", "")):
        if word.endswith(suffix):
            word = word[: -len(suffix)] + other
            break
    if word.endswith("eed"):
        return word[:-1] if m(word[:-3]) > 0 else word
    for suffix in ("ed", "ing"):
        head = word.removesuffix(suffix)
        if head != word:
            if not has_vowel(head):
                return word
            if head.endswith(("at", "bl", "iz")):
                return head + "e"
            if ends_double(head) and head[-1] not in "lsz":
                return head[:-1]
            return head + "e" if m(head) == 1 and ends_cvc(head) else head
    return word


def stem_word(word: str) -> str:
    word = step_1(word)
    if word.endswith("y") and has_vowel(word[:-1]):
        word = word[:-1] + "i"
    word = replaced(replaced(word, STEP_2), STEP_3)
    for suffix in sorted(STEP_4.split(), key=lambda s: -len(s)):
        if word.endswith(suffix):
            head = word[: -len(suffix)]
            if m(head) > 1 and (suffix != "ion" or head.endswith(("s", "t"))):
                word = head
            break
    if word.endswith("e"):
        head = word[:-1]
        if m(head) > 1 or (m(head) == 1 and not ends_cvc(head)):
            word = head
    if m(word) > 1 and word.endswith("ll"):
        word = word[:-1]
    return word


def stem(token: bytes) -> bytes:
    """Of words of 3 to 64 letters from a to z; everything else is its own stem."""
    if not re.fullmatch(rb"[a-z]{3,64}", token):
        return token
    return stem_word(token.decode()).encode()
