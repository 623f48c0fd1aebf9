"""Set-up of every test run: Hypothesis profiles, the core under test, and what was left out.

ROUGHLY_TESTS=light|all    few examples, the same each time; or many, new ones each time (with CI
                           set: the same)
ROUGHLY_REQUIRE=a,b        optional parts that must not be missing (tests/optional.py)
ROUGHLY_TRUTH=FOLDER       labelled data; ../shared/truth beside the checkout unless set
ROUGHLY_CORE=FILE          a compiled core to test in place of the installed one (make sanitize)
"""

import importlib.util
import os
import sys

import hypothesis
import pytest

from tests import optional

PROFILE = os.environ.get("ROUGHLY_TESTS", "light")
# No deadline: one slow example on a busy machine is no failure.
hypothesis.settings.register_profile("light", max_examples=50, deadline=None, derandomize=True)
# A server gets the same many examples each time: what fails there must be what was changed.
hypothesis.settings.register_profile(
    "all",
    max_examples=500,
    deadline=None,
    derandomize="CI" in os.environ,
    print_blob=True,
)


def put_core(path: str) -> None:
    """Let `roughly._core` be the module in this file; the editable install has another."""
    spec = importlib.util.spec_from_file_location("roughly._core", path)
    if spec is None or spec.loader is None:
        raise pytest.UsageError(f"ROUGHLY_CORE: not an extension module: {path!r}")
    module = importlib.util.module_from_spec(spec)
    sys.modules["roughly._core"] = module
    spec.loader.exec_module(module)


def pytest_configure(config: pytest.Config) -> None:
    if PROFILE not in ("light", "all"):
        raise pytest.UsageError(f"ROUGHLY_TESTS: unknown value: {PROFILE!r}, wanted light or all")
    hypothesis.settings.load_profile(PROFILE)
    optional.required()
    if path := os.environ.get("ROUGHLY_CORE"):
        put_core(path)


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    # From the reports, which come from every worker process.
    missed: dict[str, list[str]] = {}
    for report in terminalreporter.stats.get("skipped", ()):
        reason = report.longrepr[2] if isinstance(report.longrepr, tuple) else str(report.longrepr)
        name, _, why = reason.removeprefix("Skipped: ").partition(": ")
        if name in optional.PARTS:
            missed.setdefault(name, []).append(why)
    if not missed:
        return
    terminalreporter.section("optional parts that were missing")
    for name, reasons in sorted(missed.items()):
        terminalreporter.line(f"{name} ({len(reasons)}): {reasons[0]}")
        terminalreporter.line(f"    hint: {optional.PARTS[name]}")
