"""The operators of a model, each alone: the cases of native/tools/lathe_bench.cc, and what it tells of them."""

from __future__ import annotations

import json
import re
import struct
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from buildtool.benchmark.operator_names import describe
from buildtool.codegen import container
from buildtool.devices.device import Completed
from buildtool.errors import ConfigError, RunError, Where
from buildtool.ir.graph import Graph, Node, Value
from buildtool.ir.quantised import is_quantised
from buildtool.ir.types import DType
from buildtool.ir.work import node_macs
from buildtool.ops.registry import registry
from buildtool.plan import arena, manifest
from buildtool.plan.manifest import KernelInfo
from buildtool.plan.plan import Plan

_LANES = {DType.F16: 8, DType.S8: 16, DType.U8: 16}  # multiply-accumulates of one instruction on ARM; 4 of others


@dataclass(frozen=True)
class Case:
    """One node with the kernel that runs it, and how its weights are packed (empty: as they are)."""

    name: str
    graph: Graph
    kernel: KernelInfo
    packing: str = ""

    @property
    def bound(self) -> int:
        """Instructions, if every one did as many multiply-accumulates as ARM can."""
        node = self.graph.nodes[0]
        return node_macs(node) // _LANES.get(node.inputs[0].type.dtype, 4)


def of_model(folder: Path, abi: str, model: str, op_paths: Sequence[Path], pattern: str) -> list[Case]:
    """The cases of a model in the folder of a build whose names have a part that matches.

    ConfigError where there is none, or where the library holds the model itself.
    """
    try:
        wanted = re.compile(pattern)
    except re.error as problem:
        raise ConfigError(f"--filter cannot be '{pattern}': {problem}", rule="a regular expression") from problem
    file = folder / "model" / abi / f"{model}.pb"
    if not file.is_file() or not file.with_suffix(".data").is_file():
        raise ConfigError(
            "single operators are measured for models in files",
            where=Where(file=str(file)),
            remedy="give --model-graph-format file --model-data-format file",
        )
    data = file.with_suffix(".data").read_bytes()
    graph, plan = container.read(file.read_bytes(), data, registry(op_paths), str(file))
    cases = {case.name: case for case in _cases(graph, plan, {item.name: item for item in manifest.load(op_paths)})}
    found = [case for name, case in cases.items() if wanted.search(name)]
    if not found:
        first = ", ".join(list(cases)[:5])
        raise ConfigError(f"no operator of '{model}' matches '{pattern}'", rule=f"names are like {first}, ...")
    return found


def _cases(graph: Graph, plan: Plan | None, kernels: dict[str, KernelInfo]) -> Iterator[Case]:
    """One for each kernel that may compute a node, the fastest first: which the device can run, it knows itself."""
    if plan is None:
        return
    for index, node in enumerate(graph.walk()):
        names = plan.kernels[index]
        if node.regions or not names or names[0] not in kernels:
            continue  # what holds other nodes is not alone
        stored = is_quantised(node)
        sizes = describe(node.op, [value.type.real if stored else value.type for value in node.inputs])
        packing = plan.packings[index] if plan.packings else ""
        for kernel in (kernels[name] for name in names):
            packed = packing if packing in (kernel.pack, *kernel.takes) else ""
            yield Case(f"{node.op.name}/{sizes}/{kernel.name}", _alone(graph, node), kernel, packed)


def _alone(graph: Graph, node: Node) -> Graph:
    alone = Graph(name="case", symbols=dict(graph.symbols))
    operands = []
    for index, value in enumerate(node.inputs):
        if value.constant is not None:
            operand = alone.new_constant(f"c{index}", value.constant)
            operand.type = value.type
        else:
            operand = Value(f"x{index}", value.type)
            alone.inputs.append(operand)
        operands.append(operand)
    ways = [None if value.type.quant is None else (value.type.dtype, value.type.quant) for value in node.outputs]
    copy = alone.new_node(node.op, operands, name=node.op.name, stored=ways if is_quantised(node) else ())
    for own, value in zip(copy.outputs, node.outputs, strict=True):
        own.type = value.type
    alone.nodes.append(copy)
    alone.outputs = list(copy.outputs)
    return alone


def encode(cases: Iterable[Case]) -> bytes:
    """The file of the cases."""
    parts = [_encode(case) for case in cases]
    return b"LATHEBENCH" + struct.pack("<I", len(parts)) + b"".join(parts)


def _encode(case: Case) -> bytes:
    memory = arena.plan(case.graph, [case.kernel])
    packed = (case.packing,) if case.packing else ()
    plan = Plan("host", ((case.kernel.name,),), memory.placements, memory.size, packed)
    files = container.write(case.graph, name="case", half=False, plan=plan)
    macs = struct.pack("<Q", node_macs(case.graph.nodes[0]))
    return b"".join([_blob(case.name.encode()), macs, _blob(files.model), _blob(files.data)])


def _blob(data: bytes) -> bytes:
    return struct.pack("<Q", len(data)) + data


def results(done: Completed) -> list[dict[str, Any]]:
    """What `lathe_bench --json -` printed; RunError where it failed."""
    try:
        if done.exit_code == 0:
            rows: list[dict[str, Any]] = json.loads(done.stdout)["results"]
            return rows
    except (ValueError, KeyError):
        pass
    said = done.stderr.strip().splitlines()
    raise RunError(
        f"the program that measures single operators ended with exit code {done.exit_code}"
        + (f": {said[-1]}" if said else ""),
        remedy="this is a defect of Lathe or of a kernel of yours: please report it",
    )
