"""Convolutions, pools and resizes over one, two and three dimensions."""

from __future__ import annotations

import math
from typing import Any

from tests.strangers.drawing import RUNS, Drawing, Drawn, Size, fits, fixed, is_fixed
from tests.strangers.growing.registry import grower


def _windows(size: int, kernel: int, stride: int, dilation: int, pads: tuple[int, int], ceil: bool) -> int:
    extent = dilation * (kernel - 1) + 1
    room = size + sum(pads) - extent
    if room < 0:
        return 0
    count = (math.ceil(room / stride) if ceil else room // stride) + 1
    return count - 1 if ceil and (count - 1) * stride >= size + pads[0] else count


class _Windows:
    """Attributes of a window over the spatial axes of a value, and the sizes that it gives."""

    def __init__(self, d: Drawing, x: Drawn, *, pool: bool) -> None:
        self.count = x.rank - 2
        rng = d.rng
        spatial = x.shape[2:]
        self.kernel = [rng.randint(1, min(4, min(size) + 1)) for size in spatial]
        self.strides = [rng.randint(1, 3) for _ in spatial]
        self.dilations = [rng.choice([1, 1, 1, 2]) for _ in spatial]
        self.auto = rng.choice(["NOTSET", "NOTSET", "NOTSET", "SAME_UPPER", "SAME_LOWER", "VALID"])
        self.ceil = pool and self.auto == "NOTSET" and rng.random() < 0.5
        self.pads = [0] * (2 * self.count)
        if self.auto == "NOTSET":
            self.pads = [rng.randint(0, max(0, min(kernel - 1, 2))) for kernel in (*self.kernel, *self.kernel)]
        if any(min(size) < 3 for size in spatial):
            self.dilations = [1] * self.count  # a window may otherwise hold nothing but padding
        if self.auto.startswith("SAME"):
            self.dilations = [1] * self.count
            # With larger strides onnxruntime pads by less than nothing: some kernels refuse that, others crop.
            self.strides = [min(pair) for pair in zip(self.strides, self.kernel, strict=True)]

    def shape(self, x: Drawn) -> list[Size]:
        return [tuple(self._size(axis, size) for size in x.shape[2 + axis]) for axis in range(self.count)]

    def _size(self, axis: int, size: int) -> int:
        if self.auto.startswith("SAME"):
            return -(-size // self.strides[axis])
        pads = (self.pads[axis], self.pads[axis + self.count])
        return _windows(size, self.kernel[axis], self.strides[axis], self.dilations[axis], pads, self.ceil)

    def attributes(self) -> dict[str, Any]:
        found: dict[str, Any] = {"kernel_shape": self.kernel, "strides": self.strides}
        found["dilations"] = self.dilations if any(n > 1 for n in self.dilations) else None
        if self.auto == "NOTSET":
            return {**found, "pads": self.pads}
        return {**found, "auto_pad": self.auto}


def _is_spatial(x: Drawn) -> bool:
    return 3 <= x.rank <= 5 and is_fixed(x.shape[1])


@grower(5)
def convolutions(d: Drawing, x: Drawn) -> list[Drawn]:
    if not _is_spatial(x):
        return []
    windows = _Windows(d, x, pool=False)
    channels = x.shape[1][0]
    groups = d.rng.choice([1, 1, *[n for n in range(1, channels + 1) if channels % n == 0]])
    width = groups * d.rng.randint(1, 3)
    shape = [x.shape[0], fixed(width), *windows.shape(x)]
    if not fits(shape):
        return []
    weights = d.numbers(width, channels // groups, *windows.kernel)
    inputs = [x, weights, *([d.numbers(width)] if d.rng.random() < 0.6 else [])]
    made = d.node("Conv", inputs, shape, group=groups, **windows.attributes())
    if d.rng.random() < 0.4:
        return [d.node(d.rng.choice(["Relu", "Sigmoid", "HardSwish", "LeakyRelu", "Tanh"]), [made], made.shape)]
    return [made]


@grower(2)
def deconvolutions(d: Drawing, x: Drawn) -> list[Drawn]:
    if not _is_spatial(x):
        return []
    rng, count, channels = d.rng, x.rank - 2, x.shape[1][0]
    kernel = [rng.randint(1, 4) for _ in range(count)]
    strides = [rng.randint(1, 3) for _ in range(count)]
    dilations = [rng.choice([1, 1, 2]) for _ in range(count)]
    pads = [rng.randint(0, 1 if extent > 1 else 0) for extent in (*kernel, *kernel)]
    extra = [rng.choice([0, 0, 1]) if stride > 1 else 0 for stride in strides]
    groups = rng.choice([1, 1, *[n for n in range(1, channels + 1) if channels % n == 0]])
    width = rng.randint(1, 3)

    def size(axis: int, n: int) -> int:
        extent = dilations[axis] * (kernel[axis] - 1) + 1
        return (n - 1) * strides[axis] + extent - pads[axis] - pads[axis + count] + extra[axis]

    spatial: list[Size] = [tuple(size(axis, n) for n in x.shape[2 + axis]) for axis in range(count)]
    shape = [x.shape[0], fixed(groups * width), *spatial]
    if not fits(shape):
        return []
    inputs = [x, d.numbers(channels, width, *kernel), *([d.numbers(groups * width)] if rng.random() < 0.6 else [])]
    attrs: dict[str, Any] = {"strides": strides, "dilations": dilations, "pads": pads, "group": groups}
    if any(extra):
        attrs["output_padding"] = extra
    return [d.node("ConvTranspose", inputs, shape, kernel_shape=kernel, **attrs)]


@grower(4)
def pools(d: Drawing, x: Drawn) -> list[Drawn]:
    if not 3 <= x.rank <= 5:
        return []
    op = d.rng.choice(["MaxPool", "AveragePool", "AveragePool", "LpPool"])
    windows = _Windows(d, x, pool=op != "LpPool" or d.opset >= 18)
    if d.opset < {"AveragePool": 19, "LpPool": 18}.get(op, 0):
        windows.dilations = [1] * windows.count
    shape = [*x.shape[:2], *windows.shape(x)]
    if not fits(shape):
        return []
    attrs = windows.attributes()
    if windows.ceil:
        attrs["ceil_mode"] = 1
    if op == "AveragePool":
        attrs["count_include_pad"] = d.rng.choice([None, 0, 1])
    if op == "LpPool":
        attrs["p"] = d.rng.randint(1, 3)
    if op == "MaxPool" and d.rng.random() < 0.2 and not any(windows.pads) and windows.auto == "NOTSET":
        return d.nodes_of(op, [x], [(tuple(shape), "f32"), (tuple(shape), "s64")], **attrs)
    return [d.node(op, [x], shape, **attrs)]


@grower(1)
def global_pools(d: Drawing, x: Drawn) -> list[Drawn]:
    if not 3 <= x.rank <= 5:
        return []
    op = d.rng.choice(["GlobalAveragePool", "GlobalMaxPool", "GlobalLpPool"])
    return [d.node(op, [x], (*x.shape[:2], *[fixed(1)] * (x.rank - 2)))]


_MODES = {
    "nearest": ["asymmetric", "half_pixel", "pytorch_half_pixel", "align_corners", "half_pixel_symmetric"],
    "linear": ["asymmetric", "half_pixel", "pytorch_half_pixel", "align_corners", "half_pixel_symmetric"],
    "cubic": ["asymmetric", "half_pixel", "pytorch_half_pixel", "align_corners"],
}


@grower(3)
def resizes(d: Drawing, x: Drawn) -> list[Drawn]:
    if x.rank != 4:
        return []
    mode = d.rng.choice(["nearest", "nearest", "linear", "linear", "cubic"])
    where = d.rng.choice([word for word in _MODES[mode] if d.opset >= 19 or word != "half_pixel_symmetric"])
    attrs: dict[str, Any] = {"mode": mode, "coordinate_transformation_mode": where}
    if mode == "nearest":
        attrs["nearest_mode"] = d.rng.choice(["floor", "ceil", "round_prefer_floor", "round_prefer_ceil"])
    if mode == "cubic":
        attrs["cubic_coeff_a"] = d.rng.choice([None, -0.5])
    spatial = x.shape[2:]
    if (
        all(is_fixed(size) for size in spatial)
        and d.rng.random() < 0.5
        and is_fixed(x.shape[0])
        and is_fixed(x.shape[1])
    ):
        sizes = [d.rng.randint(1, 2 * size[0] + 1) for size in spatial]
        inputs: list[Drawn | str] = [x, "", "", d.integers([x.shape[0][0], x.shape[1][0], *sizes])]
        return [d.node("Resize", inputs, [*x.shape[:2], *[fixed(size) for size in sizes]], **attrs)]
    scales = [d.rng.choice([1.0, 2.0, 2.0, 3.0, 0.5, 1.5]) for _ in spatial]
    results: list[Size] = [
        tuple(math.floor(size[run] * scale) for run in range(RUNS)) for size, scale in zip(spatial, scales, strict=True)
    ]
    shape = [*x.shape[:2], *results]
    whole = all(size[run] * scale % 1 == 0 for size, scale in zip(spatial, scales, strict=True) for run in range(RUNS))
    if not fits(shape) or (where == "align_corners" and not whole):
        return []  # whether such corners are those of the fraction or of what is left is no two runtimes' opinion
    return [d.node("Resize", [x, "", d.weight([1.0, 1.0, *scales])], shape, **attrs)]


@grower(0.8)
def grids(d: Drawing, x: Drawn) -> list[Drawn]:
    if x.rank != 4 or not is_fixed(x.shape[0]) or d.opset < 20:
        return []
    rows, columns = d.rng.randint(1, 4), d.rng.randint(1, 4)
    grid = d.numbers(x.shape[0][0], rows, columns, 2, low=-1.2, high=1.2)
    attrs: dict[str, Any] = {
        "mode": d.rng.choice(["linear", "nearest", "cubic"]),
        "padding_mode": d.rng.choice(["zeros", "border", "reflection"]),
        "align_corners": d.rng.randint(0, 1),
    }
    return [d.node("GridSample", [x, grid], (*x.shape[:2], fixed(rows), fixed(columns)), **attrs)]
