"""The options that say which documents are compared: what they accept, and the field they name."""

import argparse
import json
from pathlib import Path

import pytest

from roughly.cli.options import (
    add_condition_options,
    add_reading,
    category_field_of,
    documents_of,
)


def parsed(*words: str) -> argparse.Namespace:
    parser = argparse.ArgumentParser(allow_abbrev=False)
    add_reading(parser)
    add_condition_options(parser)
    return parser.parse_args(words)


def test_nothing_given_is_nothing_said() -> None:
    found = parsed()
    assert (found.method, found.distance, found.size_ratio, found.within) == (None,) * 4
    assert category_field_of(found) is None


def test_values() -> None:
    found = parsed("--method", "both", "-k", "10", "--size-ratio", "0.5", "--within", "language")
    assert (found.method, found.distance, found.size_ratio) == ("both", 10, "0.5")
    assert category_field_of(found) == "language"
    assert category_field_of(parsed("--within", "host")) is None  # it is in the ids
    assert category_field_of(argparse.Namespace()) is None  # a command without the option


@pytest.mark.parametrize(
    "words",
    [
        ["--method", "neither"],
        ["-k", "11"],
        ["-k", "-1"],
        ["-k", "three"],
        ["--size-ratio", "0"],
        ["--size-ratio", "1.5"],
    ],
)
def test_values_out_of_range(words: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as caught:
        parsed(*words)
    assert caught.value.code == 2
    assert words[1] in capsys.readouterr().err


def test_within_reads_the_field(tmp_path: Path) -> None:
    path = tmp_path / "a.jsonl"
    path.write_text(json.dumps({"text": "a", "language": "en"}) + "\n")
    by_field = documents_of(parsed("--within", "language"), [str(path)])
    assert [batch.column("category").to_pylist() for batch in by_field] == [["en"]]
    by_host = documents_of(parsed("--within", "host"), [str(path)])
    assert "category" not in by_host.schema.names
