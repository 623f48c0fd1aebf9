"""A page of figures: a headline, a few facts, plots, and sections of tables.

One file without a script that asks the network for nothing. Figures and sections come in as markup
(`figure`, `plot`); the title is text and is escaped here.
"""

from __future__ import annotations

from collections.abc import Sequence
from string import Template

from roughly.report.markup import line, name, own_file, policy_hash


def figure_page(
    made: str,
    title: str,
    headline: str,
    facts: Sequence[tuple[str, str, str]],
    told: str,
    figures: str,
    sections: str,
) -> str:
    """`made` is the command that made it, `facts` are terms with their numbers and notes."""
    style = own_file("cluster.css")
    return Template(own_file("figure_page.html")).substitute(
        policy=f"default-src 'none'; style-src {policy_hash(style)}; base-uri 'none'; "
        "form-action 'none'",
        style=style,
        generator=" ".join(made.split()[:2]),
        made=made,
        title=f"{line(title, 80)}: {headline}" if title else headline,
        source=f" · {name(title)}" if title else "",
        headline=headline,
        facts="\n".join(
            f"<div><dt>{term}</dt><dd>{number}<small>{note}</small></dd></div>"
            for term, number, note in facts
        ),
        told=told,
        figures=figures,
        sections=sections,
    )
