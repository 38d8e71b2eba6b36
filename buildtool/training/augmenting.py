"""Samples that are changed a little, in another way each time that training sees them."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from buildtool.errors import ConfigError
from buildtool.training import rules

if TYPE_CHECKING:
    import torch

_RULE = (
    "a comma-separated list of flip (left and right), shift=N (up to N pixels or steps, at most 128), noise=N (its "
    "standard deviation, of 256 levels), gain=SHARE (at most 1)"
)
_NUMBERS: Mapping[str, tuple[Callable[[str], float], int]] = {
    "shift": (int, 128),
    "noise": (float, 128),
    "gain": (float, 1),
}
_PLANES = 4  # the rank of a batch of pictures


@dataclass(frozen=True)
class Augmentation:
    """How samples are changed. What leaves the range of the chip's integers stops at its ends."""

    flip: bool = False
    shift: int = 0
    noise: float = 0.0
    gain: float = 0.0

    @property
    def moves(self) -> bool:
        """Whether it moves what boxes and labels of pixels point to."""
        return self.flip or self.shift > 0

    def __call__(self, samples: torch.Tensor) -> torch.Tensor:
        """Of a batch of samples; all that is random comes from torch's own generator."""
        import torch

        count, spatial = len(samples), range(2, samples.dim())
        if self.flip:
            turned = (torch.rand(count) < 0.5).reshape(-1, *[1] * (samples.dim() - 1))
            samples = torch.where(turned, samples.flip(-1), samples)
        for axis in spatial if self.shift else ():
            steps = torch.randint(-self.shift, self.shift + 1, (count, 1))
            size = samples.shape[axis]
            places = (torch.arange(size) + steps).clamp(0, size - 1)  # behind an edge, the edge goes on
            shape = [count, *[1] * (samples.dim() - 1)]
            shape[axis] = size
            samples = torch.gather(samples, axis, places.reshape(shape).expand(samples.shape))
        values = samples * rules.DATA_FACTOR
        if self.gain:
            factors = 1 + self.gain * (2 * torch.rand(count) - 1)
            values = values * factors.reshape(-1, *[1] * (samples.dim() - 1))
        if self.noise:
            values = values + self.noise * torch.randn(values.shape)
        return values.round().clamp(rules.LOWEST, rules.HIGHEST) / rules.DATA_FACTOR


def parsed(text: str) -> Augmentation:
    """The argument of --augment."""
    found: dict[str, Any] = {}
    for word in (part.strip() for part in text.split(",")):
        name, _, number = word.partition("=")
        if word == "flip":
            found[word] = True
            continue
        kind, most = _NUMBERS.get(name, (float, 0))
        try:
            value = kind(number)
        except ValueError:
            value = math.nan
        if name not in _NUMBERS or not 0 <= value <= most:
            raise ConfigError(f"--augment cannot have '{word}'", rule=_RULE)
        found[name] = value
    return Augmentation(**found)


def check(augmentation: Augmentation, *, moved: str, shape: tuple[int, ...]) -> None:
    """Refuses what does not fit the samples. `moved`: labels that name places of a sample, empty where none does."""
    if moved and augmentation.moves:
        raise ConfigError(f"--augment moves samples, and their {moved} stay", rule="of them, noise and gain alone")
    if augmentation.flip and len(shape) + 1 < _PLANES:
        raise ConfigError("--augment flip of samples of one dimension", rule="flip is for pictures")
