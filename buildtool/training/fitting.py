"""Trains a network, epoch by epoch, so that a run that was killed continues with the same bits."""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import nn
from torch.nn import functional

from buildtool.builders.package import write_file
from buildtool.errors import ConfigError, Where
from buildtool.training import augmenting, distilling, models, policies, rules, single_shot, tasks, tracing
from buildtool.training.augmenting import Augmentation
from buildtool.training.data import Data
from buildtool.training.distilling import Distillation
from buildtool.training.policies import Policy
from buildtool.training.tasks import Task

Loss = Callable[[nn.Module, torch.Tensor, torch.Tensor], torch.Tensor]

_NARROW_GAIN = 8.0  # outputs within one are probabilities that differ too little


@dataclass(frozen=True)
class Settings:
    """How training goes. Equal settings give equal bits on one processor and one version of torch."""

    epochs: int = 40
    batch: int = 32
    rate: float = 3e-3
    seed: int = 0
    threads: int = 1
    policy: Policy | None = None
    policy_file: str = ""
    arguments: Mapping[str, Any] = field(default_factory=dict)  # of the function that makes the network
    distillation: Distillation | None = None
    augmentation: Augmentation | None = None


@dataclass(frozen=True)
class Epoch:
    """What an epoch led to."""

    number: int
    loss: float
    accuracy: float  # of the held-out samples
    quantised: bool


@dataclass
class Fitted:
    """The result of a run."""

    arch: str
    folder: Path
    history: list[Epoch] = field(default_factory=list)
    best: Epoch | None = None
    resumed: int = 0  # epochs of an earlier run
    measure: str = tasks.MEASURES[tasks.CLASSES]  # what `accuracy` is

    def as_json(self) -> dict[str, Any]:
        return {
            "arch": self.arch,
            "measure": self.measure,
            "checkpoint": str(self.checkpoint),
            "best": None if self.best is None else {**asdict(self.best), "checkpoint": str(self.best_checkpoint)},
            "resumed": self.resumed,
            "epochs": [asdict(epoch) for epoch in self.history],
        }

    @property
    def checkpoint(self) -> Path:
        return self.folder / f"{self.arch}.pth.tar"

    @property
    def best_checkpoint(self) -> Path:
        return self.folder / f"{self.arch}-best.pth.tar"


def fit(
    file: Path,
    arch: str | None,
    data: Data,
    settings: Settings,
    folder: Path,
    *,
    resume: bool = False,
    told: Callable[[str], None] = lambda _: None,
    after: Callable[[Fitted], None] = lambda _: None,
) -> Fitted:
    """Train, and write a checkpoint, the best one and the history after every epoch; `after` is called then, too."""
    torch.use_deterministic_algorithms(True)
    torch.utils.deterministic.fill_uninitialized_memory = False  # nothing reads it
    torch.set_num_threads(settings.threads)
    torch.manual_seed(settings.seed)
    task = models.task(file, arch, data)
    data = task.split(data)
    name, network = models.made(file, arch, data, settings.arguments)
    tasks.check(task, network, tracing.probe(network, data.shape), task.classes(data))
    if settings.augmentation is not None:
        moved = "boxes" if data.has_boxes else "labels of pixels" if data.has_masks else ""
        augmenting.check(settings.augmentation, moved=moved, shape=data.shape)
    layers = models.layers_of(network)
    if settings.policy is not None:
        policies.check_layers(settings.policy, list(layers), settings.policy_file)
    learned = _learned(task, settings, file, data)
    fitted = Fitted(name, folder, measure=task.measure)
    folder.mkdir(parents=True, exist_ok=True)
    known = given(data.samples), torch.from_numpy(data.labels)
    begin, state = 0, None
    if resume:
        if not fitted.checkpoint.is_file():
            raise ConfigError("there is no run to resume", where=Where(file=str(fitted.checkpoint)))
        begin, state = _resumed(fitted, network, settings)
    optimiser = _optimiser(network, settings)
    if state is not None:
        optimiser.load_state_dict(state)
    for number in range(begin, settings.epochs):
        policy = settings.policy
        if policy is not None and number == policy.start_epoch:
            _begin_quantisation(network, policy)
            optimiser = _optimiser(network, settings)
        loss = _epoch(network, optimiser, known, settings, number, learned)
        quantised = any(layer.bits for layer in layers.values())
        epoch = Epoch(number, loss, measured(task, network, data), quantised)
        fitted.history.append(epoch)
        best = fitted.best
        if best is None or (epoch.quantised, epoch.accuracy) > (best.quantised, best.accuracy):
            fitted.best = epoch
            models.save(fitted.best_checkpoint, network, name, number, settings.arguments)
        kept = {"optimizer": optimiser.state_dict(), "settings": _comparable(settings), "history": _history(fitted)}
        models.save(fitted.checkpoint, network, name, number, settings.arguments, kept)
        write_file(folder / f"{name}.json", (json.dumps(fitted.as_json(), indent=1) + "\n").encode())
        after(fitted)
        kind = "quantised" if quantised else "floats"
        told(f"epoch {number + 1} of {settings.epochs}: loss {loss:.4f}, {task.measure} {epoch.accuracy:.2%}, {kind}")
    return fitted


def _comparable(settings: Settings) -> dict[str, Any]:
    policy, teacher = settings.policy, settings.distillation
    found: dict[str, Any] = {key: getattr(settings, key) for key in ("epochs", "batch", "rate", "seed", "threads")}
    found["policy"] = None if policy is None else {**asdict(policy), "overrides": dict(policy.overrides)}
    if settings.arguments:
        found["arguments"] = dict(settings.arguments)
    if teacher is not None:
        found["distillation"] = teacher.as_json()
    if settings.augmentation is not None:
        found["augmentation"] = asdict(settings.augmentation)
    return found


def _history(fitted: Fitted) -> dict[str, Any]:
    return {
        "epochs": [asdict(epoch) for epoch in fitted.history],
        "best": None if fitted.best is None else asdict(fitted.best),
    }


def _resumed(fitted: Fitted, network: nn.Module, settings: Settings) -> tuple[int, Mapping[str, Any]]:
    """Continue behind the last whole epoch; with which number, and the state of the optimiser."""
    tree = models.load(fitted.checkpoint, network)
    where = Where(file=str(fitted.checkpoint))
    earlier, now = tree.get("settings"), _comparable(settings)
    if not isinstance(earlier, dict):
        raise ConfigError("this checkpoint cannot be continued", where=where, rule="`lathe train fit` wrote it")
    changed = sorted(key for key in {*now, *earlier} if earlier.get(key) != now.get(key))
    if changed:
        told = ", ".join(f"{key} was {earlier.get(key)}" for key in changed)
        raise ConfigError(
            f"the run had other settings: {told}", where=where, remedy="repeat them, or start a run in another --output"
        )
    fitted.history = [Epoch(**epoch) for epoch in tree["history"]["epochs"]]
    fitted.best = Epoch(**tree["history"]["best"])
    fitted.resumed = len(fitted.history)
    return int(tree["epoch"]) + 1, tree["optimizer"]


def _optimiser(network: nn.Module, settings: Settings) -> torch.optim.Optimizer:
    return torch.optim.Adam(network.parameters(), lr=settings.rate)


def _begin_quantisation(network: nn.Module, policy: Policy) -> None:
    layers = models.layers_of(network)
    models.quantise(network, {name: policy.bits_of(name) for name in layers}, policy.shift_quantile)
    for layer in layers.values():
        layer.remove_outliers(policy.outlier_removal_z_score)


def _epoch(
    network: nn.Module,
    optimiser: torch.optim.Optimizer,
    known: tuple[torch.Tensor, torch.Tensor],
    settings: Settings,
    number: int,
    loss_of: Loss,
) -> float:
    """The mean loss. All that is random follows from the seed and the number of the epoch."""
    torch.manual_seed(settings.seed * 100_003 + number)
    order = np.random.default_rng((settings.seed, number)).permutation(len(known[1]))
    starts = range(0, max(len(order) - settings.batch + 1, 1), settings.batch)
    total, steps = 0.0, settings.epochs * len(starts)
    network.train()
    for at, start in enumerate(starts):
        rate = settings.rate * 0.5 * (1 + math.cos(math.pi * (number * len(starts) + at) / steps))
        for group in optimiser.param_groups:
            group["lr"] = rate
        chosen = torch.from_numpy(order[start : start + settings.batch])
        samples, labels = known[0][chosen], known[1][chosen]
        if settings.augmentation is not None:
            samples = settings.augmentation(samples)
        loss = loss_of(network, samples, labels)
        optimiser.zero_grad()
        loss.backward()
        optimiser.step()
        total += float(loss.detach())
    return total / len(starts)


def _learned(task: Task, settings: Settings, file: Path, data: Data) -> Loss:
    """The loss of the task, or with a teacher."""
    if settings.distillation is None:
        return loss_of(task)
    if task.word != tasks.CLASSES:
        raise ConfigError(f"a teacher for the task '{task.word}'", rule="distillation is for classes")
    of_classes = distilling.loss_of(settings.distillation, file, data, logits)
    return lambda network, samples, labels: of_classes(samples, logits(network, samples), labels)


def loss_of(task: Task) -> Loss:
    """The loss of samples and of what is known of them."""
    if task.word == tasks.CLASSES:
        return lambda network, samples, labels: functional.cross_entropy(logits(network, samples), labels)
    if task.word == tasks.BOXES:
        return lambda network, samples, truths: tasks.loss_of_boxes(task, network(samples), truths)
    if task.word == tasks.PRIORS:
        return lambda network, samples, truths: single_shot.loss_of(network, _both(network, samples), truths)
    if task.word == tasks.PIXELS:
        return lambda network, samples, labels: tasks.loss_of_pixels(_spread(network, network(samples)), labels)
    if task.word == tasks.REBUILD:
        return lambda network, samples, labels: tasks.loss_of_rebuilding(network(samples), samples)
    return lambda network, samples, labels: tasks.loss_of_embeddings(network(samples), labels)


def logits(network: nn.Module, values: torch.Tensor) -> torch.Tensor:
    """What the loss is computed of."""
    return _spread(network, network(values).reshape(len(values), -1))


def _both(network: nn.Module, samples: torch.Tensor) -> single_shot.Outputs:
    """Places and scores."""
    places, scores = network(samples)
    return _spread(network, places), _spread(network, scores)


def _spread(network: nn.Module, outputs: torch.Tensor) -> torch.Tensor:
    wide = any(layer.wide for layer in models.layers_of(network).values())
    return outputs if wide else outputs * _NARROW_GAIN


def given(samples: NDArray[np.int64]) -> torch.Tensor:
    """Samples as networks in training take them."""
    return torch.from_numpy(samples.astype(np.float32)) / rules.DATA_FACTOR


def measured(task: Task, network: nn.Module, data: Data) -> float:
    """Of the held-out samples: what the task is measured by."""
    network.eval()
    kind = next(network.parameters()).dtype
    with torch.no_grad():
        samples = given(data.test_samples).to(kind)
        if task.word == tasks.PRIORS:
            both = [one.numpy() for one in _both(network, samples)]
            return tasks.mean_average_precision(single_shot.all_boxes(network, both), data.test_labels)
        outputs = network(samples).numpy()
    return tasks.measured(task, outputs, data)
