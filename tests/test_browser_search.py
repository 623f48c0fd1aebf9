"""The search box in a real browser: text, file (chosen and dropped), URL; and what it finds."""

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


def document(visit: Visit) -> tuple[str, str]:
    """The id and the shown text of a document that has near duplicates."""
    answer = visit.window.request.get(visit.base + "/index.json")
    for each in json.loads(answer.text())["largest"]:
        address = f"{visit.base}/cluster/{each['cluster']}.json"
        found = json.loads(visit.window.request.get(address).text())
        if found["distinct"] >= 3:
            pieces = found["pair"]["a"]["pieces"]
            return found["a"]["id"], "".join(piece.get("text", "") for piece in pieces)
    raise AssertionError("the sample web has no such document")


def first(window: Any) -> str:
    return window.locator(".matches .head").first.inner_text()


@pytest.mark.parametrize("device", DEVICES)
def test_search_by_url(device: str, request: pytest.FixtureRequest) -> None:
    visit: Visit = request.getfixturevalue(device)
    id, _ = document(visit)
    window = visit.open("/search")
    visit.check("search-form")
    window.get_by_label("or the URL of a document").fill(id)
    window.get_by_role("button", name="Search").click()
    visit.settle()
    assert first(window) == id
    assert window.locator(".matches blockquote").count() > 0
    visit.check("search")


def test_search_by_text_and_the_way_to_both_texts(desk: Visit) -> None:
    id, text = document(desk)
    window = desk.open("/search")
    window.get_by_label("Text or HTML").fill(text)
    window.keyboard.press("Control+Enter")
    window.wait_for_selector(".matches")
    assert first(window) == id
    # The text is still there, and goes along.
    assert window.get_by_label("Text or HTML").input_value().strip() == text.strip()
    window.get_by_role("button", name="side by side").first.click()
    window.wait_for_selector(".side")
    assert window.locator("#name-a").inner_text().startswith("A text A")
    assert id in window.locator("#name-b").inner_text()
    desk.check("search-side-by-side")


def test_search_by_a_file_that_is_chosen(phone: Visit) -> None:
    id, text = document(phone)
    window = phone.open("/search")
    file = {"name": "page.txt", "mimeType": "text/plain", "buffer": text.encode()}
    window.get_by_label("or a file").set_input_files([file])
    window.wait_for_selector(".matches")
    assert first(window) == id
    assert window.get_by_text("The text of page.txt.").is_visible()
    phone.check("search-file")


def test_search_by_a_file_that_is_dropped(desk: Visit) -> None:
    id, text = document(desk)
    window = desk.open("/search")
    assert window.get_by_text("Files can be dropped here.").is_visible()
    moved = window.evaluate_handle(
        "text => { const moved = new DataTransfer();"
        " moved.items.add(new File([text], 'a.txt', {type: 'text/plain'})); return moved; }",
        text,
    )
    for event in ("dragover", "drop"):
        window.dispatch_event("[data-drop]", event, {"dataTransfer": moved})
    window.wait_for_selector(".matches")
    assert first(window) == id
    assert desk.faults == []


def test_containers_are_found(desk: Visit) -> None:
    id, text = document(desk)
    part = " ".join(text.split()[40:110])
    window = desk.open("/search")
    window.get_by_label("Text or HTML").fill(part)
    window.get_by_role("button", name="Search").click()
    window.wait_for_selector(".matches")
    assert id in window.locator(".matches .head").all_inner_texts()
    assert "contains the query" in window.locator(".matches .kind").all_inner_texts()
    desk.check("search-container")


def test_without_scripts(plain: Visit) -> None:
    id, text = document(plain)
    window = plain.open("/search")
    file = {"name": "page.txt", "mimeType": "text/plain", "buffer": text.encode()}
    window.get_by_label("or a file").set_input_files([file])
    window.get_by_role("button", name="Search").click()
    window.wait_for_selector(".matches")
    assert first(window) == id
    assert plain.faults == []


def test_nothing_found(phone: Visit) -> None:
    window = phone.open("/search?url=https%3A%2F%2Fnowhere.example%2F")
    assert window.get_by_role("heading", name="Not in the corpus").is_visible()
    window.get_by_label("or the URL of a document").fill("")
    window.get_by_label("Text or HTML").fill("words that nobody has written anywhere before today")
    window.get_by_role("button", name="Search").click()
    window.wait_for_selector("#found h2:text('Nothing found')")
    phone.check("search-nothing")


def test_hostile_documents_are_text(desk: Visit) -> None:
    one, *others = HOSTILE
    window = desk.open("/search?url=" + quote(one, safe=""))
    assert set(window.locator(".matches .head").all_inner_texts()) == set(others)
    assert window.locator(".matches :is(script, img, iframe)").count() == 0
    for link in window.locator(".matches .head a").all():
        assert link.get_attribute("href").startswith("https://")
    desk.check("search-hostile")
