"""What references promise beyond onnxruntime: limits, integer rules, halves, and inputs that stay as they are."""

from __future__ import annotations

import numpy as np
import pytest

from buildtool.ir.operator import Array, OperatorError
from buildtool.ir.types import DType, round_to_bf16
from buildtool.ops.avg_pool2d import AvgPool2d
from buildtool.ops.cast import Cast
from buildtool.ops.clip import Clip
from buildtool.ops.conv2d import Conv2d
from buildtool.ops.div import Div
from buildtool.ops.gather import Gather
from buildtool.ops.max_pool2d import MaxPool2d
from buildtool.ops.mul import Mul
from buildtool.ops.pad import Pad
from buildtool.ops.pow import Pow
from buildtool.ops.reduce_mean import ReduceMean
from buildtool.ops.relu import Relu
from buildtool.ops.slice import Slice
from buildtool.ops.softmax import Softmax
from buildtool.ops.transpose import Transpose
from tests.ops.case import OpCase, all_cases


def _row(*numbers: float, dtype: type = np.float32) -> Array:
    return np.array(numbers, dtype)


def test_references_leave_their_inputs_alone() -> None:
    for case in all_cases():
        before = [array.copy() for array in case.inputs]
        for array in case.inputs:
            array.setflags(write=False)
        case.op.reference(*case.inputs)
        for old, new in zip(before, case.inputs, strict=True):
            np.testing.assert_array_equal(old, new, err_msg=str(case))


def test_float_to_integer_saturates() -> None:
    numbers = _row(-np.inf, -3e9, -2.9, 2.9, 3e9, np.inf, np.nan)
    (result,) = Cast(DType.S32).reference(numbers)
    assert result.tolist() == [-(2**31), -(2**31), -2, 2, 2**31 - 1, 2**31 - 1, 0]
    (result,) = Cast(DType.U8).reference(_row(-1.0, 255.9, 256.0))
    assert result.tolist() == [0, 255, 255]
    (result,) = Cast(DType.S64).reference(_row(-1e30, 1e30))
    assert result.tolist() == [-(2**63), 2**63 - 1]


def test_cast_to_bf16_rounds_to_even() -> None:
    (result,) = Cast(DType.BF16).reference(_row(1.0, 1.00390625, 1.01171875, 3.4e38, np.inf))
    assert result.tolist() == [1.0, 1.0, 1.015625, np.inf, np.inf]
    assert np.isnan(round_to_bf16(_row(np.nan))).all()


def test_integer_division_cuts_towards_zero_and_survives_zero() -> None:
    a = _row(7, -7, 7, -7, 5, -(2**31), dtype=np.int32)
    b = _row(2, 2, -2, -2, 0, -1, dtype=np.int32)
    assert Div().reference(a, b)[0].tolist() == [3, -3, -3, 3, 0, -(2**31)]


def test_integers_wrap_around() -> None:
    assert Mul().reference(_row(2**30, dtype=np.int32), _row(4, dtype=np.int32))[0].tolist() == [0]


def test_negative_powers_of_integers() -> None:
    a, b = _row(1, -1, -1, 2, 0, dtype=np.int64), _row(-3, -3, -2, -1, -1, dtype=np.int64)
    assert Pow().reference(a, b)[0].tolist() == [1, -1, 1, 0, 0]


def test_mean_of_integers_cuts_towards_zero() -> None:
    assert ReduceMean((0,), False).reference(_row(-3, -4, dtype=np.int32))[0].tolist() == -3


def test_clip_of_integers_rounds_bounds_inwards() -> None:
    numbers = _row(-9, -2, 0, 4, 9, dtype=np.int8)
    assert Clip(-2.5, 4.5).reference(numbers)[0].tolist() == [-2, -2, 0, 4, 4]
    assert Clip(-np.inf, np.inf).reference(numbers)[0].tolist() == numbers.tolist()
    assert Clip(np.inf, np.inf).reference(numbers)[0].tolist() == [127] * 5


def test_relu_of_s64() -> None:
    assert Relu().reference(_row(-1, 2**40, dtype=np.int64))[0].tolist() == [0, 2**40]


def test_rank_0() -> None:
    scalar = np.array(2.5, np.float32)
    for op in (Pad((), (), "edge", 0.0), Slice((), (), ()), Transpose(())):
        (result,) = op.reference(scalar)
        assert result.shape == () and result == scalar


def test_windows_without_elements() -> None:
    x = np.ones((1, 2, 2, 1), np.float32)
    far = {"kernel": (2, 2), "dilations": (3, 3), "pads": (1, 1, 1, 1)}
    assert MaxPool2d(**far).reference(x)[0].tolist() == [[[[-np.inf]]]]  # type: ignore[arg-type]
    assert AvgPool2d(**far).reference(x)[0].tolist() == [[[[0.0]]]]  # type: ignore[arg-type]


def test_no_elements() -> None:
    x = np.ones((0, 5), np.float32)
    assert Softmax(1).reference(x)[0].shape == (0, 5)
    assert Softmax(0).reference(x)[0].shape == (0, 5)


def test_index_out_of_range() -> None:
    with pytest.raises(OperatorError, match=r"index 5 is outside -5\.\.4"):
        Gather(0).reference(np.zeros(5, np.float32), np.array([0, 5]))


def test_halves_are_summed_in_single_precision() -> None:
    x = np.full((1, 1, 1, 4096), 0.1, np.float16)
    w = np.ones((1, 1, 1, 4096), np.float16)
    (result,) = Conv2d().reference(x, w)
    assert result.dtype == np.float16
    assert abs(float(result.item()) - 4096 * float(np.float16(0.1))) < 0.3


def test_cases_have_unique_names() -> None:
    names = [str(case) for case in all_cases()]
    assert len(names) == len(set(names))


def test_cases_are_the_same_every_time() -> None:
    def digest(case: OpCase) -> tuple[str, tuple[bytes, ...]]:
        return str(case.op), tuple(array.tobytes() for array in case.inputs)

    assert [digest(case) for case in all_cases()] == [digest(case) for case in all_cases()]
