"""Small networks with what random ones rarely or never have."""

from __future__ import annotations

from typing import Any

import numpy as np

from buildtool.targets.max7800x.devices import MAX78002
from buildtool.targets.max7800x.network import STOP, Kernel, Layer, Network, Pool, Size
from buildtool.targets.max7800x.simulation import arithmetic


def layer(index: int, operation: Any, sources: tuple[int, ...], channels: int, size: Size, **what: Any) -> Layer:
    """A layer that gives what its parts say."""
    kernel: Kernel | None = what.get("kernel")
    pooled = arithmetic.pooled_size(size, what.get("pool"))
    out = (channels, *pooled)
    if kernel is not None:
        walk = arithmetic.geometry(operation, (1, 1) if what.get("flatten") else pooled, kernel)
        out = (len(kernel.weights), *walk.out_size)
    return Layer(
        index, f"layer {index}", operation, sources, channels, size, 0, 0, out_channels=out[0], out_size=out[1:], **what
    )


def network(channels: int, size: Size, *layers: Layer, **what: Any) -> Network:
    return Network("odd", MAX78002, layers, channels, size, **what)


def kernel(*shape: int, **what: Any) -> Kernel:
    rng = np.random.default_rng(sum(shape))
    weights = rng.integers(-128, 128, shape).astype(np.int8)
    return Kernel(weights, bias=rng.integers(-128, 128, shape[0]).astype(np.int8), size=shape[2:], **what)  # type: ignore[arg-type]


def _eltwise(operator: Any, *, pool_first: bool, wide: bool = False) -> Network:
    what: dict[str, Any] = {"operands": 3, "eltwise": operator, "pool_first": pool_first}
    pool = Pool("max", (2, 3), (1, 2))
    width = 32 if wide else 8
    return network(9, (5, 6), layer(0, "none", (-1,), 3, (5, 6), pool=pool, output_width=width, **what))


def _average(*, rounds: bool) -> Network:
    """Of two and of one dimension; the second never rounds."""
    pool = Pool("average", (2, 2), (1, 1))
    return network(
        2,
        (5, 6),
        layer(0, "none", (-1,), 2, (5, 6), pool=pool),
        layer(
            1, "conv1d", (0,), 2, (20, 1), pool=Pool("average", (3, 1), (2, 1)), kernel=kernel(3, 2, 1, 1, pad=(0, 0))
        ),
        average_rounds=rounds,
    )


ODD_NETWORKS = {
    **{f"{word}, pooled after": _eltwise(word, pool_first=False) for word in ("add", "sub", "or", "xor")},
    **{f"{word}, pooled before": _eltwise(word, pool_first=True) for word in ("add", "sub", "or", "xor")},
    "wide sums of operands": _eltwise("sub", pool_first=True, wide=True),
    "averages that round": _average(rounds=True),
    "averages that are cut off": _average(rounds=False),
    "dilation in two dimensions": network(
        3, (9, 10), layer(0, "conv2d", (-1,), 3, (9, 10), kernel=kernel(4, 3, 3, 3, dilation=(2, 3), pad=(2, 1)))
    ),
    "steps of a convolution": network(
        3, (9, 10), layer(0, "conv2d", (-1,), 3, (9, 10), kernel=kernel(4, 3, 3, 3, stride=(2, 3)), output_shift=-4)
    ),
    "groups of several channels": network(
        6, (4, 5), layer(0, "conv2d", (-1,), 6, (4, 5), kernel=kernel(9, 2, 3, 3, groups=3), output_shift=-4)
    ),
    "upsampling in groups": network(
        4,
        (4, 5),
        layer(
            0,
            "convtranspose2d",
            (-1,),
            4,
            (4, 5),
            kernel=kernel(4, 1, 3, 3, groups=4, stride=(2, 2), output_pad=(1, 1)),
            output_shift=-2,
        ),
    ),
    "channels that are left out": network(
        10,
        (3, 4),
        layer(
            0, "none", (-1,), 3, (3, 4), in_channel_skip=1, operands=2, eltwise="add", pool=Pool("max", (2, 2), (1, 1))
        ),
        layer(1, "conv2d", (-1,), 7, (3, 4), in_channel_skip=2, kernel=kernel(2, 7, 3, 3), output_shift=-3),
    ),
    "rows that are cut off": network(
        3,
        (8, 4),
        layer(0, "conv2d", (-1,), 3, (5, 4), in_crop=(1, 2), kernel=kernel(2, 3, 3, 3), output_shift=-3),
        layer(1, "linear", (-1,), 3, (2, 4), in_crop=(0, 6), flatten=True, kernel=kernel(5, 24, 1, 1)),
    ),
    "sources behind each other in each channel": network(
        3,
        (4, 5),
        layer(0, "none", (-1,), 3, (4, 5), pool=Pool("max", (2, 1), (2, 1))),
        layer(1, "conv2d", (-1, 0), 3, (6, 5), kernel=kernel(2, 3, 3, 3), output_shift=-3),
    ),
    "a layer that is passed over": network(
        2,
        (4, 4),
        layer(0, "none", (-1,), 2, (4, 4), next_layer=2, is_output=True),
        layer(1, "conv2d", (0,), 2, (4, 4), kernel=kernel(2, 2, 3, 3)),
        layer(2, "conv2d", (0,), 2, (4, 4), kernel=kernel(3, 2, 3, 3), output_shift=-3, next_layer=STOP),
        layer(3, "conv2d", (2,), 3, (4, 4), kernel=kernel(2, 3, 3, 3)),
    ),
    "kernels that are passed by": network(
        2, (4, 4), layer(0, "conv2d", (-1,), 2, (4, 4), kernel=kernel(3, 2, 3, 3), hints={"bypass": True})
    ),
}
