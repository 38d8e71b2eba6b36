"""The names of ai8x's layers. Model files that `import ai8x` receive this module where they are loaded."""

from __future__ import annotations

import itertools
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Literal

from torch import nn

from buildtool.errors import UnsupportedError
from buildtool.training.layers import Elementwise, Fused, Operation, Pool, Pooling
from buildtool.wording import did_you_mean

_ROUNDS = [False]  # whether averages of layers that are made from now on round
_OPERATIONS: dict[str, Operation] = {"Conv1d": "conv1d", "Conv2d": "conv2d", "ConvTranspose2d": "convtranspose2d"}
_ACTIVATIONS: dict[str, Literal["relu", "abs"] | None] = {"": None, "ReLU": "relu", "Abs": "abs"}
_POOLS: dict[str, Literal["max", "average"] | None] = {"": None, "MaxPool": "max", "AvgPool": "average"}


@dataclass
class _Device:
    """What model files ask `ai8x.dev` for."""

    device: int = 85
    simulate: bool = False
    round_avg: bool = False
    WEIGHT_BITS: int = 8
    DATA_BITS: int = 8
    ACTIVATION_BITS: int = 8
    WEIGHT_INPUTS: int = 256
    WEIGHT_DEPTH: int = 768
    MAX_AVG_POOL: int = 16


_DEPTHS = {85: 768, 87: 5120}  # of weights for each processor: MAX78000, MAX78002
dev = _Device()


def set_device(device: int, simulate: bool, round_avg: bool, verbose: bool = True) -> None:
    """As ai8x has it. Both chips compute alike, and layers know themselves whether they are quantised."""
    del simulate, verbose
    if device not in _DEPTHS:
        raise UnsupportedError(f"there is no device {device}", rule="85: MAX78000, 87: MAX78002")
    dev.device, dev.round_avg, dev.WEIGHT_DEPTH = device, bool(round_avg), _DEPTHS[device]
    _ROUNDS[0] = bool(round_avg)


class Empty(nn.Identity):
    """Nothing: `Empty` of ai8x."""


def _convolution(name: str, word: str, pool: str, activation: str, *, depthwise: bool, norm: str | None) -> type[Fused]:
    operation = _OPERATIONS[word]
    transposed, dimensions = operation == "convtranspose2d", 1 if operation == "conv1d" else 2

    def init(
        self: Fused,
        in_channels: int,
        out_channels: int,
        kernel_size: Any,
        *,
        pool_size: Any = 2,
        pool_stride: Any = 2,
        pool_dilation: Any = 1,
        stride: Any = 2 if transposed else 1,
        padding: Any = 1 if transposed else 0,
        dilation: Any = 1,
        bias: bool = True,
        batchnorm: str | None = norm,
        groups: int | None = None,
        wide: bool = False,
        eps: float = 1e-5,
        momentum: float = 0.05,
        **others: Any,
    ) -> None:
        _refuse(name, others)
        kind = _POOLS[pool]
        rounds = _ROUNDS[0] and dimensions == 2
        pooling = kind and Pooling.of(kind, dimensions, pool_size, pool_stride, pool_dilation, rounds=rounds)
        Fused.__init__(
            self, operation, in_channels, out_channels, kernel_size, stride=stride, padding=padding, dilation=dilation,
            groups=(in_channels if depthwise else 1) if groups is None else groups, bias=bias, pooling=pooling or None,
            activation=_ACTIVATIONS[activation], batchnorm=batchnorm, wide=wide,
        )  # fmt: skip
        if self.bn is not None:
            self.bn.eps, self.bn.momentum = eps, momentum

    return type(name, (Fused,), {"__init__": init, "__doc__": f"`{name}` of ai8x."})


def _linear(name: str, activation: str) -> type[Fused]:
    def init(
        self: Fused, in_features: int, out_features: int, bias: bool = True, wide: bool = False, **others: Any
    ) -> None:
        _refuse(name, others)
        Fused.__init__(
            self, "linear", in_features, out_features, bias=bias, activation=_ACTIVATIONS[activation], wide=wide
        )

    return type(name, (Fused,), {"__init__": init, "__doc__": f"`{name}` of ai8x."})


def _refuse(name: str, others: dict[str, Any]) -> None:
    """Arguments that layers of ai8x have, and that have no effect where they have these values."""
    quiet: dict[str, Any] = {"weight_bits": None, "bias_bits": None, "quantize_activation": False}
    for key, value in others.items():
        if key not in quiet or value != quiet[key]:
            raise UnsupportedError(
                f"{name} has no argument '{key}' of {value!r}", remedy="bits of weights are said by the policy"
            )


def _pool(name: str, kind: Literal["max", "average"], dimensions: int) -> type[Pool]:
    def init(self: Pool, kernel_size: Any, stride: Any = None, dilation: Any = 1, **others: Any) -> None:
        if others.get("padding") == 0:
            del others["padding"]
        _refuse(name, others)
        step = kernel_size if stride is None else stride
        rounds = _ROUNDS[0] and dimensions == 2
        Pool.__init__(self, Pooling.of(kind, dimensions, kernel_size, step, dilation, rounds=rounds))

    return type(name, (Pool,), {"__init__": init, "__doc__": f"`{name}` of ai8x."})


def _elementwise(operator: Literal["add", "sub", "or", "xor"], name: str) -> type[Elementwise]:
    def init(self: Elementwise) -> None:
        Elementwise.__init__(self, operator)

    return type(name, (Elementwise,), {"__init__": init, "__doc__": f"`{name}` of ai8x."})


def _layers() -> dict[str, Callable[..., nn.Module]]:
    found: dict[str, Callable[..., nn.Module]] = {}
    words = [*((word, word, False) for word in _OPERATIONS), ("DepthwiseConv2d", "Conv2d", True)]
    words.append(("DepthwiseConvTranspose2d", "ConvTranspose2d", True))
    for (shown, word, depthwise), pool, norm, activation in itertools.product(words, _POOLS, ("", "BN"), _ACTIVATIONS):
        fused = "Fused" if pool or norm or activation else ""
        name = f"{fused}{pool}{shown}{norm}{activation}"
        affine = "Affine" if norm else None
        found[name] = _convolution(name, word, pool, activation, depthwise=depthwise, norm=affine)
    found |= {f"{'Fused' if word else ''}Linear{word}": _linear(f"Linear{word}", word) for word in _ACTIVATIONS}
    for dimensions in (1, 2):
        found[f"MaxPool{dimensions}d"] = _pool(f"MaxPool{dimensions}d", "max", dimensions)
        found[f"AvgPool{dimensions}d"] = _pool(f"AvgPool{dimensions}d", "average", dimensions)
    found |= {"Add": _elementwise("add", "Add"), "Sub": _elementwise("sub", "Sub")}
    found |= {"Or": _elementwise("or", "Or"), "Xor": _elementwise("xor", "Xor")}
    return found | {"BitwiseOr": _elementwise("or", "BitwiseOr"), "BitwiseXor": _elementwise("xor", "BitwiseXor")}


LAYERS = _layers()
globals().update(LAYERS)


def __getattr__(name: str) -> Any:
    """Names that ai8x has and the chips do not, or that nobody has."""
    if name.startswith("__"):
        raise AttributeError(name)
    if name in ("SoftwareLinear", "FusedSoftwareLinearReLU"):
        what, remedy = f"{name} is a layer of the first prototype (AI84), computed in software", "use Linear"
    else:
        what, remedy = f"ai8x has no '{name}' here", did_you_mean(name, LAYERS)
    raise UnsupportedError(what, rule="layers of the MAX78000 and MAX78002", remedy=remedy)
