"""Python files that describe networks, and the files of weights of networks in training."""

from __future__ import annotations

import importlib.util
import inspect
import sys
import traceback
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np
import torch
from torch import nn

from buildtool.errors import ConfigError, LatheError, ModelFileError, Where
from buildtool.training import ai8x, spaces, tasks
from buildtool.training.data import Data
from buildtool.training.kpu import Conv2d, exporting, joining
from buildtool.training.layers import Elementwise, Fused, Pool
from buildtool.training.tasks import Task
from buildtool.wording import did_you_mean


def made(file: Path, arch: str | None, data: Data, arguments: Mapping[str, Any] | None = None) -> tuple[str, nn.Module]:
    """The name of an architecture in a Python file, and a network of it. The file is run.

    `arguments`: what the function of that name is given besides.
    """
    where = Where(file=str(file))
    module, name, entry = _found(file, arch)
    classes = tasks.of(entry, data, Where(file=str(file), node=name)).classes(data)
    with _told(file):
        network = getattr(module, name)(**_arguments(getattr(module, name), data, classes, arguments or {}, where))
    if not isinstance(network, nn.Module):
        raise ConfigError(f"'{name}' gives no network", where=where, rule="a torch.nn.Module")
    if exporting.is_of_k210(network):
        exporting.link(network)
    return name, network


@contextmanager
def _told(file: Path) -> Iterator[None]:
    """ConfigError with the line of whatever the user's file does wrong."""
    try:
        yield
    except LatheError:
        raise
    except Exception as error:
        line = next((frame.lineno for frame in reversed(traceback.extract_tb(error.__traceback__))
                     if frame.filename == str(file)), None)  # fmt: skip
        told = f"{type(error).__name__}: {error}"
        raise ConfigError(f"the file fails: {told}", where=Where(file=str(file), line=line or 0)) from error


def task(file: Path, arch: str | None, data: Data) -> Task:
    """What the outputs of an architecture are to mean."""
    _, name, entry = _found(file, arch)
    return tasks.of(entry, data, Where(file=str(file), node=name))


def space(file: Path, arch: str | None) -> tuple[str, spaces.Choices]:
    """The name of an architecture, and what a search may choose for it."""
    module, name, entry = _found(file, arch)
    choices = spaces.read(entry, Where(file=str(file), node=name))
    takes = inspect.signature(getattr(module, name)).parameters
    unknown = [key for key in choices if key not in takes]
    if unknown:
        raise ConfigError(
            f"`search` names '{unknown[0]}', which '{name}' does not take",
            where=Where(file=str(file)),
            rule=f"its arguments: {', '.join(takes)}",
            remedy=did_you_mean(unknown[0], takes),
        )
    return name, choices


def _found(file: Path, arch: str | None) -> tuple[Any, str, Mapping[str, Any]]:
    """The file as a module, the name of the architecture, and its entry in `models`."""
    if not file.is_file():
        raise ConfigError(f"there is no file '{file}'", rule="a Python file with a list `models`, as of ai8x-training")
    specification = importlib.util.spec_from_file_location(f"lathe_model_{file.stem}", file)
    assert specification is not None
    assert specification.loader is not None
    module = importlib.util.module_from_spec(specification)
    sys.modules.setdefault("ai8x", ai8x)
    # `ai8x_blocks` of ai8x-training is in the folder above that of the models.
    beside = [str(folder) for folder in (file.resolve().parent, file.resolve().parent.parent)]
    sys.path.extend(beside)
    try:
        with _told(file):
            specification.loader.exec_module(module)
    finally:
        for folder in beside:
            sys.path.remove(folder)
    entries = {str(entry["name"]): entry for entry in getattr(module, "models", [])}
    name = arch or (next(iter(entries)) if len(entries) == 1 else "")
    if not name or not callable(getattr(module, name, None)):
        raise ConfigError(
            f"the file has no architecture '{name}'" if name else "the file has several architectures, or none",
            where=Where(file=str(file)),
            rule=f"in its list `models`: {', '.join(entries) or 'nothing'}",
            remedy=did_you_mean(name, entries) or "name one of them: --arch",
        )
    return module, name, entries.get(name, {})


def _arguments(build: Any, data: Data, classes: int, more: Mapping[str, Any], where: Where) -> dict[str, Any]:
    """What the function is given: what it takes of what follows from the samples, and what the caller adds."""
    known = {"num_classes": classes, "num_channels": data.shape[0], "dimensions": data.shape[1:], "bias": True}
    takes = inspect.signature(build).parameters
    if any(one.kind is inspect.Parameter.VAR_KEYWORD for one in takes.values()):
        return {**known, **more}
    unknown = [key for key in more if key not in takes]
    if unknown:
        raise ConfigError(
            f"'{build.__name__}' does not take '{unknown[0]}'",
            where=where,
            rule=f"its arguments: {', '.join(takes)}",
            remedy=did_you_mean(unknown[0], takes),
        )
    return {**{key: value for key, value in known.items() if key in takes}, **more}


def layers_of(network: nn.Module) -> dict[str, Fused | Conv2d]:
    """The layers with weights that accelerators compute, by their names."""
    return {name: module for name, module in network.named_modules() if isinstance(module, Fused | Conv2d)}


def weight_bytes(network: nn.Module, bits: Mapping[str, int]) -> int:
    """Of the weights with so many bits in each layer, and of the biases."""
    total = 0
    for name, layer in layers_of(network).items():
        total += -(-layer.op.weight.numel() * bits[name] // 8)
        total += 0 if layer.op.bias is None else layer.op.bias.numel()
    return total


def quantise(network: nn.Module, bits: Mapping[str, int], quantile: float = 1.0) -> None:
    """Every layer computes as on the chip from now on; normalisations become part of the weights."""
    for name, layer in layers_of(network).items():
        layer.fold()
        layer.quantise(bits[name], quantile)
    for module in network.modules():
        if isinstance(module, Pool | Elementwise):
            module.quantize_activation.fill_(1)
    joining.quantise(network)


def save(
    file: Path,
    network: nn.Module,
    arch: str,
    epoch: int,
    arguments: Mapping[str, Any],
    more: Mapping[str, Any] | None = None,
) -> None:
    """A checkpoint, whole or not at all. `arguments`: what `made` was given."""
    extras = {"arguments": dict(arguments)} if arguments else {}
    tree = {"epoch": epoch, "arch": arch, "state_dict": network.state_dict(), "extras": extras, **(more or {})}
    part = file.with_name(f"{file.name}.part")
    torch.save(tree, part)
    part.replace(file)


def arguments_of(file: Path) -> dict[str, Any]:
    """What the network of a checkpoint was made with."""
    extras = _tree(file).get("extras")
    found = extras.get("arguments") if isinstance(extras, dict) else None
    return dict(found) if isinstance(found, dict) else {}


def _tree(file: Path) -> dict[str, Any]:
    """What is in a checkpoint. Nothing in it is run."""
    where = Where(file=str(file))
    try:
        tree = torch.load(file, weights_only=True)
    except OSError as error:
        raise ModelFileError(f"cannot read the file: {error.strerror}", where=where) from None
    except Exception:  # pickle, zip and torch have errors of their own
        raise ModelFileError("this file is no checkpoint of PyTorch", where=where) from None
    if not isinstance(tree, dict) or not isinstance(tree.get("state_dict"), dict):
        raise ModelFileError("this file is not a checkpoint: it has no `state_dict`", where=where)
    return tree


def load(file: Path, network: nn.Module) -> dict[str, Any]:
    """Give a network the weights of a checkpoint; what else is in the file."""
    where = Where(file=str(file))
    tree = _tree(file)
    state = tree["state_dict"]
    for name, layer in layers_of(network).items():
        if f"{name}.bn.running_mean" not in state and layer.bn is not None:
            layer.bn = None
            if layer.op.bias is None and f"{name}.op.bias" in state:
                layer.op.bias = nn.Parameter(torch.zeros(layer.op.weight.shape[0]))
    try:
        network.load_state_dict(state)
    except RuntimeError as error:
        first = str(error).split("\n")[1:2] or [str(error)]
        what = f"the checkpoint is of another network: {first[0].strip()}"
        raise ModelFileError(what, where=where, remedy="name its architecture: --arch") from None
    if any(layer.bits for layer in layers_of(network).values()):
        for module in network.modules():
            if isinstance(module, Pool | Elementwise):
                module.quantize_activation.fill_(1)
        joining.quantise(network)
    return tree


def as_arrays(network: nn.Module) -> dict[str, Any]:
    """The weights for what needs no torch."""
    return {name: np.asarray(tensor.detach().cpu().numpy()) for name, tensor in network.state_dict().items()}
