"""What `lathe quantize --scheme max7800x` makes of a checkpoint."""

from __future__ import annotations

from pathlib import Path

from buildtool.settings import CheckpointSettings
from buildtool.targets.max7800x.checkpoints import fuse_batch_norm, torch_archive, torch_writer
from buildtool.targets.max7800x.checkpoints.quantise_checkpoint import QuantisedLayer, Rule, quantise
from buildtool.targets.max7800x.description.weight_bits import weight_bits
from buildtool.targets.protocol import QuantizedCheckpoint


def quantize_checkpoint(file: Path, settings: CheckpointSettings) -> QuantizedCheckpoint:
    """Fuse batch normalisation where that is asked for, and quantise unless only that is."""
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
    return QuantizedCheckpoint(torch_writer.packed(kept), fused, tuple(layer.as_json() for layer in layers), left_out)
