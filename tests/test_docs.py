"""What the pages say is true: examples run, links lead somewhere, commands and targets exist.

Of README.md and docs/*.md, in the order of the page and in one fresh directory a page:
```console blocks are run and must print what they show (a command is a line after `$ `, with the
next line if it ends in a backslash; a line `...` stands for any lines), ```python blocks with `>>>`
are doctests, other ```python blocks must compile and their imports succeed; one that begins with
`# NAME.py` is that file for the commands behind it. Blocks indented by four spaces show how a thing
is used and are not run; their `roughly` and `make` commands must exist.
"""

import argparse
import ast
import doctest
import importlib.util
import io
import os
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from roughly.cli.main import make_parser
from tests.optional import optional

ROOT = Path(__file__).parents[1]
RUN = [ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md"))]
PAGES = [*RUN, *(ROOT / f"{name}.md" for name in ("ARCHITECTURE", "CONTRIBUTING", "CHANGELOG"))]
# Pages whose examples need a part that a machine may lack: the part, and its package.
NEEDS = {"scrapy.md": ("scrapy", "scrapy")}
LANGUAGES = {"", "console", "python", "json", "text", "html", "toml"}

pages = pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)


class Block(NamedTuple):
    language: str
    text: str
    line: int  # of the page, from 1, where the text begins


FENCED = re.compile(r"^```(.*)\n((?:(?!```).*\n)*)```$", re.MULTILINE)
INDENTED = re.compile(r"(?:^ {4}.*\n)+", re.MULTILINE)
INLINE = re.compile(r"`([^`\n]+)`")


def blocks(text: str) -> list[Block]:
    return [
        Block(found[1], found[2], text.count("\n", 0, found.start(2)) + 1)
        for found in FENCED.finditer(text)
    ]


def code(text: str) -> Iterator[str]:
    """Every line of code of a page, and every piece of it within a line."""
    for block in blocks(text):
        yield from (line.removeprefix("$ ") for line in block.text.splitlines())
    prose = FENCED.sub("", text)
    for block in INDENTED.findall(prose):
        yield from (line.strip() for line in block.splitlines())
    yield from INLINE.findall(INDENTED.sub("", prose))


def read(page: Path) -> str:
    return page.read_text("utf-8")


# --- examples -------------------------------------------------------------------------------------


def commands(block: str) -> Iterator[tuple[str, str]]:
    """Each command of a console block with what it should print."""
    for example in re.split(r"^\$ ", block, flags=re.MULTILINE)[1:]:
        command, _, expected = example.partition("\n")
        while command.endswith("\\"):
            line, _, expected = expected.partition("\n")
            command += "\n" + line.removeprefix("> ")
        yield command, expected


def shell(command: str, folder: Path) -> str:
    """What a command prints on a terminal's two streams; nobody's terminal decides how wide."""
    hidden = ("COLUMNS", "LINES", "NO_COLOR", "FORCE_COLOR", "TTY_COMPATIBLE")
    own = "".join(
        f'{name}() {{ "{sys.executable}" {module} "$@"; }}; export -f {name}; '
        for name, module in (("roughly", "-m roughly"), ("python", ""), ("python3", ""))
    )
    run = subprocess.run(
        ["bash", "-c", own + command],
        cwd=folder,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        env={k: v for k, v in os.environ.items() if k not in hidden},
        timeout=300,
    )
    return run.stdout.decode()


def prints(shown: str, printed: str) -> bool:
    lines = [
        r"(?:.*\n)*?" if line == "..." else re.escape(line) + r"\n"
        for line in shown.rstrip().split("\n")
    ]
    return re.fullmatch("".join(lines), printed.rstrip() + "\n") is not None


def check_doctest(block: Block, page: Path, names: dict[str, Any]) -> None:
    parser, printed = doctest.DocTestParser(), io.StringIO()
    test = parser.get_doctest(block.text, names, page.name, str(page), block.line - 1)
    doctest.DocTestRunner(verbose=False).run(test, out=printed.write, clear_globs=False)
    names.update(test.globs)
    assert not printed.getvalue(), printed.getvalue()


def check_imports(block: Block, page: Path) -> None:
    tree = ast.parse(block.text, f"{page.name}, line {block.line}")
    tree.body = [node for node in tree.body if isinstance(node, ast.Import | ast.ImportFrom)]
    exec(compile(tree, page.name, "exec"), {})


@pytest.mark.skipif(os.name != "posix", reason="needs a shell")
@pytest.mark.parametrize("page", [p for p in RUN if blocks(read(p))], ids=lambda page: page.name)
def test_examples(page: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    part, package = NEEDS.get(page.name, ("", "roughly"))
    if importlib.util.find_spec(package) is None:
        optional(part, f"{package} is not installed")
    monkeypatch.chdir(tmp_path)
    names: dict[str, Any] = {}
    for block in blocks(read(page)):
        if block.language == "console":
            assert block.text.startswith("$ "), f"line {block.line}: wanted a command"
            for command, shown in commands(block.text):
                printed = shell(command, tmp_path)
                if not prints(shown, printed):
                    assert printed.rstrip() == shown.rstrip(), f"{page.name}: {command}"
        elif block.language == "python" and ">>> " in block.text:
            check_doctest(block, page, names)
        elif block.language == "python":
            check_imports(block, page)
            if file := re.match(r"# (\w+\.py)\n", block.text):
                (tmp_path / file[1]).write_text(block.text, "utf-8")


def test_there_are_examples() -> None:
    """A fence that is not recognised would be an example that is not run."""
    counted = {page.name: [b.language for b in blocks(read(page))] for page in PAGES}
    assert counted["README.md"].count("console") >= 1
    assert counted["README.md"].count("python") >= 1
    assert counted["compare.md"].count("console") >= 4
    assert counted["compare.md"].count("python") >= 1


@pages
def test_fences(page: Path) -> None:
    text = read(page)
    found = blocks(text)
    assert len(re.findall(r"^\s*(?:```|~~~)", text, re.MULTILINE)) == 2 * len(found)
    for block in found:
        assert block.language in LANGUAGES, f"line {block.line}"
        if re.search(r"^\$ ", block.text, re.MULTILINE):
            assert block.language == "console", f"line {block.line}"
        if re.search(r"^>>> ", block.text, re.MULTILINE):
            assert block.language == "python", f"line {block.line}"


@pytest.mark.parametrize(
    ("shown", "printed", "same"),
    [
        ("a\nb\n", "a\nb\n", True),
        ("a\n", "a\nb\n", False),
        ("a.c\n", "abc\n", False),
        ("a\n...\nd\n", "a\nb\nc\nd\n", True),
        ("a\n...\nd\n", "a\nd\n", True),
        ("a\n...\n", "a\nb\nc\n", True),
        ("...\nc\n", "a\nb\nc\n", True),
        ("a\n...\nd\n", "a\nb\nc\n", False),
        ("a ...\n", "a b\n", False),
    ],
)
def test_dots_stand_for_lines(shown: str, printed: str, same: bool) -> None:
    assert prints(shown, printed) == same


def test_commands_of_a_block() -> None:
    block = "$ echo a \\\n> b\na b\n$ true\n$ echo '$ x'\n$$ x\n"
    assert list(commands(block)) == [
        ("echo a \\\nb", "a b\n"),
        ("true", ""),
        ("echo '$ x'", "$$ x\n"),
    ]


def test_a_wrong_example_is_noticed(tmp_path: Path) -> None:
    block = Block("python", ">>> 1 + 1\n3\n", 7)
    with pytest.raises(AssertionError, match=r"line 7, in README\.md"):
        check_doctest(block, Path("README.md"), {})
    names: dict[str, Any] = {}
    check_doctest(Block("python", ">>> x = 1\n", 1), Path("README.md"), names)
    check_doctest(Block("python", ">>> x\n1\n", 4), Path("README.md"), names)
    assert shell("echo $COLUMNS a >&2; roughly --version | cut -c -8", tmp_path) == "a\nroughly \n"


# --- links ----------------------------------------------------------------------------------------

LINK = re.compile(r"\[[^\]]*\]\(\s*<?([^)\s>]+)>?[^)]*\)|^\[[^\]]+\]:\s*(\S+)", re.MULTILINE)


def anchors(text: str) -> set[str]:
    """The names of a page's headings, as GitHub makes them."""
    headings = re.findall(r"^#+ +(.*)$", FENCED.sub("", text), re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-") for heading in headings}


@pages
def test_links(page: Path) -> None:
    text = INLINE.sub("", INDENTED.sub("", FENCED.sub("", read(page))))
    for found in LINK.finditer(text):
        target = found[1] or found[2]
        if re.match(r"[a-z]+:", target):
            continue
        path, _, anchor = target.partition("#")
        file = (page.parent / path).resolve() if path else page
        assert file.is_file(), f"{page.name}: {target}"
        assert file.is_relative_to(ROOT), f"{page.name}: {target} leads out of the tree"
        if anchor and file.suffix == ".md":
            assert anchor in anchors(read(file)), f"{page.name}: {target}"


def test_there_are_links() -> None:
    targets = {found[1] for page in PAGES for found in LINK.finditer(read(page))}
    assert {"docs/algorithm.md", "CONTRIBUTING.md"} <= targets


# --- commands and targets -------------------------------------------------------------------------


def subcommands(parser: argparse.ArgumentParser) -> dict[str, argparse.ArgumentParser]:
    for action in parser._actions:
        if isinstance(action, argparse._SubParsersAction):
            return dict(action.choices)
    return {}


@pages
def test_commands_exist(page: Path) -> None:
    """Every `roughly COMMAND --option`: `roughly COMMAND --help` has both."""
    for line in code(read(page)):
        if not re.match(r"roughly [a-z-]", line):
            continue
        parser, words = make_parser(), line.split()[1:]
        while words and (known := subcommands(parser)) and not words[0].startswith("-"):
            if words[0].isupper():
                break
            assert words[0] in known, f"{page.name}: {line}"
            parser = known[words.pop(0)]
        # A pipe leads to other commands.
        options = re.findall(r"(?<!\S)--?[a-z][a-z-]*", " ".join(words).partition(" | ")[0])
        known_options = re.findall(r"(?<![\w-])--?[a-z][a-z-]*", parser.format_help())
        for option in options:
            assert option in known_options, f"{page.name}: {line}: {option}"


@pages
def test_make_targets_exist(page: Path) -> None:
    targets = set(re.findall(r"^([a-z][a-z-]*):", read(ROOT / "Makefile"), re.MULTILINE))
    assert {"build", "test", "demo"} <= targets
    for line in code(read(page)):
        # Two spaces end a command and begin what is said about it.
        for target in re.findall(r"(?<![\w-])make ([a-z][a-z-]*)", line):
            assert target in targets, f"{page.name}: {line}"
