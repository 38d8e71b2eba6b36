"""Libraries with GPU kernels for tests, and models of one node that run on the device."""

from __future__ import annotations

import functools
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from pathlib import Path

from buildtool import resources
from buildtool.builders import library as builder
from buildtool.builders.objects import ObjectCache
from buildtool.builders.process import Processes
from buildtool.codegen import library
from buildtool.codegen.library import AbiSources, LibrarySources
from buildtool.codegen.native_sources import NativeSources
from buildtool.codegen.source_tree import SourceTree
from buildtool.ir.graph import Graph, Node, Region, Value
from buildtool.ops.device_region import DeviceRegion
from buildtool.ops.from_device import FromDevice
from buildtool.ops.to_device import ToDevice
from buildtool.plan import manifest, units
from buildtool.plan.manifest import KernelInfo
from buildtool.runtime import Library
from buildtool.targets.protocol import LibrarySource, TargetProgram

_ABI = "host"
_NAME = "gpu_kernels"


@dataclass(frozen=True)
class Mode:
    """How tensors lie on the device."""

    memory: str = "image"
    storage: str = "f32"
    winograd: int = 0

    def __str__(self) -> str:
        return f"{self.memory}-{self.storage}" + (f"-winograd{self.winograd}" if self.winograd else "")

    @property
    def op(self) -> DeviceRegion:
        return DeviceRegion(memory=self.memory, storage=self.storage, winograd=self.winograd)


MODES = tuple(Mode(memory, storage) for memory in ("image", "buffer") for storage in ("f32", "f16"))


@functools.cache
def all_units() -> units.DeviceUnits:
    return units.load()


def device_library(operators: Collection[str], op_path: Path | None = None) -> Library:
    """A library with the device units of these operators, and with the portable kernels that stand in for them.
    `op_path`: a folder with more units."""
    return _built(_with_borders(operators), (op_path,) if op_path is not None else ())


def library_tree(operators: Collection[str]) -> SourceTree:
    """What it is built from."""
    return _tree(_with_borders(operators), (), _kernels(_with_borders(operators)))


def _with_borders(operators: Collection[str]) -> frozenset[str]:
    return frozenset({"to_device", "from_device", "device_region", *operators})


def _kernels(operators: frozenset[str]) -> tuple[KernelInfo, ...]:
    kernels = (kernel for kernel in manifest.load() if kernel.op in operators and kernel.isa in ("opencl", "portable"))
    return tuple(sorted(kernels, key=lambda kernel: manifest.registry_order(kernel, ("opencl", "portable"))))


def _tree(operators: frozenset[str], op_paths: tuple[Path, ...], kernels: Sequence[KernelInfo]) -> SourceTree:
    known = units.load(op_paths)
    chosen = units.in_order(unit for op in operators for unit in known.of(op))
    names = tuple(kernel.name for kernel in kernels)
    files = tuple(kernel.source for kernel in kernels)
    part = AbiSources(_ABI, names, files, device_units=chosen)
    return library.emit(LibrarySources(_NAME, _NAME, (part,)), NativeSources((resources.root(), *op_paths)))


@functools.cache
def _built(operators: frozenset[str], op_paths: tuple[Path, ...]) -> Library:
    kernels = _kernels(operators)
    program = TargetProgram("opencl", _ABI, LibrarySource(_NAME, _NAME, ()), (), kernels)
    (built,) = builder.build_all(
        [program],
        _tree(operators, op_paths, kernels),
        cache=ObjectCache(processes=Processes()),
        owner=" ".join(["tests of GPU kernels", *(folder.name for folder in op_paths), *sorted(operators)]),
    )
    return Library(built.shared, _NAME)


def on_device(graph: Graph, mode: Mode) -> Graph:
    """A copy of the graph, all nodes of which are a device_region."""
    whole = graph.clone()
    copies: dict[Value, Value] = {}
    nodes: list[Node] = []
    for node in whole.nodes:
        for index, value in enumerate(node.inputs):
            if value in whole.inputs:
                if value not in copies:
                    copies[value] = Value(f"{value.name}_on_device", value.type)
                    nodes.append(Node(ToDevice(), [value], [copies[value]], f"to {value.name}"))
                node.inputs[index] = copies[value]
        nodes.append(node)
    given, made = _borders([copies.get(value, value) for value in whole.outputs])
    nodes += given
    region = Region([], [node.outputs[0] for node in given], nodes)
    whole.nodes = [Node(mode.op, [], made, "part", [region])]
    whole.outputs = list(made)
    return whole


def _borders(outputs: Sequence[Value]) -> tuple[list[Node], list[Value]]:
    given = []
    made = []
    for value in outputs:
        back = Value(f"{value.name}_from_device", value.type)
        given.append(Node(FromDevice(), [value], [back], f"from {value.name}"))
        made.append(Value(f"{value.name}_on_host", value.type))
    return given, made
