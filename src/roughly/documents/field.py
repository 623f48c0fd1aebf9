"""Which fields of a record are the text, the id and the date: as the caller says, else by name; and
which is the category, if the caller says so.

A guess is the first name of a list that the records have, whatever its case. Fields of text come
before those that have no values yet. Where no name of the list is there and the records have one
field of text only, that is the text. Without a text field nothing can be read, and the error shows
the fields there are.
"""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass

from roughly.errors import DocumentError

# Commonest first, from the data sets on Hugging Face and the output of crawlers.
TEXT = tuple(
    "text content raw_content body html raw_html document doc article page_content markdown md "
    "raw page message abstract".split()
)
ID = tuple(
    "id url uri doc_id docid document_id _id warc_target_uri target_uri link href key uuid guid "
    "path file_path filepath filename file_name file name".split()
)
DATE = tuple(
    "date timestamp datetime warc_date crawl_date fetch_date fetched fetch_time published "
    "published_at publish_date date_published pub_date created created_at updated updated_at "
    "last_modified modified time".split()
)


@dataclass(frozen=True, slots=True)
class Wanted:
    """What the caller said; None leaves it to the guess."""

    text: str | None = None
    id: str | None = None
    date: str | None = None
    category: str | None = None  # never guessed

    def named(self) -> dict[str, str]:
        """Role -> the name that the caller said."""
        return _named(self)


@dataclass(frozen=True, slots=True)
class Fields:
    """What is read, by name; `guessed` names those that the caller did not say."""

    text: str
    id: str | None = None
    date: str | None = None
    category: str | None = None
    guessed: tuple[str, ...] = ()
    # what the caller calls the text, where it was copied to a column of another name
    text_label: str | None = None

    def named(self) -> dict[str, str]:
        """Role -> the column that is read."""
        return _named(self)

    def names(self) -> list[str]:
        """The columns to read, the text first, none twice."""
        return list(dict.fromkeys(self.named().values()))

    def __str__(self) -> str:
        parts = [
            f"{role}={name}" + (" (guessed)" if role in self.guessed else "")
            for role, name in self.named().items()
        ]
        return ", ".join(parts)


def _named(roles: Wanted | Fields) -> dict[str, str]:
    fields = {"text": roles.text, "id": roles.id, "date": roles.date, "category": roles.category}
    return {role: name for role, name in fields.items() if name is not None}


class MissingField(DocumentError):
    """A source without the fields that are wanted: a parameter is wrong rather than a document."""


def option(role: str) -> str:
    """What names the field of a role, in Python and on a command line."""
    if role == "category":
        return "category_field (within, --within)"
    return f"{role}_field (--{role}-field)"


def fieldless(name: str, subject: str, what: str) -> MissingField:
    """The error for a category wanted of documents that have no fields at all."""
    return MissingField(
        f"{subject}: no field {name!r} for the category: {what} have no fields",
        hint="the host of its URL is a category of any document: within='host' (--within host); "
        "fields are in JSON Lines, CSV, Parquet, Arrow and dicts",
    )


def check_present(absent: dict[str, str], names: list[str], subject: str) -> None:
    """Raises for the first of `absent`, roles and the fields that no record had for them."""
    for role, name in absent.items():
        raise MissingField(
            f"{subject}: no field {name!r} for the {role} in any record: "
            f"the fields are {', '.join(names[:20]) or 'none'}",
            hint=f"name one of them with {option(role)}",
        )


def choose(
    wanted: Wanted,
    names: list[str],
    textual: list[str],
    subject: str,
    nested: dict[str, str] | None = None,
    empty: Collection[str] = (),
) -> Fields:
    """The fields of records with these `names`, of which those in `textual` hold text. `nested`
    has those of lists and objects, each with its type: they are neither dates nor categories.
    `empty` has those without values, which may be the text by their names: else an id beside them
    would be, as the only text there is."""
    guessed = []
    nested = nested or {}
    for role, name in (("date", wanted.date), ("category", wanted.category)):
        if name in nested:
            kinds = "text, numbers or dates" if role == "date" else "text or numbers"
            raise MissingField(
                f"{subject}: field {name!r} cannot be the {role}: it is of type {nested[name]}, "
                f"wanted {kinds}",
                hint=f"name another one with {option(role)}",
            )
    text = wanted.text
    if text is None:
        text = _first(TEXT, textual) or _first(TEXT, empty)
        if text is None and len(textual) == 1:
            text = textual[0]
        if text is None:
            shown = ", ".join(names[:20]) or "none"
            named = _first(TEXT, names)
            raise MissingField(
                f"{subject}: no field looks like the text: the fields are {shown}, "
                + (
                    f"wanted one named {', '.join(TEXT[:5])} or the like"
                    if named is None
                    else f"wanted text in {named!r} or another of them"
                ),
                hint="name it with text_field (--text-field)",
            )
        guessed.append("text")
    if names.count(text) > 1:
        raise MissingField(
            f"{subject}: {names.count(text)} fields are named {text!r}, wanted one for the text",
            hint="rename all but one, or name another with text_field (--text-field)",
        )
    rest = [name for name in names if name != text]
    id, date = wanted.id, wanted.date
    if id is None and (id := _first(ID, rest)):
        guessed.append("id")
    if date is None and (date := _first(DATE, [name for name in rest if name not in nested])):
        guessed.append("date")
    return Fields(text, id, date, wanted.category, tuple(guessed))


def _first(candidates: tuple[str, ...], names: Collection[str]) -> str | None:
    """The candidate that stands first in its list, as the records spell it."""
    spelt = {name.lower(): name for name in reversed(list(names))}
    return next((spelt[name] for name in candidates if name in spelt), None)
