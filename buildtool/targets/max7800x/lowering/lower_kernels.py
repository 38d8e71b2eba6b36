"""Convolutions as the accelerator has them: 3x3 or 1x1 in two dimensions, 1 to 9 in one, strides by leaving out."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import product

import numpy as np

from buildtool.ir.graph import Node
from buildtool.ir.operator import Array
from buildtool.ops.conv2d import Conv2d
from buildtool.ops.deconv2d import Deconv2d
from buildtool.ops.dwconv2d import DwConv2d
from buildtool.targets.max7800x.devices import MAX78000, Device
from buildtool.targets.max7800x.lowering.lower_data import BORDER, Border, NotHereError
from buildtool.targets.max7800x.network import Operation, Size

MOST_PAD = 2
LONGEST = 9
MOST_STRIDE = 16
_SIDE = 3


class WrongPadsError(NotHereError):
    """The windows do not lie as those of the accelerator do."""


@dataclass(frozen=True)
class Form:
    """A convolution in a form of the accelerator."""

    operation: Operation
    weights: Array  # [out, in / groups, rows, columns]
    kernel: Size
    pad: Size
    stride_before: Size = (1, 1)  # rows and columns that are left out of what comes in
    stride_behind: Size = (1, 1)  # and of what goes out
    groups: int = 1


def form_of(node: Node, size: Size, out: Size, device: Device, *, turned: bool, border: Border = (None, None)) -> Form:
    """Of a convolution over rows and columns of `size` that gives `out`; in one dimension columns are 1.

    `turned`: rows and columns are those of the graph the other way round. `border`: the picture has got one, with so
    many rows and columns of zeros in front. NotHereError says which rule it breaks, WrongPadsError where a border might
    help.
    """
    op = node.op
    assert isinstance(op, Conv2d | DwConv2d | Deconv2d)
    weights, groups = _weights(node, device)
    if max(op.dilations) > 1 and max(weights.shape[2:]) > 1:
        raise NotHereError(
            f"its dilation is {op.dilations[0]} x {op.dilations[1]}",
            "kernels are not dilated",
            "use several layers of 3x3",
        )
    if isinstance(op, Deconv2d):
        return _transposed(op, weights, size, out)
    strides, pads = (op.strides[0], op.strides[1]), tuple(op.pads)
    if turned:
        weights, strides = weights.transpose(0, 1, 3, 2), (strides[1], strides[0])
        pads = (pads[1], pads[0], pads[3], pads[2])
    strides = (strides[0] if size[0] > 1 else 1, strides[1] if size[1] > 1 else 1)
    _stride_rule(strides)
    size, pads = _around(size, pads, border)
    if weights.shape[2:] == (1, 1) and not any(pads):
        operation: Operation = "conv1d" if size[1] == 1 and size[0] > 1 else "conv2d"
        return Form(operation, weights, (1, 1), (0, 0), strides, groups=groups)
    if size[1] == 1 and size[0] > 1 and weights.shape[3] == 1:
        return _line(weights, pads, strides, (size[0], out[0]), groups)
    return _picture(weights, pads, strides, (size, out), groups)


def _around(size: Size, pads: tuple[int, ...], border: Border) -> tuple[Size, tuple[int, ...]]:
    """The picture with its border, and what is left to pad."""
    sides, rest = list(size), list(pads)
    for axis, before in enumerate(border):
        if before is not None:
            sides[axis] += BORDER
            rest[axis] -= before
            rest[axis + 2] -= BORDER - before
    return (sides[0], sides[1]), tuple(rest)


def _weights(node: Node, device: Device) -> tuple[Array, int]:
    """As [out, in / groups, rows, columns], and the groups that the chip keeps apart."""
    w = node.inputs[1].constant
    if w is None:
        raise NotHereError("its weights are computed", "weights of layers are constant", "make them constant")
    op = node.op
    if isinstance(op, DwConv2d):
        real = np.ascontiguousarray(w.transpose(2, 0, 1)[:, None])
        groups = len(real) // op.multiplier
    else:
        assert isinstance(op, Conv2d | Deconv2d)
        real, groups = np.ascontiguousarray(w.transpose(0, 3, 1, 2)), op.groups
    if groups == 1 or (groups == len(real) and real.shape[1] == 1 and device is not MAX78000):
        return real, groups
    share, out = real.shape[1], len(real) // groups
    dense = np.zeros((len(real), share * groups, *real.shape[2:]), real.dtype)
    for group in range(groups):
        rows = slice(group * out, (group + 1) * out)
        dense[rows, group * share : (group + 1) * share] = real[rows]
    return dense, 1


def _stride_rule(strides: Size) -> None:
    if max(strides) > MOST_STRIDE:
        raise NotHereError(
            f"its strides are {strides[0]} x {strides[1]}",
            f"rows and columns are left out by strides of 1 to {MOST_STRIDE}",
            "use smaller strides, and pool",
        )


def _line(weights: Array, pads: tuple[int, ...], strides: Size, sizes: tuple[int, int], groups: int) -> Form:
    length = weights.shape[2]
    if length > LONGEST:
        raise NotHereError(
            f"its kernel has a length of {length}",
            f"kernels of one dimension have 1 to {LONGEST}",
            f"use {-(-(length - 1) // (LONGEST - 1))} layers in sequence",
        )
    size, out = sizes
    if not 0 <= pads[0] <= MOST_PAD or -(-(size + 2 * pads[0] - length + 1) // strides[0]) != out:
        raise _wrong_pads(pads)
    return Form("conv1d", weights, (length, 1), (pads[0], 0), stride_behind=strides, groups=groups)


def _picture(weights: Array, pads: tuple[int, ...], strides: Size, sizes: tuple[Size, Size], groups: int) -> Form:
    kernel = weights.shape[2:]
    if max(kernel) > _SIDE:
        raise NotHereError(
            f"its kernel is {kernel[0]}x{kernel[1]}",
            "2D kernels are 1x1 and 3x3",
            f"use {-(-(max(kernel) - 1) // 2)} layers of 3x3 in sequence",
        )
    size, out = sizes
    fits = [_fits(kernel[axis], pads[axis], pads[axis + 2], strides[axis], (size[axis], out[axis])) for axis in (0, 1)]
    if not all(fits):
        raise _wrong_pads(pads)
    (above, down), (left, across) = fits[0][0], fits[1][0]
    squares = np.zeros((*weights.shape[:2], _SIDE, _SIDE), weights.dtype)
    squares[:, :, above : above + kernel[0], left : left + kernel[1]] = weights
    return Form("conv2d", squares, (_SIDE, _SIDE), (down, across), stride_behind=strides, groups=groups)


def _fits(kernel: int, before: int, behind: int, stride: int, sizes: tuple[int, int]) -> list[tuple[int, int]]:
    """Where a kernel may lie within one of three, and the padding that makes up for that."""
    found = []
    size, out = sizes
    for place in range(_SIDE - kernel + 1):
        pad = before + place
        if 0 <= pad <= MOST_PAD and -(-(size + 2 * pad - _SIDE + 1) // stride) == out:
            found.append((place, pad))
    return found


def _wrong_pads(pads: tuple[int, ...]) -> WrongPadsError:
    return WrongPadsError(
        f"its pads are {pads[0]} above, {pads[2]} below, {pads[1]} left and {pads[3]} right",
        f"pads are the same at both ends, 0 to {MOST_PAD}; a border that a layer puts around adds {BORDER}",
        "pad less, or pad in two steps",
    )


def _transposed(op: Deconv2d, weights: Array, size: Size, out: Size) -> Form:
    kernel = weights.shape[2:]
    if tuple(op.strides) != (2, 2) or max(kernel) > _SIDE or op.groups != 1:
        raise NotHereError(
            f"it is a transposed {kernel[0]}x{kernel[1]} convolution with strides of {op.strides[0]} x {op.strides[1]}"
            + (f" in {op.groups} groups" if op.groups > 1 else ""),
            "transposed convolutions have kernels of 3x3, strides of 2 and no groups",
            "use these, or resize by two of them in sequence",
        )
    for above, left in product(range(_SIDE - kernel[0] + 1), range(_SIDE - kernel[1] + 1)):
        pad = (op.pads[0] + above, op.pads[1] + left)
        if max(pad) <= MOST_PAD and all(2 * size[axis] + 2 - 2 * pad[axis] == out[axis] for axis in (0, 1)):
            squares = np.zeros((*weights.shape[:2], _SIDE, _SIDE), weights.dtype)
            squares[:, :, above : above + kernel[0], left : left + kernel[1]] = weights
            turned = np.ascontiguousarray(squares[:, :, ::-1, ::-1])
            return Form("convtranspose2d", turned, (_SIDE, _SIDE), pad)
    raise NotHereError(
        f"it makes {out[0]} x {out[1]} pixels of {size[0]} x {size[1]} with pads of {', '.join(map(str, op.pads))}",
        "with a padding of p it makes 2 * n + 2 - 2 * p: twice as many with a padding of 1 and an output padding of 1",
        "use pads of 1 and an output padding of 1",
    )
