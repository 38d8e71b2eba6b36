"""A benchmark as a trace for Perfetto and chrome://tracing: one process per model and device, one slice per node."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from buildtool.benchmark.measurement import on_gpu

_SHOWN = ("kernel", "macs", "bytes", "gmacs", "share_of_peak", "limit", "instructions", "accesses")


def text(measurements: Sequence[Mapping[str, Any]]) -> str:
    """The file."""
    events = [event for number, item in enumerate(measurements, start=1) for event in _events(number, item)]
    return json.dumps({"displayTimeUnit": "ms", "traceEvents": events}, ensure_ascii=False) + "\n"


def _events(process: int, item: Mapping[str, Any]) -> Iterable[dict[str, Any]]:
    scale = "" if item["unit"] == "seconds" else " (instructions, each as a nanosecond)"
    title = f"{item['model']}, {item['abi']}, {item['device']}{scale}"
    yield {"ph": "M", "pid": process, "tid": 1, "name": "process_name", "args": {"name": title}}
    gpu = item.get("gpu", {})
    for thread, name in enumerate(["nodes", *([f"GPU: {gpu['name']}"] if gpu.get("kind") == "gpu" else [])], start=1):
        yield {"ph": "M", "pid": process, "tid": thread, "name": "thread_name", "args": {"name": name}}
    passed = 0
    for node in item["nodes"]:
        if item["unit"] == "seconds":
            start, duration = node["start_ms"] * 1e3, (node["end_ms"] - node["start_ms"]) * 1e3
        else:
            start, duration = passed / 1e3, node["instructions"] / 1e3
            passed += node["instructions"]
        yield {
            "ph": "X",
            "pid": process,
            "tid": 2 if gpu.get("kind") == "gpu" and on_gpu(node["kernel"]) else 1,
            "cat": node["op"],
            "name": node["name"] or node["op"],
            "ts": round(start, 3),
            "dur": round(duration, 3),
            "args": {key: node[key] for key in _SHOWN if node.get(key) is not None},
        }
