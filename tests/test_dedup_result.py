"""What roughly.dedup returns to a Python caller, and what it refuses."""

import pandas as pd
import polars as pl
import pytest

import roughly

FRAME = {
    "id": ["a", "b", "c", "d", "e", "f"],
    "text": ["one two", None, "One, two", "three four", "one two", None],
    "date": ["2024", "2024", "2026-01", None, "2025", None],
}


def test_a_frame_without_what_goes() -> None:
    frame = pd.DataFrame(FRAME)
    result = roughly.dedup(frame)
    assert result.mask().tolist() == [True, True, False, True, False, True]
    assert frame[result.mask()]["id"].tolist() == ["a", "b", "d", "f"]
    assert result.stays.tolist() == [True, False, True, False]
    assert (result.documents, len(result), result.removed) == (4, 2, 2)
    assert result.skipped.count == 2
    newest = roughly.dedup(pl.DataFrame(FRAME), keep="newest")
    assert list(newest) == ["c", "d"]


def test_removals_as_a_table() -> None:
    result = roughly.dedup(pd.DataFrame(FRAME))
    wanted = [
        {"removed": "c", "kept": "a", "kind": "lexical", "resemblance": 1.0, "containment": 1.0},
        {"removed": "e", "kept": "a", "kind": "identical", "resemblance": 1.0, "containment": 1.0},
    ]
    assert result.to_arrow().to_pylist() == wanted
    assert result.to_pandas().to_dict("records") == wanted
    assert result.to_polars().to_dicts() == wanted
    assert result.counts == {"identical": 1, "lexical": 1, "shingle": 0, "near": 0, "contained": 0}
    assert (result.text_bytes, result.removed_bytes) == (32, 15)


def test_how_it_prints() -> None:
    result = roughly.dedup(pd.DataFrame(FRAME), containment=0.9)
    assert repr(result) == (
        "Deduplicated(4 documents, 2 skipped, 2 kept, 2 removed (1 identical, 1 lexical)"
        " at threshold 0.7, containment 0.9, keep longest)"
    )
    shown = result._repr_html_()
    assert shown.count("<tr>") == 3 and "<td>lexical</td>" in shown
    alone = roughly.dedup(["one <b>text</b>"])
    assert (
        repr(alone) == "Deduplicated(1 documents, 1 kept, 0 removed at threshold 0.7, keep first)"
    )
    assert alone._repr_html_().count("<tr>") == 1
    assert alone.removals().num_rows == 0 and list(alone.largest(3)) == []


def test_the_largest_that_go() -> None:
    long = " ".join(f"w{n}" for n in range(50))
    texts = ["x y", long, f"{long} end", "X y", f"{long} ende"]
    found = [(a.id, b.id, a.text_utf8) for a, b in roughly.dedup(texts).largest(2)]
    assert found == [
        ("documents#5", "documents#2", texts[4].encode()),
        ("documents#3", "documents#2", texts[2].encode()),
    ]


def test_containment_takes_the_part() -> None:
    whole = " ".join(f"w{n}" for n in range(60))
    part = " ".join(f"w{n}" for n in range(20))
    assert list(roughly.dedup([part, whole])) == ["documents#1", "documents#2"]
    result = roughly.dedup([part, whole], containment="0.8")
    (row,) = result.removals().to_pylist()
    assert (row["removed"], row["kept"], row["kind"]) == ("documents#1", "documents#2", "contained")
    assert (row["resemblance"], row["containment"]) == (16 / 56, 1.0)
    # In the order of the input the part stays, and contains nothing.
    assert len(roughly.dedup([part, whole], containment=0.8, keep="first")) == 2


def test_refusals() -> None:
    with pytest.raises(roughly.ParameterError, match="keep: unknown value: 'last', wanted one of"):
        roughly.dedup(["a"], keep="last")
    with pytest.raises(roughly.ParameterError, match=r"threshold: out of range: 1\.2"):
        roughly.dedup(["a"], 1.2)
    with pytest.raises(roughly.ParameterError, match="containment: out of range: 0"):
        roughly.dedup(["a"], containment=0)
    with pytest.raises(roughly.ParameterError, match="sketcher: wrong type: str"):
        roughly.dedup(["a"], sketcher="all")  # type: ignore[arg-type]
    with pytest.raises(roughly.ParameterError, match="cannot be told from min:9 sketches"):
        roughly.dedup(["a"], containment=0.5, sketcher=roughly.Sketcher(select="min:9"))
    with pytest.raises(roughly.ParameterError, match="cannot deduplicate by perm:84"):
        roughly.dedup(["a"], sketcher=roughly.preset("broder97-super"))
    with pytest.raises(roughly.ParameterError, match="memory: out of range: '1M'"):
        roughly.dedup(["a"], memory="1M")
    with pytest.raises(roughly.DocumentError, match="no text"):
        roughly.dedup([{"text": None}], text_field="text", strict=True)


def test_the_preset_of_1997_is_exact_too() -> None:
    """Fingerprints of 40 bits and a sample of one in 25 propose; 64 bits decide."""
    words = [f"w{n}" for n in range(3000)]
    texts = [" ".join(words), " ".join(words[:2900]), " ".join(words[:1000])]
    result = roughly.dedup(texts, 0.9, sketcher=roughly.preset("broder97"))
    (row,) = result.removals().to_pylist()
    assert (row["removed"], row["resemblance"]) == ("documents#2", 2891 / 2991)
