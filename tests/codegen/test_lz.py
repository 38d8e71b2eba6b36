"""Compressed text comes out as it was, and damaged data is detected."""

from __future__ import annotations

import random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from buildtool.codegen.lz import CorruptTextError, compress, decompress

CHARACTERS = "".join(map(chr, range(0x20, 0x7F))) + "\n"


@st.composite
def repetitive(draw: st.DrawFn) -> bytes:
    """Words out of a few, so that there is something to refer to, near and far."""
    words = draw(st.lists(st.text(CHARACTERS, min_size=1, max_size=12), min_size=1, max_size=5))
    picked = draw(st.lists(st.tuples(st.sampled_from(words), st.integers(1, 40)), max_size=20))
    return "".join(word * times for word, times in picked).encode()


@settings(deadline=None)
@given(st.one_of(st.text(CHARACTERS).map(str.encode), repetitive()))
def test_text_comes_out_as_it_was(text: bytes) -> None:
    packed = compress(text)
    assert decompress(packed, len(text)) == text
    assert len(packed) <= len(text)


@pytest.mark.parametrize(
    ("text", "size"),
    [
        (b"", 0),
        (b"a\nb", 3),
        (b"abcabc", 5),  # three characters, one near reference
        (b"a" * 34, 4),  # the first, and a far reference that copies what it writes
        (b"a" * 35, 4),
        (b"a" * 291, 5),
        (b"abcd" + bytes(range(0x41, 0x5B)) * 50 + b"abcd", 4 + 26 + 4 * 4 + 4 + 3),  # far back
        (b"vload4(0,p0)vload4(1,p1)", 12 + 2 + 1 + 1 + 1 + 1),  # a near reference, `1`, repeated, `1`, repeated
    ],
)
def test_each_kind_of_reference_takes_the_bytes_that_it_should(text: bytes, size: int) -> None:
    packed = compress(text)
    assert decompress(packed, len(text)) == text
    assert len(packed) <= size


def test_references_reach_as_far_as_they_can() -> None:
    """A line that was 128 K ago is found; what is one further is written again."""
    line = b"__kernel void conv(__read_only image2d_t x)"
    between = bytes(random.Random(1).choices(range(0x20, 0x60), k=1 << 17))
    found = compress(line + between[len(line) :] + line)
    assert found[-4:] == bytes((0xC0 | 31 << 1 | 1, 0xFF, 0xFF, len(line) - 35))
    assert compress(line + between[len(line) - 1 :] + line).endswith(line[-20:])


@pytest.mark.parametrize("text", [b"\t", b"a\x00", "é".encode(), b"\x7f"])
def test_invalid_text_is_refused(text: bytes) -> None:
    with pytest.raises(ValueError, match="is not text"):
        compress(text)


@pytest.mark.parametrize(
    ("data", "size"),
    [
        (b"ab", 3),
        (b"abc", 2),
        (b"a\x00", 3),  # repeats a reference that there was not
        (b"a\x80\x01", 4),  # begins before the text
        (b"a\x80\x00", 3),  # ends behind it
        (b"a\x80", 4),
        (b"a\xc0\x00", 5),
        (b"a\xfe\x00\x00", 36),
    ],
)
def test_damaged_data_is_told(data: bytes, size: int) -> None:
    with pytest.raises(CorruptTextError):
        decompress(data, size)
