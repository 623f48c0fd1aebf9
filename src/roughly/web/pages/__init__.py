"""Every page of the service, one file each; `page.py` says what a page is."""

from roughly.web.pages.page import Page

PAGES: tuple[Page, ...] = ()
