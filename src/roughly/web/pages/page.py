"""What a page is to the service: a path, the data it shows, and that data as HTML.

`data` reads the corpus and gives plain values that JSON can hold; it runs in a thread, and several
of them may run at once. `html` makes the whole page of exactly that, so that a page and its `.json`
twin cannot disagree. Both raise RoughlyError where the request is at fault: NotFoundError where
what was asked for is not there, any other for a request that cannot be answered as it is.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol

if TYPE_CHECKING:
    from roughly.corpus.corpus import Corpus

Data = dict[str, Any]


class View(Protocol):
    """What pages read: one state of a corpus. The service renews it when the corpus changes."""

    @property
    def corpus(self) -> Corpus: ...
    @property
    def path(self) -> Path: ...


@dataclass(frozen=True, slots=True)
class Upload:
    """A file that came with a form."""

    name: str  # as the sender calls it; not to be trusted
    content: bytes
    content_type: str = ""


@dataclass(frozen=True, slots=True)
class Query:
    """What was asked for."""

    path: Mapping[str, Any] = field(default_factory=dict)  # parameters of the path, converted
    parameters: Mapping[str, str] = field(default_factory=dict)  # of the query string
    form: Mapping[str, str] = field(default_factory=dict)  # the fields of a posted form
    upload: Upload | None = None  # the file of a posted form; None also for an empty one
    method: str = "GET"

    def get(self, name: str, default: str = "") -> str:
        """A field of the form, else a parameter of the query string; without white space around."""
        value = self.form.get(name)
        if value is None:
            value = self.parameters.get(name, default)
        return value.strip()


@dataclass(frozen=True, slots=True)
class File:
    """A file to be saved, in place of a page and of its twin."""

    path: Path
    name: str  # as the browser is to call it: plain ASCII without quotes
    content_type: str = "text/plain; charset=utf-8"


@dataclass(frozen=True, slots=True)
class Elsewhere:
    """Another page of this service that has the answer (status 303): its path, to which the twin
    adds `.json`."""

    path: str

    @property
    def twin(self) -> str:
        """The same for who asked for JSON."""
        path, mark, parameters = self.path.partition("?")
        return f"{path}.json{mark}{parameters}"


@dataclass(frozen=True, slots=True)
class Page:
    """One page of the service."""

    path: str  # as Starlette writes it, such as "/cluster/{id}"
    data: Callable[[View, Query], Data | File | Elsewhere]
    html: Callable[[Data], str]
    methods: tuple[str, ...] = ("GET",)

    @property
    def twin(self) -> str:
        """The path of the same data as JSON. Twins are to be mounted before pages: a parameter at
        the end of a page's path may take anything."""
        return "/index.json" if self.path == "/" else f"{self.path}.json"
