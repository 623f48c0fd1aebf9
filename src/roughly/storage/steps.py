"""The journal of a run in a working directory: which steps are done, so that a run can go on.

A step's record, steps/NAME.json, appears after its outputs are on the disk, never before: a process
or a machine that stops leaves a step either done or not begun. Records are written by one thread of
their own, in order, while the run computes. A record says with which outputs it was made, of which
size; without them it does not count.
"""

from __future__ import annotations

import contextlib
import json
import shutil
import threading
from collections.abc import Mapping, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from pathlib import Path
from types import TracebackType
from typing import Any

from roughly import _core
from roughly.documents.file import printable
from roughly.errors import DamageError, MismatchError, RoughlyError
from roughly.storage.checked import sidecar
from roughly.storage.durable import (
    make_directory,
    remove,
    remove_leftovers,
    sync,
    write_durably,
    writing,
)

FORMAT = 1

_RUN = "steps.json"  # the parameters of the run
_FOLDER = "steps"  # a record a step

JOURNAL = (_RUN, _FOLDER)

# Of a value in a message: the inputs of a run may be very many.
_SHOWN = 300


class Steps:
    """What a run in `directory` has done so far.

    `parameters` are plain values, as JSON has them; a run that was begun with others is refused,
    or with `force` forgotten. With durable=False nothing waits for the disk: for a directory that
    does not outlive its process. For the directory's one writer; any of its threads may use it.
    Leaving a `with` is `finish`: inside that of the lock it leaves nothing to do without one.
    """

    def __init__(
        self,
        directory: Path,
        parameters: Mapping[str, Any],
        *,
        force: bool = False,
        durable: bool = True,
    ) -> None:
        self.directory = directory
        self._durable = durable
        self._folder = directory / _FOLDER
        self._known: dict[str, dict[str, Any]] = {}
        self._failure: BaseException | None = None
        self._unwritten: tuple[str, dict[str, Any]] | None = None  # the record that failed
        self._lock = threading.Lock()  # for the two below
        self._pending: dict[str, Future[None]] = {}  # by step; written ones may be among them
        self._executor: ThreadPoolExecutor | None = None
        if force:
            self._forget_all()
        make_directory(self._folder)
        for folder in (directory, self._folder):
            remove_leftovers(folder)
        self._begin(json.loads(json.dumps(dict(parameters))))

    def done(self, name: str) -> bool:
        """Whether a step is recorded and its outputs are there."""
        record = self._record(name)
        return record is not None and all(
            _size(self.directory / path) == size for path, size in record["outputs"].items()
        )

    def facts(self, name: str) -> dict[str, Any]:
        """What was recorded with a step; nothing if it is not recorded."""
        record = self._record(name)
        return {} if record is None else dict(record["facts"])

    def record(self, name: str, outputs: Sequence[Path], facts: Mapping[str, Any]) -> None:
        """Marks a step as done. Returns at once: the outputs (with their checksums) and then the
        record reach the disk later, after those recorded before. Raises what went wrong so far."""
        self._raise_failure()
        with_sums = [
            path for each in outputs for path in (each, sidecar(each)) if _size(path) is not None
        ]
        record = {
            "step": name,
            "outputs": {self._relative(path): _size(path) for path in with_sums},
            "facts": dict(facts),
        }
        missing = [path for path in outputs if _size(path) is None]
        if missing:
            raise DamageError(f"{printable(str(missing[0]))}: damaged: it is missing")
        self._known[name] = json.loads(json.dumps(record))
        with self._lock:
            if self._executor is None:
                self._executor = ThreadPoolExecutor(1, thread_name_prefix="roughly-steps")
            self._pending = {n: each for n, each in self._pending.items() if not each.done()}
            self._pending[name] = self._executor.submit(self._write, name, record, with_sums)

    def forget(self, name: str) -> None:
        """Takes a step's record back, before its outputs are made anew."""
        with self._lock:
            pending = self._pending.get(name)
        if pending is not None:
            pending.result()
        self._known.pop(name, None)
        path = self._path(name)
        if path.exists():
            with writing(path):
                path.unlink()
                if self._durable:
                    sync(self._folder)

    def finish(self) -> None:
        """Waits until everything recorded is on the disk, and raises what went wrong.

        A record that could not be written, of outputs that are on the disk, is tried once more:
        when a disk is full, whatever filled it has mostly gone by now."""
        with self._lock:
            executor, self._executor = self._executor, None
        if executor is not None:
            executor.shutdown()
        if self._unwritten is not None:
            (name, record), self._unwritten = self._unwritten, None
            with contextlib.suppress(RoughlyError):
                write_durably(self._path(name), _encoded(record), self._durable)
        self._raise_failure()

    def __enter__(self) -> Steps:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        # What was raised inside is the first thing that went wrong.
        with contextlib.suppress(RoughlyError) if error else contextlib.nullcontext():
            self.finish()

    def _write(self, name: str, record: dict[str, Any], outputs: list[Path]) -> None:
        """In the thread. After a failure nothing is recorded: later steps rest on earlier ones."""
        if self._failure is not None:
            return
        try:
            if self._durable:
                self._sync(outputs)
            try:
                write_durably(self._path(name), _encoded(record), self._durable)
            except BaseException:
                self._unwritten = name, record
                raise
        except BaseException as error:
            self._failure = error

    def _sync(self, outputs: list[Path]) -> None:
        for path in [*outputs, *{output.parent for output in outputs}]:
            with writing(path):
                sync(path)

    def _raise_failure(self) -> None:
        if self._failure is not None:
            raise self._failure

    def _begin(self, parameters: dict[str, Any]) -> None:
        path = self.directory / _RUN
        earlier = _read(path)
        if earlier is None:
            # Records without the run they belong to are of a run that was being forgotten.
            for record in self._folder.glob("*.json"):
                remove(record)
            run = {"format": FORMAT, "parameters": parameters}
            write_durably(path, _encoded(run), self._durable)
            return
        shown = printable(str(self.directory))
        if earlier["format"] != FORMAT:
            raise MismatchError(
                f"{shown}: cannot go on: its journal has format {earlier['format']},"
                f" wanted {FORMAT}",
                hint="begin anew with --force, or choose another place",
            )
        before = earlier["parameters"]
        differing = [
            n for n in before.keys() | parameters.keys() if not _same(n, before, parameters)
        ]
        if differing:
            one, two = (
                ", ".join(f"{n}={_short(p[n])}" if n in p else f"no {n}" for n in sorted(differing))
                for p in (before, parameters)
            )
            raise MismatchError(
                f"{shown}: cannot go on: a run was begun there with other parameters:"
                f" {one} against {two}",
                hint="use the same ones to go on, or begin anew with --force",
            )

    def _forget_all(self) -> None:
        # The run first: records alone count for nothing.
        with writing(self.directory):
            with contextlib.suppress(FileNotFoundError):
                (self.directory / _RUN).unlink()
            if self._folder.is_dir():
                shutil.rmtree(self._folder)

    def _record(self, name: str) -> dict[str, Any] | None:
        if name not in self._known:
            record = _read(self._path(name))
            if record is None:
                return None
            if record.get("step") != name:
                raise _damaged(self._path(name), "it is the record of another step")
            self._known[name] = record
        return self._known[name]

    def _path(self, name: str) -> Path:
        return self._folder / f"{name}.json"

    def _relative(self, path: Path) -> str:
        """Working directories may be moved, with all that is in them."""
        if path.is_relative_to(self.directory):
            return str(path.relative_to(self.directory))
        return str(path.absolute())


def begun_with(directory: Path, parameters: Mapping[str, Any]) -> bool:
    """Whether there is the journal of a run with just these parameters."""
    try:
        earlier = _read(directory / _RUN)
    except (RoughlyError, OSError):
        return False
    wanted = {"format": FORMAT, "parameters": json.loads(json.dumps(dict(parameters)))}
    return earlier == wanted


def remove_journal(directory: Path) -> None:
    """Of a run that has ended; its head last, as long as it is there it can be asked for."""
    with writing(directory):
        if (directory / _FOLDER).is_dir():
            shutil.rmtree(directory / _FOLDER)
        (directory / _RUN).unlink(missing_ok=True)


def _short(value: object) -> str:
    """A value as a message can show it."""
    shown = repr(value)
    return shown if len(shown) <= _SHOWN else f"{shown[:_SHOWN]}..."


def _size(path: Path) -> int | None:
    try:
        return path.stat().st_size
    except OSError:
        return None


def _same(name: str, one: dict[str, Any], two: dict[str, Any]) -> bool:
    return name in one and name in two and one[name] == two[name]


def _encoded(record: dict[str, Any]) -> bytes:
    """One line of JSON that carries its own checksum."""
    text = json.dumps(record, sort_keys=True)
    return f'{{"crc32c": "{_core.crc32c(text.encode()):08x}", "record": {text}}}\n'.encode()


def _read(path: Path) -> dict[str, Any] | None:
    try:
        data = path.read_bytes()
    except FileNotFoundError:
        return None
    try:
        record: dict[str, Any] = json.loads(data)["record"]
        whole = _encoded(record) == data
    except (ValueError, KeyError, TypeError):
        whole = False
    if not whole:
        raise _damaged(path, "it is not as it was written")
    return record


def _damaged(path: Path, why: str) -> DamageError:
    return DamageError(
        f"{printable(str(path))}: damaged: {why}", hint="begin the run anew with --force"
    )
