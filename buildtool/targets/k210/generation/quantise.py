"""Real numbers as the KPU stores them: planes in bytes, weights in bytes or words, and how their sums come to scale."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from buildtool.errors import UnsupportedError, Where
from buildtool.ir.graph import Graph, Value
from buildtool.ir.operator import Array
from buildtool.ir.types import QuantType
from buildtool.passes.store_quantised import known_types
from buildtool.quant.ranges import between, ends
from buildtool.targets.k210.format.arguments import ZeroPoints
from buildtool.targets.k210.format.tables import BatchNorm
from buildtool.targets.k210.generation import activation
from buildtool.targets.k210.generation.activation import Domain, Fit, Function

STEPS = 255
_NARROWEST = 1e-30
_FRACTION = 14  # bits of a batch norm's result behind a step of the activation's
_LARGEST_MUL = (1 << 23) - 1
_LARGEST_ADD = (1 << 31) - 1
_SHIFT = 15
_LARGEST_RESULT = (1 << 34) - 1  # with room below what 36 bits hold
_LARGEST_SUM = (1 << 35) - 1


@dataclass(frozen=True)
class Bytes:
    """How a tensor is stored: `real = (byte - zero_point) * scale`."""

    scale: float
    zero_point: int

    @property
    def low(self) -> float:
        return -self.zero_point * self.scale

    @property
    def high(self) -> float:
        return (STEPS - self.zero_point) * self.scale

    @property
    def bias(self) -> float:
        """`real = byte * scale + bias`, as layers of the CPU have it."""
        return self.low

    def real(self, values: Array) -> Array:
        return np.asarray((values.astype(np.float64) - self.zero_point) * self.scale)

    def stored(self, values: Array) -> Array:
        steps = np.rint(np.asarray(values, np.float64) / self.scale) + self.zero_point
        return np.asarray(np.clip(steps, 0, STEPS).astype(np.uint8))


def bytes_between(low: float, high: float) -> Bytes:
    """Zero is always one of the numbers, and is stored exactly."""
    low, high = ends(low, high)
    scale = max((high - low) / STEPS, _NARROWEST)
    return Bytes(scale, int(np.clip(np.rint(-low / scale), 0, STEPS)))


def stored(graph: Graph) -> dict[Value, Bytes]:
    """How tensors are stored that have ranges."""
    return {value: _of(quant) for value, quant in known_types(graph).items()}


def _of(quant: QuantType) -> Bytes:
    if quant.bits == 8:
        return Bytes(quant.scales[0], quant.zero_points[0] + 128)
    return bytes_between(*between(quant))


def unknown(name: str, model: str) -> UnsupportedError:
    return UnsupportedError(
        f"the value range of '{name}' is unknown",
        where=Where(model=model, value=name),
        rule="the KPU computes with bytes that represent a known value range",
        remedy="measure the ranges with `lathe quantize DEPLOYMENT --inputs SAMPLES`, and set "
        "`quantize_range_file: FILE`",
    )


@dataclass(frozen=True)
class Weights:
    """Weights as they are stored, with a scale per output channel and one zero point."""

    stored: Array  # [O, I, k, k], whole numbers
    scales: Array  # [O]
    zero_point: int
    per_channel: bool

    def real(self) -> Array:
        return np.asarray((self.stored.astype(np.float64) - self.zero_point) * self.scales[:, None, None, None])


def weights(real: Array, bits: int = 8, per_channel: bool | None = None) -> Weights:
    """`per_channel` None: what is nearer to the weights; scales of channels go into the batch norm."""
    real = real.astype(np.float64)
    if per_channel is not None:
        return _of_channels(real, bits) if per_channel else _of_tensor(real, bits)
    both = _of_channels(real, bits), _of_tensor(real, bits)
    return min(both, key=lambda one: float(np.square(one.real() - real).sum()))


def _of_channels(real: Array, bits: int) -> Weights:
    zero = 1 << (bits - 1)
    largest = np.abs(real).max(axis=(1, 2, 3))
    scales = np.maximum(largest / (zero - 1), _NARROWEST)
    steps = np.rint(real / scales[:, None, None, None]) + zero
    return Weights(np.clip(steps, 0, 2 * zero - 1).astype(np.int64), scales, zero, True)


def _of_tensor(real: Array, bits: int) -> Weights:
    most = (1 << bits) - 1
    low, high = min(float(real.min()), 0.0), max(float(real.max()), 0.0)
    scale = max((high - low) / most, _NARROWEST)
    zero = int(np.clip(np.rint(-low / scale), 0, most))
    steps = np.clip(np.rint(real / scale) + zero, 0, most)
    return Weights(steps.astype(np.int64), np.full(len(real), scale), zero, False)


@dataclass(frozen=True)
class Registers:
    """What a layer computes with, apart from shapes and addresses."""

    weights: bytes
    zero_points: ZeroPoints
    pad_value: int
    batch_norm: tuple[BatchNorm, ...]
    fit: Fit


def registers(found: Weights, bias: Array, x: Bytes, y: Bytes, function: Function, *, wide: bool) -> Registers:
    """UnsupportedError where sums do not fit the KPU's registers."""
    edge = found.stored.shape[-1]
    zero_points = ZeroPoints(
        arg_x=-found.zero_point, arg_w=-x.zero_point, arg_add=edge * edge * found.zero_point * x.zero_point
    )
    sums = _largest_sums(found, x)
    if sums.max() > _LARGEST_SUM:
        raise UnsupportedError(
            f"its sums of products reach {sums.max():.0f}",
            rule=f"the KPU holds {_LARGEST_SUM}",
            remedy="use weights of 8 bits",
        )
    scale = _scale(found.scales * x.scale, bias, sums, y.scale)
    mul = np.rint(found.scales * x.scale / scale * 2.0**_SHIFT).astype(np.int64)
    add = np.rint(bias / scale).astype(np.int64)
    norms = tuple(BatchNorm(int(one), int(other), _SHIFT) for one, other in zip(mul, add, strict=True))
    reach = sums * mul * 2.0**-_SHIFT
    domain = Domain(int(np.floor((add - reach).min())) - 1, int(np.ceil((add + reach).max())) + 1, scale)
    fitted = activation.fit(function, domain, y.scale, y.zero_point)
    data = found.stored.astype("<u2" if wide else np.uint8).tobytes()
    return Registers(data, zero_points, x.zero_point, norms, fitted)


def _largest_sums(found: Weights, x: Bytes) -> Array:
    """The largest magnitude of each channel's sum of products, whatever the input holds."""
    distances = np.abs(found.stored - found.zero_point).sum(axis=(1, 2, 3)).astype(np.float64)
    return np.asarray(np.maximum(distances * max(x.zero_point, STEPS - x.zero_point), 1.0))


def _scale(of_sums: Array, bias: Array, sums: Array, step: float) -> float:
    """What one of the batch norm's results stands for: as little as its bits allow, and no less than is of use."""
    least = step * 2.0**-_FRACTION
    by_mul = float(of_sums.max()) * 2.0**_SHIFT / _LARGEST_MUL
    by_add = float(np.abs(bias).max()) / _LARGEST_ADD
    by_result = float((of_sums * sums + np.abs(bias)).max()) / _LARGEST_RESULT
    wanted = max(by_mul, by_add, by_result) * (1 + 1e-6)
    # Steps are whole numbers of its results, so that the ends of straight lines are.
    return least if wanted <= least else float(least * 2.0 ** np.ceil(np.log2(wanted / least)))
