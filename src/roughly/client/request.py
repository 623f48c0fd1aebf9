"""One question to a service: what is sent, and how the answer is read. Knows nothing of sockets.

Every function here makes the request of one endpoint, so that both clients ask the same.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Generic, TypeVar
from urllib.parse import quote

import httpx

from roughly.client import answer
from roughly.client.answer import made
from roughly.errors import MissingError, ServiceError

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

    Positions = npt.NDArray[np.int64]

T = TypeVar("T")
# The longest wait between two tries that a service can ask for.
LONGEST_WAIT = 30.0
# Simhashes in one request; a service takes twice as many.
BATCH = 1 << 16


@dataclass(frozen=True, slots=True)
class Request(Generic[T]):
    method: str
    path: str
    read: Callable[[httpx.Response], T]
    fields: Mapping[str, Any] | None = None  # of the query string
    body: bytes | None = None
    content_type: str = "application/json"

    def arguments(self) -> dict[str, Any]:
        """For httpx."""
        found: dict[str, Any] = {"method": self.method, "url": self.path}
        if self.fields is not None:
            found["params"] = {k: _written(v) for k, v in self.fields.items() if v is not None}
        if self.body is not None:
            found |= {"content": self.body, "headers": {"content-type": self.content_type}}
        return found

    def result(self, response: httpx.Response) -> T:
        """What was asked for; raises ServiceError."""
        if response.status_code >= 400:
            raise _error(response)
        try:
            return self.read(response)
        except (ValueError, KeyError, TypeError) as error:
            raise ServiceError(
                f"{response.url}: not understood: {type(error).__name__}: {error}",
                "is this the address of a roughly service?",
                code="not_understood",
                status=response.status_code,
            ) from error


def wait_before(response: httpx.Response) -> float | None:
    """Seconds until it makes sense to ask again; None if it does not."""
    try:
        wait = float(response.headers["retry-after"])
    except (KeyError, ValueError):
        return None
    return min(max(wait, 0.0), LONGEST_WAIT) if response.status_code in (429, 503) else None


def unreachable(address: object, error: httpx.HTTPError) -> ServiceError:
    """For when there was no answer."""
    why = str(error) or type(error).__name__
    return ServiceError(
        f"{address}: no answer: {why}",
        "is the service running, and is this its address?",
        code="unreachable",
    )


def _error(response: httpx.Response) -> ServiceError:
    code, message, hint = "internal", f"{response.url}: HTTP status {response.status_code}", None
    try:
        told = response.json()["error"]
        code, message, hint = told["code"], told["message"], told.get("hint")
    except (ValueError, KeyError, TypeError):
        pass  # Something between us and the service answered.
    kind = MissingError if code == "not_found" else ServiceError
    return kind(message, hint, code=code, status=response.status_code)


def _written(value: Any) -> str:
    return str(value).lower() if isinstance(value, bool) else str(value)


def _reading(kind: type[T]) -> Callable[[httpx.Response], T]:
    return lambda response: made(kind, response.json())


def _post(path: str, kind: type[T], **fields: Any) -> Request[T]:
    given = {name: value for name, value in fields.items() if value is not None}
    return Request("POST", path, _reading(kind), body=json.dumps(given).encode())


def _get(path: str, kind: type[T], **fields: Any) -> Request[T]:
    return Request("GET", path, _reading(kind), fields)


def seen(
    simhash: int | None, content: str | None, content_type: str, id: str | None
) -> Request[answer.Seen]:
    fields: dict[str, Any] = {"id": id} if id is not None else {}
    if simhash is not None:
        fields["simhash"] = f"{simhash:x}"
    if content is not None:
        fields |= {"content": content, "content_type": content_type}
    return Request("POST", "/api/seen", _read_seen, body=json.dumps(fields).encode())


def _read_seen(response: httpx.Response) -> answer.Seen:
    return _seen_row(response.json())


def _seen_row(row: Mapping[str, Any]) -> answer.Seen:
    def number(name: str) -> int | None:
        return None if row.get(name) is None else int(row[name], 16)

    return answer.Seen(
        row["seen"],
        number("match"),
        row["distance"],
        row["position"],
        row.get("match_id"),
        number("simhash"),
        row["parameters"]["k"],
    )


def seen_named(
    simhashes: Sequence[int | None], ids: Sequence[str | None]
) -> Request[list[answer.Seen]]:
    fields = {
        "simhashes": [None if each is None else f"{each:x}" for each in simhashes],
        "ids": list(ids),
    }

    def read(response: httpx.Response) -> list[answer.Seen]:
        found = response.json()
        names = ("seen", "match", "distance", "position", "match_id")
        rows = zip(*(found[name] for name in names), strict=True)
        return [
            _seen_row(dict(zip(names, row, strict=True)) | {"parameters": found["parameters"]})
            for row in rows
        ]

    return Request("POST", "/api/seen", read, body=json.dumps(fields).encode())


class Batch:
    """Simhashes for `seen` without JSON around them, in requests that a service takes."""

    def __init__(self, simhashes: Any) -> None:
        import numpy as np

        if isinstance(simhashes, np.ndarray):
            self._there: npt.NDArray[np.bool_] | None = None
            values = simhashes
        else:
            given = list(simhashes)
            self._there = np.array([each is not None for each in given], bool)
            values = np.array([each for each in given if each is not None], np.uint64)
        self._octets = values.astype("<u8", casting="safe").tobytes()

    def requests(self) -> list[Request[Positions]]:
        step = 8 * BATCH
        return [_octets(self._octets[at : at + step]) for at in range(0, len(self._octets), step)]

    def joined(self, parts: list[Positions]) -> Positions:
        """The answers of all requests as one."""
        import numpy as np

        found = np.concatenate([np.empty(0, np.int64), *parts])
        if self._there is None:
            return found
        whole = np.full(len(self._there), -2, np.int64)
        whole[self._there] = found
        return whole


def _octets(octets: bytes) -> Request[Positions]:
    def read(response: httpx.Response) -> Positions:
        import numpy as np

        found = np.frombuffer(response.content, "<i8").astype(np.int64)
        if len(response.content) != len(octets):
            raise ValueError(f"{len(response.content):,} bytes, wanted {len(octets):,}")
        return found

    return Request("POST", "/api/seen", read, None, octets, "application/octet-stream")


def find(content: str | None, url: str | None, options: Mapping[str, Any]) -> Request[answer.Found]:
    return _post("/api/find", answer.Found, content=content, url=url, **options)


def compare(**fields: Any) -> Request[answer.Compared]:
    return _post("/api/compare", answer.Compared, **fields)


def documents(url: str, text: bool) -> Request[list[answer.StoredDocument]]:
    return Request(
        "GET",
        f"/api/documents/{quote(url, safe='')}",
        lambda response: made(list[answer.StoredDocument], response.json()["documents"]),
        {"text": text},
    )


def clusters(**fields: Any) -> Request[answer.Clusters]:
    return _get("/api/clusters", answer.Clusters, **fields)


def cluster(id: int, **fields: Any) -> Request[answer.Cluster]:
    return _get(f"/api/clusters/{id}", answer.Cluster, **fields)


def lost(url: str, by: str, exact: bool) -> Request[answer.Lost]:
    return _get("/api/lost", answer.Lost, url=url, by=by, exact=exact)


def changes(by: str) -> Request[answer.Changes]:
    return _get("/api/changes", answer.Changes, by=by)


def collapse(
    results: Sequence[str | Mapping[str, str]], threshold: float | None, containment: float | None
) -> Request[list[answer.ResultGroup]]:
    given = {"results": list(results), "threshold": threshold, "containment": containment}
    fields = {name: value for name, value in given.items() if value is not None}
    return Request(
        "POST",
        "/api/collapse",
        lambda response: made(list[answer.ResultGroup], response.json()["groups"]),
        body=json.dumps(fields).encode(),
    )


def add(
    documents: Sequence[Mapping[str, str]], date: str | None, content_type: str
) -> Request[answer.Added]:
    return _post(
        "/api/add",
        answer.Added,
        documents=[dict(each) for each in documents],
        date=date,
        content_type=content_type,
    )


def health() -> Request[answer.Health]:
    return _get("/health", answer.Health)
