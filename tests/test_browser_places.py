"""Lost and found, one page through time, changes, simhashes and the plan in a real browser: what
they show, how jobs run, can be watched and stopped, with scripts and without."""

from __future__ import annotations

import contextlib
import json
import os
import re
import signal
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from tests.hostile import HOSTILE
from tests.optional import FULL

if TYPE_CHECKING:
    from tests.browser import Visit

pytest_plugins = ("tests.browser",)

DEVICES = pytest.mark.parametrize("device", ["desk", "night", "phone"] if FULL else ["phone"])

only_full = pytest.mark.skipif(not FULL, reason="some seconds of a browser each")


@pytest.fixture(scope="module", autouse=True)
def jobs_directory(tmp_path_factory: pytest.TempPathFactory) -> Any:
    """Jobs of these tests are their own; the service that they start inherits it."""
    place = tmp_path_factory.mktemp("jobs")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("ROUGHLY_JOBS", str(place))
        yield place


def twin(visit: Visit) -> Any:
    """The data of the page that is shown."""
    where = visit.window.get_attribute("link[rel=alternate]", "href")
    return json.loads(visit.window.request.get(visit.base + where).text())


def moves(visit: Visit, **form: str) -> dict[str, Any]:
    """What became of all pages, by the twins alone."""
    answer = visit.window.request.post(f"{visit.base}/lost.json", form={"all": "1", **form})
    found = json.loads(answer.text())
    while "job" in found:
        job = found["job"]
        assert job["state"] in ("running", "done"), job
        place = job["place"] if job["state"] == "done" else f"/jobs/{job['id']}"
        found = json.loads(visit.window.request.get(f"{visit.base}{place}.json").text())
    assert isinstance(found, dict)
    return found


@DEVICES
def test_one_lost_page(device: str, request: pytest.FixtureRequest) -> None:
    visit: Visit = request.getfixturevalue(device)
    found = moves(visit, **{"from": "2026-01-01", "to": "2026-07-01"})["moves"]
    lost = next(row for row in found if row["kind"] == "moved")
    window = visit.open("/lost")
    window.get_by_label("The URL of a page").fill(lost["old"])
    window.keyboard.press("Enter")
    window.wait_for_selector("#trace")
    assert window.get_by_role("heading", name="It moved, and was edited").is_visible()
    assert (
        window.locator("#trace .steps > li:last-child .outside").first.get_attribute("href")
        == (lost["new"])
    )
    assert twin(visit)["trace"]["moves"][0]["new"] == lost["new"]
    visit.check("lost-one")
    window.get_by_role("link", name="Side by side").first.click()
    visit.settle()
    assert lost["old"] in window.content()
    assert window.locator("mark").count() > 0
    assert visit.faults == []


@DEVICES
def test_every_lost_page(device: str, request: pytest.FixtureRequest) -> None:
    visit: Visit = request.getfixturevalue(device)
    window = visit.open("/lost")
    visit.check("lost")
    window.locator("#every").get_by_label("From the sweep of").select_option(index=2)
    window.get_by_role("button", name="Find all").click()
    window.wait_for_url("**/lost/*", timeout=60_000)
    visit.settle()
    data = twin(visit)
    assert data["row_count"] == window.locator(".moves > li").count() > 0
    visit.check("lost-all")
    window.locator(".tabs").get_by_role("link", name="gone").click()
    visit.settle()
    kinds = set(window.locator(".moves .badge").all_inner_texts())
    assert kinds == {"gone"}
    assert window.locator(".moves > li").count() == data["counts"]["gone"]


@only_full
def test_downloads(desk: Visit) -> None:
    found = moves(desk)
    window = desk.open(f"/lost/{found['id']}")
    for name, kind, begin in (
        ("nginx", "nginx.conf", r"# \S+\n(location = |if \()"),
        ("Apache", "htaccess", r"# \S+\n(RedirectMatch|RewriteEngine)"),
        ("Netlify", "txt", r"# \S+\n/"),
    ):
        with window.expect_download() as waiting:
            window.locator(".downloads").get_by_role("link", name=name).click()
        download = waiting.value
        assert download.suggested_filename == f"redirects.{kind}"
        assert re.match(begin, Path(download.path()).read_text())
    with window.expect_download() as waiting:
        window.locator(".downloads").get_by_role("link", name="JSON").click()
    lines = Path(waiting.value.path()).read_text().splitlines()
    assert {json.loads(line)["old"] for line in lines} == {row["old"] for row in found["moves"]}
    assert desk.faults == []


@DEVICES
def test_a_list(device: str, request: pytest.FixtureRequest, tmp_path: Path) -> None:
    visit: Visit = request.getfixturevalue(device)
    rows = moves(visit)["moves"]
    pasted, sent = rows[0]["old"], rows[-1]["old"]
    hostile = next(iter(HOSTILE))
    file = tmp_path / "list.txt"
    file.write_text(f"# a comment\n{sent}\n\nhttps://never.example/seen\n")
    window = visit.open("/lost")
    window.get_by_label(re.compile("URLs, one a line")).fill(f"{pasted}\n{hostile}\n{pasted}")
    window.get_by_label("or a file of them").set_input_files(file)
    window.get_by_role("button", name="Find them").click()
    window.wait_for_url("**/lost/*", timeout=60_000)
    visit.settle()
    data = twin(visit)
    assert {row["asked"] for row in data["moves"]} == {
        pasted,
        hostile,
        sent,
        "https://never.example/seen",
    }
    assert data["counts"]["unknown"] == 1
    assert data["counts"]["there"] == 1
    visit.check("lost-list")


@only_full
def test_an_empty_list_is_told(desk: Visit) -> None:
    window = desk.open("/lost")
    window.get_by_role("button", name="Find them").click()
    desk.settle()
    assert "there is no URL in it" in window.get_by_role("alert").inner_text()
    desk.check("lost-empty-list")


@DEVICES
def test_one_page_through_time(device: str, request: pytest.FixtureRequest) -> None:
    visit: Visit = request.getfixturevalue(device)
    window = visit.open("/changes")
    window.locator("#restless .onward").first.click()
    visit.settle()
    history = twin(visit)["history"]
    assert window.locator("#versions tbody tr").count() == len(history["versions"])
    assert window.locator(".strip rect").count() == len(history["sweeps"])
    visit.check("page")
    window.get_by_role("link", name="beside the one before").first.click()
    visit.settle()
    assert window.locator("mark").count() > 0
    visit.open("/page?url=https://never.example/")
    assert "no sweep of this corpus has it" in window.get_by_role("status").inner_text()
    visit.check("page-unknown")


@DEVICES
def test_changes(device: str, request: pytest.FixtureRequest) -> None:
    visit: Visit = request.getfixturevalue(device)
    window = visit.open("/changes")
    result = twin(visit)["result"]
    assert f"{result['changed']:,}" in window.locator(".facts").inner_text()
    assert window.locator("svg.plot").count() >= 3
    visit.check("changes")
    window.get_by_role("link", name="by year").click()
    visit.settle()
    assert window.get_by_role("heading", level=1, name="in one sweep").is_visible()
    assert visit.faults == []


@DEVICES
def test_simhashes(device: str, request: pytest.FixtureRequest) -> None:
    visit: Visit = request.getfixturevalue(device)
    window = visit.open("/simhash")
    result = twin(visit)["result"]
    assert f"{result['documents']:,}" in window.locator(".facts").inner_text()
    assert window.locator("#buckets rect.column").count() == 128
    assert window.locator("#leading .line circle").count() == 2 * 64
    window.get_by_text("The numbers").first.click()
    visit.check("simhash")


@DEVICES
def test_plan(device: str, request: pytest.FixtureRequest) -> None:
    visit: Visit = request.getfixturevalue(device)
    window = visit.open("/plan")
    window.get_by_label("Documents").fill("17,179,869,184")
    window.get_by_label("Bits that may differ (k)").fill("3")
    window.get_by_role("button", name="Show the plan").click()
    visit.settle()
    # The four designs of the paper's Example 3.1 for 2^34 simhashes and k = 3: tables and the
    # bits that must agree.
    rows = window.locator("#designs tbody tr").all()
    paper = [row for row in rows if "2007" in row.inner_text()]
    cells = [[cell.inner_text() for cell in row.locator("td").all()] for row in paper]
    assert {(cell[2], cell[1]) for cell in cells} >= {
        ("20", "31-33"),
        ("16", "28"),
        ("10", "25-26"),
    }
    visit.check("plan")
    window.get_by_label("Memory, as 2G").fill("1M")
    window.get_by_role("button", name="Show the plan").click()
    visit.settle()
    assert "memory: too little: 1M" in window.get_by_role("alert").inner_text()


# --- jobs -----------------------------------------------------------------------------------------


_frozen: list[int] = []


@pytest.fixture(autouse=True)
def none_left() -> Any:
    """What a test that failed has left would keep others from starting."""
    yield
    for pid in _frozen:
        with contextlib.suppress(ProcessLookupError):
            os.kill(pid, signal.SIGKILL)
    _frozen.clear()


def frozen_job(visit: Visit, directory: Path, confidence: str) -> tuple[str, int]:
    """Starts a job by the form and stops its process for a while, before it has done much: its id
    and its process."""
    window = visit.open("/lost")
    window.locator("#every").get_by_label("Redirects from this confidence on").fill(confidence)
    window.get_by_role("button", name="Find all").click()
    window.wait_for_url("**/jobs/*")
    id = window.url.rpartition("/")[2]
    (folder,) = directory.glob(f"*/{id}")
    pid = int((folder / "pid").read_text())
    os.kill(pid, signal.SIGSTOP)
    _frozen.append(pid)
    return id, pid


def gone(pid: int) -> bool:
    """Whether there is no such process; one that has ended and was not waited for is none."""
    for _ in range(200):
        try:
            state = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0]
        except OSError:
            return True
        if state == "Z":
            return True
        time.sleep(0.02)
    return False


@DEVICES
def test_a_job_is_watched_and_cancelled(
    device: str, request: pytest.FixtureRequest, jobs_directory: Path
) -> None:
    visit: Visit = request.getfixturevalue(device)
    confidence = {"desk": "0.1", "night": "0.15", "phone": "0.2"}[device]
    id, pid = frozen_job(visit, jobs_directory, confidence)
    window = visit.window
    assert window.get_by_role("heading", name="Working on it").is_visible()
    # As if it were at work: what a job tells is what its page shows, without being opened again.
    (folder,) = jobs_directory.glob(f"*/{id}")
    for done in (250, 750):
        told = {"phase": "pages", "done": done, "total": 1000, "unit": "pages"}
        (folder / "told").write_text(json.dumps(told))
        (folder / "told").replace(folder / "progress.json")
        window.locator("#job-words", has_text=f"{done} of 1,000").wait_for()
        assert window.evaluate("document.querySelector('progress').value") == done / 1000
    visit.check("job")
    window.get_by_role("button", name="Cancel").click()
    window.wait_for_selector("[data-state=cancelled]")
    assert gone(pid)
    assert window.get_by_role("heading", name="Cancelled").is_visible()
    visit.check("job-cancelled")
    visit.open("/jobs")
    assert "cancelled" in window.locator("tbody").inner_text()
    visit.check("jobs")


@only_full
def test_the_bar_of_real_work_moves(desk: Visit, jobs_directory: Path) -> None:
    """The same page in hundreds of spellings: work of many seconds, which is then cancelled."""
    lost = moves(desk, **{"from": "2026-01-01", "to": "2026-07-01"})["moves"][0]["old"]
    window = desk.open("/lost")
    window.get_by_label(re.compile("URLs, one a line")).fill(
        "\n".join(f"{lost}#{number}" for number in range(500))
    )
    window.get_by_role("button", name="Find them").click()
    window.wait_for_url("**/jobs/*", timeout=60_000)
    (folder,) = jobs_directory.glob(f"*/{window.url.rpartition('/')[2]}")
    seen: list[float] = []
    end = time.monotonic() + 120
    while len(seen) < 3:
        assert time.monotonic() < end, seen
        value = window.evaluate("document.querySelector('progress').value")
        if 0 < value < 1 and value not in seen:
            seen.append(value)
        window.wait_for_timeout(100)
    assert seen == sorted(seen)
    window.get_by_role("button", name="Cancel").click()
    window.wait_for_selector("[data-state=cancelled]")
    assert gone(int((folder / "pid").read_text()))
    assert desk.faults == []


@only_full
def test_a_job_that_goes_on_leads_to_its_result(desk: Visit, jobs_directory: Path) -> None:
    _, pid = frozen_job(desk, jobs_directory, "0.25")
    os.kill(pid, signal.SIGCONT)
    desk.window.wait_for_url("**/lost/*", timeout=60_000)
    assert desk.window.locator(".moves > li").count() > 0
    assert desk.faults == []


@only_full
def test_a_job_that_was_killed_is_told(desk: Visit, jobs_directory: Path) -> None:
    _, pid = frozen_job(desk, jobs_directory, "0.3")
    os.kill(pid, signal.SIGKILL)
    desk.window.wait_for_selector("[data-state=failed]")
    assert "stopped from outside" in desk.window.get_by_role("alert").inner_text()
    desk.check("job-failed")


def test_without_scripts(plain: Visit, jobs_directory: Path) -> None:
    _, pid = frozen_job(plain, jobs_directory, "0.35")
    window = plain.window
    window.get_by_role("link", name="See how far it is now").click()
    assert window.get_by_role("heading", name="Working on it").is_visible()
    window.get_by_role("button", name="Cancel").click()
    assert window.get_by_role("heading", name="Cancelled").is_visible()
    assert gone(pid)
    _, pid = frozen_job(plain, jobs_directory, "0.4")
    os.kill(pid, signal.SIGCONT)
    end = time.monotonic() + 60
    while window.get_by_role("link", name="Show the result").count() == 0:
        assert time.monotonic() < end
        window.get_by_role("link", name="See how far it is now").click()
    window.get_by_role("link", name="Show the result").click()
    assert window.locator(".moves > li").count() > 0
    assert plain.faults == []


@only_full
def test_too_many_jobs_are_refused(desk: Visit, jobs_directory: Path) -> None:
    for confidence in ("0.45", "0.5"):
        frozen_job(desk, jobs_directory, confidence)
    window = desk.open("/lost")
    window.locator("#every").get_by_label("Redirects from this confidence on").fill("0.55")
    window.get_by_role("button", name="Find all").click()
    window.wait_for_selector("[role=alert]")
    assert "jobs: too many: 2 are running" in window.get_by_role("alert").inner_text()


def test_by_keyboard(desk: Visit) -> None:
    window = desk.open("/lost")
    window.keyboard.press("Tab")
    assert window.evaluate("document.activeElement.textContent") == "Skip to content"
    window.keyboard.press("Enter")
    window.keyboard.press("Tab")
    assert window.evaluate("document.activeElement.id") == "url"
    window.keyboard.type(next(iter(HOSTILE)))
    window.keyboard.press("Enter")
    window.wait_for_selector("#trace")
    assert window.get_by_role("heading", name="It is where it was").is_visible()
    assert window.evaluate("document.documentElement.dataset.attacked") is None
    assert desk.faults == []


@only_full
def test_hostile_pages_through_time(desk: Visit) -> None:
    from urllib.parse import quote

    for url in HOSTILE:
        window = desk.open(f"/page?url={quote(url, safe='')}")
        # An empty or odd name may not be looked up, but nothing of it is ever run.
        assert window.evaluate("document.documentElement.dataset.attacked") is None
        assert window.locator("main script, main img, main iframe").count() == 0
    assert desk.faults == []
