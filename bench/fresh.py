"""Text to sketches in a process that does nothing else, reading Arrow batches from a file.

Memory that a process returns to the system must be had again, page by page, for the next batch. How
much the C library keeps depends on what the process did before, and a large benchmark is not what
users run; so the figure that counts is taken here as well.

`python -m bench.fresh FILE ROUNDS` prints the seconds of every round as JSON.
"""

import json
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path

import pyarrow as pa

from bench.measure import Scale, Timing
from roughly import Sketcher


def sketch_file(path: str, rounds: int) -> dict[str, list[float]]:
    """The default sketches of every batch of the file, on one thread, round after round."""
    with pa.memory_map(path) as source:
        batches = [batch.column(0) for batch in pa.ipc.open_file(source).read_all().to_batches()]
        sketcher = Sketcher()
        wall: list[float] = []
        cpu: list[float] = []
        for round_number in range(rounds + 1):
            cpu_start, start = time.process_time(), time.perf_counter()
            for batch in batches:
                sketcher.sketch_batch(batch, threads=1)
            if round_number:  # the first one reads the file
                wall.append(time.perf_counter() - start)
                cpu.append(time.process_time() - cpu_start)
    return {"wall": wall, "cpu": cpu}


def measure_fresh(
    name: str, batches: Sequence[pa.Array], size: int, level: str, scale: Scale
) -> Timing:
    """The timing of such a process on these batches."""
    schema = pa.schema({"text": batches[0].type})
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "texts.arrow"
        with pa.OSFile(str(path), "wb") as sink, pa.ipc.new_file(sink, schema) as writer:
            for batch in batches:
                writer.write_batch(pa.record_batch([batch], schema=schema))
        run = subprocess.run(
            [sys.executable, "-m", "bench.fresh", str(path), str(scale.rounds)],
            check=True,
            capture_output=True,
            text=True,
            cwd=Path(__file__).parents[1],
            env={**os.environ, "ROUGHLY_SIMD": level},
        )
    seconds = json.loads(run.stdout)
    return Timing(name, size, tuple(seconds["wall"]), tuple(seconds["cpu"]))


if __name__ == "__main__":
    print(json.dumps(sketch_file(sys.argv[1], int(sys.argv[2]))))
