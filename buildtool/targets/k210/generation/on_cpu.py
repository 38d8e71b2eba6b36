"""Nodes that layers of the CPU do: which ones, under which rules, and how they are computed."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from typing import NamedTuple

import numpy as np

from buildtool.ir.graph import Node, Value
from buildtool.ir.operator import Array
from buildtool.ops._activation import ActivatedOperator
from buildtool.ops.avg_pool2d import AvgPool2d
from buildtool.ops.concat import Concat
from buildtool.ops.conv2d import Conv2d
from buildtool.ops.fully_connected import FullyConnected
from buildtool.ops.max_pool2d import MaxPool2d
from buildtool.ops.pad import Pad
from buildtool.ops.reduce_mean import ReduceMean
from buildtool.ops.resize2d import Resize2d
from buildtool.ops.softmax import Softmax
from buildtool.ops.transpose import Transpose
from buildtool.targets.k210.format import cpu_layers as cpu
from buildtool.targets.k210.format.layer import MAIN_MEMORY_OUTPUT as TO_MAIN
from buildtool.targets.k210.format.layer import Layer
from buildtool.targets.k210.generation import sums
from buildtool.targets.k210.generation.forms import NO_BORDER, Border, Program, Tensor, known
from buildtool.targets.k210.generation.jobs import Dense, OnCpu, Spread
from buildtool.targets.k210.generation.memory import Buffer, Places, Step
from buildtool.targets.k210.generation.rules import NotHereError, scalar_function, shape_of
from buildtool.targets.k210.simulation.cpu import nearest_sources

_RELU, _RELU6 = 1, 2
_TO_PLANES, _FROM_PLANES = (0, 2, 3, 1), (0, 3, 1, 2)
_OTHERWISE = "compute this part in the program that runs the kmodel, or use another operator"


class Handler(NamedTuple):
    """`require` raises NotHereError where a rule is broken; `make` adds the steps."""

    require: Callable[[Node], None]
    make: Callable[[Program, OnCpu], None]


def require(node: Node) -> None:
    """NotHereError where no layer does what the node does."""
    handler = HANDLERS.get(node.op.name)
    if handler is None:
        raise NotHereError(
            f"there is no layer for '{node.op.name}'",
            f"the KPU has convolutions; the CPU has layers for {', '.join(sorted(HANDLERS))}, and tables for functions "
            "of one number",
            _OTHERWISE,
        )
    handler.require(node)


def make(program: Program, job: OnCpu) -> None:
    """The steps of a node. UnknownRangeError where a tensor has to become bytes that has no range."""
    node = job.node
    if isinstance(node.op, Conv2d) and job.a is None:
        _product(program, job)
    elif job.functions and scalar_function(node) is not None:
        _function(program, job)
    elif job.a is not None:
        sums.add(program, job)
    else:
        HANDLERS[node.op.name].make(program, job)


def _fine(node: Node) -> None:
    """Nothing to ask for."""


# -- functions of one number -------------------------------------------------------------------------------------------
def _function(program: Program, job: OnCpu) -> None:
    node = job.node
    x = program.tensors[next(value for value in node.inputs if not value.is_constant)]
    y = program.tensors[node.outputs[0]]
    if node.op.name == "sigmoid" and x.floats is not None:
        source, target = x.floats, program.buffer(y, 4)
        program.step([source], [target], lambda at: cpu.Logistic(TO_MAIN, at[source], at[target], x.count))
        y.floats = target
        return
    source, target = program.bytes_of(x), program.buffer(y)
    program.table(source, target, table_of(x, y, job.function), x.count)
    y.bytes = target


def table_of(x: Tensor, y: Tensor, function: Callable[[Array], Array]) -> bytes:
    """What a function makes of each byte."""
    with np.errstate(all="ignore"):
        values = np.asarray(function(known(x).real(np.arange(256))))
    return known(y).stored(np.nan_to_num(values)).tobytes()


# -- products of matrices ----------------------------------------------------------------------------------------------
def _product_rules(node: Node) -> None:
    shape = shape_of(node.outputs[0])
    if math.prod(shape[:-1]) != 1:
        raise NotHereError(
            f"it computes {math.prod(shape[:-1])} rows", "a fully connected layer computes one", "use a 1x1 convolution"
        )
    if any(value.constant is None for value in node.inputs[1:]):
        raise NotHereError(
            "its weights or biases are computed", "the weights of a layer must be constant", "make them constant"
        )
    assert isinstance(node.op, ActivatedOperator)
    act_of(node.op)


def is_product(node: Node) -> bool:
    """Whether it is a fully connected layer, or a convolution of a single pixel, which one can do."""
    if isinstance(node.op, Conv2d):
        one_pixel = shape_of(node.inputs[0])[1:3] == shape_of(node.outputs[0])[1:3] == (1, 1)
        if node.op.groups != 1 or not one_pixel:
            return False
    elif not isinstance(node.op, FullyConnected):
        return False
    try:
        _product_rules(node)
    except NotHereError:
        return False
    return True


def product_weights(node: Node) -> Array:
    """Outputs, inputs."""
    weights = node.inputs[1].constant
    assert weights is not None
    if isinstance(node.op, Conv2d):  # of one pixel: the weight that lies upon it
        weights = weights[:, node.op.pads[0], node.op.pads[1], :]
    return weights


def product_bias(node: Node) -> Array:
    bias = node.input(2)
    if bias is None or bias.constant is None:
        return np.zeros(len(product_weights(node)))
    return bias.constant.astype(np.float64)


def act_of(op: ActivatedOperator) -> int:
    """The word of a fully connected layer for its activation. NotHereError where it has none."""
    if op.activation == "none":
        return 0
    if op.activation == "relu":
        return _RELU
    if op.activation == "clip" and (op.activation_alpha, op.activation_beta) == (0, 6):
        return _RELU6
    raise NotHereError(
        f"its activation is {op.activation}",
        "a fully connected layer supports none, relu and relu6",
        "use one of these",
    )


def _product(program: Program, job: OnCpu) -> None:
    node = job.node
    assert isinstance(node.op, ActivatedOperator)
    product(program, Dense(node, product_weights(node), product_bias(node), act_of(node.op)))


def product(program: Program, job: Dense) -> None:
    """A fully connected layer of floats."""
    weights, numbers, act = job.weights, job.bias, job.act
    x, y = program.tensors[job.node.inputs[0]], program.tensors[job.node.outputs[0]]
    source, target = program.floats_of(x), program.buffer(y, 4)
    outputs, inputs = weights.shape
    data, biases = weights.astype("<f4").tobytes(), numbers.astype("<f4").tobytes()
    program.step(
        [source],
        [target],
        lambda at: cpu.FullyConnected(TO_MAIN, at[source], at[target], inputs, outputs, act, data, biases),
    )
    y.floats = target


# -- borders -----------------------------------------------------------------------------------------------------------
def _pad_rules(node: Node) -> None:
    op = node.op
    assert isinstance(op, Pad)
    if op.mode != "constant" or len(op.before) != 4 or op.before[0] or op.after[0] or op.before[3] or op.after[3]:
        raise NotHereError(
            f"its mode is {op.mode}, before {op.before}, behind {op.after}",
            "a layer pads the rows and columns of an image with a constant",
            _OTHERWISE,
        )


def _pad(program: Program, job: OnCpu) -> None:
    op = job.node.op
    assert isinstance(op, Pad)
    border = Border(op.before[1], op.before[2], op.after[1], op.after[2])
    around(program, job.node.inputs[0], job.node.outputs[0], border, op.value)


def spread(program: Program, job: Spread) -> None:
    """The picture as each tap of a kernel sees it: pools of single pixels, each behind the one before."""
    x, y = program.tensors[job.x], program.tensors[job.y]
    height, width = job.border.around(x.height, x.width)
    source = program.bytes_of(x) if job.border == NO_BORDER else program.bordered(x, job.border, known(x).zero_point)
    target = program.buffer(y)
    begins = [row * width + column for row, column in job.taps]
    # The last planes are read from behind their beginning: up to so many bytes that nobody looks at.
    source.size = max(source.size, x.channels * height * width + begins[-1])
    each = x.channels * y.height * y.width
    pool = (1, 1, job.strides[1], job.strides[0], 0, 0)

    def layer(at: Places, number: int) -> Layer:
        given = (at[source] + begins[number], at[target] + number * each, width, height, x.channels)
        return cpu.QMaxPool(TO_MAIN, *given, y.width, y.height, x.channels, *pool)

    made = Step(program.node, (source,), (target,), lambda at: [layer(at, number) for number in range(len(begins))])
    program.steps.append(made)
    y.bytes = target


def around(program: Program, x: Value, y: Value, border: Border, number: float = 0.0) -> None:
    """A picture with a number around it."""
    picture, result = program.tensors[x], program.tensors[y]
    result.stored = stored = known(picture)
    result.bytes = program.bordered(picture, border, int(stored.stored(np.array([number]))[0]))


# -- sums --------------------------------------------------------------------------------------------------------------
def _add_rules(node: Node) -> None:
    for value in node.inputs:
        if value.is_constant or value.type.shape != node.outputs[0].type.shape:
            raise NotHereError(
                f"'{value.name}' has another shape than the result, or is constant",
                "tensors of one shape are added",
                "add it as a bias of the preceding layer",
            )


# -- pools -------------------------------------------------------------------------------------------------------------
def _pool_rules(node: Node) -> None:
    op = node.op
    assert isinstance(op, MaxPool2d | AvgPool2d)
    if op.dilations != (1, 1):
        raise NotHereError("its windows are dilated", "pools are not dilated", "use a dilation of 1")
    if isinstance(op, AvgPool2d) and op.count_include_pad and any(op.pads):
        raise NotHereError(
            "its mean includes the padding", "a mean includes only pixels of the image", "set count_include_pad to 0"
        )


def _pool_numbers(node: Node) -> tuple[int, ...]:
    """As the bodies of pools have them, from in_w on."""
    op = node.op
    assert isinstance(op, MaxPool2d | AvgPool2d)
    _, height, width, channels = shape_of(node.inputs[0])
    _, out_height, out_width, _ = shape_of(node.outputs[0])
    return (
        width, height, channels, out_width, out_height, channels,
        op.kernel[1], op.kernel[0], op.strides[1], op.strides[0], op.pads[1], op.pads[0],
    )  # fmt: skip


def _max_pool(program: Program, job: OnCpu) -> None:
    node = job.node
    x, y = program.tensors[node.inputs[0]], program.tensors[node.outputs[0]]
    y.stored = known(x)
    source, target, numbers = program.bytes_of(x), program.buffer(y), _pool_numbers(node)
    program.step([source], [target], lambda at: cpu.QMaxPool(TO_MAIN, at[source], at[target], *numbers))
    y.bytes = target


def _average_pool(program: Program, job: OnCpu) -> None:
    node = job.node
    x, y = program.tensors[node.inputs[0]], program.tensors[node.outputs[0]]
    source, target, numbers = program.floats_of(x), program.buffer(y, 4), (*_pool_numbers(node), 0)
    program.step([source], [target], lambda at: cpu.AvgPool(TO_MAIN, at[source], at[target], *numbers))
    y.floats = target


def _mean_rules(node: Node) -> None:
    assert isinstance(node.op, ReduceMean)
    if node.inputs[0].type.rank != 4 or node.op.axes != (1, 2):
        raise NotHereError(
            f"it is the mean along the axes {', '.join(map(str, node.op.axes))}",
            "a layer computes the mean of each channel of an image",
            _OTHERWISE,
        )


def _mean(program: Program, job: OnCpu) -> None:
    node = job.node
    x, y = program.tensors[node.inputs[0]], program.tensors[node.outputs[0]]
    source, target = program.floats_of(x), program.buffer(y, 4)
    pixels = x.height * x.width
    program.step([source], [target], lambda at: cpu.Gap(TO_MAIN, at[source], at[target], pixels, x.channels))
    y.floats = target


# -- what moves numbers ------------------------------------------------------------------------------------------------
def _concat_rules(node: Node) -> None:
    assert isinstance(node.op, Concat)
    shape = shape_of(node.outputs[0])
    if not (len(shape) == 4 and node.op.axis == 3) and math.prod(shape[: node.op.axis]) != 1:
        raise NotHereError(f"it concatenates along axis {node.op.axis}", "only channels are concatenated", _OTHERWISE)
    if any(value.is_constant for value in node.inputs):
        raise NotHereError("one of its inputs is constant", "inputs of layers are not constant", _OTHERWISE)


def _concat(program: Program, job: OnCpu) -> None:
    node = job.node
    parts, y = [program.tensors[value] for value in node.inputs], program.tensors[node.outputs[0]]
    in_floats = all(part.floats is not None and part.bytes is None and part.ram is None for part in parts)
    if in_floats:
        sources = [program.floats_of(part) for part in parts]
    else:
        sources = [_in_steps_of(program, part, y) for part in parts]
    element = 4 if in_floats else 1
    target = program.buffer(y, element)
    kind = cpu.Concat if in_floats else cpu.QConcat
    sizes = [part.count * element for part in parts]
    program.step(
        list(dict.fromkeys(sources)),
        [target],
        lambda at: kind(
            TO_MAIN, at[target], len(sources), tuple((at[one], size) for one, size in zip(sources, sizes, strict=True))
        ),
    )
    if in_floats:
        y.floats = target
    else:
        y.bytes = target


def _in_steps_of(program: Program, part: Tensor, y: Tensor) -> Buffer:
    """Its bytes as the other tensor stores them."""
    source = program.bytes_of(part)
    if known(part) == known(y):
        return source
    target = program.buffer(part)
    program.table(source, target, table_of(part, y, lambda values: values), part.count)
    return target


def _reshape(program: Program, job: OnCpu) -> None:
    """From a picture, whose channels come last in the model's own order, to a list."""
    x, y = program.tensors[job.node.inputs[0]], program.tensors[job.node.outputs[0]]
    source, target = program.floats_of(x), program.buffer(y, 4)
    program.step(
        [source], [target], lambda at: cpu.Flatten(TO_MAIN, at[source], at[target], x.width, x.height, x.channels)
    )
    y.floats = target


def _resize_rules(node: Node) -> None:
    op = node.op
    assert isinstance(op, Resize2d)
    _, height, width, _ = shape_of(node.inputs[0])
    _, out_height, out_width, _ = shape_of(node.outputs[0])
    for size, out, axis in ((height, out_height, 1), (width, out_width, 2)):
        shape = (1, size, 1, 1) if axis == 1 else (1, 1, size, 1)
        line = np.arange(size, dtype=np.float32).reshape(shape)
        one = Resize2d(
            (out, 1) if axis == 1 else (1, out),
            (op.scales[0], 1.0) if axis == 1 else (1.0, op.scales[1]),
            op.mode, op.coordinates, op.rounding,
        )  # fmt: skip
        if one.reference(line)[0].reshape(-1).tolist() != nearest_sources(size, out).tolist():
            raise NotHereError(
                f"it takes {op.mode} pixels, {op.coordinates}, {op.rounding}",
                "a layer takes the pixel at floor(i * old size / new size)",
                "resize to a multiple of the size, by the nearest pixel",
            )


def _resize(program: Program, job: OnCpu) -> None:
    node = job.node
    x, y = program.tensors[node.inputs[0]], program.tensors[node.outputs[0]]
    y.stored = known(x)
    source, target = program.bytes_of(x), program.buffer(y)
    program.step(
        [source],
        [target],
        lambda at: cpu.QResizeNn(TO_MAIN, at[source], at[target], x.width, x.height, x.channels, y.width, y.height, 0),
    )
    y.bytes = target


# -- what makes probabilities ------------------------------------------------------------------------------------------
def _softmax_rules(node: Node) -> None:
    assert isinstance(node.op, Softmax)
    shape = shape_of(node.inputs[0])
    if shape[node.op.axis] != math.prod(shape):
        raise NotHereError(
            f"it computes several softmaxes of {shape}", "a layer computes one softmax of all its elements", _OTHERWISE
        )


def _softmax(program: Program, job: OnCpu) -> None:
    node = job.node
    x, y = program.tensors[node.inputs[0]], program.tensors[node.outputs[0]]
    source, target = program.floats_of(x), program.buffer(y, 4)
    program.step([source], [target], lambda at: cpu.Softmax(TO_MAIN, at[source], at[target], x.count))
    y.floats = target


# -- what only looks at memory otherwise -------------------------------------------------------------------------------
def same_memory(node: Node, is_picture: Callable[[Value], bool]) -> bool:
    """Whether the result is the operand, byte for byte: pictures lie channels first, all else as the model has it."""
    shape = shape_of(node.inputs[0])
    if isinstance(node.op, Transpose):
        perm = tuple(node.op.perm)
        wanted = _FROM_PLANES if is_picture(node.inputs[0]) else _TO_PLANES
        return perm == wanted or _in_order(tuple(perm), shape)
    if node.op.name != "reshape":
        return False
    return not is_picture(node.inputs[0]) or shape[3] == 1 or shape[1] == shape[2] == 1


def _in_order(perm: tuple[int, ...], shape: tuple[int, ...]) -> bool:
    """Whether only axes of one element move."""
    moved = [axis for axis in perm if shape[axis] != 1]
    return moved == sorted(moved)


def _transpose_rules(node: Node) -> None:
    assert isinstance(node.op, Transpose)
    perm, shape = tuple(node.op.perm), shape_of(node.inputs[0])
    if perm not in (_TO_PLANES, _FROM_PLANES) and not _in_order(perm, shape):
        raise NotHereError(f"it moves axes: {', '.join(map(str, perm))}", "layers do not move axes", _OTHERWISE)


def _never(program: Program, job: OnCpu) -> None:
    raise NotHereError("it moves elements in memory", "layers do not move axes", _OTHERWISE)


HANDLERS: Mapping[str, Handler] = {
    "add": Handler(_add_rules, sums.add),
    "avg_pool2d": Handler(_pool_rules, _average_pool),
    "concat": Handler(_concat_rules, _concat),
    "fully_connected": Handler(_product_rules, _product),
    "max_pool2d": Handler(_pool_rules, _max_pool),
    "pad": Handler(_pad_rules, _pad),
    "reduce_mean": Handler(_mean_rules, _mean),
    "reshape": Handler(_fine, _reshape),
    "resize2d": Handler(_resize_rules, _resize),
    "softmax": Handler(_softmax_rules, _softmax),
    "transpose": Handler(_transpose_rules, _never),
}
