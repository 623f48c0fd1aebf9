"""A small site with the traps that crawlers meet, served on the loopback interface; crawls of it.

Its texts are made of invented words, so that pages which are not meant to be alike are far apart.
What is to be kept and what is a near duplicate of it follows from how the pages are made; that they
are so far apart in bits as this says is for the tests to hold, by the reference simhash.
"""

import json
import random
import re
import subprocess
import sys
import threading
from collections import Counter
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from functools import cache
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

ARTICLES = 6
VISITORS = 3  # Few counts, so that all distances can be looked at.
MONTHS = "January February March April May June July August September October November December"
_OTHER = {"feed.xml": "application/xml", "data.json": "application/json"}
ADDON = {"ADDONS": {"roughly.scrapy.NearDuplicates": 500}}


@cache
def prose(seed: str, words: int = 2500) -> str:
    """Invented words, the same for the same seed, in sentences. So many that a counter
    changes few bits."""
    draw = random.Random(f"0 {seed}")
    invented = [
        "".join(draw.choices("abdefgiklmnoprstu", k=draw.randint(4, 9))) for _ in range(words)
    ]
    return ". ".join(" ".join(invented[i : i + 12]) for i in range(0, words, 12)) + "."


def html(title: str, text: str, links: list[str], visitor: int) -> str:
    """The template of every page: a line of navigation, the text, a counter, the links."""
    anchors = "".join(f'<li><a href="{link}">more</a></li>' for link in links)
    return (
        f"<!doctype html><title>{title}</title><nav>Society of Bell Founders: news, members,"
        f" archive, contact</nav><h1>{title}</h1><p>{text}</p><ul>{anchors}</ul>"
        f"<footer>You are visitor {1000 + visitor} of this page</footer>"
    )


class Site:
    """The pages. `fetched` counts requests by path with query."""

    def __init__(self) -> None:
        self.fetched: Counter[str] = Counter()
        self._visitors: Counter[str] = Counter()
        self._guard = threading.Lock()
        self._draw = random.Random(7)

    def answer(self, target: str) -> tuple[int, dict[str, str], str]:
        """Status, headers and body for a path with query."""
        with self._guard:
            self.fetched[target] += 1
            session = f"{self._draw.getrandbits(64):016x}"
            path = target.partition("?")[0].strip("/")
            visitor = self._visitors[path] % VISITORS
            self._visitors[path] += 1
        name, _, rest = path.partition("/")
        if name == "moved":
            return 302, {"Location": f"/{rest}"}, ""
        if name == "plain":
            text = re.sub("<[^>]*>", " ", html("Article 0", prose("article 0"), ["#"], visitor))
            return 200, {"Content-Type": "text/plain; charset=utf-8"}, text
        if path in _OTHER:
            return 200, {"Content-Type": _OTHER[path]}, f"<text>{prose('article 0')}</text>"
        page = self.page(path, session)
        if page is None:
            return 404, {"Content-Type": "text/html"}, html("Not found", prose("lost"), [], 0)
        title, text, links = page
        return 200, {"Content-Type": "text/html"}, html(title, text, links, visitor)

    def page(self, path: str, session: str) -> tuple[str, str, list[str]] | None:
        """Title, text and links."""
        name, _, rest = path.partition("/")
        if name == "":
            # Scrapy takes the last one first.
            articles = [f"/article/{n}" for n in range(ARTICLES)]
            others = [
                "/calendar/2026/1",
                "/short/0",
                "/missing",
                "/listing/0",
                "/plain/0",
                "/feed.xml",
            ]
            traps = ["/mirror/article/0", "/edited/0", "/moved/article/1"]
            return "Home", prose("home"), [*traps, *others, "/data.json", *articles]
        if name == "article":
            # The same page under a new name with every visit, and from there again.
            return f"Article {rest}", prose(f"article {rest}"), [f"/{path}?session={session}"]
        if name == "mirror" and rest.startswith("article/"):
            number = int(rest.removeprefix("article/"))
            links = [f"/mirror/article/{number + 1}"] if number + 1 < ARTICLES else []
            return (
                f"Article {number}",
                prose(f"article {number}"),
                [*links, f"/only/mirror/{number}"],
            )
        if name == "edited":
            # One word of 2,500 is another; the next edition is another text altogether.
            text = prose("article 0").replace(prose("article 0").split()[30], "amendment", 1)
            if rest == "0":
                return "Article 0", text, ["/edited/1", "/only/edited"]
            return "Article 0", prose("rewritten"), ["/only/rewritten"]
        if name == "calendar":
            year, month = map(int, rest.split("/"))
            following = f"{year + month // 12}/{month % 12 + 1}"
            days = " ".join(map(str, range(1, 29)))
            text = f"{MONTHS.split()[month - 1]} {year} {days} {prose('calendar')}"
            return "Calendar", text, [f"/calendar/{following}"]
        if name == "short":
            return "Short", "Nothing here yet", ["/short/1", "/short/2", "/only/short"]
        if name == "listing":
            # Alike but for where they lead.
            number = int(rest)
            links = [f"/listing/{number + 1}"] if number < 3 else []
            return "Listing", prose("listing"), [*links, f"/listed/{number}"]
        if name in ("only", "listed"):
            return f"Only {rest}", prose(path), []
        return None


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    site: Site

    def do_GET(self) -> None:
        status, headers, body = self.site.answer(self.path)
        self.send_response(status)
        for name, value in headers.items():
            self.send_header(name, value)
        self.send_header("Content-Length", str(len(body.encode())))
        self.end_headers()
        self.wfile.write(body.encode())

    def log_message(self, *args: Any) -> None:
        pass


class _Server(ThreadingHTTPServer):
    def handle_error(self, request: Any, client_address: Any) -> None:
        """A crawl that is killed hangs up."""
        if not isinstance(sys.exception(), ConnectionError):
            super().handle_error(request, client_address)


@contextmanager
def served(site: Site) -> Iterator[str]:
    """The site's address, while inside."""
    handler = type("Handler", (_Handler,), {"site": site})
    server = _Server(("127.0.0.1", 0), handler)
    thread = threading.Thread(target=server.serve_forever, args=(0.05,))
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_port}"
    finally:
        server.shutdown()
        thread.join()
        server.server_close()


# A spider without a word about near duplicates: it follows every link. Prints stats and items.
PROGRAM = """
import json, sys
from scrapy import Spider, signals
from scrapy.crawler import CrawlerProcess
from scrapy.http import HtmlResponse

class Follow(Spider):
    name = "follow"

    def parse(self, response):
        yield {"url": response.url, "priority": response.request.priority, "flags": response.flags}
        if isinstance(response, HtmlResponse):
            for link in response.css("a::attr(href)").getall():
                yield response.follow(link)

items, start, settings = [], sys.argv[1], json.loads(sys.argv[2])
process = CrawlerProcess(settings, install_root_handler=True)
crawler = process.create_crawler(Follow)
def scraped(item):
    items.append(item)
crawler.signals.connect(scraped, signals.item_scraped)
process.crawl(crawler, start_urls=[start])
process.start()
print(json.dumps({"stats": crawler.stats.get_stats(), "items": items}, default=str))
"""
PLAIN = {
    "LOG_LEVEL": "INFO",
    "TELNETCONSOLE_ENABLED": False,
    "CONCURRENT_REQUESTS": 1,
    "DEPTH_LIMIT": 12,
    "RETRY_ENABLED": False,
}


def command(start: str, settings: Mapping[str, Any]) -> list[str]:
    return [sys.executable, "-c", PROGRAM, start, json.dumps({**PLAIN, **settings})]


def crawl(
    start: str, settings: Mapping[str, Any], folder: Path
) -> tuple[dict[str, Any], list[Any]]:
    """Stats and items of a crawl in a process of its own, whose log is left in the folder."""
    with (folder / "crawl.log").open("ab") as log:
        run = subprocess.run(
            command(start, settings), stdout=subprocess.PIPE, stderr=log, cwd=folder, timeout=300
        )
    assert run.returncode == 0, (folder / "crawl.log").read_text("utf-8")
    found = json.loads(run.stdout.splitlines()[-1])
    return found["stats"], found["items"]
