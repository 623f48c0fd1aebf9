"""One cluster: members, links, graph and the two that are shown, with values worked out by hand."""

from pathlib import Path

import numpy as np
import pytest

from roughly import Corpus, Sketcher
from roughly.errors import NotFoundError
from roughly.web.pages.graph import HEIGHT, WIDTH, places
from tests.hostile import HOSTILE
from tests.web_page import data, html

# 44 words are 40 shingles of five.
WORDS = [f"w{number}" for number in range(44)]
PATH = "/cluster/{id}"


def text(changed: int = 0, at: str = "end") -> str:
    """The words, so many of them replaced at one end: each takes one shingle with it."""
    other = [f"{at}{number}" for number in range(changed)]
    kept = len(WORDS) - changed
    return " ".join([*WORDS[:kept], *other] if at == "end" else [*other, *WORDS[changed:]])


@pytest.fixture(scope="module")
def corpus(tmp_path_factory: pytest.TempPathFactory) -> Corpus:
    """A chain: end - middle - begin, where the ends have less in common; a copy; and a stranger."""
    found = Corpus.create(tmp_path_factory.mktemp("cluster") / "chain.roughly", Sketcher(w=5))
    found.add(
        [
            {"id": "https://a.example/end", "date": "2026-01-01", "text": text(8, "end")},
            {"id": "https://b.example/", "date": "2026-01-02", "text": text()},
            {"id": "https://c.example/begin", "date": "2026-01-03", "text": text(10, "begin")},
            {"id": "https://d.example/copy", "date": "2026-01-04", "text": text()},
            {"id": "https://e.example/", "text": "a text that is like no other text in here"},
        ]
    )
    return found


def chain(corpus: Corpus, **asked: object) -> dict[str, object]:
    found: dict[str, object] = data(corpus, "/cluster", url="https://b.example/", **asked)
    return found


def test_members_links_and_estimates(corpus: Corpus) -> None:
    found = chain(corpus)
    assert (found["size"], found["distinct"]) == (4, 3)
    # 40 shingles each. end and middle share 32, begin and middle 30, end and begin 22.
    members = found["members"]
    assert [(each["id"], each["kind"]) for each in members] == [
        ("https://a.example/end", None),
        ("https://b.example/", "near"),
        ("https://c.example/begin", "near"),
        ("https://d.example/copy", "near"),
    ]
    assert [each["date"] for each in members] == [f"2026-01-0{day}" for day in (1, 2, 3, 4)]
    expected = [1, 32 / 48, 22 / 58, 32 / 48]
    assert [each["resemblance"] for each in members] == pytest.approx(expected)
    assert found["smallest_resemblance"] == pytest.approx(22 / 58)
    weakest = found["weakest_link"]
    assert weakest["value"] == pytest.approx(30 / 50)
    ends = {weakest["a"]["id"], weakest["b"]["id"]}
    assert ends == {"https://b.example/", "https://c.example/begin"}
    # Unless others are asked for: the first, and the one that is least like it.
    assert found["a"]["id"] == "https://a.example/end"
    assert found["b"]["id"] == "https://c.example/begin"
    assert found["pair"]["resemblance"] == pytest.approx(22 / 58)


def test_the_graph(corpus: Corpus) -> None:
    graph = chain(corpus)["graph"]
    assert [node["number"] for node in graph["nodes"]] == [1, 2, 3]
    edges = {(edge["a"], edge["b"]): edge for edge in graph["edges"]}
    # The two ends of the chain do not reach the threshold.
    assert edges.keys() == {(0, 1), (1, 2)}
    assert edges[0, 1]["resemblance"] == pytest.approx(32 / 48)
    assert edges[0, 1]["link"] and not edges[0, 1]["weakest"]
    assert edges[1, 2]["link"] and edges[1, 2]["weakest"]
    x = [node["x"] for node in graph["nodes"]]
    assert x[0] < x[1] < x[2]


def test_any_two_can_be_chosen(corpus: Corpus) -> None:
    rows = {each["id"]: each["row"] for each in chain(corpus)["members"]}
    a, b = rows["https://d.example/copy"], rows["https://b.example/"]
    found = chain(corpus, a=a, b=b)
    assert (found["a"]["row"], found["b"]["row"]) == (a, b)
    assert found["pair"]["kind"] == "identical"
    page = html(PATH, found)
    checked = [each for each in page.all("input", type="radio") if "checked" in each]
    assert [(each["name"], each["value"]) for each in checked] == [("b", str(b)), ("a", str(a))]
    for odd in ("999", "-1", "x", str(rows["https://a.example/end"] + 4)):
        with pytest.raises(NotFoundError):
            chain(corpus, b=odd)


def test_by_number_and_at_a_threshold(corpus: Corpus) -> None:
    found = chain(corpus)
    assert data(corpus, PATH, id=found["cluster"]) == found
    apart = data(corpus, "/cluster", url="https://c.example/begin", threshold="0.61")
    assert (apart["size"], apart["pair"], apart["graph"]) == (1, None, None)
    html(PATH, apart)
    with pytest.raises(NotFoundError):
        data(corpus, PATH, id=99)
    with pytest.raises(NotFoundError):
        data(corpus, "/cluster", url="https://nowhere.example/")
    with pytest.raises(NotFoundError):
        data(corpus, "/cluster")


def test_the_page(corpus: Corpus) -> None:
    found = chain(corpus)
    page = html(PATH, found)
    assert page.all("a", href="https://a.example/end")[0]["rel"] == "noreferrer noopener nofollow"
    assert len([each for each in page.all("a") if each.get("class", "").startswith("node")]) == 3
    marked = page.words["pair"]
    assert "w10 w11 w12" in marked and "end0" in marked and "begin0" in marked
    assert "0.600" in page.words["graph"]
    where = "/compare?a=https%3A%2F%2Fa.example%2Fend&a_date=2026-01-01"
    assert any(each.get("href", "").startswith(where) for each in page.all("a"))


def test_a_large_cluster_is_shown_in_part(tmp_path: Path) -> None:
    corpus = Corpus.create(tmp_path / "large.roughly")
    base = [f"w{number}" for number in range(104)]
    # 200 texts that differ from the first in the last word alone: 99 of 101 shingles are common.
    corpus.add(
        [
            {"id": f"https://a.example/{n:03}", "text": " ".join([*base[:-1], f"own{n}"])}
            for n in range(200)
        ]
    )
    first = data(corpus, PATH, id=0)
    assert (first["size"], first["pages"], len(first["members"])) == (200, 4, 50)
    assert len(first["graph"]["nodes"]) == 30 and first["graph"]["distinct"] == 200
    page = html(PATH, first)
    assert "30 of 200 distinct members" in page.words["graph"]
    assert len(page.all("input", type="radio")) == 100
    # What was chosen on the first page stays chosen on the last.
    last = data(corpus, PATH, id=0, page=4, a=first["members"][3]["row"])
    numbers = [each["number"] for each in last["members"]]
    assert numbers == list(range(151, 201))
    assert last["a"]["number"] == 4
    kept = html(PATH, last).all("input", type="hidden", name="a")
    assert [each["value"] for each in kept] == [str(first["members"][3]["row"])]
    assert data(corpus, PATH, id=0, page=77)["page"] == 4


def test_without_text(tmp_path: Path) -> None:
    corpus = Corpus.create(tmp_path / "bare.roughly", text=False)
    corpus.add([{"id": "https://a.example/", "text": text()}, {"id": "b", "text": text(4)}])
    found = data(corpus, PATH, id=0)
    assert found["pair"] is None and found["size"] == 2
    assert "without the text" in html(PATH, found).words["pair"]


def test_hostile_members(tmp_path: Path) -> None:
    corpus = Corpus.create(tmp_path / "hostile.roughly")
    corpus.add([{"id": id, "text": content} for id, content in HOSTILE.items()])
    found = data(corpus, PATH, id=0)
    assert {each["id"] for each in found["members"]} == set(HOSTILE)
    page = html(PATH, found)  # which checks that nothing of it is more than text
    assert all(id in page.words["members"] for id in HOSTILE)


@pytest.mark.parametrize("count", [1, 2, 3, 30])
@pytest.mark.parametrize("value", [0.0, 0.7, 1.0])
def test_dots_lie_apart_and_inside(count: int, value: float) -> None:
    table = np.full((count, count), value)
    np.fill_diagonal(table, 1)
    found = np.array(places(table))
    assert found.shape == (count, 2) and np.isfinite(found).all()
    assert (found >= 0).all() and (found <= [WIDTH, HEIGHT]).all()
    apart = np.hypot(*(found[:, None] - found[None]).transpose(2, 0, 1))
    assert count == 1 or apart[~np.eye(count, dtype=bool)].min() > 10


def test_alike_is_near() -> None:
    table = np.array([[1, 0.9, 0.1], [0.9, 1, 0.1], [0.1, 0.1, 1]])
    a, b, c = np.array(places(table))
    assert np.hypot(*(a - b)) < np.hypot(*(a - c))
