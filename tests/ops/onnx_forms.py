"""Cases of operators as ONNX models, so that onnxruntime can say what they mean.

Each form turns attributes and layouts (channels last here, channels first there) by hand; it shares no code with the
importer, which is tested against the same runtime elsewhere.
"""

from __future__ import annotations

import importlib
import math
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import onnxruntime
from onnx import ModelProto, TensorProto, helper
from onnx.reference import ReferenceEvaluator
from onnxruntime.capi.onnxruntime_pybind11_state import Fail, InvalidGraph
from onnxruntime.capi.onnxruntime_pybind11_state import NotImplemented as Missing

from buildtool.ir.operator import Array
from buildtool.ir.types import DType
from tests import exact_onnxruntime
from tests.ops import cases as cases_package
from tests.ops.case import OpCase

OPSET = 22
_NHWC_TO_NCHW = (0, 3, 1, 2)
_NCHW_TO_NHWC = (0, 2, 3, 1)
_ELEMENT_TYPES = {
    DType.F32: TensorProto.FLOAT,
    DType.F16: TensorProto.FLOAT16,
    DType.F64: TensorProto.DOUBLE,
    DType.S8: TensorProto.INT8,
    DType.U8: TensorProto.UINT8,
    DType.S16: TensorProto.INT16,
    DType.U16: TensorProto.UINT16,
    DType.S32: TensorProto.INT32,
    DType.U32: TensorProto.UINT32,
    DType.S64: TensorProto.INT64,
    DType.U64: TensorProto.UINT64,
    DType.BOOL: TensorProto.BOOL,
}


@dataclass
class OnnxForm:
    """A chain of nodes under construction: every `then` takes the output of the one before."""

    feeds: dict[str, Array] = field(default_factory=dict)
    nodes: list[Any] = field(default_factory=list)
    outputs: list[str] = field(default_factory=list)
    restore: Callable[[Array], Array] = lambda array: array

    def feed(self, array: Array) -> str:
        name = f"in{len(self.feeds)}"
        self.feeds[name] = np.ascontiguousarray(array).reshape(array.shape)
        return name

    def then(self, kind: str, *operands: str | Array, count: int = 1, **attributes: Any) -> OnnxForm:
        """Appends a node, after the one before where there are no operands. Arrays become inputs of the model."""
        names = [item if isinstance(item, str) else self.feed(item) for item in operands or (self.outputs[0],)]
        outputs = [f"out{len(self.nodes)}_{index}" for index in range(count)]
        self.nodes.append(helper.make_node(kind, names, outputs, **attributes))
        self.outputs = outputs
        return self

    def activated(self, case: OpCase) -> OnnxForm:
        attributes = case.op.attributes()
        alpha, beta = float(attributes["activation_alpha"]), float(attributes["activation_beta"])  # type: ignore[arg-type]
        dtype = case.inputs[0].dtype
        last = self.outputs[0]
        match attributes["activation"]:
            case "relu":
                self.then("Relu")
            case "clip":
                self.then("Clip", last, np.array(alpha, dtype), np.array(beta, dtype))
            case "sigmoid":
                self.then("Sigmoid")
            case "tanh":
                self.then("Tanh")
            case "leaky_relu":
                self.then("LeakyRelu", alpha=alpha)
            case "elu":
                self.then("Elu", alpha=alpha)
            case "hard_sigmoid":
                self.then("HardSigmoid", alpha=alpha, beta=beta)
            case "hard_swish":
                self.then("HardSwish")
            case "swish":
                self.then("Sigmoid")
                self.then("Mul", last, self.outputs[0])
        return self

    def run(self) -> list[Array]:
        """The outputs according to onnxruntime, in the layout of the case."""
        types = {np.dtype(kind.numpy): element for kind, element in _ELEMENT_TYPES.items()}
        inputs = [
            helper.make_tensor_value_info(name, types[array.dtype], array.shape) for name, array in self.feeds.items()
        ]
        outputs = [helper.make_empty_tensor_value_info(name) for name in self.outputs]
        graph = helper.make_graph(self.nodes, "case", inputs, outputs)
        model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", OPSET)], ir_version=10)
        try:
            results = self._evaluated(model) if exact_onnxruntime.inexact(model) else self._computed(model)
        except (Fail, Missing, InvalidGraph):  # it lacks the element type: the evaluator of the onnx package has all
            results = self._evaluated(model)
        return [self.restore(np.asarray(array)) for array in results]

    def _computed(self, model: ModelProto) -> list[Any]:
        session = onnxruntime.InferenceSession(
            model.SerializeToString(), exact_onnxruntime.options(), ["CPUExecutionProvider"]
        )
        return list(session.run(self.outputs, self.feeds))

    def _evaluated(self, model: ModelProto) -> list[Any]:
        with np.errstate(all="ignore"):
            return list(ReferenceEvaluator(model).run(self.outputs, self.feeds))


def _to_nchw(array: Array) -> Array:
    return array.transpose(_NHWC_TO_NCHW)


def _from_nchw(array: Array) -> Array:
    return array.transpose(_NCHW_TO_NHWC)


def _spatial() -> OnnxForm:
    return OnnxForm(restore=_from_nchw)


def _window(op: Any) -> dict[str, Any]:
    return {"strides": list(op.strides), "pads": list(op.pads), "dilations": list(op.dilations)}


def _conv2d(case: OpCase) -> OnnxForm:
    x, w, *added = case.inputs
    op: Any = case.op
    form = _spatial().then("Conv", _to_nchw(x), _to_nchw(w), *added[:1], group=op.groups, **_window(op))
    for residual in added[1:]:
        form.then("Add", form.outputs[0], _to_nchw(residual))
    return form.activated(case)


def _dwconv2d(case: OpCase) -> OnnxForm:
    x, w, *bias = case.inputs
    filters = w.transpose(2, 0, 1)[:, None]
    form = _spatial().then("Conv", _to_nchw(x), filters, *bias, group=x.shape[3], **_window(case.op))
    return form.activated(case)


def _separable_conv2d(case: OpCase) -> OnnxForm:
    x, w, bias, filters, own_bias, *added = case.inputs
    op: Any = case.op
    turned = filters.transpose(2, 0, 1)[:, None]
    form = _spatial().then("Conv", _to_nchw(x), turned, own_bias, group=x.shape[3], **_window(op))
    form.activated(OpCase(op.depthwise, case.inputs, "depthwise"))
    form.then("Conv", form.outputs[0], _to_nchw(w), bias)
    for residual in added:
        form.then("Add", form.outputs[0], _to_nchw(residual))
    return form.activated(case)


def _pointwise_dwconv2d(case: OpCase) -> OnnxForm:
    x, w, bias, filters, own_bias = case.inputs
    op: Any = case.op
    form = _spatial().then("Conv", _to_nchw(x), _to_nchw(w), bias)
    form.activated(OpCase(op.pointwise, case.inputs, "pointwise"))
    turned = filters.transpose(2, 0, 1)[:, None]
    form.then("Conv", form.outputs[0], turned, own_bias, group=w.shape[0], **_window(op))
    return form.activated(case)


def _deconv2d(case: OpCase) -> OnnxForm:
    x, w, *bias = case.inputs
    op: Any = case.op
    groups = op.groups
    outputs, rows, columns, inputs = w.shape
    # Theirs is [C, O / groups, KH, KW]: the filters of a group stand together along C.
    parts = w.reshape(groups, outputs // groups, rows, columns, inputs).transpose(0, 4, 1, 2, 3)
    filters = parts.reshape(groups * inputs, outputs // groups, rows, columns)
    form = _spatial().then(
        "ConvTranspose",
        _to_nchw(x),
        filters,
        *bias,
        group=groups,
        output_padding=list(op.output_padding),
        **_window(op),
    )
    return form.activated(case)


def _fully_connected(case: OpCase) -> OnnxForm:
    x, w, *bias = case.inputs
    form = OnnxForm().then("MatMul", x, w.T)
    if bias:
        form.then("Add", form.outputs[0], bias[0])
    return form.activated(case)


def _max_pool2d(case: OpCase) -> OnnxForm:
    op: Any = case.op
    kernel = {"kernel_shape": list(op.kernel), "ceil_mode": int(op.ceil_mode)}
    return _spatial().then("MaxPool", _to_nchw(case.inputs[0]), **kernel, **_window(op))  # type: ignore[arg-type]


def _avg_pool2d(case: OpCase) -> OnnxForm:
    op: Any = case.op
    kernel = {"kernel_shape": list(op.kernel), "ceil_mode": int(op.ceil_mode)}
    include = int(op.count_include_pad)
    return _spatial().then("AveragePool", _to_nchw(case.inputs[0]), **kernel, count_include_pad=include, **_window(op))  # type: ignore[arg-type]


def _batch_norm(case: OpCase) -> OnnxForm:
    x, *statistics = case.inputs
    op: Any = case.op
    form = OnnxForm(restore=lambda array: array.reshape(x.shape))
    return form.then("BatchNormalization", x.reshape(-1, x.shape[-1]), *statistics, epsilon=op.epsilon)


def _swish(case: OpCase) -> OnnxForm:
    form = OnnxForm().then("Sigmoid", case.inputs[0])
    return form.then("Mul", "in0", form.outputs[0])


def _clip(case: OpCase) -> OnnxForm:
    (x,) = case.inputs
    op: Any = case.op
    low, high = op.low, op.high
    if np.issubdtype(x.dtype, np.integer):
        limits = np.iinfo(x.dtype)
        low, high = math.ceil(max(low, limits.min)), math.floor(min(high, limits.max))
    return OnnxForm().then("Clip", x, np.array(low, x.dtype), np.array(high, x.dtype))


def _reduction(kind: str) -> Callable[[OpCase], OnnxForm]:
    def form(case: OpCase) -> OnnxForm:
        op: Any = case.op
        axes = np.array(op.axes, np.int64)
        return OnnxForm().then(kind, case.inputs[0], axes, keepdims=int(op.keepdims), noop_with_empty_axes=1)

    return form


def _slice(case: OpCase) -> OnnxForm:
    (x,) = case.inputs
    op: Any = case.op
    ends = []
    for start, step, size in zip(op.starts, op.steps, op.sizes, strict=True):
        end = start + size * step
        ends.append(end if end >= 0 else -(2**31))  # below zero would count from the end
    lists = (op.starts, ends, range(x.ndim), op.steps)
    return OnnxForm().then("Slice", x, *(np.array(list(numbers), np.int64) for numbers in lists))


def _pad(case: OpCase) -> OnnxForm:
    (x,) = case.inputs
    op: Any = case.op
    widths = np.array(op.before + op.after, np.int64)
    return OnnxForm().then("Pad", x, widths, np.array(op.value).astype(x.dtype), mode=op.mode)


def _resize2d(case: OpCase) -> OnnxForm:
    x = _to_nchw(case.inputs[0])
    op: Any = case.op
    size = [int(dim) for dim in op.size]
    attributes = {
        "mode": op.mode,
        "coordinate_transformation_mode": op.coordinates,
        "nearest_mode": op.rounding,
    }
    if "own_scales" in case.name:
        return _spatial().then("Resize", x, "", np.array([1, 1, *op.scales], np.float32), **attributes)
    return _spatial().then("Resize", x, "", "", np.array([*x.shape[:2], *size], np.int64), **attributes)


def _simple(kind: str, *keys: str, **fixed: Any) -> Callable[[OpCase], OnnxForm]:
    """An operator that is the same there: all inputs, and the attributes of these names."""

    def form(case: OpCase) -> OnnxForm:
        attributes = case.op.attributes()
        shown = {key: list(value) if isinstance(value := attributes[key], tuple) else value for key in keys}
        return OnnxForm().then(kind, *case.inputs, **shown, **fixed)  # type: ignore[arg-type]

    return form


def _add(case: OpCase) -> OnnxForm:
    return OnnxForm().then("Add", *case.inputs).activated(case)


def _split(case: OpCase) -> OnnxForm:
    op: Any = case.op
    sizes = np.array(op.sizes, np.int64)
    return OnnxForm().then("Split", case.inputs[0], sizes, count=len(op.sizes), axis=op.axis)


def _reshape(case: OpCase) -> OnnxForm:
    op: Any = case.op
    return OnnxForm().then("Reshape", case.inputs[0], np.array(op.shape, np.int64))


def _cast(case: OpCase) -> OnnxForm:
    op: Any = case.op
    return OnnxForm().then("Cast", case.inputs[0], to=_ELEMENT_TYPES[op.to])


def has_form(operator: str) -> bool:
    """Whether `form_of` knows the cases of an operator; some have no counterpart in the operator set of the forms."""
    module = importlib.import_module(f"{cases_package.__name__}.{operator}")
    return operator in FORMS or hasattr(module, "ONNX") or hasattr(module, "onnx_form")


def form_of(case: OpCase) -> OnnxForm:
    """The case as an ONNX model.

    The file of an operator's cases says `ONNX = ("Celu", "alpha")` where ONNX has the same operator, with the names of
    the attributes that are the same there, or has a function `onnx_form(case)` that gives the nodes as tuples of kind,
    operands (all inputs, or what came before and arrays) and attributes. What needs more is listed here.
    """
    module = importlib.import_module(f"{cases_package.__name__}.{case.op.name}")
    if hasattr(module, "ONNX"):
        kind, *keys = module.ONNX
        return _simple(kind, *keys)(case)
    if hasattr(module, "onnx_form"):
        form = OnnxForm()
        for kind, operands, attributes in module.onnx_form(case):
            form.then(kind, *operands, **attributes)
        return form
    return FORMS[case.op.name](case)


FORMS: dict[str, Callable[[OpCase], OnnxForm]] = {
    "abs": _simple("Abs"),
    "add": _add,
    "avg_pool2d": _avg_pool2d,
    "batch_norm": _batch_norm,
    "cast": _cast,
    "ceil": _simple("Ceil"),
    "clip": _clip,
    "concat": _simple("Concat", "axis"),
    "conv2d": _conv2d,
    "deconv2d": _deconv2d,
    "div": _simple("Div"),
    "dwconv2d": _dwconv2d,
    "elu": _simple("Elu", "alpha"),
    "erf": _simple("Erf"),
    "exp": _simple("Exp"),
    "floor": _simple("Floor"),
    "fully_connected": _fully_connected,
    "gather": _simple("Gather", "axis"),
    "gelu": _simple("Gelu", "approximate"),
    "hard_sigmoid": _simple("HardSigmoid", "alpha", "beta"),
    "hard_swish": _simple("HardSwish"),
    "identity": _simple("Identity"),
    "leaky_relu": _simple("LeakyRelu", "alpha"),
    "log": _simple("Log"),
    "matmul": _simple("MatMul"),
    "max_pool2d": _max_pool2d,
    "maximum": _simple("Max"),
    "minimum": _simple("Min"),
    "mul": _simple("Mul"),
    "neg": _simple("Neg"),
    "pad": _pad,
    "pointwise_dwconv2d": _pointwise_dwconv2d,
    "pow": _simple("Pow"),
    "prelu": _simple("PRelu"),
    "reciprocal": _simple("Reciprocal"),
    "reduce_max": _reduction("ReduceMax"),
    "reduce_mean": _reduction("ReduceMean"),
    "reduce_min": _reduction("ReduceMin"),
    "reduce_prod": _reduction("ReduceProd"),
    "reduce_sum": _reduction("ReduceSum"),
    "relu": _simple("Relu"),
    "reshape": _reshape,
    "resize2d": _resize2d,
    "separable_conv2d": _separable_conv2d,
    "sigmoid": _simple("Sigmoid"),
    "slice": _slice,
    "softmax": _simple("Softmax", "axis"),
    "softplus": _simple("Softplus"),
    "split": _split,
    "sqrt": _simple("Sqrt"),
    "sub": _simple("Sub"),
    "swish": _swish,
    "tanh": _simple("Tanh"),
    "transpose": _simple("Transpose", "perm"),
}
