"""Memory of a run, in a process of its own: what --memory says, however many documents there are.

The figures are the system's (the largest resident set, mapped files included), over what a run of
one document takes.
"""

import json
import random
import subprocess
import sys
from pathlib import Path

import pytest

from tests.optional import FULL

LIMIT = 512 << 20

RUN = """
import resource, sys
from roughly.cli.main import main
status = main(["cluster", *sys.argv[1:], "--memory", "512M", "--quiet"])
print(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024)
sys.exit(status)
"""


def write_inputs(path: Path, count: int, words: int) -> None:
    """Words nobody else has; every tenth document is an edit of the one before."""
    rng = random.Random(count)
    text = ""
    with path.open("w") as file:
        for number in range(count):
            if number % 10 == 3:
                text = text[:-70] + rng.randbytes(30).hex(" ", 3)
            else:
                text = rng.randbytes(3 * words).hex(" ", 3)
            file.write(f'{{"id": "document-{number:08}", "text": "{text}"}}\n')


def peak(inputs: Path, *options: str) -> int:
    corpus = inputs.with_suffix(".roughly")
    run = subprocess.run(
        [sys.executable, "-c", RUN, str(inputs), "-o", str(corpus), "--force", *options],
        capture_output=True,
        text=True,
        timeout=1200,
    )
    assert run.returncode == 0, run.stderr
    return int(run.stdout)


@pytest.fixture(scope="module")
def inputs(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Path]:
    """One document, and 300,000 with sketches of 0.7 GB."""
    folder = tmp_path_factory.mktemp("memory")
    small, large = folder / "small.jsonl", folder / "large.jsonl"
    write_inputs(small, 1, 350)
    write_inputs(large, 300_000, 350)
    return small, large


@pytest.mark.skipif(not FULL, reason="takes minutes; part of the full run")
@pytest.mark.parametrize(
    "options",
    [
        [],
        ["--containment", "0.8"],
        ["--preset", "broder97"],
        ["--preset", "broder97-super"],
        ["--linkage", "star"],
    ],
    ids=lambda options: " ".join(options) or "join",
)
def test_the_limit_is_kept(options: list[str], inputs: tuple[Path, Path]) -> None:
    small, large = inputs
    base, most = peak(small, *options), peak(large, *options)
    print(json.dumps({"options": options, "base_mib": base >> 20, "peak_mib": most >> 20}))
    assert most <= LIMIT * 11 // 10 + base
