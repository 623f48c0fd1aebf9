"""Where a page went, as a section of a page: the way from place to place, with the evidence."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import asdict

from roughly.corpus.lost import Trace
from roughly.report.change_lines import certainty
from roughly.report.markup import escaped, name
from roughly.web.pages.layout import address, document_link
from roughly.web.pages.page import Data

KINDS = {
    "there": "at its URL",
    "same": "the same text",
    "moved": "moved",
    "merged": "merged",
    "split": "split",
    "gone": "gone",
    "reused": "URL reused",
    "unknown": "not known",
}
_BECAME = {
    "same": "The same text is at",
    "moved": "It moved, and was edited, to",
    "merged": "It was merged into",
    "split": "It was split; a part of it is at",
}


def trace_data(trace: Trace) -> Data:
    """All that is known of a page's way, as plain values."""
    return asdict(trace) | {"still_there": trace.still_there, "found": trace.found}


def section(trace: Data, more: str = "") -> str:
    """What became of a page, and `more` below it."""
    steps = "".join(_step(step) for step in trace["steps"])
    way = f'<ol class="steps">{steps}</ol>' if steps else ""
    return f'<section id="trace"><h2>{headline(trace)}</h2>{_standing(trace)}{way}{more}</section>'


def headline(trace: Data) -> str:
    """The one sentence that tells most."""
    move = trace["moves"][0]
    if move["new"] is None:
        return "It is gone, as far as can be told"
    if trace["reused"] is not None:
        return "Its URL has another text now; its own is elsewhere"
    if trace["still_there"]:
        return "It is where it was"
    return {
        "same": "It is elsewhere, word for word",
        "moved": "It moved, and was edited",
        "merged": "It was merged into another page",
        "split": "It was split into several pages",
    }[move["kind"]]


def _standing(trace: Data) -> str:
    """What is at its URL."""
    latest, first = name(trace["latest"]), name(trace["first_seen"])
    if trace["reused"] is not None:
        told = (
            f"The URL is there on {latest}, but with another text since {name(trace['reused'])}:"
            f" resemblance {trace['resemblance_there']:.3f} to the version before."
        )
    elif not trace["still_there"]:
        told = f"First seen on {first}, last seen there on {name(trace['last_seen'])}."
    elif trace["changed"] is None:
        told = f"Still there on {latest}, unchanged since {first}."
    else:
        told = (
            f"Still there on {latest}, last changed by {name(trace['changed'])}: resemblance"
            f" {trace['resemblance_there']:.3f} to the version before."
        )
    return f"<p>{told}</p>"


def _step(step: Data) -> str:
    dates = f'<p class="made">{name(step["from_date"])} to {name(step["to_date"])}</p>'
    if step["moves"][0]["new"] is None:
        like = "enough like it" if step["alternatives"] else "like it"
        sure = certainty(step["moves"][0]["confidence"])
        body = f"<p>{badge('gone')} Nothing is {like}; confidence {sure}.</p>"
    else:
        body = "".join(_place(move, step) for move in step["moves"])
    others = step["alternatives"]
    if others:
        equal = others[0]["confidence"] >= step["moves"][0]["confidence"]
        rows = "".join(
            f"<li>{places([other['new']])}<br>{evidence(other)}, confidence"
            f" {certainty(other['confidence'])}</li>"
            for other in others
        )
        title = "As likely, or less" if equal else "Less likely"
        body += f"<details><summary>{title}: {len(others)}</summary><ul>{rows}</ul></details>"
    return f"<li>{dates}{body}</li>"


def _place(move: Data, step: Data) -> str:
    side = compare_link(move["old"], step["from_date"], move["new"], step["to_date"])
    return (
        f"<p>{badge(move['kind'])} {_BECAME[move['kind']]} {places([move['new']])}</p>"
        f'<p class="told">{evidence(move)}, confidence {certainty(move["confidence"])}. {side}</p>'
    )


def evidence(move: Data) -> str:
    """What speaks for a move."""
    return (
        f"Resemblance {move['resemblance']:.3f}, {move['containment']:.0%} of the old text is there"
    )


def badge(kind: str) -> str:
    """The word for what became of a page."""
    return f'<span class="badge fate-{escaped(kind)}">{escaped(KINDS.get(kind, kind))}</span>'


def places(urls: Iterable[str]) -> str:
    """Where pages are, with a way to their history."""
    return " ".join(f"{document_link(url)} {page_link(url)}" for url in urls)


def page_link(url: str) -> str:
    """To one page through time."""
    # The name says which page: a list has many of these.
    said = f'aria-label="Through time: {escaped(url[:200])}"'
    return f'<a class="onward" href="{address("/page", {"url": url})}" {said}>through time</a>'


def compare_link(old: str, old_date: str, new: str, new_date: str, text: str = "") -> str:
    """To both side by side."""
    given = {"a": old, "a_date": old_date, "b": new, "b_date": new_date}
    return f'<a href="{address("/compare", given)}">{text or "Side by side"}</a>'
