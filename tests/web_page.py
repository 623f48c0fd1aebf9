"""Pages of the service without a service: their data and HTML asked for directly, and the HTML read
as a browser would, with what must hold for every page."""

import json
from dataclasses import dataclass
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

from roughly import Corpus
from roughly.web.pages import PAGES
from roughly.web.pages.page import Query, Upload

VOID = {"br", "hr", "img", "input", "link", "meta", "path", "rect", "circle", "line"}
# What a page of ours is made of. Documents bring none of it.
NEVER = {"iframe", "object", "embed", "base", "style", "img", "video", "audio", "frame"}


@dataclass(frozen=True)
class Seen:
    """A view as pages want it."""

    corpus: Corpus
    path: Path


def data(corpus: Corpus, path: str, /, **asked: Any) -> Any:
    """The data of a page: `asked` are parameters, or `id` of the path, `form`, `upload`."""
    page = next(each for each in PAGES if each.path == path)
    form, upload = asked.pop("form", {}), asked.pop("upload", None)
    inside = {"id": asked.pop("id")} if "id" in asked else {}
    parameters = {key: str(value) for key, value in asked.items()}
    method = "POST" if form or upload else "GET"
    query = Query(inside, parameters, form, upload and Upload("a file", upload), method)
    found = page.data(Seen(corpus, corpus.path), query)
    assert json.loads(json.dumps(found, allow_nan=False)) == found, "the twin would differ"
    return found


def html(path: str, found: Any) -> "Markup":
    """That page as HTML, read."""
    return Markup(next(each for each in PAGES if each.path == path).html(found))


class Markup(HTMLParser):
    """A page as a browser reads it: every element is closed where it was opened, nothing runs that
    is not a file of ours, nothing is styled in place, and no address does more than lead away."""

    def __init__(self, source: str) -> None:
        super().__init__()
        self.source = source
        self.elements: list[tuple[str, dict[str, str]]] = []
        self.words: dict[str, str] = {}  # id -> the text inside
        self._inside: list[tuple[str, str]] = []
        source.encode()
        self.feed(source)
        self.close()
        assert self._inside == []
        for tag, attributes in self.elements:
            self._check(tag, attributes)
        ids = [found["id"] for _, found in self.elements if "id" in found]
        assert len(ids) == len(set(ids))

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        found = {key: value or "" for key, value in attrs}
        assert len(found) == len(attrs)
        self.elements.append((tag, found))
        if tag not in VOID or (tag == "path" and not self.get_starttag_text().endswith("/>")):  # type: ignore[union-attr]
            self._inside.append((tag, found.get("id", "")))

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.elements.append((tag, {key: value or "" for key, value in attrs}))

    def handle_endtag(self, tag: str) -> None:
        if tag in VOID and (not self._inside or self._inside[-1][0] != tag):
            return
        assert self._inside.pop()[0] == tag

    def handle_data(self, data: str) -> None:
        for _, id in self._inside:
            if id:
                self.words[id] = self.words.get(id, "") + data

    def _check(self, tag: str, attributes: dict[str, str]) -> None:
        assert tag not in NEVER, tag
        assert "style" not in attributes
        assert not any(name.startswith("on") for name in attributes), attributes
        if tag == "script":
            assert attributes["src"].startswith("/static/")
        for name in ("href", "src", "action", "formaction"):
            if name not in attributes:
                continue
            where = attributes[name]
            if where.startswith(("http://", "https://")):
                assert tag == "a" and {"noreferrer", "noopener"} <= set(attributes["rel"].split())
            else:
                assert where.startswith(("/", "#")) and not where.startswith("//"), where

    def all(self, tag: str, **wanted: str) -> list[dict[str, str]]:
        """The attributes of all elements of a tag that have these."""
        return [
            found
            for name, found in self.elements
            if name == tag and all(found.get(key) == value for key, value in wanted.items())
        ]
