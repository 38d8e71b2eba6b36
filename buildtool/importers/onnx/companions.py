"""Which files belong to an ONNX file besides: those that hold data of its tensors."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from google.protobuf.message import DecodeError
from onnx import GraphProto, ModelProto, NodeProto, TensorProto

from buildtool.importers.files import LARGEST_FILE
from buildtool.importers.onnx.tensors import external_file


def companions(file: Path, weights: Path | None) -> tuple[Path, ...]:
    """The files that are there, sorted; none for what is no model, which is for those to tell who import it."""
    del weights  # models of this kind have none
    try:
        data = file.read_bytes() if file.stat().st_size <= LARGEST_FILE else b""
        if b"location" not in data:  # the key of every file name: most models have none, and need not be parsed
            return ()
        model = ModelProto.FromString(data)
    except (OSError, DecodeError, RecursionError, ValueError):
        return ()
    places = (external_file(tensor, file.parent) for tensor in _tensors(model))
    return tuple(sorted({place for place in places if place is not None}))


def _tensors(model: ModelProto) -> Iterator[TensorProto]:
    """All of them, whatever graph they stand in."""
    graphs: list[GraphProto] = [model.graph]
    nodes: list[NodeProto] = [node for function in model.functions for node in function.node]
    while graphs or nodes:
        if graphs:
            graph = graphs.pop()
            yield from graph.initializer
            nodes += graph.node
        else:
            for attribute in nodes.pop().attribute:
                yield from (attribute.t, *attribute.tensors)
                graphs += [attribute.g, *attribute.graphs] if attribute.HasField("g") else attribute.graphs
