"""DFT and STFT as products with tables that are made on import, and the windows and filters that go with them."""

from __future__ import annotations

import numpy as np

from buildtool import budget
from buildtool.importers.builder import Tensor
from buildtool.importers.fourier import check_length, inverse_to_real, transform_table
from buildtool.importers.onnx.registry import evaluator, handler
from buildtool.importers.onnx.tensors import dtype_of_code
from buildtool.importers.spatial import NO_ACTIVATION
from buildtool.importers.step import Step

_MOST_ELEMENTS = 2**24


@handler("DFT")
def fourier_transform(step: Step) -> Tensor:
    x = step.input(0)
    parts = step.size(x, -1)
    if x.rank < 2 or parts not in (1, 2):
        step.malformed(f"its input has the shape {list(x.shape)}, whose last axis is not a real or a complex number")
    axis = step.axis(_axis(step), x.rank)
    size = x.shape[axis]
    if axis == x.rank - 1 or not isinstance(size, int) or size < 1:
        step.unsupported(f"a transform along an axis of {size} elements", "fix the input shapes")
    inverse, onesided = bool(step.integer("inverse", 0)), bool(step.integer("onesided", 0))
    length = 2 * (size - 1) if inverse and onesided else size
    if step.optional(1) is not None:
        length = step.known_whole(1, "dft_length")
    used = min(size, length // 2 + 1 if inverse and onesided else length)
    check_length(step, used, length)
    table = inverse_to_real(used, length) if inverse and onesided else transform_table(used, length, inverse, onesided)
    table = table[:, :parts].reshape(used * parts, -1).astype(x.dtype.numpy)
    made = 1 if inverse and onesided else 2
    order = [*(other for other in range(x.rank - 1) if other != axis), axis, x.rank - 1]
    turned = step.transpose(x, order)
    if used < size:
        sizes = (*turned.shape[:-2], used, parts)
        turned = step.emit("slice", turned, starts=(0,) * x.rank, steps=(1,) * x.rank, sizes=sizes)
    flat = step.reshape(turned, (*turned.shape[:-2], used * parts))
    y = step.emit("matmul", flat, step.constant(table))
    y = step.reshape(y, (*flat.shape[:-1], table.shape[1] // made, made))
    return step.transpose(y, [order.index(position) for position in range(x.rank)])


def _axis(step: Step) -> int:
    if step.opset < 20:
        return step.integer("axis", 1)
    return step.known_whole(2, "axis") if step.optional(2) is not None else -2


@handler("STFT")
def short_time_fourier_transform(step: Step) -> Tensor:
    """A convolution whose filters are the table of a transform, times the window."""
    x, hop, window = step.input(0), step.known_whole(1, "frame_step"), step.optional(2)
    if x.rank == 2:
        x = step.reshape(x, (*x.shape, 1))
    step.check_rank(x, 3)
    length = step.size(window, 0) if window is not None else x.shape[1]
    if step.optional(3) is not None:
        length = step.known_whole(3, "frame_length")
    parts = x.shape[2]
    if parts not in (1, 2) or not isinstance(length, int) or length < 1 or hop < 1:
        step.malformed(f"its input has the shape {list(x.shape)} for frames of {length} every {hop} elements")
    check_length(step, length, length)
    table = transform_table(length, length, False, bool(step.integer("onesided", 1)))[:, :parts]
    frequencies = table.shape[2]
    filters = step.constant(
        table.transpose(2, 3, 0, 1).reshape(2 * frequencies, 1, length, parts).astype(x.dtype.numpy)
    )
    if window is not None:
        filters = step.emit("mul", filters, step.reshape(window, (1, 1, length, 1)))
    picture = step.reshape(x, (x.shape[0], 1, x.shape[1], parts))
    idle = {"strides": (1, hop), "pads": (0, 0, 0, 0), "dilations": (1, 1)} | NO_ACTIVATION
    y = step.emit("conv2d", picture, filters, groups=1, **idle)
    return step.reshape(y, (x.shape[0], y.shape[2], frequencies, 2))


@evaluator("HannWindow", "HammingWindow", "BlackmanWindow")
def window(step: Step) -> Tensor | None:
    if step.input(0).content is None:
        return None
    size = step.known_whole(0, "size")
    if not 0 <= size <= _MOST_ELEMENTS:
        step.malformed(f"a window of {size} elements")
    turns = np.arange(size) * (2 * np.pi / max(size if step.integer("periodic", 1) else size - 1, 1))
    match step.node.op:
        case "HannWindow":
            content = 0.5 - 0.5 * np.cos(turns)
        case "HammingWindow":
            content = 25 / 46 - 21 / 46 * np.cos(turns)
        case _:
            content = 0.42 - 0.5 * np.cos(turns) + 0.08 * np.cos(2 * turns)
    return Tensor.of(content.astype(dtype_of_code(step.integer("output_datatype", 1), step.where).numpy))


@evaluator("MelWeightMatrix")
def mel_weights(step: Step) -> Tensor | None:
    """Triangles of even width on the scale of mel, one column each, over the frequencies of a transform."""
    if any(step.input(index).content is None for index in range(5)):
        return None
    bins, length, rate, low, high = (step.known_number(index, "numbers") for index in range(5))
    count, rows = step.whole(bins, "number of bins"), step.whole(length, "length") // 2 + 1
    if count < 0 or rows < 1 or rate <= 0 or count * rows > _MOST_ELEMENTS or not -700 < low <= high:
        step.malformed(f"{count} bins between {low} and {high} Hz of {rows} frequencies")
    lowest, highest = (2595 * np.log10(1 + edge / 700) for edge in (low, high))
    mels = np.arange(count + 2) * ((highest - lowest) / (count + 2)) + lowest
    edges = np.floor((length + 1) * (700 * (10 ** (mels / 2595) - 1)) / rate).astype(np.int64)
    places = np.arange(rows)
    table = np.zeros((rows, count))
    for column, (left, middle, right) in enumerate(zip(edges, edges[1:], edges[2:], strict=False)):
        budget.spend_time()
        if not 0 <= middle < rows:
            step.malformed("its edges are outside of the frequencies")
        rising = (places - left) / max(middle - left, 1)
        falling = (right - places) / max(right - middle, 1)
        inside = (places >= left) & (places < right)
        table[:, column] = np.where(inside, np.where(places < middle, rising, falling), 0)
        table[middle, column] = 1
    return Tensor.of(table.astype(dtype_of_code(step.integer("output_datatype", 1), step.where).numpy))
