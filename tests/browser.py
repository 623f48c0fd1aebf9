"""A real browser over a real service: fixtures that tests of pages use, a plugin to pytest.

    pytest_plugins = ("tests.browser",)   # not to be imported besides but for its types

    def test_x(desk: Visit) -> None:      # or `phone`: 360 pixels wide
        page = desk.open("/search")
        ...
        desk.check("search")              # faults, accessibility, a picture in build/screenshots

`Visit` listens while pages are open: a console error, an error of a script, an answer 500 or a
request to another machine is a fault, and `check` fails on it. The corpus is a small sample web of
three sweeps with some hostile documents among it.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

from roughly import Corpus
from roughly.sample_web import sample_web
from tests.hostile import HOSTILE
from tests.optional import optional
from tests.service import service

CHROMIUM = Path("/usr/bin/chromium")
SCREENSHOTS = Path(__file__).parents[1] / "build" / "screenshots"
DESK = {"width": 1280, "height": 900}
PHONE = {"width": 360, "height": 780}


def make_sample_corpus(path: Path, pages: int = 60) -> Corpus:
    """A corpus of the sample web, by containment too; hostile documents have its last date."""
    corpus = Corpus.create(path, containment=0.8)
    web = sample_web(pages)
    for date in web.dates:
        found = {page.url: page.content.decode("utf-8", "replace") for page in web.iterate(date)}
        if date == web.dates[-1]:
            found |= HOSTILE
        corpus.add(pa.table({"id": list(found), "text": list(found.values())}), date, threads=1)
    return corpus


@dataclass
class Visit:
    """A window of the browser, and what went wrong in it."""

    base: str
    window: Any  # a playwright page
    label: str  # of its pictures
    faults: list[str] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.window.on("console", self._console)
        self.window.on("pageerror", lambda error: self.faults.append(f"script: {error}"))
        self.window.on("request", self._request)
        self.window.on("response", self._response)

    def _console(self, message: Any) -> None:
        # The browser says of every answer from 400 on that it failed; tests ask for some.
        if message.type in ("error", "warning") and "the server responded with" not in message.text:
            self.faults.append(f"console: {message.text}")

    def _request(self, request: Any) -> None:
        if not request.url.startswith((self.base, "blob:", "data:")):
            self.faults.append(f"request: {request.url}")

    def _response(self, response: Any) -> None:
        if response.status >= 500:
            self.faults.append(f"answer: {response.status} {response.url}")

    def open(self, path: str) -> Any:
        """The window, when it shows a page of the service."""
        self.window.goto(self.base + path)
        self.settle()
        return self.window

    def settle(self) -> None:
        """Waits until nothing is asked for any more."""
        self.window.wait_for_load_state("networkidle")

    def check(self, name: str) -> None:
        """No fault so far, nothing beyond the edge of the window, no serious fault of
        accessibility; and a picture."""
        SCREENSHOTS.mkdir(parents=True, exist_ok=True)
        self.window.screenshot(path=SCREENSHOTS / f"{name}-{self.label}.png", full_page=True)
        assert self.faults == []
        wider = "document.documentElement.scrollWidth - document.documentElement.clientWidth"
        assert self.window.evaluate(wider) <= 0, "the page is wider than the window"
        assert self.window.evaluate("document.documentElement.dataset.attacked") is None
        assert accessibility_faults(self.window) == []


def accessibility_faults(window: Any) -> list[str]:
    """What axe calls serious or critical."""
    from axe_playwright_python.sync_playwright import Axe

    found = Axe().run(window).response["violations"]
    return [
        f"{each['id']}: {each['help']}: {node['html'][:200]}"
        for each in found
        if each["impact"] in ("serious", "critical")
        for node in each["nodes"][:3]
    ]


@pytest.fixture(scope="module")
def chromium() -> Iterator[Any]:
    """The browser."""
    try:
        from playwright.sync_api import sync_playwright
    except ModuleNotFoundError:
        optional("browser", "playwright is not installed")
    if not CHROMIUM.exists():
        optional("browser", f"there is no {CHROMIUM}")
    with sync_playwright() as driver:
        opened = driver.chromium.launch(executable_path=str(CHROMIUM), args=["--no-sandbox"])
        yield opened
        opened.close()


@pytest.fixture(scope="module")
def sample(tmp_path_factory: pytest.TempPathFactory, chromium: Any) -> Path:
    """The sample corpus; only where there is a browser."""
    path = tmp_path_factory.mktemp("browser") / "sample.roughly"
    make_sample_corpus(path)
    return path


@pytest.fixture(scope="module")
def address(sample: Path) -> Iterator[str]:
    """Where it is served."""
    with service(sample) as started:
        yield re.sub("/$", "", started.address)


def visit(chromium: Any, base: str, label: str, **settings: Any) -> Iterator[Visit]:
    """A new window of the browser, without memory."""
    context = chromium.new_context(**settings)
    context.set_default_timeout(15_000)
    yield Visit(base, context.new_page(), label)
    context.close()


@pytest.fixture
def desk(chromium: Any, address: str) -> Iterator[Visit]:
    """A wide window by day."""
    yield from visit(chromium, address, "desk", viewport=DESK, color_scheme="light")


@pytest.fixture
def night(chromium: Any, address: str) -> Iterator[Visit]:
    """A wide window by night."""
    yield from visit(chromium, address, "night", viewport=DESK, color_scheme="dark")


@pytest.fixture
def phone(chromium: Any, address: str) -> Iterator[Visit]:
    """A telephone."""
    yield from visit(
        chromium, address, "phone", viewport=PHONE, color_scheme="light", has_touch=True
    )


@pytest.fixture
def plain(chromium: Any, address: str) -> Iterator[Visit]:
    """A window that runs no script. It cannot be checked by axe, which is one."""
    yield from visit(
        chromium, address, "plain", viewport=DESK, color_scheme="light", java_script_enabled=False
    )
