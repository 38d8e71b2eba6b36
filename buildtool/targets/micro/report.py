"""What reports tell of a model."""

from __future__ import annotations

from collections import Counter
from typing import Any

from buildtool.targets.micro.network import Conv, Dense, Gather, Layer, Network, Softmax, Table
from buildtool.targets.micro.packing import packed
from buildtool.targets.micro.planning import Plan
from buildtool.targets.micro.processors import Processor
from buildtool.targets.protocol import Figure, FirmwareModel


def of_model(network: Network, plan: Plan, processor: Processor) -> FirmwareModel:
    """Constants in flash, and memory."""
    kernel_set = processor.sets[0]
    constants = {layer: constant_bytes(layer, kernel_set) for layer in network.layers}
    rows: list[dict[str, Any]] = [
        {
            "layer": layer.name,
            "operation": layer.kind,
            "output": list(layer.output.shape),
            "macs": layer.macs,
            "constant_bytes": constants[layer],
            "ram_bytes": used,
        }
        for layer, (_, used) in zip(network.layers, plan.timeline, strict=True)
    ]
    return FirmwareModel(
        network.name,
        network.macs,
        sum(constants.values()),
        dict(sorted(Counter(layer.kind for layer in network.layers).items())),
        (Figure("arena_bytes", "RAM of tensors and work buffers", plan.size, "bytes"),),
        {"arena_bytes": plan.size, "kernels": kernel_set, "layers": rows},
    )


def constant_bytes(layer: Layer, kernel_set: str) -> int:
    """Bytes of flash that the constants of a layer take up."""
    if isinstance(layer, (Conv, Dense)):
        return packed(layer, kernel_set).bytes
    if isinstance(layer, Gather):
        return layer.places.nbytes
    if isinstance(layer, Table):
        return layer.table.nbytes
    return layer.exponentials.nbytes if isinstance(layer, Softmax) else 0
