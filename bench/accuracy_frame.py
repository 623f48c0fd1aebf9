"""`python -m bench accuracy_frame [--truth FOLDER]`: frames of sites, and what a discount does.

Four collections, each clustered at 0.5 with several discounts; FOLDER as for `bench accuracy`:
- framed: news texts that have nothing to do with one another, 25 to a site, each in the frame of a
  real page (what is left of a page of html_pages when its body, which somebody marked, is taken
  out). Of every tenth text there is an edited version on the same site, every tenth is on another
  site as well, and every site has ten empty pages: its frame and the name of a page. What is a copy
  of what is known by construction.
- moves: a real site on two dates, without its frame; true are a page's two dates, and where others
  went by their labels.
- sample web: pages that roughly writes itself, with the truth about them; false are only those that
  it calls boilerplate or unrelated.
- versions: what a discount is wrong for, sites on which every page is a version of one text.
"""

import argparse
import random
import sys
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import NamedTuple
from urllib.parse import urlsplit

import numpy as np

import roughly
from bench.accuracy_set import rows, truth_folder
from bench.report import Section, Table
from bench.session import Session, add_output_options
from roughly import _core
from roughly.clustering import Clusters

W = 5
DISCOUNTS = (None, "host:0.9", "host:0.7", "host:0.5", "host:0.3", "host:0.2", "host:0.1")
OF_CORPUS = ("corpus:0.5", "corpus:0.1", "corpus:0.05", "corpus:0.01")
SITE_PAGES = 25
EMPTY_PAGES = 10
EVERY = 10  # text is edited, or is on another site
REPLACED = 0.03  # of the words of an edited text
VERSION_SITES, VERSION_PAGES = 50, 12
SEED = 20_261_116

Key = tuple[str, str]  # id, date
Pairs = set[tuple[Key, Key]]


class Case(NamedTuple):
    """Documents, and which of them are copies."""

    documents: list[dict[str, str]]
    copies: dict[str, Pairs]  # by kind; the earlier document first
    unknown: frozenset[tuple[Key, Key]] = frozenset()  # of which nobody said whether they are
    others: Pairs | None = None  # that are no copies; None: all others


class Found(NamedTuple):
    """What a clustering says of a case."""

    true: int  # pairs at the threshold that are copies
    false: int
    recall: dict[str, float]  # by kind
    largest: int  # documents in the largest cluster


def frames(truth: Path) -> list[tuple[str, str]]:
    """Of real pages what stands before and behind their bodies."""
    found = []
    hosts = set()
    for page in rows(truth / "html_pages" / "pages.jsonl.gz"):
        # Of two pages of one host the frames are the same.
        if "body" not in page or (host := urlsplit(page["url"]).hostname) in hosts:
            continue
        hosts.add(host)
        words = _words(page["html"], True)
        body = set(_shingles(_words(page["body"], False)))
        inside = np.zeros(len(words), bool)
        for at, shingle in enumerate(_shingles(words)):
            if shingle in body:
                inside[at : at + W] = True
        middle = int(np.median(np.flatnonzero(inside))) if inside.any() else len(words)
        left = [n for n in range(len(words)) if not inside[n]]
        before = " ".join(words[n] for n in left if n < middle)
        found.append((before, " ".join(words[n] for n in left if n >= middle)))
    return [each for each in found if len(" ".join(each).split()) >= 50]


def framed(truth: Path) -> Case:
    draw = random.Random(SEED)
    around = frames(truth)
    planted = {row[end] for row in rows(truth / "news_planted" / "pairs.jsonl.gz") for end in "ab"}
    texts = [
        row["text"]
        for row in rows(truth / "news_planted" / "docs.jsonl.gz")
        if row["id"] not in planted
    ]
    draw.shuffle(texts)
    sites = len(texts) // SITE_PAGES
    documents: list[dict[str, str]] = []
    copies: dict[str, Pairs] = {"edited": set(), "other site": set(), "empty": set()}

    def add(site: int, name: str, text: str) -> Key:
        before, behind = around[site % len(around)]
        id = f"https://site{site:03}.example/{name}"
        documents.append({"id": id, "text": f"{before} {text} {behind}", "date": ""})
        return id, ""

    for number, text in enumerate(texts[: sites * SITE_PAGES]):
        site = number // SITE_PAGES
        own = add(site, f"news/{number}", text)
        if number % EVERY == 0:
            copies["edited"].add(_pair(own, add(site, f"print/{number}", _edited(text, draw))))
        elif number % EVERY == 5:
            other = (site + 1 + draw.randrange(sites - 1)) % sites
            copies["other site"].add(_pair(own, add(other, f"agency/{number}", text)))
    for site in range(sites):
        names = [f"gone/{site}-{page}" for page in range(EMPTY_PAGES)]
        empty = [add(site, name, f"there is no page {name}") for name in names]
        copies["empty"] |= {_pair(a, b) for at, a in enumerate(empty) for b in empty[:at]}
    return Case(documents, copies)


def moves(truth: Path) -> Case:
    documents: list[dict[str, str]] = []
    dates = ("2024-11-01", "2025-06-15")
    urls: list[set[str]] = []
    for date in dates:
        own = rows(truth / "moves" / f"{date}.jsonl.gz")
        documents += [{"id": row["url"], "text": row["text"], "date": date} for row in own]
        urls.append({row["url"] for row in own})
    same = {((url, dates[0]), (url, dates[1])) for url in urls[0] & urls[1]}
    moved: Pairs = set()
    other: Pairs = set()
    for row in rows(truth / "moves" / "lost.jsonl.gz"):
        to = row.get("to") or []
        for each in [to] if isinstance(to, str) else to:
            kept = moved if row["label"] == "moved" else other
            kept.add(((row["lost"], dates[0]), (each, dates[1])))
    return Case(documents, {"same URL": same, "moved": moved}, frozenset(other))


def sampled() -> Case:
    from roughly.sample_web import sample_web

    web = sample_web(pages=1000, seed=0)
    documents = [
        {"id": d.url, "text": d.content.decode("utf-8", "replace"), "date": d.date}
        for d in web.documents
    ]
    wanted = ("edited", "version", "republished", "customized", "session", "refetched")
    copies: dict[str, Pairs] = {kind: set() for kind in wanted}
    others: Pairs = set()
    for pair in web.pairs:
        each = _pair(pair.a, pair.b)
        if pair.relation in wanted:
            copies[pair.relation].add(each)
        elif pair.relation in ("boilerplate", "unrelated"):
            others.add(each)
    return Case(documents, copies, others=others)


def versions(truth: Path) -> Case:
    draw = random.Random(SEED)
    texts = [row["text"] for row in rows(truth / "news_planted" / "docs.jsonl.gz")[:VERSION_SITES]]
    copies: Pairs = set()
    documents = []
    for site, text in enumerate(texts):
        own = []
        for page in range(VERSION_PAGES):
            id = f"https://site{site:03}.example/{page:02}"
            documents.append({"id": id, "text": _edited(text, draw), "date": ""})
            own.append((id, ""))
        copies |= {_pair(a, b) for at, a in enumerate(own) for b in own[:at]}
    return Case(documents, {"versions": copies})


def judge(case: Case, discount: str | None, select: str = "adaptive:200") -> Found:
    found = roughly.cluster(
        case.documents,
        "0.5",
        discount=discount,
        sketcher=roughly.Sketcher(select=select),
        date_field="date",
    )
    true: Pairs = set().union(*case.copies.values())
    table = found.documents()
    # Of one URL at two dates the later one has a mark behind it.
    ids = [id.removesuffix("#2").removesuffix("#3") for id in table["id"].to_pylist()]
    keys = [(id, date or "") for id, date in zip(ids, table["date"].to_pylist(), strict=True)]
    place = {key: at for at, key in enumerate(keys)}
    said = {_pair(keys[a], keys[b]) for a, b in _strong(found)}
    recall = {}
    for kind, pairs in case.copies.items():
        asked = np.array([(place[a], place[b]) for a, b in sorted(pairs) if a in place])
        recall[kind] = float((found.resemblances(asked) >= 0.5).mean())
    wrong = said - true - case.unknown if case.others is None else said & case.others
    return Found(
        len(said & true),
        len(wrong),
        recall,
        int(max(found.sizes(), default=1)),
    )


def _strong(found: Clusters) -> Iterator[list[int]]:
    """Pairs of places in document order that reach the threshold; of masses those with the hub."""
    places = found.outcome.groups.representatives
    for table in found._strong_pairs():
        yield from places[table[:, :2]].tolist()


def _pair(a: Key, b: Key) -> tuple[Key, Key]:
    return (a, b) if (a[1], a[0]) < (b[1], b[0]) else (b, a)


def _words(text: str, html: bool) -> list[str]:
    return bytes(_core.tokenize(text.encode(), html)[0]).decode().split()


def _shingles(words: Sequence[str]) -> Iterable[tuple[str, ...]]:
    return (tuple(words[at : at + W]) for at in range(len(words) - W + 1))


def _edited(text: str, draw: random.Random) -> str:
    words = text.split()
    return " ".join(draw.choice(words) if draw.random() < REPLACED else word for word in words)


def section(name: str, case: Case, discounts: Sequence[str | None]) -> Section:
    made = Section(name, f"{len(case.documents):,} documents")
    kinds = list(case.copies)
    table: list[list[str | float | None]] = []
    for discount in discounts:
        found = judge(case, discount)
        shown = [found.recall[kind] for kind in kinds]
        row = [discount or "none", found.true, found.false, *shown, found.largest]
        table.append(row)
    heads = ("discount", "true pairs", "false pairs", *kinds, "largest cluster")
    made.tables.append(Table(heads, table))
    counts = ", ".join(f"{len(case.copies[kind]):,} {kind}" for kind in kinds)
    made.notes.append(f"pairs of copies: {counts}; under their names the share found at 0.5")
    return made


def main(argv: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(prog="python -m bench accuracy_frame", description=__doc__)
    parser.add_argument("--truth", type=Path, default=truth_folder(), metavar="FOLDER")
    add_output_options(parser)
    arguments = parser.parse_args(argv)
    session = Session("full", "accuracy-frame")
    session.add(section("framed", framed(arguments.truth), (*DISCOUNTS, *OF_CORPUS)))
    session.add(section("moves", moves(arguments.truth), DISCOUNTS))
    session.add(section("sample web", sampled(), (*DISCOUNTS, *OF_CORPUS)))
    session.add(section("versions", versions(arguments.truth), DISCOUNTS))
    return session.finish(arguments.json, arguments.record)


if __name__ == "__main__":
    sys.exit(main())
