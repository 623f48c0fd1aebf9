"""An outside judge of the API: schemathesis reads the service's own description, makes requests of
it, right and wrong ones, and checks every answer against what the description promises."""

import importlib.util
import subprocess
import sys
from pathlib import Path

import pytest

from tests.optional import FULL, optional
from tests.service import TOKEN, make_corpus, service

if importlib.util.find_spec("schemathesis") is None:
    optional("schemathesis", "it is not installed")

EXAMPLES = 25 if FULL else 2
# What a schema cannot tell: that of two fields one must be there, that any text at all is a
# document, that a threshold lies above the corpus's floor.
UNTOLD = ["positive_data_acceptance", "negative_data_rejection"]


@pytest.mark.parametrize("token", [TOKEN, None], ids=["writing", "read-only"])
def test_every_answer_is_as_described(token: str | None, tmp_path: Path) -> None:
    words = ["--exclude-checks", ",".join(UNTOLD)]
    if token is None:
        # Without a token of its own a service refuses who sends none with 403, not with 401.
        words[1] += ",missing_required_header"
    else:
        words += ["--header", f"Authorization: Bearer {token}"]
    # Silence about what is only a warning: most URLs that it thinks of are in no corpus.
    words += ["--warnings", "off", "--max-examples", str(EXAMPLES), "--seed", "1", "--no-color"]
    words += ["--generation-database", "none", "--continue-on-failure", "--request-timeout", "60"]
    with service(make_corpus(tmp_path / "web.roughly"), token=token) as running:
        script = str(Path(sys.executable).with_name("schemathesis"))
        found = subprocess.run(
            [script, "run", f"{running.address}/api/openapi.json", *words],
            capture_output=True,
            text=True,
            cwd=tmp_path,
            check=False,
        )
        assert found.returncode == 0, found.stdout + found.stderr
        assert "12 selected / 12 total" in found.stdout and "Tested: 12" in found.stdout
        assert "Fuzzing" in found.stdout and "Coverage" in found.stdout
