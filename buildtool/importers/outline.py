"""A model as its file has it, in words: what pages show of it, without the weights."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from buildtool.importers.model import AttributeValue, SourceModel, SourceNode

_LONGEST = 16  # elements of a list that are written out


@dataclass(frozen=True)
class OutlinedTensor:
    """`type` is empty where the file does not tell it."""

    type: str
    bytes: int = 0  # of a constant
    is_constant: bool = False


@dataclass(frozen=True)
class OutlinedNode:
    """A node with its attributes as texts."""

    op: str
    name: str
    inputs: tuple[str, ...]
    outputs: tuple[str, ...]
    attributes: tuple[tuple[str, str], ...]


@dataclass(frozen=True)
class Outline:
    """The main graph of a file. Bodies of nodes are counted, not shown."""

    inputs: tuple[str, ...]
    outputs: tuple[str, ...]
    nodes: tuple[OutlinedNode, ...]
    tensors: Mapping[str, OutlinedTensor]


def outline(model: SourceModel) -> Outline:
    """What is in a file, whatever part of it is asked for."""
    tensors = {name: OutlinedTensor(_type(array), array.nbytes, True) for name, array in model.constants.items()}
    for declared in (model.declared, model.outputs, model.inputs):
        for name, tensor in declared.items():
            word = tensor.dtype.value if tensor.dtype is not None else ""
            dims = "" if tensor.shape is None else ", ".join("?" if dim is None else str(dim) for dim in tensor.shape)
            tensors[name] = OutlinedTensor(f"{word}[{dims}]" if tensor.shape is not None else word)
    return Outline(tuple(model.inputs), tuple(model.outputs), tuple(_node(node) for node in model.nodes), tensors)


def _node(node: SourceNode) -> OutlinedNode:
    attributes = [(name, _text(value)) for name, value in node.attributes.items()]
    attributes += [(name, kind) for name, kind in node.unreadable.items()]
    attributes += [(name, "a graph") for name in node.bodies]
    reads = tuple(name for name in node.reads if name)
    return OutlinedNode(node.title, node.name, reads, tuple(filter(None, node.outputs)), tuple(attributes))


def _text(value: AttributeValue) -> str:
    if isinstance(value, np.ndarray):
        return _type(value)
    if isinstance(value, tuple):
        shown = ", ".join(_text(item) for item in value[:_LONGEST])
        return f"[{shown}{', …' if len(value) > _LONGEST else ''}]"
    if isinstance(value, float):
        return f"{value:.6g}" if math.isfinite(value) else str(value)
    return str(value)


def _type(array: np.ndarray[tuple[int, ...], np.dtype[np.generic]]) -> str:
    return f"{array.dtype}[{', '.join(map(str, array.shape))}]"
