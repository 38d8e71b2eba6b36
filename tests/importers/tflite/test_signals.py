"""Transforms of signals, whose complex results are two tensors each, give what LiteRT gives."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from buildtool.errors import UnsupportedError
from buildtool.passes.pipeline import optimise
from tests.importers.tflite.harness import imported, ints, litert, random, run
from tests.importers.tflite.writer import GraphSpec, NodeSpec, TensorSpec, write


def _file(rows: int, size: int, lengths: tuple[int, int], *, last: str = "") -> bytes:
    """x[2, rows, size] -> RFFT2D -> a transpose of its spectrum -> magnitude, real and imaginary part."""
    tensors = [
        TensorSpec("x", "float32", (2, rows, size)),
        TensorSpec("lengths", "int32", (2,), ints(*lengths)),
        TensorSpec("order", "int32", (3,), ints(0, 2, 1)),
        TensorSpec("spectrum", "complex64", ()),
        TensorSpec("turned", "complex64", ()),
        *(TensorSpec(name, "float32", ()) for name in ("length", "first", "second")),
    ]
    nodes = [
        NodeSpec("RFFT2D", (0, 1), (3,), "Rfft2dOptions"),
        NodeSpec(last or "TRANSPOSE", (3, 2), (4,), "" if last else "TransposeOptions"),
        NodeSpec("COMPLEX_ABS", (4,), (5,)),
        NodeSpec("REAL", (4,), (6,)),
        NodeSpec("IMAG", (4,), (7,)),
    ]
    return write(GraphSpec(tensors, nodes, (0,), (5, 6, 7)))


@pytest.mark.parametrize(("rows", "size", "lengths"), [(1, 64, (1, 64)), (1, 512, (1, 512)), (4, 16, (4, 16))])
def test_spectra(rows: int, size: int, lengths: tuple[int, int], tmp_path: Path) -> None:
    # LiteRT has no transpose of complex numbers: the expected values come from NumPy.
    x = random(2, rows, size)
    spectrum = np.fft.rfft2(x.astype(np.float64), lengths).transpose(0, 2, 1)
    expected = np.abs(spectrum), spectrum.real, spectrum.imag
    graph = imported(_file(rows, size, lengths), tmp_path).graph
    for _ in range(2):
        for result, wanted in zip(run(graph, {"x": x}), expected, strict=True):
            np.testing.assert_allclose(result, wanted, rtol=1e-5, atol=3e-7 * np.abs(spectrum).max())
        optimise(graph)


def test_the_transform_of_a_row_is_that_of_litert(tmp_path: Path) -> None:
    tensors = [
        TensorSpec("x", "float32", (3, 1, 32)),
        TensorSpec("lengths", "int32", (2,), ints(1, 32)),
        TensorSpec("spectrum", "complex64", ()),
        TensorSpec("y", "float32", ()),
    ]
    nodes = [
        NodeSpec("RFFT2D", (0, 1), (2,), "Rfft2dOptions"),
        NodeSpec("COMPLEX_ABS", (2,), (3,)),
    ]
    file, x = write(GraphSpec(tensors, nodes, (0,), (3,))), random(3, 1, 32)
    result, wanted = run(imported(file, tmp_path).graph, {"x": x})[0], litert(file, {"x": x})[0]
    np.testing.assert_allclose(result, wanted, rtol=1e-5, atol=1e-5)


def test_other_operators_on_complex_numbers_are_refused(tmp_path: Path) -> None:
    with pytest.raises(UnsupportedError, match="COMPLEX64"):
        imported(_file(1, 16, (1, 16), last="REVERSE_V2"), tmp_path)
