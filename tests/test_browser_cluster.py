"""A cluster and a comparison in a real browser: choosing two members, the graph, the passages, and
documents that would do harm if they were more than text."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any
from urllib.parse import quote

import pytest

from tests.hostile import HOSTILE
from tests.optional import FULL

if TYPE_CHECKING:
    from tests.browser import Visit

pytest_plugins = ("tests.browser",)

DEVICES = ["desk", "night", "phone"] if FULL else ["desk", "phone"]


def data(visit: Visit, path: str) -> Any:
    answer = visit.window.request.get(visit.base + path)
    assert answer.ok, answer.text()
    return json.loads(answer.text())


def a_cluster(visit: Visit) -> Any:
    """The data of a cluster of several distinct documents that are held together by links."""
    for each in data(visit, "/index.json")["largest"]:
        found = data(visit, f"/cluster/{each['cluster']}.json")
        if found["distinct"] >= 3:
            return found
    raise AssertionError("the sample web has no such cluster")


@pytest.mark.parametrize("device", DEVICES)
def test_cluster(device: str, request: pytest.FixtureRequest) -> None:
    visit: Visit = request.getfixturevalue(device)
    found = a_cluster(visit)
    window = visit.open(f"/cluster/{found['cluster']}")
    shown = window.locator("#members tbody th").all_inner_texts()
    assert shown == [each["id"] for each in found["members"]]
    links = window.locator("#members tbody th a")
    assert links.first.get_attribute("href") == found["members"][0]["id"]
    assert links.first.get_attribute("rel") == "noreferrer noopener nofollow"
    assert window.locator("#graph .node").count() == len(found["graph"]["nodes"])
    assert window.get_by_role("heading", name="Weakest link").is_visible()
    assert window.locator("#pair .side").count() == 2
    visit.check("cluster")


def test_any_two_members_side_by_side(desk: Visit) -> None:
    found = a_cluster(desk)
    window = desk.open(f"/cluster/{found['cluster']}")
    other = next(each for each in found["members"][1:] if each["row"] != found["b"]["row"])
    window.get_by_label(f"Document {other['number']} as B").check()
    window.wait_for_url(f"**b={other['row']}**")
    desk.settle()
    assert other["id"] in window.locator("#name-b").inner_text()
    marked = "".join(window.locator("#pair .side mark").all_inner_texts())
    assert marked.strip()
    # A dot of the graph does the same.
    first = window.locator("#graph .node").first
    first.focus()
    window.keyboard.press("Enter")
    node = found["graph"]["nodes"][0]
    window.wait_for_url(f"**b={node['row']}**")
    desk.settle()
    assert node["id"] in window.locator("#name-b").inner_text()
    desk.check("cluster-chosen")


def test_two_members_without_scripts(plain: Visit) -> None:
    found = a_cluster(plain)
    window = plain.open(f"/cluster/{found['cluster']}")
    last = found["members"][-1]
    window.get_by_label(f"Document {last['number']} as B").check()
    window.get_by_role("button", name="side by side").click()
    window.wait_for_url("**#pair")
    assert last["id"] in window.locator("#name-b").inner_text()
    assert plain.faults == []


@pytest.mark.parametrize("device", ["desk", "phone"])
def test_compare(device: str, request: pytest.FixtureRequest) -> None:
    visit: Visit = request.getfixturevalue(device)
    found = a_cluster(visit)
    a, b = found["weakest_link"]["a"], found["weakest_link"]["b"]
    window = visit.open(f"/compare?a={quote(a['id'], safe='')}&b={quote(b['id'], safe='')}")
    assert a["id"] in window.locator("#name-a").inner_text()
    # The keys n and p go through the passages; both ends light up.
    window.keyboard.press("n")
    assert window.locator(".p.on").count() == 2
    first = window.locator(".side:first-child .p.on").get_attribute("id")
    window.keyboard.press("n")
    assert window.locator(".side:first-child .p.on").get_attribute("id") != first
    window.keyboard.press("p")
    assert window.locator(".side:first-child .p.on").get_attribute("id") == first
    visit.check("compare")


def test_compare_two_texts(phone: Visit) -> None:
    window = phone.open("/compare")
    phone.check("compare-form")
    words = "one two three four five six seven eight nine ten"
    window.get_by_label("or its text").first.fill(f"{words} eleven twelve")
    window.get_by_label("or its text").last.fill(f"zero {words}")
    window.get_by_role("button", name="Compare").click()
    phone.settle()
    marked = window.locator(".side mark").all_inner_texts()
    assert marked == [words, words]
    phone.check("compare-texts")


def test_hostile_documents_are_text(desk: Visit) -> None:
    ids = list(HOSTILE)
    for number, id in enumerate(ids):
        other = ids[number - 1]
        window = desk.open(f"/compare?a={quote(id, safe='')}&b={quote(other, safe='')}")
        assert window.locator("#name-a").inner_text().split("\n")[0] == f"A {id}"
        for link in window.locator(".side h3 a").all():
            assert link.get_attribute("href").startswith("https://evil.example/")
        assert window.locator(".side :is(script, img, svg, iframe, style, link)").count() == 0
        assert window.evaluate("document.documentElement.dataset.attacked") is None
        window.mouse.move(300, 300)
    desk.check("hostile")
    desk.open(f"/cluster?url={quote(ids[0], safe='')}&threshold=0.4")
    desk.check("hostile-cluster")
