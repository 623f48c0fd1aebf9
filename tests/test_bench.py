"""The benchmarks run, their documents never change, and a wrong result is noticed.

Nothing is timed: how fast a machine is decides no test.
"""

import json
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pytest

import roughly
from bench import __main__ as command
from bench import html, machine, memory, peer, simhash, sketch, stage, startup
from bench.alphabet import ALPHABETS
from bench.corpus import Corpus, describe, read_documents
from bench.measure import TINY, Scale, Task, Timing, measure, simd
from bench.page import page
from bench.report import WIDTH, Check, Result, Section, failures, merged, summary
from bench.text import edited, english_texts, script_texts
from roughly import Sketcher, _core
from tests.optional import FULL

# --- the documents --------------------------------------------------------------------------------


def test_documents_never_change() -> None:
    """Figures of different days and machines are comparable only on the same documents."""
    texts = english_texts(8)
    assert describe(texts).digest == "18e10a1e29d52c69"
    assert (
        describe([page(text, number) for number, text in enumerate(texts)]).digest
        == "bcf850f976f4e5e8"
    )


def test_documents_are_like_real_ones() -> None:
    texts = english_texts(200)
    described = describe(texts)
    assert 4_500 < described.mean_bytes < 5_500
    assert 0.001 < described.non_ascii < 0.007
    words = [word for text in texts for word in peer.words_fastest(text)]
    assert 4.5 < sum(map(len, words)) / len(words) < 5.2
    assert len(set(texts)) == 200
    for number, text in enumerate(texts[:40]):
        made = page(text, number)
        share = len(" ".join(_core.html_text(made.encode()).decode().split())) / len(made)
        assert 0.15 < share < 0.55
        assert _core.sniff_html(made.encode())


@pytest.mark.parametrize("name", ALPHABETS)
def test_scripts(name: str) -> None:
    described = describe(script_texts(name, 20))
    assert 3_500 < described.mean_bytes < 6_500
    assert described.non_ascii > 0.1


def test_edited_copies_resemble_less_the_more_is_edited() -> None:
    (text,) = english_texts(1)
    found = [roughly.resemblance(text, edited(text, share)) for share in (0, 0.01, 0.05, 0.3, 1)]
    assert found[0] == 1.0
    assert found == sorted(found, reverse=True)
    assert found[-1] < 0.05


def test_real_documents(tmp_path: Path) -> None:
    file = tmp_path / "rows.jsonl"
    file.write_text('{"text": "one two"}\n{"html": "<p>three"}\n{"text": ""}\n', "utf-8")
    assert read_documents(file, ("text", "html")) == ["one two", "<p>three"]
    with pytest.raises(SystemExit, match="no documents"):
        read_documents(file, ("body",))


# --- the runs -------------------------------------------------------------------------------------


def test_everything_runs(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    # Memory starts processes that take seconds; its parts are tested below.
    names = [name for name in command.BENCHMARKS if FULL or name != "memory"]
    file = tmp_path / "figures.json"
    assert command.main([*names, "--tiny", "--json", str(file), "--record", str(tmp_path)]) == 0
    printed = capsys.readouterr().out
    assert max(map(len, printed.splitlines())) <= WIDTH
    found = json.loads(file.read_text("utf-8"))
    assert found["valid"] is True
    assert found["machine"]["cores"] >= 1
    assert found["machine"]["packages"]["roughly"] == roughly.__version__
    assert [section["name"] for section in found["sections"]] == names
    for section in found["sections"]:
        assert section["checks"], section["name"]
        assert all(check["passed"] for check in section["checks"])
        assert all(timing["wall_s"] and timing["cpu_s"] for timing in section["timings"])
    (recorded,) = tmp_path.glob("*-cores.json")
    assert json.loads(recorded.read_text("utf-8")) == found
    assert recorded.with_suffix(".txt").read_text("utf-8") == printed


def test_records_of_two_machines_have_two_names() -> None:
    record = {"date": "2026-11-19T22:45:51Z", "cpu": "AMD EPYC", "cores": 2}
    names = [
        machine.file_name(record | {"cpu_family_model": known}) for known in ("26/2", "25/17", "/")
    ]
    assert names == [
        "2026-11-19-amd-epyc-f26m2-2-cores",
        "2026-11-19-amd-epyc-f25m17-2-cores",
        "2026-11-19-amd-epyc-2-cores",
    ]


def test_runs_without_peers(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(peer, "_module", lambda name: None)
    monkeypatch.setattr(simhash, "_module", lambda name: None)
    monkeypatch.setattr(html, "_lexbor", lambda: None)
    corpus = Corpus(TINY.texts, TINY.pages)
    for module, missing in (
        (peer, ["datasketch", "rensa"]),
        (simhash, ["gaoya", "simhash"]),
        (html, ["selectolax"]),
    ):
        section = module.run(corpus, TINY)
        assert [note for note in section.notes if "not installed" in note] == [
            f"{name} is not installed: no comparison" for name in missing
        ]
        assert section.timings
        assert not failures([section])


def test_a_failed_check_voids_the_run(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def run(corpus: Corpus, scale: Scale) -> Section:
        return Section("wrong", "a benchmark", checks=[Check("one is two", False, "it is not")])

    monkeypatch.setattr(command, "BENCHMARKS", {"wrong": run})
    file = tmp_path / "figures.json"
    assert command.main(["--json", str(file), "--record", str(tmp_path / "runs")]) == 1
    captured = capsys.readouterr()
    assert "check: one is two: FAILED. it is not" in captured.out
    assert "the figures are void" in captured.err
    assert json.loads(file.read_text("utf-8"))["valid"] is False
    assert not (tmp_path / "runs").exists()


def test_an_unknown_name_is_refused(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as stopped:
        command.main(["sketsh"])
    assert stopped.value.code == 2
    assert "unknown: 'sketsh', wanted some of sketch, stage" in capsys.readouterr().err


def test_rounds_and_simd(monkeypatch: pytest.MonkeyPatch) -> None:
    seen: list[str] = []
    tasks = [Task(name, lambda name=name: seen.append(name), 1000) for name in "ab"]  # type: ignore[misc]
    timings = measure(tasks, replace(TINY, rounds=2))
    assert "".join(seen) == "ab" + "ab" + "ba"  # the first ones warm up
    assert [len(timing.wall) for timing in timings.values()] == [2, 2]
    monkeypatch.delenv("ROUGHLY_SIMD", raising=False)
    with simd("plain"):
        assert _core.simd_level() == "plain"
    assert _core.simd_level() == _core.simd_levels()[-1]


# --- the report -----------------------------------------------------------------------------------


def test_targets() -> None:
    section = Section(
        "name",
        "title",
        timings=[Timing("task", 4_000_000, (0.04, 0.02, 0.08), (0.02, 0.01, 0.01))],
        results=[
            Result("fast", 500.0, "MB/s", ">=", 500.0),
            Result("slow", 499.0, "MB/s", ">=", 500.0),
            Result("start", 150.0, "ms", "<", 150.0),
            Result("ratio", 3.0, "x"),
        ],
    )
    assert [result.reached for result in section.results] == [True, False, False, None]
    lines = list(section.lines())
    assert lines[2].split() == ["task", "200.0", "100.0", "400.0", "3"]
    assert [line.split()[-1] for line in lines[3:]] == ["reached", "MISSED", "MISSED", "x"]
    said = list(summary([section]))
    assert "the machine was busy during 1 of the timings" in said[0]
    assert said[1] == "targets reached: 1 of 3"
    assert said[2] == "  MISSED  name: slow: 499.0 MB/s, wanted >= 500"
    assert failures([section]) == []


# --- validation can fail --------------------------------------------------------------------------


@dataclass
class Columns:
    """What the core returns, with one value that a test may change."""

    values: npt.NDArray[np.uint64]
    offsets: npt.NDArray[np.int64]
    size: npt.NDArray[np.uint32]
    tokens: npt.NDArray[np.uint32]
    level: npt.NDArray[np.uint8]
    content: npt.NDArray[np.uint64]
    canonical: npt.NDArray[np.uint64]


@pytest.mark.parametrize("name", sketch.COLUMNS)
def test_one_wrong_value_in_a_sketch_is_noticed(name: str) -> None:
    right = Sketcher().sketch_batch(pa.array(english_texts(3)), threads=1).columns
    copy = Columns(**{column: getattr(right, column).copy() for column in sketch.COLUMNS})
    wanted = sketch.digest(right)
    assert sketch.check_equal("", [wanted], [sketch.digest(copy)]).passed
    getattr(copy, name).flat[0] ^= 1
    assert not sketch.check_equal("", [wanted], [sketch.digest(copy)]).passed


def test_nothing_compared_is_no_success() -> None:
    assert not sketch.check_equal("", [], []).passed
    assert not merged("", []).passed
    assert not peer.check_exact([], []).passed
    assert not peer.check_estimates("", [], []).passed
    assert not html.check_words([], lambda page: []).passed
    assert not stage.check_stages([], "plain").passed


def test_merged_checks_name_the_wrong_one() -> None:
    good, bad = Check("good", True), Check("bad", False, "reason")
    assert merged("all", [good, good]).passed
    assert merged("all", [good, bad]) == Check("all", False, "bad: reason")


def test_wrong_levels_are_noticed(monkeypatch: pytest.MonkeyPatch) -> None:
    batches = [pa.array(english_texts(3))]
    assert merged("", sketch.check_levels("", Sketcher(), batches, "text")).passed
    right = sketch.digests

    def wrong_on_threads(
        sketcher: Sketcher, batches: Sequence[pa.Array], threads: int, level: str, content_type: str
    ) -> list[str]:
        found = right(sketcher, batches, threads, level, content_type)
        return found if threads == 1 else found[::-1][1:]

    monkeypatch.setattr(sketch, "digests", wrong_on_threads)
    assert not merged("", sketch.check_levels("", Sketcher(), batches, "text")).passed


def test_wrong_estimates_are_noticed() -> None:
    exact = [0.1, 0.3, 0.5, 0.7, 0.9, 1.0] * 10
    assert peer.check_estimates("exact", exact, exact).passed
    # A seventh of a standard error of 128 samples up and down in turn.
    near = [value + (0.006 if at % 2 else -0.006) for at, value in enumerate(exact)]
    assert peer.check_estimates("near", near, exact).passed
    outlier = [*exact[:-2], 0.9 - 0.16, 1.0]
    assert not peer.check_estimates("outlier", outlier, exact).passed
    biased = [value + 0.03 for value in exact]
    assert not peer.check_estimates("biased", biased, exact).passed
    assert not peer.check_exact([*exact[:-1], 0.999], exact).passed


def test_wrong_words_are_noticed() -> None:
    pages = [page(text, number).encode() for number, text in enumerate(english_texts(3))]
    assert html.check_words(pages, html.words_of_page).passed
    assert not html.check_words(pages, lambda page: html.words_of_page(page)[::2]).passed
    assert not html.check_words(pages, lambda page: [*html.words_of_page(page), *["a"] * 99]).passed


def test_lost_text_is_noticed() -> None:
    texts = english_texts(3)
    pages = [page(text, number) for number, text in enumerate(texts)]
    assert html.check_text_kept(texts, pages).passed
    assert not html.check_text_kept(texts, [*pages[:2], pages[2][: len(pages[2]) // 2]]).passed


def test_wrong_stages_are_noticed(monkeypatch: pytest.MonkeyPatch) -> None:
    texts = [text.encode() for text in english_texts(2)]
    assert stage.check_stages(texts, "plain").passed
    right = Sketcher.sketch

    def last_word_lost(self: Sketcher, document: str, content_type: str = "auto") -> roughly.Sketch:
        return right(self, document.rstrip(" .\n").rpartition(" ")[0], content_type)

    monkeypatch.setattr(Sketcher, "sketch", last_word_lost)
    assert not stage.check_stages(texts, "plain").passed


def test_a_heavy_import_and_a_missing_help_are_noticed() -> None:
    assert startup.check_light(["sys", "roughly", "roughly.sketch"]).passed
    assert not startup.check_light(["sys", "roughly", "numpy.linalg"]).passed
    assert not startup.check_light(["sys"]).passed
    assert startup.check_help("usage: roughly [-h] COMMAND ...\n").passed
    assert not startup.check_help("Traceback (most recent call last):\n").passed


def test_documents_missing_from_a_long_run_are_noticed() -> None:
    found = memory.sketch_batches(2, 5)
    assert found["peak"] > 1024 * 1024
    assert memory.check_documents(found, 2, 5).passed
    assert not memory.check_documents(found, 3, 5).passed
    assert not memory.check_documents({**found, "elements": 0}, 2, 5).passed
