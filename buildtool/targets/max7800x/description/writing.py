"""Writes a network in the language of ai8xize, with all its places, and its weights as a quantised checkpoint.

So that people who know that tool see what was planned, and can go on from there by hand.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
import yaml
from numpy.typing import NDArray

from buildtool.errors import Problem, UnsupportedError
from buildtool.targets.max7800x.checkpoints import torch_writer
from buildtool.targets.max7800x.network import INPUT, Kernel, Layer, Network
from buildtool.targets.max7800x.simulation.checks import where

_WORDS = {"add": "add", "sub": "sub", "or": "or", "xor": "xor"}


@dataclass(frozen=True)
class Written:
    """The two files."""

    description: str
    checkpoint: bytes
    switches: tuple[str, ...]  # of ai8xize, without which it would make something else


def written(network: Network) -> Written:
    """UnsupportedError where the language has no words for something."""
    problems = [problem for layer in network.layers for problem in _unwritable(layer)]
    if problems:
        raise UnsupportedError(problems)
    switches = (
        *(("--fifo",) if network.fifo and not network.fast_fifo else ()),
        *(("--fast-fifo",) if network.fast_fifo else ()),
        *(("--avg-pool-rounding",) if network.average_rounds else ()),
    )
    name = re.sub(r"\W", "_", network.name, flags=re.ASCII) or "network"
    general = {"arch": name, "dataset": network.dataset or name}
    head = (
        f"# Places found by Lathe. For ai8xize: --device {network.device.part}{''.join(f' {one}' for one in switches)}"
    )
    parts = [head, _yaml(general).rstrip(), "layers:"]
    parts += [_item(_keys(network, layer)) for layer in network.layers]
    return Written("\n".join([*parts, ""]), torch_writer.packed(_checkpoint(network, name)), switches)


def _unwritable(layer: Layer) -> Iterator[Problem]:
    kernel = layer.kernel
    if kernel is not None and layer.operation in ("conv2d", "convtranspose2d") and len(set(kernel.pad)) > 1:
        yield Problem(
            f"layer {layer.index} pads {kernel.pad[0]} rows and {kernel.pad[1]} columns",
            where(layer),
            "`pad` of a description is one integer",
            "pad images equally on all sides",
        )


# -- the description --
def _item(keys: dict[str, Any]) -> str:
    lines = _yaml(keys).splitlines()
    return "\n".join(("  - " if number == 0 else "    ") + line for number, line in enumerate(lines))


class _Hex(int):
    """A number that is written to the base of 16."""


class _Dumper(yaml.SafeDumper):
    pass


_Dumper.add_representer(
    list, lambda dumper, value: dumper.represent_sequence("tag:yaml.org,2002:seq", value, flow_style=True)
)
_Dumper.add_representer(_Hex, lambda dumper, value: dumper.represent_scalar("tag:yaml.org,2002:int", f"{value:#x}"))


def _yaml(keys: dict[str, Any]) -> str:
    return yaml.dump(keys, Dumper=_Dumper, sort_keys=False, default_flow_style=False, width=200)


def _keys(network: Network, layer: Layer) -> dict[str, Any]:
    keys: dict[str, Any] = {"name": f"layer {layer.index} {layer.name}".strip() if layer.name else ""}
    if not layer.name:
        del keys["name"]
    sources = ["input" if source == INPUT else source for source in layer.sources]
    before = layer.index - 1 if layer.index else INPUT
    if layer.sources != (before,):
        keys["in_sequences"] = sources[0] if len(sources) == 1 else sources
    keys |= {"processors": _Hex(layer.processors), "output_processors": _Hex(layer.output_processors)}
    keys |= {"in_offset": _Hex(layer.in_offset), "out_offset": _Hex(layer.out_offset)}
    if INPUT in layer.sources:
        keys["data_format"] = "CHW" if layer.big_data else "HWC"
    reshaped = layer.in_size != _size_before(network, layer)
    if reshaped or INPUT in layer.sources:
        flat = layer.in_size[1] == 1 and layer.operation == "conv1d"
        keys["in_dim"] = layer.in_size[0] if flat else list(layer.in_size)
        keys["in_channels"] = layer.in_channels
    keys |= _flags(layer)
    keys |= _pool(layer)
    keys |= _work(layer)
    if layer.output_width != 8:
        keys["output_width"] = layer.output_width
    if layer.write_gap:
        keys["write_gap"] = layer.write_gap
    if layer.is_output:
        keys["output"] = True
    return keys


def _flags(layer: Layer) -> dict[str, Any]:
    flags = {"streaming": layer.streaming, "flatten": layer.flatten}
    return {name: True for name, is_set in flags.items() if is_set}


def _size_before(network: Network, layer: Layer) -> tuple[int, int]:
    first = layer.sources[0]
    if first == INPUT:
        return network.input_size
    return next(one.out_size for one in network.layers if one.index == first)


def _pool(layer: Layer) -> dict[str, Any]:
    pool = layer.pool
    if pool is None:
        return {}
    flat = layer.in_size[1] == 1
    keys: dict[str, Any] = {}
    if pool.size != (1, 1):
        word = "max_pool" if pool.kind == "max" else "avg_pool"
        keys[word] = pool.size[0] if flat else list(pool.size)
    keys["pool_stride"] = pool.stride[0] if flat or pool.stride[0] == pool.stride[1] else list(pool.stride)
    if pool.dilation != (1, 1):
        keys["pool_dilation"] = pool.dilation[0] if flat else list(pool.dilation)
    if not layer.pool_first:
        keys["pool_first"] = False
    return keys


def _work(layer: Layer) -> dict[str, Any]:
    if layer.operands > 1 and layer.eltwise is not None:
        word = "operation" if layer.operation == "none" else "eltwise"
        keys: dict[str, Any] = {word: _WORDS[layer.eltwise]}
        if layer.operands != 2:
            keys["operands"] = layer.operands
    else:
        keys = {}
    keys.setdefault("operation", layer.operation)
    kernel = layer.kernel
    if kernel is None:
        return keys
    if layer.operation == "conv1d":
        keys["kernel_size"] = kernel.size[0]
    elif layer.operation != "linear":
        keys["kernel_size"] = f"{kernel.size[0]}x{kernel.size[1]}"
    if layer.operation != "linear":
        keys["pad"] = kernel.pad[0]
    if kernel.dilation != (1, 1):
        keys["dilation"] = kernel.dilation[0]
    if kernel.groups > 1:
        keys["groups"] = kernel.groups
    keys["quantization"] = "binary" if kernel.bits < 0 else kernel.bits
    keys["output_shift"] = layer.output_shift
    keys["activate"] = {"relu": "ReLU", "abs": "Abs"}.get(layer.activation or "", "None")
    return keys


# -- the weights --
def _checkpoint(network: Network, name: str) -> dict[str, Any]:
    state: dict[str, NDArray[Any]] = {}
    for layer in network.layers:
        kernel = layer.kernel
        if kernel is None:
            continue
        stem = f"layer{layer.index}"
        bits = abs(kernel.bits)
        state[f"{stem}.output_shift"] = np.array([layer.output_shift], np.float32)
        state[f"{stem}.weight_bits"] = np.array([bits], np.float32)
        state[f"{stem}.bias_bits"] = np.array([8], np.float32)
        state[f"{stem}.op.weight"] = _stored(layer, kernel).astype(np.float32)
        if kernel.bias is not None:
            state[f"{stem}.op.bias"] = kernel.bias.astype(np.float32) * 2.0 ** (bits - 1)
    return {"epoch": 0, "arch": name, "extras": {}, "state_dict": state}


def _stored(layer: Layer, kernel: Kernel) -> NDArray[np.int8]:
    weights = kernel.weights
    if layer.operation == "convtranspose2d":
        return np.ascontiguousarray(np.flip(weights.swapaxes(0, 1), axis=(2, 3)))
    if layer.operation == "linear":
        return weights.reshape(len(weights), -1)
    return weights[..., 0] if layer.operation == "conv1d" else weights
