"""URLs that are there with another text, places that are equally good, parts that are the same
text: webs whose answers are known because they were made so."""

import pytest

from roughly.corpus.history import read_changes
from roughly.corpus.lost import lost_pages
from tests.test_lost import SITE, STAYS, found, page, places, trace, web, words

ONE, TWO, THREE = (page(words(("reused", n), 300)) for n in range(3))


def near(text: str) -> str:
    """The same with every fiftieth word another: one shingle of ten is new."""
    return " ".join(f"new{n}" if n % 50 == 7 else w for n, w in enumerate(text.split()))


# --- URLs that were reused ----------------------------------------------------------------------


def test_two_pages_that_exchanged_their_texts() -> None:
    made = web({"/1": ONE, "/2": TWO}, {"/1": TWO, "/2": ONE})
    for path, other in (("/1", "/2"), ("/2", "/1")):
        followed = trace(made, path)
        assert followed.still_there
        assert followed.reused == "2026-02"
        assert followed.resemblance_there is not None
        assert followed.resemblance_there < 0.5  # all of it is the menu
        assert places(followed.moves) == [("same", other)]
        assert followed.moves[0].resemblance == 1
        assert followed.moves[0].reused
    moves = {move.old: move for move in lost_pages(*made, 0, 1)}
    assert {old.removeprefix(SITE): move.new for old, move in moves.items()} == {
        "/1": SITE + "/2",
        "/2": SITE + "/1",
    }
    assert all(move.reused for move in moves.values())


def test_a_page_that_says_it_is_not_found() -> None:
    """Its text is elsewhere, edited."""
    moves = found({"/x": ONE, **STAYS}, {"/x": page("not found"), "/y": near(ONE), **STAYS})
    assert places(moves["/x"]) == [("moved", "/y")]
    assert moves["/x"][0].reused


def test_a_page_that_was_rewritten_is_where_it_was() -> None:
    """Nothing of it is anywhere: no other place is claimed, and the resemblance is the true one."""
    made = web({"/x": ONE}, {"/x": TWO, "/y": THREE})
    assert lost_pages(*made, 0, 1) == []
    followed = trace(made, "/x")
    assert followed.reused is None
    assert places(followed.moves) == [("same", "/x")]
    # 146 shingles of the menu, of which both have all, and 300 of each
    assert followed.resemblance_there == pytest.approx(146 / 746, abs=0.06)
    assert followed.moves[0].resemblance == followed.resemblance_there
    assert followed.moves[0].confidence < 1


def test_a_page_that_grew_is_the_same() -> None:
    """Though little of what is there now is of it, and a copy is elsewhere."""
    grown = page(words(("reused", 0), 300), words("more", 2000))
    made = web({"/x": ONE}, {"/x": grown, "/copy": ONE})
    assert lost_pages(*made, 0, 1) == []
    assert trace(made, "/x").reused is None


def test_an_edited_page_has_its_true_resemblance() -> None:
    followed = trace(web({"/x": ONE}, {"/x": near(ONE)}, {"/x": near(ONE)}), "/x")
    assert followed.moves[0].resemblance == followed.resemblance_there
    assert 0.5 < followed.moves[0].resemblance < 0.95
    assert followed.moves[0].confidence > 0.9
    same = trace(web({"/x": ONE}, {"/x": ONE}), "/x")
    assert (same.resemblance_there, same.moves[0].confidence) == (1, 1)


def test_a_reused_url_on_the_way_is_left() -> None:
    """The text goes to /b, whose URL has another text later, when it is at /c."""
    followed = trace(web({"/a": ONE}, {"/b": ONE}, {"/b": TWO, "/c": ONE}), "/a")
    assert [places(step.moves) for step in followed.steps] == [[("same", "/b")], [("same", "/c")]]
    assert places(followed.moves) == [("same", "/c")]


def test_reused_long_ago() -> None:
    """The present text is that of the sweep before, and was edited since; what was there before
    that is asked for."""
    made = web({"/x": ONE}, {"/x": TWO, "/y": ONE}, {"/x": near(TWO), "/y": ONE})
    followed = trace(made, "/x")
    assert followed.reused == "2026-02"
    assert followed.changed == "2026-03"
    assert places(followed.moves) == [("same", "/y")]


def test_a_text_that_moves_to_a_reused_url_did_not_merge() -> None:
    moves = found({"/x": ONE, "/y": TWO, **STAYS}, {"/y": near(ONE), "/z": TWO, **STAYS})
    assert places(moves["/x"]) == [("moved", "/y")]
    assert not moves["/x"][0].reused
    assert places(moves["/y"]) == [("same", "/z")]
    assert moves["/y"][0].reused


def test_reused_in_json() -> None:
    (row,) = trace(web({"/1": ONE, "/2": TWO}, {"/1": TWO, "/2": ONE}), "/1").rows()
    assert row["reused"] is True
    assert row["reused_since"] == "2026-02"
    assert row["resemblance_there"] < 0.5
    (row,) = trace(web({"/1": ONE}, {"/1": ONE}), "/1").rows()
    assert (row["reused"], row["reused_since"], row["resemblance_there"]) == (False, None, 1)


# --- equal places, equal parts ------------------------------------------------------------------


def test_of_two_copies_neither_is_surer() -> None:
    followed = trace(web({"/a": ONE}, {"/copy1": ONE, "/copy2": ONE}), "/a")
    (step,) = followed.steps
    assert step.moves[0].confidence == pytest.approx(0.5, abs=0.01)
    assert step.alternatives[0].confidence <= step.moves[0].confidence
    assert step.moves[0].confidence + step.alternatives[0].confidence <= 1


def test_no_alternative_is_surer_than_the_choice() -> None:
    """Where the name decides, what is left for the others is little."""
    followed = trace(web({"/old/alpha": ONE}, {"/new/alpha": ONE, "/new/beta": ONE}), "/old/alpha")
    (step,) = followed.steps
    assert places(step.moves) == [("same", "/new/alpha")]
    assert step.moves[0].confidence > 0.95
    assert step.alternatives[0].confidence < 0.05


def test_the_same_text_twice_is_not_split() -> None:
    """The first two thirds are on two pages."""
    text = words("both", 300).split()
    old = {"/x": page(*text), **STAYS}
    first = page(*text[:200])
    second = page(*text[:190], words("other", 10))
    moves = found(old, {"/b1": first, "/b2": second, **STAYS})
    assert places(moves["/x"]) == [("moved", "/b1")]
    (move,) = moves["/x"]
    assert move.confidence < 0.9  # the other one would nearly do
    # Two halves are two parts, and so are halves that overlap a little.
    parts = {"/b1": page(*text[:170]), "/b2": page(*text[140:]), **STAYS}
    assert {place for _, place in places(found(old, parts)["/x"])} == {"/b1", "/b2"}


def test_equal_evidence_is_told_of_both() -> None:
    """A new page has two fifths of each of two lost ones: one has to be preferred, but the other is
    not told to be nowhere."""
    one, two = words("first", 300).split(), words("second", 300).split()
    made = web(
        {"/1": page(*one), "/2": page(*two)},
        {"/n": page(*one[:120], *two[:120])},
    )
    claims = {move.old.removeprefix(SITE): move for move in lost_pages(*made, 0, 1)}
    moved, gone = sorted(claims.values(), key=lambda move: move.new is None)
    assert (moved.kind, gone.kind) == ("moved", "gone")
    assert moved.confidence <= 0.5
    assert gone.confidence == pytest.approx(1 - moved.confidence, abs=0.06)
    followed = trace(made, gone.old.removeprefix(SITE))
    assert not followed.found
    assert followed.moves[0].confidence == gone.confidence
    (other,) = followed.steps[0].alternatives
    assert other.new == SITE + "/n"
    assert other.confidence <= 1 - gone.confidence + 0.001
    assert other.containment == pytest.approx(0.4 * 300 / 450 + 1 / 3, abs=0.08)


def test_nothing_is_certainly_gone() -> None:
    made = web({"/x": ONE}, {})
    (move,) = lost_pages(*made, 0, 1)
    assert (move.kind, move.confidence) == ("gone", 0.95)
    assert trace(made, "/x").moves[0].confidence == 0.95


# --- pages that come back elsewhere -------------------------------------------------------------


def test_changes_follow_pages_to_the_end() -> None:
    """One moves twice; one is away for a sweep and then elsewhere; one is split; one is gone."""
    halves = words("half1", 300), words("half2", 300)
    four = page(words("four", 300))
    made, sweeps = web(
        {"/1": ONE, "/2": TWO, "/3": page(*halves), "/4": four},
        {"/1b": ONE, "/3a": page(halves[0]), "/3b": page(halves[1])},
        {"/1c": ONE, "/2b": TWO, "/3a": page(halves[0]), "/3b": page(halves[1])},
    )
    changes = read_changes(made, sweeps, 1)
    fates = {each.url.removeprefix(SITE): (each.fate, each.moved_to) for each in changes.pages}
    assert fates["/1"] == ("same", [SITE + "/1c"])
    assert fates["/1b"] == ("same", [SITE + "/1c"])
    assert fates["/2"] == ("same", [SITE + "/2b"])
    assert (fates["/3"][0], sorted(fates["/3"][1])) == ("split", [SITE + "/3a", SITE + "/3b"])
    assert fates["/4"] == ("gone", [])
    assert fates["/2b"] == ("there", [])
    first, second = changes.intervals
    assert (first.gone, second.arrived) == (2, 2)
    # Of ten pages of the first sweep, six that stay: 1 and 3 are elsewhere; then 2 is, too.
    assert [row[1:] for row in changes.survival] == [(10, 10), (6, 8), (6, 9)]
