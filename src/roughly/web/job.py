"""Long work for pages: a job is a process of its own that tells how far it is and can be stopped.

All that is known of a job lies in files of a directory that every worker process of the service
shares, so any of them can tell of it or cancel it. A job's process holds a lock on its file `alive`
from before it begins until it ends, however it ends: that lock says whether it runs, and that its
process id is still its own. The same work on the same state of a corpus is one job, whose result is
kept for some time. Few run at once, few are kept; who asks for more is refused.
"""

from __future__ import annotations

import contextlib
import fcntl
import hashlib
import json
import os
import re
import secrets
import shutil
import signal
import stat
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Iterator, Mapping
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from roughly.documents.file import printable, reason
from roughly.errors import BusyError, DocumentError, NotFoundError

if TYPE_CHECKING:
    from roughly.corpus.corpus import Corpus

State = Literal["running", "done", "failed", "cancelled"]

# Names the directory of all jobs; without it there is one for each corpus among temporary files.
DIRECTORY = "ROUGHLY_JOBS"
MOST_RUNNING = 2
MOST_KEPT = 16
KEPT_SECONDS = 24 * 3600
KEPT_BYTES = 1 << 30
# How long a cancelled process may take to be gone: it is killed, so this is the kernel's time.
_KILL_SECONDS = 5.0

_ID = re.compile(r"[0-9a-f]{32}")
_NAME = 80  # characters of a file's name
_FILE = re.compile(r"[a-z0-9]+([._-][a-z0-9]+)*")


@dataclass(frozen=True, slots=True)
class Progress:
    """How far a job is: so much of a phase; `total` is None where nobody can know."""

    phase: str = "starting"
    done: int = 0
    total: int | None = None
    unit: str = ""


@dataclass(frozen=True, slots=True)
class Job:
    """What is known of a job at one moment."""

    id: str
    work: str  # its name, see work/__init__.py
    title: str
    place: str  # the path of the page that shows the result
    state: State
    seconds: float  # since it began, or that it took
    progress: Progress = field(default_factory=Progress)
    message: str = ""  # why it failed
    hint: str = ""

    def to_dict(self) -> dict[str, Any]:
        """As JSON has it, with the share that is done; None where it cannot be told."""
        plain = asdict(self)
        total = self.progress.total
        plain["share"] = (
            1.0 if self.state == "done" else min(1.0, self.progress.done / total) if total else None
        )
        return plain


class Jobs:
    """The jobs of one corpus."""

    def __init__(self, corpus: str | Path, directory: Path | None = None) -> None:
        self.corpus = Path(corpus).resolve()
        self.directory = directory or directory_of(self.corpus)

    def id_of(self, work: str, arguments: Mapping[str, Any], state: str) -> str:
        """The name of that work on that state of the corpus; nobody outside can guess it."""
        asked = json.dumps([str(self.corpus), work, dict(arguments), state], sort_keys=True)
        return hashlib.sha256(self._secret() + asked.encode()).hexdigest()[:32]

    def start(
        self, work: str, arguments: Mapping[str, Any], state: str, title: str, place: str
    ) -> Job:
        """The job of that work: a new one, unless it runs already or is done. `{id}` in the place
        of its result stands for its id. BusyError if too many others run."""
        id = self.id_of(work, arguments, state)
        with self._alone():
            known = self.find(id)
            if known is not None and known.state in ("running", "done"):
                return known
            self._tidy(but=id)
            running = [job for job in self.all() if job.state == "running"]
            if len(running) >= MOST_RUNNING:
                raise BusyError(
                    f"jobs: too many: {len(running)} are running, wanted less than {MOST_RUNNING}",
                    hint="wait until one has ended, or cancel one: see /jobs",
                )
            folder = self.directory / id
            with _writing(folder):
                shutil.rmtree(folder, ignore_errors=True)
                folder.mkdir(mode=0o700)
                request = {
                    "work": work,
                    "arguments": dict(arguments),
                    "title": title,
                    "place": place.replace("{id}", id),
                    "corpus": str(self.corpus),
                }
                _run(folder, request)
        return self.get(id)

    def get(self, id: str) -> Job:
        """What is known of a job."""
        job = self.find(id)
        if job is None:
            raise NotFoundError(
                f"job {printable(id[:40])}: not known: it never was, or was forgotten",
                hint=f"results are kept for {KEPT_SECONDS // 3600} hours",
            )
        return job

    def find(self, id: str) -> Job | None:
        """The same, or None."""
        folder = self.directory / id
        if not _ID.fullmatch(id) or (request := read_json(folder / "request.json")) is None:
            return None
        # Looked at before the files: a job that ended in between has left them.
        alive = _held(folder / "alive")
        progress = Progress(**(read_json(folder / "progress.json") or {}))
        state: State = "running" if alive else "failed"
        message = hint = ""
        if (folder / "result.json").exists():
            state = "done"
        elif (error := read_json(folder / "error.json")) is not None:
            state, message, hint = "failed", error["message"], error["hint"]
        elif (folder / "cancelled").exists():
            state = "cancelled"
        elif not alive:
            message, hint = "job: ended: its process was stopped from outside", "start it again"
        return Job(
            id,
            request["work"],
            request["title"],
            request["place"],
            state,
            self._seconds(folder, state),
            progress,
            message,
            hint,
        )

    def all(self) -> list[Job]:
        """Every job that is kept, the latest first."""
        found = [(folder, self.find(folder.name)) for folder in self._folders()]
        return [job for _, job in found if job is not None]

    def cancel(self, id: str) -> Job:
        """Stops a job; when this returns its process is gone. One that has ended stays as it is."""
        job = self.get(id)
        if job.state == "running":
            folder = self.directory / id
            with _writing(folder):
                (folder / "cancelled").touch()
            _kill(folder)
        return self.get(id)

    def result(self, id: str) -> dict[str, Any]:
        """What a job that is done has found."""
        self.get(id)
        found: dict[str, Any] | None = read_json(self.directory / id / "result.json")
        if found is None:
            raise NotFoundError(f"job {id}: no result: it is not done", hint=f"see /jobs/{id}")
        return found

    def file(self, id: str, name: str) -> Path:
        """A file that a job has made beside its result."""
        self.result(id)
        path = self.directory / id / name
        if len(name) > _NAME or not _FILE.fullmatch(name) or not path.is_file():
            raise NotFoundError(f"job {id}: no such file: {printable(name[:80])}")
        return path

    def forget(self) -> None:
        """Stops all jobs and removes what they left: for the end of a service that has a directory
        of its own."""
        for job in self.all():
            self.cancel(job.id)
        shutil.rmtree(self.directory, ignore_errors=True)

    # --- files ------------------------------------------------------------------------------------

    def _secret(self) -> bytes:
        path = self.directory / "secret"
        with _writing(path):
            _own_directory(self.directory)
            if not path.exists():
                write_text(path, secrets.token_hex(32), replace=False)
            return path.read_bytes()

    def _folders(self) -> list[Path]:
        try:
            names = [each for each in os.listdir(self.directory) if _ID.fullmatch(each)]
        except OSError:
            return []
        folders = [self.directory / each for each in names]
        return sorted(folders, key=lambda folder: (-_begun(folder), folder.name))

    @contextlib.contextmanager
    def _alone(self) -> Iterator[None]:
        """No other process starts a job meanwhile."""
        with _writing(self.directory):
            _own_directory(self.directory)
            descriptor = os.open(self.directory / "lock", os.O_RDWR | os.O_CREAT | os.O_CLOEXEC)
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX)
            yield
        finally:
            os.close(descriptor)

    def _tidy(self, but: str) -> None:
        """Removes results that are old, or too many."""
        size = 0
        kept = 0
        for folder in self._folders():
            if folder.name == but or _held(folder / "alive"):
                continue
            size += sum(path.stat().st_size for path in folder.iterdir())
            kept += 1
            old = time.time() - _begun(folder) > KEPT_SECONDS
            if old or kept >= MOST_KEPT or size > KEPT_BYTES:
                shutil.rmtree(folder, ignore_errors=True)

    def _seconds(self, folder: Path, state: State) -> float:
        ends = {"done": "result.json", "failed": "error.json", "cancelled": "cancelled"}
        end = time.time()
        if state != "running":
            with contextlib.suppress(OSError):
                end = (folder / ends[state]).stat().st_mtime
        return round(max(0.0, end - _begun(folder)), 1)


def _run(folder: Path, request: dict[str, Any]) -> None:
    """Starts the process of a job, which inherits the lock that tells that it lives."""
    alive = os.open(folder / "alive", os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
    try:
        fcntl.flock(alive, fcntl.LOCK_EX)
        # With this the job is there for others: it must look alive by then.
        write_json(folder / "request.json", request)
        process = subprocess.Popen(
            [sys.executable, "-m", "roughly.web.job_process", str(folder), str(os.getpid())],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            pass_fds=(alive,),
            start_new_session=True,
        )
    finally:
        os.close(alive)
    write_text(folder / "pid", str(process.pid))
    # Somebody must wait for it, or it stays in the table of processes.
    threading.Thread(target=process.wait, name=f"job {folder.name}", daemon=True).start()


def state_of(corpus: Corpus) -> str:
    """What changes whenever a corpus does."""
    manifest = corpus.manifest
    parts = [[segment.name, segment.checksum] for segment in manifest.segments]
    held = json.dumps([parts, manifest.forest, manifest.forest_checksum, manifest.removed])
    return hashlib.sha256(held.encode()).hexdigest()[:16]


def directory_of(corpus: Path) -> Path:
    """Where the jobs of a corpus are, the same for all processes of one user."""
    name = hashlib.sha256(os.fsencode(corpus)).hexdigest()[:16]
    given = os.environ.get(DIRECTORY)
    if given:
        return Path(given) / name
    return Path(tempfile.gettempdir()) / f"roughly-jobs-{os.getuid()}" / name


def _own_directory(directory: Path) -> None:
    """Makes it, for this user alone; one that somebody else has put there is refused."""
    for each in (directory.parent, directory):
        with contextlib.suppress(FileExistsError):
            each.mkdir(mode=0o700, parents=True)
        found = each.lstat()
        mine = found.st_uid == os.getuid() and not found.st_mode & 0o022
        # Where everybody may write, but nobody may replace what another has made.
        shared = each == directory.parent and found.st_mode & stat.S_ISVTX
        if not stat.S_ISDIR(found.st_mode) or not (mine or shared):
            raise DocumentError(
                f"{printable(str(each))}: cannot be used for jobs: others may write to it",
                hint=f"name another directory in the environment variable {DIRECTORY}",
            )


def _begun(folder: Path) -> float:
    try:
        return (folder / "request.json").stat().st_mtime
    except OSError:
        return 0.0


def _held(path: Path) -> bool:
    """Whether a process holds the lock of a file."""
    try:
        descriptor = os.open(path, os.O_RDWR | os.O_CLOEXEC)
    except OSError:
        return False
    try:
        fcntl.flock(descriptor, fcntl.LOCK_SH | fcntl.LOCK_NB)
    except OSError:
        return True
    finally:
        os.close(descriptor)
    return False


def _kill(folder: Path) -> None:
    """Kills the process of a job, and waits until it is gone."""
    end = time.monotonic() + _KILL_SECONDS
    while time.monotonic() < end:
        pid = (read_text(folder / "pid") or "").strip()
        if pid.isdigit():
            with contextlib.suppress(ProcessLookupError):
                handle = os.pidfd_open(int(pid))
                try:
                    # The process has the id that was written as long as it has the lock; the
                    # handle is its own, whoever gets the number later.
                    if _held(folder / "alive"):
                        signal.pidfd_send_signal(handle, signal.SIGKILL)
                finally:
                    os.close(handle)
        if not _held(folder / "alive"):
            return
        time.sleep(0.02)


@contextlib.contextmanager
def _writing(path: Path) -> Iterator[None]:
    try:
        yield
    except OSError as error:
        raise DocumentError(f"{printable(str(path))}: cannot write: {reason(error)}") from error


def write_json(path: Path, value: Any) -> None:
    """Wholly or not at all."""
    write_text(path, json.dumps(value, ensure_ascii=False))


def write_text(path: Path, text: str, replace: bool = True) -> None:
    """The same for text; without `replace` a file that is there stays."""
    own = path.with_name(f"{path.name}.{os.getpid()}.{threading.get_ident()}.new")
    own.write_text(text, "utf-8", errors="surrogatepass")
    if replace:
        own.replace(path)
        return
    with contextlib.suppress(FileExistsError):
        os.link(own, path)
    own.unlink()


def read_text(path: Path) -> str | None:
    """What a file says; None if there is none."""
    try:
        return path.read_text("utf-8", errors="surrogatepass")
    except (OSError, UnicodeDecodeError):
        return None


def read_json(path: Path) -> Any:
    """The same of JSON."""
    text = read_text(path)
    try:
        return None if text is None else json.loads(text)
    except ValueError:
        return None
