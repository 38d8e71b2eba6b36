"""Python files that describe networks, and the files of weights of networks in training."""

from __future__ import annotations

import importlib.util
import inspect
import traceback
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
import torch
from torch import nn

from buildtool.errors import ConfigError, LatheError, ModelFileError, Where
from buildtool.training.data import Data
from buildtool.training.layers import Elementwise, Fused, Pool
from buildtool.wording import did_you_mean


def made(file: Path, arch: str | None, data: Data) -> tuple[str, nn.Module]:
    """The name of an architecture in a Python file, and a network of it. The file is run."""
    if not file.is_file():
        raise ConfigError(f"there is no file '{file}'", rule="a Python file with a list `models`, as of ai8x-training")
    specification = importlib.util.spec_from_file_location(f"lathe_model_{file.stem}", file)
    assert specification is not None
    assert specification.loader is not None
    module = importlib.util.module_from_spec(specification)
    where = Where(file=str(file))
    try:
        specification.loader.exec_module(module)
        listed = [str(entry["name"]) for entry in getattr(module, "models", [])]
        name = arch or (listed[0] if len(listed) == 1 else "")
        if not name or not callable(getattr(module, name, None)):
            raise ConfigError(
                f"the file has no architecture '{name}'" if name else "the file has several architectures, or none",
                where=where,
                rule=f"in its list `models`: {', '.join(listed) or 'nothing'}",
                remedy=did_you_mean(name, listed) or "name one of them: --arch",
            )
        build = getattr(module, name)
        given = {
            "num_classes": data.classes,
            "num_channels": data.shape[0],
            "dimensions": data.shape[1:],
            "bias": True,
        }
        takes = inspect.signature(build).parameters
        if not any(one.kind is inspect.Parameter.VAR_KEYWORD for one in takes.values()):
            given = {key: value for key, value in given.items() if key in takes}
        network = build(**given)
    except LatheError:
        raise
    except Exception as error:  # whatever the user's file does
        line = next((frame.lineno for frame in reversed(traceback.extract_tb(error.__traceback__))
                     if frame.filename == str(file)), None)  # fmt: skip
        told = f"{type(error).__name__}: {error}"
        raise ConfigError(f"the file fails: {told}", where=Where(file=str(file), line=line or 0)) from error
    if not isinstance(network, nn.Module):
        raise ConfigError(f"'{name}' gives no network", where=where, rule="a torch.nn.Module")
    return name, network


def layers_of(network: nn.Module) -> dict[str, Fused]:
    """The layers with weights, by their names."""
    return {name: module for name, module in network.named_modules() if isinstance(module, Fused)}


def quantise(network: nn.Module, bits: Mapping[str, int], quantile: float = 1.0) -> None:
    """Every layer computes as on the chip from now on; normalisations become part of the weights."""
    for name, layer in layers_of(network).items():
        layer.fold()
        layer.quantise(bits[name], quantile)
    for module in network.modules():
        if isinstance(module, Pool | Elementwise):
            module.quantize_activation.fill_(1)


def save(file: Path, network: nn.Module, arch: str, epoch: int, more: Mapping[str, Any] | None = None) -> None:
    """A checkpoint, whole or not at all."""
    tree = {"epoch": epoch, "arch": arch, "state_dict": network.state_dict(), "extras": {}, **(more or {})}
    part = file.with_name(f"{file.name}.part")
    torch.save(tree, part)
    part.replace(file)


def load(file: Path, network: nn.Module) -> dict[str, Any]:
    """Give a network the weights of a checkpoint; what else is in the file. Nothing in the file is run."""
    where = Where(file=str(file))
    try:
        tree = torch.load(file, weights_only=True)
    except OSError as error:
        raise ModelFileError(f"cannot read the file: {error.strerror}", where=where) from None
    except Exception:  # pickle, zip and torch have errors of their own
        raise ModelFileError("this file is no checkpoint of PyTorch", where=where) from None
    state = tree.get("state_dict") if isinstance(tree, dict) else None
    if not isinstance(state, dict):
        raise ModelFileError("this file is not a checkpoint: it has no `state_dict`", where=where)
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
    return tree


def as_arrays(network: nn.Module) -> dict[str, Any]:
    """The weights for what needs no torch."""
    return {name: np.asarray(tensor.detach().cpu().numpy()) for name, tensor in network.state_dict().items()}
