"""What the graph says of the nodes that are measured."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from buildtool.codegen import container
from buildtool.ir.dims import bounds
from buildtool.ir.graph import Node, Value
from buildtool.ir.operator import Operator
from buildtool.ir.types import DType
from buildtool.ir.work import node_macs
from buildtool.ops.device_region import DeviceRegion

_LISTS = ("stride", "pad", "dilation", "filter", "output")
_COMPUTES_IN = {DType.S8: "s8", DType.U8: "s8", DType.F16: "f16", DType.BF16: "f16"}


def of_model(folder: Path, abi: str, model: str, operators: Mapping[str, type[Operator]]) -> list[dict[str, Any]]:
    """The nodes in the order of `Graph.walk()`. `folder` is that of a build.

    A library with the model inside has no file of its own for the ABI: then the portable one tells. Its nodes may be
    others, so `fact_of` looks whether it is the same operator.
    """
    own, portable = (folder / "model" / name for name in (f"{abi}/{model}.pb", f"{model}.pb"))
    file = own if own.is_file() and own.with_suffix(".data").is_file() else portable
    graph, _ = container.read(file.read_bytes(), file.with_suffix(".data").read_bytes(), operators, str(file))
    halved = {
        inner
        for node in graph.nodes
        if node.op.name == DeviceRegion.name and node.op.attributes()["storage"] == "f16"
        for inner in node.regions[0].walk()
    }
    return [_facts(node, gpu_halves=node in halved) for node in graph.walk()]


def fact_of(facts: Sequence[Mapping[str, Any]], index: int, op: str) -> Mapping[str, Any]:
    """What is known of a node that ran; nothing where the graph has another one in its place."""
    if index < len(facts) and facts[index]["op"] == op:
        return facts[index]
    return {"op": op, "macs": 0, "bytes": 0, "gpu_bytes": 0, "computes_in": "f32", **dict.fromkeys(_LISTS, ())}


def _facts(node: Node, *, gpu_halves: bool) -> dict[str, Any]:
    attributes = node.op.attributes()
    values = dict.fromkeys((*node.inputs, *node.outputs))
    filters = node.inputs[1] if len(node.inputs) > 1 and node.inputs[1].is_constant else None
    return {
        "op": node.op.name,
        "macs": node_macs(node),
        "bytes": sum(_size(value) for value in values),
        "gpu_bytes": sum(_size(value) // (2 if gpu_halves else 1) for value in values),
        "computes_in": _COMPUTES_IN.get(node.inputs[0].type.dtype, "f32") if node.inputs else "f32",
        "stride": _numbers(attributes.get("strides")),
        "pad": _numbers(attributes.get("pads")),
        "dilation": _numbers(attributes.get("dilations")),
        "filter": _shape(filters) if filters is not None and "strides" in attributes else [],
        "output": _shape(node.outputs[0]) if node.outputs else [],
    }


def _numbers(value: object) -> list[int]:
    return [int(number) for number in value] if isinstance(value, tuple) else []


def _shape(value: Value) -> list[int]:
    """At the upper bounds of sizes that vary."""
    return [bounds(dim)[1] for dim in value.type.shape]


def _size(value: Value) -> int:
    return math.prod(_shape(value)) * value.type.dtype.itemsize
