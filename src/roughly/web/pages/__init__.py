"""Every page of the service, one file each; `page.py` says what a page is."""

from roughly.web.pages import changes, history, job, lost, plan, simhash
from roughly.web.pages.cluster import CLUSTER, CLUSTER_OF
from roughly.web.pages.compare import COMPARE
from roughly.web.pages.overview import CLUSTERS, OVERVIEW
from roughly.web.pages.page import Page
from roughly.web.pages.search import SEARCH

PAGES: tuple[Page, ...] = (
    *(OVERVIEW, CLUSTERS, SEARCH, CLUSTER, CLUSTER_OF, COMPARE),
    *(*lost.PAGES, *history.PAGES, *changes.PAGES, *simhash.PAGES, *plan.PAGES, *job.PAGES),
)
