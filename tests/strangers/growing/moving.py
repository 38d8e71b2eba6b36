"""Operators that move elements: slices, joins, transposes, gathers."""

from __future__ import annotations

import numpy as np

from tests.strangers.drawing import RUNS, Drawing, Drawn, Shape, Size, fits, fixed, is_fixed
from tests.strangers.growing.registry import grower

ANY = ("f32", "s64", "bool", "s32")
FAR = (1 << 63) - 1


def _taken(size: int, start: int, end: int, step: int) -> int:
    """How many elements a slice of ONNX takes."""
    low, high = (0, size) if step > 0 else (-1, size - 1)
    start = start + size if start < 0 else start
    end = end + size if end < 0 else end
    start = min(max(start, 0), high)
    end = min(max(end, low), high if step < 0 else size)
    return max(0, -(-(end - start) // step))


@grower(4, ANY)
def slices(d: Drawing, x: Drawn) -> list[Drawn]:
    if x.rank == 0:
        return []
    axes, written = d.axes(x.rank, 2)
    starts: list[int] = []
    ends: list[int] = []
    steps: list[int] = []
    shape = list(x.shape)
    for axis in axes:
        least = min(x.shape[axis])
        step = d.rng.choice([1, 1, 2, 3, -1, -1, -2])
        start = d.rng.choice([0, 0, 1, -1, -least, least - 1, d.rng.randint(-least - 2, least + 1)])
        end = d.rng.choice([FAR, FAR, -1, least, d.rng.randint(-least, least + 2)])
        if step < 0:
            start = d.rng.choice([FAR, -1, least - 1, d.rng.randint(-least - 1, least)])
            end = d.rng.choice([-FAR, -FAR, 0, -least - 1, d.rng.randint(-least, least)])
        starts, ends, steps = [*starts, start], [*ends, end], [*steps, step]
        shape[axis] = tuple(_taken(size, start, end, step) for size in x.shape[axis])
    if not fits(shape):
        return []
    inputs = [x, d.integers(starts), d.integers(ends), d.integers(written)]
    if any(step != 1 for step in steps) or d.rng.random() < 0.5:
        inputs.append(d.integers(steps))
    return [d.node("Slice", inputs, shape)]


@grower(2, ANY)
def splits(d: Drawing, x: Drawn) -> list[Drawn]:
    if x.rank == 0:
        return []
    axis, written = d.axis(x.rank)
    size = x.shape[axis]
    if not is_fixed(size) or size[0] < 2:
        return []
    parts = d.rng.randint(2, min(4, size[0]))
    cuts = sorted(d.rng.sample(range(1, size[0]), parts - 1))
    sizes = [b - a for a, b in zip([0, *cuts], [*cuts, size[0]], strict=True)]
    inputs: list[Drawn] = [x, d.integers(sizes)]
    number = None
    if size[0] % parts == 0 and d.rng.random() < 0.5:
        sizes, inputs = [size[0] // parts] * parts, [x]
        number = parts if d.opset >= 18 else None
    shapes = [(*x.shape[:axis], fixed(part), *x.shape[axis + 1 :]) for part in sizes]
    return d.nodes_of("Split", inputs, [(shape, "") for shape in shapes], axis=written, num_outputs=number)


@grower(4, ANY)
def joins(d: Drawing, x: Drawn) -> list[Drawn]:
    if x.rank == 0:
        return []
    axis, written = d.axis(x.rank)
    rest = x.shape[:axis] + x.shape[axis + 1 :]
    fitting = [v for v in d.values if v.kind == x.kind and v.rank == x.rank]
    fitting = [v for v in fitting if v.shape[:axis] + v.shape[axis + 1 :] == rest]
    others = d.rng.choices(fitting, k=d.rng.randint(1, 3))
    total: Size = tuple(sum(v.shape[axis][run] for v in (x, *others)) for run in range(RUNS))
    shape = (*x.shape[:axis], total, *x.shape[axis + 1 :])
    joined = [x, *others]
    d.rng.shuffle(joined)
    return [d.node("Concat", joined, shape, axis=written)] if fits(shape) else []


@grower(3, ANY)
def transposes(d: Drawing, x: Drawn) -> list[Drawn]:
    perm = list(range(x.rank))
    d.rng.shuffle(perm)
    if d.rng.random() < 0.1:
        return [d.node("Transpose", [x], x.shape[::-1])]
    return [d.node("Transpose", [x], [x.shape[axis] for axis in perm], perm=perm)] if x.rank else []


@grower(3, ANY)
def reshapes(d: Drawing, x: Drawn) -> list[Drawn]:
    """Neighbours merge, fixed sizes split; run-time sizes are kept by 0 or left to -1."""
    shape: list[Size] = []
    for size in x.shape:
        if shape and is_fixed(shape[-1]) and is_fixed(size) and d.rng.random() < 0.5:
            shape[-1] = fixed(shape[-1][0] * size[0])
        else:
            shape.append(size)
    for place in range(len(shape) - 1, -1, -1):
        size = shape[place]
        if is_fixed(size) and size[0] > 3 and d.rng.random() < 0.4 and len(shape) < 5:
            divisors = [n for n in range(1, size[0] + 1) if size[0] % n == 0]
            first = d.rng.choice(divisors)
            shape[place : place + 1] = [fixed(first), fixed(size[0] // first)]
    loose = [place for place, size in enumerate(shape) if not is_fixed(size)]
    written = [size[0] if is_fixed(size) else -1 for size in shape]
    for place in loose[1:] if loose else []:
        if place >= x.rank or x.shape[place] != shape[place]:
            return []
        written[place] = 0
    if not loose and shape and d.rng.random() < 0.4:
        written[d.rng.randrange(len(shape))] = -1
    return [d.node("Reshape", [x, d.integers(written)], shape)] if fits(shape) else []


@grower(1, ANY)
def flattens(d: Drawing, x: Drawn) -> list[Drawn]:
    if x.rank == 0:
        return []
    axis = d.rng.randint(0, x.rank)

    def product(sizes: Shape) -> Size:
        return tuple(int(np.prod([size[run] for size in sizes], dtype=int)) for run in range(RUNS))

    written = axis - x.rank if axis < x.rank and d.rng.random() < 0.4 else axis
    return [d.node("Flatten", [x], (product(x.shape[:axis]), product(x.shape[axis:])), axis=written)]


@grower(1.5, ANY)
def unsqueezes(d: Drawing, x: Drawn) -> list[Drawn]:
    if x.rank > 3:
        return []
    count = d.rng.randint(1, 2)
    rank = x.rank + count
    axes = d.rng.sample(range(rank), count)
    rest = iter(x.shape)
    shape = [fixed(1) if axis in axes else next(rest) for axis in range(rank)]
    written = [axis - rank if d.rng.random() < 0.5 else axis for axis in axes]
    return [d.node("Unsqueeze", [x, d.integers(written)], shape)]


@grower(1.5, ANY)
def squeezes(d: Drawing, x: Drawn) -> list[Drawn]:
    ones = [axis for axis, size in enumerate(x.shape) if size == fixed(1)]
    if not ones:
        return []
    if not any(1 in size and not is_fixed(size) for size in x.shape) and d.rng.random() < 0.2:
        return [d.node("Squeeze", [x], [size for size in x.shape if size != fixed(1)])]
    axes = d.rng.sample(ones, d.rng.randint(1, len(ones)))
    written = [axis - x.rank if d.rng.random() < 0.5 else axis for axis in axes]
    shape = [size for axis, size in enumerate(x.shape) if axis not in axes]
    return [d.node("Squeeze", [x, d.integers(written)], shape)]


@grower(1.5, ANY)
def expands(d: Drawing, x: Drawn) -> list[Drawn]:
    if not x.rank:
        return []
    grown = [fixed(d.rng.randint(1, 3)) if size == fixed(1) else size for size in x.shape]
    written = [size[0] if is_fixed(size) and d.rng.random() < 0.7 else 1 for size in grown]
    shape = [
        size if size == known or new != 1 else known for size, known, new in zip(grown, x.shape, written, strict=True)
    ]
    if d.rng.random() < 0.3:
        written, shape = [2, *written], [fixed(2), *shape]
    return [d.node("Expand", [x, d.integers(written)], shape)] if fits(shape) else []


@grower(1, ANY)
def tiles(d: Drawing, x: Drawn) -> list[Drawn]:
    if not x.rank:
        return []
    repeats = [d.rng.choice([1, 1, 2, 3]) for _ in x.shape]
    shape = [tuple(n * times for n in size) for size, times in zip(x.shape, repeats, strict=True)]
    return [d.node("Tile", [x, d.integers(repeats)], shape)] if fits(shape) else []


@grower(3, ("f32", "s64"))
def pads(d: Drawing, x: Drawn) -> list[Drawn]:
    if not x.rank:
        return []
    mode = d.rng.choice(["constant", "constant", "reflect", "edge", *(["wrap"] if d.opset >= 19 else [])])
    chosen, written = d.axes(x.rank, 2)
    before, after = {}, {}
    for axis in chosen:
        least = min(x.shape[axis])
        most = {"reflect": least - 1, "wrap": least}.get(mode, 3)
        lowest = -1 if least > 3 and mode == "constant" else 0
        before[axis], after[axis] = (d.rng.randint(lowest, max(lowest, min(most, 3))) for _ in range(2))
    named = d.opset >= 18 and d.rng.random() < 0.5
    order = chosen if named else list(range(x.rank))
    inputs: list[Drawn | str] = [x, d.integers([before.get(a, 0) for a in order] + [after.get(a, 0) for a in order])]
    if mode == "constant" and d.rng.random() < 0.5:
        inputs.append(d.weight(2.5) if x.kind == "f32" else d.integers(7))
    elif named:
        inputs.append("")
    if named:
        inputs.append(d.integers(written))
    shape = [tuple(n + before.get(a, 0) + after.get(a, 0) for n in size) for a, size in enumerate(x.shape)]
    return [d.node("Pad", inputs, shape, mode=mode)] if fits(shape) else []


@grower(2, ANY)
def gathers(d: Drawing, x: Drawn) -> list[Drawn]:
    if not x.rank:
        return []
    axis, written = d.axis(x.rank)
    least = min(x.shape[axis])
    sizes = d.rng.choice([(), (1,), (3,), (2, 2)])
    indices = np.random.default_rng(d.rng.randrange(1 << 30)).integers(-least, least, sizes)
    shape = (*x.shape[:axis], *[fixed(n) for n in sizes], *x.shape[axis + 1 :])
    return [d.node("Gather", [x, d.weight(indices, np.int64)], shape, axis=written)] if fits(shape) else []


@grower(1, ANY)
def gathers_elements(d: Drawing, x: Drawn) -> list[Drawn]:
    if not x.rank or not x.is_fixed:
        return []
    axis, written = d.axis(x.rank)
    sizes = list(x.sizes())
    sizes[axis] = d.rng.randint(1, 4)
    least = x.shape[axis][0]
    indices = np.random.default_rng(d.rng.randrange(1 << 30)).integers(-least, least, sizes)
    shape = [fixed(n) for n in sizes]
    return [d.node("GatherElements", [x, d.weight(indices, np.int64)], shape, axis=written)] if fits(shape) else []


@grower(1, ANY)
def gathers_nd(d: Drawing, x: Drawn) -> list[Drawn]:
    if x.rank < 2:
        return []
    depth = d.rng.randint(1, x.rank)
    count = d.rng.randint(1, 4)
    seeded = np.random.default_rng(d.rng.randrange(1 << 30))
    leasts = [min(size) for size in x.shape[:depth]]
    indices = np.stack([seeded.integers(-least, least, count) for least in leasts], -1)
    return [d.node("GatherND", [x, d.weight(indices, np.int64)], (fixed(count), *x.shape[depth:]))]


@grower(1, ("f32", "s64"))
def scatters(d: Drawing, x: Drawn) -> list[Drawn]:
    if not x.rank or not x.is_fixed:
        return []
    axis, written = d.axis(x.rank)
    sizes = [d.rng.randint(1, n) for n in x.sizes()]
    seeded = np.random.default_rng(d.rng.randrange(1 << 30))
    least = x.shape[axis][0]
    order = seeded.permutation(least)[: sizes[axis]]
    indices = np.broadcast_to(order.reshape([-1 if a == axis else 1 for a in range(x.rank)]), sizes)
    updates = d.numbers(*sizes) if x.kind == "f32" else d.integers(seeded.integers(-5, 5, sizes))
    reduction = d.rng.choice(["none", "none", "add", *(["max", "min"] if d.opset >= 18 else []), "mul"])
    inputs = [x, d.weight(np.array(indices), np.int64), updates]
    return [d.node("ScatterElements", inputs, x.shape, axis=written, reduction=reduction)]


@grower(1, ("f32",))
def scatters_nd(d: Drawing, x: Drawn) -> list[Drawn]:
    if x.rank < 1 or not is_fixed(x.shape[0]):
        return []
    if not all(is_fixed(size) for size in x.shape[1:]):
        return []
    count = d.rng.randint(1, x.shape[0][0])
    rows = d.rng.sample(range(x.shape[0][0]), count)
    updates = d.numbers(count, *[size[0] for size in x.shape[1:]])
    return [d.node("ScatterND", [x, d.integers([[row] for row in rows]), updates], x.shape)]


@grower(1, ("f32",))
def blocks(d: Drawing, x: Drawn) -> list[Drawn]:
    if x.rank != 4:
        return []
    n, c, h, w = x.shape
    if d.rng.random() < 0.5:
        if not is_fixed(c) or c[0] % 4:
            return []
        shape = (n, fixed(c[0] // 4), _times(h, 2), _times(w, 2))
        mode = d.rng.choice(["DCR", "CRD"])
        return [d.node("DepthToSpace", [x], shape, blocksize=2, mode=mode)] if fits(shape) else []
    if any(size % 2 for size in (*h, *w)) or not is_fixed(c):
        return []
    halved = [tuple(size // 2 for size in axis) for axis in (h, w)]
    return [d.node("SpaceToDepth", [x], (n, fixed(c[0] * 4), *halved), blocksize=2)]


def _times(size: Size, factor: int) -> Size:
    return tuple(n * factor for n in size)


@grower(0.7, ("f32", "s64"))
def trilus(d: Drawing, x: Drawn) -> list[Drawn]:
    if x.rank < 2:
        return []
    inputs: list[Drawn] = [x, d.integers(d.rng.randint(-2, 2))] if d.rng.random() < 0.6 else [x]
    return [d.node("Trilu", inputs, x.shape, upper=d.rng.randint(0, 1))]


@grower(0.7, ("f32",))
def reverses_sequences(d: Drawing, x: Drawn) -> list[Drawn]:
    if x.rank < 2 or not is_fixed(x.shape[0]) or not is_fixed(x.shape[1]):
        return []
    batch = d.rng.randint(0, 1)
    lengths = [d.rng.randint(1, x.shape[1 - batch][0]) for _ in range(x.shape[batch][0])]
    inputs = [x, d.integers(lengths)]
    return [d.node("ReverseSequence", inputs, x.shape, batch_axis=batch, time_axis=1 - batch)]


@grower(0.8, ("f32",))
def center_crops(d: Drawing, x: Drawn) -> list[Drawn]:
    if x.rank < 2 or d.opset < 18:
        return []
    axis, written = d.axis(x.rank)
    size = d.rng.randint(1, 7)
    shape = (*x.shape[:axis], fixed(size), *x.shape[axis + 1 :])
    return [d.node("CenterCropPad", [x, d.integers([size])], shape, axes=[written])] if fits(shape) else []
