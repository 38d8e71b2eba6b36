"""Which nodes of a model run on a device and which on the CPU: as data of a plan, and for people.

The data is what the target tells (`PlannedModel.placement`), with a few sums.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from buildtool.reports.table import Table


def of_plan(told: Mapping[str, Any], *, obscured: bool) -> dict[str, Any]:
    """For `report/build.json`. The names of nodes and values are left out where the build hides them."""
    nodes, copies = told["nodes"], told["copies"]
    on_gpu = sum(node["side"] == "device" for node in nodes)
    regions = len({node["region"] for node in nodes} - {None})
    sums = {"on_gpu": on_gpu, "on_cpu": len(nodes) - on_gpu, "regions": regions, "copy_count": len(copies)}
    named = {"nodes": list(nodes), "copies": list(copies)}
    rest = {key: value for key, value in told.items() if key not in named}
    return {**rest, **sums, **({} if obscured else named)}


def tables(models: Sequence[Mapping[str, Any]], *, verbose: bool) -> list[Table]:
    """Of the models in `report/build.json`: one line per model and ABI; verbose: one per node, too."""
    numbers = ["on device", "on CPU", "regions", "copies", "ms", "least ms", "greedy copies", "greedy ms", "CPU ms"]
    summary = Table(
        ["model", "abi", "runtime", *numbers], title="devices, times as estimated", right=frozenset(numbers)
    )
    details = []
    for model in models:
        for plan in model["plans"]:
            if "placement" not in plan:
                continue
            placed = plan["placement"]
            counts = (placed[key] for key in ("on_gpu", "on_cpu", "regions", "copy_count"))
            costs = (_ms(placed["cost_ns"]), _ms(placed["least_ns"]))
            others = (placed["greedy_copies"], _ms(placed["greedy_cost_ns"]), _ms(placed["cpu_cost_ns"]))
            summary.add(model["name"], plan["abi"], placed["runtime"], *counts, *costs, *others)
            if "nodes" in placed:
                details.append(_nodes(f"{model['name']} on {plan['abi']}: where nodes run", placed["nodes"]))
    return ([summary] if summary.rows else []) + (details if verbose else [])


def _nodes(title: str, nodes: Sequence[Mapping[str, Any]]) -> Table:
    table = Table(["node", "op", "region", "where and why"], title=title, right=frozenset({"region"}))
    for node in nodes:
        table.add(node["node"], node["op"], "" if node["region"] is None else node["region"], node["reason"])
    return table


def _ms(nanoseconds: int | None) -> str:
    """Nothing where a side has no kernel for some node."""
    return "" if nanoseconds is None else f"{nanoseconds / 1e6:.3f}"
