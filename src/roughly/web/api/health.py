"""GET /health: whether the service can answer, for load balancers and supervisors."""

from __future__ import annotations

from roughly.web.api.endpoint import Answer, Asked, Endpoint
from roughly.web.view import View


class HealthRequest(Asked):
    """Nothing."""


class HealthAnswer(Answer):
    """The corpus can be read."""

    status: str
    documents: int


def run(view: View, asked: HealthRequest) -> HealthAnswer:
    """Looks at the corpus as every request does."""
    return HealthAnswer(status="ok", documents=len(view.corpus))


ENDPOINT = Endpoint(
    "GET", "/health", HealthRequest, HealthAnswer, run, "Whether the service can answer"
)
