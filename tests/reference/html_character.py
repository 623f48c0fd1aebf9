"""Character references of HTML: named by the longest match, decimal, hexadecimal.

The names are those of the standard library, which are the standard's. In text, unlike in
attributes, a name that the table has without its semicolon counts whatever follows it.
"""

from __future__ import annotations

from html.entities import html5

DIGIT = frozenset(b"0123456789")
HEXADECIMAL = DIGIT | frozenset(b"abcdefABCDEF")
LONGEST_NAME = max(len(name) for name in html5)


def character_reference(data: bytes, at: int) -> tuple[bytes, int]:
    """The replacement of the reference whose `&` is data[at], and where the input goes on.

    A lone `&` replaces itself.
    """
    if data[at + 1 : at + 2] == b"#":
        return numeric_reference(data, at)
    for length in range(LONGEST_NAME, 1, -1):
        name = data[at + 1 : at + 1 + length]
        if len(name) == length and name.isascii() and name.decode() in html5:
            return html5[name.decode()].encode(), at + 1 + length
    return b"&", at + 1


def numeric_reference(data: bytes, at: int) -> tuple[bytes, int]:
    first, digits, radix = at + 2, DIGIT, 10
    if data[first : first + 1] in (b"x", b"X"):
        first, digits, radix = at + 3, HEXADECIMAL, 16
    last = first
    while last < len(data) and data[last] in digits:
        last += 1
    if last == first:
        return b"&", at + 1
    # Leading zeros may be many; eight digits after them are above 10FFFF in either radix.
    number = int(data[first:last].lstrip(b"0")[:8] or b"0", radix)
    if number == 0 or 0xD800 <= number <= 0xDFFF or number > 0x10FFFF:
        number = 0xFFFD
    elif 0x80 <= number <= 0x9F:
        # The five bytes that windows-1252 leaves open keep their number.
        number = ord(bytes([number]).decode("windows-1252", "ignore") or chr(number))
    return chr(number).encode(), last + (data[last : last + 1] == b";")
