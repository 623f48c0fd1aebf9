"""The sample web: the same bytes everywhere, and truth that holds when it is measured.

What is measured here is measured by a plain Python reading of the pages (a few regular expressions,
sets of words) that knows neither the generator nor the core; the core is then held against it.
"""

import hashlib
import html
import json
import re
import shlex
import statistics
import unicodedata
from collections import Counter
from pathlib import Path

import pytest

import roughly
from roughly.cli.main import main
from roughly.errors import DocumentError, ParameterError
from roughly.sample_web import MOVES, RELATIONS, Pair, SampleDocument, SampleWeb, sample_web

INVISIBLE = re.compile(r"<!--.*?-->|<(script|style|noscript)\b.*?</\1>", re.S | re.I)
INLINE = re.compile(r"</?(?:a|em|b|i|font|span)\b[^>]*>", re.I)
TAG = re.compile(r"<[^>]*>")
# Letters and digits, and the vowel signs of Devanagari; Chinese characters and kana one by one.
SOLO = "\u3005\u3041-\u3096\u30a1-\u30fa\u30fc\u4e00-\u9fff"
TOKEN = re.compile(f"[{SOLO}]|(?:(?![{SOLO}_])[\\w\u0900-\u0963])+")


def tokens(document: SampleDocument) -> list[str]:
    text = document.content.decode()
    if document.content_type.startswith("text/html"):
        text = html.unescape(TAG.sub(" ", INLINE.sub("", INVISIBLE.sub("", text))))
    folded = unicodedata.normalize("NFKD", unicodedata.normalize("NFKD", text).casefold())
    return TOKEN.findall("".join(c for c in folded if not unicodedata.combining(c)))


class Reader:
    """Shingle sets of a web's documents, each made once."""

    def __init__(self, web: SampleWeb) -> None:
        self.web = web
        self.tokens = {(d.url, d.date): tokens(d) for d in web.documents}

    def shingles(self, key: tuple[str, str], w: int) -> set[tuple[str, ...]]:
        words = self.tokens[key]
        if 0 < len(words) < w:
            return {tuple(words)}
        return set(zip(*(words[at:] for at in range(w)), strict=False))

    def resemblance(self, pair: Pair) -> float:
        a, b = self.shingles(pair.a, pair.w), self.shingles(pair.b, pair.w)
        return len(a & b) / len(a | b) if a or b else 1.0

    def containment(self, pair: Pair) -> float:
        a, b = self.shingles(pair.a, pair.w), self.shingles(pair.b, pair.w)
        return len(a & b) / len(a)


@pytest.fixture(scope="module")
def web() -> SampleWeb:
    return sample_web()


@pytest.fixture(scope="module")
def reader(web: SampleWeb) -> Reader:
    return Reader(web)


def digest(web: SampleWeb) -> str:
    total = hashlib.sha256()
    for document in web.iterate():
        for part in (document.url, document.date, document.content_type):
            total.update(part.encode() + b"\0")
        total.update(len(document.content).to_bytes(8, "little") + document.content)
    return total.hexdigest()


def test_golden(web: SampleWeb) -> None:
    """Benchmarks name this web: its bytes change only on purpose, here and in the change log."""
    assert digest(web) == "6f8c35726ef180c360e07414132c672d9234c264c3c49f7b7d504788a697acf7"
    truth = json.dumps(web.truth(), sort_keys=True)
    assert hashlib.sha256(truth.encode()).hexdigest() == (
        "df894f7ba929df2b550b5a04981d93253b99c8b0b1bdc38cd5144c79f4414c3a"
    )


def test_seeds_give_different_webs() -> None:
    webs = [sample_web(10, seed=seed, dates=("2026-01-01",)) for seed in (0, 1, 2**64 - 1)]
    assert len({digest(web) for web in webs}) == 3
    assert digest(webs[1]) == digest(sample_web(10, 1, ("2026-01-01",)))


def test_larger_web_begins_with_the_smaller(web: SampleWeb) -> None:
    assert set(sample_web(100).documents) < set(web.documents)


def test_iterate_gives_the_documents(web: SampleWeb) -> None:
    day = web.dates[1]
    assert list(web.iterate(day)) == [d for d in web.documents if d.date == day]
    assert [d.date for d in web.documents] == sorted(d.date for d in web.documents)


@pytest.mark.parametrize("pages", [1, 2, 7, 99, 100, 101, 345])
def test_first_sweep_has_as_many_pages_as_asked(pages: int) -> None:
    found = sample_web(pages)
    urls = [document.url for document in found.iterate(found.dates[0])]
    assert len(urls) == len(set(urls)) == pages


def test_urls_are_unique_within_a_sweep(web: SampleWeb) -> None:
    keys = [(document.url, document.date) for document in web.documents]
    assert len(keys) == len(set(keys))
    assert len({document.path for document in web.documents}) == len(keys)


def test_sizes_are_realistic(web: SampleWeb) -> None:
    sizes = [len(document.content) for document in web.documents]
    assert 2_000 < statistics.median(sizes) < 9_000
    assert min(sizes) == 0
    assert max(sizes) > 20_000
    assert sum(size < 1_000 for size in sizes) > len(sizes) / 100


def test_hosts_and_languages(web: SampleWeb) -> None:
    hosts = {document.url.split("/")[2] for document in web.documents}
    assert len(hosts) > 25
    assert all(host.endswith(".example") for host in hosts)
    text = b"".join(document.content for document in web.documents)
    assert set(re.findall(rb'<html lang="(\w+)"', text)) == {
        code.encode() for code in ("en", "de", "fr", "ru", "el", "ja", "ar", "hi")
    }
    kinds = Counter(document.content_type for document in web.documents)
    assert kinds.keys() == {"text/html; charset=utf-8", "text/plain; charset=utf-8"}


def test_every_relation_and_every_move_is_there() -> None:
    small = sample_web(100)
    assert {pair.relation for pair in small.pairs} == RELATIONS.keys()
    assert {move.kind for move in small.moves} == MOVES.keys()


def test_truth_holds(web: SampleWeb, reader: Reader) -> None:
    for pair in web.pairs:
        low, high = pair.resemblance
        assert low <= reader.resemblance(pair) <= high, pair
        for one, promised in (
            (pair, pair.containment_ab),
            (Pair(pair.b, pair.a, "", "", pair.w, (0, 1), None, None), pair.containment_ba),
        ):
            if promised is not None:
                assert promised[0] <= reader.containment(one) <= promised[1], pair


@pytest.mark.parametrize(("seed", "w"), [(1, 5), (2, 10), (3, 3)])
def test_truth_holds_for_other_seeds_and_widths(seed: int, w: int) -> None:
    other = sample_web(100, seed)
    reader = Reader(other)
    for pair in other.pairs_at(w):
        low, high = pair.resemblance
        # In three words two texts meet by chance more often than the ranges allow for.
        slack = 0.1 if w < 5 else 0.0
        assert low <= reader.resemblance(pair) <= high + slack, pair


def test_ranges_are_narrow_enough_to_say_something(web: SampleWeb) -> None:
    widths = [high - low for low, high in (pair.resemblance for pair in web.pairs)]
    assert statistics.median(widths) < 0.15


def test_core_measures_what_the_plain_reading_measures(web: SampleWeb, reader: Reader) -> None:
    for pair in web.pairs:
        a, b = web.document(*pair.a), web.document(*pair.b)
        assert roughly.resemblance(a.content, b.content, w=5) == reader.resemblance(pair), pair


def test_edits_have_the_resemblance_of_theory(web: SampleWeb, reader: Reader) -> None:
    """A shingle of five words survives with probability (1 - p)^5 when a share p is replaced."""
    for pair in web.pairs:
        share = re.fullmatch(r"(\d+)% of the words replaced", pair.detail)
        if share and "/ja/" not in pair.a[0]:
            survive = (1 - int(share[1]) / 100) ** 5
            # Titles and boilerplate are not edited, and short words are never replaced.
            assert abs(reader.resemblance(pair) - survive / (2 - survive)) < 0.13, pair


def test_identical_and_reformatted_pages(web: SampleWeb, reader: Reader) -> None:
    for pair in web.pairs:
        a, b = web.document(*pair.a), web.document(*pair.b)
        if pair.relation == "identical":
            assert a.content == b.content
        if pair.relation == "reformatted":
            assert a.content != b.content or a.url != b.url
            assert reader.tokens[pair.a] == reader.tokens[pair.b]
        if pair.relation == "session":
            assert a.content != b.content


def test_pages_that_are_no_pair_do_not_resemble() -> None:
    """So clusters at 0.5 are known: what the pairs of a sweep link, and nothing else."""
    small = sample_web(100, dates=("2026-01-01",))
    reader = Reader(small)
    group = {(document.url, document.date): at for at, document in enumerate(small.documents)}
    for pair in small.pairs:
        old, new = group[pair.a], group[pair.b]
        group = {key: new if number == old else number for key, number in group.items()}
    sets = {key: reader.shingles(key, 5) for key in group}
    keys = [key for key in sets if sets[key]]
    for at, one in enumerate(keys):
        for other in keys[:at]:
            if group[one] != group[other]:
                common = len(sets[one] & sets[other])
                assert common < 0.3 * (len(sets[one]) + len(sets[other]) - common), (one, other)


def test_moves_tell_every_page(web: SampleWeb) -> None:
    for start, end in zip(web.dates, web.dates[1:], strict=False):
        before = {document.url: document.content for document in web.iterate(start)}
        after = {document.url: document.content for document in web.iterate(end)}
        moves = [move for move in web.moves if (move.from_date, move.to_date) == (start, end)]
        assert Counter(move.old for move in moves if move.old) == Counter(before.keys())
        assert {url for move in moves for url in move.new} == after.keys()
        for move in moves:
            hosts = [url.split("/")[2] for url in (move.old or "///", *move.new)]
            expected = {"gone": (0,), "split": (2,)}.get(move.kind, (1,))
            assert len(move.new) in expected, move
            assert (move.kind == "born") == (move.old is None)
            if move.kind in ("same", "edited"):
                assert move.new == (move.old,)
                assert (before[move.new[0]] == after[move.new[0]]) == (move.kind == "same")
            elif move.kind == "moved_within":
                assert move.old not in after and hosts[0] == hosts[1]
            elif move.kind == "moved_between":
                assert move.old not in after and hosts[0] != hosts[1]
            elif move.kind in ("merged", "split", "gone"):
                assert move.old not in after


def test_written_files(tmp_path: Path) -> None:
    small = sample_web(100)
    size = small.write(tmp_path / "web")
    assert size == sum(len(document.content) for document in small.documents)
    for document in small.documents:
        assert (tmp_path / "web" / document.path).read_bytes() == document.content
    truth = json.loads((tmp_path / "web" / "truth.json").read_text("utf-8"))
    assert truth == json.loads(json.dumps(small.truth()))
    contents = (tmp_path / "web" / "index.html").read_text("utf-8")
    links = {html.unescape(link) for link in re.findall(r'<a href="([^"]+)"', contents)}
    assert all((tmp_path / "web" / link).is_file() for link in links)
    assert links == {"truth.json", *(str(document.path) for document in small.documents)}
    with pytest.raises(DocumentError, match="not an empty directory"):
        small.write(tmp_path / "web")


def test_errors(web: SampleWeb) -> None:
    with pytest.raises(ParameterError, match="pages: too few: 0, wanted at least 1"):
        sample_web(0)
    with pytest.raises(ParameterError, match="not in ascending order"):
        sample_web(10, dates=("2026-04-01", "2026-01-01"))
    with pytest.raises(ParameterError, match="no date: 'spring'"):
        sample_web(10, dates=("spring",))
    with pytest.raises(ParameterError, match="no sweep of this web: '2020-01-01'"):
        next(web.iterate("2020-01-01"))
    with pytest.raises(DocumentError, match="not in the sweep of 2026-01-01"):
        web.document("https://nowhere.example/", "2026-01-01")


def test_demo_says_what_it_found(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["demo", "--pages", "100"]) == 0
    shown = capsys.readouterr().out
    assert "\x1b" not in shown
    assert "<- the source" in shown
    promised = re.findall(r"(\d+) of (\d+)\n", shown)
    assert len(promised) > 10
    assert all(kept == pairs for kept, pairs in promised)
    assert re.search(r"[\d,]+ MB/s", shown)


def test_demo_commands_work(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    assert main(["demo", "--pages", "100"]) == 0
    assert list(tmp_path.iterdir()) == [], "nothing is written unless asked"
    commands = re.findall(r"^ +(roughly (?:.*\\\n)*.*)$", capsys.readouterr().out, re.M)
    assert [shlex.split(command)[1] for command in commands] == ["demo", *["compare"] * 3]
    for command in commands:
        assert main(shlex.split(command.replace("\\\n", " "))[1:]) == 0
        assert "hint:" not in capsys.readouterr().err
    assert (tmp_path / "difference.html").is_file()


def test_demo_refuses(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "file").write_text("in the way")
    for arguments in (["--pages", "3"], ["--directory", str(tmp_path)]):
        assert main(["demo", *arguments]) == 2
        assert "hint: " in capsys.readouterr().err
