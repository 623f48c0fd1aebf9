"""The machine and the programs of a run, so that its figures can be understood later."""

import os
import platform
import re
import subprocess
import sys
from datetime import UTC, datetime
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

from bench.measure import cores
from roughly import _core

# Everything whose speed or size shows in the figures.
PACKAGES = (
    *("roughly", "numpy", "pyarrow", "rich", "scipy", "orjson"),
    *("datasketch", "gaoya", "rensa", "selectolax", "simhash", "text-dedup"),
)


def _first_line(path: str, pattern: str) -> str:
    """The first match in a file of the system, or nothing."""
    try:
        text = Path(path).read_text("utf-8", "replace")
    except OSError:
        return ""
    found = re.search(pattern, text, re.MULTILINE)
    return found[1].strip().strip('"') if found else ""


def _git(*arguments: str) -> str:
    try:
        run = subprocess.run(
            ["git", *arguments],
            cwd=Path(__file__).parent,
            capture_output=True,
            text=True,
            check=True,
        )
    except (OSError, subprocess.CalledProcessError):
        return ""
    return run.stdout.strip()


def _version(package: str) -> str:
    try:
        return version(package)
    except PackageNotFoundError:
        return "not installed"


def touch_free_memory() -> float:
    """A virtual machine may get memory from its host only when it is first touched, which takes
    longer than to write a file there. Touches what is free, once, so that no program is the first;
    how much that was, in GiB."""
    free = _first_line("/proc/meminfo", r"^MemFree:\s*(\d+)")
    limit = _first_line("/sys/fs/cgroup/memory.max", r"^(\d+)")
    used = _first_line("/sys/fs/cgroup/memory.current", r"^(\d+)")
    size = int(free) * 1024 if free else 0
    if limit and used:
        size = min(size, max(0, int(limit) - int(used)))
    size = size * 9 // 10
    touch = f"import numpy; numpy.zeros({size}, numpy.uint8)[::4096] = 1"
    subprocess.run([sys.executable, "-c", touch], check=True)
    return size / 1024**3


def machine() -> dict[str, object]:
    """Plain values for JSON."""
    memory = _first_line("/proc/meminfo", r"^MemTotal:\s*(\d+)")
    load = round(os.getloadavg()[0], 2) if hasattr(os, "getloadavg") else None
    return {
        "date": datetime.now(UTC).strftime("%Y-%m-%dT%H:%M:%SZ"),
        "cpu": _first_line("/proc/cpuinfo", r"^model name\s*:(.*)") or platform.processor(),
        "cpu_family_model": "/".join(
            _first_line("/proc/cpuinfo", rf"^{name}\s*:(.*)") for name in ("cpu family", "model")
        ),
        "cores": cores(),
        "memory_gib": round(int(memory) / 1024**2, 1) if memory else None,
        "os": _first_line("/etc/os-release", r"^PRETTY_NAME=(.*)") or platform.system(),
        "kernel": platform.release(),
        "python": platform.python_version(),
        "python_compiler": platform.python_compiler(),
        "packages": {package: _version(package) for package in PACKAGES},
        "simd_levels": _core.simd_levels(),
        "git_commit": _git("rev-parse", "HEAD") or "no commit",
        "git_changed": bool(_git("status", "--porcelain")),
        "load_average": load,
    }


def lines(record: dict[str, object]) -> list[str]:
    """The record in a few lines."""
    packages = record["packages"]
    assert isinstance(packages, dict)
    listed = ", ".join(f"{name} {number}" for name, number in packages.items())
    changed = " with changes" if record["git_changed"] else ""
    return [
        f"{record['date']}  commit {str(record['git_commit'])[:12]}{changed}",
        f"{record['cpu']} (family/model {record['cpu_family_model']}), {record['cores']} cores,"
        f" {record['memory_gib']} GiB, load {record['load_average']} at the start",
        f"{record['os']}, Linux {record['kernel']}, Python {record['python']}"
        if sys.platform == "linux"
        else f"{record['os']} {record['kernel']}, Python {record['python']}",
        listed,
    ]


def file_name(record: dict[str, object]) -> str:
    """DATE-MACHINE, for the files of a recorded run. Processors of several generations may have one
    name: their family and model tell them apart."""
    name = re.sub(r"[^a-z0-9]+", "-", str(record["cpu"]).lower()).strip("-") or "unknown"
    family, _, model = str(record["cpu_family_model"]).partition("/")
    kind = f"-f{family}m{model}" if family and model else ""
    return f"{str(record['date'])[:10]}-{name}{kind}-{record['cores']}-cores"
