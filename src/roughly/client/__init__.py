"""Clients of `roughly serve`: `Client`, and `AsyncClient` with the same methods to await.

    with roughly.client.Client("http://127.0.0.1:8080", token="...") as client:
        client.seen(0x9F3A0C77D2E81B45, id="https://example.com/").seen

Answers are plain data (answer.py); errors are ServiceErrors with the message and the hint of the
service. A service that is busy and says when to come back (429, 503) is asked again so many times.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Mapping, Sequence
from types import TracebackType
from typing import TYPE_CHECKING, Any, TypeVar

try:
    import httpx
except ImportError as error:
    raise ImportError("roughly.client: needs httpx: pip install 'roughly[client]'") from error

from roughly.client import answer, request

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

T = TypeVar("T")


def _options(address: str, token: str | None, timeout: float) -> dict[str, Any]:
    headers = {} if token is None else {"authorization": f"Bearer {token}"}
    # No proxy, no .netrc: the address is where it goes.
    return {"base_url": address, "headers": headers, "timeout": timeout, "trust_env": False}


class Client:
    """Of a service at an address; any thread may use it."""

    def __init__(
        self, address: str, token: str | None = None, *, timeout: float = 60.0, retries: int = 3
    ) -> None:
        self.address = address
        self._retries = retries
        self._http = httpx.Client(**_options(address, token, timeout))

    def _ask(self, asked: request.Request[T]) -> T:
        tries = 0
        while True:
            try:
                response = self._http.request(**asked.arguments())
            except httpx.HTTPError as error:
                raise request.unreachable(self.address, error) from error
            wait = request.wait_before(response)
            if wait is None or tries >= self._retries:
                return asked.result(response)
            tries += 1
            time.sleep(wait)

    def seen(
        self,
        simhash: int | None = None,
        *,
        content: str | None = None,
        content_type: str = "auto",
        id: str | None = None,
    ) -> answer.Seen:
        """Whether a page with such a simhash, or such a content, was seen; if not, it is now. A
        match is told by the id that it was asked with."""
        return self._ask(request.seen(simhash, content, content_type, id))

    def seen_batch(self, simhashes: Any) -> npt.NDArray[np.int64]:
        """Of many at once, quickly, as `SeenIndex.seen` of an array: the position of each match; -1
        where there is none and it was added; -2 for None, a page without a simhash."""
        batch = request.Batch(simhashes)
        return batch.joined([self._ask(part) for part in batch.requests()])

    def seen_named(
        self, simhashes: Sequence[int | None], ids: Sequence[str | None]
    ) -> list[answer.Seen]:
        """Of many, each with an id."""
        return self._ask(request.seen_named(simhashes, ids))

    def find(
        self, content: str | None = None, *, url: str | None = None, **options: Any
    ) -> answer.Found:
        """Documents like a text, or like the latest document of a URL, best first. Options are
        those of `Corpus.find`: threshold, containment, limit and so on; evidence=N asks for
        passages."""
        return self._ask(request.find(content, url, options))

    def compare(
        self,
        a: str | None = None,
        b: str | None = None,
        *,
        a_url: str | None = None,
        b_url: str | None = None,
        w: int | None = None,
    ) -> answer.Compared:
        """Two documents exactly, each a text or a URL of the corpus."""
        return self._ask(request.compare(a=a, b=b, a_url=a_url, b_url=b_url, w=w))

    def documents(self, url: str, *, text: bool = False) -> list[answer.StoredDocument]:
        """All documents of a page, oldest first."""
        return self._ask(request.documents(url, text))

    def clusters(
        self,
        *,
        threshold: float | None = None,
        containment: float | None = None,
        limit: int = 100,
        offset: int = 0,
    ) -> answer.Clusters:
        """Clusters at any thresholds, largest first."""
        return self._ask(
            request.clusters(
                threshold=threshold, containment=containment, limit=limit, offset=offset
            )
        )

    def cluster(
        self, id: int, *, threshold: float | None = None, containment: float | None = None
    ) -> answer.Cluster:
        """One cluster and its members; its number is that of `clusters` at the same thresholds."""
        return self._ask(request.cluster(id, threshold=threshold, containment=containment))

    def lost(self, url: str, *, by: str = "day", exact: bool = False) -> answer.Lost:
        """Where a page is now that is not at its URL any more."""
        return self._ask(request.lost(url, by, exact))

    def changes(self, *, by: str = "day") -> answer.Changes:
        """How the pages of the corpus change from sweep to sweep."""
        return self._ask(request.changes(by))

    def collapse(
        self,
        results: Sequence[str | Mapping[str, str]],
        *,
        threshold: float | None = None,
        containment: float | None = None,
    ) -> list[answer.ResultGroup]:
        """Ranked results, near duplicates under the best-ranked one."""
        return self._ask(request.collapse(results, threshold, containment))

    def add(
        self,
        documents: Sequence[Mapping[str, str]],
        *,
        date: str | None = None,
        content_type: str = "auto",
    ) -> answer.Added:
        """Adds documents, each with `id` and `content`, and `date` if it has one of its own."""
        return self._ask(request.add(documents, date, content_type))

    def health(self) -> answer.Health:
        """Whether the service can answer."""
        return self._ask(request.health())

    def close(self) -> None:
        self._http.close()

    def __enter__(self) -> Client:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()


class AsyncClient:
    """The same, asynchronous; for one event loop."""

    def __init__(
        self, address: str, token: str | None = None, *, timeout: float = 60.0, retries: int = 3
    ) -> None:
        self.address = address
        self._retries = retries
        self._http = httpx.AsyncClient(**_options(address, token, timeout))

    async def _ask(self, asked: request.Request[T]) -> T:
        tries = 0
        while True:
            try:
                response = await self._http.request(**asked.arguments())
            except httpx.HTTPError as error:
                raise request.unreachable(self.address, error) from error
            wait = request.wait_before(response)
            if wait is None or tries >= self._retries:
                return asked.result(response)
            tries += 1
            await asyncio.sleep(wait)

    async def seen(
        self,
        simhash: int | None = None,
        *,
        content: str | None = None,
        content_type: str = "auto",
        id: str | None = None,
    ) -> answer.Seen:
        """Whether a page with such a simhash, or such a content, was seen; if not, it is now. A
        match is told by the id that it was asked with."""
        return await self._ask(request.seen(simhash, content, content_type, id))

    async def seen_batch(self, simhashes: Any) -> npt.NDArray[np.int64]:
        """Of many at once, quickly, as `SeenIndex.seen` of an array: the position of each match; -1
        where there is none and it was added; -2 for None, a page without a simhash."""
        batch = request.Batch(simhashes)
        return batch.joined([await self._ask(part) for part in batch.requests()])

    async def seen_named(
        self, simhashes: Sequence[int | None], ids: Sequence[str | None]
    ) -> list[answer.Seen]:
        """Of many, each with an id."""
        return await self._ask(request.seen_named(simhashes, ids))

    async def find(
        self, content: str | None = None, *, url: str | None = None, **options: Any
    ) -> answer.Found:
        """Documents like a text, or like the latest document of a URL, best first. Options are
        those of `Corpus.find`: threshold, containment, limit and so on; evidence=N asks for
        passages."""
        return await self._ask(request.find(content, url, options))

    async def compare(
        self,
        a: str | None = None,
        b: str | None = None,
        *,
        a_url: str | None = None,
        b_url: str | None = None,
        w: int | None = None,
    ) -> answer.Compared:
        """Two documents exactly, each a text or a URL of the corpus."""
        return await self._ask(request.compare(a=a, b=b, a_url=a_url, b_url=b_url, w=w))

    async def documents(self, url: str, *, text: bool = False) -> list[answer.StoredDocument]:
        """All documents of a page, oldest first."""
        return await self._ask(request.documents(url, text))

    async def clusters(
        self,
        *,
        threshold: float | None = None,
        containment: float | None = None,
        limit: int = 100,
        offset: int = 0,
    ) -> answer.Clusters:
        """Clusters at any thresholds, largest first."""
        return await self._ask(
            request.clusters(
                threshold=threshold, containment=containment, limit=limit, offset=offset
            )
        )

    async def cluster(
        self, id: int, *, threshold: float | None = None, containment: float | None = None
    ) -> answer.Cluster:
        """One cluster and its members; its number is that of `clusters` at the same thresholds."""
        return await self._ask(request.cluster(id, threshold=threshold, containment=containment))

    async def lost(self, url: str, *, by: str = "day", exact: bool = False) -> answer.Lost:
        """Where a page is now that is not at its URL any more."""
        return await self._ask(request.lost(url, by, exact))

    async def changes(self, *, by: str = "day") -> answer.Changes:
        """How the pages of the corpus change from sweep to sweep."""
        return await self._ask(request.changes(by))

    async def collapse(
        self,
        results: Sequence[str | Mapping[str, str]],
        *,
        threshold: float | None = None,
        containment: float | None = None,
    ) -> list[answer.ResultGroup]:
        """Ranked results, near duplicates under the best-ranked one."""
        return await self._ask(request.collapse(results, threshold, containment))

    async def add(
        self,
        documents: Sequence[Mapping[str, str]],
        *,
        date: str | None = None,
        content_type: str = "auto",
    ) -> answer.Added:
        """Adds documents, each with `id` and `content`, and `date` if it has one of its own."""
        return await self._ask(request.add(documents, date, content_type))

    async def health(self) -> answer.Health:
        """Whether the service can answer."""
        return await self._ask(request.health())

    async def close(self) -> None:
        await self._http.aclose()

    async def __aenter__(self) -> AsyncClient:
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        await self.close()
