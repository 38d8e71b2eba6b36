"""`lathe train`: what needs torch is imported here, and nowhere before."""

from __future__ import annotations

import importlib.util
import tempfile
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from buildtool.builders.device_simulators import device_simulator
from buildtool.builders.objects import ObjectCache
from buildtool.errors import ConfigError, ToolchainError
from buildtool.targets.max7800x import TARGET
from buildtool.targets.max7800x.devices import DEVICES, Device
from buildtool.training import data, policies


@dataclass(frozen=True)
class FitSettings:
    """The settings of training, without torch."""

    epochs: int
    batch: int
    rate: float
    seed: int
    threads: int


def fit(
    model: Path,
    arch: str | None,
    samples: str,
    settings: FitSettings,
    folder: Path,
    *,
    policy: Path | None,
    resume: bool,
    told: Callable[[str], None],
) -> dict[str, Any]:
    """Train a network; what `lathe train fit --json` prints."""
    chosen = None if policy is None else policies.read(policy)
    if chosen is not None and chosen.start_epoch >= settings.epochs:
        what = f"quantisation begins with epoch {chosen.start_epoch}, and there are {settings.epochs}"
        raise ConfigError(what, rule="`start_epoch` counts from 0", remedy="give more --epochs")
    _require_torch()
    from buildtool.training import fitting

    asked = fitting.Settings(**vars(settings), policy=chosen, policy_file=str(policy or ""))
    fitted = fitting.fit(model, arch, data.read(samples), asked, folder, resume=resume, told=told)
    return fitted.as_json()


def evaluate(
    model: Path, arch: str | None, samples: str, checkpoint: Path, *, bits: int | None, top: int, abi: str | None
) -> dict[str, Any]:
    """The accuracy; with `abi` also whether every layer equals that of the chip's simulator."""
    device = None if abi is None else _device(abi)
    _require_torch()
    from dataclasses import replace

    from buildtool.training import evaluating

    held = data.read(samples)
    name, network = evaluating.loaded(model, arch, held, checkpoint, bits)
    found = evaluating.evaluate(name, network, held, top=top)
    if device is not None:
        with tempfile.TemporaryDirectory() as scratch:
            on_chip = evaluating.chip_network(name, network, device, held.shape, Path(scratch))
        library = device_simulator(TARGET.simulator, ObjectCache())
        found = replace(found, layers_compared=evaluating.compare(network, on_chip, held, library))
    return found.as_json()


def export(
    model: Path, arch: str | None, samples: str, checkpoint: Path, folder: Path, *, bits: int | None, abi: str
) -> tuple[Path, ...]:
    """The files for `lathe build`."""
    device = _device(abi)
    _require_torch()
    from buildtool.training import evaluating

    held = data.read(samples)
    name, network = evaluating.loaded(model, arch, held, checkpoint, bits)
    with tempfile.TemporaryDirectory() as scratch:
        on_chip = evaluating.chip_network(name, network, device, held.shape, Path(scratch))
    return evaluating.export(on_chip, held.test_samples[0], folder)


def _device(abi: str) -> Device:
    if abi not in DEVICES:
        raise ConfigError(f"there is no training for '{abi}'", rule=f"--abi: {', '.join(DEVICES)}")
    return DEVICES[abi]


def _require_torch() -> None:
    if importlib.util.find_spec("torch") is None:
        raise ToolchainError("training needs torch, which is not installed", remedy='pip install "lathe-build[train]"')
