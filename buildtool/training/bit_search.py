"""Bits for every layer of a network in floats, so that its weights fit a memory and it stays right.

What each layer loses with fewer bits is measured by itself; the bits with the least sum of losses within the memory are
then found exactly. The best few of them are measured as a whole.
"""

from __future__ import annotations

import copy
import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import torch
from torch import nn

from buildtool.errors import ConfigError, UnsupportedError, Where
from buildtool.targets.max7800x.devices import Device
from buildtool.targets.max7800x.simulation.estimate import estimate
from buildtool.training import evaluating, fitting, models, policies, spaces
from buildtool.training.data import Data
from buildtool.training.fitting import Loss
from buildtool.training.tasks import Task

_SAMPLES = 512  # that losses are measured with
_QUANTILES = (1.0, 0.95, 0.9)
_MEASURED = 4  # candidates for each quantile


@dataclass(frozen=True)
class Bits:
    """What was found."""

    bits: Mapping[str, int]
    shift_quantile: float
    size: int  # bytes of weights and biases
    cycles: int
    loss: float  # over samples for training
    measure: str
    accuracy: float  # what that is for the held-out samples, without training
    measured: int  # networks that were measured as a whole
    sensitivity: Mapping[str, Mapping[int, float]]  # what each layer loses with so many bits, by itself

    def as_json(self) -> dict[str, Any]:
        return {
            "bits": dict(self.bits),
            "shift_quantile": self.shift_quantile,
            "weight_bytes": self.size,
            "cycles": self.cycles,
            "loss": self.loss,
            "measure": self.measure,
            "accuracy": self.accuracy,
            "measured": self.measured,
            "sensitivity": {layer: dict(losses) for layer, losses in self.sensitivity.items()},
        }


def search(
    name: str,
    network: nn.Module,
    data: Data,
    task: Task,
    device: Device,
    memory: int,
    allowed: Sequence[int],
    where: Where,
) -> Bits:
    """The bits of every layer with the smallest loss whose weights and biases take at most `memory` bytes.

    `data`: split as the task has it.
    """
    if any(layer.bits for layer in models.layers_of(network).values()):
        raise ConfigError("the checkpoint was trained for its own bits", where=where, rule="a checkpoint of floats")
    for layer in models.layers_of(network).values():
        layer.fold()
    least = models.weight_bytes(network, dict.fromkeys(models.layers_of(network), min(allowed)))
    if least > memory:
        raise UnsupportedError(
            f"the weights do not fit {memory} bytes",
            where=where,
            rule=f"with {min(allowed)} bits in every layer they take {least} bytes",
            remedy="more --weight-memory, fewer --weight-bits, or a smaller network",
        )
    loss_of = fitting.loss_of(task)
    found: list[tuple[float, float, dict[str, int], Mapping[str, Mapping[int, float]]]] = []
    biases = models.weight_bytes(network, dict.fromkeys(models.layers_of(network), 0))
    for quantile in _QUANTILES:
        losses = _sensitivity(network, data, loss_of, allowed, quantile)
        options = {
            layer: [
                spaces.Option(bits, -(-module.op.weight.numel() * bits // 8), losses[layer][bits]) for bits in allowed
            ]
            for layer, module in models.layers_of(network).items()
        }
        found += [
            (_loss(network, data, loss_of, bits, quantile), quantile, bits, losses)
            for bits in spaces.cheapest(options, memory - biases, _MEASURED)
        ]
    problem: UnsupportedError | None = None
    for loss, quantile, bits, lost in sorted(found, key=lambda one: (one[0], -one[1])):
        quantised = _quantised(network, bits, quantile)
        try:
            with tempfile.TemporaryDirectory() as scratch:
                on_chip = evaluating.chip_network(name, quantised, device, data.shape, Path(scratch))
        except UnsupportedError as caught:
            problem = problem or caught
            continue
        right = fitting.measured(task, quantised, data)
        size, cycles = models.weight_bytes(network, bits), estimate(on_chip).cycles
        return Bits(bits, quantile, size, cycles, loss, task.measure, right, len(found), lost)
    assert problem is not None
    raise problem


def policy(found: Bits, start_epoch: int) -> str:
    """As a file for `--qat-policy`."""
    return policies.text(found.bits, start_epoch, found.shift_quantile, found.size)


def _quantised(network: nn.Module, bits: Mapping[str, int], quantile: float) -> nn.Module:
    made = copy.deepcopy(network)
    models.quantise(made, bits, quantile)
    return made.eval()


def _loss(network: nn.Module, data: Data, loss_of: Loss, bits: Mapping[str, int], quantile: float) -> float:
    """Of samples for training."""
    samples, labels = data.samples[:_SAMPLES], data.labels[:_SAMPLES]
    with torch.no_grad():
        return float(loss_of(_quantised(network, bits, quantile), fitting.given(samples), torch.from_numpy(labels)))


def _sensitivity(
    network: nn.Module, data: Data, loss_of: Loss, allowed: Sequence[int], quantile: float
) -> dict[str, dict[int, float]]:
    """What each layer loses with so many bits while all others have the most."""
    most = dict.fromkeys(models.layers_of(network), max(allowed))
    base = _loss(network, data, loss_of, most, quantile)
    return {
        layer: {
            bits: 0.0 if bits == max(allowed) else _loss(network, data, loss_of, {**most, layer: bits}, quantile) - base
            for bits in allowed
        }
        for layer in most
    }
