"""HTML pages around texts, with about as much markup as the web has: text is a third of the bytes.

A page has what real ones have and what a stripper must get past: a head of links and metadata,
style sheets, scripts with comparisons and strings of markup, JSON, comments, deep lists of links
with long attributes, inline elements, images, SVG and character references. Sites differ in their
style sheets, scripts and class names; pages of a site differ in everything else.
"""

from functools import cache
from html import escape
from random import Random

from bench.text import english_vocabulary

SITES = 40


def _words(random: Random, count: int) -> str:
    return " ".join(english_vocabulary().draw(random, count))


def _name(random: Random, length: int = 8) -> str:
    return "".join(random.choices("abcdefghijklmnopqrstuvwxyz0123456789-_", k=length)).strip("-_")


def _integer(random: Random, low: int, high: int) -> int:
    return low + int(random.random() * (high - low + 1))


class Site:
    """What the pages of a site have in common."""

    def __init__(self, number: int) -> None:
        random = Random(5000 + number)
        self.name = _words(random, 2).title()
        self.host = _name(random, 12)
        self.classes = [_name(random, _integer(random, 4, 22)) or "c" for _ in range(60)]
        self.style = "".join(self._rule(random) for _ in range(_integer(random, 5, 25)))
        self.script = "".join(self._statement(random) for _ in range(_integer(random, 4, 20)))
        self.menu = [_words(random, _integer(random, 1, 3)) for _ in range(_integer(random, 4, 14))]
        self.links_in_text = 0.004 + random.random() * 0.012

    def _rule(self, random: Random) -> str:
        chosen = random.choices(self.classes, k=2)
        colour = f"#{int(random.random() * (1 << 24)):06x}"
        return (
            f".{chosen[0]} > .{chosen[1]}:hover,\n.{chosen[1]}::before {{ color: {colour};"
            f" margin: 0 {_integer(random, 1, 40)}px; content: '<'; }}\n"
        )

    def _statement(self, random: Random) -> str:
        one, two, three = (_name(random, 6) for _ in range(3))
        forms = (
            f'window["{one}"]=window["{one}"]||[];'
            f'if(a<b&&c>{_integer(random, 1, 99)}){{d("{two}")}}\n',
            f'document.write("<div class=\\"{one}\\">"+{_integer(random, 1, 9999)}+"<\\/div>");\n',
            f"var t{_integer(random, 1, 999)}=function(e){{return e&&e.x<{_integer(random, 1, 99)}"
            f'?"{two}":"{three}"}};// {one} </p>\n',
            f'(function(i,s){{i["{three}"]=s;s.async=1;s.src="//cdn.{one}.example/{two}.js"}})(window,{{}});\n',
        )
        return random.choices(forms)[0]


@cache
def _site(number: int) -> Site:
    return Site(number)


def _link(random: Random, site: Site, label: str) -> str:
    first, second = random.choices(site.classes, k=2)
    return (
        f'<a class="{first} {second}" href="https://www.{site.host}.example/{_name(random, 7)}/'
        f'{_name(random, 20)}.html?id={_integer(random, 1, 99999)}&amp;ref=nav"'
        f' data-track="{_name(random, 10)}" title="{label} &gt; more">{label}</a>'
    )


def _paragraph(random: Random, site: Site, text: str) -> str:
    parts: list[str] = []
    for word in text.split(" "):
        chance = random.random()
        shown = escape(word, quote=chance < 0.5)
        if chance < site.links_in_text:
            shown = _link(random, site, shown)
        elif chance < 0.03:
            shown = f"<em>{shown}</em>"
        elif chance < 0.04:
            shown = f'<span class="{random.choices(site.classes)[0]}">{shown}</span>&nbsp;&mdash;'
        elif chance < 0.042:
            shown += "&#8217;s &eacute;t&#xe9;"
        parts.append(shown)
    return f'<p class="{random.choices(site.classes)[0]}">{" ".join(parts)}</p>\n'


def _picture(random: Random, site: Site) -> str:
    source = f"https://img.{site.host}.example/{_name(random, 16)}"
    return (
        f'<figure><img src="{source}-640.jpg" srcset="{source}-320.jpg 320w,'
        f' {source}-1280.jpg 1280w" alt="{_words(random, 5)}" width="640"'
        f' height="{_integer(random, 200, 800)}" loading=lazy>'
        f"<figcaption>{_words(random, 9)}</figcaption></figure>\n"
    )


def _body(random: Random, site: Site, text: str) -> str:
    body: list[str] = []
    for at, part in enumerate(part for part in text.split("\n\n") if part.strip()):
        if at % 3 == 2:
            body.append(f"<h2 id={_name(random, 9)}>{_words(random, 4)}</h2>\n")
        body.append(_paragraph(random, site, part.strip()))
        if at % 5 == 3:
            body.append(_picture(random, site))
        if at % 4 == 1:
            body.append(f"<!-- {_name(random, 12)} slot={at} > <b> -->\n")
    return "".join(body)


def _related(random: Random, site: Site) -> str:
    return "".join(
        f"<div><div><h3>{_link(random, site, _words(random, 6))}</h3></div></div>\n"
        for _ in range(_integer(random, 2, 12))
    )


def small_page(text: str, number: int) -> str:
    """The text as a page with little around it: no style, no script, no menu."""
    random = Random(7000 + number)
    site = _site(number % SITES)
    title = escape(_words(random, 7).capitalize())
    return (
        '<!DOCTYPE html>\n<html lang="en"><head><meta charset="utf-8">'
        f"<title>{title}</title></head>\n"
        f"<body>\n<main>\n<h1>{title}</h1>\n{_body(random, site, text)}</main>\n"
        f"<aside>\n{_related(random, site)}</aside>\n</body></html>\n"
    )


def page(text: str, number: int) -> str:
    """The text as page `number`, which also decides on which site it stands."""
    random = Random(6000 + number)
    site = _site(number % SITES)
    title = escape(_words(random, 7).capitalize())
    menu = "".join(
        f'<li class="{random.choices(site.classes)[0]}">{_link(random, site, label)}</li>\n'
        for label in site.menu
    )
    body = _body(random, site, text)
    related = _related(random, site)
    json = (
        f'{{"@context":"https://schema.org","@type":"Article","headline":"{title}","author":'
        f'{{"@type":"Person","name":"{_words(random, 2)}"}},"url":"https://{site.host}.example/"}}'
    )
    icon = (
        f'<svg viewBox="0 0 24 24" aria-hidden="true"><path d="M{"12 2L4 7v10l8 5 " * 4}z"/></svg>'
    )
    return f"""<!DOCTYPE html>
<html lang="en">
<head>
<meta charset="utf-8">
<title>{title} | {site.name}</title>
<meta name="description" content="{_words(random, 20)}">
<meta property="og:title" content="{title}">
<link rel="stylesheet" href="https://static.{site.host}.example/{_name(random, 20)}.css">
<style>
{site.style}</style>
<script>
{site.script}</script>
<script type="application/ld+json">{json}</script>
</head>
<body class="{random.choices(site.classes)[0]}" data-page='{number}'>
<header>{icon}<nav><ul>
{menu}</ul></nav></header>
<main>
<h1>{title}</h1>
{body}</main>
<aside>
{related}</aside>
<footer><ul>
{menu}</ul><p>&copy; 2026 {site.name}. All rights reserved.</p></footer>
<noscript><img src="https://t.{site.host}.example/p.gif?x={_name(random, 10)}" alt=""></noscript>
<script>{site.script[: len(site.script) // 2].rpartition(chr(10))[0]}</script>
</body>
</html>
"""
