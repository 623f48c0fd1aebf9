"""How the simhashes of the corpus are distributed: Figures 2a and 2b of the 2007 paper beside
chance, and what the spikes are. For a large corpus, or one without simhashes, it is a job."""

from __future__ import annotations

from dataclasses import fields

from roughly.report.figure import percent
from roughly.report.simhash_page import buckets, empty_section, leading, spike_section
from roughly.report.verdict import plural
from roughly.simhashing.distribution import BUCKETS, Distribution, Spike
from roughly.simhashing.page_kind import Example
from roughly.web.pages.job import SCRIPT, begin, outcome, start_form
from roughly.web.pages.job import section as job_section
from roughly.web.pages.layout import frame
from roughly.web.pages.page import Data, Elsewhere, Page, Query, View
from roughly.web.pages.trace import places
from roughly.web.work.simhash import can_tell, stored_simhasher

# Documents up to which nobody has to wait long: simhashes that are stored are only sorted.
DIRECT_STORED = 500_000
DIRECT_TEXT = 2000


def data(view: View, query: Query) -> Data | Elsewhere:
    """The distribution, or the job that is on it; a posted form starts it."""
    can_tell(view.corpus)
    if query.method == "POST":
        return begin(view, "simhashes", {}, "How simhashes are distributed", "/simhash")
    documents = len(view.corpus)
    most = DIRECT_TEXT if stored_simhasher(view.corpus) is None else DIRECT_STORED
    return {"documents": documents, **outcome(view, "simhashes", {}, direct=documents <= most)}


def html(found: Data) -> str:
    """The same as a page."""
    title = "How simhashes are distributed"
    if found["result"] is not None:
        content = _result(found["result"])
    elif found["job"] is not None:
        content = job_section(found["job"])
        if found["job"]["state"] != "running":
            content += start_form("/simhash", {}, "Try again")
    else:
        content = (
            f"<section><p>The corpus has {plural(found['documents'], 'document')}: this takes a"
            " while. It can be watched and stopped.</p>"
            f"{start_form('/simhash', {}, 'Find out')}</section>"
        )
    return frame(
        title,
        f"<h1>{title}</h1>{content}",
        here="/simhash",
        twin="/simhash.json",
        scripts=(SCRIPT,) if found["job"] is not None else (),
    )


def _result(result: Data) -> str:
    found = distribution_of(result)
    examples = {
        row: Example(**example)
        for spike in result["spikes"]
        for row, example in zip(spike["rows"], spike["examples"], strict=True)
    }
    facts = [
        ("Simhashes", f"{found.documents:,}", f"of {result['features']}"),
        ("Different", f"{found.distinct:,}", percent(found.distinct, found.documents)),
        ("Without", f"{found.empty:,}", "documents without terms"),
        ("Spikes", f"{result['spike_count']:,}", f"of {BUCKETS} buckets"),
    ]
    without = [Example(**each) for each in result["empty_examples"]]
    made = "" if result["stored"] else " The corpus keeps none: these were made of its text."
    return (
        '<dl class="facts">'
        + "".join(
            f"<div><dt>{term}</dt><dd>{number}<small>{note}</small></dd></div>"
            for term, number, note in facts
        )
        + '</dl><p class="told">Random simhashes would part from their neighbours in the order as '
        f"the second line shows, and lie {found.bucket_expected:,.1f} to a bucket. Documents that "
        f"are alike have neighbours that differ in lower bits, and make spikes.{made} "
        '<a href="/plan">What an index of them costs</a></p>'
        f'<div class="figures">{leading(found)}{buckets(found)}</div>'
        f"{spike_section(found.spikes, result['spike_count'], examples, _named)}"
        f"{empty_section(found.empty, without, _named)}"
    )


def _named(url: str) -> str:
    return places([url])


def distribution_of(result: Data) -> Distribution:
    """What the figures are drawn of, from what JSON keeps of it."""
    spikes = [
        Spike(
            **{each.name: spike[each.name] for each in fields(Spike) if each.name != "simhash"},
            simhash=int(spike["simhash"], 16),
        )
        for spike in result["spikes"]
    ]
    names = [each.name for each in fields(Distribution) if each.name != "spikes"]
    return Distribution(**{name: result[name] for name in names}, spikes=spikes)


PAGES = (Page("/simhash", data, html, ("GET", "POST")),)
