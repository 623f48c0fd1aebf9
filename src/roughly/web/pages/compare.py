"""Any two documents side by side: of the corpus, by their URLs, or texts that are pasted.

Each side is a text if there is one, else a document of the corpus: the one of its date where that
is given, else the latest of the URL.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from roughly.corpus.finding import documents_named
from roughly.documents.file import Document, document, is_html, printable
from roughly.errors import NotFoundError, ParameterError
from roughly.report.markup import escaped
from roughly.web.pages.layout import address, frame
from roughly.web.pages.page import Data, Page, Query, View
from roughly.web.pages.side_by_side import section, side_by_side

if TYPE_CHECKING:
    from roughly.corpus.corpus import Corpus
    from roughly.corpus.lookup import NamedDocument

# What a form gives back of a text that was pasted.
_ECHO = 1 << 20


def data(view: View, query: Query) -> Data:
    """Both documents, or what is still to be given."""
    corpus = view.corpus
    asked = {key: query.get(key) for key in ("a", "a_date", "b", "b_date", "a_text", "b_text")}
    # A search for a text, or for a file, comes here with what it was looking for.
    asked["a_text"] = asked["a_text"] or query.form.get("text", "").strip()
    if query.upload is not None and not asked["a_text"]:
        asked["a_text"] = document("-", query.upload.content).text_utf8.decode("utf-8", "replace")
    given = {key: value[:_ECHO] for key, value in asked.items()}
    sides = [
        _side(corpus, asked[key], asked[f"{key}_date"], asked[f"{key}_text"], key)
        for key in ("a", "b")
    ]
    if sides[0] is None or sides[1] is None:
        return {"asked": given, "comparison": None, "text_kept": corpus.collection.has_text}
    (a, date_a), (b, date_b) = sides[0], sides[1]
    parameters = corpus.manifest.parameters
    return {
        "asked": given,
        "comparison": side_by_side(a, b, parameters, (date_a, date_b)),
        "text_kept": corpus.collection.has_text,
    }


def _side(
    corpus: Corpus, name: str, date: str, text: str, key: str
) -> tuple[Document, str | None] | None:
    if text:
        content = text.encode("utf-8", "surrogatepass")
        html = is_html(content, "auto")
        return Document(f"text {key.upper()}", content, content, html, "utf-8", "utf-8"), None
    if not name:
        return None
    found = named(corpus, name, date)
    return stored(corpus, found), found.date


def named(corpus: Corpus, name: str, date: str = "") -> NamedDocument:
    """The document that a URL or an id, and perhaps a date, mean."""
    found = documents_named(corpus.collection, corpus.searcher, name)
    # The very id comes before other spellings of its page.
    found = [each for each in found if each.id == name] or found
    if not found:
        raise NotFoundError(
            f"{printable(name[:400])}: not in the corpus: no document has this URL",
            hint="paste its text instead",
        )
    if date:
        dates = sorted({each.date or "undated" for each in found})
        # A sweep is called by its day, month or year; its version is the latest of that.
        same = [each for each in found if (each.date or "undated") == date]
        found = same or [each for each in found if (each.date or "undated").startswith(date)]
        if not found:
            raise NotFoundError(
                f"{printable(name[:400])}: not in the corpus at that date: {printable(date[:40])}",
                hint=f"it is there at {', '.join(dates[:20])}",
            )
    return found[-1]


def stored(corpus: Corpus, found: NamedDocument) -> Document:
    """A document with its text."""
    if not corpus.collection.has_text:
        raise ParameterError(
            "text: not kept: this corpus was made without the text of its documents",
            hint="make it again without --no-text to see documents side by side",
        )
    return corpus.document(found.row)


def compared(a: Data, b: Data) -> str:
    """The address that shows two documents of the corpus side by side, for an attribute. Their
    date: None for one without, "" for the latest."""
    asked = {}
    for key, side in (("a", a), ("b", b)):
        asked[key] = side["id"]
        asked[f"{key}_date"] = "undated" if side["date"] is None else side["date"]
    return address("/compare", asked)


def html(data: Data) -> str:
    asked, found = data["asked"], data["comparison"]
    if found is None:
        return frame(
            "Compare", f"<h1>Two documents side by side</h1>{_form(data)}", here="/compare"
        )
    names = {key: asked[key] for key in ("a", "a_date", "b", "b_date")}
    pasted = asked["a_text"] or asked["b_text"]
    return frame(
        f"{found['verdict']}",
        f'{section(found, "h1")}<details class="again"><summary>Compare others</summary>'
        f"{_form(data)}</details>",
        here="/compare",
        twin="" if pasted else address("/compare.json", names),
        scripts=["passages.js"],
    )


def _form(data: Data) -> str:
    asked = data["asked"]
    if data["text_kept"]:
        told = "Each is a document of this corpus, by its URL, or any text."
    else:
        told = "This corpus was made without the text of its documents: paste both texts."

    def side(key: str) -> str:
        letter = key.upper()
        return (
            f'<fieldset><legend><span class="letter {key}">{letter}</span></legend>'
            f'<label for="{key}">URL of document {letter}</label>'
            f'<input id="{key}" name="{key}" type="text" inputmode="url" autocomplete="off" '
            f'spellcheck="false" value="{escaped(asked[key])}">'
            f'<label for="{key}_text">or its text</label>'
            f'<textarea id="{key}_text" name="{key}_text">\n{escaped(asked[f"{key}_text"])}'
            "</textarea></fieldset>"
        )

    return (
        f'<p class="told">{told}</p><form method="post" action="/compare" '
        f'enctype="multipart/form-data"><div class="pair">{side("a")}{side("b")}</div>'
        "<p><button>Compare</button></p></form>"
    )


COMPARE = Page("/compare", data, html, ("GET", "POST"))
