"""Weights and biases that take the place of a model's own, because they lose less where they are stored in few bits.

An `.npz`: `layers` names layers, `sources` tells by a hash which weights and bias each of them has to have before, and
`<number>/weights` and `<number>/bias` hold what it gets. Layers are those that the passes leave, in single precision.
"""

from __future__ import annotations

import hashlib
import io
from collections.abc import Collection, Mapping
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from buildtool import archives
from buildtool.errors import ModelFileError, Problem, Where
from buildtool.ir.graph import Graph, Node, Value
from buildtool.ir.operator import Array
from buildtool.quant.choice import layer_name

_WEIGHTS, _BIAS = 1, 2
_REMEDY = "write it again with lathe quantize and the same options"


@dataclass(frozen=True)
class Change:
    """What a layer gets. Without a bias it keeps its own."""

    source: str  # hash of what it had
    weights: Array
    bias: Array | None


def source_of(node: Node) -> str:
    """A hash of the weights and the bias of a node."""
    digest = hashlib.sha256()
    for value in node.inputs[_WEIGHTS : _BIAS + 1]:
        if value.constant is not None:
            digest.update(f"{value.constant.shape}".encode() + np.ascontiguousarray(value.constant, "<f4").tobytes())
    return digest.hexdigest()


def contents(changes: Mapping[str, Change]) -> bytes:
    """Of the file. Equal changes give equal bytes."""
    arrays: dict[str, Array] = {
        "layers": np.array(list(changes), np.str_),
        "sources": np.array([change.source for change in changes.values()], np.str_),
    }
    for number, change in enumerate(changes.values()):
        arrays[f"{number}/weights"] = change.weights
        if change.bias is not None:
            arrays[f"{number}/bias"] = change.bias
    stream = io.BytesIO()
    np.savez(stream, allow_pickle=False, **arrays)
    return stream.getvalue()


def read(file: Path) -> dict[str, Change]:
    """ModelFileError where it is none."""
    try:
        archives.verify_file(file)
        with np.load(io.BytesIO(file.read_bytes()), allow_pickle=False) as stored:
            layers, sources = ([str(word) for word in stored[name]] for name in ("layers", "sources"))
            return {
                layer: Change(
                    source,
                    stored[f"{number}/weights"],
                    stored[f"{number}/bias"] if f"{number}/bias" in stored.files else None,
                )
                for number, (layer, source) in enumerate(zip(layers, sources, strict=True))
            }
    except Exception as problem:  # NumPy lets through whatever a damaged file leads it into
        what = f"this is not a file of adjusted weights: {type(problem).__name__}: {problem}"
        raise ModelFileError(what, where=Where(file=str(file)), remedy=_REMEDY) from problem


def apply(graph: Graph, changes: Mapping[str, Change], file: Path, real: Collection[Value] = ()) -> None:
    """Give the layers of an optimised graph their weights. ModelFileError where they belong to another model.

    `real`: the first results of nodes that stay in single precision. They keep their weights, which lose nothing.
    """
    nodes = {layer_name(node): node for node in graph.nodes if len(node.inputs) > _WEIGHTS}
    problems = []
    for name, change in changes.items():
        node = nodes.get(name)
        problem = "there is no such layer" if node is None else _misfit(node, change)
        if node is None or problem:
            where = Where(file=str(file), model=graph.name, node=name)
            rule = "the file applies only to the model that it was made for, with the same passes"
            problems.append(Problem(problem, where, rule, _REMEDY))
            continue
        if node.outputs[0] in real:
            continue
        _replace(graph, node, _WEIGHTS, change.weights)
        if change.bias is not None:
            _replace(graph, node, _BIAS, change.bias)
    if problems:
        raise ModelFileError(problems)


def _misfit(node: Node, change: Change) -> str:
    if source_of(node) != change.source:
        return "the weights of the layer differ from the original ones in the file"
    weights = node.inputs[_WEIGHTS].constant
    if weights is None or change.weights.dtype != np.float32 or change.weights.shape != weights.shape:
        return f"the adjusted weights are {change.weights.dtype}{list(change.weights.shape)}"
    outputs = node.outputs[0].type.shape[-1:]
    if change.bias is not None and (change.bias.dtype != np.float32 or change.bias.shape != outputs):
        return f"the adjusted bias is {change.bias.dtype}{list(change.bias.shape)}"
    if not np.isfinite(change.weights).all() or (change.bias is not None and not np.isfinite(change.bias).all()):
        return "the adjusted values contain NaN or infinity"
    return ""


def _replace(graph: Graph, node: Node, index: int, array: Array) -> None:
    hint = node.inputs[index].name if index < len(node.inputs) else f"{node.outputs[0].name}.bias"
    node.inputs[index : index + 1] = [graph.new_constant(hint, np.ascontiguousarray(array))]
