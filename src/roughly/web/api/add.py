"""POST /api/add: documents for the corpus, added by the one writer before the answer comes."""

from __future__ import annotations

from typing import Annotated, Any

import msgspec

from roughly.corpus.growth import checked_date
from roughly.errors import RoughlyError
from roughly.web.api.endpoint import (
    Answer,
    Asked,
    ContentType,
    Endpoint,
    Parameters,
    check_method,
    decoded,
    media_type,
    unsupported,
)
from roughly.web.channel import Channel
from roughly.web.error import HttpError, http_error
from roughly.web.gate import JSON_HEADERS, Gate, Scope, Send, answer
from roughly.web.limit import Headers, Receive, read_body
from roughly.web.metric import ADDED, Metrics
from roughly.web.view import View


class NewDocument(msgspec.Struct, forbid_unknown_fields=True):
    """A document to add."""

    id: Annotated[str, msgspec.Meta(min_length=1)]
    content: str
    date: str | None = None
    category: str | None = None


class AddRequest(Asked):
    """Documents, and the date of those that have none."""

    documents: Annotated[list[NewDocument], msgspec.Meta(min_length=1)]
    date: str | None = None
    content_type: ContentType = "auto"


class AddAnswer(Answer):
    """What was added. `known`: of these, documents whose content was there before or came twice;
    `renamed`: whose id and date were taken; `there`: not added, for they are there already."""

    documents: int
    known: int
    renamed: int
    there: int
    skipped: dict[str, int]


class Add:
    """Answers it, as an ASGI application."""

    def __init__(self, channel: Channel | None, metrics: Metrics, number: int) -> None:
        self._channel = channel
        self._metrics = metrics
        self._number = number
        self._decoder = msgspec.json.Decoder(AddRequest)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        scope["counted"] = self._number
        check_method(scope, "POST")
        gate: Gate = scope["gate"]
        headers: Headers = scope["fields"]
        gate.check_token(headers)
        if self._channel is None:
            raise HttpError("busy", "writer: not there: it is being started", "ask again")
        body = await read_body(receive, headers, gate.limits)
        if (kind := media_type(headers)) != "application/json":
            raise unsupported(kind, False)
        question = await gate.work(scope, lambda: self._question(body, gate))
        counts = msgspec.msgpack.decode(await self._channel.call(question))
        self._metrics.add(ADDED, counts["documents"])
        view = gate.views.now()
        found = AddAnswer(**counts, parameters=msgspec.convert(view.parameters, Parameters))
        await answer(send, msgspec.json.encode(found), JSON_HEADERS)

    def _question(self, body: bytes, gate: Gate) -> tuple[list[dict[str, Any]], dict[str, Any]]:
        """Documents and options, as `Corpus.add` takes them."""
        asked: AddRequest = decoded(self._decoder, body)
        if len(asked.documents) > gate.limits.batch:
            raise HttpError(
                "too_large",
                f"documents: too many: {len(asked.documents):,}, wanted at most"
                f" {gate.limits.batch:,}",
                "send them in several requests",
            )
        try:
            date = checked_date(asked.date)
        except RoughlyError as error:
            raise http_error(error) from error
        options = {
            "date": date,
            "content_type": asked.content_type,
            "id_field": "id",
            "text_field": "text",
        }
        if any(each.date is not None for each in asked.documents):
            options["date_field"] = "date"
        field = _category_field(gate.views.now(), asked.documents)
        documents = [
            {"id": each.id, "text": each.content, "date": each.date}
            | ({} if field is None else {field: each.category})
            for each in asked.documents
        ]
        return documents, options


def _category_field(view: View, documents: list[NewDocument]) -> str | None:
    field = view.corpus.manifest.settings.condition.category_field
    if field is None and any(each.category is not None for each in documents):
        raise HttpError("bad_request", "category: the corpus keeps none", "leave it out")
    return field


ENDPOINT = Endpoint(
    "POST", "/api/add", AddRequest, AddAnswer, None, "Adds documents to the corpus", write=True
)
