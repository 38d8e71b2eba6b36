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

from dataclasses import dataclass

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
        raise ValueError(f"the byte {min(odd):#04x} is no text")
    out = bytearray()
    place, last = 0, 0
    for step in _shortest(text):
        if not step.back:
            out.append(_NEWLINE_CODE if text[place] == _NEWLINE else text[place])
        elif step.back == last and step.length <= _REPEAT_MOST:
            out.append(step.length - _REPEAT_LEAST)
        elif step.back <= _NEAR and step.length <= _NEAR_MOST:
            back = step.back - 1
            out += bytes((0x80 | (step.length - _NEAR_LEAST) << 2 | back >> 8, back & 0xFF))
        else:
            length, back = min(step.length, _FAR_PLAIN + 1) - _FAR_LEAST, step.back - 1
            out += bytes((0xC0 | length << 1 | back >> 16, back >> 8 & 0xFF, back & 0xFF))
            if step.length > _FAR_PLAIN:
                out.append(step.length - _FAR_PLAIN - 1)
        place, last = place + step.length, step.back or last
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
            raise CorruptTextError("a reference leaves the text")
        for _ in range(length):
            out.append(out[-last])
    if len(out) != size:
        raise CorruptTextError("the text has another size")
    return bytes(out)


@dataclass(frozen=True)
class _Step:
    """One character (`back` is 0), or `length` of them from `back` characters before."""

    length: int
    back: int
    cost: int  # in bytes, of the whole way here


def _shortest(text: bytes) -> list[_Step]:
    """The steps through the text: at every place the cheapest way that was found to come there goes on."""
    ways: list[_Step | None] = [None] * (len(text) + 1)
    lasts = [0] * (len(text) + 1)

    def offer(place: int, length: int, back: int, cost: int) -> None:
        known = ways[place + length]
        if known is None or cost < known.cost:
            ways[place + length] = _Step(length, back, cost)
            lasts[place + length] = back or lasts[place]

    finder = _Finder(text)
    for place in range(len(text)):
        way, last = ways[place], lasts[place]
        cost = way.cost if way else 0
        offer(place, 1, 0, cost + 1)
        if last:
            same = _equal(text, place - last, place, _REPEAT_MOST)
            for length in range(_REPEAT_LEAST, same + 1):
                offer(place, length, last, cost + 1)
        near, far = finder.find(place)
        for length in range(_NEAR_LEAST, min(near[0], _NEAR_MOST) + 1):
            offer(place, length, near[1], cost + 2)
        for length in range(_FAR_LEAST, min(far[0], _FAR_PLAIN) + 1):
            offer(place, length, far[1], cost + 3)
        if far[0] > _FAR_PLAIN:
            offer(place, far[0], far[1], cost + 4)
    steps: list[_Step] = []
    place = len(text)
    while place:
        step = ways[place]
        assert step is not None
        steps.append(step)
        place -= step.length
    return steps[::-1]


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
        for _ in range(_TRIES):
            back = place - candidate
            if candidate < 0 or back > _FAR:
                break
            longest = far[0]
            if text[candidate + longest : candidate + longest + 1] == text[place + longest : place + longest + 1]:
                length = _equal(text, candidate, place, _FAR_MOST)
                if length > longest:
                    far = (length, back)
                    if back <= _NEAR:
                        near = far
            candidate = self.before[candidate]
        return near, far


def _equal(text: bytes, first: int, second: int, most: int) -> int:
    """How many characters from `first` on equal those from `second` on."""
    end = min(second + most, len(text))
    step = second
    while step < end and text[first + step - second] == text[step]:
        step += 1
    return step - second
