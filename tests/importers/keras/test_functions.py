"""Functions of `keras.ops` as nodes of a model, against NumPy."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from buildtool.errors import UnsupportedError
from tests.importers.keras import writer
from tests.importers.keras.harness import imported, run

_X = np.linspace(0.2, 7.5, 24).reshape(1, 4, 6).astype(np.float32)
_UNARY: dict[str, Callable[[Any], Any]] = {
    "Abs": np.abs,
    "Absolute": np.abs,
    "Cos": np.cos,
    "Exp": np.exp,
    "Log": np.log,
    "Negative": np.negative,
    "Relu": lambda x: np.maximum(x, 0),
    "Relu6": lambda x: np.clip(x, 0, 6),
    "Sigmoid": lambda x: 1 / (1 + np.exp(-x)),
    "Silu": lambda x: x / (1 + np.exp(-x)),
    "Sin": np.sin,
    "Softplus": lambda x: np.log1p(np.exp(x)),
    "Softsign": lambda x: x / (1 + np.abs(x)),
    "Sqrt": np.sqrt,
    "Square": np.square,
    "Tanh": np.tanh,
}
_BINARY: dict[str, Callable[[Any, Any], Any]] = {
    "Divide": np.divide,
    "Maximum": np.maximum,
    "Minimum": np.minimum,
    "Power": np.power,
}
_REDUCTIONS: dict[str, Callable[..., Any]] = {"Max": np.max, "Mean": np.mean, "Min": np.min, "Sum": np.sum}


def _result(folder: Path, op: str, call: list[Any], **settings: Any) -> np.ndarray:
    node = {**writer.layer(op, "f", **settings), "module": "keras.src.ops.numpy", "registered_name": op}
    model = writer.functional([(writer.given(4, 6), []), (node, [call])], [["x", 0, 0]], [["f", 0, 0]])
    return run(imported(writer.h5(model, version="3.15.1"), folder, ".h5").graph, [_X])[0]


@pytest.mark.parametrize("op", _UNARY)
def test_of_one_tensor(op: str, tmp_path: Path) -> None:
    np.testing.assert_allclose(_result(tmp_path, op, [["x", 0, 0, {}]]), _UNARY[op](_X), rtol=1e-5)


@pytest.mark.parametrize("op", _BINARY)
def test_with_a_number(op: str, tmp_path: Path) -> None:
    call = [["x", 0, 0, {}], ["_CONSTANT_VALUE", -1, 2, {}]]
    np.testing.assert_allclose(_result(tmp_path, op, call), _BINARY[op](_X, np.float32(2)), rtol=1e-5)


def _slice(start: int | None, stop: int | None, step: int | None) -> dict[str, Any]:
    return {"class_name": "__slice__", "config": {"start": start, "stop": stop, "step": step}}


_REST = {"class_name": "__ellipsis__", "config": {}}


@pytest.mark.parametrize(
    ("index", "expected"),
    [
        ([_slice(None, None, None), _slice(1, None, 2)], _X[:, 1::2]),
        ([_REST, _slice(None, None, -1)], _X[..., ::-1]),
        ([_slice(None, None, None), -1], _X[:, -1]),
        ([_slice(None, None, None), None, _slice(-3, -1, None), 2], _X[:, None, -3:-1, 2]),
        ([_slice(None, None, None), _slice(9, 0, -2), _REST, 0], _X[:, 9:0:-2, 0]),
    ],
    ids=str,
)
def test_of_an_index(index: Any, expected: np.ndarray, tmp_path: Path) -> None:
    tensor = {"class_name": "__keras_tensor__", "config": {"keras_history": ["x", 0, 0]}}
    model = _indexed([tensor, index])
    np.testing.assert_array_equal(run(imported(model, tmp_path, ".h5").graph, [_X])[0], expected)


def _indexed(arguments: Any) -> bytes:
    call = {"args": arguments, "kwargs": {}}
    node = (writer.layer("GetItem", "f"), [call])
    return writer.h5(
        writer.functional([(writer.given(4, 6), []), node], [["x", 0, 0]], [["f", 0, 0]]), version="3.15.1"
    )


def test_an_index_by_a_tensor_is_refused(tmp_path: Path) -> None:
    tensor = {"class_name": "__keras_tensor__", "config": {"keras_history": ["x", 0, 0]}}
    with pytest.raises(UnsupportedError, match="indices are integers, slices of integers"):
        imported(_indexed([tensor, [_slice(None, None, None), tensor]]), tmp_path, ".h5")


@pytest.mark.parametrize("op", _REDUCTIONS)
def test_over_axes(op: str, tmp_path: Path) -> None:
    found = _result(tmp_path, op, [["x", 0, 0, {}]], axis=[1], keepdims=True)
    np.testing.assert_allclose(found, _REDUCTIONS[op](_X, axis=1, keepdims=True), rtol=1e-5)
