"""GET /api/openapi.json: the API as OpenAPI 3.1 describes it, made of the endpoints' structs."""

from __future__ import annotations

import re
from typing import Any

import msgspec

from roughly.web.api import ENDPOINTS
from roughly.web.api.endpoint import CONTENT_TYPES, VERSION, Endpoint
from roughly.web.error import CODES, ErrorAnswer

_REFERENCE = "#/components/schemas/{name}"
# Codes that any request may end with, and those of requests with a body or a token.
_ALWAYS = ("bad_request", "not_found", "misdirected", "too_many", "internal", "busy")
_OF_BODY = ("timeout", "too_large", "unsupported", "cross_origin")
_OF_TOKEN = ("unauthorised", "read_only")


def description() -> dict[str, Any]:
    """The whole document."""
    kinds: list[type[Any]] = [ErrorAnswer]
    for endpoint in ENDPOINTS:
        kinds += [endpoint.asked, endpoint.answer]
    schemas, components = msgspec.json.schema_components(kinds, ref_template=_REFERENCE)
    of = dict(zip((kind.__name__ for kind in kinds), schemas, strict=True))
    paths: dict[str, Any] = {}
    for endpoint in ENDPOINTS:
        path = re.sub(r"\{(\w+):\w+\}", r"{\1}", endpoint.path)
        paths[path] = {endpoint.method.lower(): _operation(endpoint, of, components)}
    paths["/metrics"] = {
        "get": {
            "summary": "What the service counts, for Prometheus",
            "operationId": "metrics",
            "responses": {
                "200": {"description": "counters", "content": {"text/plain": {"schema": {}}}}
            },
        }
    }
    return {
        "openapi": "3.1.0",
        "info": {
            "title": "roughly",
            "version": VERSION,
            "description": "Finds documents that are roughly the same, or roughly contained in one"
            " another. Errors have one shape; programs go by their code.",
        },
        "paths": paths,
        "components": {
            "schemas": components,
            "securitySchemes": {"token": {"type": "http", "scheme": "bearer"}},
        },
    }


def _operation(
    endpoint: Endpoint, of: dict[str, Any], components: dict[str, Any]
) -> dict[str, Any]:
    codes = list(_ALWAYS)
    found: dict[str, Any] = {
        "summary": endpoint.summary,
        "operationId": endpoint.asked.__name__.removesuffix("Request").lower(),
    }
    fields = components[endpoint.asked.__name__]
    if endpoint.method == "GET":
        found["parameters"] = [
            {
                "name": name,
                "in": "path" if f"{{{name}" in endpoint.path else "query",
                "required": name in fields.get("required", []),
                "schema": schema,
            }
            for name, schema in fields.get("properties", {}).items()
        ]
    else:
        codes += _OF_BODY
        bodies: dict[str, Any] = {"application/json": {"schema": of[endpoint.asked.__name__]}}
        if endpoint.content is not None:
            bodies |= {kind: {"schema": {"type": "string"}} for kind in CONTENT_TYPES}
        if endpoint.octets:
            bodies["application/octet-stream"] = {
                "schema": {
                    "type": "string",
                    "format": "binary",
                    "description": "64-bit simhashes, little-endian",
                }
            }
        found["requestBody"] = {"required": True, "content": bodies}
        if endpoint.content is not None:
            found["requestBody"]["description"] = (
                f"JSON; or a document as it is, in the place of {endpoint.content}: other fields"
                " then stand in the query string"
            )
    if endpoint.write:
        codes += _OF_TOKEN
        found["security"] = [{"token": []}]
    answers: dict[str, Any] = {
        "application/json": {"schema": of[endpoint.answer.__name__]},
    }
    if endpoint.octets:
        answers["application/octet-stream"] = {
            "schema": {
                "type": "string",
                "format": "binary",
                "description": "positions of the matches, 64 bits, little-endian; -1 where new",
            }
        }
    by_status: dict[str, list[str]] = {}
    for code in codes:
        by_status.setdefault(str(CODES[code]), []).append(code)
    found["responses"] = {"200": {"description": "the answer", "content": answers}} | {
        status: {
            "description": ", ".join(sorted(names)),
            "content": {"application/json": {"schema": of["ErrorAnswer"]}},
        }
        for status, names in sorted(by_status.items())
    }
    return found
