"""The examples of docs/client.md, run against a real service."""

import doctest
import io
import textwrap
from pathlib import Path

from tests.service import TOKEN, make_corpus, service

PAGE = Path(__file__).parents[1] / "docs" / "client.md"


def test_the_examples_print_what_they_show(tmp_path: Path) -> None:
    text, printed = PAGE.read_text("utf-8"), io.StringIO()
    shown = "".join(line[4:] for line in text.splitlines(True) if line.startswith("    "))
    with service(make_corpus(tmp_path / "web.roughly")) as running:
        shown = shown.replace("http://127.0.0.1:8080", running.address).replace("TOKEN", TOKEN)
        test = doctest.DocTestParser().get_doctest(
            textwrap.dedent(shown), {}, PAGE.name, str(PAGE), 0
        )
        assert len(test.examples) > 15
        doctest.DocTestRunner(verbose=False).run(test, out=printed.write)
    assert not printed.getvalue(), printed.getvalue()
