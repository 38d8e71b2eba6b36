"""Whether training and the simulator of a kmodel compute the same bytes in every layer."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import nn

from buildtool.errors import InternalError, ValidationError, Where
from buildtool.targets.k210.format.cpu_layers import QAdd, QConcat, Requantize
from buildtool.targets.k210.format.kpu_layers import Conv
from buildtool.targets.k210.generation.generate import Generated
from buildtool.targets.k210.simulation import intermediates
from buildtool.targets.k210.simulation.simulator import Simulator
from buildtool.training import rules
from buildtool.training.kpu import exporting
from buildtool.training.kpu.joining import Concat
from buildtool.training.kpu.layers import Conv2d, Stored

_BATCH = 64
_FLOATS = 1e-5  # of the largest: layers of the CPU add up in another order than torch
_ZERO = 128  # the byte of a sample of 0


def outputs_of(network: nn.Module, samples: NDArray[np.int64]) -> dict[str, NDArray[Any]]:
    """By layer: bytes of the KPU where the network is quantised, floats of the CPU. Of floats, the result alone."""
    quantised = any(module.bits for module in network.modules() if isinstance(module, Conv2d))
    found: dict[str, list[NDArray[Any]]] = {}

    def keep(name: str) -> Any:
        return lambda module, arguments, output: found.setdefault(name, []).append(_taken(module, output))

    steps = exporting.steps_of(network, samples.shape[1:])
    kept = steps if quantised else steps[-1:]
    hooks = [step.module.register_forward_hook(keep(step.name)) for step in kept]
    network.eval()
    try:
        with torch.no_grad():
            for start in range(0, len(samples), _BATCH):
                values = torch.from_numpy(samples[start : start + _BATCH].astype(np.float32)) / rules.DATA_FACTOR
                network(values)
    finally:
        for hook in hooks:
            hook.remove()
    return {step.name: np.concatenate(found[step.name]) for step in kept}


def _taken(module: nn.Module, output: torch.Tensor) -> NDArray[Any]:
    if isinstance(module, Stored) and module.quantised:
        stored = module.stored
        return np.asarray(torch.round(output.double() / stored.scale).long().numpy() + stored.zero_point)
    return np.asarray(output.numpy())


def compare(name: str, network: nn.Module, samples: NDArray[np.int64]) -> tuple[Generated, int]:
    """The kmodel, and the number of layers whose bytes all equal those of its simulator. ValidationError names the
    first that do not.
    """
    made = exporting.generated(name, network, samples.shape[1:])
    outputs = outputs_of(network, samples)
    steps = exporting.steps_of(network, samples.shape[1:])
    of_kpu = {step.name for step in steps if isinstance(step.module, Stored)}
    inner = {step.name for step in steps if isinstance(step.module, Concat)}  # those in others are merged with them
    places = exporting.places_of(name, network, samples.shape[1:])
    last = steps[-1].name
    simulator = Simulator(made.model)
    for number, sample in enumerate(samples):
        seen = _seen(simulator, made, places, (sample.reshape(-1) + _ZERO).astype(np.uint8).tobytes())
        if not of_kpu - inner <= set(seen) <= of_kpu:
            raise InternalError(f"the kmodel has the layers {', '.join(seen)}, the network {', '.join(of_kpu)}")
        for layer, planes in seen.items():
            expected = outputs[layer][number]
            if not np.array_equal(np.concatenate(planes).reshape(expected.shape), expected):
                raise _differs(name, layer, number)
        if last not in of_kpu:
            address = made.model.outputs[0]
            floats = simulator.main.f32(address.address, address.size // 4)
            expected = outputs[last][number].reshape(-1)
            if np.abs(floats - expected).max() > _FLOATS * max(float(np.abs(expected).max()), 1.0):
                raise _differs(name, last, number)
    return made, len(of_kpu)


def _seen(
    simulator: Simulator, made: Generated, places: Mapping[str, str], data: bytes
) -> dict[str, list[NDArray[Any]]]:
    """The bytes of each layer in the order in which they run; those of the KPU in the parts that it is split into."""
    seen: dict[str, list[NDArray[Any]]] = {}
    simulator.load(data)
    for layer, tensor in zip(made.model.layers, made.tensors, strict=True):
        simulator.step(layer)
        if isinstance(layer, Conv):
            seen.setdefault(places[tensor], []).append(intermediates.planes(simulator, layer))
        elif isinstance(layer, QAdd | QConcat | Requantize) and tensor in places:
            for part in layer.writes():
                seen.setdefault(places[tensor], [simulator.main.u8(part.start, part.bytes)])
    return seen


def _differs(network: str, layer: str, sample: int) -> ValidationError:
    return ValidationError(
        f"layer '{layer}' differs from the simulator for sample {sample}",
        where=Where(model=network),
        rule="training and the kmodel compute the same bytes",
        remedy="this is a defect of Lathe: please report it",
    )


def scores(network: nn.Module, samples: NDArray[np.int64]) -> NDArray[Any]:
    """What the network puts out."""
    *_, found = outputs_of(network, samples).values()
    return found
