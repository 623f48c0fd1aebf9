"""Four looks for HTML pages and one for plain text.

Every look shows the same blocks in the same order: title, site's top, headline, body, site's
bottom. So a page has the same words under every look, and only its markup, scripts, styles and
comments differ. What a look adds outside the blocks never counts as text.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache

from roughly.sample_web.prose import Article, Block, Mark
from roughly.sample_web.site import Site
from roughly.sample_web.style import PALETTES, ornament, style_sheet

DESIGNS = 4
OLD_DESIGN = 3  # tables and fonts, non-ASCII characters as numeric references


@dataclass(frozen=True, slots=True)
class Page:
    """An article at a URL of a site, in one look."""

    url: str
    site: Site
    article: Article
    form: str = (
        "html"  # html, text, bare (the body in a few tags), blank (no words), void (0 bytes)
    )
    design: int = 0
    status: Block | None = None  # what changes at every fetch
    session: str = ""  # appended to the links
    shown_url: str = ""  # a mirror shows the URL of its original

    def blocks(self) -> list[Block]:
        """Everything that a reader of the page sees, in order."""
        article, site = self.article, self.site
        if self.form in ("blank", "void"):
            return []
        if self.form == "bare":
            return list(article.body)
        if self.form == "text":
            return [article.title, article.byline, *article.body, site.title_name]
        status = [self.status] if self.status else []
        return [
            article.title,
            site.title_name,
            *site.top,
            *status,
            article.title,
            article.byline,
            *article.body,
            *site.bottom,
        ]

    def marks(self) -> list[Mark]:
        """One mark for each word of the page."""
        return [mark for block in self.blocks() for mark in block.marks()]

    @property
    def content_type(self) -> str:
        """The media type that a server would declare."""
        return "text/plain; charset=utf-8" if self.form == "text" else "text/html; charset=utf-8"

    def content(self) -> bytes:
        """The bytes of the page."""
        if self.form == "text":
            return _text(self).encode()
        if self.form == "bare":
            return _bare(self).encode()
        if self.form == "blank":
            return _blank(self).encode()
        if self.form == "void":
            return b""
        return (_old(self) if self.design == OLD_DESIGN else _modern(self)).encode()


def _escape(text: str) -> str:
    return text.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")


def _wrapped(text: str, width: int) -> str:
    """Lines of at most `width` characters, broken at spaces only."""
    lines: list[str] = []
    line = ""
    for word in text.split(" "):
        if line and len(line) + 1 + len(word) > width:
            lines.append(line)
            line = word
        else:
            line = f"{line} {word}" if line else word
    return "\n".join([*lines, line])


def _decorated(text: str, at: int, topic: str) -> str:
    """Inline markup around some words of every third paragraph."""
    if at % 3 != 1:
        return text
    parts = text.split(" ", 6)
    if len(parts) < 7:
        return text
    inner = " ".join(parts[3:6])
    tag = f'<a href="/{topic}/index.html">{inner}</a>' if at % 2 else f"<em>{inner}</em>"
    return " ".join([*parts[:3], tag, parts[6]])


def _body(blocks: Sequence[Block], topic: str) -> str:
    parts: list[str] = []
    listed = False
    for at, block in enumerate(blocks):
        text = _decorated(_escape(block.text), at, topic)
        if (block.kind == "li") != listed:
            listed = not listed
            parts.append("<ul>" if listed else "</ul>")
        if block.kind == "h":
            parts.append(f"<h2>{text}</h2>")
        elif block.kind == "li":
            parts.append(f"  <li>{text}</li>")
        elif block.kind == "q":
            parts.append(f"<blockquote><p>{text}</p></blockquote>")
        else:
            parts.append(f"<p>{text}</p>")
    if listed:
        parts.append("</ul>")
    return "\n".join(parts)


def _links(site: Site) -> list[str]:
    items = [block.text for block in site.top if block.kind == "nav"]
    hrefs = ["/", "/articles.html", "/calendar.html", "/members.html", "/contact.html"]
    return [f'<a href="{href}">{item}</a>' for href, item in zip(hrefs, items, strict=True)]


@lru_cache(maxsize=2048)
def _shell(site: Site, design: int) -> tuple[str, str, str]:
    """What surrounds title and article on the pages of a site: head, top, bottom."""
    style = style_sheet(design, site.palette)
    name, motto = site.top[0].text, site.top[1].text
    language = site.language
    direction = ' dir="rtl"' if language.direction == "rtl" else ""
    head = (
        f'<!DOCTYPE html>\n<html lang="{language.code}"{direction}>\n<head>\n'
        '<meta charset="utf-8">\n'
        '<meta name="viewport" content="width=device-width, initial-scale=1">\n'
    )
    masthead = (
        f'<div class="name">{_escape(name)}</div>\n<div class="motto">{_escape(motto)}</div>\n'
    )
    script = (
        "<script>\n"
        "window.visits = window.visits || [];\n"
        f"visits.push(['site', '{site.host}'], ['page view']);\n"
        '</script>\n<noscript><img src="/pixel.gif" alt="">Please switch scripts on.</noscript>\n'
    )
    links = _links(site)
    foot = "\n".join(f"<p>{_escape(block.text)}</p>" for block in site.bottom)
    if design == 2:
        items = "\n".join(f"<li>{link}</li>" for link in links)
        top = (
            f"<style>{style}</style>\n</head>\n<body>\n<aside>\n{ornament(site.number)}\n"
            f"{masthead}<nav><ul>\n{items}\n"
            '</ul></nav>\n</aside>\n<div class="content">\n'
        )
        bottom = f"<footer>\n{foot}\n</footer>\n</div>\n{script}</body>\n</html>\n"
    else:
        sheet, end = ('<div class="sheet">\n', "</div>\n") if design == 0 else ("", "")
        top = (
            f"<style>{style}</style>\n</head>\n<body>\n{sheet}<header>\n"
            f"{ornament(site.number)}\n{masthead}<nav>\n"
            + "\n".join(links)
            + "\n</nav>\n</header>\n"
        )
        bottom = f"<footer>\n{foot}\n</footer>\n{end}{script}</body>\n</html>\n"
    return head, top, bottom


def _modern(page: Page) -> str:
    site, article = page.site, page.article
    head, top, bottom = _shell(site, page.design)
    title, name = _escape(article.title.text), _escape(site.name)
    status = f'<p class="status">{_escape(page.status.text)}</p>\n' if page.status else ""
    html = (
        f"{head}<title>{title} \u2013 {name}</title>\n"
        f'<link rel="canonical" href="{_escape(page.shown_url or page.url)}">\n'
        f'<meta name="description" content="{title}">\n'
        f"{top}{status}<article>\n<h1>{title}</h1>\n"
        f'<div class="byline">{_escape(article.byline.text)}</div>\n'
        f"{_body(article.body, site.topic)}\n</article>\n{bottom}"
    )
    return html.replace('.html"', f'.html?sid={page.session}"') if page.session else html


@lru_cache(maxsize=2048)
def _old_shell(site: Site) -> tuple[str, str]:
    back, _, ink, accent, tint = PALETTES[site.palette]
    links = " |\n".join(_links(site)).replace("<a href", "<A HREF").replace("</a>", "</A>")
    right = ' DIR="rtl"' if site.language.direction == "rtl" else ""
    top = (
        f'<BODY BGCOLOR="{back}" TEXT="{ink}" LINK="{accent}"{right}>\n'
        "<!-- made with Folio 3.2 for small sites -->\n"
        f'<CENTER><TABLE WIDTH="760" BORDER="0" CELLPADDING="14" BGCOLOR="#ffffff">\n'
        f'<TR><TD BGCOLOR="{tint}"><FONT SIZE="+3" COLOR="{accent}">'
        f"<B>{_escape(site.top[0].text)}</B></FONT><BR>\n"
        f"<I>{_escape(site.top[1].text)}</I></TD></TR>\n<TR><TD>[ {links} ]<HR>\n"
    )
    ends = "<BR>\n".join(_escape(block.text) for block in site.bottom)
    bottom = (
        f'<HR><ADDRESS><FONT SIZE="-1">{ends}</FONT></ADDRESS></TD></TR></TABLE></CENTER>\n'
        '<SCRIPT LANGUAGE="JavaScript"><!--\n'
        'document.title = document.title + " *";\n//--></SCRIPT>\n'
        "</BODY></HTML>\n"
    )
    return top, bottom


def _old(page: Page) -> str:
    site, article = page.site, page.article
    top, bottom = _old_shell(site)
    title = _escape(article.title.text)
    parts = [
        f"<HTML><HEAD><TITLE>{title} - {_escape(site.name)}</TITLE>\n</HEAD>\n",
        top,
        f"<P>{_escape(page.status.text)}\n" if page.status else "",
        f"<H1>{title}</H1>\n<P><I>{_escape(article.byline.text)}</I>\n",
    ]
    opening = {"h": "<H3>", "li": "<LI>", "q": "<BLOCKQUOTE><FONT COLOR=gray>"}
    closing = {"h": "</H3>", "q": "</FONT></BLOCKQUOTE>"}
    listed = False
    for block in article.body:
        if (block.kind == "li") != listed:
            listed = not listed
            parts.append("<UL>\n" if listed else "</UL>\n")
        text = _wrapped(_escape(block.text), 90)
        parts.append(f"{opening.get(block.kind, '<P>')}{text}{closing.get(block.kind, '')}\n")
    if listed:
        parts.append("</UL>\n")
    html = "".join([*parts, bottom])
    if page.session:
        html = html.replace('.html"', f'.html?sid={page.session}"')
    return html.encode("ascii", "xmlcharrefreplace").decode()


def _text(page: Page) -> str:
    article = page.article
    title = article.title.text
    parts = [f"{title}\n{'=' * len(title)}\n{article.byline.text}\n"]
    for block in article.body:
        if block.kind == "h":
            parts.append(f"\n{block.text}\n{'-' * len(block.text)}\n")
        elif block.kind == "li":
            parts.append(f"  * {block.text}\n")
        else:
            parts.append(f"\n{_wrapped(block.text, 72)}\n")
    return "".join([*parts, f"\n--\n{page.site.name}\n"])


def _bare(page: Page) -> str:
    lines = "".join(f"<p>{_escape(block.text)}</p>\n" for block in page.article.body)
    return f'<html><head><meta charset="utf-8"></head><body>\n{lines}</body></html>\n'


def _blank(page: Page) -> str:
    host = page.site.host
    return (
        '<html><head><meta charset="utf-8"><script>\n'
        f"location.replace('https://{host}/start.html'); // nothing to read here\n"
        '</script></head><body><img src="/splash.gif" alt="welcome"></body></html>\n'
    )
