"""Imports and includes point one way, down the layers; `import roughly` stays light."""

import ast
import graphlib
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

SOURCE = Path(__file__).parents[1] / "src"
PACKAGE = SOURCE / "roughly"

# Lowest first; a unit is a module or a package directly under roughly. Units of one layer do not
# know each other. "" is `import roughly` itself, the public names.
LAYERS = [
    {"_core", "errors", "url"},
    {"client", "documents", "estimate", "sample_web"},
    {"parameters"},
    {"sketch"},
    {"sketcher"},
    {"pipeline", "storage"},
    {"simhashing"},
    {"comparison", "condition", "hamming", "verification"},
    {"search"},
    {"clustering"},
    {"corpus", "tuning"},
    {"deduplication"},
    {"report"},
    {""},
    {"web", "spark"},
    {"cli", "scrapy"},
    {"__main__"},
]
HEIGHT = {unit: height for height, layer in enumerate(LAYERS) for unit in layer}
HEAVY = {"numpy", "pandas", "pyarrow", "rich"}

MODULES = {
    ".".join(path.relative_to(SOURCE).with_suffix("").parts).removesuffix(".__init__"): path
    for path in PACKAGE.rglob("*.py")
}
COMPILED = {"roughly._core"}


def unit(module: str) -> str:
    """roughly.cli.main -> cli"""
    return module.partition(".")[2].partition(".")[0]


def imports(module: str) -> Iterator[str]:
    """The modules of this package that a module imports, inside functions too."""
    path = MODULES[module]
    package = module.split(".") if path.stem == "__init__" else module.split(".")[:-1]
    for node in ast.walk(ast.parse(path.read_text("utf-8"))):
        if isinstance(node, ast.Import):
            names = [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom):
            start = package[: len(package) - node.level + 1] if node.level else []
            base = ".".join([*start, *filter(None, [node.module])])
            # `from roughly import _core` names a module, `from roughly.sketch import Sketch` none.
            full = [f"{base}.{alias.name}" for alias in node.names]
            names = [name if name in MODULES.keys() | COMPILED else base for name in full]
        else:
            continue
        yield from (name for name in names if name.split(".")[0] == "roughly")


def test_there_is_something_to_check() -> None:
    assert {"roughly", "roughly.errors", "roughly.cli.main"} <= MODULES.keys()
    assert "roughly._core" in imports("roughly.comparison")


def test_every_unit_has_a_layer() -> None:
    assert {unit(module) for module in MODULES} <= HEIGHT.keys(), "give it a place in LAYERS"


@pytest.mark.parametrize("module", sorted(MODULES))
def test_imports_point_down(module: str) -> None:
    own = unit(module)
    for name in imports(module):
        other = unit(name)
        assert other == own or HEIGHT[other] < HEIGHT[own], f"{module} imports {name}"


def test_no_import_cycle() -> None:
    graph = {module: set(imports(module)) - {module} for module in MODULES}
    graphlib.TopologicalSorter(graph).prepare()


@pytest.mark.parametrize("name", ["roughly", "roughly.errors"])
def test_import_is_light(name: str) -> None:
    code = f"import sys, {name}; print(*sys.modules)"
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    loaded = {module.partition(".")[0] for module in run.stdout.split()}
    assert "roughly" in loaded
    assert not loaded & HEAVY


CORE = sorted([*(SOURCE / "core").rglob("*.cpp"), *(SOURCE / "core").rglob("*.hpp")])
INCLUDE = re.compile(r'^\s*#\s*include\s*[<"]([^>"]+)[>"]', re.MULTILINE)
PYTHONIC = re.compile(r"(^|/)(Python\.h|pybind11|nanobind|numpy|bindings)(/|$)")


@pytest.mark.parametrize("path", CORE, ids=lambda path: path.name)
def test_core_knows_no_python(path: Path) -> None:
    for header in INCLUDE.findall(path.read_text("utf-8")):
        assert not PYTHONIC.search(header), f"{path.name} includes {header}"
