"""What `lathe tune` found, for people."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from buildtool.plan import algorithms
from buildtool.reports.table import Table, number


def parts(document: Mapping[str, Any]) -> list[str | Table]:
    """The tables of the document of `lathe tune`."""
    words = ["direct", *algorithms.ALGORITHMS[1:]]
    table = Table(["model", "abi", "node", *(f"{word} ms" for word in words), "chosen"], right=frozenset(words))
    for model in document["models"]:
        for node in model["nodes"]:
            times = [number(node["ns"][word] / 1e6, 4) if word in node["ns"] else "" for word in words]
            table.add(model["model"], model["abi"], node["name"], *times, node["chosen"])
    told = []
    for model in document["models"]:
        gain = f"{model['estimated_ns'] / 1e6:.3f} -> {model['chosen_ns'] / 1e6:.3f} ms"
        where = f"{model['model']} on {model['abi']} ({model['device']})"
        told.append(f"{where}: {model['changed']} of {len(model['nodes'])} nodes differ from the estimate, {gain}")
    nodes = [table] if document["models"] else []
    wrote = f"wrote {document['file']}" if document["models"] or document["gpus"] else "nothing was tuned"
    return [*nodes, *told, *_gpu_parts(document["gpus"]), wrote]


def _gpu_parts(gpus: Sequence[Mapping[str, Any]]) -> list[str | Table]:
    if not gpus:
        return []
    figures = ("usual ms", "tuned ms", "times", "default kernels ms", "tuned kernels ms", "tuned")
    table = Table(["model", "abi", "gpu", *figures, ""], right=frozenset(figures))
    for item in gpus:
        times = [number(item[key], 4) for key in ("usual_ms", "tuned_ms")]
        faster = number(item["usual_ms"] / item["tuned_ms"], 3) if item["tuned_ms"] else ""
        kernels = [number(item[f"kernels_{way}_ns"] / 1e6, 4) for way in ("usual", "tuned")]
        left = "" if item["complete"] else "incomplete: run it again"
        table.add(item["model"], item["abi"], item["gpu"], *times, faster, *kernels, str(item["tuned"]), left)
    return [table, *(f"wrote {item['file']}" for item in gpus)]
