"""What a command leaves behind: files that are whole or not there, and words on standard error.

Nothing here fails in silence and nothing fails with a traceback: what cannot be written is a
DocumentError that says why; only standard error itself may be beyond writing.
"""

from __future__ import annotations

import contextlib
import errno
import os
import shutil
import sys
from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING

from roughly.documents.file import printable, reason
from roughly.errors import DocumentError, ParameterError

if TYPE_CHECKING:
    from roughly.documents import Documents
    from roughly.documents.skipped import Skipped

# Of what was skipped, how many are named.
_NAMES = 5
_FULL = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG)


def say(message: str) -> None:
    """A line (and its hint) on standard error, if there is one."""
    with contextlib.suppress(OSError):
        print(f"roughly: {message}", file=sys.stderr, flush=True)


def counted(count: int, noun: str) -> str:
    """As `1 document`, `2 documents`."""
    return f"{count:,} {noun}" + ("" if count == 1 else "s")


@contextlib.contextmanager
def changing(corpus: str, force: bool = False) -> Iterator[None]:
    """While a corpus is made or changed: an interruption tells how it is left. A change is
    made by replacing its manifest, once. With `force` the same command would begin anew."""
    before = _manifest(corpus)
    try:
        yield
    except KeyboardInterrupt as end:
        now = _manifest(corpus)
        state = "is as it was before" if now == before else "is changed, all of it"
        if now is None:
            aside = " without --force" if force else ""
            state = f"is not complete yet: the same command{aside} goes on with it"
        end.add_note(f"{printable(corpus)} {state}")
        raise


def _manifest(corpus: str) -> bytes | None:
    try:
        with open(os.path.join(corpus, "corpus.json"), "rb") as file:
            return file.read()
    except OSError:
        return None


def cannot_write(what: str, error: OSError, aside: str = "") -> DocumentError:
    """The error that tells what could not be written, why, and what to do."""
    full = error.errno in _FULL
    return DocumentError(
        f"{what}: cannot write: {reason(error)}{aside}",
        hint="make room, or choose another place" if full else "choose a place you may write to",
    )


def refuse_to_overwrite(path: str) -> None:
    """Raises if there is anything at this path."""
    if os.path.lexists(path):
        raise DocumentError(
            f"{printable(path)}: will not write: the file exists",
            hint="choose another name, or overwrite it with --force",
        )


def check_output(path: str, force: bool, inputs: Iterable[str | None] = ()) -> None:
    """Raises unless a file can go to this path: it is no directory, none of the inputs, and nothing
    is there unless `force` says to overwrite it."""
    if not os.path.basename(path) or os.path.isdir(path):
        raise DocumentError(
            f"{printable(path) or repr(path)}: cannot write: it is no name of a file",
            hint="name a file",
        )
    refuse_inputs(path, inputs)
    if not force:
        refuse_to_overwrite(path)


def refuse_inputs(path: str, inputs: Iterable[str | None]) -> None:
    """Raises if the file at this path is one of those that are read."""
    if not os.path.isfile(path):
        return  # a device may be both
    for name in inputs:
        if name is not None and os.path.exists(name) and os.path.samefile(path, name):
            raise ParameterError(
                f"{printable(path)}: will not write: {printable(name)} is one of the inputs",
                hint="choose another name",
            )


def say_reading(documents: Documents) -> None:
    """What there is to say once documents were read: the fields that were guessed, what was skipped
    and which ids were changed."""
    say_fields(documents)
    say_skipped(documents.skipped)


def say_fields(documents: Documents) -> None:
    """Which fields were read; and if all there is was taken for one text."""
    for fields, sources in documents.guesses.items():
        where = sources[0].name if len(sources) == 1 else counted(len(sources), "source")
        say(f"read {fields} from {where}")
    source = documents.sources[0] if len(documents.sources) == 1 else None
    if source is not None and source.is_text_by_default:
        say(f"{source.name}: read as one text; if it is many documents, say how with --format")


def say_skipped(skipped: Skipped, aside: str = "") -> None:
    """What was skipped, and what was changed of what was read."""
    if skipped.count:
        say(f"{skipped}{aside}")
        for unread in skipped.first[:_NAMES]:
            say(str(unread))
        if skipped.count > _NAMES:
            say(f"and {skipped.count - _NAMES:,} more")
    if skipped.repeated_ids:
        were = "was" if skipped.repeated_ids == 1 else "were"
        say(f"{counted(skipped.repeated_ids, 'repeated id')} {were} numbered, as id#2")
    if skipped.unread_dates:
        say(f"{counted(skipped.unread_dates, 'date')} could not be read")


def write_file(path: str, text: str, force: bool) -> None:
    """Writes a file. Until all of it is written, whatever is at the path stays as it is."""
    if not force:
        refuse_to_overwrite(path)
    try:
        if os.path.isfile(path) or (os.path.basename(path) and not os.path.exists(path)):
            _replace(os.path.realpath(path), text)  # a link remains one
        else:
            # A device or a pipe has to stay one; what cannot be opened says why.
            with open(path, "w", encoding="utf-8", newline="\n") as file:
                file.write(text)
    except OSError as error:
        raise cannot_write(printable(path) or "''", error) from error


def _replace(path: str, text: str) -> None:
    import secrets

    part = os.path.join(os.path.dirname(path), f".roughly-{secrets.token_hex(8)}.part")
    try:
        with open(part, "x", encoding="utf-8", newline="\n") as file:
            file.write(text)
        if os.path.exists(path):
            shutil.copymode(path, part)
        os.replace(part, path)
    except BaseException:
        with contextlib.suppress(OSError):
            os.unlink(part)
        raise
