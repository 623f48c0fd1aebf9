"""`python -m bench accuracy_script [--messages FOLDER]`: what w = 5 means in other scripts.

The same sentences in ten languages: the messages of LibreOffice that all of its translations have,
cut into texts of SENTENCES each. FOLDER holds its Debian packages (apt-get download
libreoffice-l10n-LANGUAGE); what is missing there is fetched. Since every language says the same,
what differs between them is the script and how it is cut into tokens:
- unrelated: two different texts of one language; what they have in common is chance. Here it is
  more than in prose, for messages are of one subject; the languages can be compared all the same.
- long: the same of two halves of all texts: the longer texts are, the more chance gives them.
- a sentence exchanged: one of the text's sentences is another one; what that costs is as much in
  any language, if tokens are no wider than sentences.
- a word replaced: a run of as many characters as an English word of five has of the whole text.
"""

import argparse
import gettext
import random
import subprocess
import sys
import tempfile
from collections.abc import Callable, Sequence
from pathlib import Path

import numpy as np
import numpy.typing as npt

from bench.report import Section, Table
from bench.session import Session, add_output_options
from roughly import _core

LANGUAGES = {
    "en-gb": "English",
    "de": "German",
    "ru": "Russian",
    "ar": "Arabic",
    "hi": "Hindi",
    "ko": "Korean",
    "zh-cn": "Chinese",
    "ja": "Japanese",
    "th": "Thai",
    "km": "Khmer",
}
SENTENCES = 25
LEAST_CHARACTERS = 40  # of an English message: those are sentences, shorter ones labels
WIDTHS = (3, 5, 8, 10, 15, 20)
PAIRS = 2_000
SEED = 20_261_116

Texts = dict[str, list[list[str]]]  # by language, the sentences of every text


def fetch(folder: Path) -> None:
    """The packages that are not in the folder yet."""
    names = [f"libreoffice-l10n-{language}" for language in LANGUAGES]
    missing = [name for name in names if not list(folder.glob(f"{name}_*.deb"))]
    if missing:
        subprocess.run(["apt-get", "-qq", "download", *missing], cwd=folder, check=True)


def catalogue(package: Path) -> dict[str, str]:
    """All messages of a package: what they are a translation of, and the translation."""
    found: dict[str, str] = {}
    with tempfile.TemporaryDirectory() as folder:
        subprocess.run(["dpkg-deb", "-x", str(package), folder], check=True)
        for path in sorted(Path(folder).rglob("*.mo")):
            with path.open("rb") as file:
                messages = vars(gettext.GNUTranslations(file))["_catalog"]
            for key, text in messages.items():
                if isinstance(key, str) and isinstance(text, str):
                    found[f"{path.stem}\x04{key}"] = text
    return found


def texts_of(folder: Path) -> Texts:
    """The sentences that every language has, cut into texts."""
    own = {
        language: catalogue(next(folder.glob(f"libreoffice-l10n-{language}_*.deb")))
        for language in LANGUAGES
    }
    seen: set[str] = set()
    keys = []
    for key in sorted(set.intersection(*(set(messages) for messages in own.values()))):
        english = key.rpartition("\x04")[2]
        translated = all(
            own[language][key] != english for language in LANGUAGES if language != "en-gb"
        )
        if len(english) >= LEAST_CHARACTERS and translated and english not in seen:
            seen.add(english)
            keys.append(key)
    random.Random(SEED).shuffle(keys)
    groups = [keys[at : at + SENTENCES] for at in range(0, len(keys) - SENTENCES, SENTENCES)]
    return {
        language: [[messages[key] for key in group] for group in groups]
        for language, messages in own.items()
    }


def shingles(text: str, w: int) -> set[int]:
    return set(_core.fingerprints(text.encode(), False, w, 64, 0).tolist())


def resemblance(a: set[int], b: set[int]) -> float:
    return len(a & b) / max(len(a | b), 1)


def unrelated(texts: list[list[str]], w: int) -> npt.NDArray[np.float64]:
    """The resemblance of pairs of different texts."""
    own = [shingles("\n".join(text), w) for text in texts]
    draw = random.Random(SEED)
    pairs = (draw.sample(range(len(own)), 2) for _ in range(PAIRS))
    return np.array([resemblance(own[a], own[b]) for a, b in pairs])


def halves(texts: list[list[str]], w: int) -> float:
    """The resemblance of all texts of the first half, as one, and of the second."""
    middle = len(texts) // 2
    ends = texts[:middle], texts[middle:]
    one, other = (shingles("\n".join(s for text in some for s in text), w) for some in ends)
    return resemblance(one, other)


def edited(
    texts: list[list[str]], w: int, edit: Callable[[list[str], random.Random], list[str]]
) -> float:
    """The mean resemblance of texts and what an edit makes of them."""
    draw = random.Random(SEED)
    found = [
        resemblance(shingles("\n".join(text), w), shingles("\n".join(edit(text, draw)), w))
        for text in texts
    ]
    return float(np.mean(found))


def exchange(texts: list[list[str]]) -> Callable[[list[str], random.Random], list[str]]:
    """One sentence for one of another text."""

    def edit(text: list[str], draw: random.Random) -> list[str]:
        other = draw.choice(draw.choice(texts))
        at = draw.randrange(len(text))
        return [*text[:at], other, *text[at + 1 :]]

    return edit


def replace_words(share: float) -> Callable[[list[str], random.Random], list[str]]:
    """In five places as many letters as an English word has there are others of the same text."""

    def edit(text: list[str], draw: random.Random) -> list[str]:
        whole = "\n".join(text)
        length = max(round(share * len(whole)), 1)
        for _ in range(5):
            to, source = (draw.randrange(len(whole) - length) for _ in range(2))
            whole = whole[:to] + whole[source : source + length] + whole[to + length :]
        return [whole]

    return edit


def table(texts: Texts) -> list[Section]:
    english = texts["en-gb"]
    # A word and its space.
    share = 6 / float(np.mean([len("\n".join(text)) for text in english]))
    cut = Section("texts", f"{len(english)} texts of {SENTENCES} sentences in every language")
    by_chance = Section("unrelated", f"{PAIRS:,} pairs of different texts of one language")
    by_edit = Section("edited", "mean resemblance of a text and what an edit leaves of it")
    rows: list[list[list[str | float | None]]] = [[], [], [], [], []]
    for language, name in LANGUAGES.items():
        own = texts[language]
        tokens = [len(_core.tokenize("\n".join(text).encode(), False)[1]) for text in own]
        letters = [len("\n".join(text)) for text in own]
        rows[0].append([name, float(np.mean(letters)), float(np.mean(tokens))])
        chance = {w: unrelated(own, w) for w in WIDTHS}
        rows[1].append([name, *(f"{chance[w].mean():.4f}" for w in WIDTHS)])
        rows[1][-1] += [f"{np.quantile(chance[5], 0.999):.3f}", f"{chance[5].max():.3f}"]
        rows[4].append([name, *(f"{halves(own, w):.4f}" for w in WIDTHS)])
        rows[2].append([name, *(edited(own, w, exchange(own)) for w in WIDTHS)])
        rows[3].append([name, *(edited(own, w, replace_words(share)) for w in WIDTHS)])
    widths = [f"w={w}" for w in WIDTHS]
    cut.tables.append(Table(("language", "characters", "tokens"), rows[0]))
    by_chance.tables.append(Table(("mean", *widths, "w=5: 99.9%", "w=5: most"), rows[1]))
    by_chance.tables.append(Table(("long", *widths), rows[4]))
    by_edit.tables.append(Table(("a sentence exchanged", *widths), rows[2]))
    by_edit.tables.append(Table(("five words replaced", *widths), rows[3]))
    return [cut, by_chance, by_edit]


def main(argv: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(prog="python -m bench accuracy_script", description=__doc__)
    parser.add_argument("--messages", type=Path, metavar="FOLDER", help="where the packages are")
    add_output_options(parser)
    arguments = parser.parse_args(argv)
    session = Session("full", "accuracy-script")
    with tempfile.TemporaryDirectory() as scratch:
        folder = arguments.messages or Path(scratch)
        fetch(folder)
        for section in table(texts_of(folder)):
            session.add(section)
    return session.finish(arguments.json, arguments.record)


if __name__ == "__main__":
    sys.exit(main())
