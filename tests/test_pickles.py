"""The reader of pickles: it builds what data is made of, and calls nothing."""

from __future__ import annotations

import io
import os
import pickle
from collections import OrderedDict
from pathlib import Path
from typing import Any

import pytest

from buildtool.pickles import Name, Opaque, RefusedError, Stateful, follow

DATA = {
    "text": "ä" * 300,
    "numbers": [0, -1, 255, 70000, 2**40, -(2**70), 0.5, True, False, None],
    3: ((), (1,), (1, 2), (1, 2, 3), (1, 2, 3, 4)),
    ("a", 1): {"inner": []},
}


class Call:
    """Pickles as the call of a function."""

    def __init__(self, function: Any, *arguments: Any) -> None:
        self.call = (function, arguments)

    def __reduce__(self) -> tuple[Any, ...]:
        return self.call


def followed(data: bytes, **arguments: Any) -> Any:
    return follow(io.BytesIO(data), **arguments)


@pytest.mark.parametrize("protocol", range(6))
def test_data_is_what_it_was(protocol: int) -> None:
    found = followed(pickle.dumps(DATA, protocol))
    assert found.value == DATA and not found.names


@pytest.mark.parametrize("protocol", range(2, 6))
def test_bytes_are_bytes(protocol: int) -> None:
    builders = {"_codecs.encode": lambda arguments: arguments[0].encode(arguments[1])}
    assert followed(pickle.dumps([b"\x00\xff"], protocol), builders=builders).value == [b"\x00\xff"]


@pytest.mark.parametrize("protocol", range(6))
def test_nothing_is_called_and_all_names_are_told(protocol: int, tmp_path: Path) -> None:
    mark = tmp_path / "executed"
    found = followed(pickle.dumps([Call(os.system, f"touch {mark}"), OrderedDict(a=1)], protocol))
    assert [type(item) for item in found.value] == [Opaque, Opaque]
    assert Name("posix", "system") in found.names and Name("collections", "OrderedDict") in found.names
    assert not mark.exists()


def test_builders_make_what_calls_would_have_made_and_hear_of_state() -> None:
    found = followed(
        pickle.dumps(Call(complex, 1, 2)), builders={"builtins.complex": lambda arguments: Stateful(arguments)}
    )
    assert found.value.state == (1, 2)
    stateful = b"\x80\x02cmod\nthing\n)R}X\x01\x00\x00\x00aK\x01sb."
    assert followed(stateful, builders={"mod.thing": lambda _: Stateful()}).value.state == {"a": 1}
    assert isinstance(followed(stateful).value, Opaque)


def test_persistent_objects_are_made_by_the_caller() -> None:
    data = b"\x80\x02X\x01\x00\x00\x00aK\x07\x86Q."
    assert followed(data, persistent=lambda words: words[1]).value == 7
    assert isinstance(followed(data).value, Opaque)


def test_pickles_behind_one_another_are_followed_one_by_one() -> None:
    stream = io.BytesIO(pickle.dumps(1) + pickle.dumps("two"))
    assert (follow(stream).value, follow(stream).value) == (1, "two")


@pytest.mark.parametrize(
    ("data", "words"),
    [
        (b"", "exhausted"),
        (b"hello", "KeyError"),
        (b"\x80\x02K\x01", "exhausted"),
        (b"\x80\x020.", "IndexError"),
        (b"(ios\nsystem\n.", "INST is unusual"),
        (b"\x82\x01.", "EXT1 is unusual"),
        (b"\x80\x04K\x01K\x02\x93.", "a name is not a string"),
        (b"\x80\x02K\x01Q.", "no description"),
        (b"}]K\x01s.", "unusual keys"),
        (b"\x80\x02})" + b"\x85" * 200_000 + b"K\x01s.", "unusual keys"),
        (b"\x80\x04\x8d\xff\xff\xff\xff\xff\xff\xff\x7f.", "damaged"),
    ],
)
def test_damaged_or_unusual_pickles_are_refused(data: bytes, words: str) -> None:
    """Among it tuples within tuples as keys, whose hash Python computes by recursion without an end."""
    with pytest.raises(RefusedError, match=words):
        followed(data)
