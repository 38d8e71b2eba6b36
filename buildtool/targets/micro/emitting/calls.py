"""The call of each layer's kernel, with the constants that it reads."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from buildtool.targets.micro import moves, short_packing
from buildtool.targets.micro import network as nets
from buildtool.targets.micro.definitions.loops import C_TYPES
from buildtool.targets.micro.network import Layer, Tensor, Window
from buildtool.targets.micro.packing import interleaved, packed, vector_channels


class Places(Protocol):
    """Expressions of C for where things are."""

    def tensor(self, tensor: Tensor) -> str: ...

    def work(self, layer: Layer) -> str: ...


@dataclass
class Call:
    """What a layer becomes."""

    kernels: tuple[str, ...]  # of files.SOURCES
    arrays: list[tuple[str, NDArray[Any]]] = field(default_factory=list)
    structures: list[str] = field(default_factory=list)
    calls: list[str] = field(default_factory=list)


@dataclass(frozen=True)
class _Context:
    places: Places
    name: str  # of the structure
    constants: str  # how names of arrays begin
    kernel_set: str

    def ends(self, layer: Layer) -> tuple[str, str]:
        return self.places.tensor(layer.inputs[0]), self.places.tensor(layer.output)


def call(layer: Layer, places: Places, names: tuple[str, str], kernel_set: str) -> Call:
    """`names`: of its structure, and how those of its arrays begin."""
    return _CALLS[type(layer)](layer, _Context(places, *names, kernel_set))


def kernel_of(layer: Layer, kernel_set: str) -> str:
    """The file of its kernel, without the instruction set."""
    if isinstance(layer, nets.Depthwise) and vector_channels(layer, kernel_set):
        return "depthwise_channels_s8"
    return FILES[type(layer)]


def real(value: float) -> str:
    """A float of C with all its digits."""
    text = np.format_float_scientific(np.float32(value), unique=True, trim="0")
    return f"{text}f"


def _bounds(layer: Layer) -> str:
    return f"{{{layer.inputs[0].zero}, {layer.output.zero}, {layer.low}, {layer.high}}}"


def _image(x: Tensor, y: Tensor, window: Window) -> str:
    numbers = (*x.shape[1:], *y.shape[1:], *window.kernel, *window.strides, *window.pads, *window.dilations)
    return "{" + ", ".join(str(number) for number in numbers) + "}"


def _scaling(layer: nets.Conv | nets.Dense, context: _Context) -> str:
    return f"{{{context.constants}_scaling, {context.constants}_shifts, {int(max(layer.shifts) < 0)}}}"


def _constants(layer: nets.Conv | nets.Dense, context: _Context) -> list[tuple[str, NDArray[Any]]]:
    found = packed(layer, context.kernel_set)
    return [
        (f"{context.constants}_weights", found.weights),
        (f"{context.constants}_scaling", found.pairs),
        (f"{context.constants}_shifts", found.shifts),
    ]


def _conv(layer: nets.Conv, context: _Context) -> Call:
    kernel = kernel_of(layer, context.kernel_set)
    image = _image(layer.inputs[0], layer.output, layer.window)
    body = f"{context.constants}_weights, {_scaling(layer, context)}, {image}, {_bounds(layer)}"
    name = "conv_s4" if isinstance(layer, nets.ConvNibbles) else kernel
    x, y = context.ends(layer)
    return Call(
        (kernel,),
        _constants(layer, context),
        [f"static const lm_conv {context.name} = {{{body}}};"],
        [f"lm_{name}({x}, {y}, {context.places.work(layer)}, &{context.name});"],
    )


def _depthwise_nibbles(layer: nets.DepthwiseNibbles, context: _Context) -> Call:
    """The kernel of bytes, behind what unpacks its weights."""
    found = _conv(layer, context)
    kernel = kernel_of(layer, context.kernel_set)
    x, y = context.ends(layer)
    count = 2 * packed(layer, context.kernel_set).weights.size
    line = f"lm_depthwise_s4({x}, {y}, {context.places.work(layer)}, &{context.name}, {count}, lm_{kernel});"
    return Call(found.kernels, found.arrays, found.structures, [line])


def _dense(layer: nets.Dense, context: _Context) -> Call:
    made, deep = layer.weights.shape
    body = f"{context.constants}_weights, {_scaling(layer, context)}, {layer.rows}, {deep}, {made}, {_bounds(layer)}"
    x, y = context.ends(layer)
    kernel = "dense_s4" if isinstance(layer, nets.DenseNibbles) else "dense_s8"
    return Call(
        (kernel_of(layer, context.kernel_set),),
        _constants(layer, context),
        [f"static const lm_dense {context.name} = {{{body}}};"],
        [f"lm_{kernel}({x}, {y}, &{context.name});"],
    )


def _pool(layer: nets.MaxPool | nets.AveragePool, context: _Context) -> Call:
    word = "max" if isinstance(layer, nets.MaxPool) else "average"
    x, y = context.ends(layer)
    body = f"{_image(layer.inputs[0], layer.output, layer.window)}, {_bounds(layer)}"
    return Call(
        ("pools_s8",),
        [],
        [f"static const lm_pool {context.name} = {{{body}}};"],
        [f"lm_{word}_pool_s8({x}, {y}, &{context.name});"],
    )


def _mean(layer: nets.Mean, context: _Context) -> Call:
    _, rows, columns, deep = layer.inputs[0].shape
    x, y = context.ends(layer)
    body = f"{{{layer.multiplier}, {layer.shift}}}, {rows * columns}, {deep}, {_bounds(layer)}"
    return Call(
        ("elementwise_s8",),
        [],
        [f"static const lm_mean {context.name} = {{{body}}};"],
        [f"lm_mean_s8({x}, {y}, &{context.name});"],
    )


def _two(layer: nets.Add | nets.Mul, context: _Context) -> Call:
    if isinstance(layer, nets.Add):
        word = "add"
        factors = [f"{{{m}, {s}}}" for m, s in zip(layer.multipliers, layer.shifts, strict=True)]
    else:
        word, factors = "mul", [f"{{{layer.multiplier}, {layer.shift}}}"]
    first, second = layer.inputs
    body = ", ".join([*factors, str(first.zero), str(second.zero), _bounds(layer)])
    x, y = context.ends(layer)
    other = context.places.tensor(second)
    return Call(
        ("elementwise_s8",),
        [],
        [f"static const lm_{word} {context.name} = {{{body}}};"],
        [f"lm_{word}_s8({x}, {other}, {y}, {layer.output.elements}, &{context.name});"],
    )


def _table(layer: nets.Table, context: _Context) -> Call:
    x, y = context.ends(layer)
    name = f"{context.constants}_table"
    line = f"lm_table_s8({x}, {y}, {layer.output.elements}, {name});"
    return Call(("elementwise_s8",), [(name, layer.table)], [], [line])


def _softmax(layer: nets.Softmax, context: _Context) -> Call:
    x, y = context.ends(layer)
    columns = layer.output.shape[-1]
    name = f"{context.constants}_exponentials"
    line = f"lm_softmax_s8({x}, {y}, {layer.output.elements // columns}, {columns}, {name});"
    return Call(("softmax_s8",), [(name, layer.exponentials)], [], [line])


def _factor(pair: tuple[int, int]) -> str:
    return f"{{{pair[0]}, {pair[1]}}}"


def _lstm(layer: nets.Lstm, context: _Context) -> Call:
    weights, biases = interleaved(layer, context.kernel_set)
    deep, units = layer.weights.shape[2], layer.output.shape[2]
    many = layer.batches if layer.time_major else layer.steps
    strides = [(1, many), (many, 1)][not layer.time_major]  # of a batch and of a step, in rows
    body = ", ".join(
        [
            f"{context.constants}_weights, {context.constants}_biases",
            f"{{{', '.join(map(_factor, layer.given))}}}",
            f"{{{', '.join(map(_factor, layer.kept))}}}",
            _factor(layer.hidden),
            *(str(rows * size) for size in (deep, units) for rows in strides),
            f"{layer.batches}, {layer.steps}, {deep}, {units}, {layer.cell_shift}, {layer.clip}, {layer.output.zero}",
        ]
    )
    x, y = context.ends(layer)
    return Call(
        ("lstm_s8",),
        [(f"{context.constants}_weights", weights), (f"{context.constants}_biases", biases)],
        [f"static const lm_lstm {context.name} = {{{body}}};"],
        [f"lm_lstm_s8({x}, {y}, {context.places.work(layer)}, &{context.name});"],
    )


def _svdf_filters(layer: nets.SvdfFilters, context: _Context) -> Call:
    biases = (-layer.inputs[0].zero * layer.weights.astype(np.int64).sum(axis=1)).astype(np.int32)
    name = context.constants
    batches, deep = layer.inputs[0].shape
    sizes = f"{batches}, {deep}, {len(layer.weights)}, {layer.memory}, 1, 0"
    body = f"{name}_weights, {name}_biases, 0, 0, {_factor(layer.factor)}, {{0, 0}}, {sizes}"
    x, y = context.ends(layer)
    past = context.places.tensor(layer.inputs[1])
    return Call(
        ("svdf_s8",),
        [(f"{name}_weights", layer.weights.ravel()), (f"{name}_biases", biases)],
        [f"static const lm_svdf {context.name} = {{{body}}};"],
        [f"lm_svdf_filters_s8({x}, {past}, {y}, &{context.name});"],
    )


def _svdf_times(layer: nets.SvdfTimes, context: _Context) -> Call:
    name = context.constants
    filters, memory = layer.times.shape
    sizes = f"{layer.output.shape[0]}, 0, {filters}, {memory}, {layer.rank}, {layer.output.zero}"
    body = f"0, 0, {name}_times, {name}_biases, {{0, 0}}, {_factor(layer.factor)}, {sizes}"
    x, y = context.ends(layer)
    return Call(
        ("svdf_s8",),
        [(f"{name}_times", layer.times.ravel()), (f"{name}_biases", layer.bias)],
        [f"static const lm_svdf {context.name} = {{{body}}};"],
        [f"lm_svdf_times_s8({x}, {y}, &{context.name});"],
    )


def _concat(layer: nets.Concat, context: _Context) -> Call:
    made = Call(("moving_s8",))
    pitch, start = sum(layer.runs), 0
    for tensor, run in zip(layer.inputs, layer.runs, strict=True):
        to = f"{_bytes(layer.output, context.places.tensor(layer.output))} + {start}"
        source = _bytes(tensor, context.places.tensor(tensor))
        made.calls.append(f"lm_copy_rows({source}, {to}, {layer.rows}, {run}, {pitch});")
        start += run
    return made


def _pad(layer: nets.Pad, context: _Context) -> Call:
    x, y = _ends_as_bytes(layer, context)
    deep = layer.inputs[0].shape[3] * np.dtype(layer.output.dtype).itemsize
    numbers = (*layer.inputs[0].shape[1:3], deep, *layer.output.shape[1:3], *layer.before, layer.value)
    body = ", ".join(str(number) for number in numbers)
    return Call(
        ("moving_s8",),
        [],
        [f"static const lm_pad {context.name} = {{{body}}};"],
        [f"lm_pad_s8({x}, {y}, &{context.name});"],
    )


def _move(layer: nets.Move, context: _Context) -> Call:
    x, y = _ends_as_bytes(layer, context)
    loops = [*layer.loops, *[(1, 0)] * (moves.MOST_LOOPS - len(layer.loops))]
    counts, steps = (", ".join(str(number) for number in numbers) for numbers in zip(*loops, strict=True))
    return Call(
        ("move_s8",),
        [],
        [f"static const lm_move {context.name} = {{{layer.start}, {{{counts}}}, {{{steps}}}}};"],
        [f"lm_move_s8({x}, {y}, &{context.name});"],
    )


def _gather(layer: nets.Gather, context: _Context) -> Call:
    x, y = _ends_as_bytes(layer, context)
    name = f"{context.constants}_places"
    line = f"lm_gather_s8({x}, {y}, {layer.places.size}, {layer.run}, {name});"
    return Call(("move_s8",), [(name, layer.places)], [], [line])


def _keep(layer: nets.Keep, context: _Context) -> Call:
    x, y = _ends_as_bytes(layer, context)
    return Call(("moving_s8",), calls=[f"lm_keep({x}, {y}, {layer.output.bytes});"])


def _defined(layer: nets.Defined, context: _Context) -> Call:
    """The text of the function with the names of this layer."""
    found = layer.function
    text = found.text.replace("@_", f"{context.constants}_").replace("@", context.name)
    arguments = []
    for index in found.inputs:
        place = layer.operands[index]
        assert isinstance(place, int)
        arguments.append(_typed(layer.inputs[place], context))
    arguments.append(_typed(layer.output, context))
    arguments += [context.places.work(layer)] if found.work else []
    arrays = [(f"{context.constants}_{index}", array) for index, array in enumerate(found.arrays)]
    return Call((), arrays, ["", *text.splitlines()], [f"{context.name}({', '.join(arguments)});"])


def _typed(tensor: Tensor, context: _Context) -> str:
    """A pointer to a tensor's own type."""
    kind = C_TYPES[tensor.dtype]
    place = context.places.tensor(tensor)
    return place if kind in ("int8_t", "float") else f"({kind}*)(void*)({place})"


def _ends_as_bytes(layer: Layer, context: _Context) -> tuple[str, str]:
    x, y = context.ends(layer)
    return _bytes(layer.inputs[0], x), _bytes(layer.output, y)


def _bytes(tensor: Tensor, place: str) -> str:
    return place if tensor.dtype in ("int8", "uint8") else f"(int8_t*)(void*)({place})"


def _limits(layer: Layer) -> str:
    return f"{{{layer.low}, {layer.high}}}"


def _conv_short(layer: nets.ConvShort, context: _Context) -> Call:
    found, name = short_packing.packed(layer), context.constants
    image = _image(layer.inputs[0], layer.output, layer.window)
    if layer.rows:
        made, deep = layer.weights.shape[0], layer.weights[0].size
        image = "{" + ", ".join(map(str, (layer.rows, 1, deep, layer.rows, 1, made, 1, 1, 1, 1, 0, 0, 1, 1))) + "}"
    arrays = f"{name}_weights, {name}_biases, {name}_multipliers, {name}_shifts"
    body = f"{arrays}, {image}, {layer.low}, {layer.high}, {int(layer.exact)}"
    word = "depthwise" if isinstance(layer, nets.DepthwiseShort) else "conv"
    x, y = context.ends(layer)
    return Call(
        ("conv_s16",),
        [
            (f"{name}_weights", found.weights),
            (f"{name}_biases", found.biases),
            (f"{name}_multipliers", found.multipliers),
            (f"{name}_shifts", found.shifts),
        ],
        [f"static const lm_conv16 {context.name} = {{{body}}};"],
        [f"lm_{word}_s16({x}, {y}, &{context.name});"],
    )


def _pool_short(layer: nets.MaxPoolShort | nets.AveragePoolShort, context: _Context) -> Call:
    word = "max" if isinstance(layer, nets.MaxPoolShort) else "average"
    x, y = context.ends(layer)
    body = f"{_image(layer.inputs[0], layer.output, layer.window)}, {_limits(layer)}"
    structure = f"static const lm_pool16 {context.name} = {{{body}}};"
    return Call(("pools_s16",), [], [structure], [f"lm_{word}_pool_s16({x}, {y}, &{context.name});"])


def _add_short(layer: nets.AddShort, context: _Context) -> Call:
    factors = ", ".join(_factor(pair) for pair in zip(layer.multipliers, layer.shifts, strict=True))
    x, y = context.ends(layer)
    other, count = context.places.tensor(layer.inputs[1]), layer.output.elements
    structure = f"static const lm_add16 {context.name} = {{{factors}, {_limits(layer)}}};"
    return Call(("elementwise_s16",), [], [structure], [f"lm_add_s16({x}, {other}, {y}, {count}, &{context.name});"])


def _scale_short(layer: nets.MulShort | nets.RescaleShort, context: _Context) -> Call:
    word = "mul" if isinstance(layer, nets.MulShort) else "rescale"
    operands = ", ".join(context.places.tensor(tensor) for tensor in (*layer.inputs, layer.output))
    body = f"{_factor((layer.multiplier, layer.shift))}, {_limits(layer)}"
    structure = f"static const lm_scale16 {context.name} = {{{body}}};"
    line = f"lm_{word}_s16({operands}, {layer.output.elements}, &{context.name});"
    return Call(("elementwise_s16",), [], [structure], [line])


def _curve_short(layer: nets.CurveShort, context: _Context) -> Call:
    x, y = context.ends(layer)
    name = f"{context.constants}_sigmoids"
    numbers = f"{layer.output.elements}, {layer.multiplier}, {layer.shift}"
    (table,) = short_packing.tables(layer)
    line = f"lm_{layer.curve}_s16({x}, {y}, {numbers}, {name});"
    return Call(("elementwise_s16",), [(name, table)], [], [line])


def _softmax_short(layer: nets.SoftmaxShort, context: _Context) -> Call:
    x, y = context.ends(layer)
    columns, names = layer.output.shape[-1], [f"{context.constants}_{word}" for word in ("exponentials", "inverses")]
    factor = f"(lm_factor){_factor((layer.multiplier, layer.shift))}"
    line = f"lm_softmax_s16({x}, {y}, {layer.output.elements // columns}, {columns}, {factor}, {', '.join(names)});"
    return Call(("softmax_s16",), list(zip(names, short_packing.tables(layer), strict=True)), [], [line])


def _convert(layer: nets.Quantize | nets.Dequantize, context: _Context) -> Call:
    word, tensor = ("quantize", layer.output) if isinstance(layer, nets.Quantize) else ("dequantize", layer.inputs[0])
    x, y = context.ends(layer)
    arguments = f"{layer.output.elements}, {real(tensor.scale)}, {tensor.zero}"
    return Call(("floats_s8",), [], [], [f"lm_{word}_s8({x}, {y}, {arguments});"])


_CALLS: dict[type[Layer], Callable[[Any, _Context], Call]] = {
    nets.Conv: _conv,
    nets.ConvNibbles: _conv,
    nets.Depthwise: _conv,
    nets.DepthwiseNibbles: _depthwise_nibbles,
    nets.Dense: _dense,
    nets.DenseNibbles: _dense,
    nets.MaxPool: _pool,
    nets.AveragePool: _pool,
    nets.Mean: _mean,
    nets.Add: _two,
    nets.Mul: _two,
    nets.Table: _table,
    nets.Softmax: _softmax,
    nets.Lstm: _lstm,
    nets.SvdfFilters: _svdf_filters,
    nets.SvdfTimes: _svdf_times,
    nets.Concat: _concat,
    nets.Pad: _pad,
    nets.Move: _move,
    nets.Gather: _gather,
    nets.Keep: _keep,
    nets.Quantize: _convert,
    nets.Dequantize: _convert,
    nets.Defined: _defined,
    nets.ConvShort: _conv_short,
    nets.DepthwiseShort: _conv_short,
    nets.AddShort: _add_short,
    nets.MulShort: _scale_short,
    nets.RescaleShort: _scale_short,
    nets.MaxPoolShort: _pool_short,
    nets.AveragePoolShort: _pool_short,
    nets.CurveShort: _curve_short,
    nets.SoftmaxShort: _softmax_short,
}
#: The file of each kernel, without the instruction set.
FILES: dict[type[Layer], str] = {
    nets.Conv: "conv_s8",
    nets.ConvNibbles: "nibbles_s8",
    nets.Depthwise: "depthwise_s8",
    nets.DepthwiseNibbles: "depthwise_s8",
    nets.Dense: "dense_s8",
    nets.DenseNibbles: "nibbles_s8",
    nets.MaxPool: "pools_s8",
    nets.AveragePool: "pools_s8",
    nets.Mean: "elementwise_s8",
    nets.Add: "elementwise_s8",
    nets.Mul: "elementwise_s8",
    nets.Table: "elementwise_s8",
    nets.Softmax: "softmax_s8",
    nets.Lstm: "lstm_s8",
    nets.SvdfFilters: "svdf_s8",
    nets.SvdfTimes: "svdf_s8",
    nets.Concat: "moving_s8",
    nets.Pad: "moving_s8",
    nets.Move: "move_s8",
    nets.Gather: "move_s8",
    nets.Keep: "moving_s8",
    nets.Quantize: "floats_s8",
    nets.Dequantize: "floats_s8",
    nets.ConvShort: "conv_s16",
    nets.DepthwiseShort: "conv_s16",
    nets.AddShort: "elementwise_s16",
    nets.MulShort: "elementwise_s16",
    nets.RescaleShort: "elementwise_s16",
    nets.MaxPoolShort: "pools_s16",
    nets.AveragePoolShort: "pools_s16",
    nets.CurveShort: "elementwise_s16",
    nets.SoftmaxShort: "softmax_s16",
}


def kernels(layers: Sequence[Layer], kernel_set: str) -> tuple[str, ...]:
    """The files of kernels that layers need."""
    called = [layer for layer in layers if not isinstance(layer, nets.Defined)]
    few = ["nibbles_depthwise_s8"] if any(isinstance(layer, nets.DepthwiseNibbles) for layer in called) else []
    return tuple(dict.fromkeys(sorted([*few, *(kernel_of(layer, kernel_set) for layer in called)])))
