"""The overview and the list of clusters in a real browser: what they show, the slider, hostile
documents."""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING, Any

import pytest

from tests.optional import FULL

if TYPE_CHECKING:
    from tests.browser import Visit

pytest_plugins = ("tests.browser",)

DEVICES = ["desk", "night", "phone"] if FULL else ["desk", "phone"]


def twin(visit: Visit, path: str) -> Any:
    """A page's data, by the address that it names itself."""
    window = visit.open(path)
    where = window.get_attribute("link[rel=alternate]", "href")
    return json.loads(window.request.get(visit.base + where).text())


def slide(visit: Visit, value: str) -> None:
    """Moves the slider and waits for the clusters at that place."""
    slider = visit.window.get_by_label("Threshold of resemblance")
    slider.evaluate(
        "(e, v) => { e.value = v; e.dispatchEvent(new Event('input', {bubbles: true})) }", value
    )
    visit.window.wait_for_url(f"**threshold={value}")
    visit.settle()


def counted(visit: Visit) -> dict[str, str]:
    """The facts at the head of the page."""
    facts = visit.window.locator("#counts .facts div")
    return dict(tuple(text.split("\n")[:2]) for text in facts.all_inner_texts())


@pytest.mark.parametrize("device", DEVICES)
def test_overview(device: str, request: pytest.FixtureRequest) -> None:
    visit: Visit = request.getfixturevalue(device)
    data = twin(visit, "/")
    facts = counted(visit)
    assert facts["Documents"] == f"{data['documents']:,}"
    assert facts["Clusters"] == f"{data['clusters']:,}"
    for heading in ("Cluster sizes", "Resemblance of pairs", "Duplicates by kind"):
        assert visit.window.get_by_role("heading", name=heading).is_visible()
    assert visit.window.get_by_role("heading", name="Duplicates by site").is_visible()
    visit.check("overview")


def test_the_slider_clusters_again(desk: Visit) -> None:
    before, wanted = twin(desk, "/"), twin(desk, "/?threshold=0.95")
    assert before["clusters"] != wanted["clusters"]
    desk.open("/")
    desk.window.get_by_text("The numbers").first.click()
    slide(desk, "0.95")
    assert counted(desk)["Clusters"] == f"{wanted['clusters']:,}"
    assert desk.window.locator("output").inner_text() == "0.95"
    assert desk.window.locator("#sizes details").get_attribute("open") is not None
    largest = desk.window.locator("#largest tbody th").first
    assert largest.inner_text() == wanted["largest"][0]["representative"]
    # What is shown can be reloaded, and the way on keeps the threshold.
    desk.window.reload()
    assert counted(desk)["Clusters"] == f"{wanted['clusters']:,}"
    largest.locator("a").click()
    desk.window.wait_for_url("**/cluster/**threshold=0.95")
    desk.check("cluster-threshold")


def test_the_slider_by_keyboard(phone: Visit) -> None:
    window = phone.open("/")
    slider = window.get_by_label("Threshold of resemblance")
    slider.focus()
    window.keyboard.press("End")
    window.wait_for_url("**threshold=1")
    phone.settle()
    assert window.locator("output").inner_text() == "1"
    assert slider.evaluate("e => e === document.activeElement")
    window.evaluate("for (const each of document.querySelectorAll('details')) each.open = true")
    phone.check("overview-end")


def test_the_slider_without_scripts(plain: Visit) -> None:
    window = plain.open("/?threshold=0.9")
    slider = window.get_by_label("Threshold of resemblance")
    slider.focus()
    window.keyboard.press("Home")
    window.get_by_role("button", name="Cluster").click()
    window.wait_for_url("**threshold=0.4")
    assert window.locator("output").inner_text() == "0.4"
    assert plain.faults == []


def test_the_list_of_clusters(desk: Visit) -> None:
    window = desk.open("/")
    window.get_by_role("link", name=re.compile("^All .* clusters$")).click()
    window.wait_for_url("**/clusters")
    sizes = [int(text) for text in window.locator("tbody td:nth-child(3)").all_inner_texts()]
    assert sizes == sorted(sizes, reverse=True) and sizes[-1] >= 2
    desk.check("clusters")


def test_a_threshold_that_cannot_be(desk: Visit) -> None:
    window = desk.open("/?threshold=0.1")
    assert "below the floor" in window.get_by_role("alert").inner_text()
    desk.check("error")


def test_the_keyboard_reaches_everything(desk: Visit) -> None:
    window = desk.open("/")
    window.keyboard.press("Tab")
    assert window.evaluate("document.activeElement.textContent") == "Skip to content"
    window.keyboard.press("Enter")
    assert window.evaluate("document.activeElement.id") == "content"
    window.keyboard.press("Tab")
    assert window.evaluate("document.activeElement.id") == "threshold-slider"
