"""Lowers graphs to parts for a program on the DSP and parts for the CPU."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from buildtool.errors import Problem, Where
from buildtool.ir.graph import Graph
from buildtool.ops.device_region import DeviceRegion
from buildtool.ops.from_device import FromDevice
from buildtool.ops.to_device import ToDevice
from buildtool.plan import manifest
from buildtool.plan.manifest import KernelInfo, Manifests
from buildtool.targets.hexagon.capabilities import DSP_ISAS
from buildtool.targets.hexagon.costs import HEXAGON_COSTS
from buildtool.targets.hexagon.parts import part_of, program, why_not
from buildtool.targets.native_library import DEVICE_REGION, NativeTarget
from buildtool.targets.protocol import DspProgram, LibrarySource, ModelSource, PlannedModel, TargetProgram
from buildtool.targets.regions.costs import DeviceCosts, copy_costs, node_costs
from buildtool.targets.regions.placement import place
from buildtool.targets.regions.rewrite import rewrite


@dataclass(frozen=True)
class HexagonTarget(NativeTarget):
    """The target of `runtime: dsp` and `cpu+dsp`."""

    costs: DeviceCosts = field(default_factory=lambda: HEXAGON_COSTS)

    def lower(self, library: LibrarySource, abi: str) -> TargetProgram:
        lowered = super().lower(library, abi)
        manifests = manifest.load(library.op_paths)
        kernels = {
            kernel.name: kernel
            for model in lowered.models
            for node in model.source.graph.nodes
            if node.op.name == DEVICE_REGION
            for choice in part_of(node.regions[0], model.source.name, manifests).choices
            for kernel in choice.kernels
        }
        notes = (*lowered.notes, *map(_alone, filter(_has_nothing, lowered.models)))
        if not kernels:
            return replace(lowered, notes=notes)
        return replace(lowered, notes=notes, dsp=DspProgram(library.hexagon.versions, _in_order(kernels)))

    def placed(
        self, model: ModelSource, graph: Graph, manifests: Manifests, library: LibrarySource
    ) -> tuple[Graph, Mapping[str, Any]]:
        runtime = model.device.runtime
        if not runtime.uses_dsp:
            return graph, {}
        costs = node_costs(graph, lambda node: why_not(node, manifests), self.costs)
        placement = place(graph, costs, copy_costs(self.costs), runtime)
        split = rewrite(graph, placement, DeviceRegion, {}, ToDevice(), FromDevice())
        for node in split.nodes:
            if node.op.name == DEVICE_REGION:
                part = part_of(node.regions[0], model.name, manifests)
                contents = program(part, library.hexagon, obscured=model.obscured)
                node.inputs = [split.new_constant("dsp program", np.frombuffer(contents, np.uint8))]
        return split, placement.document(graph)


def _in_order(kernels: Mapping[str, KernelInfo]) -> tuple[KernelInfo, ...]:
    return tuple(sorted(kernels.values(), key=lambda kernel: manifest.registry_order(kernel, DSP_ISAS)))


def _has_nothing(model: PlannedModel) -> bool:
    """Whether the DSP was asked for and gets nothing."""
    asked = model.source.device.runtime.uses_dsp
    return asked and not any(node.op.name == DEVICE_REGION for node in model.source.graph.nodes)


def _alone(model: PlannedModel) -> Problem:
    return Problem(
        "no node of this model runs on the DSP",
        Where(model=model.source.name),
        rule="report/build.json lists the reasons under `placement`",
        remedy="set `runtime: cpu` for a smaller library",
    )
