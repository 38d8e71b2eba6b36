"""Decides what each node becomes: a convolution of the KPU, with all that it can do on the way, or layers of the CPU.

One error lists all that can go to neither, with the number of each layer, the rule, and what would make it fit.
"""

from __future__ import annotations

from collections.abc import Container

import numpy as np

from buildtool.errors import Problem, UnsupportedError, Where
from buildtool.ir.dims import is_static
from buildtool.ir.graph import Graph, Node, Value
from buildtool.ir.operator import Array
from buildtool.ir.types import DType
from buildtool.ops._activation import ActivatedOperator
from buildtool.ops.avg_pool2d import AvgPool2d
from buildtool.ops.conv2d import Conv2d
from buildtool.ops.dwconv2d import DwConv2d
from buildtool.ops.fully_connected import FullyConnected
from buildtool.ops.max_pool2d import MaxPool2d
from buildtool.ops.reshape import Reshape
from buildtool.targets.k210.format import layout
from buildtool.targets.k210.generation import dense, on_cpu
from buildtool.targets.k210.generation.forms import LEAST_SIDE, NO_BORDER, Border, Pick
from buildtool.targets.k210.generation.jobs import Bordered, Convolution, Folded, Job, OnCpu, Spread
from buildtool.targets.k210.generation.rules import NotHereError, activation_of, scalar_function, shape_of
from buildtool.targets.k210.generation.split import MOST_CHANNELS

MOST_HEIGHT, MOST_WIDTH = 256, 512
_WINDOW = 9  # pixels
_PICTURE_RANK = 4
LEFT_TOP, RIGHT_TOP, LEFT_TOP_OF_FOUR = 5, 6, 7
_MAX, _MEAN, _MAX_OF_FOUR, _MEAN_OF_FOUR, _MAX_IN_PLACE = 1, 2, 3, 4, 9
_DECIMATIONS = {((0, 0), 2): LEFT_TOP, ((0, 1), 2): RIGHT_TOP, ((0, 0), 4): LEFT_TOP_OF_FOUR}


def place(graph: Graph, ranges: Container[Value] = (), product_bytes: int = 0, *, fallback: bool = False) -> list[Job]:
    """What the nodes become, in order. UnsupportedError lists all that cannot go anywhere.

    Fully connected layers with more than `product_bytes` of floats go to the KPU where `ranges` has their results.
    `fallback`: convolutions that it cannot do go to the CPU where they are small enough.
    """
    placing = _Placing(graph, ranges, product_bytes, fallback)
    jobs: list[Job] = []
    problems: list[Problem] = []
    for number, node in enumerate(graph.nodes):
        if node in placing.taken:
            continue
        try:
            _common_rules(node)
            jobs += placing.node(node)
        except NotHereError as problem:
            name = node.name or node.outputs[0].name
            what = f"layer {number}, {node.op.name}: {problem.what}"
            problems.append(Problem(what, Where(model=graph.name, node=name), problem.rule, problem.remedy))
    if problems:
        raise UnsupportedError(problems)
    return jobs


def _common_rules(node: Node) -> None:
    for value in (*node.inputs, *node.outputs):
        if not is_static(value.type.shape):
            raise NotHereError(
                f"'{value.name}' has a size that is known at run time only",
                "a kmodel has fixed sizes",
                "declare the model's inputs with fixed shapes",
            )
        if value.type.dtype is not DType.F32 and not value.is_constant:
            raise NotHereError(
                f"'{value.name}' is of {value.type.dtype.value}",
                "layers compute with quantised bytes or with floats",
                "compute this part in the program that runs the kmodel",
            )
    if node.outputs[0].type.rank == 4 and node.outputs[0].type.shape[0] != 1:
        raise NotHereError("it works on several images at once", "a kmodel has one", "declare a batch of 1")


class _Placing:
    def __init__(self, graph: Graph, ranges: Container[Value], product_bytes: int, fallback: bool) -> None:
        self._fallback = fallback
        self._ranges = ranges
        self._product_bytes = product_bytes
        self._users = graph.users()
        self._outputs = set(graph.outputs)
        # A vector comes in as floats, which only a fully connected layer of the CPU reads.
        self._vectors = {value for value in graph.inputs if value.type.rank != _PICTURE_RANK}
        self._late: set[Value] = set()  # planes of which the next layer leaves out what is not wanted
        self.taken: set[Node] = set()

    def node(self, node: Node) -> list[Job]:
        if isinstance(node.op, Reshape) and node.inputs[0] in self._vectors:
            self._vectors.add(node.outputs[0])
        if isinstance(node.op, Conv2d | DwConv2d):
            if on_cpu.is_product(node):
                return self._product(node)
            try:
                return self._convolution(node)
            except NotHereError as problem:
                return [self._fallen_back(node, problem)]
        if isinstance(node.op, FullyConnected) and on_cpu.is_product(node):
            return self._product(node)
        job = OnCpu(node)
        function = scalar_function(node)
        if function is None:
            on_cpu.require(node)
            if isinstance(node.op, ActivatedOperator) and node.op.name == "add":
                job.functions += activation_of(node.op)
        else:
            job.functions.append(function)
        return [job]

    def _fallen_back(self, node: Node, problem: NotHereError) -> Job:
        """What the CPU does instead; the problem again where nobody asked for it, or where that is too large."""
        if dense.is_possible(node) and node.inputs[0] not in self._late:
            if self._fallback:
                return dense.of(node, *_weights(node))
            problem.remedy += ", or run it on the CPU: `--fallback cpu`"
        elif self._fallback and dense.size(node) > dense.MOST_BYTES:
            problem.what += f", and a layer of the CPU would have {dense.size(node)} bytes of weights"
            problem.rule += f"; the CPU supports up to {dense.MOST_BYTES}"
        raise problem

    def _product(self, node: Node) -> list[Job]:
        """A fully connected layer: one of floats, or a convolution where these would be many."""
        weights = on_cpu.product_weights(node)
        outputs, inputs = weights.shape
        x, y = node.inputs[0], node.outputs[0]
        known = x in self._ranges and y in self._ranges and x not in self._vectors
        if not known or weights.size * 4 <= self._product_bytes or inputs > MOST_CHANNELS * _WINDOW:
            return [OnCpu(node)]
        assert isinstance(node.op, ActivatedOperator)
        job = Convolution(node, x, y, weights.reshape(outputs, inputs, 1, 1), on_cpu.product_bias(node), False)
        job.functions = activation_of(node.op)
        job.words = [node.op.activation] if job.functions else []
        if inputs <= MOST_CHANNELS:
            return [job]
        channels = -(-inputs // _WINDOW)
        squares = np.zeros((outputs, channels * _WINDOW), weights.dtype)
        squares[:, :inputs] = weights
        job.weights, job.pick = squares.reshape(outputs, channels, 3, 3), Pick((1, 1))
        job.x = Value(f"{x.name} as planes", x.type)
        return [Folded(node, x, job.x, channels), job]

    def _convolution(self, node: Node) -> list[Job]:
        real, depthwise = _weights(node)
        height, width = shape_of(node.inputs[0])[1:3]
        _size_rules(node, height, width)
        spread = None if self._fallback and dense.is_possible(node) else _spread(node, real)
        if spread is None:
            weights, first = _as_squares(node, real)
        else:
            weights, first, depthwise = _as_taps(node, real, depthwise), (0, 0), False
        bias = node.input(2)
        if bias is not None and bias.constant is None:
            raise NotHereError("its bias is computed", "biases of KPU layers are constant", "give it a constant bias")
        numbers = np.zeros(len(weights)) if bias is None or bias.constant is None else bias.constant.astype(np.float64)
        job = Convolution(node, node.inputs[0], node.outputs[0], weights, numbers, depthwise)
        before = None if spread is not None else self._border(job, first)
        front: list[Job] = [one for one in (before, spread) if one is not None]
        if before is not None:
            height, width = before.border.around(height, width)
            first = first[0] + before.border.top, first[1] + before.border.left
            job.x = before.y
            _size_rules(node, height, width)
        if spread is None:
            self._strides(job, first, (height, width))
        else:
            job.x, (height, width) = spread.y, shape_of(spread.y)[1:3]
        if job.x in self._late:
            job.pool = LEFT_TOP
        residual = node.input(3)
        assert isinstance(node.op, ActivatedOperator)
        functions = activation_of(node.op)
        if residual is not None:
            sums = Value(f"{node.outputs[0].name} without its residual", node.outputs[0].type)
            job.y = sums
            return [*front, job, OnCpu(node, sums, residual, functions)]
        job.functions += functions
        job.words += [node.op.activation] if functions else []
        self._functions_behind(job)
        self._pool_behind(job, (height, width))
        if job.late:
            self._late.add(job.y)
        return [*front, job]

    def _border(self, job: Convolution, first: tuple[int, int]) -> Bordered | None:
        """What has to be around the picture, so that each window lies around a pixel; None where nothing has to."""
        assert isinstance(job.node.op, Conv2d | DwConv2d)
        plane, out, strides = shape_of(job.x)[1:3], shape_of(job.y)[1:3], job.node.op.strides
        before = [max(0, -first[axis]) for axis in (0, 1)]
        behind = [max(0, first[axis] + (out[axis] - 1) * strides[axis] - plane[axis] + 1) for axis in (0, 1)]
        border = Border(before[0], before[1], behind[0], behind[1])
        if border == NO_BORDER:
            return None
        height, width = border.around(plane[0], plane[1])
        shape = (1, height, width, shape_of(job.x)[3])
        return Bordered(job.node, job.x, Value(f"{job.x.name} with a border", job.x.type.with_shape(shape)), border)

    def _strides(self, job: Convolution, first: tuple[int, int], plane: tuple[int, int]) -> None:
        """How what is left out is left out: by the KPU, by the next layer, or by the CPU."""
        assert isinstance(job.node.op, Conv2d | DwConv2d)
        strides = job.node.op.strides
        out = shape_of(job.y)[1:3]
        if strides == (1, 1) and first == (0, 0) and out == plane:
            return
        small = min(plane) < LEAST_SIDE
        pool = _DECIMATIONS.get((first, strides[0])) if strides[0] == strides[1] and not small else None
        if pool is not None and out == (plane[0] // strides[0], plane[1] // strides[1]):
            if not job.depthwise:
                job.pool = pool
                return
            if pool == LEFT_TOP and self._next_leaves_out(job) and _fits_twice(job.x):
                job.late = True
                return
        job.pick = Pick(first, (strides[0], strides[1]))

    def _next_leaves_out(self, job: Convolution) -> bool:
        """Whether all that read the result of a depthwise layer are 1x1 convolutions, which can do it for it."""
        value = job.y
        while self._private(value) and scalar_function(self._users[value][0]) is not None:
            value = self._users[value][0].outputs[0]
        readers = self._users.get(value, [])
        return bool(readers) and value not in self._outputs and all(_is_plain_pointwise(node) for node in readers)

    def _private(self, value: Value) -> bool:
        return len(self._users.get(value, ())) == 1 and value not in self._outputs

    def _functions_behind(self, job: Convolution) -> None:
        """Functions of one number that follow are a part of the layer's activation."""
        while self._private(job.y):
            node = self._users[job.y][0]
            function = scalar_function(node)
            if function is None:
                return
            job.functions.append(function)
            job.words.append(node.op.name)
            job.y = node.outputs[0]
            self.taken.add(node)

    def _pool_behind(self, job: Convolution, plane: tuple[int, int]) -> None:
        if job.pool or job.late or job.pick != Pick() or not self._private(job.y) or min(plane) < LEAST_SIDE:
            return
        node = self._users[job.y][0]
        pool = _pool(node, plane)
        if pool:
            job.pool, job.pooled = pool, job.y
            job.y = node.outputs[0]
            self.taken.add(node)


def _fits_twice(value: Value) -> bool:
    """Whether the KPU's RAM has room for a picture and for another like it."""
    _, height, width, channels = shape_of(value)
    return 2 * layout.units(width, height, channels) <= layout.RAM_UNITS


def _pool(node: Node, plane: tuple[int, int]) -> int:
    """The pool of the KPU that does what the node does; 0 where there is none."""
    op = node.op
    if not isinstance(op, MaxPool2d | AvgPool2d) or op.dilations != (1, 1) or op.kernel[0] != op.kernel[1]:
        return 0
    size, out = op.kernel[0], shape_of(node.outputs[0])[1:3]
    largest = isinstance(op, MaxPool2d)
    if op.strides == op.kernel and size in (2, 4) and out == (plane[0] // size, plane[1] // size):
        # What hangs over an end is left out, so that there may be padding behind that no window reaches.
        if op.pads[:2] != (0, 0):
            return 0
        if size == 2:
            return _MAX if largest else _MEAN
        return _MAX_OF_FOUR if largest else _MEAN_OF_FOUR
    if largest and op.kernel == (2, 2) and op.strides == (1, 1) and op.pads == (0, 0, 1, 1):
        return _MAX_IN_PLACE
    return 0


def _is_plain_pointwise(node: Node) -> bool:
    op = node.op
    if not isinstance(op, Conv2d) or op.groups != 1 or op.strides != (1, 1) or any(op.pads):
        return False
    return shape_of(node.inputs[1])[1:3] == (1, 1)


def _size_rules(node: Node, height: int, width: int) -> None:
    if height > MOST_HEIGHT or width > MOST_WIDTH:
        raise NotHereError(
            f"its input has {height} x {width} pixels",
            f"the KPU supports up to {MOST_HEIGHT} rows of {MOST_WIDTH} pixels",
            "use a smaller image" + (", or a transposed one" if height <= MOST_WIDTH else ""),
        )
    channels = shape_of(node.inputs[0])[3]
    if channels > MOST_CHANNELS and not isinstance(node.op, DwConv2d):
        raise NotHereError(
            f"'{node.inputs[0].name}' has {channels} channels",
            f"a layer of the KPU sums up to {MOST_CHANNELS}",
            "make the preceding layer narrower, or add up the results of two layers",
        )


def _weights(node: Node) -> tuple[Array, bool]:
    """As [O, I, kh, kw] or [C, 1, kh, kw]; whether it is depthwise."""
    w = node.inputs[1].constant
    if w is None:
        raise NotHereError("its weights are computed", "weights of KPU layers are constant", "make them constant")
    op = node.op
    if isinstance(op, DwConv2d):
        if op.multiplier == 1:
            return np.ascontiguousarray(w.transpose(2, 0, 1)[:, None]), True
        inputs = w.shape[2] // op.multiplier
        dense = np.zeros((w.shape[2], inputs, *w.shape[:2]), w.dtype)
        for channel in range(w.shape[2]):
            dense[channel, channel // op.multiplier] = w[:, :, channel]
        return dense, False
    assert isinstance(op, Conv2d)
    real = np.ascontiguousarray(w.transpose(0, 3, 1, 2))
    if op.groups == 1:
        return real, False
    share, out = real.shape[1], len(real) // op.groups
    dense = np.zeros((len(real), share * op.groups, *real.shape[2:]), real.dtype)
    for group in range(op.groups):
        rows = slice(group * out, (group + 1) * out)
        dense[rows, group * share : (group + 1) * share] = real[rows]
    return dense, False


def _spread(node: Node, real: Array) -> Spread | None:
    """What the CPU does in front of a kernel that the KPU lacks; None where it has it, or channels become too many."""
    op = node.op
    assert isinstance(op, Conv2d | DwConv2d)
    rows, columns = real.shape[2:]
    _, height, width, channels = shape_of(node.inputs[0])
    dilated = op.dilations != (1, 1) and max(rows, columns) > 1
    if not (dilated or max(rows, columns) > 3) or channels * rows * columns > MOST_CHANNELS:
        return None
    out = shape_of(node.outputs[0])[1:3]
    taps = tuple((row * op.dilations[0], column * op.dilations[1]) for row in range(rows) for column in range(columns))
    # Where a last window ends: that may be in front of the end of the padding.
    ends = [taps[-1][axis] + (out[axis] - 1) * op.strides[axis] + 1 for axis in (0, 1)]
    top, left = op.pads[:2]
    border = Border(top, left, max(ends[0] - top - height, 0), max(ends[1] - left - width, 0))
    shape = (1, *out, channels * len(taps))
    y = Value(f"{node.inputs[0].name} side by side", node.inputs[0].type.with_shape(shape))
    return Spread(node, node.inputs[0], y, border, taps, (op.strides[0], op.strides[1]))


def _as_taps(node: Node, real: Array, depthwise: bool) -> Array:
    """Weights as kernels of 1x1 over the channels of each tap, one tap behind the other."""
    if depthwise:
        channels = np.arange(len(real))
        dense_weights = np.zeros((len(real), len(real), *real.shape[2:]), real.dtype)
        dense_weights[channels, channels] = real[:, 0]
        real = dense_weights
    return np.ascontiguousarray(real.transpose(0, 2, 3, 1)).reshape(len(real), -1, 1, 1)


def _as_squares(node: Node, real: Array) -> tuple[Array, tuple[int, int]]:
    """Weights as kernels of 1x1 or 3x3, and the pixel around which the first window lies then."""
    op = node.op
    assert isinstance(op, Conv2d | DwConv2d)
    kernel = real.shape[2:]
    if op.dilations != (1, 1) and max(kernel) > 1:
        raise NotHereError(
            f"its dilation is {op.dilations[0]} x {op.dilations[1]}",
            "the KPU has no dilated kernels; of others, channels times pixels are at most 1024",
            "use a dilation of 1, or several layers of 3x3",
        )
    if max(kernel) > 3:
        raise NotHereError(
            f"its kernel is {kernel[0]}x{kernel[1]}",
            "the KPU has kernels of 1x1 and 3x3; of others, channels times pixels are at most 1024",
            f"use {-(-(max(kernel) - 1) // 2)} layers of 3x3 in sequence",
        )
    if kernel == (1, 1) and not any(op.pads):
        return real, (0, 0)
    squares = np.zeros((*real.shape[:2], 3, 3), real.dtype)
    first = []
    at = []
    for axis in (0, 1):
        # So that the first window lies around the first pixel, or as near to it as can be.
        offset = int(np.clip(1 - op.pads[axis], 0, 3 - kernel[axis]))
        at.append(offset)
        first.append(1 - op.pads[axis] - offset)
    squares[:, :, at[0] : at[0] + kernel[0], at[1] : at[1] + kernel[1]] = real
    return squares, (first[0], first[1])
