"""The service as one ASGI application: the API, the pages and their twins, static files.

Each worker process has one. What every request passes is in `gate.py`; what is answered is in `api`
and `pages`; here they are put together.
"""

from __future__ import annotations

import mimetypes
import os
from functools import cache
from importlib.resources import files
from pathlib import Path
from typing import Any

import msgspec
from starlette.formparsers import MultiPartException
from starlette.requests import Request
from starlette.responses import FileResponse
from starlette.routing import BaseRoute, Route, Router

from roughly.errors import NotFoundError, RoughlyError
from roughly.web.api import ENDPOINTS, add, seen
from roughly.web.api.endpoint import Service, check_method, query_fields
from roughly.web.api.openapi import description
from roughly.web.channel import Channel
from roughly.web.error import HttpError, http_error
from roughly.web.gate import JSON_HEADERS, SECURITY_HEADERS, Application, Gate, Scope, Send, answer
from roughly.web.limit import Headers, Limits, Receive, read_body
from roughly.web.metric import PAGES as PAGE_ROUTE
from roughly.web.metric import Metrics
from roughly.web.pages import PAGES
from roughly.web.pages.layout import error_page
from roughly.web.pages.page import Elsewhere, File, Page, Query, Upload
from roughly.web.view import Views

HTML_HEADERS = [
    *SECURITY_HEADERS,
    (b"cache-control", b"no-store"),
    (b"content-type", b"text/html; charset=utf-8"),
]
_FORM_FIELDS = 100


def create_app(
    corpus: str | Path,
    *,
    token: str | None = None,
    hosts: tuple[str, ...] = (),
    limits: Limits | None = None,
    metrics: Metrics | None = None,
    channel: Channel | None = None,
    threads: int | None = None,
) -> Gate:
    """The application of a corpus. It answers to addresses, to localhost and to `hosts`; what
    writes goes through the `channel`."""
    views = Views(corpus)
    if metrics is None:
        metrics = make_metrics()
    exact: dict[str, Application] = {
        "/metrics": _Metrics(metrics),
        "/api/openapi.json": _Description(metrics),
    }
    routes: list[BaseRoute] = [Route("/static/{file}", _Static())]
    for each in ENDPOINTS:
        of_route = metrics.routes[each.route]
        service: Application
        if each is seen.ENDPOINT:
            service = seen.Seen(channel, metrics, of_route)
        elif each is add.ENDPOINT:
            service = add.Add(channel, metrics, of_route)
        else:
            service = Service(each, views, of_route)
        if "{" in each.path:
            routes.append(Route(each.path, service))
        else:
            exact[each.path] = service
    number = metrics.routes[PAGE_ROUTE]
    # Twins first: a page's last parameter may take anything.
    routes += [Route(page.twin, _Served(page, views, number, twin=True)) for page in PAGES]
    routes += [Route(page.path, _Served(page, views, number, twin=False)) for page in PAGES]
    return Gate(
        _Entry(exact, Router(routes, redirect_slashes=False, default=_unknown)),  # type: ignore[arg-type]
        views,
        token=token,
        hosts=hosts,
        limits=limits or Limits(),
        metrics=metrics,
        error_page=lambda error: error_page(error.status, error.message, error.hint),
        threads=threads or max(4, os.cpu_count() or 1),
    )


def make_metrics(file: Path | None = None, rows: int = 1) -> Metrics:
    """Counters for every route there is."""
    routes = dict.fromkeys([*(each.route for each in ENDPOINTS), "/metrics", "/api/openapi.json"])
    return Metrics(tuple(routes), file, rows)


class _Entry:
    """Finds who answers: most requests by their path alone."""

    def __init__(self, exact: dict[str, Application], others: Application) -> None:
        self._exact = exact
        self._others = others

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        found = self._exact.get(scope["path"])
        if found is None:
            await self._others(scope, receive, send)
        else:
            scope["path_params"] = {}
            await found(scope, receive, send)


class _Served:
    """A page, or its twin."""

    def __init__(self, page: Page, views: Views, number: int, *, twin: bool) -> None:
        self._page = page
        self._views = views
        self._number = number
        self._twin = twin

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        gate: Gate = scope["gate"]
        scope["counted"] = self._number
        method = "GET" if scope["method"] == "HEAD" else scope["method"]
        if method not in self._page.methods:
            check_method(scope, self._page.methods[0])
        query = await _query(scope, receive, method, gate.limits)
        made = await gate.work(scope, lambda: self._made(query))
        if isinstance(made, File):
            await _saved(made)(scope, receive, send)
        elif isinstance(made, Elsewhere):
            place = (made.twin if self._twin else made.path).encode("ascii")
            headers = [*SECURITY_HEADERS, (b"location", place)]
            await answer(send, b"", headers, 303, scope["method"])
        else:
            headers = JSON_HEADERS if self._twin else HTML_HEADERS
            await answer(send, made, headers, method=scope["method"])

    def _made(self, query: Query) -> bytes | File | Elsewhere:
        try:
            data = self._page.data(self._views.now(), query)
            if isinstance(data, File | Elsewhere):
                return data
            if self._twin:
                return msgspec.json.encode(data)
            return self._page.html(data).encode("utf-8", "replace")
        except RoughlyError as error:
            raise http_error(error) from error


def _saved(file: File) -> FileResponse:
    """A file that a browser is to keep, never to show."""
    headers = {name.decode(): value.decode() for name, value in SECURITY_HEADERS}
    headers["content-disposition"] = f'attachment; filename="{file.name}"'
    return FileResponse(file.path, headers=headers, media_type=file.content_type)


async def _query(scope: Scope, receive: Receive, method: str, limits: Limits) -> Query:
    """What a page is asked."""
    parameters = query_fields(scope["query_string"])
    path: dict[str, Any] = scope["path_params"]
    if method != "POST":
        return Query(path, parameters, method=method)
    headers: Headers = scope["fields"]
    body = await read_body(receive, headers, limits)
    form: dict[str, str] = {}
    upload: Upload | None = None

    async def whole() -> dict[str, Any]:
        return {"type": "http.request", "body": body, "more_body": False}

    try:
        request = Request(scope, whole)
        async with request.form(
            max_files=1, max_fields=_FORM_FIELDS, max_part_size=limits.body_bytes
        ) as fields:
            for name, value in fields.multi_items():
                if isinstance(value, str):
                    form[name] = value
                elif content := await value.read():
                    upload = Upload(value.filename or "", content, value.content_type or "")
    except (MultiPartException, ValueError, KeyError) as error:
        raise HttpError("bad_request", f"form: not understood: {error}") from None
    return Query(path, parameters, form, upload, method)


class _Metrics:
    """GET /metrics."""

    def __init__(self, metrics: Metrics) -> None:
        self._metrics = metrics

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        scope["counted"] = self._metrics.routes["/metrics"]
        check_method(scope, "GET")
        kind = (b"content-type", b"text/plain; version=0.0.4; charset=utf-8")
        body = self._metrics.text().encode()
        await answer(send, body, [*SECURITY_HEADERS, kind], method=scope["method"])


class _Description:
    """GET /api/openapi.json."""

    def __init__(self, metrics: Metrics) -> None:
        self._number = metrics.routes["/api/openapi.json"]
        self._body = msgspec.json.encode(description())

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        scope["counted"] = self._number
        check_method(scope, "GET")
        await answer(send, self._body, JSON_HEADERS, method=scope["method"])


class _Static:
    """GET /static/FILE."""

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        check_method(scope, "GET")
        file: str = scope["path_params"]["file"]
        body = _static_files().get(file)
        if body is None:
            await _unknown(scope, receive, send)
            return
        kind = mimetypes.guess_type(file)[0] or "application/octet-stream"
        headers = [
            *SECURITY_HEADERS,
            (b"content-type", kind.encode()),
            # Their addresses change with their content.
            (b"cache-control", b"public, max-age=31536000, immutable"),
        ]
        await answer(send, body, headers, method=scope["method"])


@cache
def _static_files() -> dict[str, bytes]:
    """All of them, read once: nothing outside can be named."""
    folder = files("roughly.web").joinpath("static")
    return {each.name: each.read_bytes() for each in folder.iterdir() if each.is_file()}


async def _unknown(scope: Scope, receive: Receive, send: Send) -> None:
    raise http_error(
        NotFoundError(
            f"{scope['path']}: not found: this service has no such page",
            hint="/api/openapi.json lists what it answers",
        )
    )
