"""Redirect rules of web servers: old address to new, as nginx, Apache and Netlify read them.

Every rule matches one address exactly, whatever characters it has, and answers 301. Servers compare
decoded paths, so the old path is written decoded; the new one is sent to browsers, so it stays
encoded. A target on the same host is a path. Rules are grouped by host, as each belongs into that
host's configuration.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from itertools import groupby
from typing import Literal
from urllib.parse import quote, unquote_to_bytes

from roughly.url import Address, is_url, split_url

Server = Literal["nginx", "apache", "netlify"]
SERVERS: tuple[Server, ...] = ("nginx", "apache", "netlify")

Rule = tuple[Address, str]  # what is asked for, and where to send


def redirect_rules(
    moves: Iterable[tuple[str, str]], server: Server, alive: Iterable[str] = ()
) -> str:
    """The rules for (old, new) URLs; ids that are no URLs are left out, and so are pages of which
    only the scheme changed: their rules would lead to themselves. `alive` are URLs that are there:
    what has one of their paths with other parameters must not be sent away with it. Ends with a
    newline if there is any rule."""
    write: Callable[[list[Rule], set[str]], list[str]] = {
        "nginx": _nginx,
        "apache": _apache,
        "netlify": _netlify,
    }[server]
    addresses = [(_split(old), _split(new)) for old, new in moves if is_url(old) and is_url(new)]
    rules = [(old, _target(old, new)) for old, new in addresses]
    rules.sort(key=lambda rule: (_host(rule[0]), rule[0].path, rule[0].query or "", rule[1]))
    rules = [
        (old, target)
        for n, (old, target) in enumerate(rules)
        if (not n or rules[n - 1][0] != old) and target != _target(old, old)
    ]
    present = [split_url(url) for url in alive if is_url(url) and "?" in url]
    lines: list[str] = []
    for host, some in groupby(rules, lambda rule: _host(rule[0])):
        own = list(some)
        # Paths of which parameters make several pages.
        several = {address.path for address in present if _host(address) == host}
        several |= {address.path for address, _ in own if address.query is not None}
        lines += [f"# {host}", *write(own, several)]
    return "".join(f"{line}\n" for line in lines)


def _split(url: str) -> Address:
    """The parts of a URL, its parameters as they stand there: their order is what servers see."""
    query = url.partition("#")[0].partition("?")[2]
    safe = re.sub(r"[^!-~]", lambda sign: quote(sign[0].encode("utf-8", "replace")), query)
    asked = safe if "?" in url.partition("#")[0] else None
    return split_url(url)._replace(query=asked, fragment=None)


def _host(address: Address) -> str:
    return (address.host or "") + (f":{address.port}" if address.port else "")


def _target(old: Address, new: Address) -> str:
    query = f"?{new.query}" if new.query is not None else ""
    # Signs that a configuration would take for its own.
    path = re.sub(r"""[\s"'$\\<>`{|}^;]""", lambda sign: f"%{ord(sign[0]):02X}", new.path + query)
    if _host(old) == _host(new) and {old.scheme, new.scheme} <= {"http", "https"}:
        return path
    return f"{new.scheme}://{_host(new)}{path}"


def _decoded(path: str) -> str:
    """A path as a server compares it. Bytes that are no UTF-8 stay encoded: configurations are
    text."""
    raw = unquote_to_bytes(path)
    try:
        text = raw.decode()
    except UnicodeDecodeError:
        return path
    return path if any(ord(sign) < 0x20 for sign in text) else text


def _nginx(rules: list[Rule], several: set[str]) -> list[str]:
    lines = []
    for address, target in rules:
        answer = f"return 301 {_quoted(target)};"
        if address.path not in several:
            lines.append(f"location = {_quoted(_decoded(address.path))} {{ {answer} }}")
            continue
        # Outside of any location, so that the path's other pages are served as before. Not "=":
        # there a dollar sign would begin a variable's name.
        asked = _pattern(address.path)[:-1] + _parameters(address)
        lines.append(f"if ($request_uri ~ {_quoted(asked)}) {{ {answer} }}")
    return lines


def _parameters(address: Address) -> str:
    """The end of a regular expression: these parameters, or none."""
    return r"\??$" if not address.query else r"\?" + _pattern(address.query)[1:]


def _quoted(text: str) -> str:
    return '"' + text.replace("\\", "\\\\").replace('"', '\\"') + '"'


def _apache(rules: list[Rule], several: set[str]) -> list[str]:
    lines = []
    for address, target in rules:
        pattern = _pattern(_decoded(address.path))
        if address.path not in several:
            lines.append(f"RedirectMatch 301 {_quoted(pattern)} {_quoted(target)}")
            continue
        # Without a question mark at its end the old parameters would be handed on. NE: the target
        # is encoded already.
        end = "" if "?" in target else "?"
        lines += [
            f"RewriteCond %{{QUERY_STRING}} {_raw(_pattern(address.query or ''))}",
            # In a directory's own configuration the first slash is missing.
            f"RewriteRule {_raw('^/?' + pattern[2:])} {_raw(_literal(target) + end)} [R=301,L,NE]",
        ]
    if any(line.startswith("Rewrite") for line in lines):
        lines.insert(0, "RewriteEngine On")
    return lines


def _raw(text: str) -> str:
    """In quotes, for directives that do not take backslashes away."""
    return '"' + text.replace('"', '\\"') + '"'


def _pattern(text: str) -> str:
    """A regular expression for exactly this text."""
    return "^" + re.sub(r"[.^$*+?()\[\]{}|\\#]", lambda sign: "\\" + sign[0], text) + "$"


def _literal(target: str) -> str:
    """A percent sign before a digit would refer to what a condition matched."""
    return target.replace("%", "\\%")


def _netlify(rules: list[Rule], several: set[str]) -> list[str]:
    lines = []
    for address, target in rules:
        # Stars and names behind colons match anything.
        path = address.path.replace("*", "%2A").replace("/:", "/%3A")
        path = re.sub(r"\s", "%20", path)
        words = [path]
        if address.query:
            words += [
                piece if "=" in piece else f"{piece}="
                for piece in address.query.split("&")
                if piece
            ]
        lines.append(" ".join([*words, target, "301"]))
    return lines
