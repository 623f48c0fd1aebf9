"""Jobs and their files over HTTP, by two workers: forms lead to jobs, jobs to results, results to
files that are saved and never shown."""

import os
import signal
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import httpx
import pytest

from tests.service import make_corpus, service


@pytest.fixture(scope="module")
def jobs_directory(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    place = tmp_path_factory.mktemp("jobs")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("ROUGHLY_JOBS", str(place))
        yield place


@pytest.fixture(scope="module")
def web(tmp_path_factory: pytest.TempPathFactory, jobs_directory: Path) -> Iterator[httpx.Client]:
    corpus = make_corpus(tmp_path_factory.mktemp("places") / "site.roughly")
    with service(corpus, "--workers", "2") as started, started.client(None) as client:
        yield client


def wait(web: httpx.Client, id: str) -> dict[str, Any]:
    end = time.monotonic() + 60
    while True:
        # A connection of its own each time: either worker may answer.
        with httpx.Client(base_url=web.base_url) as other:
            job: dict[str, Any] = other.get(f"/jobs/{id}.json").json()["job"]
        if job["state"] != "running":
            return job
        assert time.monotonic() < end
        time.sleep(0.05)


def started(answer: httpx.Response) -> str:
    assert answer.status_code == 303
    id = answer.headers["location"].rpartition("/")[2].removesuffix(".json")
    assert len(id) == 32
    return str(id)


def test_from_the_form_to_the_file(web: httpx.Client) -> None:
    answer = web.post("/lost", data={"all": "1"})
    id = started(answer)
    assert answer.headers["location"] == f"/jobs/{id}"
    job = wait(web, id)
    assert (job["state"], job["place"]) == ("done", f"/lost/{id}")
    assert web.get(f"/jobs/{id}").text.count("Show the result") == 1
    rows = web.get(f"/lost/{id}.json").json()["moves"]
    assert [(row["old"], row["new"]) for row in rows] == [
        ("https://example.com/c", "https://example.com/soup")
    ]
    file = web.get(f"/jobs/{id}/files/redirects.nginx.conf")
    assert file.text == '# example.com\nlocation = "/c" { return 301 "/soup"; }\n'
    assert file.headers["content-disposition"] == 'attachment; filename="redirects.nginx.conf"'
    assert file.headers["content-type"] == "text/plain; charset=utf-8"
    assert file.headers["x-content-type-options"] == "nosniff"
    assert "default-src 'none'" in file.headers["content-security-policy"]
    # The twin of the form leads to the twin of what is known already.
    again = web.post("/lost.json", data={"all": "1"})
    assert (again.status_code, again.headers["location"]) == (303, f"/lost/{id}.json")
    for path in ("/jobs/{}/files/..%2f..%2fsecret", "/jobs/{}/files/pid%00", "/jobs/..%2f{}"):
        assert web.get(path.format(id)).status_code == 404


def test_a_file_of_urls(web: httpx.Client) -> None:
    file = {"file": ("urls.txt", b"https://example.com/a\r\n\r\n# no\r\nnever.example\r\n")}
    id = started(web.post("/lost", data={"urls": "https://example.com/c"}, files=file))
    assert wait(web, id)["state"] == "done"
    found = web.get(f"/lost/{id}.json").json()
    assert found["counts"] == {"there": 1, "same": 1, "unknown": 1}
    one = web.get(f"/lost/{id}.json", params={"kind": "same"}).json()
    assert [row["old"] for row in one["moves"]] == ["https://example.com/c"]


def test_either_worker_cancels(web: httpx.Client, jobs_directory: Path) -> None:
    for number in range(4):
        id = started(web.post("/lost", data={"all": "1", "confidence": f"0.1{number}"}))
        (folder,) = jobs_directory.glob(f"*/{id}")
        pid = int((folder / "pid").read_text())
        os.kill(pid, signal.SIGSTOP)
        with httpx.Client(base_url=web.base_url) as other:
            assert other.get(f"/jobs/{id}.json").json()["job"]["state"] == "running"
            assert started(other.post(f"/jobs/{id}/cancel")) == id
        assert wait(web, id)["state"] == "cancelled"
        status = Path(f"/proc/{pid}/stat")
        assert not status.exists() or status.read_text().rpartition(")")[2].split()[0] == "Z"


def test_what_is_refused(web: httpx.Client) -> None:
    foreign = web.post("/lost", data={"all": "1"}, headers={"origin": "https://evil.example"})
    assert foreign.status_code == 403
    assert web.get("/jobs/x/cancel").status_code == 405
    assert web.post("/plan").status_code == 405
    empty = web.post("/lost", data={"urls": ""}, headers={"accept": "text/html"})
    assert empty.status_code == 400
    assert "there is no URL in it" in empty.text
    for path in ("/lost?by=week", "/plan?k=11", "/lost?url=" + "x" * 5000):
        assert web.get(path).status_code == 400
    for path in ("/jobs/none", "/lost/none", "/jobs/none/files/x"):
        assert web.get(path).json()["error"]["code"] == "not_found"


@pytest.mark.parametrize("path", ["/lost", "/page", "/changes", "/simhash", "/plan", "/jobs"])
def test_every_page_and_its_twin(web: httpx.Client, path: str) -> None:
    # Bytes that are no text, and a lone surrogate.
    for query in ("", "?url=%ff%fe", "?url=%ed%a0%80", "?url=%00"):
        page, twin = web.get(path + query), web.get(f"{path}.json{query}")
        assert (page.status_code, twin.status_code) == (200, 200), query
        assert page.headers["content-type"] == "text/html; charset=utf-8"
        assert isinstance(twin.json(), dict)
