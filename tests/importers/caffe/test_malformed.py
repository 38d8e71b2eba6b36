"""Damaged files: a network or one clear error each, quickly, and nothing else."""

from __future__ import annotations

import re
import time
from pathlib import Path

import numpy as np
import pytest

from buildtool.errors import InternalError, LatheError
from buildtool.importers.caffe import import_model
from buildtool.importers.request import ImportRequest
from buildtool.passes.pipeline import optimise
from tests.importers.caffe.cases import Case, one
from tests.importers.caffe.more_cases import CASES

#: Damaged weights may be any numbers, and passes compute with them.
pytestmark = pytest.mark.filterwarnings("ignore:.*encountered in:RuntimeWarning")
MOST_SECONDS = 5.0
_NUMBERS = ("-1", "0", "1", "7", "65536", "2147483647", "4294967295", "99999999999999999999", "0.5", "inf", "nan", "x")


def _attempt(folder: Path, text: bytes, model: bytes) -> bool:
    """Whether there was an error. Any other than a typed one ends the test."""
    prototxt, weights = folder / "net.prototxt", folder / "net.caffemodel"
    prototxt.write_bytes(text)
    weights.write_bytes(model)
    started = time.process_time()
    try:
        optimise(import_model(ImportRequest("hostile", prototxt, weights)).graph)
    except LatheError as problem:
        assert not isinstance(problem, InternalError), problem
        assert all(one.where.file in (str(prototxt), str(weights)) for one in problem.problems), problem
        return True
    finally:
        assert time.process_time() - started < MOST_SECONDS
    return False


_WHOLE = next(case for case in CASES if case.name == "in_place")


def test_the_healthy_network_is_healthy(tmp_path: Path) -> None:
    assert not _attempt(tmp_path, _WHOLE.prototxt().encode(), _WHOLE.caffemodel())


def test_truncated_files(tmp_path: Path) -> None:
    text, model = _WHOLE.prototxt().encode(), _WHOLE.caffemodel()
    for size in range(0, len(model) - 2, 5):
        assert _attempt(tmp_path, text, model[:size]), size
    for size in range(0, len(text) - 2, 9):
        _attempt(tmp_path, text[:size], model)


def test_flipped_bits(tmp_path: Path) -> None:
    generator = np.random.default_rng(5)
    for whole in (_WHOLE.prototxt().encode(), _WHOLE.caffemodel()):
        for _ in range(100):
            data = bytearray(whole)
            for position in generator.choice(len(whole), size=generator.integers(1, 4)):
                data[position] ^= 1 << int(generator.integers(8))
            other = (
                (bytes(data), _WHOLE.caffemodel()) if whole[:1] == b"i" else (_WHOLE.prototxt().encode(), bytes(data))
            )
            _attempt(tmp_path, *other)


@pytest.mark.parametrize("case", CASES[::2], ids=str)
def test_other_numbers(case: Case, tmp_path: Path) -> None:
    """Each number of a layer, or the size of an input, becomes one that is often wrong."""
    text, generator = case.prototxt(), np.random.default_rng(len(case.name))
    places = [match.span() for match in re.finditer(r"(?<=: )-?[\d.]+", text)]
    for start, end in places[:: max(1, len(places) // 4)]:
        number = str(generator.choice(_NUMBERS))
        _attempt(tmp_path, (text[:start] + number + text[end:]).encode(), case.caffemodel())


@pytest.mark.parametrize(
    ("kind", "parameters", "shape"),
    [
        ("Tile", "tile_param { tiles: 0 }", (1, 2, 3)),
        ("Interp", "interp_param { height: 7 width: 9 pad_beg: 1 }", (1, 2, 4, 5)),
        ("Interp", "interp_param { height: 7 width: 9 pad_end: 1 }", (1, 2, 4, 5)),
        ("Interp", "interp_param { height: 7 width: 9 pad_beg: -4 }", (1, 2, 4, 5)),
        ("Reorg", "reorg_param { stride: 2 }", (1, 1, 2, 2)),
        ("Reorg", "reorg_param { stride: 2 }", (1, 4, 3, 4)),
        ("Reorg", "reorg_param { stride: 2 }", (1, 4, 4, 3)),
        ("Reorg", "reorg_param { stride: 2 reverse: true }", (1, 6, 4, 4)),
        ("ShuffleChannel", "shuffle_channel_param { group: 4 }", (2, 6, 2, 3)),
        ("Slice", "slice_param { slice_point: 6 }", (1, 6, 3, 4)),
    ],
)
def test_parameters_that_do_not_fit(kind: str, parameters: str, shape: tuple[int, ...], tmp_path: Path) -> None:
    case = one(kind, parameters, shape)
    assert _attempt(tmp_path, case.prototxt().encode(), case.caffemodel())


@pytest.mark.parametrize("case", CASES[1::2], ids=str)
def test_missing_parts(case: Case, tmp_path: Path) -> None:
    """A line less, a blob less, blobs of another layer."""
    lines = case.prototxt().splitlines()
    for index in range(0, len(lines), 3):
        _attempt(tmp_path, "\n".join([*lines[:index], *lines[index + 1 :]]).encode(), case.caffemodel())
    _attempt(tmp_path, case.prototxt().encode(), _WHOLE.caffemodel())
