"""Frames of a camera as inputs: what `preprocess` says becomes nodes in front of the model (`frame`).

All targets then run it, GPUs and browsers included, and what chooses and tunes kernels sees it. The nodes compute what
`to_tensor` of lathe/vision.h computes, in its order and with its roundings: taps are picked from the bytes, blended
across and down, and the three planes of Y, U and V become colours after that.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from buildtool.config import ModelConfig
from buildtool.config.deployment import ImageConfig
from buildtool.ir.graph import Graph, Node, Value
from buildtool.ir.operator import Array, Operator
from buildtool.ir.types import DType, TensorType
from buildtool.ops.add import Add
from buildtool.ops.avg_pool2d import AvgPool2d
from buildtool.ops.cast import Cast
from buildtool.ops.clip import Clip
from buildtool.ops.concat import Concat
from buildtool.ops.conv2d import Conv2d
from buildtool.ops.floor import Floor
from buildtool.ops.gather import Gather
from buildtool.ops.mul import Mul
from buildtool.ops.pad import Pad
from buildtool.ops.reshape import Reshape
from buildtool.ops.slice import Slice
from buildtool.ops.transpose import Transpose
from buildtool.vision import CHANNELS, FILTERS, FITS, FLIPS, ROUNDINGS, InputImage, frame_shape

_NEAREST, _AREA = FILTERS["nearest"], FILTERS["area"]
#: BT.601 with the full range, as integers: of U and V, in 1/256 and 1/128.
_RED_V, _BLUE_U, _GREEN_U, _GREEN_V = 358, 454, 44, 91
#: What the eye takes for brightness, in 1/128.
_GRAY = (38, 75, 15)
_ONE = 32768  # of weights


def without(model: ModelConfig) -> ModelConfig:
    """The model with its own inputs: what its framework runs."""
    graphs = []
    for graph in model.subgraphs:
        own = {image.tensor.alias: image.tensor for image in graph.images if image.tensor is not None}
        inputs = tuple(own.get(tensor.alias, tensor) for tensor in graph.inputs)
        images = tuple(image for image in graph.images if image.tensor is None)
        graphs.append(replace(graph, inputs=inputs, images=images) if own else graph)
    return replace(model, subgraphs=tuple(graphs))


def converted(model: ModelConfig, data: Mapping[str, Array]) -> dict[str, Array]:
    """The model's own inputs from frames; other inputs as they are."""
    made = dict(data)
    for image in _images(model):
        frame = np.asarray(data[image.image.input], np.uint8)
        graph = Graph(name="frame")
        value = Value(image.image.input, TensorType(DType.U8, frame.shape))
        nodes = _Nodes(graph)
        result = nodes.tensor(value, image)
        known: dict[Value, Array] = {value: frame}
        for node in nodes.made:
            arrays = [each.constant if each.constant is not None else known[each] for each in node.inputs]
            known.update(zip(node.outputs, node.op.reference(*arrays), strict=True))
        made[image.image.input] = known[result]
    return made


def put_before(graph: Graph, model: ModelConfig) -> None:
    """Nodes in front of the inputs that frames fill, whose names and places the frames take."""
    for image in _images(model):
        old = next(value for value in graph.inputs if value.name == image.image.input)
        width, height = image.frame or (0, 0)
        frame = Value(old.name, TensorType(DType.U8, frame_shape(image.image.sources[0], width, height)))
        old.name = graph.fresh_name(old.name)
        nodes = _Nodes(graph)
        made = nodes.tensor(frame, image)
        made.add_source_names(old.source_names)
        graph.inputs[graph.inputs.index(old)] = frame
        graph.replace_uses(old, made)
        graph.nodes[:0] = nodes.made


def _images(model: ModelConfig) -> list[ImageConfig]:
    return [image for graph in model.subgraphs for image in graph.images if image.frame is not None]


@dataclass(frozen=True)
class _Side:
    """Rows or columns: `size` pixels from `origin` on become `out`, from the other end if `mirrored`.

    Those from `first` to `last` are the frame's, the others a border.
    """

    origin: int
    size: int
    out: int
    mirrored: bool
    first: int
    last: int

    def taps(self, filter_: int, share: int) -> tuple[Array, Array]:
        """Elements of a plane that has one for `share` pixels, as many for each, and their weights."""
        low, high = self.first // share, self.last // share
        doubled = (2 * np.arange(self.out) + 1) * self.size + 2 * self.origin * self.out
        unit = 2 * self.out * share
        if filter_ == _AREA:
            places, weights = self._covered(share, low, high)
        elif filter_ == _NEAREST:
            places = np.clip(doubled // unit, low, high)[:, None]
            weights = np.full_like(places, _ONE)
        else:
            first = (doubled - unit // 2) // unit
            weight = (doubled - unit // 2 - first * unit) * _ONE // unit
            weight = np.where(first < low, 0, np.where(first >= high, _ONE - 1, weight))
            first = np.clip(first, low, max(low, high - 1))
            places = np.stack([first, np.minimum(first + 1, high)], 1)
            weights = np.stack([_ONE - weight, weight], 1)
        step = -1 if self.mirrored else 1
        return places[::step].astype(np.int32), weights[::step]

    def _covered(self, share: int, low: int, high: int) -> tuple[Array, Array]:
        """For each pixel the elements that it covers, as many as the one that covers most, with weights."""
        unit = self.out * share
        start = np.arange(self.out) * self.size + self.origin * self.out
        end = np.minimum(start + self.size, (high + 1) * unit)
        start = np.maximum(start, low * unit)
        first = np.clip(start // unit, low, high)
        places = first[:, None] + np.arange((np.clip((end - 1) // unit, low, high) - first).max() + 1)
        ends = np.minimum(end[:, None], (places + 1) * unit)
        covered = np.maximum(ends - np.maximum(start[:, None], places * unit), 0)
        covered[covered.sum(1) == 0, 0] = 1  # border alone: any will do
        return np.minimum(places, high), covered * _ONE / covered.sum(1, keepdims=True)

    def shares(self, filter_: int) -> Array:
        """How much of each pixel is the frame, and not its border."""
        start = np.arange(self.out) * self.size + self.origin * self.out
        if filter_ == _AREA:
            ends = np.minimum(start + self.size, (self.last + 1) * self.out)
            made: Array = np.maximum(ends - np.maximum(start, self.first * self.out), 0) / self.size
        else:
            unit = 2 * self.out
            centre = 2 * start + self.size
            if filter_ == _NEAREST:
                made = self._is_frame(centre // unit)
            else:
                before = (centre - self.out) // unit
                weight = (centre - self.out - before * unit) / unit
                made = self._is_frame(before) * (1 - weight) + self._is_frame(before + 1) * weight
        return made[:: -1 if self.mirrored else 1]

    def _is_frame(self, pixels: Array) -> Array:
        """1 or 0; the edges of what is resized go on."""
        inside: Array = np.clip(pixels, self.origin, self.origin + self.size - 1)
        return np.asarray((inside >= self.first) & (inside <= self.last), np.float64)


def _placed(image: InputImage, size: tuple[int, int], width: int, height: int) -> tuple[int, int, int, int]:
    """Left, top, width and height of what the image fills of the input, as `to_tensor` places it."""
    if image.fit == FITS["stretch"] or image.pads:
        return 0, 0, width, height
    across, down = size[::-1] if image.rotation % 180 else size
    scale = min(width / across, height / down)
    made = []
    for side, most in ((across, width), (down, height)):
        exact = side * scale
        up, less = image.fit & ROUNDINGS["up"], image.fit & ROUNDINGS["down"]
        rounded = np.ceil(exact - 1e-9) if up else np.floor(exact + (0 if less else 0.5))
        made.append(min(most, max(1, int(rounded))))
    if image.place == FITS["corner"]:
        return 0, 0, made[0], made[1]
    return (width - made[0]) // 2, (height - made[1]) // 2, made[0], made[1]


def _surrounded(image: InputImage, size: tuple[int, int], width: int, height: int) -> tuple[int, int, int, int]:
    """Columns on the left, rows above, width and height of the border that an image, turned, gets with itself in it."""
    across, down = size
    if not image.pads:
        return 0, 0, across, down

    def side(pixels: int, to: int, of: int) -> int:
        exact = pixels * to
        if image.fit & ROUNDINGS["down"]:
            return exact // of
        return -(-exact // of) if image.fit & ROUNDINGS["up"] else (2 * exact + of) // (2 * of)

    if across * height >= down * width:
        whole = across, side(across, height, width)
    else:
        whole = side(down, width, height), down
    if image.place == FITS["pad_corner"]:
        return 0, 0, *whole
    return (whole[0] - across) // 2, (whole[1] - down) // 2, *whole


class _Nodes:
    """Nodes of a graph that are not in it yet."""

    def __init__(self, graph: Graph) -> None:
        self.graph = graph
        self.made: list[Node] = []

    def add(self, op: Operator, *inputs: Value) -> Value:
        node = self.graph.new_node(op, inputs, name=f"frame_{len(self.made)}_{op.name}", hint="frame")
        self.made.append(node)
        return node.outputs[0]

    def constant(self, numbers: Array | Sequence[float] | float) -> Value:
        array = np.asarray(numbers)
        return self.graph.new_constant("frame", array if array.dtype == np.int32 else array.astype(np.float32))

    def tensor(self, frame: Value, config: ImageConfig) -> Value:
        """The model's input, in its own order."""
        image, tensor = config.image, config.tensor
        if tensor is None or config.frame is None:
            raise AssertionError("not an image of a frame")
        shape = tuple(int(size) for size in tensor.shape if not isinstance(size, tuple))
        planar = tensor.data_format == "NCHW"
        height, width = shape[2:] if planar else shape[1:3]
        left, top, across, down = _placed(image, self._part(config)[2:], width, height)
        pixels = self._colours(frame, config, (across, down), (width, height))
        if image.rotation % 180:
            pixels = self.add(Transpose((0, 2, 1, 3)), pixels)
        around = ((0, top, left, 0), (0, height - top - down, width - left - across, 0))
        if any(map(any, around)):
            fill = np.asarray(image.fill, np.float32)
            plain = len(set(image.fill)) == 1
            pixels = pixels if plain else self.add(Add(), pixels, self.constant(-fill))
            pixels = self.add(Pad(*around, "constant", float(fill[0]) if plain else 0.0), pixels)
            pixels = pixels if plain else self.add(Add(), pixels, self.constant(fill))
        scale, mean = np.asarray(image.scale), np.asarray(image.mean)
        if (scale != 1).any():
            pixels = self.add(Mul(), pixels, self.constant(scale))
        if mean.any():
            pixels = self.add(Add(), pixels, self.constant(-mean * scale))
        return self.add(Transpose((0, 3, 1, 2)), pixels) if planar else pixels

    @staticmethod
    def _part(config: ImageConfig) -> tuple[int, int, int, int]:
        """Left, top, width, height of what is used of the frame."""
        width, height = config.frame or (0, 0)
        return config.image.crop or (0, 0, width, height)

    def _colours(self, frame: Value, config: ImageConfig, out: tuple[int, int], whole: tuple[int, int]) -> Value:
        """Pixels of the size `out` in the channels of the input, turned but for the exchange of rows and columns."""
        image, sides = config.image, self._sides(config, out, whole)
        filter_ = _NEAREST if all(side.size == side.out for side in sides) else image.filter
        source, order = image.sources[0], image.order
        if source in CHANNELS:
            made = self._ordered(self._resized(frame, sides, filter_, (1, 1)), source, order)
            return self._mixed(made, image, sides, filter_)
        planes, share = self._planes(frame, source, config.frame or (0, 0))
        made = self._resized(planes[0], sides, filter_, (1, 1))
        if order != "gray":
            chroma = [self._resized(plane, sides, filter_, share) for plane in planes[1:]]
            hues = chroma[0] if len(chroma) == 1 else self.add(Concat(3), *chroma)
            made = self._of_hues(made, hues, order, swapped=source == "nv21")
        return self._mixed(made, image, sides, filter_)

    def _sides(self, config: ImageConfig, out: tuple[int, int], whole: tuple[int, int]) -> tuple[_Side, _Side]:
        """Rows and columns of the frame, with the border that they get before they are resized."""
        image, (left, top, width, height) = config.image, self._part(config)
        turned, flip = image.rotation % 180 != 0, image.flip
        rows, columns = image.rotation in (90, 180), image.rotation in (180, 270)
        flips_rows, flips_columns = flip & FLIPS["x"] != 0, flip & FLIPS["y"] != 0
        rows ^= flips_columns if turned else flips_rows
        columns ^= flips_rows if turned else flips_columns
        across, down = out[::-1] if turned else out
        x, y, full_across, full_down = _surrounded(image, (height, width) if turned else (width, height), *whole)
        if turned:
            x, y, full_across, full_down = y, x, full_down, full_across
        x = full_across - width - x if columns else x  # the border of the other end
        y = full_down - height - y if rows else y
        return (
            _Side(top - y, full_down, down, rows, top, top + height - 1),
            _Side(left - x, full_across, across, columns, left, left + width - 1),
        )

    def _mixed(self, pixels: Value, image: InputImage, sides: tuple[_Side, _Side], filter_: int) -> Value:
        """Pixels with what the border has of them."""
        shares = [side.shares(filter_) for side in sides]
        if not image.pads or all((share == 1).all() for share in shares):
            return pixels
        fill = np.asarray(image.fill, np.float32)
        if fill.any():
            pixels = self.add(Add(), pixels, self.constant(-fill))
        for share, shape in zip(shares, ((1, -1, 1, 1), (1, 1, -1, 1)), strict=True):
            if (share != 1).any():
                pixels = self.add(Mul(), pixels, self.constant(share.reshape(shape)))
        return self.add(Floor(), self.add(Add(), pixels, self.constant(fill + 0.5)))

    def _planes(self, frame: Value, source: str, size: tuple[int, int]) -> tuple[list[Value], tuple[int, int]]:
        """Y, and U and V together or apart, with how many rows and columns of pixels one of these is for."""
        width, height = size
        if source == "yuyv":
            pairs = self.add(Reshape((1, height, width // 2, 4)), frame)
            chroma = [self._sliced(pairs, 3, place, 1) for place in (1, 3)]
            luma = self.add(Gather(3), pairs, self.constant(np.array([0, 2], np.int32)))
            return [self.add(Reshape((1, height, width, 1)), luma), *chroma], (1, 2)
        bright = self.add(Reshape((1, height, width, 1)), self._sliced(frame, 1, 0, height))
        rest = self._sliced(frame, 1, height, height // 2)
        if source != "i420":
            return [bright, self.add(Reshape((1, height // 2, width // 2, 2)), rest)], (2, 2)
        both = self.add(Reshape((2, height // 2, width // 2, 1)), rest)
        return [bright, self._sliced(both, 0, 0, 1), self._sliced(both, 0, 1, 1)], (2, 2)

    def _sliced(self, value: Value, axis: int, start: int, size: int) -> Value:
        starts, sizes = [0] * value.type.rank, list(value.type.shape)
        starts[axis], sizes[axis] = start, size
        return self.add(Slice(tuple(starts), (1,) * value.type.rank, tuple(sizes)), value)

    def _resized(self, plane: Value, sides: tuple[_Side, _Side], filter_: int, share: tuple[int, int]) -> Value:
        """A plane of bytes at its new size, as floats that are integers."""
        weights: list[Array] = []
        taps: list[int] = []
        for axis, side, pixels in zip((1, 2), sides, share, strict=True):
            places, weight = side.taps(filter_, pixels)
            plane = self.add(Gather(axis), plane, self.constant(places.reshape(-1)))
            taps.append(places.shape[1])
            weights.append(weight.reshape(-1) * (taps[-1] / _ONE))  # a mean divides the sum
        value = self.add(Cast(DType.F32), plane)
        if filter_ == _NEAREST:
            return value
        if filter_ == _AREA:
            for axis, weight, count in zip((2, 1), weights[::-1], taps[::-1], strict=True):
                shape, kernel = ((1, 1, -1, 1), (1, count)) if axis == 2 else ((1, -1, 1, 1), (count, 1))
                value = self.add(Mul(), value, self.constant(weight.reshape(shape)))
                value = self.add(AvgPool2d(kernel=kernel, strides=kernel), value)
            return self.add(Floor(), self.add(Add(), value, self.constant(0.5 + 1 / 4096)))
        # Across, 7 bits of the fraction are kept; down, none.
        value = self.add(Mul(), value, self.constant((weights[1] * 128).reshape(1, 1, -1, 1)))
        value = self.add(AvgPool2d(kernel=(1, 2), strides=(1, 2)), value)
        value = self.add(Floor(), self.add(Add(), value, self.constant(0.5)))
        value = self.add(Mul(), value, self.constant((weights[0] / 128).reshape(1, -1, 1, 1)))
        value = self.add(AvgPool2d(kernel=(2, 1), strides=(2, 1)), value)
        return self.add(Floor(), self.add(Add(), value, self.constant(0.5 + 0.5 / 128)))

    def _of_hues(self, bright: Value, hues: Value, order: str, *, swapped: bool) -> Value:
        """Red, green and blue, or the other way round, of Y, and of U and V or, swapped, V and U."""
        of_u_v = np.array([[0, _RED_V / 256], [_GREEN_U / 128, _GREEN_V / 128], [_BLUE_U / 256, 0]])
        of_u_v = of_u_v[::-1] if order == "bgr" else of_u_v
        filters = (of_u_v[:, ::-1] if swapped else of_u_v).reshape(3, 1, 1, 2)
        shifts = self.add(Conv2d(), hues, self.constant(filters), self.constant(-128 * filters.sum((1, 2, 3))))
        shifts = self.add(Mul(), self.add(Floor(), shifts), self.constant([1.0, -1.0, 1.0]))
        return self.add(Clip(0.0, 255.0), self.add(Add(), shifts, bright))

    def _ordered(self, pixels: Value, source: str, order: str) -> Value:
        """Pixels with the channels in another order."""
        if source == order:
            return pixels
        blue_first = source in ("bgr", "bgra")
        if order == "gray":
            weights = np.zeros((1, 1, 1, CHANNELS[source]))
            weights[..., :3] = _GRAY[:: -1 if blue_first else 1]
            return self.add(Floor(), self.add(Conv2d(), pixels, self.constant(weights / 128)))
        if source == "gray":
            places = [0, 0, 0]
        else:
            places = [0, 1, 2] if blue_first == (order in ("bgr", "bgra")) else [2, 1, 0]
            places += [3] if CHANNELS[order] == 4 else []
        return self.add(Gather(3), pixels, self.constant(np.array(places, np.int32)))
