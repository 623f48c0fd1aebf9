"""Simhashes that make a Hamming index work: clusters, repetitions, differences in one place."""

from hypothesis import strategies as st


@st.composite
def clustered(
    draw: st.DrawFn, bits: int, least: int = 0, most: int = 40, flips: int = 5
) -> list[int]:
    """Around a few centres: values that differ in a few bits, anywhere or within a narrow block."""
    top = 2**bits - 1
    centres = draw(
        st.lists(st.sampled_from([0, top, top // 3]) | st.integers(0, top), min_size=1, max_size=4)
    )
    made = []
    for _ in range(draw(st.integers(least, most))):
        value = draw(st.sampled_from(centres))
        start = draw(st.integers(0, bits - 1))
        width = draw(st.sampled_from([bits, 4]))
        for _ in range(draw(st.integers(0, flips))):
            value ^= 1 << (start + draw(st.integers(0, width - 1))) % bits
        made.append(value)
    return made
