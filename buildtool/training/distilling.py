"""Knowledge distillation: a network also learns the probabilities that a larger one, its teacher, gives."""

from __future__ import annotations

import hashlib
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import torch
from torch import nn
from torch.nn import functional

from buildtool.errors import ConfigError, Where
from buildtool.training import models
from buildtool.training.data import Data


@dataclass(frozen=True)
class Distillation:
    """Which teacher, and what it counts. The names and defaults are those of ai8x-training (`--kd-...`)."""

    teacher: str  # architecture of the same model file, or of `file`
    checkpoint: Path
    temperature: float = 1.0
    distill_weight: float = 0.5
    student_weight: float = 0.5
    file: Path | None = None

    def as_json(self) -> dict[str, Any]:
        """What decides the result."""
        return {
            "teacher": hashlib.sha256(self.checkpoint.read_bytes()).hexdigest(),
            "temperature": self.temperature,
            "weights": [self.distill_weight, self.student_weight],
        }


Logits = Callable[[nn.Module, torch.Tensor], torch.Tensor]
Loss = Callable[[torch.Tensor, torch.Tensor, torch.Tensor], torch.Tensor]


def loss_of(distillation: Distillation, file: Path, data: Data, logits: Logits) -> Loss:
    """The loss of samples, of what the network puts out for them, and of their labels."""
    state = torch.get_rng_state()  # the teacher changes nothing of what is random in training
    own = distillation.file or file
    arguments = models.arguments_of(distillation.checkpoint)
    _, teacher = models.made(own, distillation.teacher, data, arguments)
    models.load(distillation.checkpoint, teacher)
    torch.set_rng_state(state)
    teacher.eval()
    answers = logits(teacher, torch.zeros(1, *data.shape)).shape[1]
    heat = distillation.temperature

    def loss(samples: torch.Tensor, outputs: torch.Tensor, labels: torch.Tensor) -> torch.Tensor:
        if outputs.shape[1] != answers:
            raise ConfigError(
                f"the teacher gives {answers} answers, the network {outputs.shape[1]}",
                where=Where(file=str(distillation.checkpoint)),
            )
        with torch.no_grad():
            soft = functional.softmax(logits(teacher, samples) / heat, dim=1)
        own_soft = functional.log_softmax(outputs / heat, dim=1)
        learned = functional.kl_div(own_soft, soft, reduction="batchmean") * heat * heat
        own_loss = functional.cross_entropy(outputs, labels)
        return distillation.distill_weight * learned + distillation.student_weight * own_loss

    return loss
