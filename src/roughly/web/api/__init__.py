"""The JSON API, one file a topic; `endpoint.py` says what an endpoint is."""

from roughly.web.api import (
    add,
    changes,
    clusters,
    collapse,
    compare,
    documents,
    find,
    health,
    lost,
    seen,
)
from roughly.web.api.endpoint import Endpoint

ENDPOINTS: tuple[Endpoint, ...] = (
    find.ENDPOINT,
    seen.ENDPOINT,
    compare.ENDPOINT,
    documents.ENDPOINT,
    clusters.ALL,
    clusters.ONE,
    lost.ENDPOINT,
    changes.ENDPOINT,
    collapse.ENDPOINT,
    add.ENDPOINT,
    health.ENDPOINT,
)
