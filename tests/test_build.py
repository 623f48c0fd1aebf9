"""What a build leaves: a current stub, one version, the binary just built, no leaking SIMD."""

import ast
import difflib
import importlib.metadata
import os
import platform
import re
import shutil
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

import roughly
from roughly import _core
from tests.optional import optional

ROOT = Path(__file__).parents[1]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]
EDITABLE = ROOT / "build" / "editable"
SIMD_SOURCES = sorted(
    [*(ROOT / "src" / "core").glob("*_avx2.cpp"), *(ROOT / "src" / "core").glob("*_avx512.cpp")]
)
# Weak, but a pointer and no code; every file with a destructor to run on an exception has it.
HARMLESS = {"DW.ref.__gxx_personality_v0"}


def test_stub_is_current(tmp_path: Path) -> None:
    fresh = tmp_path / "_core.pyi"
    command = [sys.executable, "-m", "nanobind.stubgen", "-m", "roughly._core", "-o", str(fresh)]
    subprocess.run(command, check=True, capture_output=True)
    committed = ROOT / "src" / "roughly" / "_core.pyi"
    difference = difflib.unified_diff(
        committed.read_text("utf-8").splitlines(),
        fresh.read_text("utf-8").splitlines(),
        "committed",
        "generated",
        lineterm="",
    )
    text = "\n".join(difference)
    assert not text, f"{text}\nhint: make stub"


def test_package_is_marked_as_typed() -> None:
    assert (ROOT / "src" / "roughly" / "py.typed").is_file()


def test_version_is_the_project_file_s() -> None:
    assert importlib.metadata.version("roughly") == PROJECT["version"]
    assert roughly.__version__ == PROJECT["version"]


def test_dependencies_are_those_imported() -> None:
    """Neither an import that only works here, nor a dependency that nothing uses."""
    imported = set()
    for path in (ROOT / "src" / "roughly").rglob("*.py"):
        for node in ast.walk(ast.parse(path.read_text("utf-8"))):
            if isinstance(node, ast.Import):
                imported |= {alias.name.partition(".")[0] for alias in node.names}
            elif isinstance(node, ast.ImportFrom) and not node.level and node.module:
                imported.add(node.module.partition(".")[0])
    outside = imported - sys.stdlib_module_names - {"roughly"}
    extras = PROJECT.get("optional-dependencies", {}).values()
    wanted = [*PROJECT["dependencies"], *(name for extra in extras for name in extra)]
    owner = importlib.metadata.packages_distributions()
    # Spark asks for pandas when it hands over Arrow batches, but does not bring it.
    asked_for = {normal(owner.get(name, [name])[0]) for name in outside} | {"pandas"}
    assert asked_for == set(map(normal, wanted))


def normal(requirement: str) -> str:
    """Chardetng_py>=0.3 -> chardetng-py"""
    name = re.match(r"[\w.-]+", requirement)
    assert name is not None
    return re.sub(r"[-_.]+", "-", name[0]).lower()


def test_installed_core_is_the_one_just_built() -> None:
    if "ROUGHLY_CORE" in os.environ:
        pytest.skip("ROUGHLY_CORE puts another core in its place")
    built = list(EDITABLE.glob("_core*.so"))
    if not built:
        optional("editable", "no _core in build/editable")
    assert _core.__file__ is not None
    assert Path(_core.__file__).read_bytes() == built[0].read_bytes()


@pytest.mark.skipif(platform.machine() not in ("x86_64", "AMD64"), reason="not x86-64")
@pytest.mark.parametrize("source", SIMD_SOURCES, ids=lambda path: path.name)
def test_simd_object_defines_no_weak_symbol(source: Path) -> None:
    """The linker keeps one of several weak definitions, perhaps the one with AVX inside."""
    if not EDITABLE.is_dir():
        optional("editable", "no build/editable")
    nm = shutil.which("nm")
    if nm is None:
        optional("nm", "no nm on the path")
    objects = list(EDITABLE.rglob(f"{source.name}.o"))
    assert len(objects) == 1, "every SIMD source is built, once"
    command = [nm, "--defined-only", "--format=posix", str(objects[0])]
    table = subprocess.run(command, check=True, capture_output=True, text=True).stdout
    symbols = [line.split() for line in table.splitlines()]
    assert symbols
    weak = {name for name, kind, *_ in symbols if kind in "WwVvu"} - HARMLESS
    assert not weak, "make it static, or put it into an unnamed namespace"


def test_the_unicode_table_is_what_its_script_writes() -> None:
    if not Path("/usr/share/unicode/UnicodeData.txt").is_file():
        optional("unicode", "/usr/share/unicode is not there")
    script = [sys.executable, "tools/unicode_table.py", "--check"]
    assert subprocess.run(script, cwd=ROOT).returncode == 0


def test_the_entity_table_is_what_its_script_writes() -> None:
    script = [sys.executable, "tools/entity_table.py", "--check"]
    assert subprocess.run(script, cwd=ROOT).returncode == 0
