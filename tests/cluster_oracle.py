"""Clusters by brute force: every document against every other, on Python sets.

Written from the definitions (docs/clustering.md), for the tests of the phases; `collections` makes
the documents.
"""

import math
import re
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any
from urllib.parse import urlsplit

import numpy as np
from hypothesis import strategies as st

from roughly import Sketcher
from roughly.clustering.discount import Discount
from roughly.clustering.settings import Settings
from roughly.condition import Condition
from roughly.sketch import Sketch, SketchBatch
from tests.test_join import elements_at, expected_hubs, pair_counts

Row = tuple[int, int, int, int]
Document = dict[str, Any]  # id, text, date, perhaps language


# --- collections ---------------------------------------------------------------------------------


def ring(rng: Any, tokens: list[str]) -> list[str]:
    """The same pairs of neighbours from another beginning."""
    at = rng.randrange(len(tokens))
    return [*tokens[at:], *tokens[: at + 1]]


@st.composite
def collections(draw: st.DrawFn) -> list[Document]:
    """Stretches put together and edited, and every kind of equivalence among them."""
    rng = draw(st.randoms(use_true_random=False))
    stretches = [[f"{s}x{i}" for i in range(rng.randint(3, 45))] for s in range(rng.randint(1, 4))]
    texts: list[str] = []
    for _ in range(draw(st.integers(0, 12))):
        kind = rng.choice(["mixed", "mixed", "mixed", "copy", "form", "ring", "short", "empty"])
        earlier = rng.choice(texts) if texts else "a b c"
        if kind == "mixed":
            tokens = [t for _ in range(rng.randint(1, 3)) for t in rng.choice(stretches)]
            share = rng.choice([0, 0.03, 0.15])
            text = " ".join(f"n{rng.randrange(40)}" if rng.random() < share else t for t in tokens)
        elif kind == "copy":
            text = earlier
        elif kind == "form":
            text = earlier.upper().replace(" ", rng.choice([" ", ", ", "\n"])) + "!"
        elif kind == "ring":
            text = " ".join(ring(rng, rng.choice(stretches)))
        elif kind == "short":
            text = " ".join(rng.choice("abc") for _ in range(rng.randint(1, 3)))
        else:
            text = rng.choice(["", " ", "--", "  !"])
        texts.append(text)
    names = rng.sample(["\u00e9", "z", "Z", "a b", "a/b", "\U0001f339", "-", "#2", "0"], 9)
    documents = []
    for number, text in enumerate(texts):
        date = rng.choice([None, None, "2020-01-02", "1997-04-07", "2020-01-10"])
        documents.append({"id": f"{rng.choice(names)}{number}", "text": text, "date": date})
    rng.shuffle(documents)
    return documents


@st.composite
def short_collections(draw: st.DrawFn) -> list[Document]:
    """Short documents of few words, so that words make pairs that shingles do not: bases in other
    orders, with words changed, added or left out; and a few longer ones that have fewer words,
    none, or a level."""
    rng = draw(st.randoms(use_true_random=False))
    vocabulary = [f"v{i}" for i in range(rng.choice([4, 9, 25]))]

    def some(least: int, most: int) -> list[str]:
        return [rng.choice(vocabulary) for _ in range(rng.randint(least, most))]

    bases = [some(1, 16) for _ in range(rng.randint(1, 3))]
    texts: list[str] = []
    for _ in range(draw(st.integers(0, 14))):
        tokens = list(rng.choice(bases))
        kind = rng.choice(
            [
                "same",
                "order",
                "order",
                "word",
                "word",
                "add",
                "cut",
                "ring",
                "long",
                "form",
                "empty",
            ]
        )
        if kind == "order":
            rng.shuffle(tokens)
        elif kind == "word":
            tokens[rng.randrange(len(tokens))] = rng.choice([*vocabulary, f"n{rng.randrange(9)}"])
        elif kind == "add":
            tokens = [*some(0, 3), *tokens, *some(0, 3)]
        elif kind == "cut":
            tokens = tokens[rng.randint(0, 2) : len(tokens) - rng.randint(0, 2)]
        elif kind == "ring":
            tokens = ring(rng, tokens)
        elif kind == "long":
            own = [f"l{rng.randrange(60)}" for _ in range(rng.choice([5, 20, 70]))]
            tokens = [*tokens * rng.randint(1, 3), *own]
        text = "" if kind == "empty" else " ".join(tokens)
        texts.append(text.upper() + "!" if kind == "form" else text)
    documents = []
    for number, text in enumerate(texts):
        date = rng.choice([None, "2020-01-02", "1997-04-07"])
        documents.append({"id": f"{rng.choice('abcz')}{number}", "text": text, "date": date})
    rng.shuffle(documents)
    return documents


# --- the oracle ----------------------------------------------------------------------------------


def canonical(text: str) -> list[str]:
    """Of the ASCII texts that are made here."""
    return re.findall("[a-z0-9]+", text.lower())


@dataclass
class Expected:
    """What clustering must find, in document order."""

    ids: list[str]
    representative: list[int]
    kind: list[str | None]
    rows: list[int]  # the representatives, which pairs number from 0
    hubs: list[int | None]
    pairs: dict[str, list[Row]]  # that are written
    all_pairs: dict[str, list[Row]]  # as if there were no masses
    links: dict[str, list[Row]] = field(default_factory=dict)

    def clusters(
        self, threshold: Fraction, containment: Fraction | None = None, masses: bool = False
    ) -> list[list[str]]:
        pairs = self.pairs if masses else self.all_pairs
        strong = [p for p in pairs["resemblance"] if p[2] >= threshold * p[3]]
        if containment is not None:
            strong += [p for p in pairs["containment"] if p[2] >= containment * p[3]]
        first = list(range(len(self.rows)))
        for _ in first:  # as often as the longest chain may need
            for a, b, _, _ in strong:
                first[a] = first[b] = min(first[a], first[b])
        return self.named([self.rows[f] for f in first])

    def named(self, of_row: list[int]) -> list[list[str]]:
        """Clusters of two or more, from the first document of every representative's cluster."""
        by_row = dict(zip(self.rows, of_row, strict=True))
        members: dict[int, list[str]] = {}
        for name, row in zip(self.ids, self.representative, strict=True):
            members.setdefault(by_row[row], []).append(name)
        return [found for _, found in sorted(members.items()) if len(found) > 1]


def document_order(documents: list[Document]) -> list[Document]:
    return sorted(documents, key=lambda d: (d["date"] or "", d["id"].encode()))


@dataclass
class Facts:
    """What a condition looks at, of documents in document order."""

    condition: Condition
    size: list[int]
    simhash: list[int | None]
    category: list[str]

    @classmethod
    def of(cls, documents: list[Document], sketches: SketchBatch, condition: Condition) -> "Facts":
        """By the definitions in docs/methods.md."""
        count = len(documents)
        simhash: list[int | None] = [None] * count
        if (simhasher := condition.simhasher) is not None:
            simhash = [simhasher.simhash(d["text"], "text") for d in documents]
        category = [""] * count
        if condition.within == "host":
            category = [urlsplit(d["id"]).hostname or "" for d in documents]
        elif condition.within is not None:
            category = [d.get(condition.within) or "" for d in documents]
        return cls(condition, [s.size for s in sketches], simhash, category)

    def distance(self, a: int, b: int) -> int | None:
        one, two = self.simhash[a], self.simhash[b]
        return None if one is None or two is None else (one ^ two).bit_count()

    def comparable(self, a: int, b: int) -> bool:
        condition = self.condition
        small, large = sorted((self.size[a], self.size[b]))
        if self.category[a] != self.category[b]:
            return False
        if condition.size_ratio is not None and small < condition.size_ratio * large:
            return False
        distance = self.distance(a, b)
        return condition.method != "both" or (
            distance is not None and distance <= condition.distance
        )


def equivalence(
    texts: list[str], sketches: SketchBatch, facts: Facts
) -> tuple[list[int], list[str | None]]:
    """Representatives and kinds: the same tokens first, then the same sketch of 20 or more. Only
    documents of one category are equivalent; where simhashes count, those with the same sketch must
    have the same of these too, and by simhashes alone the same sketch is no reason."""
    forms = [
        (canonical(text), category) for text, category in zip(texts, facts.category, strict=True)
    ]
    of_form = [forms.index(form) for form in forms]
    keys = [
        (s.fingerprints.tolist(), s.size, facts.category[n], facts.simhash[n])
        for n, s in enumerate(sketches)
    ]
    by_sketch = facts.condition.method != "simhash"
    representative = []
    for number in of_form:
        same = [n for n in range(len(texts)) if of_form[n] == n and keys[n] == keys[number]]
        rich = len(sketches[number]) >= 20 and by_sketch
        representative.append(same[0] if rich else number)
    kind: list[str | None] = []
    for number, first in enumerate(representative):
        if number == first:
            kind.append(None)
        elif texts[number] == texts[first]:
            kind.append("identical")
        elif forms[number] == forms[first]:
            kind.append("lexical" if forms[number][0] else "empty")
        else:
            kind.append("shingle")
    return representative, kind


def shingles_at(sketch: Sketch, level: int) -> set[int]:
    """The elements that are no words, for containment."""
    found = elements_at(sketch, level)
    return {e for e in found if e < 1 << 63} if sketch.parameters.words else found


def counted_as(batch: SketchBatch, i: int, j: int, measure: str) -> tuple[int, int] | None:
    """common and sampled: of shingles and words for resemblance, of shingles for containment."""
    if measure == "resemblance" or not batch.parameters.words:
        return pair_counts(batch, i, j, measure)
    level = max(batch[i].level, batch[j].level)
    a, b = shingles_at(batch[i], level), shingles_at(batch[j], level)
    return (len(a & b), min(len(a), len(b))) if a and b else None


def heaviest_first(pairs: list[Row]) -> list[Row]:
    return sorted(pairs, key=lambda p: (-Fraction(p[2], max(p[3], 1)), p[0], p[1]))


def maximum_forest(pairs: list[Row], count: int) -> list[Row]:
    tree = [{n} for n in range(count)]
    links = []
    for pair in heaviest_first(pairs):
        a, b = tree[pair[0]], tree[pair[1]]
        if a is not b:
            links.append(pair)
            a |= b
            for n in b:
                tree[n] = a
    return links


def expanded(sketches: SketchBatch, rows: list[int], cut_off: int) -> Callable[[int, int], Any]:
    """The 1997 paper's counts: common elements that not too many documents have."""
    sets = {row: set(sketches[row].fingerprints.tolist()) for row in rows}
    documents = Counter(element for elements in sets.values() for element in elements)

    def counts(a: int, b: int) -> tuple[int, int] | None:
        common = sum(documents[e] <= cut_off for e in sets[a] & sets[b])
        return (common, len(sets[a]) + len(sets[b]) - common) if common else None

    return counts


def super_counts(sketches: SketchBatch, wanted: Settings) -> Callable[[int, int], Any]:
    groups = sketches.parameters.selection[1] // wanted.super_length

    def counts(a: int, b: int) -> tuple[int, int] | None:
        if not (sketches[a].size and sketches[b].size):
            return None
        agreeing = sketches[a].common_super_shingles(sketches[b], wanted.super_length)
        return (agreeing, groups) if agreeing >= wanted.super_agreeing else None

    return counts


def enough(sketches: SketchBatch, rows: list[int], a: int, b: int) -> bool:
    """Whether the one with fewer elements where they meet has 10, or is there whole; of two with as
    many, the later one."""
    one, two = sketches[rows[a]], sketches[rows[b]]
    level = max(one.level, two.level)
    counts = [len(shingles_at(each, level)) for each in (one, two)]
    smaller, count = (one, counts[0]) if counts[0] < counts[1] else (two, counts[1])
    return count >= 10 or count == smaller.size


def simhash_hubs(facts: Facts, rows: list[int], least: int) -> list[int | None]:
    """The first of all documents with the same simhash and category, and size if that counts, where
    these are many."""

    def key(row: int) -> tuple[Any, ...]:
        sized = facts.condition.size_ratio is not None
        return facts.simhash[row], facts.category[row], facts.size[row] if sized else 0

    hubs: list[int | None] = []
    for i, row in enumerate(rows):
        same = [j for j, other in enumerate(rows) if key(other) == key(row)]
        there = facts.simhash[row] is not None and len(same) >= least
        hubs.append(same[0] if there and same[0] != i else None)
    return hubs


def inside_masses(
    sketches: SketchBatch,
    rows: list[int],
    hubs: list[int | None],
    wanted: Settings,
    facts: Facts,
) -> list[Row]:
    """The pairs of one mass that are found at a rung: 0.1, 0.2, ... above the threshold, among
    those that have a hub or are one, by the hubs that they have there. Masses are told by the hubs
    that their documents had at each rung before."""
    found: list[Row] = []
    rung = wanted.threshold + Fraction(1, 10)
    hub_of = {i: hub for i, hub in enumerate(hubs) if hub is not None}
    mass_of: dict[int, tuple[int | None, ...]] = {i: (hub,) for i, hub in hub_of.items()}
    while rung < 1 and mass_of:
        members = sorted({d for i in mass_of for d in (i, hub_of[i])})
        some = [rows[m] for m in members]
        inner = expected_hubs(sketches, rung, wanted.mass, some, facts.category, facts.comparable)
        new = {m: members[hub] for m, hub in zip(members, inner, strict=True) if hub is not None}

        def reached(a: int, b: int, rung: Fraction = rung) -> list[Row]:
            counted = pair_counts(sketches, rows[a], rows[b], "resemblance")
            if not counted or counted[0] < rung * counted[1]:
                return []
            return [(a, b, *counted)] if facts.comparable(rows[a], rows[b]) else []

        after: dict[int, tuple[int | None, ...]] = {}
        for mass in sorted(set(mass_of.values())):
            own = [m for m in members if mass_of.get(m) == mass]
            team = {m: new.get(m, m if m in new.values() else -1 - m) for m in own}
            links, is_dense = dense_links(own, new, team, wanted.mass.most_pairs, reached)
            if len(set(team.values())) == 1 or not is_dense:
                held = [
                    (a, b) for b in own for a in own if a < b and new.get(a, a) != new.get(b, b)
                ]
                held += [(new[b], b) for b in own if new.get(b) in own]
                found += [row for a, b in sorted(set(held)) for row in reached(a, b)]
                after |= {m: (*mass, new[m]) for m in own if m in new}
                hub_of |= {m: new[m] for m in own if m in new}
            else:
                found += links
                after |= dict.fromkeys(own, (*mass, None))
        mass_of = after
        rung += Fraction(1, 10)
    # A dense mass may have one link at several rungs.
    return sorted(set(found))


def dense_links(
    mass: list[int],
    hubs: dict[int, int],
    team: dict[int, int],
    most_pairs: int,
    reached: Callable[[int, int], list[Row]],
) -> tuple[list[Row], bool]:
    """Two links of each document, by docs/clustering.md, and whether the mass is dense."""
    half = (len(mass) - 1) // 2
    ways: list[int] = []
    for n in range(1, 257):
        way = 1 + ((n * 0x9E3779B97F4A7C15 % 2**64 // 2**32) * half // 2**32)
        ways += [way] if half and way not in ways else []
    sampled = [(i, (i + ways[i % len(ways)]) % len(mass)) for i in range(len(mass)) if ways]
    apart = [(mass[i], mass[j]) for i, j in sampled if team[mass[i]] != team[mass[j]]]
    reaching = sum(len(reached(min(pair), max(pair))) for pair in apart)
    if reaching <= 2 * most_pairs:
        return [], False
    tries = min(max(math.ceil(4 * len(mass) / reaching), 32), 256)
    to_hubs = {(hub, d) for d, hub in hubs.items()}
    links = [row for hub, d in to_hubs if {hub, d} <= set(mass) for row in reached(hub, d)]
    for i, d in enumerate(mass):
        others = [mass[(i + way) % len(mass)] for way in ways[:tries]]
        rows = [row for other in others for row in reached(min(d, other), max(d, other))]
        links += [row for row in rows if row[:2] not in to_hubs][: 2 - (d in hubs)]
    return links, True


class Remaining(list[Sketch]):
    """What takes the place of a batch."""

    def __init__(self, batch: SketchBatch) -> None:
        super().__init__(batch)
        self.parameters = batch.parameters


def discounted(
    batch: SketchBatch, ids: list[str], rows: list[int], discount: Discount
) -> SketchBatch:
    """Without the elements that are common in a document's group, by docs/clustering.md."""
    groups: dict[str, list[int]] = {}
    for row in rows:
        host = urlsplit(ids[row]).hostname
        if discount.scope == "corpus" or host is not None:
            groups.setdefault(host or "" if discount.scope == "host" else "", []).append(row)
    remaining = Remaining(batch)
    for members in groups.values():
        for row in members:
            left = []
            for element in batch[row].fingerprints.tolist():
                could = [m for m in members if element % (1 << batch[m].level) == 0]
                having = sum(element in batch[m].fingerprints.tolist() for m in could)
                if having < discount.least or having < discount.share * len(could):
                    left.append(element)
            own = batch[row]
            # Half a shingle counts as one.
            size = (Fraction(own.size * len(left), max(len(own), 1)) + Fraction(1, 2)).__floor__()
            if size >= discount.own:
                remaining[row] = Sketch(
                    own.parameters, np.array(left, np.uint64), size, own.tokens, own.level, "", ""
                )
    return remaining  # type: ignore[return-value]


def expect(documents: list[Document], sketcher: Sketcher, wanted: Settings) -> Expected:
    ordered = document_order(documents)
    texts = [d["text"] for d in ordered]
    sketches = sketcher.sketch_batch(texts, "text")
    facts = Facts.of(ordered, sketches, wanted.condition)
    representative, kind = equivalence(texts, sketches, facts)
    rows = sorted(set(representative))
    if wanted.discount is not None:
        sketches = discounted(sketches, [d["id"] for d in ordered], rows, wanted.discount)
    floors = {"resemblance": wanted.floor}
    if wanted.containment_floor is not None:
        floors["containment"] = wanted.containment_floor
    hubs: list[int | None] = [None] * len(rows)
    if wanted.method == "join":
        hubs = expected_hubs(
            sketches, wanted.threshold, wanted.mass, rows, facts.category, facts.comparable
        )
    elif wanted.method == "hamming":
        hubs = simhash_hubs(facts, rows, wanted.mass.least_frequency)
    pairs: dict[str, list[Row]] = {}
    everything: dict[str, list[Row]] = {}
    for measure, floor in floors.items():
        counts: Callable[[int, int], Any]
        if wanted.method == "expansion":
            counts = expanded(sketches, rows, wanted.cut_off)
        elif wanted.method == "super":
            counts, floor = super_counts(sketches, wanted), Fraction(0)
        elif wanted.method == "hamming":
            counts = lambda a, b: agreeing_bits(facts, a, b)  # noqa: E731
        else:
            counts = lambda a, b, measure=measure: counted_as(sketches, a, b, measure)  # noqa: E731
        found = []
        for b in range(len(rows)):
            for a in range(b):
                counted = counts(rows[a], rows[b]) if facts.comparable(rows[a], rows[b]) else None
                if counted and counted[0] >= floor * counted[1]:
                    found.append((a, b, *counted))
        if measure == "containment":
            found = [
                row for row in found if hubs[row[1]] == row[0] or enough(sketches, rows, *row[:2])
            ]
        everything[measure] = sorted(found)
        pairs[measure] = sorted(
            (a, b, common, sampled)
            for a, b, common, sampled in found
            if (hubs[a] is None or hubs[a] != hubs[b])
            and (wanted.method != "hamming" or hubs[b] == a or hubs[a] is hubs[b] is None)
        )
    if wanted.method == "join":
        pairs["resemblance"] = sorted(
            [*pairs["resemblance"], *inside_masses(sketches, rows, hubs, wanted, facts)]
        )
    links = {m: maximum_forest(found, len(rows)) for m, found in pairs.items()}
    ids = [d["id"] for d in ordered]
    return Expected(ids, representative, kind, rows, hubs, pairs, everything, links)


def agreeing_bits(facts: Facts, a: int, b: int) -> tuple[int, int] | None:
    distance = facts.distance(a, b)
    return None if distance is None else (64 - distance, 64)


def share(counts: tuple[int, int] | None) -> float:
    return counts[0] / counts[1] if counts else 0.0


def contained(sketches: SketchBatch, a: int, b: int) -> float:
    """Of the elements of a that both could have kept, those that b has."""
    level = max(sketches[a].level, sketches[b].level)
    inside, around = (shingles_at(sketches[n], level) for n in (a, b))
    return len(inside & around) / len(inside) if inside else 0.0
