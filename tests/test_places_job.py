"""Jobs: what is known of one, from any process; that cancelling stops it; how many there may be."""

import contextlib
import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from roughly import Corpus
from roughly.errors import BusyError, DocumentError, NotFoundError
from roughly.web import job as job_module
from roughly.web.job import Job, Jobs, directory_of, state_of
from roughly.web.job_process import Telling
from roughly.web.work import WORK
from tests.service import make_corpus


@pytest.fixture(scope="module")
def corpus(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return make_corpus(tmp_path_factory.mktemp("job") / "site.roughly")


@pytest.fixture
def jobs(corpus: Path, tmp_path: Path) -> Iterator[Jobs]:
    made = Jobs(corpus, tmp_path / "jobs")
    yield made
    for job in made.all():
        made.cancel(job.id)


def begin(jobs: Jobs, by: str = "day", state: str = "now") -> Job:
    return jobs.start("changes", {"by": by}, state, f"by {by}", "/changes")


def frozen(jobs: Jobs, job: Job) -> int:
    """Halts the process of a job: it stays as far as it is."""
    pid = int((jobs.directory / job.id / "pid").read_text())
    os.kill(pid, signal.SIGSTOP)
    return pid


def ended(jobs: Jobs, id: str, seconds: float = 60) -> Job:
    end = time.monotonic() + seconds
    while (found := jobs.get(id)).state == "running":
        assert time.monotonic() < end, "it does not end"
        time.sleep(0.02)
    return found


def runs(pid: int) -> bool:
    with contextlib.suppress(OSError):
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    return False


def test_a_job_ends_with_its_result(jobs: Jobs, corpus: Path) -> None:
    started = begin(jobs)
    assert (started.work, started.place, started.title) == ("changes", "/changes", "by day")
    job = ended(jobs, started.id)
    assert (job.state, job.to_dict()["share"], job.message) == ("done", 1.0, "")
    result = jobs.result(job.id)
    # By hand, of tests/service.py: a changed, b stayed, c moved to soup.
    assert result["sweeps"] == ["2026-01-01", "2026-02-01"]
    assert (result["pages"], result["changed"], result["stayed"]) == (4, 1, 2)
    assert result["corpus_state"] == state_of(Corpus(corpus))
    told = json.loads((jobs.directory / job.id / "progress.json").read_text())
    # Three pages of the first sweep, each looked for twice.
    assert told == {"phase": "pages", "done": 6, "total": 6, "unit": "pages"}
    assert jobs.file(job.id, "result.json").is_file()
    for name in ("..", "../lock", "/etc/passwd", "", ".hidden", "a/b", "none.txt", "x" * 5000):
        with pytest.raises(NotFoundError, match="no such file"):
            jobs.file(job.id, name)


def test_the_same_work_is_one_job(jobs: Jobs) -> None:
    first = begin(jobs)
    frozen(jobs, first)
    assert begin(jobs).id == first.id
    assert begin(jobs, state="changed").id != first.id
    assert len(jobs.all()) == 2


def test_another_process_sees_and_cancels_it(jobs: Jobs) -> None:
    job = begin(jobs)
    pid = frozen(jobs, job)
    code = (
        "import sys, pathlib\n"
        "from roughly.web.job import Jobs\n"
        "jobs = Jobs(sys.argv[1], pathlib.Path(sys.argv[2]))\n"
        "print(jobs.get(sys.argv[3]).state, jobs.cancel(sys.argv[3]).state)\n"
    )
    words = [str(jobs.corpus), str(jobs.directory), job.id]
    run = subprocess.run(
        [sys.executable, "-c", code, *words], capture_output=True, text=True, check=True
    )
    assert run.stdout.split() == ["running", "cancelled"]
    assert not runs(pid)
    assert jobs.get(job.id).state == "cancelled"
    with pytest.raises(NotFoundError, match="no result"):
        jobs.result(job.id)


def test_a_cancelled_job_can_start_again(jobs: Jobs) -> None:
    job = begin(jobs)
    frozen(jobs, job)
    assert jobs.cancel(job.id).state == "cancelled"
    assert begin(jobs).state == "running"
    assert ended(jobs, job.id).state == "done"
    assert jobs.cancel(job.id).state == "done"  # too late: it stays as it is


def test_a_process_of_another_is_not_killed(jobs: Jobs) -> None:
    """A process id that is not the job's any more: nobody has the job's lock."""
    job = begin(jobs)
    os.kill(frozen(jobs, job), signal.SIGKILL)
    ended(jobs, job.id)
    with subprocess.Popen([sys.executable, "-c", "input()"], stdin=subprocess.PIPE) as other:
        (jobs.directory / job.id / "pid").write_text(str(other.pid))
        job_module._kill(jobs.directory / job.id)
        assert other.poll() is None
        other.communicate(b"\n")
    assert other.returncode == 0


def test_killed_from_outside(jobs: Jobs) -> None:
    job = begin(jobs)
    os.kill(frozen(jobs, job), signal.SIGKILL)
    found = ended(jobs, job.id)
    assert (found.state, found.message.split(":")[0]) == ("failed", "job")


def test_an_orphan_ends_by_itself(tmp_path: Path) -> None:
    """The process that started a job is gone: the one that is its parent now is another."""
    code = (
        "import sys, pathlib\n"
        "from roughly.web.job_process import watch\n"
        "watch(pathlib.Path(sys.argv[1]), int(sys.argv[2]))\n"
    )
    words = [str(tmp_path), str(os.getpid() + 1)]
    run = subprocess.run([sys.executable, "-c", code, *words], timeout=60)
    assert run.returncode == 1
    told = json.loads((tmp_path / "error.json").read_text())
    assert told["message"] == "job: stopped: the service that started it has ended"


def test_it_may_not_take_for_ever(tmp_path: Path) -> None:
    code = (
        "import os, sys, pathlib\n"
        "from roughly.web import job_process\n"
        "job_process.MOST_SECONDS = 0\n"
        "job_process.watch(pathlib.Path(sys.argv[1]), os.getppid())\n"
    )
    run = subprocess.run([sys.executable, "-c", code, str(tmp_path)], timeout=60)
    assert run.returncode == 1
    told = json.loads((tmp_path / "error.json").read_text())
    assert told["message"].startswith("job: stopped: it took longer than")


def test_errors_are_told_in_words(jobs: Jobs) -> None:
    arguments = {"begin": "2026-02-01", "end": "2026-01-01", "by": "day"}
    job = jobs.start(
        "every-page", arguments | {"exact": False, "confidence": 0.8}, "now", "x", "/lost/{id}"
    )
    found = ended(jobs, job.id)
    assert found.state == "failed"
    assert found.message == "dates: not in order: 2026-02-01 to 2026-01-01"
    assert found.place == f"/lost/{job.id}"


def test_only_so_many_at_once(jobs: Jobs, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(job_module, "MOST_RUNNING", 1)
    job = begin(jobs)
    frozen(jobs, job)
    with pytest.raises(BusyError, match="too many: 1 are running"):
        begin(jobs, "month")
    jobs.cancel(job.id)
    assert begin(jobs, "month").state in ("running", "done")


def test_only_so_many_are_kept(jobs: Jobs, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(job_module, "MOST_KEPT", 2)
    for number in range(3):
        begun = begin(jobs, state=str(number))
        os.kill(frozen(jobs, begun), signal.SIGKILL)
        ended(jobs, begun.id)
    assert len(jobs.all()) == 2
    monkeypatch.setattr(job_module, "KEPT_SECONDS", -1)
    last = begin(jobs, state="last")
    assert [job.id for job in jobs.all()] == [last.id]


@pytest.mark.parametrize(
    "id", ["", "x", "..", "../secret", "a" * 31, "A" * 32, "a" * 33, "/etc/passwd", "a" * 32]
)
def test_no_such_job(jobs: Jobs, id: str) -> None:
    for asked in (jobs.get, jobs.cancel, jobs.result):
        with pytest.raises(NotFoundError, match="not known"):
            asked(id)


def test_nobody_guesses_an_id(corpus: Path, tmp_path: Path) -> None:
    """The same work in two directories has two names."""
    one, other = (Jobs(corpus, tmp_path / name) for name in "ab")
    asked = ("changes", {"by": "day"}, "now")
    assert one.id_of(*asked) != other.id_of(*asked)
    assert one.id_of(*asked) == Jobs(corpus, tmp_path / "a").id_of(*asked)


def test_a_directory_of_somebody_else(corpus: Path, tmp_path: Path) -> None:
    place = tmp_path / "jobs"
    place.mkdir()
    place.chmod(0o777)
    with pytest.raises(DocumentError, match="others may write to it"):
        begin(Jobs(corpus, place))
    link = tmp_path / "link"
    (tmp_path / "own").mkdir(mode=0o700)
    link.symlink_to(tmp_path / "own")
    with pytest.raises(DocumentError, match="others may write to it"):
        begin(Jobs(corpus, link))


def test_where_jobs_are(corpus: Path, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("ROUGHLY_JOBS", str(tmp_path))
    assert directory_of(corpus).parent == tmp_path
    assert Jobs(corpus).directory == Jobs(corpus / "." / "x" / "..").directory
    assert directory_of(corpus) != directory_of(tmp_path)


def test_forgetting_stops_all(jobs: Jobs) -> None:
    pid = frozen(jobs, begin(jobs))
    jobs.forget()
    assert not runs(pid)
    assert not jobs.directory.exists()


def test_telling_is_rare_and_ends_complete(tmp_path: Path) -> None:
    telling = Telling(tmp_path)
    written = set()
    advance = telling.phase("pages", 10_000, "pages")
    for _ in range(10_000):
        advance(1)
        written.add((tmp_path / "progress.json").stat().st_ino)
    told = json.loads((tmp_path / "progress.json").read_text())
    assert (told["done"], told["total"]) == (10_000, 10_000)
    assert len(written) < 1000
    telling.phase("next", None, "")(3)
    assert json.loads((tmp_path / "progress.json").read_text())["phase"] == "next"


def test_the_state_changes_with_the_corpus(tmp_path: Path) -> None:
    path = make_corpus(tmp_path / "site.roughly")
    corpus = Corpus(path)
    before = state_of(corpus)
    assert state_of(Corpus(path)) == before
    corpus.add([{"id": "https://example.com/new", "text": "one two three"}], "2026-03-01")
    assert state_of(corpus) != before
    after = state_of(corpus)
    corpus.remove("https://example.com/new")
    assert state_of(corpus) not in (before, after)


def test_every_work_has_a_name() -> None:
    assert set(WORK) == {"changes", "every-page", "listed-pages", "simhashes"}
