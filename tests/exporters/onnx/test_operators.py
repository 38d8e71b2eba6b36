"""Every operator of the graph becomes ONNX nodes that compute what its NumPy reference computes."""

from __future__ import annotations

import itertools
from collections.abc import Iterator

import numpy as np
import pytest
import yaml

from buildtool import resources
from buildtool.exporters.onnx.registry import handlers
from buildtool.ops.leaky_relu import LeakyRelu
from buildtool.ops.registry import builtin
from tests.exporters.onnx.harness import NobodyRunsItError, checked, differences, run
from tests.ops.case import cases_of, operators_with_cases
from tests.ops.native_cases import NativeCase, case_graph, variants
from tests.targets.opencl.device_library import Mode, on_device

MANIFESTS = resources.root() / "native" / "ops"
#: Cases that are exported, but whose result nobody here can confirm. docs/reference/commands.md lists the same.
EXCUSED = {
    "cast_f32_to_s32_limits": "numbers outside of the integer's range are left open by ONNX",
    "cast_f32_to_u8_limits": "numbers outside of the integer's range are left open by ONNX",
    "grid_sample_3_cubic_border_2x3x4x5x2": "cubic samples of volumes: onnxruntime has none, the onnx package differs",
    "grid_sample_wild_border": "onnxruntime reads elsewhere where a position is no number or far away",
    "grid_sample_wild_zeros": "onnxruntime reads elsewhere where a position is no number or far away",
    "group_norm_4x10_in_5": "onnxruntime loses digits where a group has two elements that are nearly equal",
    "group_norm_far_from_zero": "onnxruntime loses digits where the mean is much larger than the deviation",
    "inverse_singular": "what has no inverse is left open",
    "inverse_zeros": "what has no inverse is left open",
    "max_pool_indices_nan_and_infinity": "what is not a number is left open by ONNX",
    "max_pool2d_in_half_nan": "what is not a number is left open by ONNX",
    "max_pool2d_nan": "what is not a number is left open by ONNX",
    "max_roi_pool_wild_regions": "onnxruntime refuses pictures that do not exist",
    "one_hot_bool": "onnxruntime has no OneHot of bool",
    "reduce_max_nan_along_columns": "what is not a number is left open by ONNX",
    "reduce_max_nan_along_rows": "what is not a number is left open by ONNX",
    "reduce_min_nan_along_columns": "what is not a number is left open by ONNX",
    "reduce_min_nan_along_rows": "what is not a number is left open by ONNX",
    "roi_align_wild_regions": "onnxruntime refuses pictures that do not exist",
    "topk_largest_not_a_number": "what is not a number is left open by ONNX",
    "topk_smallest_not_a_number": "what is not a number is left open by ONNX",
}
#: Lengths of sequences outside of 1 to the number of steps, which onnxruntime refuses or takes for no state at all.
_LENGTHS = "_with_lengths"


def _of(operator: str) -> Iterator[tuple[str, NativeCase]]:
    """The cases of an operator as graphs: fixed, without constants, and with a size of run time."""
    for case in cases_of(operator):
        lengths = case.inputs[-1] if case.name.endswith(_LENGTHS) else None
        if lengths is not None and not ((lengths >= 1) & (lengths <= case.inputs[0].shape[0])).all():
            continue
        if str(case) not in EXCUSED:
            yield from ((str(case), native) for native in variants(case))


def _tolerance(operator: str) -> tuple[float, float]:
    """The widest of an operator's kernels: relative to the largest number, and at all."""
    kernels = yaml.safe_load((MANIFESTS / operator / "op.yaml").read_text())["kernels"]
    given = [kernel.get("tolerance", {}) for kernel in kernels]
    return max(item.get("rtol", 0.0) for item in given), max(1e-6, *(item.get("atol", 0.0) for item in given))


def _wrong(operator: str, cases: Iterator[tuple[str, NativeCase]]) -> dict[str, str]:
    rtol, atol = _tolerance(operator)
    wrong: dict[str, str] = {}
    for _, case in cases:
        feeds = {value.name: array for value, array in zip(case.graph.inputs, case.inputs, strict=True)}
        try:
            found = run(checked(case.graph).content, feeds)
        except NobodyRunsItError as problem:
            wrong[case.name] = str(problem)
            continue
        if differ := differences(case.expected, found, rtol, atol):
            wrong[case.name] = differ
    return wrong


@pytest.mark.parametrize("operator", operators_with_cases())
def test_exported_operator_computes_the_same(operator: str) -> None:
    """Every seventh case, and sizes of run time for some of them; the sweep has all."""
    every = list(_of(operator))
    some = itertools.chain(
        every[::7],
        [item for item in every if "_symbol" in item[1].name][:4],
        [item for item in every if "_variable" in item[1].name][:2],
    )
    assert _wrong(operator, some) == {}


@pytest.mark.sweep
@pytest.mark.parametrize("operator", operators_with_cases())
def test_exported_operator_computes_the_same_in_all_cases(operator: str) -> None:
    assert _wrong(operator, _of(operator)) == {}


def test_a_part_for_a_gpu_computes_the_same() -> None:
    pixels = np.linspace(-1, 1, 24, dtype=np.float32).reshape(1, 2, 3, 4)
    graph = on_device(case_graph(LeakyRelu(0.1), (pixels,), frozenset()), Mode())
    (found,) = run(checked(graph).content, {"x0": pixels})
    np.testing.assert_allclose(found, LeakyRelu(0.1).reference(pixels)[0], rtol=1e-6)


def test_all_operators_have_a_handler() -> None:
    assert set(builtin()) == set(handlers())


def test_excused_cases_exist() -> None:
    names = {str(case) for operator in operators_with_cases() for case in cases_of(operator)}
    assert names >= set(EXCUSED)
