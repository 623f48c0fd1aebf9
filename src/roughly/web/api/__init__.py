"""The JSON API, one file a topic; `endpoint.py` says what an endpoint is."""

from roughly.web.api import find, health
from roughly.web.api.endpoint import Endpoint

ENDPOINTS: tuple[Endpoint, ...] = (health.ENDPOINT, find.ENDPOINT)
