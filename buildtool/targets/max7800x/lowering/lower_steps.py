"""Turns nodes into layers with real weights: what can be done on the way to the next layer becomes a part of it.

Pools and additions wait in a `Read` until a convolution takes them in; where nothing does, or several layers want the
result, they become a layer of their own.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from itertools import product

import numpy as np

from buildtool.errors import Problem, UnsupportedError, Where
from buildtool.ir.dims import is_static
from buildtool.ir.graph import Graph, Node, Value
from buildtool.ir.operator import Array
from buildtool.ops._activation import ActivatedOperator
from buildtool.ops.abs import Abs
from buildtool.ops.add import Add
from buildtool.ops.avg_pool2d import AvgPool2d
from buildtool.ops.clip import Clip
from buildtool.ops.concat import Concat
from buildtool.ops.conv2d import Conv2d
from buildtool.ops.deconv2d import Deconv2d
from buildtool.ops.dwconv2d import DwConv2d
from buildtool.ops.fully_connected import FullyConnected
from buildtool.ops.leaky_relu import LeakyRelu
from buildtool.ops.max_pool2d import MaxPool2d
from buildtool.ops.prelu import Prelu
from buildtool.ops.reduce_mean import ReduceMean
from buildtool.ops.relu import Relu
from buildtool.ops.reshape import Reshape
from buildtool.ops.sigmoid import Sigmoid
from buildtool.ops.softmax import Softmax
from buildtool.ops.sub import Sub
from buildtool.ops.transpose import Transpose
from buildtool.quant.ranges import between
from buildtool.targets.max7800x.devices import MAX78000, PROCESSORS, Device
from buildtool.targets.max7800x.lowering.lower_activations import activation_of, below_zero, no_activation, slopes_of
from buildtool.targets.max7800x.lowering.lower_data import (
    BORDER,
    Border,
    Data,
    NotHereError,
    Order,
    Read,
    Step,
    canonical,
    of_data,
)
from buildtool.targets.max7800x.lowering.lower_kernels import Form, WrongPadsError, form_of
from buildtool.targets.max7800x.lowering.lower_pools import mean_in_two, pool_of, require_size
from buildtool.targets.max7800x.network import Activation, Eltwise, Operation, Pool, Size

_LARGEST_WINDOW = 16
_MOST_FLAT = 256  # pixels times passes of what a fully connected layer flattens
_MOST_OPERANDS = 16
_SOFTWARE: Mapping[type, str] = {Softmax: "softmax", Sigmoid: "sigmoid"}


@dataclass(frozen=True)
class Result:
    """An output of the graph: data, where its numbers lie there, and what is left to the program."""

    value: Value
    data: Data
    order: Order
    after: str = ""


@dataclass
class Steps:
    """A graph as layers."""

    input: Data
    input_order: Order  # of the graph's input: for each number of the data its place there
    steps: list[Step] = field(default_factory=list)
    results: list[Result] = field(default_factory=list)


def steps_of(graph: Graph, device: Device) -> Steps:
    """The layers of an optimised graph. UnsupportedError lists every node that cannot become one."""
    if len(graph.inputs) != 1:
        raise UnsupportedError(
            f"the model has {len(graph.inputs)} inputs",
            where=Where(model=graph.name),
            rule="the accelerator has one input",
            remedy="concatenate them along the channels before the model",
        )
    return _Lowering(graph, device).run()


class _Lowering:
    def __init__(self, graph: Graph, device: Device) -> None:
        self._graph, self._device = graph, device
        self._users = graph.users()
        self._outputs = set(graph.outputs)
        self._reads: dict[Value, Read] = {}
        self._raw: dict[Value, Order] = {}  # the input, turned and reshaped
        self._after: dict[Value, tuple[Value, str]] = {}
        self._made: dict[Data, Step] = {}
        self._steps: list[Step] = []
        self._input: tuple[Data, Order] | None = None

    def run(self) -> Steps:
        (given,) = self._graph.inputs
        problems = list(self._dynamic(given))
        if problems:
            raise UnsupportedError(problems)
        count = math.prod(_shape(given))
        self._raw[given] = np.arange(count, dtype=np.int64).reshape(_shape(given))
        for number, node in enumerate(self._graph.nodes):
            try:
                self._node(node)
            except NotHereError as problem:
                name = node.name or node.outputs[0].name
                what = f"layer {number}, {node.op.name}: {problem.what}"
                problems.append(Problem(what, Where(model=self._graph.name, node=name), problem.rule, problem.remedy))
                self._pretend(node)
        if not problems:
            problems += self._finish_problems()
        if problems:
            raise UnsupportedError(problems)
        assert self._input is not None
        results = [self._result(value) for value in self._graph.outputs]
        return Steps(*self._input, self._steps, results)

    def _dynamic(self, given: Value) -> list[Problem]:
        if is_static(given.type.shape) and _shape(given)[:1] == (1,):
            return []
        return [
            Problem(
                f"the input '{given.name}' is {' x '.join(map(str, given.type.shape))}",
                Where(model=self._graph.name, value=given.name),
                "the accelerator works on one image of a fixed size",
                "declare `input_shapes` with a batch of 1 and fixed sizes",
            )
        ]

    def _finish_problems(self) -> list[Problem]:
        if not self._steps:
            where = Where(model=self._graph.name)
            return [Problem("the model has no layers", where, remedy="use a model with at least one convolution")]
        return []

    def _pretend(self, node: Node) -> None:
        """So that what follows can be looked at, too."""
        for value in node.outputs:
            channels, size = _picture(value)
            self._reads[value] = of_data(Data(value.name, channels, size, [value]))

    # -- nodes --
    def _node(self, node: Node) -> None:
        op, value = node.op, node.outputs[0]
        if isinstance(op, Reshape | Transpose) and node.inputs[0] in self._raw:
            self._raw[value] = _moved(node, self._raw[node.inputs[0]])
        elif isinstance(op, Reshape | Transpose):
            read = self._read(node.inputs[0])
            self._reads[value] = replace(read, order=_moved(node, read.order))
        elif isinstance(op, Conv2d | DwConv2d | Deconv2d):
            self._convolution(node)
        elif isinstance(op, FullyConnected):
            self._product(node)
        elif isinstance(op, MaxPool2d | AvgPool2d | ReduceMean):
            self._pool(node)
        elif isinstance(op, Add | Sub) and not any(one.is_constant for one in node.inputs):
            self._eltwise(node, "add" if isinstance(op, Add) else "sub")
        elif isinstance(op, Concat):
            self._concat(node)
        elif isinstance(op, Relu | Abs | Clip):
            limit = op.high if isinstance(op, Clip) else None
            if isinstance(op, Clip) and op.low != 0:
                raise no_activation(op.name)
            read = self._read(node.inputs[0])
            self._reads[value] = self._activated(node, read, value, "abs" if isinstance(op, Abs) else "relu", limit)
        elif isinstance(op, LeakyRelu | Prelu):
            self._reads[value] = self._leaky(node, self._read(node.inputs[0]), value, slopes_of(node))
        elif type(op) in _SOFTWARE and value in self._outputs and value not in self._users:
            self._after[value] = node.inputs[0], _SOFTWARE[type(op)]
        else:
            raise NotHereError(
                "the accelerator does not support it",
                "it convolves in one and two dimensions, multiplies by matrices, adds and subtracts, joins channels, "
                "pools, and knows relu and abs",
                "compute this part in the program, before or after the model",
            )

    def _convolution(self, node: Node) -> None:
        value = node.outputs[0]
        read, turned = self._as_picture(node.inputs[0])
        channels, size = _shape(value)[3], _made_size(value, turned)
        try:
            form = form_of(node, read.result, size, self._device, turned=turned)
        except WrongPadsError as problem:
            form, border = _form_with_border(node, read.result, size, self._device, turned, problem)
            read = self._bordered(node, read, border)
        if form.stride_before != (1, 1):
            if read.pool is not None:
                read = of_data(self._data(node, read, node.inputs[0]))
            read = read.pooled(Pool("max", (1, 1), form.stride_before))
        biased = node.input(2) is not None
        read = self._fit_for(node, read, form.operation, node.inputs[0], biased=biased)
        made = tuple(
            side * (2 if form.operation == "convtranspose2d" else 1) + 2 * pad - kernel + 1
            for side, pad, kernel in zip(read.result, form.pad, form.kernel, strict=True)
        )
        if form.operation == "convtranspose2d" or form.stride_behind == (1, 1):
            made = size
        out = Data(_name(node), channels, (made[0], made[1]), [value])
        step = Step(node, form.operation, read, out, form.weights, _bias(node, channels), form.kernel, form.pad)
        step.groups = form.groups
        residual, slopes = node.input(3), None
        if residual is None:
            slopes = slopes_of(node)
            step.activation, out.limit = activation_of(node.op) if slopes is None else ("relu", None)
        self._add(step)
        behind = of_data(out) if slopes is None else self._with_negative(step, slopes)
        if form.stride_behind != (1, 1):
            behind = behind.pooled(Pool("max", (1, 1), form.stride_behind))
        if residual is not None:
            out.values = []  # its range is that of the sum
            kind, limit = activation_of(node.op)
            both = self._together(node, [(value, behind), (residual, self._read(residual))], "add")
            behind = self._activated(node, both, value, kind, limit) if kind else both
        self._reads[value] = replace(behind, order=behind.order.reshape(_shape(value)))

    def _product(self, node: Node) -> None:
        value, x = node.outputs[0], node.inputs[0]
        w = node.inputs[1].constant
        if w is None:
            raise NotHereError("its weights are computed", "weights of layers are constant", "make them constant")
        if math.prod(_shape(x)[:-1]) != 1:
            raise NotHereError(
                f"it multiplies {math.prod(_shape(x)[:-1])} vectors",
                "a fully connected layer has one",
                "use a convolution of 1x1",
            )
        if x in self._raw:
            read = self._take_input(x, (w.shape[1], (1, 1)))
        else:
            read = self._read(x)
        flatten = read.result != (1, 1)
        if flatten and not read.is_plain:
            read = replace(of_data(self._data(node, read, x)), order=read.order)
        read = self._fit_for(node, read, "linear", x, biased=node.input(2) is not None)
        pixels = math.prod(read.result) * -(-read.channels // PROCESSORS)
        if flatten and pixels > _MOST_FLAT:
            raise NotHereError(
                f"it flattens {read.result[0]} x {read.result[1]} pixels of {read.channels} channels",
                f"pixels times passes of 64 channels are at most {_MOST_FLAT}",
                "pool more before it",
            )
        weights = np.zeros(w.shape, w.dtype)
        weights[:, read.order.reshape(-1)] = w
        outputs = len(w)
        step = Step(node, "linear", read, Data(_name(node), outputs, (1, 1), [value]), weights[:, :, None, None])
        step.bias, step.flatten = _bias(node, outputs), flatten
        if not read.is_plain:  # what is pooled or added on the way is a picture
            step.operation = "conv2d"
        slopes = slopes_of(node)
        step.activation, step.out.limit = activation_of(node.op) if slopes is None else ("relu", None)
        self._add(step)
        behind = of_data(step.out) if slopes is None else self._with_negative(step, slopes)
        self._reads[value] = replace(behind, order=np.arange(outputs).reshape(_shape(value)))

    def _pool(self, node: Node) -> None:
        value, x, op = node.outputs[0], node.inputs[0], node.op
        read, turned = self._as_picture(x)
        if isinstance(op, ReduceMean):
            if tuple(op.axes) != (1, 2):
                raise NotHereError(
                    f"it is the mean along the axes {', '.join(map(str, op.axes))}",
                    "means are computed over windows of an image",
                    "use a fully connected layer",
                )
            pool = Pool("average", read.result, (1, 1))
            steps = mean_in_two(read.result)
            if max(pool.size) > _LARGEST_WINDOW and steps is not None:
                plain = read if read.pool is None else of_data(self._data(node, read, x))
                read, pool = of_data(self._data(node, plain.pooled(steps[0]), value)), steps[1]
        else:
            assert isinstance(op, MaxPool2d | AvgPool2d)
            pool, border = pool_of(op, read.result, _made_size(value, turned), turned=turned)
            if border is not None:
                if isinstance(op, MaxPool2d) and not self._is_never_negative(read, x):
                    raise NotHereError(
                        "its windows extend beyond the input or into padding",
                        "the padding of an image is zero, which is the minimum only of non-negative values",
                        "pool after the activation, or without pads",
                    )
                read = self._bordered(node, read, border)
        require_size(pool)
        if read.pool is not None or (read.eltwise and (read.operands > 2 or _is_too_much_at_once(read))):
            read = of_data(self._data(node, read, x))
        pooled = read.pooled(pool) if pool.size != (1, 1) or pool.stride != (1, 1) else read
        if len(self._users.get(value, ())) > 1 or value in self._outputs:
            pooled = of_data(self._data(node, pooled, value))
        self._reads[value] = replace(pooled, order=pooled.order.reshape(_shape(value)))

    def _eltwise(self, node: Node, kind: Eltwise) -> None:
        value, op = node.outputs[0], node.op
        shapes = {_shape(one) for one in (*node.inputs, value)}
        if len(shapes) > 1:
            raise NotHereError(
                "its operands have different shapes", "operands are of one shape", "repeat the smaller one in the model"
            )
        both = self._together(node, [(one, self._read(one)) for one in node.inputs], kind)
        if isinstance(op, ActivatedOperator) and op.activation != "none":
            activation, limit = activation_of(op)
            assert activation is not None
            both = self._activated(node, both, value, activation, limit)
        self._reads[value] = both

    def _together(self, node: Node, reads: list[tuple[Value, Read]], kind: Eltwise) -> Read:
        """Operands of one layer; those of a sum that nobody else wants come along."""
        orders = [read.order for _, read in reads]
        if any(not np.array_equal(order, orders[0]) for order in orders):
            raise NotHereError(
                "its operands are stored in different orders",
                "operands are stored as images, channels last",
                "remove the operator that moves the axes of one of them",
            )
        sources: list[Data] = []
        for value, read in reads:
            alone = len(self._users.get(value, ())) == 1
            if kind == "add" and read.eltwise == "add" and read.pool is None and alone and not sources:
                sources += read.sources
            else:
                sources.append(self._data(node, read, value))
        if len(sources) > _MOST_OPERANDS:
            raise NotHereError(f"it adds {len(sources)}", f"at most {_MOST_OPERANDS}", "add in two steps")
        size = sources[0].size
        result = node.outputs[0]
        made = Read(tuple(sources), size, orders[0], eltwise=kind, sums=(result,))
        activated = isinstance(node.op, ActivatedOperator) and node.op.activation != "none"
        wanted_twice = len(self._users.get(result, ())) > 1 or result in self._outputs
        if activated or not wanted_twice:
            return made
        return replace(of_data(self._data(node, made, result)), order=orders[0])

    def _concat(self, node: Node) -> None:
        value, op = node.outputs[0], node.op
        assert isinstance(op, Concat)
        axis = op.axis % value.type.rank
        sources: list[Data] = []
        for one in node.inputs:
            read = self._read(one)
            flat = read.result == (1, 1)
            if axis != value.type.rank - 1 or (not flat and not _is_canonical(one, read)):
                raise NotHereError(
                    f"it concatenates along axis {op.axis}",
                    "only channels are concatenated",
                    "concatenate channels, or compute it in the program",
                )
            keeps = read.is_plain and len({data.size for data in read.sources} | {read.size}) == 1
            sources += read.sources if keeps else (self._data(node, read, one),)
        channels = sum(data.channels for data in sources)
        size = sources[0].size
        order = canonical(channels, size).reshape(_shape(value))
        self._reads[value] = Read(tuple(sources), size, order)
        if value in self._outputs:
            self._reads[value] = replace(of_data(self._data(node, self._reads[value], value)), order=order)

    # -- reading --
    def _read(self, value: Value) -> Read:
        if value in self._raw:
            return self._take_input(value, _picture(value))
        if value not in self._reads:
            raise NotHereError(
                f"'{value.name}' is not computed by the accelerator",
                "operands come from the input or from preceding layers",
                "compute this part in the program",
            )
        return self._reads[value]

    def _take_input(self, value: Value, picture: tuple[int, Size]) -> Read:
        channels, size = picture
        order = self._raw[value].reshape(1, *size, channels)[0].transpose(2, 0, 1)
        if self._input is None:
            self._input = Data("the input", channels, size, [*self._graph.inputs]), order
        data, known = self._input
        if data.size != size or not np.array_equal(known, order):
            raise NotHereError(
                f"the input is read as {channels} channels of {size[0]} x {size[1]} here, and in another shape "
                "elsewhere",
                "the input has one layout in memory",
                "remove the operator that reshapes it",
            )
        return replace(of_data(data), order=canonical(channels, size).reshape(_shape(value)))

    def _as_picture(self, value: Value) -> tuple[Read, bool]:
        """The value as rows and columns with its channels last; whether rows and columns change places for that."""
        read = self._read(value)
        if value.type.rank != 4 or not _is_canonical(value, read):
            raise NotHereError(
                f"'{value.name}' is not stored as an image",
                "layers read images, channels last, and do not move axes",
                "remove the operator that reshapes a vector to an image, or that moves axes",
            )
        channels, size = _picture(value)
        if size != read.result:
            if not read.is_plain:
                read = of_data(self._data(value_node(self._graph, value), read, value))
            read = replace(read, size=size)
        height, width = _shape(value)[1:3]
        return replace(read, order=canonical(channels, size)), height == 1 and width > 1

    def _fit_for(self, node: Node, read: Read, operation: str, value: Value, *, biased: bool = False) -> Read:
        """What a layer of this kind can do on the way; the rest becomes a layer of its own."""
        if read.eltwise is None:
            return read
        if operation == "conv1d" or _is_too_much_at_once(read) or (biased and self._device is not MAX78000):
            return replace(of_data(self._data(node, read, value)), order=read.order)
        return read

    def _is_never_negative(self, read: Read, value: Value) -> bool:
        """As far as layers or ranges say so."""
        made = [self._made.get(data) for data in read.sources]
        if read.eltwise != "sub" and all(step is not None and step.activation for step in made):
            return True
        quant = self._graph.range_of(value)
        return quant is not None and quant.axis is None and between(quant)[0] >= 0

    def _bordered(self, node: Node, read: Read, before: Border) -> Read:
        """Zeros around what is read: so many rows and columns in front, and the rest of `BORDER` behind."""
        size = read.result
        flat = size[1] == 1
        operation: Operation = "conv1d" if flat else "conv2d"
        read = self._fit_for(node, read, operation, node.inputs[0])
        tap = [1 if zeros is None else BORDER - zeros for zeros in before]
        pad = [1 if zeros is None else BORDER for zeros in before]
        if flat:
            tap[1], pad[1] = 0, 0
        kernel = (3, 1) if flat else (3, 3)
        weights = np.zeros((read.channels, read.channels, *kernel), np.float32)
        weights[np.arange(read.channels), np.arange(read.channels), tap[0], tap[1]] = 1
        around = (size[0] + 2 * pad[0] - 2, 1 if flat else size[1] + 2 * pad[1] - 2)
        values = [value for data in read.sources for value in data.values]
        out = Data(f"{_name(node)} with a border", read.channels, around, values)
        self._add(Step(node, operation, read, out, weights, None, kernel, (pad[0], pad[1]), keeps_scale=True))
        return of_data(out)

    # -- layers --
    def _data(self, node: Node, read: Read, value: Value) -> Data:
        """What is read as what one layer puts out; a layer of its own does it where none has."""
        if read.is_data:
            return read.sources[0]
        out = Data(f"{_name(node)} as data", read.channels, read.result, [value])
        step = Step(node, "none", read, out, keeps_scale=True)
        if read.pool is not None and read.channels > PROCESSORS:  # nothing is pooled in passes on the way to nowhere
            step = _identity(step)
        self._add(step)
        if value in self._reads:
            self._reads[value] = replace(of_data(out), order=self._reads[value].order)
        return out

    def _activated(self, node: Node, read: Read, value: Value, kind: Activation, limit: float | None) -> Read:
        """By the layer that makes it, or by one of its own that does nothing else."""
        made = self._made.get(read.sources[0]) if read.is_data else None
        alone = len(self._users.get(node.inputs[0], ())) == 1 and node.inputs[0] not in self._outputs
        if made is not None and made.activation is None and made.weights is not None and alone and not made.keeps_scale:
            made.activation, made.out.limit = kind, limit
            made.out.values = [value]
            return read
        read = self._fit_for(node, read, "conv2d", node.inputs[0])
        out = Data(_name(node), read.channels, read.result, [value], limit)
        step = _identity(Step(node, "none", read, out, keeps_scale=True))
        step.activation = kind
        self._add(step)
        return replace(of_data(out), order=read.order)

    def _leaky(self, node: Node, read: Read, value: Value, slopes: Array | None) -> Read:
        """Slopes below zero: by the layer that makes the value and one beside it, or by two identities."""
        if slopes is None:
            raise no_activation(node.op.name)
        if slopes.size > 1 and not _is_canonical(value, read):
            raise NotHereError(
                "each channel has a slope of its own, and the values have been moved",
                "channels are the last axis of an image",
                "put the activation before the operator that moves the axes",
            )
        made = self._made.get(read.sources[0]) if read.is_data else None
        alone = len(self._users.get(node.inputs[0], ())) == 1 and node.inputs[0] not in self._outputs
        if made is None or made.activation or made.weights is None or not alone or made.keeps_scale:
            read = self._fit_for(node, read, "conv2d", node.inputs[0])
            made = _identity(Step(node, "none", read, Data(_name(node), read.channels, read.result)))
            self._add(made)
        made.activation, made.out.values = "relu", [value]
        return replace(self._with_negative(made, slopes), order=read.order)

    def _with_negative(self, step: Step, slopes: Array) -> Read:
        other, read = below_zero(step, slopes)
        self._add(other)
        return read

    def _add(self, step: Step) -> None:
        self._steps.append(step)
        self._made[step.out] = step

    # -- the end --
    def _result(self, value: Value) -> Result:
        of, after = self._after.get(value, (value, ""))
        read = self._read(of)
        data = self._data(value_node(self._graph, of), read, of)
        step = self._made.get(data)
        if step is None:  # the input itself, or what is asked for twice
            raise UnsupportedError(
                f"the output '{value.name}' is the input",
                where=Where(model=self._graph.name, value=value.name),
                rule="outputs must be results of layers",
                remedy="remove it",
            )
        step.is_output, step.softmax = True, after == "softmax"
        return Result(value, data, read.order, after)


def _is_too_much_at_once(read: Read) -> bool:
    """Whether the MAX78000 takes these operands in a layer that does nothing else."""
    return read.channels > PROCESSORS and (read.operands > 2 or read.channels > 2 * PROCESSORS)


def _form_with_border(
    node: Node, size: Size, out: Size, device: Device, turned: bool, problem: WrongPadsError
) -> tuple[Form, Border]:
    """A convolution over the picture with a border, and the border. The problem, where none helps."""
    some: tuple[int | None, ...] = (*range(BORDER + 1), None)
    for before in product(some, some if size[1] > 1 else (None,)):
        try:
            return form_of(node, size, out, device, turned=turned, border=before), before
        except WrongPadsError:
            continue
    raise problem


def value_node(graph: Graph, value: Value) -> Node:
    """The node that makes a value; of the input the first that reads it."""
    made = graph.producers().get(value)
    return made if made is not None else graph.nodes[0]


def _identity(step: Step) -> Step:
    """The layer as an identity convolution."""
    channels = step.read.channels
    step.operation, step.weights = "conv2d", np.eye(channels, dtype=np.float32)[:, :, None, None]
    return step


def _moved(node: Node, order: Order) -> Order:
    shape = _shape(node.inputs[0])
    if order.shape != shape:  # behind a node that has no layer, and is pretended to be a picture
        order = np.arange(math.prod(shape), dtype=order.dtype).reshape(shape)
    return np.asarray(
        node.op.reference(order, *(one.constant for one in node.inputs[1:] if one.constant is not None))[0]
    )


def _shape(value: Value) -> tuple[int, ...]:
    return tuple(int(dim) for dim in value.type.shape if isinstance(dim, int))


def _picture(value: Value) -> tuple[int, Size]:
    """Channels, rows and columns; what has one row is of one dimension."""
    shape = _shape(value)
    if len(shape) != 4:
        return math.prod(shape), (1, 1)
    return shape[3], ((shape[2], 1) if shape[1] == 1 else (shape[1], shape[2]))


def _made_size(value: Value, turned: bool) -> Size:
    """Rows and columns of a result, which lie as those of what it is made of."""
    _, height, width, _ = _shape(value)
    return (width, height) if turned else (height, width)


def _is_canonical(value: Value, read: Read) -> bool:
    channels, size = _picture(value)
    return channels == read.channels and np.array_equal(read.order.reshape(-1), canonical(channels, size).reshape(-1))


def _name(node: Node) -> str:
    return node.name or node.outputs[0].name


def _bias(node: Node, channels: int) -> Array | None:
    value = node.input(2)
    if value is None:
        return None
    if value.constant is None:
        raise NotHereError("its bias is computed", "biases of layers are constant", "make it constant")
    return np.broadcast_to(value.constant.astype(np.float64), (channels,))
