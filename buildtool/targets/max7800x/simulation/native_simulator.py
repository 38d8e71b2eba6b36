"""The simulator in C (native/max7800x/simulator.c): equal to `simulate.run`, and fast.

It is a shared library that `builders.device_simulators` compiles on first use. The interpreter's lock is not held while
it runs: threads may share one `Simulator`.
"""

from __future__ import annotations

import ctypes
import functools
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from buildtool.errors import UnsupportedError, Where
from buildtool.targets.max7800x.network import BUFFER, INPUT, Kernel, Layer, Network, Size
from buildtool.targets.max7800x.simulation import arithmetic
from buildtool.targets.max7800x.simulation.checks import Shape, as_simulated, check, joined_shape
from buildtool.targets.max7800x.simulation.simulate import Trace, as_sample

_TAP_BLOCK = 32
_ALIGNMENT = 64
_ELTWISE: Mapping[str | None, int] = {None: 0, "add": 1, "sub": 2, "or": 3, "xor": 4}
_ACTIVATIONS: Mapping[str | None, int] = {None: 0, "relu": 1, "abs": 2}
_INT = ctypes.c_int32


class _Size(ctypes.Structure):
    _fields_ = [("rows", _INT), ("columns", _INT)]


class _Layer(ctypes.Structure):
    """lathe_max7800x_layer of the header."""

    _fields_ = [
        ("sources", ctypes.c_void_p),
        *((name, _INT) for name in ("source_count", "joins_pixels", "in_pixels", "skipped_pixels")),
        *((name, _INT) for name in ("operand_stride", "skipped_channels", "in_channels")),
        ("in_size", _Size),
        *((name, _INT) for name in ("operands", "eltwise", "eltwise_saturates", "pool_first", "pool")),
        *((name, _Size) for name in ("pool_size", "pool_stride", "pool_dilation", "pooled_size")),
        ("weights", ctypes.c_void_p),
        ("bias", ctypes.c_void_p),
        ("flattens", _INT),
        *((name, _Size) for name in ("kernel", "stride", "dilation", "pad", "padded_size", "stuffing")),
        *((name, _INT) for name in ("groups", "right_shift", "activation", "out_channels")),
        ("out_size", _Size),
        ("wide", _INT),
    ]


class _Network(ctypes.Structure):
    _fields_ = [
        ("layers", ctypes.c_void_p),
        ("order", ctypes.c_void_p),
        ("order_count", _INT),
        ("in_channels", _INT),
        ("in_size", _Size),
    ]


class Simulator:
    """A network, ready to run on any number of samples."""

    def __init__(self, network: Network, library: Path) -> None:
        """`library`: the compiled simulator. The errors of `checks.check`."""
        network = as_simulated(network)
        self.network = network
        self.order = check(network)
        if any(BUFFER in network.layers[at].sources for at in self.order):
            raise UnsupportedError(
                "the simulator for data sets has no data buffer",
                where=Where(model=network.name, file=network.file),
                rule="the output of the network depends on earlier inputs",
                remedy="run samples one by one: `lathe run`, or --accuracy with a script",
            )
        self._library = _load(library)
        self._kept: list[NDArray[Any]] = []  # what the structures point into
        layers = [_Layer() for _ in network.layers]
        positions = {INPUT: INPUT, **{layer.index: at for at, layer in enumerate(network.layers)}}
        for at in self.order:
            layer = network.layers[at]
            shapes = [_shape(network, positions[source]) for source in layer.sources]
            sources = self._pointer(np.array([positions[source] for source in layer.sources], np.int32))
            layers[at] = _Layer(**self._fields(layer, shapes), sources=sources)
        self._layers = (_Layer * len(layers))(*layers)
        self._network = _Network(
            ctypes.addressof(self._layers),
            self._pointer(np.array(self.order, np.int32)),
            len(self.order),
            network.input_channels,
            _Size(*network.input_size),
        )
        self._scratch_bytes = int(self._library.lathe_max7800x_scratch(ctypes.byref(self._network)))

    def run(self, sample: NDArray[Any]) -> Trace:
        """Every layer's output, as `simulate.run` gives them."""
        given = as_sample(self.network, sample)
        outputs = self._outputs(given)
        values = [np.zeros((0, 0, 0), np.int64) if output is None else output.astype(np.int64) for output in outputs]
        return Trace(self.network, given, tuple(values), self.order)

    def result(self, sample: NDArray[Any]) -> arithmetic.Values:
        """The output of the layer that ran last."""
        output = self._outputs(as_sample(self.network, sample))[self.order[-1]]
        assert output is not None
        values: arithmetic.Values = output.astype(np.int64)
        return values

    def _outputs(self, given: arithmetic.Values) -> list[NDArray[Any] | None]:
        outputs: list[NDArray[Any] | None] = [None] * len(self.network.layers)
        for at in self.order:
            layer = self.network.layers[at]
            outputs[at] = np.empty(
                (layer.out_channels, *layer.out_size), np.int32 if layer.output_width == 32 else np.int8
            )
        pointers = [None if output is None else output.ctypes.data for output in outputs]
        narrow = np.ascontiguousarray(given.astype(np.int8))
        scratch = np.empty(self._scratch_bytes + _ALIGNMENT, np.uint8)
        self._library.lathe_max7800x_simulate(
            ctypes.byref(self._network),
            ctypes.c_void_p(narrow.ctypes.data),
            (ctypes.c_void_p * len(pointers))(*pointers),
            ctypes.c_void_p(scratch.ctypes.data),
        )
        return outputs

    def _pointer(self, array: NDArray[Any]) -> int:
        kept = np.ascontiguousarray(array)
        self._kept.append(kept)
        return kept.ctypes.data

    def _fields(self, layer: Layer, sources: Sequence[Shape]) -> dict[str, Any]:
        joined = joined_shape(sources, layer.in_size)
        cut = layer.in_crop[0] if layer.in_crop else 0
        pooled = arithmetic.pooled_size(layer.in_size, layer.pool)
        fields: dict[str, Any] = {
            "source_count": len(sources),
            "joins_pixels": len({source[1:] for source in sources}) > 1,
            "in_pixels": joined[1] * joined[2],
            "skipped_pixels": cut * joined[2],
            "operand_stride": joined[0] // layer.operands,
            "skipped_channels": layer.in_channel_skip,
            "in_channels": layer.in_channels,
            "in_size": _Size(*layer.in_size),
            "operands": layer.operands,
            "eltwise": _ELTWISE[layer.eltwise],
            "eltwise_saturates": not (layer.operation == "none" and layer.output_width == 32),
            "pool_first": layer.pool_first,
            "pooled_size": _Size(*pooled),
            "activation": _ACTIVATIONS[layer.activation],
            "out_channels": layer.out_channels,
            "out_size": _Size(*layer.out_size),
            "wide": layer.output_width == 32,
        }
        if layer.pool is not None:
            rounds = arithmetic.averages_round(layer.operation, self.network.average_rounds)
            fields["pool"] = 1 if layer.pool.kind == "max" else 3 if rounds else 2
            sizes = {
                "pool_size": layer.pool.size,
                "pool_stride": layer.pool.stride,
                "pool_dilation": layer.pool.dilation,
            }
            fields |= {name: _Size(*size) for name, size in sizes.items()}
        if layer.kernel is not None:
            fields |= self._convolution(layer, layer.kernel, (1, 1) if layer.flatten else pooled)
        return fields

    def _convolution(self, layer: Layer, kernel: Kernel, size: Size) -> dict[str, Any]:
        walk = arithmetic.geometry(layer.operation, size, kernel)
        bypass = bool(layer.hints.get("bypass"))
        weights = np.ones_like(kernel.weights) if bypass else kernel.weights
        # [out][row, column, channel], so that what a kernel covers is a few long runs of the picture
        taps = weights.astype(np.int16).transpose(0, 2, 3, 1).reshape(len(weights), -1)
        padded = np.pad(taps, ((0, 0), (0, -taps.shape[1] % _TAP_BLOCK)))
        shift = arithmetic.total_shift(layer.output_shift, 8 if bypass else kernel.bits)
        fields: dict[str, Any] = {
            "weights": self._pointer(padded),
            "flattens": layer.flatten,
            "kernel": _Size(*weights.shape[2:]),
            "stride": _Size(*walk.stride),
            "dilation": _Size(*walk.dilation),
            "pad": _Size(*walk.pad),
            "padded_size": _Size(*walk.padded_size),
            "stuffing": _Size(*walk.stuffing),
            "groups": kernel.groups,
            "right_shift": arithmetic.FRACTION - shift,
        }
        if kernel.bias is not None:
            fields["bias"] = self._pointer(kernel.bias.astype(np.int32) * arithmetic.BIAS_FACTOR)
        return fields


@functools.cache
def _load(library: Path) -> ctypes.CDLL:
    loaded = ctypes.CDLL(str(library))
    loaded.lathe_max7800x_scratch.restype = ctypes.c_size_t
    loaded.lathe_max7800x_simulate.restype = None
    return loaded


def _shape(network: Network, position: int) -> Shape:
    if position == INPUT:
        return (network.input_channels, *network.input_size)
    layer = network.layers[position]
    return (layer.out_channels, *layer.out_size)
