"""The layers of a kmodel that the CPU runs, on bytes and floats in main memory."""

from __future__ import annotations

import ctypes
import struct
from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar, TypeVar

from buildtool.targets.k210.format.layer import Layer, LayerType, Region, need


# -- the CPU: numbers in eight bits ----------------------------------------------------------------------------------
@dataclass(frozen=True)
class QAdd(Layer):
    """Two tensors of bytes, each with an offset, a factor and a shift of its own."""

    TYPE = LayerType.Q_ADD
    FORMAT = "<5I9i"
    a: int
    b: int
    out: int
    count: int
    a_offset: int
    a_mul: int
    a_shift: int
    b_offset: int
    b_mul: int
    b_shift: int
    out_offset: int
    out_mul: int
    out_shift: int

    def reads(self) -> Iterator[Region]:
        yield Region(self.a, self.count)
        yield Region(self.b, self.count)

    def writes(self) -> Iterator[Region]:
        yield Region(self.out, self.count)

    def rules(self) -> Iterator[tuple[str, str]]:
        for name in ("a_shift", "b_shift", "out_shift"):
            if not 0 <= (shift := getattr(self, name)) <= 63:
                yield f"{name} is {shift}", "a shift of 64-bit integers is 0 to 63"


@dataclass(frozen=True)
class _Pool(Layer):
    in_: int
    out: int
    in_w: int
    in_h: int
    in_c: int
    out_w: int
    out_h: int
    out_c: int
    kw: int
    kh: int
    sw: int
    sh: int
    pw: int
    ph: int

    def _regions(self, element: int) -> tuple[Region, Region]:
        read = Region(self.in_, self.in_w * self.in_h * self.in_c * element, element)
        return read, Region(self.out, self.out_w * self.out_h * self.out_c * element, element)

    def rules(self) -> Iterator[tuple[str, str]]:
        if self.out_c > self.in_c:
            yield f"out_c is {self.out_c}, in_c is {self.in_c}", "a pool keeps the number of channels"
        for axis in "wh":
            kernel, stride, padding, size, out = (
                getattr(self, name) for name in (f"k{axis}", f"s{axis}", f"p{axis}", f"in_{axis}", f"out_{axis}")
            )
            if not kernel or not stride or not size or not out:
                yield f"a size along {axis} is 0", "sizes, kernels and strides are at least 1"
            elif padding >= kernel or (out - 1) * stride - padding >= size:
                yield (
                    f"along {axis}, kernel {kernel}, stride {stride} and padding {padding} make {out} of {size}",
                    "each window holds at least one element of the input",
                )


@dataclass(frozen=True)
class QMaxPool(_Pool):
    """The largest byte of each window; outside counts as 0."""

    TYPE = LayerType.Q_MAXPOOL
    FORMAT = "<15I"

    def reads(self) -> Iterator[Region]:
        yield self._regions(1)[0]

    def writes(self) -> Iterator[Region]:
        yield self._regions(1)[1]


@dataclass(frozen=True)
class AvgPool(_Pool):
    """The mean of each window's elements inside the input, then an activation."""

    TYPE = LayerType.AVGPOOL
    FORMAT = "<16I"
    act: int

    def reads(self) -> Iterator[Region]:
        yield self._regions(4)[0]

    def writes(self) -> Iterator[Region]:
        yield self._regions(4)[1]

    def rules(self) -> Iterator[tuple[str, str]]:
        yield from super().rules()
        yield from _known_activation(self.act)


def _known_activation(act: int) -> Iterator[tuple[str, str]]:
    if act > 2:
        yield f"act is {act}", "0 is linear, 1 is relu, 2 is relu6"


@dataclass(frozen=True)
class Requantize(Layer):
    """Bytes through a table."""

    TYPE = LayerType.REQUANTIZE
    FORMAT = "<4I256s"
    in_: int
    out: int
    count: int
    table: bytes

    def reads(self) -> Iterator[Region]:
        yield Region(self.in_, self.count)

    def writes(self) -> Iterator[Region]:
        yield Region(self.out, self.count)


# -- the CPU: from bytes to floats and back --------------------------------------------------------------------------
@dataclass(frozen=True)
class _Scaled(Layer):
    in_: int
    out: int
    count: int
    scale: float
    bias: float

    def __post_init__(self) -> None:
        """Numbers as a file holds them."""
        for name in ("scale", "bias"):
            object.__setattr__(self, name, ctypes.c_float(getattr(self, name)).value)


@dataclass(frozen=True)
class Quantize(_Scaled):
    """`round((x - bias) / scale)`, kept within a byte."""

    TYPE = LayerType.QUANTIZE
    FORMAT = "<4I2f"

    def reads(self) -> Iterator[Region]:
        yield Region(self.in_, self.count * 4, 4)

    def writes(self) -> Iterator[Region]:
        yield Region(self.out, self.count)

    def rules(self) -> Iterator[tuple[str, str]]:
        if not 2.0**-126 <= abs(self.scale) < 2.0**126:
            yield f"scale is {self.scale}", "a scale is a finite number other than 0"


@dataclass(frozen=True)
class Dequantize(_Scaled):
    """`x * scale + bias`."""

    TYPE = LayerType.DEQUANTIZE
    FORMAT = "<4I2f"

    def reads(self) -> Iterator[Region]:
        yield Region(self.in_, self.count)

    def writes(self) -> Iterator[Region]:
        yield Region(self.out, self.count * 4, 4)


@dataclass(frozen=True)
class ChannelwiseDequant(Layer):
    """`x * scale + bias`, per channel."""

    TYPE = LayerType.CHANNELWISE_DEQUANT
    FORMAT = "<5I"
    in_: int
    out: int
    channels: int
    channel_size: int
    params: tuple[tuple[float, float], ...]  # scale, bias

    def __post_init__(self) -> None:
        """Numbers as a file holds them."""
        rounded = tuple((ctypes.c_float(scale).value, ctypes.c_float(bias).value) for scale, bias in self.params)
        object.__setattr__(self, "params", rounded)

    @classmethod
    def parse(cls, body: bytes) -> ChannelwiseDequant:
        flags, in_, out, channels, size = cls._fixed(body)
        need(body, 20 + channels * 8, f"its fields and {channels} pairs of scale and bias")
        return cls(flags, in_, out, channels, size, tuple(struct.iter_unpack("<2f", body[20 : 20 + channels * 8])))

    def tail(self) -> bytes:
        return b"".join(struct.pack("<2f", *pair) for pair in self.params)

    def reads(self) -> Iterator[Region]:
        yield Region(self.in_, self.channels * self.channel_size)

    def writes(self) -> Iterator[Region]:
        yield Region(self.out, self.channels * self.channel_size * 4, 4)


# -- the CPU: floats -------------------------------------------------------------------------------------------------
@dataclass(frozen=True)
class Add(Layer):
    """The sum of two tensors of floats."""

    TYPE = LayerType.ADD
    FORMAT = "<5I"
    a: int
    b: int
    out: int
    count: int

    def reads(self) -> Iterator[Region]:
        yield Region(self.a, self.count * 4, 4)
        yield Region(self.b, self.count * 4, 4)

    def writes(self) -> Iterator[Region]:
        yield Region(self.out, self.count * 4, 4)


@dataclass(frozen=True)
class Gap(Layer):
    """The mean of each channel's `kernel_size` elements."""

    TYPE = LayerType.GAP
    FORMAT = "<5I"
    in_: int
    out: int
    kernel_size: int
    channels: int

    def reads(self) -> Iterator[Region]:
        yield Region(self.in_, self.kernel_size * self.channels * 4, 4)

    def writes(self) -> Iterator[Region]:
        yield Region(self.out, self.channels * 4, 4)

    def rules(self) -> Iterator[tuple[str, str]]:
        if not self.kernel_size:
            yield "kernel_size is 0", "a mean is that of at least one element"


@dataclass(frozen=True)
class _Channels(Layer):
    in_: int
    out: int
    channels: int

    def reads(self) -> Iterator[Region]:
        yield Region(self.in_, self.channels * 4, 4)

    def writes(self) -> Iterator[Region]:
        yield Region(self.out, self.channels * 4, 4)


@dataclass(frozen=True)
class L2Norm(_Channels):
    """Divided by the root of the sum of squares."""

    TYPE = LayerType.L2_NORM
    FORMAT = "<4I"


@dataclass(frozen=True)
class Softmax(_Channels):
    TYPE = LayerType.SOFTMAX
    FORMAT = "<4I"


@dataclass(frozen=True)
class Logistic(_Channels):
    """`1 / (1 + exp(-x))`."""

    TYPE = LayerType.LOGISTIC
    FORMAT = "<4I"


@dataclass(frozen=True)
class FullyConnected(Layer):
    """Weights `[oc][ic]` and biases `[oc]`, floats in the body."""

    TYPE = LayerType.FC
    FORMAT = "<6I"
    in_: int
    out: int
    ic: int
    oc: int
    act: int
    weights: bytes
    bias: bytes

    @classmethod
    def parse(cls, body: bytes) -> FullyConnected:
        flags, in_, out, ic, oc, act = cls._fixed(body)
        need(body, 24 + (ic + 1) * oc * 4, f"its fields, {oc} x {ic} weights and {oc} biases")
        weights, bias = body[24 : 24 + ic * oc * 4], body[24 + ic * oc * 4 : 24 + (ic + 1) * oc * 4]
        return cls(flags, in_, out, ic, oc, act, weights, bias)

    def tail(self) -> bytes:
        return self.weights + self.bias

    def reads(self) -> Iterator[Region]:
        yield Region(self.in_, self.ic * 4, 4)

    def writes(self) -> Iterator[Region]:
        yield Region(self.out, self.oc * 4, 4)

    def rules(self) -> Iterator[tuple[str, str]]:
        yield from _known_activation(self.act)


# -- the CPU: moving things ------------------------------------------------------------------------------------------
@dataclass(frozen=True)
class Concat(Layer):
    """Parts of main memory, one behind the other."""

    TYPE = LayerType.CONCAT
    FORMAT = "<3I"
    out: int
    n: int
    inputs: tuple[tuple[int, int], ...]  # start, size in bytes

    @classmethod
    def parse(cls: type[C], body: bytes) -> C:
        flags, out, n = cls._fixed(body)
        need(body, 12 + n * 8, f"its fields and {n} inputs")
        return cls(flags, out, n, tuple(struct.iter_unpack("<2I", body[12 : 12 + n * 8])))

    def tail(self) -> bytes:
        return b"".join(struct.pack("<2I", *part) for part in self.inputs)

    def reads(self) -> Iterator[Region]:
        for start, size in self.inputs:
            yield Region(start, size)

    def writes(self) -> Iterator[Region]:
        yield Region(self.out, sum(size for _, size in self.inputs))


C = TypeVar("C", bound=Concat)


@dataclass(frozen=True)
class QConcat(Concat):
    TYPE = LayerType.Q_CONCAT


@dataclass(frozen=True)
class Flatten(Layer):
    """Channels first become channels last."""

    TYPE = LayerType.TF_FLATTEN
    FORMAT = "<6I"
    ELEMENT: ClassVar[int] = 4
    in_: int
    out: int
    w: int
    h: int
    c: int

    def reads(self) -> Iterator[Region]:
        yield Region(self.in_, self.w * self.h * self.c * self.ELEMENT, self.ELEMENT)

    def writes(self) -> Iterator[Region]:
        yield Region(self.out, self.w * self.h * self.c * self.ELEMENT, self.ELEMENT)


@dataclass(frozen=True)
class QFlatten(Flatten):
    TYPE = LayerType.Q_TF_FLATTEN
    ELEMENT = 1


@dataclass(frozen=True)
class ResizeNn(Layer):
    """The nearest element. `align_corners` changes nothing."""

    TYPE = LayerType.RESIZE_NN
    FORMAT = "<9I"
    ELEMENT: ClassVar[int] = 4
    in_: int
    out: int
    in_w: int
    in_h: int
    in_c: int
    ow: int
    oh: int
    align_corners: int

    def reads(self) -> Iterator[Region]:
        yield Region(self.in_, self.in_w * self.in_h * self.in_c * self.ELEMENT, self.ELEMENT)

    def writes(self) -> Iterator[Region]:
        yield Region(self.out, self.ow * self.oh * self.in_c * self.ELEMENT, self.ELEMENT)

    def rules(self) -> Iterator[tuple[str, str]]:
        if not (self.in_w and self.in_h and self.ow and self.oh):
            yield "a size is 0", "an image has at least one row and one column"


@dataclass(frozen=True)
class QResizeNn(ResizeNn):
    TYPE = LayerType.Q_RESIZE_NN
    ELEMENT = 1
