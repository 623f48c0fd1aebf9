"""Peak memory of a run over many batches: it must not depend on how many there are.

Each figure is the peak of a process of its own (`python -m bench.memory BATCHES ROWS`), which makes
its batches one after the other, sketches each and keeps a count alone.
"""

import json
import re
import resource
import subprocess
import sys
from pathlib import Path

from bench.corpus import ROWS, Corpus, arrow_batches
from bench.measure import Scale
from bench.report import Check, Result, Section
from bench.text import english_texts
from roughly import Sketcher

MIB = 1024 * 1024
# Allocators keep some memory from batch to batch, more or less of it by chance.
SLACK_MIB = 16.0


def sketch_batches(batches: int, rows: int) -> dict[str, int]:
    """Sketches this many different batches; documents, bytes and the peak in bytes."""
    texts = english_texts(rows)
    sketcher = Sketcher()
    documents = size = elements = 0
    for number in range(batches):
        # Other documents in every batch, at no cost: the beginning changes, and what follows moves.
        at = number % rows
        made = [f"{number} {text[number % 97 :]}" for text in texts[at:] + texts[:at]]
        (batch,) = arrow_batches(made, rows)
        result = sketcher.sketch_batch(batch)
        documents += len(result)
        elements += len(result.columns.values)
        size += batch.nbytes
    return {"documents": documents, "bytes": size, "elements": elements, "peak": peak_bytes()}


def peak_bytes() -> int:
    """The most memory this process ever had resident."""
    try:
        # On Linux getrusage begins with the peak of the process that started this one.
        status = Path("/proc/self/status").read_text("ascii", "replace")
    except OSError:
        status = ""
    if found := re.search(r"^VmHWM:\s*(\d+) kB", status, re.MULTILINE):
        return int(found[1]) * 1024
    unit = 1 if sys.platform == "darwin" else 1024
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * unit


def _in_process(batches: int, rows: int) -> dict[str, int]:
    run = subprocess.run(
        [sys.executable, "-m", "bench.memory", str(batches), str(rows)],
        check=True,
        capture_output=True,
        text=True,
        cwd=Path(__file__).parents[1],
    )
    found: dict[str, int] = json.loads(run.stdout)
    return found


def check_documents(found: dict[str, int], batches: int, rows: int) -> Check:
    """All documents were sketched, and the sketches were not empty."""
    full = found["documents"] == batches * rows and found["elements"] >= found["documents"]
    return Check(
        f"{batches} batches were sketched",
        full,
        f"{found['documents']:,} documents, {found['bytes'] / 1e6:,.0f} MB,"
        f" {found['elements']:,} elements",
    )


def run(corpus: Corpus, scale: Scale) -> Section:
    rows = min(ROWS // 4, scale.texts)
    section = Section(
        "memory", f"peak memory of a process that sketches batches of {rows} documents"
    )
    few, many = scale.batches
    peaks: list[float] = []
    for batches in (0, few, many):
        found = _in_process(batches, rows)
        peaks.append(found["peak"] / MIB)
        name = f"{batches} batches" if batches else "no batch, only what they are made of"
        section.results.append(Result(name, peaks[-1], "MiB"))
        if batches:
            section.checks.append(check_documents(found, batches, rows))
    section.results.append(
        Result(f"{many} batches against {few}", peaks[2] - peaks[1], "MiB", "<=", SLACK_MIB)
    )
    return section


if __name__ == "__main__":
    print(json.dumps(sketch_batches(int(sys.argv[1]), int(sys.argv[2]))))
