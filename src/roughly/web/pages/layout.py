"""The frame of every page: its head, the navigation, the links to style and scripts.

A page has no style and no script of its own, so that the content security policy can forbid all
that is inline; what it needs lies in `static/` and is named by its content, so that a browser may
keep it for ever. Everything works without the scripts, which only add to what is there.
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from functools import cache
from importlib.resources import files
from urllib.parse import quote, urlencode

from roughly.report.markup import NAME_CHARACTERS, escaped, line, name

# Path and title of what the navigation offers, in its order.
NAVIGATION = (
    ("/", "Overview"),
    ("/search", "Search"),
    ("/compare", "Compare"),
    ("/lost", "Lost and found"),
    ("/changes", "Changes"),
    ("/simhash", "Simhashes"),
    ("/plan", "Plan"),
)


def frame(
    title: str,
    content: str,
    *,
    here: str = "",
    twin: str = "",
    scripts: Sequence[str] = (),
) -> str:
    """A whole page. `content` is markup and opens with the page's h1; `here` is the entry of the
    navigation it belongs to, `twin` the address of its data as JSON, from `address`."""
    current = ' aria-current="page"'
    entries = "".join(
        f'<li><a href="{path}"{current if path == here else ""}>{text}</a></li>'
        for path, text in NAVIGATION
    )
    loaded = "".join(f'<script type="module" src="{static(each)}"></script>\n' for each in scripts)
    data = f'<link rel="alternate" type="application/json" href="{twin}">' if twin else ""
    foot = f'<a href="{twin}">This page as JSON</a>' if twin else ""
    return (
        '<!DOCTYPE html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n'
        '<meta name="viewport" content="width=device-width, initial-scale=1">\n'
        '<meta name="color-scheme" content="light dark">\n'
        '<meta name="referrer" content="same-origin">\n'
        f"<title>{escaped(title)} · roughly</title>\n"
        f'<link rel="icon" type="image/svg+xml" href="{static("icon.svg")}">\n'
        f'<link rel="stylesheet" href="{static("style.css")}">\n{data}\n{loaded}</head>\n<body>\n'
        '<a class="skip" href="#content">Skip to content</a>\n'
        f'<header class="top"><a class="brand" href="/">roughly</a>'
        f'<nav aria-label="Pages"><ul>{entries}</ul></nav></header>\n'
        f'<main id="content" tabindex="-1">\n{content}\n</main>\n'
        f"<footer>{foot}</footer>\n</body>\n</html>\n"
    )


def error_page(status: int, message: str, hint: str | None = None) -> str:
    """The page of a request that could not be answered."""
    titles = {400: "This cannot be answered", 404: "Not found", 413: "Too much at once"}
    title = titles.get(status, "This did not work")
    told = f'<p class="told">{line(hint, 400)}</p>' if hint else ""
    return frame(
        title,
        f'<h1>{title}</h1><p class="error" role="alert">{line(message, 800)}</p>{told}'
        '<p><a href="/">To the overview</a></p>',
    )


def document_link(id: str, most: int = NAME_CHARACTERS) -> str:
    """A document's id; a link to where it was found if it is an address of the web. Other schemes
    (javascript:, data:) stay text."""
    if not id.lower().startswith(("http://", "https://")) or len(id) > 2000:
        return name(id, most)
    return (
        f'<a class="outside" href="{escaped(id)}" rel="noreferrer noopener nofollow">'
        f"{name(id, most)}</a>"
    )


def address(path: str, parameters: Mapping[str, object] | None = None) -> str:
    """A path of this service with a query string, for an attribute of a page."""
    given = {key: value for key, value in (parameters or {}).items() if value not in (None, "")}
    text = {key: str(value).encode("utf-8", "surrogatepass") for key, value in given.items()}
    query = urlencode(text, quote_via=quote)
    return escaped(f"{path}?{query}" if query else path)


@cache
def static(file: str) -> str:
    """The address of a file of `static/`: it changes with the file."""
    content = files("roughly.web").joinpath("static", file).read_bytes()
    return f"/static/{file}?v={hashlib.sha256(content).hexdigest()[:12]}"
