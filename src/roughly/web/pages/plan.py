"""What an index of simhashes costs in each design: a form, and what `roughly hamming plan` prints.
Nothing of the corpus is read but how many documents it has."""

from __future__ import annotations

from roughly.documents.file import printable
from roughly.errors import ParameterError
from roughly.hamming.design import LARGEST_BITS, LARGEST_K, check_bits, check_k
from roughly.hamming.plan import plan_object, size
from roughly.report.figure import table
from roughly.report.markup import escaped
from roughly.report.plan_lines import HEAD, cells, time
from roughly.web.pages.layout import address, frame
from roughly.web.pages.page import Data, Page, Query, View

_MOST = 1 << 48
_K = 3
_SAID = (
    "<em>Fewest</em> is the paper's recurrence (3.1.2): the fewest tables with as many leading "
    "bits. <em>Matches</em> are simhashes that agree with a query in these. <em>Entries</em> are "
    "those that a query looks at. Times are predicted, for an index that is in memory."
)


def data(view: View, query: Query) -> Data:
    """The plan for so many documents, k bits and a memory; without a number of documents, for
    those of the corpus."""
    own = max(1, len(view.corpus))
    documents = _count(query, "documents", own, 1, _MOST)
    k = check_k(_count(query, "k", _K, 0, LARGEST_K))
    bits = check_bits(_count(query, "bits", LARGEST_BITS, 1, LARGEST_BITS))
    memory = query.get("memory")
    if len(memory) > 20:
        raise ParameterError(
            f"memory: not a size: {printable(memory[:40])}, wanted one as in 512M, 2G or 1.5G"
        )
    return {
        "corpus_documents": own,
        "memory": memory,
        "plan": plan_object(documents, bits, k, memory or None),
    }


def _count(query: Query, name: str, default: int, least: int, most: int) -> int:
    """A whole number; people write thousands with commas."""
    text = query.get(name).replace(",", "").replace("_", "")
    if not text:
        return default
    whole = text.isascii() and text.isdigit() and len(text) < 20
    if not whole or not least <= int(text) <= most:
        raise ParameterError(
            f"{name}: out of range: {printable(text[:40])}, wanted {least:,} to {most:,}"
        )
    return int(text)


def html(found: Data) -> str:
    """The same as a page."""
    plan = found["plan"]
    asked = {
        "documents": plan["documents"],
        "k": plan["k"],
        "bits": plan["bits"],
        "memory": found["memory"],
    }
    return frame(
        "Hamming plan",
        '<h1>What an index of simhashes costs</h1><p class="told">An index finds all simhashes that'
        " differ from one in at most k bits: the tables of the 2007 paper (3.1), and the compact"
        f" designs and the scan of this package.</p>{_form(found)}{_taken(plan)}{_table(plan)}",
        here="/plan",
        twin=address("/plan.json", asked),
    )


def _form(found: Data) -> str:
    plan = found["plan"]
    number = 'type="number" min="{0}" max="{1}" step="1"'
    fields = (
        ("documents", "Documents", 'type="text" inputmode="numeric"', f"{plan['documents']:,}"),
        ("k", "Bits that may differ (k)", number.format(0, LARGEST_K), plan["k"]),
        ("bits", "Bits of a simhash", number.format(1, LARGEST_BITS), plan["bits"]),
        ("memory", "Memory, as 2G", 'type="text" placeholder="any"', found["memory"]),
    )
    return (
        '<form class="row plan" method="get" action="/plan">'
        + "".join(
            f'<div><label for="{name}">{label}</label>'
            f'<input id="{name}" name="{name}" {kind} value="{escaped(str(value))}"'
            ' autocomplete="off"></div>'
            for name, label, kind, value in fields
        )
        + "<button>Show the plan</button></form>"
    )


def _taken(plan: Data) -> str:
    indexes = plan["indexes"]
    several = "" if indexes == 1 else f", in {indexes:,} indexes, each of which is asked"
    return (
        f'<p class="note">Take <strong>{escaped(plan["recommended"])}</strong>:'
        f" {size(plan['recommended_bytes'])}, {time(plan['recommended_seconds'])} a query{several}."
        f" By chance {plan['by_chance']:.2g} of {plan['documents']:,} simhashes are near one.</p>"
    )


def _table(plan: Data) -> str:
    rows = []
    for design in plan["designs"]:
        first, tables, fewest, bits, *others = map(escaped, cells(design, plan["documents"]))
        if design["design"] == plan["recommended"]:
            first = f'<strong>{first}</strong> <span class="hint">the one to take</span>'
        whose = "the 2007 paper" if design["origin"] == "paper" else "roughly"
        rows.append((first, whose, bits, tables, fewest, *others))
    name, tables, fewest, bits, *others = HEAD
    head = [name, "whose", bits, tables, fewest, *others]
    return (
        '<section id="designs"><h2>Designs</h2>'
        f"{table([word.capitalize() for word in head], rows, words=3, label='Designs')}"
        f'<p class="told">{_SAID}</p></section>'
    )


PAGES = (Page("/plan", data, html),)
