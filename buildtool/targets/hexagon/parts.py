"""A region of a graph as a program of its own for the DSP: its graph, its kernels there, and the bytes that name them.

native/hexagon/part_program.h has the layout. The weights stay where they are: the library sends them once.
"""

from __future__ import annotations

import hashlib
import struct
from collections.abc import Iterator
from dataclasses import dataclass

from buildtool.codegen import container_writer
from buildtool.codegen.container_writer import Stored
from buildtool.codegen.names import obscure
from buildtool.ir.graph import Graph, Node, Region, Value
from buildtool.ir.types import DType
from buildtool.plan import arena, select
from buildtool.plan.manifest import Manifests
from buildtool.plan.plan import ALIGNMENT, Plan
from buildtool.plan.select import Choice
from buildtool.runtimes import HEXAGON_POWERS
from buildtool.targets.hexagon.capabilities import DSP_ISAS
from buildtool.targets.protocol import HexagonSettings

_MAGIC = 0x3158484C
_UNSIGNED = 1
_HEAD = struct.Struct("<4I")
_COPIES = ("to_device", "from_device")
_BYTES = (DType.S8, DType.U8)


@dataclass(frozen=True)
class Part:
    """A region as a graph of its own, without the copies at its borders, and the kernels of its nodes."""

    graph: Graph
    choices: tuple[Choice, ...]


def part_of(body: Region, name: str, manifests: Manifests) -> Part:
    """The region with what it uploads as inputs and what it downloads as outputs."""
    inputs = [node.outputs[0] for node in body.nodes if node.op.name == "to_device"]
    outputs = [node.inputs[0] for node in body.nodes if node.op.name == "from_device"]
    nodes = [node for node in body.nodes if node.op.name not in _COPIES]
    graph = Graph(inputs, outputs, nodes, name=name).clone()
    for value in graph.values():
        value.source_names = ()
    return Part(graph, select.select(graph, manifests, abi="the DSP", isas=DSP_ISAS, model=name))


def program(part: Part, settings: HexagonSettings, *, obscured: bool) -> bytes:
    """What the device_region gets as its input."""
    graph = part.graph.clone()
    if obscured:
        obscure(graph)
    memory = arena.plan(graph, part.choices)
    plan = Plan("hexagon", tuple(choice.names for choice in part.choices), memory.placements, memory.size, ())
    message, _ = container_writer.encode(graph, graph.name, Stored(), plan)
    places = {value.name: value.constant for value in message.graph.values if value.HasField("constant")}
    digest, size = hashlib.sha256(), 0
    for value in _constants(graph):
        assert value.constant is not None
        places[value.name].offset = size
        contents, _ = container_writer.stored_bytes(value.constant, value.type.dtype)
        padded = contents + bytes(-len(contents) % ALIGNMENT)
        digest.update(padded)
        size += len(padded)
    message.data_size = size
    message.data_sha256 = digest.digest()
    flags, power = _UNSIGNED if settings.unsigned else 0, HEXAGON_POWERS.index(settings.power)
    head = _HEAD.pack(_MAGIC, flags, power, 0)
    return head + bytes(message.SerializeToString(deterministic=True))


def _constants(graph: Graph) -> Iterator[Value]:
    """Each once, in the order in which nodes read them: native/hexagon/region.cc sends them so."""
    yield from dict.fromkeys(value for node in graph.nodes for value in node.inputs if value.is_constant)


def why_not(node: Node, manifests: Manifests) -> str:
    """Why the DSP cannot run the node, in words; empty where it can."""
    values = [value for value in (*node.inputs, *node.outputs) if not value.is_constant]
    if node.regions:
        return "it holds regions"
    if not node.inputs or all(value.is_constant for value in node.inputs):
        return "it reads no tensor"
    for value in values:
        if value.type.dtype not in _BYTES or value.type.quant is None:
            return f"'{value.name}' is {value.type}: the DSP computes with quantised numbers of 8 bits"
    if any(not isinstance(dim, int) for value in (*node.inputs, *node.outputs) for dim in value.type.shape):
        return "a size of it is only known at run time"
    kernels = [kernel for kernel in manifests.of(node.op.name) if kernel.isa in DSP_ISAS]
    misfits = [(kernel.name, select.misfit(kernel, node)) for kernel in kernels]
    if any(misfit is None for _, misfit in misfits):
        return ""
    return "; ".join(f"{name} {misfit}" for name, misfit in misfits) or f"there is no kernel of {node.op.name}"
