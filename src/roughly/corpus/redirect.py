"""Redirect rules of web servers: old address to new, as nginx, Apache and Netlify read them.

Every rule matches one address exactly, whatever characters it has, and answers 301. Servers compare
decoded paths, so the old path is written decoded, unless what is asked for would look like another
path then, or like no text: there the request is compared as it was sent. The new address is sent to
browsers, so it stays encoded. A target on the same host is a path. Rules are grouped by host, as
each belongs into that host's configuration.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from itertools import groupby
from typing import TYPE_CHECKING, Literal
from urllib.parse import quote, unquote_to_bytes

from roughly.url import Address, is_url, split_url

if TYPE_CHECKING:
    from roughly.corpus.two_sweeps import Move

Server = Literal["nginx", "apache", "netlify"]
SERVERS: tuple[Server, ...] = ("nginx", "apache", "netlify")
# Moves that are less sure get no rule, unless another confidence is wanted.
SURE = 0.8

Rule = tuple[Address, str]  # what is asked for, and where to send


@dataclass(frozen=True, slots=True)
class Redirects:
    """Rules, and what has none."""

    text: str  # ends with a newline if there is any rule
    count: int
    no_urls: int  # ids that are no URLs
    same: int  # addresses of which only the scheme changed: a rule would lead to itself
    repeated: int  # addresses that have a rule already, in another spelling


def redirects_of(
    moves: Iterable[Move], server: Server, least: float = SURE, alive: Iterable[str] = ()
) -> Redirects:
    """The rules for pages that vanished and are elsewhere with at least that confidence. Of a page
    that was split no single place is the new one; a URL that is there answers for itself."""
    sure = [
        (move.old, move.new)
        for move in moves
        if move.new is not None
        and move.new != move.old
        and not move.reused
        and move.kind != "split"
        and move.confidence >= least
    ]
    return redirect_rules(sure, server, alive)


def without_redirect(
    moves: Sequence[Move], rules: Redirects, least: float = SURE
) -> list[tuple[int, str]]:
    """How many pages have no rule, and why: counts that are not 0, each with its reason."""
    places = {move.old: move for move in moves}.values()
    vanished = [move for move in places if not move.reused]
    told = [move for move in vanished if move.kind not in ("gone", "split")]
    reasons = [
        (sum(move.kind == "gone" for move in vanished), "gone"),
        (sum(move.kind == "split" for move in vanished), "split"),
        (sum(move.confidence < least for move in told), f"less sure than {least:g}"),
        (rules.no_urls, "whose ids are no URLs"),
        (rules.same, "that differ in the scheme alone"),
        (rules.repeated, "in another spelling"),
        (len(places) - len(vanished), "whose URL is there with another text"),
    ]
    return [(count, reason) for count, reason in reasons if count]


def redirect_rules(
    moves: Iterable[tuple[str, str]], server: Server, alive: Iterable[str] = ()
) -> Redirects:
    """The rules for (old, new) URLs. `alive` are URLs that are there: what has one of their paths
    with other parameters must not be sent away with it."""
    write: Callable[[list[Rule], set[str]], list[str]] = {
        "nginx": _nginx,
        "apache": _apache,
        "netlify": _netlify,
    }[server]
    moves = list(moves)
    addresses = [(_split(old), _split(new)) for old, new in moves if is_url(old) and is_url(new)]
    every = [(old, _target(old, new)) for old, new in addresses]
    every.sort(key=lambda rule: (_host(rule[0]), rule[0].path, rule[0].query or "", rule[1]))
    first = [rule for n, rule in enumerate(every) if not n or _asked(every[n - 1]) != _asked(rule)]
    rules = [(old, target) for old, target in first if target != _target(old, old)]
    present = [split_url(url) for url in alive if is_url(url) and "?" in url]
    lines: list[str] = []
    for host, some in groupby(rules, lambda rule: _host(rule[0])):
        own = list(some)
        # Paths of which parameters make several pages.
        several = {address.path for address in present if _host(address) == host}
        several |= {address.path for address, _ in own if address.query is not None}
        lines += [f"# {host}", *write(own, several)]
    return Redirects(
        "".join(f"{line}\n" for line in lines),
        len(rules),
        len(moves) - len(addresses),
        len(first) - len(rules),
        len(every) - len(first),
    )


def _asked(rule: Rule) -> tuple[str, str, str | None]:
    """What a server sees of an address."""
    return _host(rule[0]), rule[0].path, rule[0].query


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


def _decoded(path: str) -> str | None:
    """A path as a server compares it; None where only the request as it was sent tells: bytes that
    are no text, and slashes that part nothing."""
    if "%2F" in path or "%5C" in path:
        return None
    try:
        text = unquote_to_bytes(path).decode()
    except UnicodeDecodeError:
        return None
    return None if any(ord(sign) < 0x20 or ord(sign) == 0x7F for sign in text) else text


def _sent(text: str) -> str:
    """A regular expression for a path or parameters as browsers send them: escapes may be written
    with small letters."""
    digits = {sign: f"[{sign}{sign.lower()}]" for sign in "ABCDEF"}
    pieces = re.split(r"%([0-9A-F]{2})", text)
    for n in range(1, len(pieces), 2):
        pieces[n] = "%" + "".join(digits.get(sign, sign) for sign in pieces[n])
    return "".join(piece if n % 2 else _pattern(piece)[1:-1] for n, piece in enumerate(pieces))


def _nginx(rules: list[Rule], several: set[str]) -> list[str]:
    lines = []
    for address, target in rules:
        answer = f"return 301 {_quoted(target)};"
        plain = _decoded(address.path)
        if address.path not in several and plain is not None:
            lines.append(f"location = {_quoted(plain)} {{ {answer} }}")
            continue
        # Outside of any location, so that the path's other pages are served as before. Not "=":
        # there a dollar sign would begin a variable's name.
        end = _parameters(address) if address.path in several else r"(\?|$)"
        asked = "^" + _sent(address.path) + end
        lines.append(f"if ($request_uri ~ {_quoted(asked)}) {{ {answer} }}")
    return lines


def _parameters(address: Address) -> str:
    """The end of a regular expression: these parameters, or none."""
    return r"\??$" if not address.query else r"\?" + _sent(address.query) + "$"


def _quoted(text: str) -> str:
    return '"' + text.replace("\\", "\\\\").replace('"', '\\"') + '"'


def _apache(rules: list[Rule], several: set[str]) -> list[str]:
    lines = []
    for address, target in rules:
        plain = _decoded(address.path)
        alone = address.path not in several
        if plain is None:
            lines += _apache_request(address, target, alone)
        elif alone and "%" not in target:
            lines.append(f"RedirectMatch 301 {_quoted(_pattern(plain))} {_quoted(target)}")
        else:
            # RedirectMatch would encode the target once more.
            if not alone:
                asked = _raw(_pattern(address.query or ""))
                lines.append(f"RewriteCond %{{QUERY_STRING}} {asked}")
            # In a directory's own configuration the first slash is missing.
            lines.append(_rewrite("^/?" + _pattern(plain)[2:], target, alone))
    if any(line.startswith("Rewrite") for line in lines):
        lines.insert(0, "RewriteEngine On")
    return lines


def _apache_request(address: Address, target: str, alone: bool) -> list[str]:
    """By the line of the request."""
    end = r"(\?\S*)?" if alone else _parameters(address)[:-1]
    asked = rf"^\S+ {_sent(address.path)}{end} "
    # Apache answers 404 to such a slash before it looks at any rule.
    slash = "%2F" in address.path or "%5C" in address.path
    note = ["# this one needs AllowEncodedSlashes NoDecode"] if slash else []
    return [*note, f"RewriteCond %{{THE_REQUEST}} {_raw(asked)}", _rewrite("^", target, alone)]


def _rewrite(pattern: str, target: str, alone: bool) -> str:
    # Without a question mark at its end the old parameters would be handed on. NE: the target is
    # encoded already.
    end = "" if alone or "?" in target else "?"
    return f"RewriteRule {_raw(pattern)} {_raw(_literal(target) + end)} [R=301,L,NE]"


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
