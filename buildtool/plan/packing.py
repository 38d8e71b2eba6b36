"""How constants are laid out for kernels: one function there and one back for each packing.

The planned form of a model stores filters and weights as the kernel of their node reads them, so that nothing is
packed when an engine is created. Only input 1 of conv2d and fully_connected, of their counterparts for integers, of
recurrent layers and of what holds a 1x1 convolution is packed.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from buildtool.ir.dims import Dim, static
from buildtool.ir.graph import Node
from buildtool.ir.operator import Array

INPUT = 1  # the only one that may be packed

_PackFunction = Callable[[Array, Node], Array]


@dataclass(frozen=True)
class Packing:
    """One layout. `pack` takes and `unpack` gives the constant as the graph has it."""

    name: str
    code: int  # in the container: docs/reference/format.md
    pack: _PackFunction
    unpack: _PackFunction
    fits: Callable[[Node], bool]
    stored: bool = False  # whether it is for constants of integers, and no others


PACKINGS: dict[str, Packing] = {}


def packable(node: Node, name: str) -> bool:
    """Whether input 1 of the node is a constant that this packing knows how to lay out."""
    if len(node.inputs) <= INPUT or node.op.name not in _RANKS:
        return False
    value = node.inputs[INPUT]
    quantised = value.type.quant is not None or not value.type.dtype.is_float
    if value.constant is None or quantised != PACKINGS[name].stored or value.type.rank != _RANKS[node.op.name]:
        return False
    return value.constant.size > 0 and value.type.shape[0] == _rows(node) and PACKINGS[name].fits(node)


def by_code(code: int) -> Packing | None:
    return next((packing for packing in PACKINGS.values() if packing.code == code), None)


_GATES = {"gru": 3, "lstm": 4, "rnn": 1}  # rows of recurrent weights for each element of the result
_RANKS = {  # of the plain constant
    "conv2d": 4,
    "fully_connected": 2,
    "fully_connected_integer": 2,
    "conv_integer": 4,
    "separable_conv2d": 4,
    "pointwise_dwconv2d": 4,
    **dict.fromkeys(_GATES, 2),
}


def _groups(node: Node) -> int:
    return int(getattr(node.op, "groups", 1))


def _rows(node: Node) -> Dim:
    """How many filters there are, or rows of weights."""
    return node.outputs[0].type.shape[-1] * _GATES.get(node.op.name, 1)


def _outputs(node: Node) -> int:
    (outputs,) = static([_rows(node)])
    return outputs


def _panels(code: int, width: int) -> None:
    """Outputs of a group in panels of `width`, innermost and filled up with zeros: [groups, panels, height, width,
    channels, outputs of a panel]."""

    def pack(array: Array, node: Node) -> Array:
        groups = _groups(node)
        plain = array if array.ndim == 4 else array[:, None, None, :]
        per_group = plain.shape[0] // groups
        panels = -(-per_group // width)
        grouped = plain.reshape(groups, per_group, *plain.shape[1:])
        packed = np.zeros((groups, panels, *plain.shape[1:], width), array.dtype)
        for panel in range(panels):  # not all at once: copies of a large matrix take as much memory
            part = grouped[:, panel * width : (panel + 1) * width]
            packed[:, panel, ..., : part.shape[1]] = np.moveaxis(part, 1, -1)
        return packed

    def unpack(array: Array, node: Node) -> Array:
        groups, outputs = _groups(node), _outputs(node)
        per_group, rest = divmod(outputs, groups)
        panels = -(-per_group // width)
        if array.ndim != 6 or rest or array.shape[:2] != (groups, panels) or array.shape[5] != width:
            raise ValueError(f"its shape does not match panels of {width} for {outputs} outputs in {groups} groups")
        split = np.moveaxis(array, -1, 2).reshape(groups, panels * width, *array.shape[2:5])
        plain = split[:, :per_group].reshape(outputs, *array.shape[2:5])
        return np.ascontiguousarray(plain if _RANKS[node.op.name] == 4 else plain.reshape(outputs, -1))

    name = f"panels{width}"
    PACKINGS[name] = Packing(name, code, pack, unpack, lambda node: True)


# G of Winograd's minimal filtering F(2x2, 3x3) and F(4x4, 3x3): filters become G g G^T.
_TRANSFORMS = {
    2: np.array([[1, 0, 0], [1 / 2, 1 / 2, 1 / 2], [1 / 2, -1 / 2, 1 / 2], [0, 0, 1]]),
    4: np.array(
        [
            [1 / 4, 0, 0],
            [-1 / 6, -1 / 6, -1 / 6],
            [-1 / 6, 1 / 6, -1 / 6],
            [1 / 24, 1 / 12, 1 / 6],
            [1 / 24, -1 / 12, 1 / 6],
            [0, 0, 1],
        ]
    ),
}

# The larger one where filters are halves, which lose less at these points: 0, +-sqrt(1/2), +-sqrt(2) and infinity.
_TRANSFORM_OF_HALVES = np.array(
    [
        [1, 0, 0],
        [-2 / 3, -np.sqrt(2) / 3, -1 / 3],
        [-2 / 3, np.sqrt(2) / 3, -1 / 3],
        [1 / 6, np.sqrt(2) / 6, 1 / 3],
        [1 / 6, -np.sqrt(2) / 6, 1 / 3],
        [0, 0, 1],
    ]
)


def _transform(tile: int, array: Array) -> Array:
    return _TRANSFORM_OF_HALVES if tile == 4 and array.dtype == np.float16 else _TRANSFORMS[tile]


def _winograd(code: int, tile: int, width: int) -> None:
    """Transformed filters of 3x3, computed in double: [points, panels, channels, outputs of a panel]."""

    def pack(array: Array, node: Node) -> Array:
        transform = _transform(tile, array)
        outputs, _, _, channels = array.shape
        panels = -(-outputs // width)
        points = np.einsum("ai,bj,oijc->aboc", transform, transform, array.astype(np.float64))
        padded = np.zeros((transform.shape[0] ** 2, panels * width, channels))
        padded[:, :outputs] = points.reshape(-1, outputs, channels)
        split = padded.reshape(-1, panels, width, channels)
        return np.ascontiguousarray(np.moveaxis(split, 2, -1), dtype=array.dtype)

    def unpack(array: Array, node: Node) -> Array:
        """Up to rounding: what was transformed cannot be told exactly."""
        back = np.linalg.pinv(_transform(tile, array))
        size, outputs = tile + 2, _outputs(node)
        panels = -(-outputs // width)
        if array.ndim != 4 or array.shape[:2] != (size**2, panels) or array.shape[3] != width:
            raise ValueError(f"its shape does not match transformed filters for {outputs} outputs")
        channels = array.shape[2]
        split = np.moveaxis(array.astype(np.float64), -1, 2).reshape(size, size, panels * width, channels)
        plain = np.einsum("ia,jb,aboc->oijc", back, back, split[:, :, :outputs])
        return np.ascontiguousarray(plain, dtype=array.dtype)

    name = f"winograd{tile}_{width}"
    PACKINGS[name] = Packing(name, code, pack, unpack, _transformable)


def _transformable(node: Node, kernel: int = 3, stride: int = 1) -> bool:
    """Whether the node is a convolution 3x3 that Winograd's minimal filtering can do."""
    op = node.op
    if op.name != "conv2d" or node.inputs[INPUT].constant is None:
        return False
    window = node.inputs[INPUT].type.shape[1:3]
    wanted = {"strides": stride, "dilations": 1, "groups": 1}
    return window == (kernel, kernel) and all(
        set(np.atleast_1d(getattr(op, name))) == {number} for name, number in wanted.items()
    )


# G of F(4x4, 4x4), at the points 0, +-1, +-2, -1/2 and infinity.
_TRANSFORM_OF_FOUR_TAPS = np.array(
    [
        [1 / 2, 0, 0, 0],
        [-1 / 9, -1 / 9, -1 / 9, -1 / 9],
        [1 / 3, -1 / 3, 1 / 3, -1 / 3],
        [1 / 60, 1 / 30, 1 / 15, 2 / 15],
        [-1 / 36, 1 / 18, -1 / 9, 2 / 9],
        [-32 / 45, 16 / 45, -8 / 45, 4 / 45],
        [0, 0, 0, 1],
    ]
)
MOST_OF_SQUARES = 4  # channels of windows that move by 2


def _winograd_of_squares(code: int, width: int) -> None:
    """Filters of 7x7 that move by 2: filters of 4x4 that move by 1, over squares of 2x2 pixels as one with four times
    the channels (vertical, horizontal, channel), transformed as 3x3 are.
    """
    transform = _TRANSFORM_OF_FOUR_TAPS

    def pack(array: Array, node: Node) -> Array:
        outputs, _, _, channels = array.shape
        panels = -(-outputs // width)
        padded = np.zeros((panels * width, 8, 8, channels))
        padded[:outputs, :7, :7] = array
        squares = padded.reshape(-1, 4, 2, 4, 2, channels).transpose(0, 1, 3, 2, 4, 5)
        points = np.einsum("ai,bj,oijc->aboc", transform, transform, squares.reshape(-1, 4, 4, 4 * channels))
        split = points.reshape(-1, panels, width, 4 * channels)
        return np.ascontiguousarray(np.moveaxis(split, 2, -1), dtype=array.dtype)

    def unpack(array: Array, node: Node) -> Array:
        """Up to rounding, as those of 3x3."""
        back, outputs = np.linalg.pinv(transform), _outputs(node)
        panels = -(-outputs // width)
        if array.ndim != 4 or array.shape[:2] != (49, panels) or array.shape[2] % 4 or array.shape[3] != width:
            raise ValueError(f"its shape does not match transformed filters for {outputs} outputs")
        channels = array.shape[2] // 4
        split = np.moveaxis(array.astype(np.float64), -1, 2).reshape(7, 7, panels * width, 4 * channels)
        squares = np.einsum("ia,jb,aboc->oijc", back, back, split[:, :, :outputs])
        plain = squares.reshape(outputs, 4, 4, 2, 2, channels).transpose(0, 1, 3, 2, 4, 5)
        return np.ascontiguousarray(plain.reshape(outputs, 8, 8, channels)[:, :7, :7], dtype=array.dtype)

    def fits(node: Node) -> bool:
        channels = node.inputs[INPUT].type.shape[-1]
        return _transformable(node, 7, 2) and isinstance(channels, int) and channels <= MOST_OF_SQUARES

    name = f"winograd4_7x7_{width}"
    PACKINGS[name] = Packing(name, code, pack, unpack, fits)


MOST_SUMMED = 3640  # channels, of which four times a sum of 9 products of bytes each stays below 2^31


def _winograd_of_bytes(code: int) -> None:
    """s8 filters of 3x3, transformed to integers of 16 bits: 2G g (2G)^T, four times what floats become.

    [panels of 8 outputs, 16 points, channels in fours, 16 bytes]: of two channels after the other, s16 of 8 outputs, of
    each both channels.
    """
    transform = (2 * _TRANSFORMS[2]).astype(np.int64)
    width, depth = 8, 4

    def pack(array: Array, node: Node) -> Array:
        outputs, _, _, channels = array.shape
        panels, steps = -(-outputs // width), -(-channels // depth)
        padded = np.zeros((16, panels * width, steps * depth), "<i2")
        points = np.einsum("ai,bj,oijc->aboc", transform, transform, array.astype(np.int64))
        padded[:, :outputs, :channels] = points.reshape(16, outputs, channels)
        split = padded.reshape(16, panels, width, steps * depth // 2, 2).transpose(1, 0, 3, 2, 4)
        return np.ascontiguousarray(split).view(np.int8).reshape(panels, 16, steps * depth, 2 * width)

    def unpack(array: Array, node: Node) -> Array:
        outputs = _outputs(node)
        (channels,) = static(node.inputs[0].type.shape[-1:])
        panels, steps = -(-outputs // width), -(-channels // depth)
        if array.shape != (panels, 16, steps * depth, 2 * width) or array.dtype != np.int8:
            raise ValueError(f"its shape does not match transformed filters for {outputs} outputs")
        split = np.ascontiguousarray(array).view("<i2").reshape(panels, 16, steps * depth // 2, width, 2)
        points = split.transpose(1, 0, 3, 2, 4).reshape(4, 4, panels * width, steps * depth)
        # Twice the outer taps are points, twice the inner one is the difference of the other two.
        back = np.array([[1, 0, 0, 0], [0, 1, -1, 0], [0, 0, 0, 1]])
        plain = np.einsum("ia,jb,aboc->oijc", back, back, points[:, :, :outputs, :channels].astype(np.int64))
        return np.ascontiguousarray(plain // 4, dtype=np.int8)

    def fits(node: Node) -> bool:
        channels = node.inputs[INPUT].type.shape[-1]
        return _transformable(node) and isinstance(channels, int) and channels <= MOST_SUMMED

    name = f"winograd2_signed{width}"
    PACKINGS[name] = Packing(name, code, pack, unpack, fits, stored=True)


def _bytes(name: str, code: int, width: int, depth: int) -> None:
    """s8 in panels of `width` outputs: [groups, panels, height, width, steps, bytes of a step].

    A step is `depth` channels; where they end it is filled up with zeros.
    """

    def pack(array: Array, node: Node) -> Array:
        groups = _groups(node)
        plain = array if array.ndim == 4 else array[:, None, None, :]
        per_group, channels = plain.shape[0] // groups, plain.shape[3]
        panels, steps = -(-per_group // width), -(-channels // depth)
        padded = np.zeros((groups, panels * width, *plain.shape[1:3], steps * depth), np.int8)
        padded[:, :per_group, :, :, :channels] = plain.reshape(groups, per_group, *plain.shape[1:])
        split = padded.reshape(groups, panels, width, *plain.shape[1:3], steps, depth)
        ordered = np.ascontiguousarray(np.moveaxis(split, 2, -2))
        return ordered.reshape(*ordered.shape[:-2], width * depth)

    def unpack(array: Array, node: Node) -> Array:
        groups, outputs = _groups(node), _outputs(node)
        (channels,) = static(node.inputs[0].type.shape[-1:])
        per_group, rest = divmod(outputs, groups)
        panels, steps = -(-per_group // width), -(-(channels // groups) // depth)
        wanted = (groups, panels, *array.shape[2:4], steps, width * depth)
        if array.ndim != 6 or rest or channels % groups or array.shape != wanted:
            raise ValueError(f"its shape does not match 8-bit panels of {width} for {outputs} outputs")
        split = np.moveaxis(array.reshape(*array.shape[:-1], width, depth), -2, 2)
        flat = split.reshape(groups, panels * width, *array.shape[2:4], steps * depth)
        plain = flat[:, :per_group, :, :, : channels // groups].reshape(outputs, *array.shape[2:4], channels // groups)
        return np.ascontiguousarray(plain if _RANKS[node.op.name] == 4 else plain.reshape(outputs, -1))

    name = f"{name}{width}"
    PACKINGS[name] = Packing(name, code, pack, unpack, lambda node: True, stored=True)


for _code, _width in enumerate((4, 8, 16)):
    _panels(1 + _code, _width)
    _winograd(4 + _code, 2, _width)
    _winograd(7 + _code, 4, _width)
_bytes("signed", 11, 16, 4)
_winograd_of_bytes(12)
_winograd_of_squares(13, 8)
_winograd_of_squares(14, 16)
