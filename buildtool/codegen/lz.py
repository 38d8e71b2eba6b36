"""A small compression for ASCII text, whose decoder takes thirty lines: native/opencl/sources.cc has the other one.

Text is what stands between 0x20 and 0x7E, and newlines; all other bytes are left for references to earlier text:

    20..7E   the character
    7F       a newline
    00..1F   2 + n characters from as far back as those of the reference before
    80..BF   a near reference: 3 + bits 5..2 characters from 1 + bits 1..0 and the next byte back
    C0..FF   a far reference: 4 + bits 5..1 characters from 1 + bit 0 and the next two bytes back;
             of 31 in bits 5..1, the byte behind that says how many more

Numbers of several bytes have their high bits first. Characters may be copied from what the reference itself writes.
"""

from __future__ import annotations

_REPEAT_LEAST, _REPEAT_MOST = 2, 33
_NEAR_LEAST, _NEAR_MOST, _NEAR = 3, 18, 1 << 10
_FAR_LEAST, _FAR_PLAIN, _FAR_MOST, _FAR = 4, 34, 290, 1 << 17
_NEWLINE, _NEWLINE_CODE = 0x0A, 0x7F
_TRIES = 512  # candidates that are looked at per place


class CorruptTextError(ValueError):
    """These bytes are no compressed text."""


def compress(text: bytes) -> bytes:
    """The shortest row of references and characters that was found. ValueError where a byte is no text."""
    if odd := set(text) - {*range(0x20, 0x7F), _NEWLINE}:
        raise ValueError(f"the byte {min(odd):#04x} is not text")
    out = bytearray()
    place, last = 0, 0
    for length, back in _shortest(text):
        if not back:
            out.append(_NEWLINE_CODE if text[place] == _NEWLINE else text[place])
        elif back == last and length <= _REPEAT_MOST:
            out.append(length - _REPEAT_LEAST)
        elif back <= _NEAR and length <= _NEAR_MOST:
            out += bytes((0x80 | (length - _NEAR_LEAST) << 2 | (back - 1) >> 8, (back - 1) & 0xFF))
        else:
            code = min(length, _FAR_PLAIN + 1) - _FAR_LEAST
            out += bytes((0xC0 | code << 1 | (back - 1) >> 16, (back - 1) >> 8 & 0xFF, (back - 1) & 0xFF))
            if length > _FAR_PLAIN:
                out.append(length - _FAR_PLAIN - 1)
        place, last = place + length, back or last
    return bytes(out)


def decompress(data: bytes, size: int) -> bytes:
    """The text of `size` bytes. CorruptTextError where it is not exactly that."""
    out = bytearray()
    last, at = 0, 0

    def take() -> int:
        nonlocal at
        if at == len(data):
            raise CorruptTextError("the data ends too early")
        at += 1
        return data[at - 1]

    while at < len(data):
        code = take()
        if 0x20 <= code < 0x80:
            out.append(_NEWLINE if code == _NEWLINE_CODE else code)
            continue
        if code < 0x20:
            length = code + _REPEAT_LEAST
        elif code < 0xC0:
            length, last = (code >> 2 & 15) + _NEAR_LEAST, ((code & 3) << 8 | take()) + 1
        else:
            length, last = (code >> 1 & 31) + _FAR_LEAST, ((code & 1) << 16 | take() << 8 | take()) + 1
            if length > _FAR_PLAIN:
                length += take()
        if not 0 < last <= len(out) or len(out) + length > size:
            raise CorruptTextError("a reference is out of range")
        for _ in range(length):
            out.append(out[-last])
    if len(out) != size:
        raise CorruptTextError("the size does not match")
    return bytes(out)


def _shortest(text: bytes) -> list[tuple[int, int]]:
    """`(length, back)` of every step through the text: 1 and 0 for a character as it is.

    At every place the cheapest way that was found to come there goes on.
    """
    costs = [0] + [len(text) + 1] * len(text)  # in bytes, of the way to this place
    steps = [(1, 0)] * (len(text) + 1)  # the last one of that way
    lasts = [0] * (len(text) + 1)  # how far back the last reference of that way goes
    finder = _Finder(text)

    def offer(place: int, lengths: range, back: int, cost: int) -> None:
        for end in range(place + lengths.start, place + lengths.stop):
            if cost < costs[end]:
                costs[end], steps[end], lasts[end] = cost, (end - place, back), back

    for place in range(len(text)):
        cost, last = costs[place], lasts[place]
        if cost + 1 < costs[place + 1]:
            costs[place + 1], steps[place + 1], lasts[place + 1] = cost + 1, (1, 0), last
        if last:
            same = _equal(text, place - last, place, _REPEAT_MOST)
            offer(place, range(_REPEAT_LEAST, same + 1), last, cost + 1)
        near, far = finder.find(place)
        offer(place, range(_NEAR_LEAST, min(near[0], _NEAR_MOST) + 1), near[1], cost + 2)
        offer(place, range(_FAR_LEAST, min(far[0], _FAR_PLAIN) + 1), far[1], cost + 3)
        if far[0] > _FAR_PLAIN:
            offer(place, range(far[0], far[0] + 1), far[1], cost + 4)
    way: list[tuple[int, int]] = []
    place = len(text)
    while place:
        way.append(steps[place])
        place -= steps[place][0]
    return way[::-1]


class _Finder:
    """Finds earlier text that equals what comes. Places are asked for in order, each once."""

    def __init__(self, text: bytes) -> None:
        self.text = text
        self.heads: dict[bytes, int] = {}
        self.before = [-1] * len(text)  # the place before that begins with the same three characters

    def find(self, place: int) -> tuple[tuple[int, int], tuple[int, int]]:
        """`(length, back)` of the longest near reference and of the longest of all."""
        text, key = self.text, self.text[place : place + _NEAR_LEAST]
        near = far = (0, 0)
        candidate = self.heads.get(key, -1)
        self.before[place], self.heads[key] = candidate, place
        most = min(_FAR_MOST, len(text) - place)
        for _ in range(_TRIES):
            back, longest = place - candidate, far[0]
            if candidate < 0 or back > _FAR or longest == most:
                break
            if text[candidate + longest : candidate + longest + 1] == text[place + longest : place + longest + 1]:
                length = _equal(text, candidate, place, most)
                if length > longest:
                    far = (length, back)
                    if back <= _NEAR:
                        near = far
            candidate = self.before[candidate]
        return near, far


def _equal(text: bytes, first: int, second: int, most: int) -> int:
    """How many characters from `first` on equal those from `second` on."""
    most = min(most, len(text) - second)
    length = 0
    while (
        length + 16 <= most
        and text[first + length : first + length + 16] == text[second + length : second + length + 16]
    ):
        length += 16
    while length < most and text[first + length] == text[second + length]:
        length += 1
    return length
