"""A byte that changes in a run that did not finish: noticed and named, or of no consequence."""

import os
import shutil
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import pytest

from roughly.corpus import Corpus
from roughly.errors import DamageError
from roughly.storage.segment_writer import SegmentWriter
from roughly.storage.steps import Steps
from tests.optional import FULL
from tests.test_corpus import Tables, make, tables, write_inputs


class Stop(Exception):
    """Where a run is stopped."""


def stopped_run(inputs: Path, path: Path, step: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """A run that ends as if it were killed before a step is recorded."""
    record = Steps.record

    def until(self: Steps, name: str, outputs: Sequence[Path], facts: Mapping[str, Any]) -> None:
        if name == step:
            raise Stop
        record(self, name, outputs, facts)

    def stop(found: object) -> None:
        raise Stop

    with monkeypatch.context() as patch:
        patch.setattr(Steps, "record", until)
        with pytest.raises(Stop):
            make(inputs, path, finish=stop)


@pytest.fixture
def small_parts(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(SegmentWriter.__init__.__kwdefaults__, "part_rows", 32)  # type: ignore[arg-type]


@pytest.fixture(autouse=True)
def no_waiting(monkeypatch: pytest.MonkeyPatch) -> None:
    """The machine does not stop in these tests, so nothing needs to wait for its disk."""
    monkeypatch.setattr(os, "fsync", lambda descriptor: None)


STEPS = ("part-00001", "segment", "documents", "hubs", "pairs-resemblance-0", "forest-containment")


@pytest.mark.usefixtures("small_parts")
@pytest.mark.parametrize("step", [*STEPS, "none of them"] if FULL else ["hubs", "none of them"])
def test_a_flipped_byte(step: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    inputs = write_inputs(tmp_path / "in.jsonl")
    before: Tables = tables(make(inputs, tmp_path / "peace").clusters())
    original = tmp_path / "stopped"
    stopped_run(inputs, original, step, monkeypatch)
    files = [p for p in sorted(original.rglob("*")) if p.is_file() and p.name != "lock"]
    assert len(files) > 5
    noticed = 0
    for file in files:
        data = file.read_bytes()
        places = range(0, len(data), max(len(data) // 6, 1)) if FULL else (len(data) // 2,)
        for at in places:
            path = tmp_path / "damaged"
            shutil.copytree(original, path)
            flipped = bytearray(data)
            flipped[at] ^= 1 << (at % 8)
            (path / file.relative_to(original)).write_bytes(flipped)
            stem = file.name.removesuffix(".crc32c")
            problems: list[str] = []
            try:
                # What no phase reads is found by whoever asks; what is made anew is whole again.
                problems = make(inputs, path, finish=lambda found: None).verify()
                assert tables(Corpus(path).clusters()) == before, (stem, at)
            except DamageError as error:
                problems.append(error.message)
            assert not problems or stem in "\n".join(problems), (stem, at)
            noticed += bool(problems)
            shutil.rmtree(path)
    assert noticed >= 3


@pytest.mark.usefixtures("small_parts")
@pytest.mark.parametrize("step", STEPS if FULL else STEPS[-1:])
def test_a_missing_file_is_made_anew(
    step: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    inputs = write_inputs(tmp_path / "in.jsonl")
    before = tables(make(inputs, tmp_path / "peace").clusters())
    original = tmp_path / "stopped"
    stopped_run(inputs, original, step, monkeypatch)
    files = [p for p in sorted(original.rglob("*")) if p.is_file()]
    for file in files if FULL else files[::3]:
        path = tmp_path / "damaged"
        shutil.copytree(original, path)
        (path / file.relative_to(original)).unlink()
        corpus = make(inputs, path, finish=lambda found: None)
        assert corpus.verify() == [] and tables(corpus.clusters()) == before, file.name
        shutil.rmtree(path)
