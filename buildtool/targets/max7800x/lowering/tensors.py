"""What users of a lowered model have to know: how its tensors become bytes, and what comes out means."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import numpy as np

from buildtool import version
from buildtool.codegen import max7800x as codegen
from buildtool.errors import UnsupportedError
from buildtool.targets.max7800x.description import writing
from buildtool.targets.max7800x.lowering.lower import Lowered, Port
from buildtool.targets.max7800x.lowering.scales import SOFTMAX_FRACTION
from buildtool.targets.max7800x.options import Options


def with_softmax(options: Options, lowered: Lowered) -> Options:
    """Options by which the program takes the softmax that the model ends with."""
    if len(lowered.outputs) != 1 or not options.unload:
        return options
    (port,) = lowered.outputs
    layer = next(layer for layer in lowered.network.layers if layer.index == port.layer)
    if port.after != "softmax" or layer.output_width != 32:
        return options
    shift = round(math.log2(port.scale / math.log(2))) + SOFTMAX_FRACTION
    return replace(options, softmax=True, softmax_shift=shift)


def files(lowered: Lowered) -> dict[str, bytes]:
    """A header about the tensors, and the plan in the language of ai8xize where it has words for it."""
    values = {
        "name": lowered.network.name,
        "version": version(),
        "input": {**_told(lowered.input), "steps": _steps(lowered.input), **_size(lowered.input)},
        "outputs": [_told(port) for port in lowered.outputs],
    }
    return {"tensors.h": codegen.render("tensors.h", **values), **_plan(lowered)}


def _plan(lowered: Lowered) -> dict[str, bytes]:
    """Nothing where ai8xize has no words for what a layer does."""
    try:
        plan = writing.written(lowered.network)
    except UnsupportedError:
        return {}
    return {"plan/network.yaml": plan.description.encode(), "plan/weights.pth.tar": plan.checkpoint}


def details(lowered: Lowered) -> dict[str, Any]:
    """The same for JSON."""

    def plain(port: Port) -> dict[str, Any]:
        return {"name": port.name, "shape": list(port.shape), "scale": port.scale}

    return {
        "tensors": {
            "input": plain(lowered.input),
            "outputs": [{**plain(port), "layer": port.layer, "after": port.after} for port in lowered.outputs],
        }
    }


def _told(port: Port) -> Mapping[str, Any]:
    shape = " x ".join(map(str, port.shape))
    return {"name": port.name, "shape": shape, "scale": f"{port.scale:.9g}f", "layer": port.layer, "after": port.after}


def _size(port: Port) -> dict[str, int]:
    channels, rows, columns = port.order.shape
    return {"channels": channels, "rows": rows, "columns": columns}


def _steps(port: Port) -> tuple[int, ...]:
    """From one channel, row and column to the next in the model's tensor; empty where it is not that simple."""
    order = port.order
    steps = []
    for axis in range(3):
        second = tuple(int(axis == one) for one in range(3))
        steps.append(int(order[second] - order[0, 0, 0]) if order.shape[axis] > 1 else 0)
    places = sum(np.indices(order.shape)[axis] * steps[axis] for axis in range(3))
    return tuple(steps) if np.array_equal(places, order) else ()
