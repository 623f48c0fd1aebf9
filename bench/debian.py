"""`python -m bench.debian`: a real corpus, the texts that Debian packages carry about themselves.

Copyright files, changelogs, manual pages and documentation, text and HTML, as one JSON Lines file
{"id": "package/path", "text": ...}: what they have in common, licences, templates, versions of one
text, is what near duplicates are in practice, and nothing is taken out. Packages come through
apt-get, group by group, and go when they are read; a group that is done stays, so a run that was
interrupted goes on. The order depends on the names of the packages alone, so the same archive gives
the same file. A report goes to standard error.
"""

import argparse
import gzip
import hashlib
import json
import re
import subprocess
import sys
import tarfile
import tempfile
import zlib
from collections.abc import Iterator, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from dataclasses import dataclass
from io import BytesIO
from itertools import islice
from pathlib import Path
from typing import IO

# A group: many small packages, for their copyright files and manual pages, and some of
# documentation. The sizes keep a group's download around 5 MB.
SMALL, DOCUMENTATION = 40, 6
SMALL_BYTES, DOCUMENTATION_BYTES = 40_000, 1_500_000
# One package with ten thousand pages of one template would be most of the corpus.
DOCUMENTS_OF_PACKAGE = 80
# Documents of 12 kB on average. Longer ones are lists and tables rather than texts.
LONGEST_BYTES = 200_000
FOLDERS = ("usr/share/doc/", "usr/share/man/")
NO_TEXT = re.compile(
    r"\.(png|gif|jpe?g|svgz?|ico|bmp|webp|eps|ps|pdf|dvi|djvu|od[tspg]|docx?|js|css|map|json|ya?ml"
    r"|xml|xsl|inv|tag|qch|qhp|dot|md5|idx|db|sqlite3?|woff2?|ttf|otf|pfb|jar|class|zip|bz2|xz|zst"
    r"|tar|tgz|wav|mp3|ogg|mid|so|o|a|pyc|mo|gmo|vcf|fasta|fa|csv|dat|data)$",
    re.IGNORECASE,
)


@dataclass(frozen=True)
class Package:
    """What apt knows of a package."""

    name: str
    size: int  # of the archive, bytes
    section: str


def available() -> list[Package]:
    """Every package that could be had, sorted by name."""
    run = subprocess.run(
        ["apt-cache", "dumpavail"], check=True, capture_output=True, text=True, errors="replace"
    )
    return parsed(run.stdout)


def parsed(text: str) -> list[Package]:
    """The packages of what `apt-cache dumpavail` prints."""
    found: dict[str, Package] = {}
    for paragraph in text.split("\n\n"):
        fields = dict(re.findall(r"^(Package|Size|Section): (.*)$", paragraph, re.MULTILINE))
        if "Package" in fields and fields.get("Size", "").isdigit():
            name = fields["Package"]
            found[name] = Package(name, int(fields["Size"]), fields.get("Section", ""))
    return [found[name] for name in sorted(found)]


def groups(packages: Sequence[Package]) -> Iterator[list[str]]:
    """Names to fetch together, in an order that mixes the alphabet and never changes."""

    def mixed(chosen: Iterator[Package]) -> Iterator[str]:
        names = (package.name for package in chosen)
        return iter(sorted(names, key=lambda name: (zlib.crc32(name.encode()), name)))

    documentation = mixed(
        package
        for package in packages
        if package.section.endswith("doc") and package.size <= DOCUMENTATION_BYTES
    )
    small = mixed(
        package
        for package in packages
        if not package.section.endswith("doc") and package.size <= SMALL_BYTES
    )
    while group := [*islice(documentation, DOCUMENTATION), *islice(small, SMALL)]:
        yield sorted(group)


def download(names: Sequence[str], folder: Path) -> list[Path]:
    """The archives of these packages; what cannot be had is left out."""
    command = ["apt-get", "-qq", "-o", "Acquire::Retries=2", "download"]
    run = subprocess.run([*command, *names], cwd=folder, capture_output=True, text=True)
    archives = sorted(folder.glob("*.deb"))
    if not archives:
        raise SystemExit(
            f"apt-get download: failed for all of {len(names)} packages:"
            f" {run.stderr.strip()[-500:]}\nhint: apt-get update"
        )
    return archives


def documents(archive: Path) -> Iterator[tuple[str, str]]:
    """Name in the package and text of every document in it, sorted by name."""
    command = ["dpkg-deb", "--fsys-tarfile", str(archive)]
    with subprocess.Popen(command, stdout=subprocess.PIPE) as process:
        stream = process.stdout
        assert stream is not None
        found = sorted(islice(texts(stream), DOCUMENTS_OF_PACKAGE))
        while stream.read(1 << 20):  # to its end, or dpkg-deb complains
            pass
    yield from found


def texts(stream: IO[bytes]) -> Iterator[tuple[str, str]]:
    """Name and text of the documents in a tar file that is read once."""
    with tarfile.open(fileobj=stream, mode="r|", bufsize=1 << 20) as archive:
        for member in archive:
            name = member.name.removeprefix("./").removeprefix("/")
            if not member.isfile() or not name.startswith(FOLDERS):
                continue
            if NO_TEXT.search(name.removesuffix(".gz")) or member.size > LONGEST_BYTES:
                continue
            file = archive.extractfile(member)
            text = readable(file.read()) if file else None
            if text:
                yield name, text


def readable(data: bytes) -> str | None:
    """The text of a file, unpacked if it must be; None for what is binary, too long or empty."""
    if data.startswith(b"\x1f\x8b"):
        try:
            with gzip.GzipFile(fileobj=BytesIO(data)) as file:
                data = file.read(LONGEST_BYTES + 1)
        except (OSError, EOFError, zlib.error):
            return None
    if len(data) > LONGEST_BYTES or b"\0" in data:
        return None
    text = data.decode("utf-8", "replace")
    return text if text.strip() else None


def fetch_group(names: Sequence[str], part: Path) -> None:
    """Writes the documents of these packages; nothing of the packages stays."""
    with tempfile.TemporaryDirectory(prefix="packages-", dir=part.parent) as folder:
        temporary = part.with_suffix(".tmp")
        with temporary.open("w", encoding="utf-8") as output:
            for archive in download(names, Path(folder)):
                package = archive.name.partition("_")[0]
                for name, text in documents(archive):
                    row = {"id": f"{package}/{name}", "text": text}
                    output.write(json.dumps(row, ensure_ascii=False) + "\n")
                archive.unlink()
        temporary.rename(part)


def measured(part: Path) -> tuple[int, int]:
    """Documents and bytes of a part."""
    data = part.read_bytes()
    return data.count(b"\n"), len(data)


def fetch(folder: Path, documents_wanted: int, bytes_wanted: int, clients: int) -> Path:
    """Fetches groups until both are reached and puts the parts together in their order."""
    parts = folder / "parts"
    parts.mkdir(parents=True, exist_ok=True)
    todo = enumerate(groups(available()))
    sizes: dict[int, tuple[int, int]] = {}
    running: dict[Future[None], int] = {}

    def path(number: int) -> Path:
        return parts / f"{number:05}.jsonl"

    def enough() -> int | None:
        """How many of the first parts are enough, once they are."""
        rows = size = 0
        for number in range(len(sizes)):
            if number not in sizes:
                return None
            rows, size = rows + sizes[number][0], size + sizes[number][1]
            if rows >= documents_wanted and size >= bytes_wanted:
                return number + 1
        return None

    with ThreadPoolExecutor(clients) as pool:
        following = next(todo, None)
        while (last := enough()) is None and (following or running):
            while following and len(running) < clients:
                number, names = following
                following = next(todo, None)
                if path(number).is_file():
                    sizes[number] = measured(path(number))
                    break  # it may be enough
                running[pool.submit(fetch_group, names, path(number))] = number
            else:
                for future in wait(running, return_when=FIRST_COMPLETED).done:
                    number = running.pop(future)
                    future.result()
                    sizes[number] = measured(path(number))
                rows, size = (sum(column) for column in zip(*sizes.values(), strict=True))
                print(
                    f"{len(sizes)} groups: {rows:,} documents, {size:,} bytes",
                    file=sys.stderr,
                    flush=True,
                )
    last = len(sizes) if last is None else last
    corpus = folder / "corpus.jsonl"
    temporary = corpus.with_suffix(".tmp")
    with temporary.open("wb") as output:
        for number in range(last):
            output.write(path(number).read_bytes())
    return temporary.rename(corpus)


def main(argv: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(
        prog="python -m bench.debian",
        description="Fetches texts of Debian packages as FOLDER/corpus.jsonl.",
        allow_abbrev=False,
    )
    parser.add_argument("folder", nargs="?", type=Path, default=Path("build/debian"))
    parser.add_argument("--documents", type=int, default=100_000, help="at least so many")
    parser.add_argument("--megabytes", type=int, default=400, help="and so much JSON Lines")
    parser.add_argument("--clients", type=int, default=4, help="apt-get commands at a time")
    arguments = parser.parse_args(argv)
    corpus = fetch(
        arguments.folder, arguments.documents, arguments.megabytes * 1_000_000, arguments.clients
    )
    rows, size = measured(corpus)
    digest = hashlib.blake2b(corpus.read_bytes(), digest_size=8).hexdigest()
    print(f"{corpus}: {rows:,} documents, {size:,} bytes, digest {digest}", file=sys.stderr)
    return 0


if __name__ == "__main__":
    sys.exit(main())
