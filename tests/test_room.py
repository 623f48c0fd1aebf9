"""How a run's memory is shared, and what it says when that is too little."""

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from roughly.clustering.order import document_order
from roughly.clustering.room import check_room, room_beside
from roughly.errors import ParameterError

MIB = 1 << 20


def test_documents_come_first() -> None:
    assert room_beside(512 * MIB, 0, 26) == 512 * MIB
    assert room_beside(512 * MIB, 1 << 20, 26) == 486 * MIB
    # Half is left in any case.
    assert room_beside(512 * MIB, 1 << 30, 26) == 256 * MIB


def test_too_many_documents_are_refused() -> None:
    check_room(512 * MIB, 10 << 20, 25)
    with pytest.raises(ParameterError) as error:
        check_room(512 * MIB, 12 << 20, 25)
    assert error.value.message == (
        "memory: not enough for 12,582,912 documents: 512 MiB, wanted 600 MiB or more"
    )
    assert "--memory 600M" in (error.value.hint or "")
    check_room(600 * MIB, 12 << 20, 25)


class Stored:
    """Documents in parts of three, as document order wants them."""

    def __init__(self, dates: list[str | None], ids: list[str]) -> None:
        self._columns = {"date": pa.array(dates, pa.string()), "id": pa.array(ids, pa.string())}
        self.documents = len(ids)
        self.parts = -(-len(ids) // 3)
        self.live_rows = np.arange(len(ids), dtype=np.uint32)

    def __len__(self) -> int:
        return self.documents

    def rows(self, part: int) -> tuple[int, int]:
        return 3 * part, min(3 * part + 3, self.documents)

    def part_column(self, part: int, name: str) -> pa.Array:
        return self._columns[name].slice(3 * part, 3)

    def release_part(self, part: int) -> None:
        pass


dates = st.sampled_from([None, "2020-01-01", "2021-01-01"])
ids = st.text("aB\u00e9\U0001f600", max_size=3)


@given(st.lists(st.tuples(dates, ids), unique=True), st.booleans(), st.sampled_from([1, 500, MIB]))
def test_document_order_in_ranges(
    documents: list[tuple[str | None, str]], ascending: bool, room: int
) -> None:
    """By date, undated first, then by the bytes of the id, whatever the room."""

    def key(number: int) -> tuple[bytes, bytes]:
        date, id = documents[number]
        return (date or "").encode(), id.encode()

    if ascending:
        documents = [documents[number] for number in sorted(range(len(documents)), key=key)]
    stored = Stored([date for date, _ in documents], [id for _, id in documents])
    found = document_order(stored, room)  # type: ignore[arg-type]
    assert found.tolist() == sorted(range(len(documents)), key=key)
