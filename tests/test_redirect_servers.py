"""Redirect rules, asked of nginx and Apache themselves: every old address must lead to the new one,
its escapes written once, and no other address anywhere."""

import http.client
import os
import shutil
import socket
import subprocess
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from roughly.corpus.redirect import redirect_rules
from tests.optional import optional

HOST = "http://s.org"
# Old address, new address as crawlers may write them, and what browsers must be told.
MOVES = [
    ("/plain", "/übel/ü ö", "/%C3%BCbel/%C3%BC%20%C3%B6"),
    ("/alt ü/seite", "/neu", "/neu"),
    ("/100%25", "/50%25", "/50%25"),
    ("/q?id=1", "/q1", "/q1"),
    ("/q?id=2&a=b", "/q2", "/q2"),
    ("/q?id=3", "/q?id=33", "/q?id=33"),
    ("/a$1/x", "/dollar$1", "/dollar%241"),
    ("/a+b", "/plus", "/plus"),
    ('/quote"x', "/qq", "/qq"),
    ("/back'y", "/quote'\"z", "/quote%27%22z"),
    ("/{curly}", "/c{d}", "/c%7Bd%7D"),
    ("/paren(1)", "/p(2)", "/p(2)"),
    ("/d?x=1;y=2", "/e?u=$host&v=a b", "/e?u=%24host&v=a%20b"),
    ("/Case", "/case2", "/case2"),
    ("/*star", "/:ph", "/:ph"),
    ("/sp%2Fl", "/sl%2Fash", "/sl%2Fash"),
    ("/%F1latin", "/lat%F1", "/lat%F1"),
    ("/hash%23x", "/to%23y", "/to%23y"),
    ("/q%3Fx", "/y%3Fz", "/y%3Fz"),
    ("/arr?a[]=1&b=%C3%BC", "/arrr", "/arrr"),
    ("/dir/", "/dirnew/", "/dirnew/"),
]
ALIVE = ["/q", "/keep", "/sp/l", "/case"]
# Nobody asked for these to be sent away.
OTHERS = ["/q", "/q?id=4", "/keep", "/plainx", "/xplain", "/case", "/dir", "/sp/l", "/%F2latin"]


def rules(server: str) -> str:
    moves = [(HOST + old, HOST + new) for old, new, _ in MOVES]
    found = redirect_rules(moves, server, [HOST + url for url in ALIVE])  # type: ignore[arg-type]
    assert found.count == len(MOVES)
    return found.text


def free_port() -> int:
    with socket.socket() as one:
        one.bind(("127.0.0.1", 0))
        return int(one.getsockname()[1])


def program(name: str) -> str:
    path = os.environ.get("PATH", "") + os.pathsep + "/usr/sbin"
    found = shutil.which(name, path=path)
    if found is None:
        optional("web servers", f"{name} is not installed")
    return found


def serving(command: list[str], port: int) -> Iterator[int]:
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT) as process:
        try:
            for _ in range(600):
                if process.poll() is not None:
                    assert process.stdout is not None
                    pytest.fail(process.stdout.read().decode())
                with socket.socket() as one:
                    if one.connect_ex(("127.0.0.1", port)) == 0:
                        break
                time.sleep(0.05)
            yield port
        finally:
            process.terminate()


@pytest.fixture(scope="module")
def nginx(tmp_path_factory: pytest.TempPathFactory) -> Iterator[int]:
    command, port = program("nginx"), free_port()
    folder = tmp_path_factory.mktemp("nginx")
    (folder / "rules").write_text(rules("nginx"), "utf-8")
    temporary = " ".join(
        f"{name}_temp_path tmp;" for name in ("client_body", "proxy", "fastcgi", "uwsgi", "scgi")
    )
    user = "user root;" if os.getuid() == 0 else ""
    (folder / "conf").write_text(
        f"pid {folder}/pid; error_log {folder}/errors; daemon off; {user} events {{}}\n"
        f"http {{ access_log off; {temporary}\n"
        f"server {{ listen 127.0.0.1:{port}; root {folder}; absolute_redirect off;\n"
        f"include {folder}/rules; }} }}\n"
    )
    yield from serving([command, "-p", str(folder), "-c", str(folder / "conf")], port)


@pytest.fixture(scope="module")
def apache(tmp_path_factory: pytest.TempPathFactory) -> Iterator[int]:
    command, port = program("apache2"), free_port()
    modules = Path("/usr/lib/apache2/modules")
    if not (modules / "mod_rewrite.so").exists():
        optional("web servers", "Apache's modules are not where Debian has them")
    folder = tmp_path_factory.mktemp("apache")
    folder.chmod(0o755)
    (folder / "rules").write_text(rules("apache"), "utf-8")
    loaded = "".join(
        f"LoadModule {name}_module {modules}/mod_{name}.so\n"
        for name in ("mpm_event", "authz_core", "alias", "rewrite")
    )
    user = "User www-data\nGroup www-data\n" if os.getuid() == 0 else ""
    (folder / "conf").write_text(
        f"ServerRoot {folder}\nPidFile {folder}/pid\nListen 127.0.0.1:{port}\nServerName s.org\n"
        f"{loaded}{user}ErrorLog {folder}/errors\nDocumentRoot {folder}\n"
        f"<VirtualHost *:{port}>\nServerName s.org\nAllowEncodedSlashes NoDecode\n"
        f"Include {folder}/rules\n</VirtualHost>\n"
    )
    yield from serving([command, "-X", "-f", str(folder / "conf")], port)


def ask(port: int, path: str) -> tuple[int, str | None]:
    """Status and where to go."""
    safe = "".join(
        f"%{byte:02X}" if byte <= 0x20 or byte >= 0x7F or byte in b'"{}' else chr(byte)
        for byte in path.encode()
    )
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=60)
    try:
        connection.request("GET", safe, headers={"Host": "s.org"})
        answer = connection.getresponse()
        return answer.status, answer.getheader("Location")
    finally:
        connection.close()


@pytest.mark.parametrize("server", ["nginx", "apache"])
def test_old_addresses_lead_to_new_ones(server: str, request: pytest.FixtureRequest) -> None:
    port = request.getfixturevalue(server)
    for old, _, location in MOVES:
        status, found = ask(port, old)
        found = found and found.removeprefix(HOST).removeprefix(f"{HOST}:{port}")
        assert (status, found) == (301, location), old
    # Small letters in escapes, and parameters that make no other page.
    assert ask(port, "/%f1latin")[0] == 301
    assert ask(port, "/sp%2fl")[0] == 301
    assert ask(port, "/Case?utm=1")[0] == 301
    for other in OTHERS:
        assert ask(port, other)[0] != 301, other
