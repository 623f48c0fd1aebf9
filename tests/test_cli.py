"""The command line as a user meets it: in a process of its own, with real files."""

import gc
import json
import os
import re
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from roughly.cli.loading import loading
from roughly.cli.main import main, make_parser
from tests.optional import FULL

ROOT = Path(__file__).parents[1]
ROSES = "a rose is a rose is a rose"
FLOWER = "a rose is a flower which is a rose"


posix = pytest.mark.skipif(os.name != "posix", reason="needs a shell and its devices")


def roughly(
    *arguments: str,
    cwd: Path,
    stdin: bytes = b"",
    before: Callable[[], None] | None = None,
    **environment: str,
) -> subprocess.CompletedProcess[bytes]:
    surroundings = {k: v for k, v in os.environ.items() if k not in ("COLUMNS", "NO_COLOR")}
    # A process that may not write long files would cut the compiled modules.
    surroundings["PYTHONDONTWRITEBYTECODE"] = "1"
    return subprocess.run(
        [sys.executable, "-m", "roughly", *arguments],
        cwd=cwd,
        input=stdin,
        capture_output=True,
        env=surroundings | environment,
        timeout=300,
        preexec_fn=before,
    )


def assert_error(run: subprocess.CompletedProcess[bytes], message: str, hint: str) -> None:
    """Two lines and nothing else."""
    lines = run.stderr.decode().splitlines()
    assert (run.returncode, run.stdout, len(lines)) == (2, b"", 2), lines
    assert lines[0].startswith(f"roughly: {message}"), lines
    assert lines[1].startswith(f"hint: {hint}"), lines


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "a.txt").write_text(ROSES)
    (tmp_path / "b.txt").write_text(FLOWER)
    return tmp_path


@pytest.mark.parametrize(("w", "expected"), [("1", 0.6), ("2", 0.5), ("3", 3 / 7)])
def test_report_of_roses(folder: Path, w: str, expected: float) -> None:
    run = roughly("compare", "a.txt", "b.txt", "-w", w, "--json", cwd=folder)
    assert (run.returncode, run.stderr) == (0, b"")
    assert json.loads(run.stdout)["resemblance"] == expected
    shown = roughly("compare", "a.txt", "b.txt", "-w", w, cwd=folder)
    assert f"resemblance          {expected:.4f}" in shown.stdout.decode()


def test_standard_input(folder: Path) -> None:
    run = roughly("compare", "-", "b.txt", "-w2", "--json", cwd=folder, stdin=ROSES.encode())
    found = json.loads(run.stdout)
    assert (found["resemblance"], found["a"]["id"]) == (0.5, "-")


@pytest.mark.parametrize(
    ("arguments", "message", "hint"),
    [
        (["."], ".: cannot read: it is a directory, wanted a file", "name a file in it"),
        (["c.txt"], "c.txt: cannot read: no such file", "did you mean "),
        (["no/x"], "no/x: cannot read: no such file", "there is no folder no that can be read"),
        (["x\ny\x1b[1m"], "x\\ny\\x1b[1m: cannot read: no such file", "check the path"),
        (["a.txt/x"], "a.txt/x: cannot read: not a directory", None),
        (["-", "-"], "-: cannot be both documents: standard input can be read once", "save one"),
        (
            ["a.txt", "-w", "0"],
            "compare: argument -w: out of range: 0, wanted at least 1",
            "--help",
        ),
        (["a.txt", "-w", "two"], "compare: argument -w: not a count: 'two'", "--help"),
        (["a.txt", "--seed", "-1"], "compare: argument --seed: not a seed: '-1'", "--help"),
        (["a.txt", "-w", "1001"], "w: out of range: 1001, wanted a whole number from 1 to", None),
        (["a.txt", "--select", "most"], "select: unknown: 'most', wanted all, mod:M", "adaptive"),
        (["a.txt", "--select", ""], "select: unknown: '', wanted all, mod:M", "adaptive"),
        (["a.txt", "--select", "mod:" + "9" * 5000], "select: unknown: 'mod:999", "adaptive"),
        (["a.txt", "--html", ""], "'': cannot write: no such file or directory", "choose"),
        (["a.txt", "--html", "x/"], "x/: cannot write: is a directory", "choose"),
        (["a.txt", "--preset", "x"], "preset: unknown: 'x', wanted one of 'broder97'", None),
        (["a.txt", "--preset", "broder97", "-w", "5"], "-w: cannot stand beside --preset", "leave"),
        (["a.txt", "--as", "pdf"], "compare: argument --as: invalid choice: 'pdf'", "--help"),
        (["a.txt", "--html", "a.txt"], "a.txt: will not write: the file exists", "--force"),
        (["a.txt", "--html", "no/x"], "no/x: cannot write: no such file or directory", "choose"),
        (["a.txt", "--json", "--html", "x"], "compare: argument --html/-o: not allowed", "--help"),
    ],
)
def test_errors(folder: Path, arguments: list[str], message: str, hint: str | None) -> None:
    if len(arguments) == 1 or arguments[1] != "-":
        arguments = [arguments[0], "b.txt", *arguments[1:]]
    run = roughly("compare", *arguments, cwd=folder)
    lines = run.stderr.decode().splitlines()
    assert run.returncode == 2
    assert run.stdout == b""
    prefix = "roughly " if message.startswith("compare: ") else "roughly: "
    assert lines[0].startswith(prefix + message), lines
    if hint is None:
        assert len(lines) == 1 or lines[1].startswith("hint: ")
    else:
        assert lines[1].startswith("hint: ")
        assert hint in lines[1]
    assert len(lines) <= 2


@pytest.mark.skipif(os.name != "posix" or os.geteuid() == 0, reason="root may read everything")
def test_no_permission(folder: Path) -> None:
    (folder / "a.txt").chmod(0)
    run = roughly("compare", "a.txt", "b.txt", cwd=folder)
    assert run.returncode == 2
    assert b"a.txt: cannot read: permission denied\nhint: " in run.stderr


def test_no_command_and_unknown_command(folder: Path) -> None:
    run = roughly(cwd=folder)
    assert (run.returncode, run.stdout) == (2, b"")
    assert b"usage: roughly" in run.stderr
    run = roughly("compar", cwd=folder)
    assert run.returncode == 2
    assert b"invalid choice: 'compar'" in run.stderr


JUNK = bytes(range(256)) * 64


@pytest.mark.parametrize(
    ("a", "b", "resemblance", "encoding", "kind"),
    [
        (b"", b"", 1.0, "utf-8", "identical"),
        (b"", b"x", 0.0, "utf-8", None),
        (b"\0" * 1000, b"", 1.0, "utf-8", "empty"),
        (JUNK, JUNK, 1.0, "windows-1252", "identical"),
        (JUNK, b"x", 0.0, "windows-1252", None),
        (ROSES.encode("utf-16"), ROSES.encode(), 1.0, "utf-16le", "lexical"),
        (ROSES.encode("utf-16-le"), ROSES.encode(), 1.0, "utf-16le", "lexical"),
        (ROSES.encode("utf-16-be"), ROSES.encode(), 1.0, "utf-16be", "lexical"),
        (b"a\0rose", b"a rose", 1.0, "utf-8", "lexical"),
        (b"<p>a&nbsp;rose", b"a rose", 1.0, "utf-8", "lexical"),
    ],
)
def test_any_bytes_can_be_compared(
    tmp_path: Path, a: bytes, b: bytes, resemblance: float, encoding: str, kind: str | None
) -> None:
    (tmp_path / "a").write_bytes(a)
    (tmp_path / "b").write_bytes(b)
    run = roughly("compare", "a", "b", "--json", cwd=tmp_path)
    assert (run.returncode, run.stderr) == (0, b"")
    found = json.loads(run.stdout)
    assert found["resemblance"] == resemblance
    assert found["a"]["encoding"] == encoding
    assert found["kind"] == kind
    for options in ([], ["--html", "-"]):
        run = roughly("compare", "a", "b", *options, cwd=tmp_path)
        assert (run.returncode, run.stderr) == (0, b"")
        run.stdout.decode()


def test_one_endless_token(tmp_path: Path) -> None:
    size = 200_000_000 if FULL else 2_000_000
    (tmp_path / "a").write_bytes(b"a" * size)
    (tmp_path / "b").write_bytes(b"a" * (size - 1))
    for options in ([], ["--html", "page.html"]):
        run = roughly("compare", "a", "b", *options, cwd=tmp_path)
        assert run.returncode == 0, run.stderr
    run = roughly("compare", "a", "a", "--json", cwd=tmp_path)
    found = json.loads(run.stdout)
    assert (found["kind"], found["a"]["tokens"]) == ("identical", 1)
    assert found["passages"] == [
        {"a_start": 0, "a_end": size, "b_start": 0, "b_end": size, "tokens": 1}
    ]


@pytest.mark.skipif(not Path("/dev/zero").exists(), reason="needs devices")
def test_devices(folder: Path) -> None:
    """What does not end is refused; /dev/null is the empty document."""
    run = roughly("compare", "/dev/zero", "a.txt", cwd=folder)
    assert run.returncode == 2
    assert b"/dev/zero: cannot read: it is a device, wanted a file or a pipe" in run.stderr
    assert roughly("compare", "/dev/null", "a.txt", cwd=folder).returncode == 0


def test_help_lists_every_option_and_so_does_the_manual(folder: Path) -> None:
    run = roughly("compare", "--help", cwd=folder)
    assert (run.returncode, run.stderr) == (0, b"")
    manual = (ROOT / "docs" / "compare.md").read_text("utf-8")
    parser = make_parser()
    commands = next(a for a in parser._actions if isinstance(a.choices, dict)).choices
    assert isinstance(commands, dict)
    options = [o for action in commands["compare"]._actions for o in action.option_strings]
    assert {"-w", "--select", "--seed", "--preset", "--as", "--json", "--html"} <= set(options)
    for option in options:
        assert re.search(rf"(?<![\w-]){option}\b", run.stdout.decode()), option
        assert f"`{option}" in manual, option
    assert set(re.findall(r"`(--?[a-z]+)", manual)) <= set(options)
    for action in commands["compare"]._actions:
        assert action.help


def test_help_and_version_are_light(folder: Path) -> None:
    code = (
        "import sys\nfrom roughly.cli.main import main\n"
        "try: main([sys.argv[1]])\nexcept SystemExit as end: assert not end.code\n"
        "print(*sys.modules, file=sys.stderr)"
    )
    for option, text in (("--help", "compare"), ("--version", "roughly ")):
        run = subprocess.run(
            [sys.executable, "-c", code, option], capture_output=True, text=True, check=True
        )
        assert text in run.stdout
        heavy = {"numpy", "pyarrow", "pandas", "rich", "chardetng_py"}
        assert not heavy & {name.partition(".")[0] for name in run.stderr.split()}


def test_colour(folder: Path) -> None:
    def coloured(*arguments: str, **environment: str) -> bool:
        run = roughly("compare", "a.txt", "b.txt", *arguments, cwd=folder, **environment)
        return b"\x1b[" in run.stdout

    assert not coloured()
    assert coloured("--color", "always")
    assert coloured("--color", "always", NO_COLOR="1")
    assert not coloured("--color", "never")


@posix
def test_colour_on_a_terminal(folder: Path) -> None:
    from tests.terminal import run_on_terminal

    def coloured(**environment: str) -> bool:
        surroundings = {k: v for k, v in os.environ.items() if k != "NO_COLOR"}
        command = [sys.executable, "-m", "roughly", "compare", "a.txt", "b.txt", "-w2"]
        run, seen = run_on_terminal(
            command, "stdout", cwd=folder, env=surroundings | environment, stderr=subprocess.PIPE
        )
        assert (run.returncode, run.stderr) == (0, b"")
        assert b"shared passage" in seen
        return b"\x1b[" in seen

    assert coloured(TERM="xterm")
    assert not coloured(TERM="xterm", NO_COLOR="1")
    assert not coloured(TERM="dumb")


def test_html_is_written_once_and_again_by_force(folder: Path) -> None:
    run = roughly("compare", "a.txt", "b.txt", "-o", "page.html", cwd=folder)
    assert (run.returncode, run.stdout, run.stderr) == (0, b"", b"roughly: wrote page.html\n")
    page = (folder / "page.html").read_bytes()
    assert page.startswith(b"<!DOCTYPE html>")
    (folder / "page.html").write_bytes(b"mine")
    assert roughly("compare", "a.txt", "b.txt", "-o", "page.html", cwd=folder).returncode == 2
    assert (folder / "page.html").read_bytes() == b"mine"
    run = roughly("compare", "a.txt", "b.txt", "-o", "page.html", "--force", cwd=folder)
    assert run.returncode == 0
    assert (folder / "page.html").read_bytes() == page


def limited(size: int) -> None:
    """No file of this process may grow beyond that: what a full disk does, without one."""
    import resource

    resource.setrlimit(resource.RLIMIT_FSIZE, (size, size))


@posix
def test_a_page_that_does_not_fit_leaves_everything_as_it_was(folder: Path) -> None:
    before = sorted(folder.iterdir())
    arguments = ["compare", "a.txt", "b.txt", "-o", "page.html"]
    for force in ([], ["--force"]):
        run = roughly(*arguments, *force, cwd=folder, before=lambda: limited(4096))
        assert_error(run, "page.html: cannot write: file too large", "make room")
        assert sorted(folder.iterdir()) == before
    (folder / "page.html").write_bytes(b"mine")
    run = roughly(*arguments, "--force", cwd=folder, before=lambda: limited(4096))
    assert_error(run, "page.html: cannot write: file too large", "make room")
    assert (folder / "page.html").read_bytes() == b"mine"
    assert len(list(folder.iterdir())) == 3


@posix
def test_overwriting_keeps_links_modes_and_devices(folder: Path) -> None:
    (folder / "page.html").write_bytes(b"mine")
    (folder / "page.html").chmod(0o640)
    (folder / "link").symlink_to("page.html")
    run = roughly("compare", "a.txt", "b.txt", "-o", "link", "--force", cwd=folder)
    assert run.returncode == 0
    assert (folder / "link").is_symlink()
    assert (folder / "page.html").read_bytes().startswith(b"<!DOCTYPE html>")
    assert (folder / "page.html").stat().st_mode & 0o777 == 0o640
    (folder / "full").symlink_to("/dev/full")
    run = roughly("compare", "a.txt", "b.txt", "-o", "full", "--force", cwd=folder)
    assert_error(run, "full: cannot write: no space left on device", "make room")
    assert Path("/dev/full").is_char_device()


@posix
def test_demo_leaves_no_half_web(tmp_path: Path) -> None:
    arguments = ["demo", "--pages", "10", "--directory"]
    (tmp_path / "empty").mkdir()
    for name in ("new", "empty"):
        run = roughly(*arguments, name, cwd=tmp_path, before=lambda: limited(20_000))
        message = f"{name}: cannot write: file too large; what was begun is removed"
        assert_error(run, message, "make room")
    assert [path.name for path in tmp_path.rglob("*")] == ["empty"]
    (tmp_path / "file").write_text("mine")
    run = roughly(*arguments, "file/new", cwd=tmp_path)
    assert run.stderr.startswith(b"roughly: file/new: cannot write: not a directory\nhint: choose")


@posix
@pytest.mark.parametrize("arguments", [[], ["--json"], ["--html", "-"]])
@pytest.mark.parametrize("unbuffered", ["", "1"])
def test_standard_output_that_takes_nothing(
    folder: Path, arguments: list[str], unbuffered: str
) -> None:
    for where, why, hint in (
        (">/dev/full", "no space left on device", "make room"),
        (">&-", "not writable", "choose a place"),
        ("1</dev/null", "bad file descriptor", "choose a place"),
    ):
        command = f'"$0" -m roughly compare a.txt b.txt "$@" {where}'
        run = subprocess.run(
            ["bash", "-c", command, sys.executable, *arguments],
            cwd=folder,
            capture_output=True,
            timeout=60,
            env=os.environ | {"PYTHONUNBUFFERED": unbuffered},
        )
        assert_error(run, f"standard output: cannot write: {why}", hint)


@posix
@pytest.mark.parametrize("where", ["2>/dev/full", "2>&-", ">&- 2>&-"])
def test_standard_error_that_takes_nothing(folder: Path, where: str) -> None:
    for arguments, status in ((["b.txt", "-o", "page.html", "--force"], 0), (["none.txt"], 2)):
        command = f'"$0" -m roughly compare a.txt "$@" {where}'
        run = subprocess.run(
            ["bash", "-c", command, sys.executable, *arguments],
            cwd=folder,
            capture_output=True,
            timeout=60,
        )
        assert (run.returncode, run.stdout, run.stderr) == (status, b"", b"")


def test_unknown_instruction_set(folder: Path) -> None:
    run = roughly("compare", "a.txt", "b.txt", cwd=folder, ROUGHLY_SIMD="foo")
    assert_error(run, "ROUGHLY_SIMD: simd: no level 'foo'", "unset it")


@pytest.mark.parametrize(
    ("error", "message"),
    [
        (ValueError("too\nlong"), "cannot go on: too long"),
        (RuntimeError("core"), "cannot go on: core"),
        (MemoryError(), "out of memory"),
        (OSError(5, "Input/output error", "x.txt"), "x.txt: cannot write: input/output error"),
    ],
)
def test_no_error_of_the_core_is_a_traceback(
    error: Exception,
    message: str,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    def fail(*_: object, **__: object) -> None:
        raise error

    monkeypatch.setattr("roughly._core.sketch_batch", fail)
    assert main(["compare", __file__, __file__]) == 2
    out, err = capsys.readouterr()
    assert out == ""
    assert [line.partition(": ")[0] for line in err.splitlines()] == ["roughly", "hint"]
    assert err.startswith(f"roughly: {message}")


@pytest.mark.skipif(sys.platform != "linux", reason="needs file names that are no text")
def test_name_that_is_no_text(tmp_path: Path) -> None:
    name = os.fsdecode(b"caf\xe9")
    (tmp_path / name).write_text(ROSES)
    run = roughly("compare", name, name, "--json", cwd=tmp_path)
    assert json.loads(run.stdout)["a"]["id"] == "caf\\udce9"
    run = roughly("compare", name, name, cwd=tmp_path)
    assert "caf\\udce9" in run.stdout.decode()


def test_seed_and_preset(folder: Path) -> None:
    def estimate(*arguments: str) -> dict[str, int]:
        run = roughly("compare", "a.txt", "b.txt", "--json", *arguments, cwd=folder)
        found: dict[str, int] = json.loads(run.stdout)["estimate"]
        return found

    assert estimate("--seed", "0xff")["seed"] == 255
    assert estimate("--seed", "random")["seed"] != estimate("--seed", "random")["seed"]
    assert (estimate("--preset", "broder97")["select"], estimate()["bits"]) == ("mod:25", 64)


@pytest.mark.skipif(os.name != "posix", reason="needs a shell")
def test_a_reader_that_leaves_is_no_error(folder: Path) -> None:
    (folder / "long.txt").write_text(" ".join(f"word{i}" for i in range(100_000)))
    command = f"{sys.executable} -m roughly compare long.txt long.txt --html - | head -c 10"
    run = subprocess.run(
        ["bash", "-c", f"set -o pipefail; {command}"], cwd=folder, capture_output=True, timeout=60
    )
    assert (run.returncode, run.stdout, run.stderr) == (0, b"<!DOCTYPE ", b"")


@pytest.mark.skipif(os.name != "posix", reason="needs signals")
def test_interruption_is_quiet(folder: Path) -> None:
    import signal

    with subprocess.Popen(
        [sys.executable, "-m", "roughly", "compare", "-", "b.txt"],
        cwd=folder,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    ) as process:
        # More than a pipe holds: once this is written, the document is being read.
        assert process.stdin is not None
        process.stdin.write(b"x" * 1_000_000)
        process.stdin.flush()
        process.send_signal(signal.SIGINT)
        out, err = process.communicate(timeout=60)
    assert (process.returncode, out, err) == (130, b"", b"")


def test_loading_looks_for_no_cycles() -> None:
    """And they are looked for again afterwards, unless somebody had said not to."""
    assert gc.isenabled()
    with pytest.raises(ImportError), loading():
        assert not gc.isenabled()
        raise ImportError
    assert gc.isenabled()
    gc.disable()
    try:
        with loading():
            pass
        assert not gc.isenabled()
    finally:
        gc.enable()


@pytest.mark.parametrize("name", ["run", "main"])
def test_a_command_ends_without_a_last_look_for_cycles(name: str) -> None:
    """A process of its own. Finalizers that Python runs at the end run all the same; and a program
    that only calls a command keeps its objects to itself."""
    code = (
        "import gc, sys, weakref\n"
        f"from roughly.cli.main import {name}\n"
        "class Kept: pass\n"
        "kept = Kept()\n"
        "weakref.finalize(kept, print, 'finalized')\n"
        "gc.callbacks.append(lambda phase, told: print('looked', gc.get_freeze_count() > 0))\n"
        "gc.disable()\n"
        "sys.argv[1:] = ['compare', 'none', 'none']\n"
        f"sys.exit({name}())\n"
    )
    ended = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert ended.returncode == 2
    assert "finalized\n" in ended.stdout
    assert ("looked True" if name == "main" else "looked False") not in ended.stdout
