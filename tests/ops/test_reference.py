"""The NumPy references against onnxruntime, on every case that it can run."""

from __future__ import annotations

import numpy as np
import pytest

from buildtool.ir.operator import Array
from tests.ops.case import OpCase, cases_of, operators_with_cases

onnxruntime = pytest.importorskip("onnxruntime")

from tests.ops.onnx_forms import form_of, has_form  # noqa: E402

# Cases that onnxruntime refuses, where it passes over NaN and NumPy does not, or that C++ leaves undefined. Tests of
# their own say what these mean.
_EXCUSED = {
    "cast_f32_to_s32_limits",
    "cast_f32_to_u8_limits",
    "matmul_integer_zero_point_per_row",
    "max_pool2d_in_half_nan",
    "max_pool2d_nan",
    "pad_scalar",
    "quantize_linear_not_a_number_int8",
    "quantize_linear_not_a_number_uint8",
    "reduce_max_nan_along_columns",
    "reduce_max_nan_along_rows",
    "reduce_min_nan_along_columns",
    "reduce_min_nan_along_rows",
    "relu_int64",
    "resize2d_f64_linear",  # onnxruntime has no Resize of doubles, and the evaluator of the onnx package differs
    "resize2d_f64_nearest",
    "slice_scalar_from_scalar_by_scalar_for_scalar",
    "topk_largest_not_a_number",
    "topk_smallest_not_a_number",
    "transpose_scalar_as_scalar",
}
_RTOL = {np.dtype(np.float16): 2e-3, np.dtype(np.float32): 1e-5, np.dtype(np.float64): 1e-7}


def _difference(expected: Array, actual: Array) -> str:
    """What is wrong with the result of a reference; empty where nothing is."""
    if expected.shape != actual.shape or expected.dtype != actual.dtype:
        return f"{actual.dtype}{actual.shape} instead of {expected.dtype}{expected.shape}"
    if expected.dtype.kind != "f":
        return "" if np.array_equal(expected, actual) else f"{np.sum(expected != actual)} elements differ"
    finite = np.isfinite(expected)
    if not np.array_equal(expected[~finite], actual[~finite], equal_nan=True):
        return "infinite elements differ"
    error = np.max(np.abs(expected[finite].astype(np.float64) - actual[finite]), initial=0)
    limit = 1e-6 + _RTOL[expected.dtype] * np.max(np.abs(expected[finite].astype(np.float64)), initial=0)
    return "" if error <= limit else f"the largest error is {error:.3g}, above {limit:.3g}"


def _compare(case: OpCase) -> str:
    expected = form_of(case).run()
    actual = case.op.reference(*case.inputs)
    if len(expected) != len(actual):
        return f"{len(actual)} results instead of {len(expected)}"
    return "; ".join(filter(None, map(_difference, expected, actual)))


@pytest.mark.parametrize("operator", operators_with_cases())
def test_reference_agrees_with_onnxruntime(operator: str) -> None:
    if not has_form(operator):
        pytest.skip("no node of the operator set of the forms means the same")
    wrong = {
        case.name: problem for case in cases_of(operator) if str(case) not in _EXCUSED and (problem := _compare(case))
    }
    assert not wrong


def test_excused_cases_exist() -> None:
    names = {str(case) for operator in operators_with_cases() for case in cases_of(operator)}
    assert names >= _EXCUSED
