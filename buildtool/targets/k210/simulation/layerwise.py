"""How near the layers of a kmodel come to the network that it was made of, each on its own tensor."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from buildtool.ir.evaluate import evaluate
from buildtool.ir.graph import Graph
from buildtool.ir.operator import Array
from buildtool.targets.k210.format.layer import Layer
from buildtool.targets.k210.generation.generate import Generated
from buildtool.targets.k210.simulation.to_graph import INPUT, to_graph


@dataclass(frozen=True)
class Nearness:
    """Of one tensor of the network, and the last layer that makes it."""

    layer: int
    tensor: str
    cosine: float


def compare(graph: Graph, made: Generated, sample: Mapping[str, Array], data: bytes) -> list[Nearness]:
    """`graph` is the one that `made` was generated from; `data` is the sample as the kmodel takes it.

    Cosines do not see scales, which layers of the KPU do not tell: bytes are compared from their zero point on, or from
    their mean where nothing that reads them tells it. Layers are left out that have no tensor of the network: halves of
    a sum, planes of which the next layer leaves out pixels.
    """
    wanted = evaluate(graph, sample, keep=True)
    unrolled = to_graph(made.model)
    (value,) = unrolled.graph.inputs
    array = np.frombuffer(data, "<f4" if value.type.rank == 1 else np.uint8).astype(np.float32)
    shape = [dim for dim in value.type.shape if isinstance(dim, int)]
    found = evaluate(unrolled.graph, {INPUT: array.reshape(shape)}, keep=True)
    parts: dict[str, list[Array]] = {}
    last: dict[str, int] = {}
    unclear: set[str] = set()  # nothing says which byte stands for 0
    for number, (tensor, part) in enumerate(zip(made.tensors, unrolled.values, strict=True)):
        if tensor not in wanted or part.constant is not None:
            continue
        got = found[part.name] - unrolled.zero_points.get(part.name, 0)
        if part.name not in unrolled.zero_points and not _makes_floats(made.model.layers[number]):
            unclear.add(tensor)
        before = parts.get(tensor, []) if last.get(tensor) == number - 1 else []
        whole = sum(one.size for one in before) >= wanted[tensor].size
        parts[tensor], last[tensor] = [*([] if whole else before), got], number
    nearness = []
    for tensor, number in last.items():
        joined = _as(wanted[tensor], parts[tensor])
        if joined is not None:
            nearness.append(Nearness(number, tensor, _cosine(joined, wanted[tensor], centred=tensor in unclear)))
    return nearness


def _as(wanted: Array, parts: list[Array]) -> Array | None:
    """Parts of channels, in the order of the network; None where they are something else."""
    if parts[0].ndim == 4:
        whole = np.concatenate(parts, axis=3)
        return whole if whole.shape == wanted.shape else None
    flat = np.concatenate(parts)
    if flat.size != wanted.size:
        return None
    if wanted.ndim == 4:
        planes = flat.reshape(1, wanted.shape[3], *wanted.shape[1:3])
        return np.asarray(planes.transpose(0, 2, 3, 1))
    return flat.reshape(wanted.shape)


def _makes_floats(layer: Layer) -> bool:
    return any(part.element > 1 for part in layer.writes())


def _cosine(one: Array, other: Array, *, centred: bool) -> float:
    a, b = one.reshape(-1).astype(np.float64), other.reshape(-1).astype(np.float64)
    if centred:
        a, b = a - a.mean(), b - b.mean()
    lengths = float(np.sqrt((a @ a) * (b @ b)))
    return float(a @ b) / lengths if lengths else float(a.any() == b.any())
