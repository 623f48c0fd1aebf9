"""Whatever stands in an address: every page and its twin answers in words and soon.

The values are those that number, date and URL parsers trip over; texts that would be markup stay
text, in errors too.
"""

import asyncio
from urllib.parse import quote

import httpx
import pytest

import roughly
from roughly.web.app import create_app
from roughly.web.pages import PAGES
from tests.hostile import HOSTILE
from tests.optional import FULL
from tests.service import make_corpus

ODD = [
    "9" * 5000,  # more digits than Python reads
    "1e-999999999",  # a fraction with a denominator of a gigabyte
    "\ud800<script>x</script>&b",
    "-1",
    "nan",
    "1/0",
]
if FULL:
    ODD += [
        *("inf", "1e999999999", "1E-９９９９９９９９９", "0." + "1" * 6000, "1/" + "9" * 4000),
        *("18446744073709551616", "-9223372036854775809", "0x10", "1_0", "²", "½", "٣"),
        *("\0", "%00", "\r\nX: y", "../../etc/passwd", "file:///etc/passwd", "//", "x" * 5000),
        *("http://169.254.169.254/", "http://[", "http://a:99999999/", "2026-13-45", "undated"),
    ]
NAMES = [
    *("threshold", "containment", "distance", "page", "url", "date", "limit", "a", "b", "a_date"),
    *("by", "from", "to", "exact", "confidence", "kind", "k", "bits", "documents", "memory"),
]


@pytest.fixture(scope="module")
def app(tmp_path_factory: pytest.TempPathFactory) -> object:
    path = make_corpus(tmp_path_factory.mktemp("hostile") / "web.roughly")
    roughly.Corpus(path).add(
        [{"id": id, "date": "2026-02-01", "text": text} for id, text in HOSTILE.items()]
    )
    return create_app(path)


def escaped(value: str) -> str:
    return quote(value.encode("utf-8", "surrogatepass"), safe="")


def ask_all(app: object, paths: list[str]) -> None:
    """Each is answered, and nothing of it is markup."""

    async def ask() -> None:
        transport = httpx.ASGITransport(app=app)  # type: ignore[arg-type]
        headers = {"accept": "text/html"}
        async with httpx.AsyncClient(transport=transport, base_url="http://127.0.0.1") as client:
            for path in paths:
                found = await client.get(path, headers=headers)
                assert found.status_code in (200, 303, 400, 404), (path[:200], found.text)
                if found.headers["content-type"].startswith("text/html"):
                    assert "<script>" not in found.text, path
                elif found.status_code >= 400:
                    assert "&lt;" not in found.text and "&amp;" not in found.text, path

    asyncio.run(ask())


@pytest.mark.parametrize(
    "path",
    sorted(
        {
            each.replace("{id}", "0").replace("{name}", "x")
            for page in PAGES
            for each in (page.path, page.twin)
            if "GET" in page.methods
        }
    ),
)
def test_values_of_every_page(app: object, path: str) -> None:
    ask_all(app, [f"{path}?{name}={escaped(value)}" for name in NAMES for value in ODD])


def test_numbers_and_names_in_paths(app: object) -> None:
    begins = ["/", "/cluster/", "/jobs/", "/lost/", "/static/", "/api/documents/", "/api/clusters/"]
    values = ["0", *ODD]
    ask_all(app, [f"{begin}{escaped(each)}{end}" for begin in begins for each in values
                  for end in ("", ".json")])  # fmt: skip


def test_thresholds_that_would_take_for_ever() -> None:
    for value in ("1e-999999999", "1E-９９９９９９９９９", "0.5e+10_000", "9" * 5000, "1/0", ""):
        with pytest.raises(roughly.ParameterError, match="threshold: out of range") as told:
            roughly.parameters.exact_ratio("threshold", value)
        assert len(str(told.value)) < 200
    assert str(roughly.parameters.exact_ratio("threshold", "7e-1")) == "7/10"
    assert str(roughly.parameters.exact_ratio("threshold", 1e-5)) == "1/100000"
