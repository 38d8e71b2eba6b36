"""Libraries with a program for the DSP, for tests, and models whose nodes all run on it."""

from __future__ import annotations

import functools
import os
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from unittest import mock

import numpy as np

from buildtool import resources
from buildtool.builders import hexagon
from buildtool.builders import library as builder
from buildtool.builders.hexagon import DspSimulator
from buildtool.builders.objects import ObjectCache
from buildtool.codegen import container, library
from buildtool.codegen.container import Container
from buildtool.codegen.library import AbiSources, DspSources, LibrarySources
from buildtool.codegen.native_sources import NativeSources
from buildtool.ir.graph import Graph, Node, Region, Value
from buildtool.ops.device_region import DeviceRegion
from buildtool.ops.from_device import FromDevice
from buildtool.ops.to_device import ToDevice
from buildtool.plan import manifest
from buildtool.plan.manifest import KernelInfo
from buildtool.runtime import DeviceKind, DeviceOptions, Engine, Library
from buildtool.targets.hexagon.capabilities import DSP_ISAS
from buildtool.targets.hexagon.parts import part_of, program
from buildtool.targets.protocol import DspProgram, HexagonSettings, LibrarySource, TargetProgram

_ABI = "host"
_NAME = "dsp_kernels"


@dataclass(frozen=True)
class DspLibrary:
    """A library, and where its program for the DSP is."""

    library: Library
    programs: Path  # the folder

    @contextmanager
    def on_simulator(self, **variables: str) -> Iterator[None]:
        """While the stand-in for a DSP is there. `variables`: of native/hexagon/simulator/rpc.cc."""
        names = {f"LATHE_DSP_SIM_{name.upper()}": value for name, value in variables.items()}
        with mock.patch.dict(os.environ, {**simulator().environment(self.programs), **names}):
            yield

    def engine(self, model: Container, kind: DeviceKind = DeviceKind.ANY, threads: int = 1) -> Engine:
        device = DeviceOptions(kind=kind)
        return self.library.engine(model=model.model, data=model.data, threads=threads, device=device)


@functools.cache
def simulator() -> DspSimulator:
    return hexagon.simulator(ObjectCache())


def _kernels(operators: frozenset[str], isas: Sequence[str]) -> tuple[KernelInfo, ...]:
    found = (kernel for kernel in manifest.load() if kernel.op in operators and kernel.isa in isas)
    return tuple(sorted(found, key=lambda kernel: manifest.registry_order(kernel, isas)))


@functools.cache
def dsp_library(operators: frozenset[str]) -> DspLibrary:
    """With all kernels of these operators that the DSP has, and the portable ones for the CPU."""
    host = _kernels(operators | {"to_device", "from_device", "device_region"}, ("hexagon", "portable"))
    dsp = _kernels(operators, DSP_ISAS)
    names, files = (tuple(getattr(kernel, key) for kernel in host) for key in ("name", "source"))
    on_dsp = DspSources(
        ("v66",), tuple(kernel.name for kernel in dsp), tuple(kernel.source for kernel in dsp if kernel.source)
    )
    sources = LibrarySources(_NAME, _NAME, (AbiSources(_ABI, names, files),), dsp=on_dsp)
    tree = library.emit(sources, NativeSources((resources.root(),)))
    made = TargetProgram("hexagon", _ABI, LibrarySource(_NAME, _NAME, ()), (), host, dsp=DspProgram(("v66",), dsp))
    cache, owner = ObjectCache(), f"tests of kernels for the DSP: {' '.join(sorted(operators))}"
    (built,) = builder.build_all([made], tree, cache=cache, owner=owner)
    folder = builder.work_folder(cache, owner, _NAME) / f"dsp-{os.getpid()}"
    (on_v66,) = hexagon.build_programs([made], tree, folder, cache)
    return DspLibrary(Library(built.shared, _NAME), on_v66.file.parent)


def on_dsp(graph: Graph, settings: HexagonSettings = HexagonSettings()) -> Container:  # noqa: B008 (frozen)
    """A model of the graph, all nodes of which run on the DSP."""
    whole = graph.clone()
    uploads = {value: Value(f"{value.name}_up", value.type) for value in whole.inputs}
    nodes = [Node(ToDevice(), [value], [up], f"to {value.name}") for value, up in uploads.items()]
    for node in whole.nodes:
        node.inputs = [uploads.get(value, value) for value in node.inputs]
    back = [Value(f"{value.name}_back", value.type) for value in whole.outputs]
    nodes += whole.nodes
    nodes += [Node(FromDevice(), [value], [down]) for value, down in zip(whole.outputs, back, strict=True)]
    region = Region([], back, nodes)
    given = program(part_of(region, "case", manifest.load()), settings, obscured=False)
    made = [Value(f"{value.name}_out", value.type) for value in whole.outputs]
    constant = whole.new_constant("program", np.frombuffer(given, np.uint8))
    whole.nodes = [Node(DeviceRegion(), [constant], made, "part", [region])]
    whole.outputs = made
    return container.write(whole, name="case")
