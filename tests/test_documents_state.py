"""Whether files are still what they were when they were read first."""

import os
from pathlib import Path

import pytest

from roughly.documents import open_documents
from roughly.documents.source import Source
from roughly.documents.state import States
from roughly.errors import DocumentError

CHANGED = "cannot read it again: it was changed while it was being read"


def sources(folder: Path, **contents: str) -> list[Source]:
    for name, text in contents.items():
        (folder / f"{name}.txt").write_text(text)
    return open_documents(folder).sources


def test_what_is_as_it_was(tmp_path: Path) -> None:
    states = States(sources(tmp_path, a="one", b="two"))
    states.check_all()
    assert not states.is_absent(0) and not states.is_absent(1)
    # To read it is no change.
    (tmp_path / "a.txt").read_text()
    states.check_all()
    States([]).check_all()


@pytest.mark.parametrize("how", ["longer", "shorter", "as long", "empty", "touched"])
def test_what_was_changed(how: str, tmp_path: Path) -> None:
    states = States(sources(tmp_path, a="one", b="two"))
    path = tmp_path / "b.txt"
    before = path.stat().st_mtime_ns
    new = {"longer": "twotwo", "shorter": "t", "as long": "six", "empty": "", "touched": "two"}
    path.write_text(new[how])
    # A clock may be too coarse to tell; a size alone tells as well.
    later = how in ("as long", "touched")
    os.utime(path, ns=(before + later, before + later))
    states.check(0)
    with pytest.raises(DocumentError, match=rf"b\.txt: {CHANGED}\nhint: run it again when nobody"):
        states.check(1)
    with pytest.raises(DocumentError, match=r"b\.txt: "):
        states.check_all()


def test_what_went_away(tmp_path: Path) -> None:
    states = States(sources(tmp_path, a="one"))
    (tmp_path / "a.txt").unlink()
    with pytest.raises(DocumentError, match=CHANGED):
        states.check_all()
    assert not states.is_absent(0), "as it was when it was read"


def test_what_was_not_there(tmp_path: Path) -> None:
    found = sources(tmp_path, a="one")
    (tmp_path / "a.txt").unlink()
    states = States(found)
    assert states.is_absent(0)
    states.check_all()
    (tmp_path / "a.txt").write_text("one")
    with pytest.raises(DocumentError, match=CHANGED):
        states.check(0)


def test_what_cannot_be_opened(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    found = sources(tmp_path, a="one", b="two")
    may = os.access
    # Whoever runs the tests may be allowed to read everything.
    monkeypatch.setattr(
        os, "access", lambda path, mode: not str(path).endswith("b.txt") and may(path, mode)
    )
    states = States(found)
    assert [states.is_absent(number) for number in (0, 1)] == [False, True]
    states.check_all()
    monkeypatch.undo()
    states.check(0)
    with pytest.raises(DocumentError, match=CHANGED):
        states.check(1)


def test_what_is_in_memory() -> None:
    states = States(open_documents(["one", "two"]).sources)
    assert not states.is_absent(0)
    states.check_all()


def test_what_is_empty(tmp_path: Path) -> None:
    states = States(sources(tmp_path, a=""))
    assert not states.is_absent(0)
    # There is nothing in it that could have been changed: the time is of no matter.
    os.utime(tmp_path / "a.txt", (0, 0))
    states.check_all()
    (tmp_path / "a.txt").write_text("one")
    with pytest.raises(DocumentError, match=CHANGED):
        states.check_all()
