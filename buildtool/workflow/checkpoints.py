"""Checkpoints of PyTorch become those of an accelerator: `lathe quantize --scheme`."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

from buildtool.builders.package import write_file
from buildtool.errors import ConfigError
from buildtool.settings import CheckpointSettings
from buildtool.targets.max7800x.checkpoints import fuse_batch_norm, torch_archive, torch_writer
from buildtool.targets.max7800x.checkpoints.quantise_checkpoint import QuantisedLayer, Rule, quantise
from buildtool.targets.max7800x.description.weight_bits import weight_bits


@dataclass(frozen=True)
class CheckpointReport:
    """What was done to a checkpoint."""

    file: str
    output: str
    fused: tuple[str, ...]  # layers whose batch normalisation went into their weights
    layers: tuple[QuantisedLayer, ...]
    left_out: tuple[str, ...]  # parts of the file that only programs need

    def as_json(self) -> dict[str, Any]:
        return {
            "file": self.file,
            "output": self.output,
            "fused": list(self.fused),
            "layers": [layer.as_json() for layer in self.layers],
            "left_out": list(self.left_out),
        }


def quantize_checkpoint(file: Path, output: Path, settings: CheckpointSettings) -> CheckpointReport:
    """Fuse batch normalisation where that is asked for, quantise unless only that is, and write the result."""
    if output.exists() and file.exists() and output.samefile(file):
        raise ConfigError("the checkpoint would be replaced by its result", remedy="name another --output")
    rule = Rule(settings.method, settings.scale, settings.deviations)
    bits = weight_bits(settings.description) if settings.description is not None else ()
    tree = torch_archive.read(file)
    fused: tuple[str, ...] = ()
    if settings.fuse_batch_norm:
        made = fuse_batch_norm.fuse(tree, arch=settings.arch, file=str(file))
        tree, fused = made.tree, made.layers
    layers: tuple[QuantisedLayer, ...] = ()
    if settings.quantises:
        quantised = quantise(tree, rule, bits=bits, file=str(file))
        tree, layers = quantised.tree, quantised.layers
    kept, left_out = torch_writer.without_opaque(tree)
    write_file(output, torch_writer.packed(kept))
    return CheckpointReport(str(file), str(output), fused, layers, left_out)
