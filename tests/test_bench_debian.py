"""The Debian corpus: which packages, which of their files, in which order; nothing is fetched."""

import gzip
import io
import json
import tarfile
import zlib
from collections.abc import Sequence
from pathlib import Path

import pytest

from bench import debian
from bench.debian import Package


def test_packages_are_parsed() -> None:
    listed = (
        "Package: zsh\nSection: shells\nSize: 12\nDescription: a shell\n Size: 99 is no field\n\n"
        "Package: zlib-doc\nSection: non-free/doc\nSize: 34\n\n"
        "Package: empty\nSection: doc\n\n"
        "Package: zsh\nSection: shells\nSize: 13\n"
    )
    assert debian.parsed(listed) == [
        Package("zlib-doc", 34, "non-free/doc"),
        Package("zsh", 13, "shells"),
    ]


def test_groups_mix_small_packages_and_documentation() -> None:
    packages = [Package(f"small{n}", 1000, "misc") for n in range(100)]
    packages += [Package(f"doc{n}", 1_000_000, "doc") for n in range(20)]
    packages += [Package("large", 50_000, "misc"), Package("larger-doc", 2_000_000, "doc")]
    found = list(debian.groups(packages))
    assert found == list(debian.groups(packages[::-1]))
    assert [len(group) for group in found] == [46, 46, 26, 2]
    assert sum(name.startswith("doc") for name in found[0]) == 6
    assert {name for group in found for name in group} == {
        package.name for package in packages if not package.name.startswith("larg")
    }
    order = sorted((f"small{n}" for n in range(100)), key=lambda name: zlib.crc32(name.encode()))
    assert set(order[:40]) == {name for name in found[0] if name.startswith("small")}


def archive(files: dict[str, bytes]) -> io.BytesIO:
    stream = io.BytesIO()
    with tarfile.open(fileobj=stream, mode="w") as tar:
        for name, data in files.items():
            member = tarfile.TarInfo(name)
            member.size = len(data)
            tar.addfile(member, io.BytesIO(data))
        link = tarfile.TarInfo("./usr/share/doc/a/link")
        link.type, link.linkname = tarfile.SYMTYPE, "copyright"
        tar.addfile(link)
    return io.BytesIO(stream.getvalue())


def test_texts_of_a_package() -> None:
    files = {
        "./usr/share/doc/a/copyright": b"GPL \xff",
        "./usr/share/doc/a/changelog.gz": gzip.compress("grün".encode()),
        "./usr/share/man/man1/a.1.gz": gzip.compress(b".TH A 1"),
        "./usr/share/doc/a/html/index.html": b"<p>text",
        "./usr/share/doc/a/logo.png": b"text in a picture",
        "./usr/share/doc/a/style.css.gz": gzip.compress(b"p {}"),
        "./usr/share/doc/a/binary": b"a\0b",
        "./usr/share/doc/a/blank": b" \n",
        "./usr/share/doc/a/broken.gz": gzip.compress(b"broken" * 99)[:30],
        "./usr/share/doc/a/long": b"x" * (debian.LONGEST_BYTES + 1),
        "./usr/share/doc/a/long.gz": gzip.compress(b"x" * (debian.LONGEST_BYTES + 1)),
        "./usr/bin/a": b"#!/bin/sh",
    }
    assert list(debian.texts(archive(files))) == [
        ("usr/share/doc/a/copyright", "GPL \ufffd"),
        ("usr/share/doc/a/changelog.gz", "grün"),
        ("usr/share/man/man1/a.1.gz", ".TH A 1"),
        ("usr/share/doc/a/html/index.html", "<p>text"),
    ]


@pytest.fixture
def fetched(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Packages of two documents each, 1,000 bytes and more; the names in order of fetching."""
    names: list[str] = []

    def fetch_group(group: Sequence[str], part: Path) -> None:
        names.extend(group)
        rows = [{"id": f"{name}/{n}", "text": "x" * 480} for name in group for n in range(2)]
        part.write_text("".join(json.dumps(row) + "\n" for row in rows), "utf-8")

    packages = [Package(f"small{n}", 1000, "misc") for n in range(1000)]
    monkeypatch.setattr(debian, "available", lambda: packages)
    monkeypatch.setattr(debian, "fetch_group", fetch_group)
    return names


def test_a_run_fetches_what_is_enough_and_no_more(fetched: list[str], tmp_path: Path) -> None:
    corpus = debian.fetch(tmp_path, 200, 1, 1)
    assert debian.measured(corpus)[0] == 240  # three groups of 40 packages
    assert len(fetched) == 120
    corpus = debian.fetch(tmp_path, 1, 500_000, 1)
    rows, size = debian.measured(corpus)
    assert size >= 500_000
    assert len(fetched) == rows // 2  # the first three groups were there already
    before = corpus.read_bytes()
    assert debian.fetch(tmp_path / "other", 1, 500_000, 4).read_bytes() == before


def test_everything_there_is_may_be_too_little(fetched: list[str], tmp_path: Path) -> None:
    corpus = debian.fetch(tmp_path, 10**9, 1, 3)
    assert debian.measured(corpus)[0] == 2000
