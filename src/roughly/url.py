"""URLs: two spellings of one address become one.

`canonical_url` undoes what cannot change the meaning: case of scheme and host, default ports, user
names, escapes of plain characters, dots and doubled slashes in paths, the order of parameters, the
fragment. `loose_url` also undoes what rarely changes it: https, www, letter case, a slash at the
end, session numbers. Both accept anything, give ASCII, and leave alone what they made themselves.

Documents are looked up by `lookup_key`, which is loose; who finds several prefers the one whose
canonical form agrees. An id that is no URL is its own key. `host_of` tells the sites of a column of
ids.
"""

from __future__ import annotations

import re
import stringprep
import unicodedata
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    import pyarrow as pa

_DEFAULT_PORTS = {
    b"http": b"80",
    b"https": b"443",
    b"ws": b"80",
    b"wss": b"443",
    b"ftp": b"21",
    b"gopher": b"70",
}
_SPECIAL = frozenset([*_DEFAULT_PORTS, b"file"])
_SCHEME = re.compile(rb"([A-Za-z][A-Za-z0-9+.-]*):")
# What looks like a scheme but is the host of an address written without one.
_HOST_AND_PORT = re.compile(rb"(?:localhost|[A-Za-z0-9-]+(?:\.[A-Za-z0-9-]+)+):[0-9]+(?:[/?#]|$)")
_ESCAPE = re.compile(rb"%([0-9A-Fa-f]{2})")
# Most of the URLs of a crawl are as they should be: this says so at a glance. The host's last label
# begins with a letter, so it is no number; no port, no escape, no parameters, no dots or doubled
# slashes in the path.
_CLEAN = re.compile(
    r"https?://(?:[a-z0-9_-]+\.)*[a-z][a-z0-9-]*(?:/(?![./])[A-Za-z0-9_~!$'()*,;:@&=+-]"
    r"(?:[A-Za-z0-9_~!$'()*,;:@&=+.-]|/(?![./]))*|/)"
)
_URL = re.compile(r"\s*[A-Za-z][A-Za-z0-9+.-]*://")
# A URL up to the end of its authority, which must be plain to see: that alone tells the host.
_SERVER = r"^(?P<server>[A-Za-z][A-Za-z0-9+.-]*://[^/?#\\\x00-\x20]+)(?:[/?#]|\z)"
_CLEAN_SERVER = re.compile(r"https?://((?:[a-z0-9_-]+\.)*[a-z][a-z0-9-]*)(?::[0-9]*)?")


class Address(NamedTuple):
    """The parts of a URL, each in canonical form."""

    scheme: str
    host: str | None  # None where the URL has no place for one, as mailto:
    port: str  # empty where it is the scheme's own
    path: str
    query: str | None
    fragment: str | None

    def __str__(self) -> str:
        host = "" if self.host is None else f"//{self.host}"
        port = f":{self.port}" if self.port else ""
        query = "" if self.query is None else f"?{self.query}"
        fragment = "" if self.fragment is None else f"#{self.fragment}"
        return f"{self.scheme}:{host}{port}{self.path}{query}{fragment}"


def is_url(name: str) -> bool:
    """Whether this has a scheme and a place for a host."""
    return _URL.match(name) is not None


def canonical_url(url: str, *, fragment: bool = False) -> str:
    """The form that all spellings of one address share; `fragment` keeps what stands behind #."""
    if _CLEAN.fullmatch(url):
        return url
    parts = split_url(url)
    return str(parts if fragment else parts._replace(fragment=None))


def loose_url(url: str) -> str:
    """The form that addresses share which nearly always show the same page."""
    if _CLEAN.fullmatch(url) and "(" not in url and ";" not in url:
        host, _, path = url.partition("://")[2].lower().partition("/")
        return f"http://{_WWW.sub('', host)}/{path.rstrip('/')}"
    found = _loose(split_url(url))
    # What one session number hid may be another one.
    while (again := _loose(split_url(found))) != found:
        found = again
    return found


def _loose(parts: Address) -> str:
    host = parts.host and _WWW.sub("", parts.host)
    path = _PATH_SESSION.sub("", parts.path.lower())
    if len(path) > 1:
        path = path.rstrip("/") or "/"
    query = parts.query and "&".join(
        sorted(
            piece for piece in parts.query.lower().split("&") if piece and not _SESSION.match(piece)
        )
    )
    scheme = "http" if parts.scheme == "https" else parts.scheme
    port = "" if scheme == "http" and parts.port == "80" else parts.port
    return str(Address(scheme, host, port, path, query or None, None))


def lookup_keys(names: pa.Array) -> pa.Array:
    """The keys of a column of ids."""
    import pyarrow as pa

    return pa.array([lookup_key(name) for name in names.to_pylist()], pa.string())


def lookup_key(name: str) -> str:
    """What the table of names is sorted by: the loose form of a URL; any other id as it is."""
    return loose_url(name) if is_url(name) else name


def page_of(name: str) -> str:
    """What documents of one page share over time: the canonical URL; any other id as it is."""
    return canonical_url(name) if is_url(name) else name


def moved_site(page: str) -> str:
    """What a page keeps when its site goes to https, or to a name with or without www; of a page as
    `page_of` has it."""
    found = _SITE.match(page)
    return page if found is None else f"http://{page[found.end() :]}"


def server_of(name: str) -> str:
    """The host of a URL, with its port; empty if there is none."""
    if not is_url(name):
        return ""
    parts = split_url(name)
    return (parts.host or "") + (f":{parts.port}" if parts.port else "")


def host_of(ids: pa.Array) -> pa.Array:
    """The host of each id that is a URL with one, in canonical form and without its port; null for
    all others. Each server is looked at once, however many pages it has."""
    import pyarrow as pa
    import pyarrow.compute as pc

    ids = ids.cast(pa.string())
    if not pc.any(pc.match_substring(ids, "://")).as_py():
        return pa.nulls(len(ids), pa.string())
    servers = pc.extract_regex(ids, _SERVER).field("server").dictionary_encode()
    hosts = [_host_of_server(server) for server in servers.dictionary.to_pylist()]
    found = pa.DictionaryArray.from_arrays(servers.indices, pa.array(hosts, pa.string()))
    found = found.cast(pa.string())
    # What is left is no URL, or one that only its whole can tell.
    rest = pc.and_(pc.is_null(found), pc.match_substring(ids, "://"))
    if not pc.any(rest).as_py():
        return found
    singly = [host_of_url(id) for id in ids.filter(rest).to_pylist()]
    return pc.replace_with_mask(found, pc.fill_null(rest, False), pa.array(singly, pa.string()))


def _host_of_server(server: str) -> str | None:
    clean = _CLEAN_SERVER.fullmatch(server)
    return clean[1] if clean else split_url(server).host or None


def host_of_url(url: str) -> str | None:
    """The same for a single id."""
    return split_url(url).host or None if is_url(url) else None


_WWW = re.compile(r"^(?:www[0-9]*\.)+(?=.)")
_SITE = re.compile(r"https?://(?:www[0-9]*\.)?(?=[^/?])")
_SESSION = re.compile(
    r"(?:jsessionid=[0-9a-z$]{10,}|phpsessid=[0-9a-z]{16,}|sid=[0-9a-z]{16,}"
    r"|aspsessionid[a-z]{8}=[a-z]{16,}|cfid=[0-9]+|cftoken=[0-9a-z-]+)$"
)
_PATH_SESSION = re.compile(
    r"/\((?:[a-z]\([0-9a-z]{24}\))+\)(?=/)|/\([0-9a-z]{24}\)(?=/)|;jsessionid=[0-9a-z$.!-]{10,}$"
)


def split_url(url: str | bytes) -> Address:
    """The parts of a URL, or of an address without a scheme, which is one of the Web. Bytes may be
    in any encoding."""
    if isinstance(url, str) and _CLEAN.fullmatch(url):
        clean_scheme, _, clean_rest = url.partition("://")
        clean_host, _, clean_path = clean_rest.partition("/")
        return Address(clean_scheme, clean_host, "", f"/{clean_path}", None, None)
    raw = url if isinstance(url, bytes) else url.encode("utf-8", "surrogatepass")
    raw = raw.strip(bytes(range(0x21)))
    raw = raw.translate(None, b"\t\n\r")
    found = _SCHEME.match(raw)
    if found is None or _HOST_AND_PORT.match(raw):
        scheme, rest = b"http", raw
    else:
        scheme, rest = found[1].lower(), raw[found.end() :]
    special = scheme in _SPECIAL
    rest, hash_sign, fragment = rest.partition(b"#")
    rest, question_mark, query = rest.partition(b"?")
    if special:
        rest = rest.replace(b"\\", b"/")
    authority, path = _divide(rest, scheme)
    host, port = (None, "") if authority is None else _host_and_port(authority, scheme)
    while host == "" and scheme in _DEFAULT_PORTS and path.strip(b"/"):
        # As if there had been slashes only: that is what it looks like when it is written down.
        authority, path = _divide(path, scheme)
        host, port = _host_and_port(authority or b"", scheme)
    path = resolve_dots(path, special)
    if special:
        path = re.sub(rb"/+", b"/", path)
    shown = _encoded(_decoded(path, b"/\\?#"), b"#?").decode()
    if special:
        shown = _settled(shown)
    return Address(
        scheme.decode(),
        host,
        port,
        shown or ("/" if special else ""),
        _query(query) if question_mark else None,
        _encoded(_decoded(fragment, b""), b"#").decode() if hash_sign else None,
    )


def _settled(path: str) -> str:
    """What an escaped dot or slash brought to light, treated as if it had stood there."""
    while True:
        again = re.sub(r"/+", "/", resolve_dots(path.encode(), True).decode())
        if again == path:
            return path
        path = again


def _divide(rest: bytes, scheme: bytes) -> tuple[bytes | None, bytes]:
    """The authority, if there is one, and the path."""
    if scheme == b"file":
        slashes = len(rest) - len(rest.lstrip(b"/"))
        if slashes != 2:
            return b"", b"/" + rest.lstrip(b"/")
        rest = rest[2:]
    elif scheme in _SPECIAL:
        rest = rest.lstrip(b"/")  # however many were typed
    elif rest.startswith(b"//"):
        rest = rest[2:]
    else:
        return None, rest
    end = rest.find(b"/")
    return (rest, b"") if end < 0 else (rest[:end], rest[end:])


def _host_and_port(authority: bytes, scheme: bytes) -> tuple[str, str]:
    host = authority.rpartition(b"@")[2]  # whoever asks gets the same page
    port = b""
    found = re.search(rb":([0-9]*)$", host)
    if found and not host[: found.start()].endswith(b":"):
        host, port = host[: found.start()], found[1].lstrip(b"0") or found[1][:1]
    if port == _DEFAULT_PORTS.get(scheme):
        port = b""
    return canonical_host(host, scheme in _SPECIAL), port.decode()


def canonical_host(host: bytes, special: bool = True) -> str:
    """A host's name in lower case and punycode, or its number; of schemes that are not the Web's
    only what any host may have is done."""
    if host[:1] == b"[" and host[-1:] == b"]":
        number = _ip6(host[1:-1])
        if number is not None:
            return f"[{number}]"
    host = _decoded(host, b"")
    dotted = host
    if special:
        # Signs of other scripts may stand for those of an escape.
        while (again := _decoded(_punycode(host), b"")) != host:
            host = again
        dotted = re.sub(rb"\.+", b".", host).strip(b".")
    if dotted != host or b"." in host or host[:1].isdigit():
        stripped = dotted.strip(b".")
        number = "0.0.0.0" if host and not stripped else ip4(stripped.decode("latin-1"))
        if number is not None:
            return number
    return _encoded(dotted, b"#/:?@[]\\").decode()


def _punycode(host: bytes) -> bytes:
    try:
        text = host.decode()
    except UnicodeDecodeError:
        return host.lower()  # no name at all, yet the same one every time
    if text.isascii():
        return host.lower()
    # The tables of Unicode 3.2 are frozen in every Python, as names are in the DNS. Sharp s and
    # final sigma are letters of their own since 2010.
    text = "".join(sign for sign in text.lower() if not stringprep.in_table_b1(sign))  # invisible
    text = unicodedata.ucd_3_2_0.normalize("NFKC", text)
    text = re.sub("[\u3002\uff0e\uff61]", ".", text)
    if re.search(r"[\x00-,/:-@\[-^`{-\x7f]", text):
        return text.lower().encode("utf-8", "replace")  # no name that a DNS would know
    labels = [
        label.encode() if label.isascii() else b"xn--" + label.encode("punycode", "replace")
        for label in text.split(".")
    ]
    return b".".join(labels).lower()


def ip4(text: str) -> str | None:
    """The four numbers of an IPv4 address as browsers read them: one to four numbers, decimal,
    octal or hexadecimal, the last of which fills what is left. None if this is no such address."""
    parts = text.removesuffix(".").split(".")
    if len(parts) > 4:
        return None
    numbers = []
    for part in parts:
        found = re.fullmatch(r"0[xX]([0-9a-fA-F]*)|0([0-7]*)|([1-9][0-9]*)", part)
        if found is None or len(part) > 64:
            return None
        if found[1] is not None:
            numbers.append(int(found[1] or "0", 16))
        else:
            numbers.append(int(found[3]) if found[3] else int(found[2] or "0", 8))
    room = 256 ** (5 - len(numbers))
    if any(number > 255 for number in numbers[:-1]) or numbers[-1] >= room:
        return None
    value = numbers[-1]
    for place, number in enumerate(numbers[:-1]):
        value += number << (8 * (3 - place))
    return ".".join(str(value >> shift & 255) for shift in (24, 16, 8, 0))


def _ip6(text: bytes) -> str | None:
    import ipaddress

    try:
        return str(ipaddress.IPv6Address(text.decode("ascii")))
    except ValueError:
        return None


def resolve_dots(path: bytes, special: bool = True) -> bytes:
    """A path without steps to itself (.) and back (..). An escaped dot is one too."""
    if special:
        path = path.replace(b"\\", b"/")
    if not path.startswith(b"/"):
        return path
    kept: list[bytes] = []
    pieces = path[1:].split(b"/")
    for place, piece in enumerate(pieces):
        last = place == len(pieces) - 1
        plain = re.sub(rb"%2[eE]", b".", piece)
        if plain == b"..":
            if kept:
                kept.pop()
            if last:
                kept.append(b"")
        elif plain == b".":
            if last:
                kept.append(b"")
        else:
            kept.append(piece)
    return b"/" + b"/".join(kept)


def _decoded(text: bytes, kept: bytes) -> bytes:
    """Without escapes, however deep, but for those of bytes in `kept`, which mean something else
    when they are written plainly."""

    def plain(found: re.Match[bytes]) -> bytes:
        byte = bytes([int(found[1], 16)])
        return found[0].upper() if byte in kept else byte

    while b"%" in text:
        again = _ESCAPE.sub(plain, text)
        if again == text:
            break
        text = again
    return text


def _encoded(text: bytes, more: bytes) -> bytes:
    """With escapes for what is not printable ASCII, for lone percent signs and for bytes in `more`;
    an escape that `_decoded` has left is left too."""
    found: list[bytes] = []
    for place, byte in enumerate(text):
        one = bytes([byte])
        lone = byte == 0x25 and not _ESCAPE.match(text, place)
        found.append(
            b"%%%02X" % byte if byte <= 0x20 or byte >= 0x7F or lone or one in more else one
        )
    return b"".join(found)


def _query(query: bytes) -> str:
    """Parameters in order; & = and + are kept as they were written."""
    pieces = (_encoded(_decoded(piece, b"&=+#"), b"#") for piece in query.split(b"&"))
    return b"&".join(sorted(pieces)).decode()
