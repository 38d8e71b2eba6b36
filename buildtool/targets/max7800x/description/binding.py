"""Which layer takes which weights, and the kernels they become."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from buildtool.errors import Problem, Where
from buildtool.targets.max7800x.checkpoints.checkpoint import Parameters, Weights
from buildtool.targets.max7800x.description.chosen import Chosen
from buildtool.targets.max7800x.description.sections import Findings
from buildtool.targets.max7800x.devices import MAX78002, Device
from buildtool.targets.max7800x.network import Kernel, Size

BINARY = -1


@dataclass(frozen=True)
class Bound:
    """The kernel of a layer and the shift that comes with it."""

    kernel: Kernel
    output_shift: int = 0


def bind(layers: Sequence[Chosen], weights: Weights, device: Device, findings: Findings) -> dict[int, Bound]:
    """The kernels of the layers, by their numbers: each layer with weights of its own takes the next of the file."""
    takers = [chosen for chosen in layers if chosen.has_own_weights]
    if len(takers) > len(weights.parameters):
        held = [parameters.name for parameters in weights.parameters]
        findings.problems.append(
            Problem(
                f"the file contains weights for {len(held)} layers, and {len(takers)} layers of the description "
                "need weights",
                Where(file=weights.file),
                rule=f"in this order: {', '.join(held)}",
                remedy=f"the first without is {takers[len(held)].section.title}",
            )
        )
        return {}
    bound: dict[int, Bound] = {}
    for chosen, parameters in zip(takers, weights.parameters, strict=False):
        found = _bound(chosen, parameters, weights, device, findings)
        if found is not None:
            bound[chosen.index] = found
    for chosen in layers:
        source = bound.get(chosen.weight_source) if chosen.weight_source is not None else None
        if source is not None:
            bound[chosen.index] = replace(source, kernel=_as_layer(chosen, source.kernel))
    return bound


def _as_layer(chosen: Chosen, kernel: Kernel) -> Kernel:
    """Another layer's kernel with the borders of this one."""
    return replace(kernel, stride=chosen.stride, pad=chosen.pad, dilation=chosen.dilation, output_pad=chosen.output_pad)


def _bound(
    chosen: Chosen, parameters: Parameters, weights: Weights, device: Device, findings: Findings
) -> Bound | None:
    values = parameters.weights
    if chosen.operation == "convtranspose2d" and values.ndim == 4 and not weights.of_tests:
        values = np.flip(values, axis=(2, 3)).swapaxes(0, 1)
    if chosen.operation == "convtranspose2d" and chosen.section.get("groups", 1) > 1:
        values = values.swapaxes(0, 1)  # of each group one channel comes in and one goes out
    shaped = _shaped(chosen, values, parameters, findings)
    if shaped is None:
        return None
    bits = _bits(chosen, shaped, parameters, weights, device)
    if weights.of_tests and _fits(shaped, 8):
        shaped = _cut(shaped, bits)
    bias = _bias(chosen, parameters, shaped.shape[0], findings)
    if not _fits(shaped, bits):
        findings.refuse(
            chosen.section,
            "quantization",
            f"the weights of '{parameters.name}' reach from {shaped.min()} to {shaped.max()}",
            rule=_range_of(bits),
            remedy="remove `quantization`, or quantise the checkpoint for these bits",
        )
        return None
    groups = chosen.section.get("groups", 1)
    kernel = Kernel(
        shaped.astype(np.int8),
        bits,
        bias,
        chosen.kernel_size,
        chosen.stride,
        chosen.pad,
        chosen.dilation,
        groups,
        chosen.output_pad,
    )
    return Bound(kernel, chosen.section.get("output_shift", parameters.output_shift))


def _shaped(
    chosen: Chosen, values: NDArray[np.int64], parameters: Parameters, findings: Findings
) -> NDArray[np.int64] | None:
    """Weights as [out, in / groups, rows, columns]."""
    size: Size = (1, 1)
    if values.ndim == 3:
        size = (values.shape[2], 1)
    elif values.ndim == 4:
        size = (values.shape[2], values.shape[3])
    if size != chosen.kernel_size:
        findings.refuse(
            chosen.section,
            "kernel_size",
            f"the kernel is {_times(chosen.kernel_size)}, and the weights of '{parameters.name}' are {_times(size)}",
            rule="layers take weights in the order of the checkpoint",
            remedy=f"write `kernel_size: {_written(size, values.ndim)}`, or check the order of the layers",
        )
        return None
    return values.reshape(*values.shape[:2], *size)


def _times(size: Size) -> str:
    return f"{size[0]}x{size[1]}"


def _written(size: Size, dimensions: int) -> str:
    return str(size[0]) if dimensions == 3 else _times(size)


def _bits(chosen: Chosen, values: NDArray[np.int64], parameters: Parameters, weights: Weights, device: Device) -> int:
    written: int | None = chosen.section.get("quantization")
    if written is not None:
        return written
    if weights.of_tests:
        return 8
    if device is MAX78002 and np.all(np.abs(values) == 1):
        return BINARY
    return parameters.bits if parameters.bits is not None else 8


def _cut(values: NDArray[np.int64], bits: int) -> NDArray[np.int64]:
    """Random weights in fewer bits than they were made with."""
    if bits == BINARY:
        return np.where(values >= 0, 1, -1)
    lowest, highest = (int(bound) + int(bound < 0) for bound in (values.min(), values.max()))
    needed = max(abs(lowest), abs(highest)).bit_length() + 1
    return values >> max(needed - bits, 0)


def _fits(values: NDArray[np.int64], bits: int) -> bool:
    if bits == BINARY:
        return bool(np.all(np.abs(values) == 1))
    return bool(values.min() >= -(1 << bits - 1) and values.max() < 1 << bits - 1)


def _range_of(bits: int) -> str:
    if bits == BINARY:
        return "binary weights are -1 or +1"
    return f"in {bits} bit{'s' * (bits > 1)}: {-(1 << bits - 1)} to {(1 << bits - 1) - 1}"


def _bias(chosen: Chosen, parameters: Parameters, channels: int, findings: Findings) -> NDArray[np.int8] | None:
    """Biases as they are stored; none where all are zero, as nothing is added then."""
    bias = parameters.bias
    if bias is None or not bias.any():
        return None
    if bias.size != channels:
        findings.refuse(
            chosen.section, "", f"'{parameters.name}' has {channels} channels and {bias.size} values of a bias"
        )
        return None
    if bias.min() < -128 or bias.max() > 127:
        findings.refuse(
            chosen.section,
            "",
            f"the bias of '{parameters.name}' reaches from {bias.min()} to {bias.max()}",
            rule="stored in 8 bits: -128 to 127",
            remedy="quantise the checkpoint again",
        )
        return None
    return bias.astype(np.int8)


def without_memory(chosen: Chosen, channels: int, outputs: int) -> Bound:
    """The kernel of a layer that bypasses the kernel memory: everything counts once."""
    groups = chosen.section.get("groups", 1)
    weights = np.ones((outputs, channels // groups, *chosen.kernel_size), np.int8)
    kernel = Kernel(weights, 8, None, chosen.kernel_size, chosen.stride, chosen.pad, chosen.dilation, groups)
    return Bound(replace(kernel, output_pad=chosen.output_pad), chosen.section.get("output_shift", 7))
