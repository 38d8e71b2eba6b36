"""Pools of a model as the accelerator has them: whole windows inside the picture, so that some need a border first."""

from __future__ import annotations

from buildtool.ops.avg_pool2d import AvgPool2d
from buildtool.ops.max_pool2d import MaxPool2d
from buildtool.targets.max7800x.lowering.lower_data import BORDER, NotHereError
from buildtool.targets.max7800x.network import Pool, Size

_LARGEST = 16


def pool_of(op: MaxPool2d | AvgPool2d, size: Size, out: Size, *, turned: bool) -> tuple[Pool, Size | None]:
    """The pool, and where it needs zeros around the picture how many rows and columns precede it; None: no border.

    `turned`: rows and columns are those of the graph the other way round. NotHereError says which rule it breaks.
    """
    kernel, stride, pads = (op.kernel[0], op.kernel[1]), (op.strides[0], op.strides[1]), (op.pads[0], op.pads[1])
    if turned:
        kernel, stride, pads = (kernel[1], kernel[0]), (stride[1], stride[0]), (pads[1], pads[0])
    if op.dilations != (1, 1) and max(kernel) > 1:
        raise NotHereError("its windows are dilated", "windows are not dilated", "use a dilation of 1")
    border: Size | None = None
    if any(pads) or out != _windows(size, kernel, stride):
        border = _border(op, size, out, (kernel, stride, pads))
    stride = _one_stride(size if border is None else _with_border(size), kernel, stride)
    pool = Pool("max" if isinstance(op, MaxPool2d) else "average", kernel, stride)
    require_size(pool)
    return pool, border


def require_size(pool: Pool) -> None:
    """NotHereError where the windows are too large."""
    if max(pool.size) > _LARGEST or max(pool.stride) > _LARGEST:
        raise NotHereError(
            f"its window is {pool.size[0]} x {pool.size[1]}",
            f"windows and their strides are at most {_LARGEST} long",
            "pool twice",
        )


def mean_in_two(size: Size) -> tuple[Pool, Pool] | None:
    """The mean of a picture that is too large for a window, as that of means of squares; None where none divides it."""
    for side in range(_LARGEST, 1, -1):
        if size[0] % side == size[1] % side == 0 and max(size) // side <= _LARGEST:
            rest = (size[0] // side, size[1] // side)
            return Pool("average", (side, side), (side, side)), Pool("average", rest, (1, 1))
    return None


def _windows(size: Size, kernel: Size, stride: Size) -> Size:
    rows, columns = ((size[axis] - kernel[axis]) // stride[axis] + 1 for axis in (0, 1))
    return rows, columns


def _with_border(size: Size) -> Size:
    return size[0] + BORDER, size[1] + BORDER if size[1] > 1 else 1


def _border(op: MaxPool2d | AvgPool2d, size: Size, out: Size, window: tuple[Size, Size, Size]) -> Size:
    kernel, stride, pads = window
    before = (pads[0], pads[1] if size[1] > 1 else 0)
    counts = isinstance(op, MaxPool2d) or (op.count_include_pad and not op.ceil_mode)
    if not counts or max(before) > BORDER or out != _windows(_with_border(size), kernel, stride):
        what = f"it pads by {', '.join(map(str, op.pads))}" if any(op.pads) else "its windows extend beyond the input"
        raise NotHereError(
            what,
            f"a border of zeros is {BORDER} wide in total, and means include it",
            "pool without pads",
        )
    return before


def _one_stride(size: Size, kernel: Size, stride: Size) -> Size:
    """Rows and columns have one stride; where there is one window it does not matter."""
    free = [size[axis] == kernel[axis] for axis in (0, 1)]
    if size[1] == 1 or stride[0] == stride[1] or (free[0] and free[1]):
        return stride if size[1] > 1 else (stride[0], 1)
    if free[0] or free[1]:
        one = stride[1] if free[0] else stride[0]
        return one, one
    raise NotHereError(
        f"its strides are {stride[0]} x {stride[1]}", "rows and columns have one stride", "use the same for both"
    )
