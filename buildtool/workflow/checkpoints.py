"""Checkpoints of trained weights become those of an accelerator: `lathe quantize --scheme`."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from buildtool.builders.package import write_file
from buildtool.errors import ConfigError
from buildtool.settings import CheckpointSettings
from buildtool.targets.protocol import CheckpointTarget
from buildtool.targets.registry import all_targets


@dataclass(frozen=True)
class CheckpointReport:
    """What was done to a checkpoint."""

    file: str
    output: str
    fused: tuple[str, ...]  # layers whose batch normalisation went into their weights
    layers: tuple[Mapping[str, Any], ...]
    left_out: tuple[str, ...]  # parts of the file that only programs need

    def as_json(self) -> dict[str, Any]:
        return {
            "file": self.file,
            "output": self.output,
            "fused": list(self.fused),
            "layers": [dict(layer) for layer in self.layers],
            "left_out": list(self.left_out),
        }


def scheme_target(scheme: str | None) -> CheckpointTarget:
    """The target of this name, where it takes checkpoints. ConfigError names those that do."""
    able = {name: target for name, target in all_targets().items() if isinstance(target, CheckpointTarget)}
    if scheme not in able:
        raise ConfigError(f"there is no scheme '{scheme}'", rule=f"one of: {', '.join(able)}")
    return able[scheme]


def quantize_checkpoint(scheme: str, file: Path, output: Path, settings: CheckpointSettings) -> CheckpointReport:
    """What the target of a scheme makes of a checkpoint, written."""
    if output.exists() and file.exists() and output.samefile(file):
        raise ConfigError("the result would replace the checkpoint", remedy="choose another --output")
    made = scheme_target(scheme).quantize_checkpoint(file, settings)
    write_file(output, made.data)
    return CheckpointReport(str(file), str(output), made.fused, made.layers, made.left_out)
