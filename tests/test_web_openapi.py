"""The API against its own description: whatever is asked, no fault, and every answer is of the
shape that the description promises for its status."""

import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from urllib.parse import quote, urlencode

import httpx
import msgspec
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from roughly.web.api import ENDPOINTS
from roughly.web.api.endpoint import Endpoint
from roughly.web.api.openapi import description
from roughly.web.app import create_app, make_metrics
from roughly.web.error import ErrorAnswer
from tests.optional import FULL
from tests.service import InProcess, Service, make_corpus, service
from tests.strategy_schema import JUNK, nearly, values

DESCRIPTION = json.loads(json.dumps(description()))
COMPONENTS = DESCRIPTION["components"]["schemas"]
EXAMPLES = 200 if FULL else 12
QUICK = settings(
    max_examples=EXAMPLES,
    deadline=None,
    suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow],
)


@pytest.fixture(scope="module")
def running(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Service]:
    corpus = make_corpus(tmp_path_factory.mktemp("openapi") / "web.roughly")
    with service(corpus) as started:
        yield started


@pytest.fixture(scope="module")
def client(running: Service) -> Iterator[httpx.Client]:
    with running.client() as opened:
        yield opened


def path_of(endpoint: Endpoint) -> str:
    return re.sub(r":\w+\}", "}", endpoint.path)


def operation(endpoint: Endpoint) -> dict[str, Any]:
    found: dict[str, Any] = DESCRIPTION["paths"][path_of(endpoint)][endpoint.method.lower()]
    return found


def check(endpoint: Endpoint, answer: httpx.Response) -> None:
    """As the description says."""
    assert answer.status_code < 500 or answer.status_code == 503, answer.text
    promised = operation(endpoint)["responses"]
    assert str(answer.status_code) in promised, answer.text
    kind = answer.headers["content-type"]
    assert kind in promised[str(answer.status_code)]["content"]
    if kind == "application/json":
        wanted = endpoint.answer if answer.status_code == 200 else ErrorAnswer
        found = msgspec.json.decode(answer.content)
        known = msgspec.to_builtins(msgspec.convert(found, wanted))
        assert found.keys() <= known.keys()


def encoded(value: Any) -> bytes:
    return json.dumps(value).encode()


@pytest.mark.parametrize("endpoint", ENDPOINTS, ids=lambda each: each.path)
def test_every_answer_is_as_described(endpoint: Endpoint, client: httpx.Client) -> None:
    schema = {"$ref": f"#/components/schemas/{endpoint.asked.__name__}"}

    @QUICK
    @given(st.data())
    def ask(data: st.DataObject) -> None:
        some = data.draw(st.sampled_from([values, values, nearly]))
        fields = data.draw(some(schema, COMPONENTS))
        if endpoint.method == "POST":
            headers = {"content-type": "application/json"}
            answer = client.post(endpoint.path, content=encoded(fields), headers=headers)
        else:
            address = path_of(endpoint)
            for name in re.findall(r"\{(\w+)\}", address):
                part = str(fields.pop(name, "x")).encode("utf-8", "replace")
                address = address.replace(f"{{{name}}}", quote(part, safe="") or "x")
            plain = {
                key: str(value).encode("utf-8", "replace")
                for key, value in fields.items()
                if value is not None
            }
            answer = client.get(f"{address}?{urlencode(plain)}")
        check(endpoint, answer)

    ask()


@pytest.mark.parametrize(
    "endpoint", [each for each in ENDPOINTS if each.method == "POST"], ids=lambda each: each.path
)
def test_any_bytes_are_answered(endpoint: Endpoint, client: httpx.Client) -> None:
    kinds = [*operation(endpoint)["requestBody"]["content"], "application/xml", ""]

    @QUICK
    @given(
        st.one_of(st.binary(max_size=200), JUNK.map(encoded)),
        st.sampled_from(kinds),
        st.sampled_from([None, "gzip", "identity", "deflate"]),
    )
    def ask(body: bytes, kind: str, encoding: str | None) -> None:
        headers = {"content-type": kind} if kind else {}
        if encoding is not None:
            headers["content-encoding"] = encoding
        check(endpoint, client.post(endpoint.path, content=body, headers=headers))

    ask()


def test_every_route_is_described(tmp_path: Path) -> None:
    assert DESCRIPTION["openapi"].startswith("3.1")
    described = {
        (method.upper(), path) for path, each in DESCRIPTION["paths"].items() for method in each
    }
    assert described == {(each.method, path_of(each)) for each in ENDPOINTS} | {("GET", "/metrics")}
    names = [
        each["operationId"] for path in DESCRIPTION["paths"].values() for each in path.values()
    ]
    assert len(set(names)) == len(names)
    # Every reference leads somewhere.
    for name in re.findall(r'"#/components/schemas/(\w+)"', json.dumps(DESCRIPTION)):
        assert name in COMPONENTS
    app = create_app(make_corpus(tmp_path / "web.roughly"), metrics=make_metrics())
    assert InProcess(app).get("/api/openapi.json").json() == DESCRIPTION


def test_writes_are_told_to_need_the_token() -> None:
    for endpoint in ENDPOINTS:
        told = operation(endpoint)
        assert ("security" in told) == endpoint.write
        assert ("401" in told["responses"]) == endpoint.write
    assert {each.path for each in ENDPOINTS if each.write} == {"/api/seen", "/api/add"}
