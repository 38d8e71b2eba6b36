"""Where values lie in the arena, and when: what the page draws."""

from __future__ import annotations

from typing import Any

from buildtool.plan.liveness import lifetimes
from buildtool.targets.protocol import PlannedModel


def of_model(model: PlannedModel) -> dict[str, Any]:
    """The values of a plan with the steps during which they are live. Step 0 is before the first node."""
    makers = {value.name: node.op.name for node in model.source.graph.walk() for value in node.outputs}
    lives = {life.value.name: life for life in lifetimes(model.source.graph).values()}
    values = [
        [place.value, makers.get(place.value, "input"), place.offset, place.size, life.first, life.last]
        for place in model.plan.arena
        if (life := lives.get(place.value)) is not None
    ]
    return {
        "model": model.source.name,
        "abi": model.plan.abi,
        "size": model.plan.arena_size,
        "lower_bound": model.lower_bound,
        "steps": max((life.last for life in lives.values()), default=0) + 1,
        "values": values,
    }
