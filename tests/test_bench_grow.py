"""The benchmark of growing does what it says, on a few documents."""

from pathlib import Path

import pytest

from bench import grow
from bench.report import failures


def test_the_benchmark_runs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("os.fsync", lambda descriptor: None)
    monkeypatch.setattr(grow, "ADDED", 60)
    section = grow.run(600, tmp_path, tmp_path / "kept", compared=300)
    assert failures([section]) == []
    assert len(section.checks) == 5 and section.results[0].reached is None
    assert list(tmp_path.iterdir()) == [tmp_path / "kept"]
    # The large corpus is taken as it is the next time.
    again = grow.run(600, tmp_path, tmp_path / "kept", compared=300)
    assert failures([again]) == [] and again.tables[0].rows[0][1] is None
