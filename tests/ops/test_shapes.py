"""Inferred types: equal to what references compute, with numbers and with symbols alike."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from dataclasses import replace

import numpy as np
import pytest

from buildtool.ir import dims
from buildtool.ir.dims import DimExpr, Shape, symbol
from buildtool.ir.operator import Operator, OperatorError
from buildtool.ir.types import DType, TensorType, dtype_of
from buildtool.ops.conv2d import Conv2d
from buildtool.ops.max_pool2d import MaxPool2d
from buildtool.ops.mul import Mul
from buildtool.ops.reshape import Reshape
from buildtool.ops.resize2d import Resize2d
from buildtool.ops.slice import Slice
from tests.ops.case import OpCase, cases_of, operators_with_cases

N = symbol("n", 1, 64)
M = symbol("m", 1, 64)
_FIXED_WEIGHTS = {"conv2d", "dwconv2d", "deconv2d"}  # they have to know their filter, even a computed one


def _f32(*shape: dims.Dim) -> TensorType:
    return TensorType(DType.F32, shape)


def _evaluated(types: Sequence[TensorType], **values: int) -> list[TensorType]:
    return [type_.with_shape(tuple(dims.evaluate(dim, values) for dim in type_.shape)) for type_ in types]


@pytest.mark.parametrize("operator", operators_with_cases())
def test_inferred_types_are_those_of_the_results(operator: str) -> None:
    for case in cases_of(operator):
        inferred = list(case.op.infer(case.types))
        computed = [TensorType(dtype_of(array), array.shape) for array in case.op.reference(*case.inputs)]
        assert _evaluated(inferred, **_found(inferred, computed)) == computed, str(case)


def _found(inferred: Sequence[TensorType], computed: Sequence[TensorType]) -> dict[str, int]:
    """The sizes that the data decided, by their symbols."""
    types = zip(inferred, computed, strict=True)
    pairs = (pair for old, new in types for pair in zip(old.shape, new.shape, strict=True))
    return {
        dim.symbol.name: size
        for dim, size in pairs
        if isinstance(dim, DimExpr) and dim.symbol is not None and isinstance(size, int)
    }


def _with_room(op: Operator) -> Operator:
    """The operator, with sizes that data decides bounded by nothing that a case holds."""
    if op.data_sizes is None:
        return op
    return replace(op, **{op.data_sizes: (symbol("found", 0, 2**31 - 2),)})


def _with_symbol(case: OpCase, size: int, axis: int | None) -> list[TensorType]:
    """The input types with a symbol for one axis of the first input, or for this size in all inputs but weights."""

    def shape_of(position: int, shape: Shape) -> Shape:
        if axis is not None:
            return (*shape[:axis], N, *shape[axis + 1 :]) if position == 0 else shape
        weight = position in case.constants or (position > 0 and case.op.name in _FIXED_WEIGHTS)
        return shape if weight else tuple(N if dim == size else dim for dim in shape)

    return [type_.with_shape(shape_of(position, type_.shape)) for position, type_ in enumerate(case.types)]


@pytest.mark.parametrize("operator", operators_with_cases())
def test_symbols_give_the_same_shapes_as_numbers(operator: str) -> None:
    tried = 0
    cases = [case for case in cases_of(operator) if case.inputs]
    for case in cases:
        shape, op = case.inputs[0].shape, _with_room(case.op)
        variants: list[tuple[int, int | None]] = [(size, axis) for axis, size in enumerate(shape) if 1 <= size <= 64]
        variants += [(size, None) for size in sorted(set(shape)) if 1 < size <= 64]
        for (size, axis), step in itertools.product(variants, (0, 1, 5)):
            types = _with_symbol(case, size, axis)
            try:
                concrete = list(op.infer(_evaluated(types, n=size + step)))
            except OperatorError:
                assert step, str(case)  # another size need not fit the other inputs or the attributes
                continue
            tried += 1
            found = {item.name: 1 for item in op.defined_symbols()}
            try:
                inferred = _evaluated(op.infer(types), n=size + step, **found)
            except OperatorError as refusal:
                assert "must be a constant" in str(refusal), f"{case} axis {axis}"  # an operator may have to know some
                continue
            assert inferred == _evaluated(concrete, **found), f"{case} axis {axis} size {size + step}"
    assert tried >= 20 or not cases


@pytest.mark.parametrize("operator", operators_with_cases())
def test_transposed_operator_computes_the_transposed_result(operator: str) -> None:
    rng = np.random.default_rng(1)
    for case in cases_of(operator):
        rank = max((array.ndim for array in case.inputs), default=0)
        results = case.op.reference(*case.inputs)
        for perm in {tuple(int(axis) for axis in rng.permutation(rank)) for _ in range(2)} | {tuple(range(rank))}:
            other = case.op.transposed(perm, case.types)
            if other is None or any(result.ndim != rank for result in results):
                continue
            inputs = []
            for array in case.inputs:
                if array.ndim < rank and case.op.is_elementwise:
                    array = array.reshape((1,) * (rank - array.ndim) + array.shape)
                inputs.append(array.transpose(perm) if array.ndim == rank else array)
            for expected, actual in zip(results, other.reference(*inputs), strict=True):
                np.testing.assert_allclose(
                    actual, expected.transpose(perm), rtol=1e-3, atol=1e-5, err_msg=f"{case} {perm}"
                )


def test_macs() -> None:
    op = Conv2d(pads=(1, 1, 1, 1), groups=2)
    inputs = [_f32(N, 8, 8, 4), _f32(6, 3, 3, 2)]
    assert op.macs(inputs, op.infer(inputs)) == N * (8 * 8 * 6 * 3 * 3 * 2)


def test_symbolic_attributes_are_bound_before_evaluation() -> None:
    op = Slice((N - 1, 0), (-1, 1), (N, 3))
    assert op.infer([_f32(N, 5)]) == (_f32(N, 3),)
    assert op.bound({"n": 4}) == Slice((3, 0), (-1, 1), (4, 3))
    resize = Resize2d((N * 2, 6), (2.0, 2.0), "nearest", "asymmetric", "floor")
    assert resize.infer([_f32(1, N, 3, 2)]) == (_f32(1, N * 2, 6, 2),)
    assert resize.bound({"n": 3}).size == (6, 6)
    plain = replace(resize, size=(4, 4))
    assert plain.bound({"n": 3}) is plain


def test_reshape_counts_with_symbols() -> None:
    assert Reshape((N * 12,)).infer([_f32(3, N, 4)])[0].shape == (N * 12,)
    assert Reshape((M, N)).infer([_f32(N, M)])[0].shape == (M, N)
    with pytest.raises(OperatorError, match="elements"):
        Reshape((N, 5)).infer([_f32(N, 4)])
    with pytest.raises(OperatorError, match="elements"):
        Reshape((1000,)).infer([_f32(N, 4)])


def test_broadcast_of_symbols() -> None:
    large = symbol("large", 2, 9)
    assert Mul().infer([_f32(N), _f32(N)])[0].shape == (N,)
    assert Mul().infer([_f32(N), _f32(1)])[0].shape == (N,)
    assert Mul().infer([_f32(N), _f32(7)])[0].shape == (7,)
    assert Mul().infer([_f32(N), _f32(large)])[0].shape == (large,)
    assert Mul().infer([_f32(N), _f32(M)])[0].shape == (dims.maximum(N, M),)
    with pytest.raises(OperatorError, match="do not broadcast"):
        Mul().infer([_f32(large), _f32(12)])


def test_window_must_fit_the_largest_size() -> None:
    small = symbol("small", 1, 4)
    with pytest.raises(OperatorError, match="not positive"):
        MaxPool2d(kernel=(5, 5)).infer([_f32(1, small, 9, 1)])


def test_arity_is_checked() -> None:
    x = _f32(2, 2)
    op: Operator
    for op, count in ((Mul(), 1), (Mul(), 3), (Conv2d(), 5), (Reshape((4,)), 0)):
        with pytest.raises(OperatorError, match=f"not {count}"):
            op.infer([x] * count)
