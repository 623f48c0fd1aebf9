"""What some tests need and a machine may lack: named here, skipped aloud, and required on demand.

A test that misses its part calls `optional(name, reason)`: the test is skipped, or fails when the
name stands in the environment variable ROUGHLY_REQUIRE (names joined by commas). The names are a
closed list, so that a misspelt requirement cannot pass unnoticed.
"""

import os
from pathlib import Path
from typing import NoReturn

import pytest

# name -> how to get it
PARTS = {
    "browser": "install Debian's chromium and run make test-all, which installs its driver",
    "java": "install Debian's openjdk-17-jre-headless",
    "schemathesis": "run make test-all, which installs it",
    "scrapy": "run make test-all, which installs it",
    "spark": "run make test-all, which installs it",
    "truth": "set ROUGHLY_TRUTH to the folder of labelled data",
    "unicode": "install Debian's unicode-data",
    "simd": "run on an x86-64 machine with AVX-512 (VBMI2)",
    "nm": "install binutils",
    "tmpfs": "run as root, where a tmpfs can be mounted",
    "editable": "build with make, which leaves build/editable",
    "web servers": "install Debian's nginx and apache2",
}

# Full counts (make test-all) or few examples (make test).
FULL = os.environ.get("ROUGHLY_TESTS", "light") == "all"


def required() -> frozenset[str]:
    """The names in ROUGHLY_REQUIRE."""
    names = frozenset(filter(None, os.environ.get("ROUGHLY_REQUIRE", "").split(",")))
    if unknown := names - PARTS.keys():
        raise pytest.UsageError(
            f"ROUGHLY_REQUIRE: unknown name: {', '.join(sorted(unknown))}, "
            f"wanted some of {', '.join(PARTS)}"
        )
    return names


def optional(name: str, reason: str) -> NoReturn:
    """Skip the calling test, or the module when called outside one; fail where it is required."""
    hint = PARTS[name]
    if name in required():
        pytest.fail(f"{name}: required but missing: {reason}\nhint: {hint}", pytrace=False)
    pytest.skip(f"{name}: {reason}", allow_module_level=True)


def truth() -> Path:
    """The folder of labelled data, from ROUGHLY_TRUTH or beside the checkout."""
    named = os.environ.get("ROUGHLY_TRUTH")
    folder = Path(named) if named else Path(__file__).parents[2] / "shared" / "truth"
    if not folder.is_dir():
        optional("truth", f"{named or '../shared/truth'} is not a folder")
    return folder
