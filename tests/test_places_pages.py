"""Lost and found, history, changes, simhashes and plan as data and as pages, without a server: what
was counted by hand, what is refused, and that nothing of a document or a URL is ever markup."""

import json
import re
import time
from dataclasses import dataclass
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import pytest

from roughly import Corpus
from roughly.corpus import evidence
from roughly.errors import NotFoundError, ParameterError
from roughly.web.job import Jobs
from roughly.web.pages import PAGES, changes, history, job, lost, plan, simhash
from roughly.web.pages.page import Elsewhere, File, Page, Query, Upload
from roughly.web.work import lost as lost_work
from tests.hostile import HOSTILE
from tests.service import make_corpus

A, B, C = (f"https://example.com/{name}" for name in "abc")
SOUP = "https://example.com/soup"


@dataclass
class View:
    """What a page sees."""

    corpus: Corpus
    path: Path


@pytest.fixture(scope="module", autouse=True)
def jobs_directory(tmp_path_factory: pytest.TempPathFactory) -> Any:
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("ROUGHLY_JOBS", str(tmp_path_factory.mktemp("jobs")))
        yield


@pytest.fixture(scope="module")
def view(tmp_path_factory: pytest.TempPathFactory) -> View:
    path = make_corpus(tmp_path_factory.mktemp("pages") / "site.roughly")
    return View(Corpus(path), path)


def asked(**parameters: str) -> Query:
    return Query(parameters=parameters)


def posted(upload: bytes | None = None, **form: str) -> Query:
    file = None if upload is None else Upload("list.txt", upload)
    return Query(form=form, upload=file, method="POST")


class Markup(HTMLParser):
    """Elements and text of a page; that it is closed properly."""

    def __init__(self, source: str) -> None:
        super().__init__()
        self.tags: list[tuple[str, dict[str, str | None]]] = []
        self.text = ""
        self._open: list[str] = []
        self.feed(source)
        self.close()
        assert self._open == []

    def handle_starttag(self, tag: str, attrs: Any) -> None:
        self.tags.append((tag, dict(attrs)))
        if tag not in ("meta", "link", "input", "br"):
            self._open.append(tag)

    def handle_startendtag(self, tag: str, attrs: Any) -> None:
        self.tags.append((tag, dict(attrs)))

    def handle_endtag(self, tag: str) -> None:
        assert self._open.pop() == tag

    def handle_data(self, data: str) -> None:
        self.text += data


def shown(page: Page, view: View, query: Query) -> tuple[dict[str, Any], Markup]:
    """A page's data and markup, which must be harmless whatever the data."""
    found = page.data(view, query)
    assert isinstance(found, dict)
    # The twin is the same data: nothing may get lost in JSON.
    found = json.loads(json.dumps(found))
    source = page.html(found)
    assert len(source) < 2_000_000
    markup = Markup(source)
    names = [tag for tag, _ in markup.tags]
    assert names.count("h1") == 1
    assert not {"style", "img", "iframe", "object", "embed", "base"} & set(names)
    ids = [each["id"] for _, each in markup.tags if "id" in each]
    assert len(ids) == len(set(ids))
    for tag, attributes in markup.tags:
        assert not [key for key in attributes if key.startswith("on") or key == "style"]
        href = attributes.get("href") or ""
        assert re.match(r"$|/|#|https?://", href), href
        if href.startswith("http"):
            assert "noreferrer" in (attributes["rel"] or "")
        if tag == "script":
            assert (attributes["src"] or "").startswith("/static/")
        label = attributes.get("for")
        assert label is None or label in ids
    return found, markup


def page(path: str) -> Page:
    (found,) = (each for each in PAGES if each.path == path)
    return found


def done(view: View, where: Any) -> str:
    """Waits for the job that a form led to; the id."""
    assert isinstance(where, Elsewhere)
    id = where.path.rpartition("/")[2]
    end = time.monotonic() + 60
    while (found := Jobs(view.path).get(id)).state == "running":
        assert time.monotonic() < end
        time.sleep(0.02)
    assert found.state == "done", found.message
    assert found.place == f"/lost/{id}"
    return id


# --- lost and found -------------------------------------------------------------------------------


def test_one_page(view: View) -> None:
    found, markup = shown(page("/lost"), view, asked(url=C))
    trace = found["trace"]
    assert trace["moves"][0]["new"] == SOUP
    assert (trace["moves"][0]["kind"], trace["still_there"], trace["found"]) == (
        "same",
        False,
        True,
    )
    assert "It is elsewhere, word for word" in markup.text
    assert "last seen there on 2026-01-01" in markup.text
    assert SOUP in [each.get("href") for _, each in markup.tags]


def test_a_page_that_is_there(view: View) -> None:
    found, markup = shown(page("/lost"), view, asked(url="EXAMPLE.com/a"))
    assert found["trace"]["changed"] == "2026-02-01"
    assert "It is where it was" in markup.text
    assert "last changed by 2026-02-01" in markup.text


def test_an_unknown_page(view: View) -> None:
    found, markup = shown(page("/lost"), view, asked(url="https://never.example/<b>"))
    assert found["trace"] is None
    assert "https://never.example/<b>: no sweep of this corpus has it." in markup.text


def test_every_page(view: View) -> None:
    id = done(view, lost.data(view, posted(all="1", **{"from": "2026-01", "to": "2026-02-01"})))
    found, markup = shown(page("/lost/{id}"), view, Query(path={"id": id}))
    assert found["counts"] == {"same": 1}
    assert [(row["old"], row["new"]) for row in found["moves"]] == [(C, SOUP)]
    assert found["arguments"]["begin"] == "2026-01-01"
    assert found["stale"] is False
    assert "the same text" in markup.text
    for name, rule in (
        ("redirects.nginx.conf", '# example.com\nlocation = "/c" { return 301 "/soup"; }\n'),
        ("redirects.htaccess", '# example.com\nRedirectMatch 301 "^/c$" "/soup"\n'),
        ("redirects.txt", "# example.com\n/c /soup 301\n"),
    ):
        file = job.file(view, Query(path={"id": id, "name": name}))
        assert isinstance(file, File)
        assert file.path.read_text() == rule
    moves = job.file(view, Query(path={"id": id, "name": "moves.jsonl"}))
    assert [json.loads(line)["new"] for line in moves.path.read_text().splitlines()] == [SOUP]
    none, _ = shown(page("/lost/{id}"), view, Query(path={"id": id}, parameters={"kind": "gone"}))
    assert none["moves"] == []


def test_a_list_of_pages(view: View) -> None:
    text = f"{C}\n\n# {B}\nnever.example\n".encode("utf-8-sig")
    id = done(view, lost.data(view, posted(text, urls=f"{A}\n{A}")))
    found, markup = shown(page("/lost/{id}"), view, Query(path={"id": id}))
    assert [(row["asked"], row["kind"], row["new"]) for row in found["moves"]] == [
        (A, "there", A),
        (C, "same", SOUP),
        ("never.example", "unknown", None),
    ]
    assert found["counts"] == {"there": 1, "same": 1, "unknown": 1}
    assert found["arguments"]["urls"] == 3
    assert "Where 3 pages went" in markup.text
    lines = job.file(view, Query(path={"id": id, "name": "moves.jsonl"})).path.read_text()
    assert [json.loads(line)["asked"] for line in lines.splitlines()] == [A, C]


def test_a_list_between_two_sweeps(view: View) -> None:
    urls = "\n".join((A, C, SOUP))
    id = done(view, lost.data(view, posted(urls=urls, **{"from": "2026-01-01"})))
    found, _ = shown(page("/lost/{id}"), view, Query(path={"id": id}))
    # The first sweep has no page /soup.
    assert [(row["asked"], row["kind"]) for row in found["moves"]] == [
        (A, "there"),
        (C, "same"),
        (SOUP, "unknown"),
    ]


def test_moves_of_pages_are_those_of_all(view: View) -> None:
    every = {move.old: move for move in view.corpus.moves()}
    some = view.corpus.moves_of([A, C, SOUP])
    there, moved, none = some
    assert none is None
    assert moved is not None
    assert moved == [every[C]]
    assert there is not None
    assert [(move.old, move.new) for move in there] == [(A, A)]
    assert list(every) == [C]


def test_progress_tells_of_every_page_twice(hostile: View, monkeypatch: pytest.MonkeyPatch) -> None:
    """In many small steps, whose sum is what was announced."""
    monkeypatch.setattr(evidence, "_TOLD", 1)
    told: list[int] = []
    totals: list[int | None] = []

    def progress(name: str, total: int | None, unit: str) -> Any:
        totals.append(total)
        return told.append

    moves = hostile.corpus.moves(progress=progress)
    # Ten pages in the first sweep.
    assert (totals, sum(told)) == ([20], 20)
    assert len([step for step in told if step]) > 5
    told.clear()
    assert hostile.corpus.changes(progress=progress).intervals[0].vanished == 7
    assert (totals[1:], sum(told)) == ([20], 20)
    assert moves == hostile.corpus.moves()


def test_long_lists_are_shown_in_pages(
    view: View, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(lost_work, "ROWS", 2)
    monkeypatch.setattr(lost_work, "MOST_PAGES", 2)
    rows = [
        {"old": f"u{n}", "kind": "gone" if n % 2 else "same", "reused": n == 0} for n in range(7)
    ]
    found = lost_work._listed(tmp_path, rows)
    assert found["rows"] == {"all": 7, "same": 4, "gone": 3, "reused": 1}
    assert found["counts"] == {"same": 4, "gone": 3, "reused": 1}
    names = sorted(path.name for path in tmp_path.iterdir())
    assert names == [
        "rows-all-0.json",
        "rows-all-1.json",
        "rows-gone-0.json",
        "rows-gone-1.json",
        "rows-reused-0.json",
        "rows-same-0.json",
        "rows-same-1.json",
    ]
    assert [row["old"] for row in json.loads((tmp_path / names[1]).read_text())] == ["u2", "u3"]


@pytest.mark.parametrize(
    ("query", "message"),
    [
        (asked(url="x" * 5000), "url: too long: 5,000"),
        (asked(by="week"), "by: unknown: week"),
        (posted(all="1", **{"from": "yesterday"}), "from: not a date: yesterday"),
        (posted(all="1", to="2026-13-99x"), "to: not a date"),
        (posted(all="1", confidence="2"), "confidence: out of range: 2"),
        (posted(all="1", confidence="nan"), "confidence: out of range: nan"),
        (posted(all="1", confidence="1e999999999999999999"), "confidence: out of range"),
        (posted(urls="# nothing\n"), "list: empty"),
        (posted(b"\xff\xfe" + b"x" * 5000, urls=""), "list: a line is too long"),
        (posted("\n".join(map(str, range(10_001))).encode()), "list: too long: 10,001"),
    ],
)
def test_what_lost_refuses(view: View, query: Query, message: str) -> None:
    with pytest.raises(ParameterError, match=re.escape(message)):
        lost.data(view, query)


def test_what_results_refuse(view: View) -> None:
    id = done(view, lost.data(view, posted(all="1")))
    for parameters, message in (
        ({"kind": "<b>"}, "kind: unknown"),
        ({"page": "0"}, "page: out of range"),
        ({"page": "2"}, "page: out of range"),
        ({"page": "0000000000001"}, "page: out of range"),
        ({"page": "²"}, "page: out of range"),
    ):
        with pytest.raises(ParameterError, match=message):
            lost.result(view, Query(path={"id": id}, parameters=parameters))
    started = Jobs(view.path).start("changes", {"by": "day"}, "x", "x", "/changes")
    with pytest.raises(NotFoundError, match="not about lost pages"):
        lost.result(view, Query(path={"id": started.id}))
    Jobs(view.path).cancel(started.id)


# --- history, changes -----------------------------------------------------------------------------


def test_through_time(view: View) -> None:
    found, markup = shown(page("/page"), view, asked(url=A))
    versions = found["history"]["versions"]
    assert [each["date"] for each in versions] == ["2026-01-01", "2026-02-01"]
    assert [each["changed"] for each in versions] == [None, True]
    assert found["history"]["changes"] == 1
    assert [tag for tag, each in markup.tags if "sweep-changed" in (each.get("class") or "")] == [
        "rect",
        "span",
    ]
    compare = [each["href"] for _, each in markup.tags if "/compare?" in (each.get("href") or "")]
    assert compare == [
        "/compare?a=https%3A%2F%2Fexample.com%2Fa&a_date=2026-01-01"
        "&b=https%3A%2F%2Fexample.com%2Fa&b_date=2026-02-01"
    ]


def test_a_page_that_left(view: View) -> None:
    _, markup = shown(page("/page"), view, asked(url=C))
    assert "It is elsewhere, word for word" in markup.text
    found, markup = shown(page("/page"), view, asked(url="nowhere"))
    assert found["history"] is None
    assert "no sweep of this corpus has it" in markup.text
    shown(page("/page"), view, asked())


def test_changes_of_a_small_corpus(view: View) -> None:
    found, markup = shown(page("/changes"), view, asked())
    # Of three pages one changed, one stayed as it was, one moved.
    assert "33.3% of pages change from one sweep to the next" in markup.text
    assert found["job"] is None
    assert [(each["url"], each["changes"]) for each in found["result"]["restless"]] == [(A, 1)]
    assert [(each["url"], each["moved_to"]) for each in found["result"]["left"]] == [(C, [SOUP])]
    one, markup = shown(page("/changes"), view, asked(by="year"))
    assert one["result"]["sweeps"] == ["2026"]
    assert "in one sweep" in markup.text


def test_changes_of_a_large_corpus(view: View, monkeypatch: pytest.MonkeyPatch) -> None:
    """A job, which the page then shows by itself."""
    direct, _ = shown(page("/changes"), view, asked(by="month"))
    monkeypatch.setattr(changes, "DIRECT", 3)
    found, markup = shown(page("/changes"), view, asked(by="month"))
    assert (found["result"], found["job"]) == (None, None)
    assert "The corpus has 6 documents: this takes a while." in markup.text
    where = changes.data(view, Query(form={"by": "month"}, method="POST"))
    assert isinstance(where, Elsewhere)
    id = where.path.rpartition("/")[2]
    end = time.monotonic() + 60
    while True:
        found, markup = shown(page("/changes"), view, asked(by="month"))
        if found["result"] is not None:
            break
        assert found["job"]["state"] == "running"
        assert "Working on it" in markup.text
        assert f"/jobs/{id}/cancel" in [each.get("action") for _, each in markup.tags]
        assert time.monotonic() < end
    kept = found["result"]
    assert kept.pop("corpus_state")
    assert kept == direct["result"]
    again = changes.data(view, Query(form={"by": "month"}, method="POST"))
    assert again == Elsewhere("/changes?by=month")
    assert Elsewhere("/changes?by=month").twin == "/changes.json?by=month"
    done_page, markup = shown(page("/jobs/{id}"), view, Query(path={"id": id}))
    assert done_page["job"]["share"] == 1
    listed, markup = shown(page("/jobs"), view, asked())
    assert id in [each["id"] for each in listed["jobs"]]
    assert "How pages change, by month" in markup.text


def test_changed_since(tmp_path: Path) -> None:
    """A result that is older than the corpus says so; the page of changes shows none."""
    path = make_corpus(tmp_path / "site.roughly")
    view = View(Corpus(path), path)
    id = done(view, lost.data(view, posted(all="1")))
    view.corpus.add([{"id": "https://example.com/new", "text": "one two three"}], "2026-03-01")
    found, markup = shown(page("/lost/{id}"), view, Query(path={"id": id}))
    assert found["stale"] is True
    assert "The corpus has changed since this was found." in markup.text


# --- simhashes, plan ------------------------------------------------------------------------------


def test_simhashes_of_text(view: View) -> None:
    found, markup = shown(page("/simhash"), view, asked())
    result = found["result"]
    # Six documents, of which b is twice the same, and c is soup.
    assert (result["documents"], result["distinct"], result["equal"]) == (6, 4, 2)
    assert (result["stored"], result["empty"]) == (False, 0)
    assert sum(result["buckets"]) == 6
    assert sum(result["leading"]) == 3
    assert "these were made of its text" in markup.text


def test_stored_simhashes(tmp_path: Path) -> None:
    texts = ["one two three", "one two three", "", "four five six seven"]
    for method, stored in (("both", True), ("shingles", False)):
        corpus = Corpus.create(tmp_path / method, method=method)  # type: ignore[arg-type]
        corpus.add([{"id": f"p{n}", "text": text} for n, text in enumerate(texts)])
        found, markup = shown(page("/simhash"), View(corpus, corpus.path), asked())
        result = found["result"]
        assert result["stored"] is stored
        assert (result["documents"], result["distinct"], result["empty"]) == (3, 2, 1)
        assert [each["id"] for each in result["empty_examples"]] == ["p2"]
        assert "1 document without terms" in markup.text


def test_no_simhashes_to_be_had(tmp_path: Path) -> None:
    corpus = Corpus.create(tmp_path / "c", text=False)
    corpus.add([{"id": "a", "text": "one two three"}])
    with pytest.raises(ParameterError, match="simhashes: not to be had"):
        simhash.data(View(corpus, corpus.path), asked())


def test_removed_documents_have_no_simhash(tmp_path: Path) -> None:
    corpus = Corpus.create(tmp_path / "c")
    corpus.add([{"id": f"p{n}", "text": f"one two {n}"} for n in range(5)])
    corpus.remove("p2")
    found, _ = shown(page("/simhash"), View(corpus, corpus.path), asked())
    assert found["result"]["documents"] == 4


def test_the_plan_of_the_paper(view: View) -> None:
    """Example 3.1: for 2^34 simhashes and k = 3."""
    found, markup = shown(page("/plan"), view, asked(documents="17,179,869,184", k="3"))
    tables = {each["design"]: each for each in found["plan"]["designs"]}
    assert [
        tables[name]["tables"] for name in ("tables:6", "tables:4+4", "tables:5", "tables:4")
    ] == [
        20,
        16,
        10,
        4,
    ]
    assert tables["tables:4+4"]["key_bits"] == [28, 28]
    assert tables["tables:4+4"]["matches"] == 64  # 2^(34 - 28)
    assert f"Take {found['plan']['recommended']}" in markup.text


def test_the_plan_of_the_corpus(view: View) -> None:
    found, _ = shown(page("/plan"), view, asked())
    assert found["plan"]["documents"] == 6
    fits, _ = shown(page("/plan"), view, asked(documents="1000000", memory="20M"))
    assert all(each["bytes"] <= 20 << 20 for each in fits["plan"]["designs"])


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"documents": "0"}, "documents: out of range: 0"),
        ({"documents": "9" * 30}, "documents: out of range"),
        ({"documents": "-5"}, "documents: out of range"),
        ({"documents": "<b>"}, "documents: out of range: <b>"),
        ({"documents": "²"}, "documents: out of range"),
        ({"k": "11"}, "k: out of range: 11"),
        ({"bits": "65"}, "bits: out of range: 65"),
        ({"memory": "much"}, "memory: not a size: 'much'"),
        ({"memory": "9" * 400 + "T"}, "memory: not a size"),
        ({"documents": "1000000000", "memory": "1M"}, "memory: too little: 1M"),
    ],
)
def test_what_the_plan_refuses(view: View, parameters: dict[str, str], message: str) -> None:
    with pytest.raises(ParameterError, match=re.escape(message)):
        plan.data(view, asked(**parameters))


# --- attacks --------------------------------------------------------------------------------------

ODD = [
    "<script>alert(1)</script>",
    '"><img src=x onerror=alert(1)>',
    "javascript:alert(1)",
    "data:text/html,<script>alert(1)</script>",
    "https://evil.example/\x00\x1b[31m\u202e'\"<>&",
    "https://evil.example/\ud800",
    "../../etc/passwd",
    "%00%0d%0aSet-Cookie:x=1",
    "x" * 4000,
]


@pytest.fixture(scope="module")
def hostile(tmp_path_factory: pytest.TempPathFactory) -> View:
    """Hostile documents on two dates, at the same URLs and at others, and odd dates."""
    path = tmp_path_factory.mktemp("hostile") / "site.roughly"
    corpus = Corpus.create(path)
    ids = [*HOSTILE, "https://ok.example/a", "https://ok.example/b"]
    words = " ".join(f"word{n}" for n in range(60))
    first = [
        {"id": id, "text": f"{text} {words} {n}"} for n, (id, text) in enumerate(HOSTILE.items())
    ]
    first += [{"id": f"{id}{n}", "text": f"<b>{n} {words[::-1]}"} for n, id in enumerate(ids)]
    corpus.add(first, "2026-01-01")
    later = [{"id": f'{each["id"]}"><i>', "text": each["text"]} for each in first[3:]]
    later += [{"id": each["id"], "text": f"changed {each['text']}"} for each in first[:3]]
    corpus.add(later, "2026-02-01")
    return View(corpus, path)


def test_hostile_documents_are_text(hostile: View) -> None:
    found, _ = shown(page("/changes"), hostile, asked())
    assert found["result"]["left_pages"] > 0
    assert found["result"]["restless_pages"] == 3
    shown(page("/simhash"), hostile, asked())
    id = done(hostile, lost.data(hostile, posted(all="1")))
    result, _ = shown(page("/lost/{id}"), hostile, Query(path={"id": id}))
    for row in result["moves"]:
        for name in (row["old"], row["new"]):
            if name is not None:
                for path in ("/page", "/lost"):
                    told, _ = shown(page(path), hostile, asked(url=name))
                    assert told.get("history") or told.get("trace")


@pytest.mark.parametrize("url", ODD)
@pytest.mark.parametrize("path", ["/lost", "/page"])
def test_odd_urls_are_text(hostile: View, url: str, path: str) -> None:
    _, markup = shown(page(path), hostile, asked(url=url))
    assert "no sweep of this corpus has it" in markup.text


# What each page reads of a query string.
READ = {
    "/lost": ("by",),
    "/lost/{id}": ("kind", "page"),
    "/page": ("by",),
    "/changes": ("by",),
    "/simhash": (),
    "/plan": ("documents", "k", "bits", "memory"),
}


@pytest.mark.parametrize("word", ODD)
def test_odd_words_are_refused_in_words(hostile: View, word: str) -> None:
    id = done(hostile, lost.data(hostile, posted(all="1")))
    for path, names in READ.items():
        for name in names:
            query = Query(path={"id": id}, parameters={name: word})
            with pytest.raises(ParameterError, match=r"^[a-z]+: [a-z ]+: "):
                page(path).data(hostile, query)
    for path in ("/lost/{id}", "/jobs/{id}", "/jobs/{id}/cancel", "/jobs/{id}/files/{name}"):
        with pytest.raises(NotFoundError):
            page(path).data(hostile, Query(path={"id": word, "name": word}))
    with pytest.raises(NotFoundError):
        page("/jobs/{id}/files/{name}").data(hostile, Query(path={"id": id, "name": word}))


def test_the_files_of_this_test_are_all_pages() -> None:
    own = (lost, history, changes, simhash, plan, job)
    assert {each for module in own for each in module.PAGES} == set(PAGES[6:])
