"""The examples of docs/serve.md, run against a real service: each prints what the page shows, where
three dots stand for anything within a line."""

import os
import re
import shutil
import subprocess
from pathlib import Path

import pytest

from roughly.web.api import ENDPOINTS
from roughly.web.error import CODES
from tests.service import TOKEN, make_corpus, service

PAGE = (Path(__file__).parents[1] / "docs" / "serve.md").read_text("utf-8")


def examples() -> list[tuple[str, str]]:
    """Each command with the line it should print."""
    lines = [line.removeprefix("    ") for line in PAGE.splitlines() if line.startswith("    ")]
    found: list[tuple[str, list[str]]] = []
    for line in lines:
        if line.startswith("$ "):
            found.append((line.removeprefix("$ "), []))
        elif found:
            found[-1][1].append(line)
    return [(command, "\n".join(shown)) for command, shown in found]


def prints(shown: str, printed: str) -> bool:
    pattern = ".*".join(re.escape(part) for part in shown.rstrip().split("..."))
    return re.fullmatch(pattern, printed.rstrip(), re.DOTALL) is not None


@pytest.mark.skipif(shutil.which("curl") is None, reason="needs curl")
def test_the_examples_print_what_they_show(tmp_path: Path) -> None:
    assert len(examples()) > 15
    with service(make_corpus(tmp_path / "web.roughly")) as running:
        place = running.address.removeprefix("http://")
        for command, shown in examples():
            run = subprocess.run(
                ["bash", "-c", command.replace("localhost:8080", place)],
                env=os.environ | {"TOKEN": TOKEN},
                capture_output=True,
                text=True,
                timeout=60,
            )
            assert prints(shown, run.stdout), f"{command}\n{run.stdout}{run.stderr}"


def test_every_code_and_route_is_documented() -> None:
    for code, status in CODES.items():
        assert f"`{code}`" in PAGE and str(status) in PAGE
    for endpoint in ENDPOINTS:
        assert f"localhost:8080{endpoint.path.partition('{')[0]}" in PAGE


def test_dots_stand_for_anything() -> None:
    assert prints('{"a":1,...}', '{"a":1,"b":[2]}\n')
    assert not prints('{"a":1,...}', '{"a":2,"b":[2]}\n')
