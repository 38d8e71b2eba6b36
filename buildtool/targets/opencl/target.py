"""Lowers graphs to parts for a device and parts for the CPU."""

from __future__ import annotations

import functools
from collections.abc import Collection, Mapping
from dataclasses import dataclass, field, replace
from typing import Any, Literal

from buildtool.errors import Problem, Where
from buildtool.ir.attributes import AttrValue
from buildtool.ir.graph import Graph
from buildtool.ir.types import DType
from buildtool.ops.device_region import DeviceRegion
from buildtool.ops.from_device import FromDevice
from buildtool.ops.to_device import ToDevice
from buildtool.plan import units
from buildtool.plan.manifest import Manifests
from buildtool.plan.units import DeviceUnits, UnitInfo
from buildtool.targets.native_library import DEVICE_REGION, NativeTarget
from buildtool.targets.protocol import LibrarySource, ModelSource, PlannedModel, TargetProgram
from buildtool.targets.regions.costs import DeviceCosts, copy_costs, node_costs
from buildtool.targets.regions.placement import place
from buildtool.targets.regions.rewrite import rewrite

#: The largest tile of Winograd's convolutions where the deployment says nothing: larger ones round more.
_USUAL_TILE: Literal[2] = 2


@dataclass(frozen=True)
class OpenclTarget(NativeTarget):
    """The target of `runtime: gpu` and `cpu+gpu`."""

    costs: DeviceCosts = field(default_factory=DeviceCosts)  # of the machines that it is to be fast on

    def lower(self, library: LibrarySource, abi: str) -> TargetProgram:
        program = super().lower(library, abi)
        return replace(program, notes=(*program.notes, *map(_alone, filter(_has_nothing, program.models))))

    def placed(
        self, model: ModelSource, graph: Graph, manifests: Manifests, library: LibrarySource
    ) -> tuple[Graph, Mapping[str, Any]]:
        runtime = model.device.runtime
        if not runtime.uses_gpu:
            return graph, {}
        half = model.stored.half is DType.F16
        costs = replace(self.costs, half=half)
        placement = place(graph, node_costs(graph, _units().why_not, costs), copy_costs(costs), runtime)
        attributes: dict[str, AttrValue] = {
            "memory": model.device.memory,
            "storage": "f16" if half else "f32",
            "arithmetic": model.device.arithmetic,
            "winograd": _USUAL_TILE if model.winograd is None else model.winograd,
            "opencl_queue_window_size": model.device.opencl_queue_window_size,
            "kernel_microseconds": model.device.kernel_microseconds,
        }
        split = rewrite(graph, placement, DeviceRegion, attributes, ToDevice(), FromDevice())
        return split, placement.document(graph)

    def device_units(self, model: ModelSource) -> Collection[UnitInfo]:
        """All that fit a node: at run time a unit may decline, and the next one is asked."""
        bodies = [node.regions[0] for node in model.graph.nodes if node.op.name == DEVICE_REGION]
        found = [unit for body in bodies for node in body.walk() for unit in _units().units_for(node)]
        # Looking into a model copies back what no border gives.
        return [*found, *_units().of("from_device")] if bodies else found


@functools.cache
def _units() -> DeviceUnits:
    return units.load()


def _has_nothing(model: PlannedModel) -> bool:
    """Whether the GPU was asked for and gets nothing."""
    asked = model.source.device.runtime.uses_gpu
    return asked and not any(node.op.name == DEVICE_REGION for node in model.source.graph.nodes)


def _alone(model: PlannedModel) -> Problem:
    return Problem(
        "no node of this model runs on the GPU",
        Where(model=model.source.name),
        rule="report/build.json lists the reasons under `placement`",
        remedy="set `runtime: cpu` for a smaller library",
    )
