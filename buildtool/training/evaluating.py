"""How often a trained network is right, and whether a simulator of the chip gives the same integers in every layer."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import nn

from buildtool.builders.package import write_file
from buildtool.errors import ConfigError, InternalError, ValidationError, Where
from buildtool.targets.max7800x.checkpoints import checkpoint, quantise_checkpoint, torch_writer
from buildtool.targets.max7800x.description import writing
from buildtool.targets.max7800x.devices import Device
from buildtool.targets.max7800x.network import Network
from buildtool.targets.max7800x.simulation.native_simulator import Simulator
from buildtool.tensors.files import npy
from buildtool.training import fitting, models, rules, tasks, tracing
from buildtool.training.data import Data
from buildtool.training.kpu import Conv2d, comparing, exporting
from buildtool.training.tasks import Task

_BATCH = 64
_MOST_CLASSES = 8192  # of which a table of all pairs is kept
CLASSES = Task()


@dataclass(frozen=True)
class Evaluated:
    """What came out."""

    arch: str
    bits: tuple[int, ...]  # of the layers with weights; 0: floats
    confusion: NDArray[np.int64]  # [label, answer]
    top: int
    right: int  # samples whose label is among the `top` largest outputs
    layers_compared: int = 0  # with the simulator, each over all samples: all were equal
    measure: str = tasks.MEASURES[tasks.CLASSES]
    value: float | None = None  # of other tasks than classes, which have no confusion
    samples: int = 0
    weight_bytes: int = 0  # of weights and biases of the MAX7800x

    def as_json(self) -> dict[str, Any]:
        return {
            "arch": self.arch,
            "weight_bits": list(self.bits),
            "weight_bytes": self.weight_bytes,
            "samples": self.samples,
            "measure": self.measure,
            "top": self.top,
            "accuracy": self.right / self.samples if self.value is None else self.value,
            "confusion": self.confusion.tolist(),
            "layers_compared": self.layers_compared,
        }


def loaded(file: Path, arch: str | None, data: Data, weights: Path, bits: int | None) -> tuple[str, nn.Module]:
    """A network with the weights of a checkpoint. `bits`: quantise floats after training."""
    torch.manual_seed(0)
    name, network = models.made(file, arch, data, models.arguments_of(weights))
    models.load(weights, network)
    if bits is not None:
        layers = models.layers_of(network)
        if any(layer.bits for layer in layers.values()):
            what = "the checkpoint was trained for its own bits"
            raise ConfigError(what, where=Where(file=str(weights)), remedy="leave out --bits")
        models.quantise(network, dict.fromkeys(layers, bits))
    return name, network.eval()


def evaluate(name: str, network: nn.Module, data: Data, *, top: int = 1, task: Task = CLASSES) -> Evaluated:
    """Over the held-out samples; of quantised networks with the integers of the chip."""
    of_k210 = exporting.is_of_k210(network)
    tasks.check(task, network, tracing.probe(network, data.shape), task.classes(data))
    if task.word == tasks.PRIORS:
        return _single_shot(name, network, data, task)
    scores = comparing.scores(network, data.test_samples) if of_k210 else outputs_of(network, data.test_samples)[-1]
    bits, size = _bits_and_bytes(network)
    count = len(data.test_labels)
    if task.word != tasks.CLASSES:
        value = tasks.measured(task, _real(network, scores), data)
        none = np.zeros((0, 0), np.int64)
        return Evaluated(name, bits, none, top, 0, measure=task.measure, value=value, samples=count, weight_bytes=size)
    scores = scores.reshape(count, -1)
    if scores.shape[1] > _MOST_CLASSES:
        raise ConfigError(
            f"{scores.shape[1]} outputs for the task 'classes'", rule=f"one for each class, at most {_MOST_CLASSES}",
            remedy="a plane for each class is the task 'pixels'; name the task in `models`",
        )  # fmt: skip
    if not 1 <= top <= scores.shape[1]:
        raise ConfigError(f"top {top} of {scores.shape[1]} answers", rule=f"1 to {scores.shape[1]}")
    answers = np.zeros((scores.shape[1], scores.shape[1]), np.int64)
    np.add.at(answers, (data.test_labels, scores.argmax(1)), 1)
    ranked = np.argsort(-scores, axis=1, kind="stable")[:, :top]
    right = int((ranked == data.test_labels[:, None]).any(1).sum())
    return Evaluated(name, bits, answers, top, right, samples=count, weight_bytes=size)


def _single_shot(name: str, network: nn.Module, data: Data, task: Task) -> Evaluated:
    """Of the network's own outputs, in double precision: those of the chip."""
    kind = next(network.parameters()).dtype
    try:
        value = fitting.measured(task, network.double(), data)
    finally:
        network.to(kind)
    bits, size = _bits_and_bytes(network)
    none, count = np.zeros((0, 0), np.int64), len(data.test_labels)
    return Evaluated(name, bits, none, 1, 0, measure=task.measure, value=value, samples=count, weight_bytes=size)


def _bits_and_bytes(network: nn.Module) -> tuple[tuple[int, ...], int]:
    """Bits of the layers with weights, and the bytes of the weights and biases of the MAX7800x; 0 for others."""
    known = {name: layer.bits for name, layer in models.layers_of(network).items()}
    bits = tuple(known.values())
    counts = all(bits) and not exporting.is_of_k210(network)
    return bits, models.weight_bytes(network, known) if counts else 0


def _real(network: nn.Module, scores: NDArray[Any]) -> NDArray[Any]:
    """The numbers that the last layer's integers stand for."""
    last = list(models.layers_of(network).values())[-1]
    if not last.bits:
        return scores
    if isinstance(last, Conv2d):
        return np.asarray(last.stored.real(scores)) if scores.dtype.kind == "i" else scores
    by = float(rules.DATA_FACTOR)
    return np.asarray(scores / (by * rules.factor(last.bits, last.power()) if last.wide else by))


def outputs_of(network: nn.Module, samples: NDArray[np.int64]) -> list[NDArray[Any]]:
    """What every layer of the chip puts out, for all samples: floats, or integers where the network is quantised."""
    steps = tracing.steps_of(network, samples.shape[1:])
    found: dict[str, list[NDArray[Any]]] = {step.name: [] for step in steps}  # of all calls in turns

    def keep(name: str) -> Any:
        return lambda module, arguments, output: found[name].append(_integers(module, output.detach()))

    hooks = [step.module.register_forward_hook(keep(step.name)) for step in steps if not step.call]
    calls = Counter(step.name for step in steps)
    kind = next(network.parameters()).dtype
    network.double().eval()  # in which the sums of the chips are exact
    try:
        with torch.no_grad():
            for start in range(0, len(samples), _BATCH):
                network(fitting.given(samples[start : start + _BATCH]).double())
    finally:
        network.to(kind)
        for hook in hooks:
            hook.remove()
    return [np.concatenate(found[step.name][step.call :: calls[step.name]]) for step in steps]


def _integers(module: Any, output: torch.Tensor) -> NDArray[Any]:
    """What the chip holds: of narrow outputs 128 times the value, of wide ones the sums."""
    if not bool(module.quantize_activation):
        return np.asarray(output.numpy())
    by = float(rules.DATA_FACTOR)
    if getattr(module, "wide", False):
        by *= rules.factor(module.bits, module.power())
    return np.asarray((output * by).round().to(torch.int64).numpy())


def chip_network(name: str, network: nn.Module, device: Device, shape: Sequence[int], scratch: Path) -> Network:
    """The network as the planner places it on a chip, with the weights that `lathe quantize` makes of it."""
    if not all(layer.bits for layer in models.layers_of(network).values()):
        raise ConfigError(
            "the weights are floats", rule="chips take integers", remedy="train with --qat-policy, or give --bits"
        )
    tree = {"epoch": 0, "arch": name, "extras": {}, "state_dict": models.as_arrays(network)}
    made = quantise_checkpoint.quantise(tree, quantise_checkpoint.Rule())
    file = scratch / f"{name}-q.pth.tar"
    file.write_bytes(torch_writer.packed(made.tree))
    steps = tracing.steps_of(network, shape)
    return tracing.network_of(name, steps, checkpoint.read(file), device, shape)


def compare(network: nn.Module, on_chip: Network, data: Data, library: Path) -> int:
    """The number of layers, whose integers are all equal to those of the simulator. ValidationError names the first
    that are not.
    """
    names = [step.title for step in tracing.steps_of(network, data.shape)]
    outputs = dict(zip(names, outputs_of(network, data.test_samples), strict=True))
    parts = {layer.index: _part(layer.name, outputs) for layer in on_chip.layers}
    missing = set(names) - {part[0] for part in parts.values() if part is not None}
    if missing:
        raise InternalError(f"the planner left out {', '.join(sorted(missing))}")
    simulator = Simulator(on_chip, library)
    for number, sample in enumerate(data.test_samples):
        trace = simulator.run(sample)
        for layer, expected in zip(on_chip.layers, trace.outputs, strict=True):
            part = parts[layer.index]
            if part is None:
                continue  # a copy, whose readers are compared
            name, channels = part
            if not np.array_equal(expected.reshape(-1), outputs[name][number][channels].reshape(-1)):
                raise ValidationError(
                    f"layer {layer.index} ({layer.name}) differs from the simulator for sample {number}",
                    where=Where(model=on_chip.name),
                    rule="training and the chip compute the same integers",
                    remedy="this is a defect of Lathe: please report it",
                )
    return len(outputs)


_SPLIT = re.compile(r"(.+), channels (\d+) to (\d+)")


def _part(name: str, outputs: Mapping[str, Any]) -> tuple[str, slice] | None:
    """Which layer of the network a layer of the chip computes, and which channels of it; None for copies."""
    if name in outputs:
        return name, slice(None)
    split = _SPLIT.fullmatch(name)
    if split is not None and split[1] in outputs:
        return split[1], slice(int(split[2]), int(split[3]) + 1)
    return None


def export(on_chip: Network, sample: NDArray[np.int64], folder: Path) -> tuple[Path, ...]:
    """A description with all places, its checkpoint and a sample, for this and for the manufacturer's tool."""
    written = writing.written(on_chip)
    files = (
        folder / f"{on_chip.name}.yaml",
        folder / f"{on_chip.name}-q.pth.tar",
        folder / f"{on_chip.name}-sample.npy",
    )
    contents = (written.description.encode(), written.checkpoint, npy(sample.astype(np.int64)))
    for file, content in zip(files, contents, strict=True):
        write_file(file, content)
    return files
