"""Attributes: normal forms, and values that no operator may take."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from buildtool.ir.attributes import AttrKind, format_attribute
from buildtool.ir.dims import symbol
from buildtool.ir.operator import OperatorError, RegionType
from buildtool.ir.types import DType, TensorType
from buildtool.ops.clip import Clip
from buildtool.ops.concat import Concat
from buildtool.ops.conv2d import Conv2d
from buildtool.ops.deconv2d import Deconv2d
from buildtool.ops.leaky_relu import LeakyRelu
from buildtool.ops.max_pool2d import MaxPool2d
from buildtool.ops.pad import Pad
from buildtool.ops.reduce_sum import ReduceSum
from buildtool.ops.registry import builtin
from buildtool.ops.resize2d import Resize2d
from buildtool.ops.slice import Slice
from buildtool.ops.softmax import Softmax
from buildtool.ops.split import Split
from buildtool.ops.transpose import Transpose


def test_normal_forms() -> None:
    op = Conv2d(strides=[np.int64(2), 1], groups=np.int32(3), activation_alpha=1)  # type: ignore[arg-type]
    assert op.strides == (2, 1) and type(op.strides[0]) is int
    assert type(op.groups) is int and type(op.activation_alpha) is float
    assert LeakyRelu(0.1).alpha == float(np.float32(0.1))
    assert LeakyRelu(0.1) == LeakyRelu(float(np.float32(0.1)))
    assert hash(op) == hash(Conv2d(strides=(2, 1), groups=3, activation_alpha=1.0))


def test_text_of_attributes() -> None:
    assert str(LeakyRelu(0.1)) == "leaky_relu {alpha=0.1}"
    assert format_attribute((symbol("n") + 1, 2)) == "[(n + 1), 2]"
    assert format_attribute('a"b\n') == '"a\\"b\\n"'
    assert format_attribute(-math.inf) == "-inf"
    assert format_attribute(DType.BF16) == "bf16"


def test_kinds() -> None:
    assert Slice.attribute_kinds() == {"starts": AttrKind.DIMS, "steps": AttrKind.INTS, "sizes": AttrKind.DIMS}


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: Conv2d(strides=(0, 1)), "'strides' holds 0, which is below 1"),
        (lambda: Conv2d(strides=(1,)), "'strides' needs 2 values, not 1"),
        (lambda: Conv2d(pads=(0, -1, 0, 0)), "'pads' holds -1, which is below 0"),
        (lambda: Conv2d(groups=0), "'groups' is 0"),
        (lambda: Conv2d(groups=2**40), "attribute 'groups' is an integer that does not fit 32 bits"),
        (lambda: Conv2d(groups=True), "attribute 'groups' is True, not an integer"),
        (lambda: Conv2d(activation="gelu"), "'activation' is 'gelu', which is not one of none, relu"),
        (lambda: Conv2d(activation="clip", activation_alpha=1.0), "no values between 1.0 and 0.0"),
        (lambda: Conv2d(strides="ab"), "attribute 'strides' is 'ab', not a list of integers"),  # type: ignore[arg-type]
        (lambda: Deconv2d(output_padding=(1, 0)), "'output_padding' holds 1"),
        (lambda: MaxPool2d(kernel=(2, 2), pads=(2, 0, 0, 0)), "not below the 2 elements that a window spans"),
        (lambda: MaxPool2d(kernel=(2, 0)), "'kernel' holds 0"),
        (lambda: MaxPool2d(kernel=(2, 2), ceil_mode=1), "attribute 'ceil_mode' is 1, not true or false"),  # type: ignore[arg-type]
        (lambda: Clip(2.0, 1.0), "no values between 'low' 2.0 and 'high' 1.0"),
        (lambda: Clip(math.nan, 1.0), "attribute 'low' is not a number"),
        (lambda: LeakyRelu(1e300), "attribute 'alpha' is not a number that fits a 32-bit float"),
        (lambda: LeakyRelu(10**400), "attribute 'alpha' is not a number"),
        (lambda: LeakyRelu(math.inf), "'alpha' is inf, which is not finite"),
        (lambda: ReduceSum((1, 0), True), "'axes' are sorted and different"),
        (lambda: ReduceSum((-1,), True), "'axes' holds -1"),
        (lambda: Split(0, ()), "'sizes' is empty"),
        (lambda: Split(0, (3, -1)), "'sizes' holds -1"),
        (lambda: Slice((0,), (0,), (1,)), "'steps' holds 0"),
        (lambda: Slice((0,), (1, 1), (1,)), "one entry per axis, but hold 1, 2 and 1"),
        (lambda: Slice((-1,), (1,), (1,)), "'starts' holds -1"),
        (lambda: Transpose((0, 0)), r"'perm' is \[0, 0\], which is not a permutation of 2 axes"),
        (lambda: Pad((1,), (1,), "mirror", 0.0), "'mode' is 'mirror'"),
        (lambda: Pad((-1,), (1,), "edge", 0.0), "'before' holds -1"),
        (lambda: Resize2d((0, 1), (1.0, 1.0), "nearest", "asymmetric", "floor"), "'size' holds 0"),
        (lambda: Resize2d((1, 1), (-0.5, 1.0), "nearest", "asymmetric", "floor"), "'scales' holds -0.5"),
    ],
)
def test_refused_attributes(make: Any, message: str) -> None:
    with pytest.raises(OperatorError, match=message):
        make()


def _type(*shape: int, dtype: DType = DType.F32) -> TensorType:
    return TensorType(dtype, shape)


@pytest.mark.parametrize(
    ("op", "inputs", "message"),
    [
        (
            Conv2d(),
            [_type(1, 5, 5, 3), _type(4, 3, 3, 2)],
            "the input's channels and 1 \\* 2 of the filter must be equal",
        ),
        (Conv2d(), [_type(5, 5, 3), _type(4, 3, 3, 3)], "has rank 4, but its shape is \\[5, 5, 3\\]"),
        (Conv2d(), [_type(1, 2, 2, 3), _type(4, 3, 3, 3)], "not positive"),
        (Conv2d(), [_type(1, 5, 5, 3), _type(4, 3, 3, 3), _type(5)], "the bias has 5 elements for 4 output channels"),
        (Conv2d(groups=3), [_type(1, 5, 5, 3), _type(4, 3, 3, 1)], "4 filters cannot be divided into 3 groups"),
        (Conv2d(), [_type(1, 5, 5, 3), _type(4, 0, 3, 3)], "the filter's height is 0"),
        (Conv2d(), [_type(1, 5, 5, 3, dtype=DType.S32)] * 2, "must be floating-point numbers, not s32"),
        (Softmax(2), [_type(3, 4)], "axis 2 is outside 0..1"),
        (Concat(0), [_type(3, 4), _type(3)], "different ranks"),
        (Concat(0), [_type(3, 4), _type(3, 5)], "the dimensions of axis 1 must be equal, but they are 4 and 5"),
        (Concat(0), [_type(3), _type(3, dtype=DType.S8)], "one element type, but they have f32 and s8"),
        (Split(0, (1, 1)), [_type(3)], "the sum of 'sizes' must be equal, but they are 3 and 2"),
        (Slice((2,), (1,), (3,)), [_type(4)], "3 elements from 2 by steps of 1 exceed 0..3"),
        (Slice((2,), (-1,), (4,)), [_type(4)], "exceed 0"),
        (Pad((4,), (0,), "reflect", 0.0), [_type(4)], "a border of 4 in mode reflect needs 5 elements"),
        (
            Pad((4,), (0,), "constant", 0.5),
            [_type(4, dtype=DType.S8)],
            "'value' is 0.5, which an element of type s8 cannot represent",
        ),
        (
            Pad((1,), (0,), "constant", math.inf),
            [_type(4, dtype=DType.S8)],
            "which an element of type s8 cannot represent",
        ),
        (Transpose((1, 0)), [_type(4)], "'perm' orders 2 axes"),
        (ReduceSum((3,), True), [_type(4)], "axis 3 is outside 0..0"),
    ],
)
def test_refused_inputs(op: Any, inputs: list[TensorType], message: str) -> None:
    with pytest.raises(OperatorError, match=message):
        op.infer(inputs)


_NUMBERS = st.sampled_from([0, 1, -1, 2, 3, 7, 2**31 - 1, -(2**31), 2**62, 10**400, True])
_HOSTILE: dict[AttrKind, st.SearchStrategy[Any]] = {
    AttrKind.BOOL: st.sampled_from([True, False, 0, None, "true"]),
    AttrKind.INT: _NUMBERS,
    AttrKind.FLOAT: st.sampled_from([0.0, 1.0, -1.0, 1e-45, 1e39, math.inf, -math.inf, math.nan, 10**400, "1"]),
    AttrKind.STRING: st.sampled_from(["none", "constant", "reflect", "linear", "nearest", "clip", "", "\0", 3]),
    AttrKind.DTYPE: st.sampled_from([*DType, "f32", 1]),
    AttrKind.INTS: st.lists(_NUMBERS, max_size=5) | st.just(None),
    AttrKind.FLOATS: st.lists(st.sampled_from([0.0, 1.0, 0.5, -1.0, math.inf, math.nan, 1e30]), max_size=3),
    AttrKind.STRINGS: st.lists(st.text(), max_size=2),
    AttrKind.DIMS: st.lists(_NUMBERS | st.just(symbol("n", 0, 9) - 3), max_size=5),
}
_SHAPE = st.lists(st.sampled_from([0, 1, 2, 3, 7, 2**31 - 1, symbol("n", 0, 9), symbol("m")]), max_size=5)
_TYPE = st.builds(lambda dtype, shape: TensorType(dtype, tuple(shape)), st.sampled_from(DType), _SHAPE)
_TYPES = st.lists(_TYPE, max_size=4).map(tuple)


@pytest.mark.parametrize("name", sorted(builtin()))
@settings(max_examples=60, deadline=None, derandomize=True, suppress_health_check=list(HealthCheck))
@given(data=st.data())
def test_nothing_but_operator_errors(name: str, data: st.DataObject) -> None:
    operator = builtin()[name]
    types = data.draw(st.lists(_TYPE, max_size=4))
    given_ = {key: data.draw(_HOSTILE[kind], label=key) for key, kind in operator.attribute_kinds().items()}
    regions = [data.draw(st.builds(RegionType, _TYPES, _TYPES)) for _ in range(operator.regions)]
    try:
        op = operator(**given_)
        outputs = op.infer_node(types, regions)
        op.macs(types, outputs)
        str(op)
    except OperatorError as problem:
        assert str(problem)
