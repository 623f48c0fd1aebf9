"""The command line as a user meets it: in a process of its own, with real files."""

import json
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from roughly.cli.main import make_parser
from tests.optional import FULL

ROOT = Path(__file__).parents[1]
ROSES = "a rose is a rose is a rose"
FLOWER = "a rose is a flower which is a rose"


def roughly(
    *arguments: str, cwd: Path, stdin: bytes = b"", **environment: str
) -> subprocess.CompletedProcess[bytes]:
    surroundings = {k: v for k, v in os.environ.items() if k not in ("COLUMNS", "NO_COLOR")}
    return subprocess.run(
        [sys.executable, "-m", "roughly", *arguments],
        cwd=cwd,
        input=stdin,
        capture_output=True,
        env=surroundings | environment,
        timeout=300,
    )


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
        (["a.txt", "--select", "most"], "select: unknown: 'most', wanted all, mod:M", "adaptive"),
        (["a.txt", "--preset", "x"], "preset: unknown: 'x', wanted one of 'broder97'", None),
        (["a.txt", "--preset", "broder97", "-w", "5"], "-w: cannot stand beside --preset", "leave"),
        (["a.txt", "--as", "pdf"], "compare: argument --as: invalid choice: 'pdf'", "--help"),
        (["a.txt", "--html", "a.txt"], "a.txt: will not write: the file exists", "--force"),
        (["a.txt", "--html", "no/x"], "no/x: cannot write: no such file or directory", "choose"),
        (["a.txt", "--json", "--html", "x"], "compare: argument --html/-o: not allowed", "--help"),
    ],
)
def test_errors(folder: Path, arguments: list[str], message: str, hint: str | None) -> None:
    if len(arguments) == 1 or arguments[1].startswith("--") or arguments[1] == "-w":
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
        (b"", b"", 1.0, "utf-8", "empty"),
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


@pytest.mark.skipif(os.name != "posix", reason="needs a pseudo-terminal")
def test_colour_on_a_terminal(folder: Path) -> None:
    import pty

    def coloured(**environment: str) -> bool:
        surroundings = {k: v for k, v in os.environ.items() if k != "NO_COLOR"}
        master, slave = pty.openpty()
        command = [sys.executable, "-m", "roughly", "compare", "a.txt", "b.txt", "-w2"]
        try:
            with subprocess.Popen(
                command, cwd=folder, stdout=slave, env=surroundings | environment
            ) as process:
                os.close(slave)
                seen = b""
                while b"shared passage" not in seen:
                    seen += os.read(master, 65536)
                os.close(master)
                process.wait(60)
        finally:
            for descriptor in (master, slave):
                try:
                    os.close(descriptor)
                except OSError:
                    continue
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


COMMAND_BLOCK = re.compile(r"^```console\n(.*?)^```$", re.MULTILINE | re.DOTALL)


@pytest.mark.skipif(os.name != "posix", reason="needs a shell")
def test_examples_of_the_manual(tmp_path: Path) -> None:
    """Every command of the manual prints what the manual says it prints."""
    manual = (ROOT / "docs" / "compare.md").read_text("utf-8")
    blocks = COMMAND_BLOCK.findall(manual)
    assert len(blocks) >= 4
    surroundings = {k: v for k, v in os.environ.items() if k not in ("COLUMNS", "NO_COLOR")}
    own = f'roughly() {{ "{sys.executable}" -m roughly "$@"; }}; '
    for block in blocks:
        for example in re.split(r"^\$ ", block, flags=re.MULTILINE)[1:]:
            command, _, expected = example.partition("\n")
            run = subprocess.run(
                ["bash", "-c", own + command],
                cwd=tmp_path,
                stdout=subprocess.PIPE,
                stderr=subprocess.STDOUT,
                env=surroundings,
                timeout=60,
            )
            assert run.stdout.decode().rstrip() == expected.rstrip(), command


def test_python_examples_of_the_manual() -> None:
    import doctest

    failed, tried = doctest.testfile(
        str(ROOT / "docs" / "compare.md"), module_relative=False, encoding="utf-8"
    )
    assert (failed, tried > 4) == (0, True)
