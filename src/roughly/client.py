"""Clients of `roughly serve`: `Client`, and `AsyncClient` with the same methods to await.

    with roughly.client.Client("http://127.0.0.1:8080", token="...") as client:
        client.seen(0x9F3A0C77D2E81B45, id="https://example.com/")["seen"]

Answers are the JSON of the service (docs/serve.md, /api/openapi.json), options the fields that it
takes. Errors are ServiceErrors with its message and hint. A service that is busy and says when to
come back (429, 503) is asked again, `retries` times.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable, Mapping, Sequence
from typing import Any
from urllib.parse import quote

try:
    import httpx
except ImportError as error:
    raise ImportError("roughly.client: needs httpx: pip install 'roughly[client]'") from error

from roughly.errors import MissingError, ServiceError

LONGEST_WAIT = 30.0  # seconds between two tries, whatever a service asks for
_OCTETS = {"content-type": "application/octet-stream"}


class _Questions:
    """Each question once: what `_ask` gives is the answer, or the answer to await."""

    def __init__(
        self, address: str, token: str | None = None, *, timeout: float = 60.0, retries: int = 3
    ) -> None:
        self.address = address
        self._retries = retries
        self._options: dict[str, Any] = {
            "base_url": address,
            "headers": {} if token is None else {"authorization": f"Bearer {token}"},
            "timeout": timeout,
            "trust_env": False,  # no proxy, no .netrc: the address is where it goes
        }

    def _ask(
        self, read: Callable[[httpx.Response], Any], method: str, path: str, **more: Any
    ) -> Any:
        raise NotImplementedError

    def _get(self, path: str, **fields: Any) -> Any:
        params = {name: value for name, value in fields.items() if value is not None}
        return self._ask(httpx.Response.json, "GET", path, params=params)

    def _post(self, path: str, **fields: Any) -> Any:
        body = {name: value for name, value in fields.items() if value is not None}
        return self._ask(httpx.Response.json, "POST", path, json=body)

    def find(self, content: str | None = None, **options: Any) -> Any:
        """Documents like a text, or like the latest of a URL (url=...), best first."""
        return self._post("/api/find", content=content, **options)

    def seen(self, simhash: int | None = None, **options: Any) -> Any:
        """Whether a page with such a simhash (or content=...) was seen; if not, it is now. A match
        is told by the id=... that it came with."""
        return self._post(
            "/api/seen", simhash=None if simhash is None else _hex(simhash), **options
        )

    def seen_many(self, simhashes: Sequence[int | None], ids: Sequence[str | None]) -> Any:
        """Of many, in their order, each with an id."""
        return self._post("/api/seen", simhashes=[*map(_hex, simhashes)], ids=list(ids))

    def seen_batch(self, simhashes: Any) -> Any:
        """Of thousands, without JSON around them: an array with the position of each match; -1
        where there is none and the simhash was added."""
        import numpy as np

        octets = np.asarray(simhashes, "<u8").tobytes()
        return self._ask(
            lambda response: np.frombuffer(response.content, "<i8"),
            *("POST", "/api/seen"),
            content=octets,
            headers=_OCTETS,
        )

    def compare(self, a: str | None = None, b: str | None = None, **options: Any) -> Any:
        """Two documents exactly, each a text or a URL of the corpus (a_url=..., b_url=...)."""
        return self._post("/api/compare", a=a, b=b, **options)

    def documents(self, url: str, **options: Any) -> Any:
        """All documents of a page, oldest first."""
        return self._get(f"/api/documents/{quote(url, safe='')}", **options)

    def clusters(self, **options: Any) -> Any:
        """Clusters at any threshold=..., largest first."""
        return self._get("/api/clusters", **options)

    def cluster(self, id: int, **options: Any) -> Any:
        """One of them; its number is that of `clusters` at the same thresholds."""
        return self._get(f"/api/clusters/{id}", **options)

    def lost(self, url: str, **options: Any) -> Any:
        """Where a page is now that is not at its URL any more."""
        return self._get("/api/lost", url=url, **options)

    def changes(self, **options: Any) -> Any:
        """How the pages of the corpus change from sweep to sweep."""
        return self._get("/api/changes", **options)

    def collapse(self, results: Sequence[str | Mapping[str, str]], **options: Any) -> Any:
        """Ranked results, near duplicates under the best-ranked one."""
        return self._post("/api/collapse", results=list(results), **options)

    def add(self, documents: Sequence[Mapping[str, str]], **options: Any) -> Any:
        """Adds documents, each with `id` and `content`, and `date` if it has one of its own."""
        return self._post("/api/add", documents=[*map(dict, documents)], **options)

    def health(self) -> Any:
        """Whether the service can answer."""
        return self._get("/health")


class Client(_Questions):
    """Of the service at an address; any thread may use it."""

    def __init__(self, *given: Any, **options: Any) -> None:
        super().__init__(*given, **options)
        self._http = httpx.Client(**self._options)

    def _ask(
        self, read: Callable[[httpx.Response], Any], method: str, path: str, **more: Any
    ) -> Any:
        for left in range(self._retries, -1, -1):
            try:
                response = self._http.request(method, path, **more)
            except httpx.HTTPError as error:
                raise _unreachable(self.address, error) from error
            if left == 0 or (wait := _wait(response)) is None:
                return _answer(response, read)
            time.sleep(wait)

    def close(self) -> None:
        self._http.close()

    def __enter__(self) -> Client:
        return self

    def __exit__(self, *error: object) -> None:
        self.close()


class AsyncClient(_Questions):
    """The same, to be awaited; for one event loop."""

    def __init__(self, *given: Any, **options: Any) -> None:
        super().__init__(*given, **options)
        self._http = httpx.AsyncClient(**self._options)

    async def _ask(
        self, read: Callable[[httpx.Response], Any], method: str, path: str, **more: Any
    ) -> Any:
        for left in range(self._retries, -1, -1):
            try:
                response = await self._http.request(method, path, **more)
            except httpx.HTTPError as error:
                raise _unreachable(self.address, error) from error
            if left == 0 or (wait := _wait(response)) is None:
                return _answer(response, read)
            await asyncio.sleep(wait)

    async def close(self) -> None:
        await self._http.aclose()

    async def __aenter__(self) -> AsyncClient:
        return self

    async def __aexit__(self, *error: object) -> None:
        await self.close()


def _hex(simhash: int | None) -> str | None:
    return None if simhash is None else f"{simhash:x}"


def _wait(response: httpx.Response) -> float | None:
    """Seconds until it makes sense to ask again; None if it does not."""
    try:
        wait = float(response.headers["retry-after"])
    except (KeyError, ValueError):
        return None
    return min(max(wait, 0.0), LONGEST_WAIT) if response.status_code in (429, 503) else None


def _answer(response: httpx.Response, read: Callable[[httpx.Response], Any]) -> Any:
    status = response.status_code
    if status < 400:
        try:
            return read(response)
        except ValueError as error:
            message = f"{response.url}: not understood: {error}"
            hint = "is this the address of a roughly service?"
            raise ServiceError(message, hint, code="not_understood", status=status) from error
    code, message, more = "internal", f"{response.url}: HTTP status {status}", None
    try:
        told = response.json()["error"]
        code, message, more = told["code"], told["message"], told.get("hint")
    except (ValueError, KeyError, TypeError):
        pass  # Something between us and the service answered.
    kind = MissingError if code == "not_found" else ServiceError
    raise kind(message, more, code=code, status=status)


def _unreachable(address: str, error: httpx.HTTPError) -> ServiceError:
    return ServiceError(
        f"{address}: no answer: {str(error) or type(error).__name__}",
        "is the service running, and is this its address?",
        code="unreachable",
    )
