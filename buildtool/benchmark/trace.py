"""A benchmark as a trace for Perfetto and chrome://tracing: one process per model and device, one track per thread.

The first track has the nodes of a run, and below them what that thread did of the loops that it shared; the tracks of
the other threads have what these did meanwhile.
"""

from __future__ import annotations

import bisect
import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from buildtool.benchmark.measurement import on_gpu

_SHOWN = ("kernel", "macs", "bytes", "gmacs", "share_of_peak", "limit", "instructions", "accesses")
_GPU = 1000  # its track: there are never that many threads

Event = dict[str, Any]


def text(measurements: Sequence[Mapping[str, Any]]) -> str:
    """The file."""
    events = [event for number, item in enumerate(measurements, start=1) for event in _events(number, item)]
    return json.dumps({"displayTimeUnit": "ms", "traceEvents": events}, ensure_ascii=False) + "\n"


def _events(process: int, item: Mapping[str, Any]) -> Iterator[Event]:
    scale = "" if item["unit"] == "seconds" else " (instructions, each as a nanosecond)"
    title = f"{item['model']}, {item['abi']}, {item['device']}{scale}"
    yield _about(process, 1, "process_name", name=title)
    loops = item.get("threads_of_loops", ())
    tracks = {1: "thread 0: nodes"}
    tracks.update((span["thread"] + 1, f"thread {span['thread']}") for span in loops if span["thread"])
    gpu = item.get("gpu", {})
    if gpu.get("kind") == "gpu":
        tracks[_GPU] = f"GPU: {gpu['name']}"
    for order, track in enumerate(sorted(tracks)):
        yield _about(process, track, "thread_name", name=tracks[track])
        yield _about(process, track, "thread_sort_index", sort_index=order)
    nodes = list(_nodes(process, item, gpu.get("kind") == "gpu"))
    yield from nodes
    yield from _loops(process, loops, nodes)


def _about(process: int, track: int, what: str, **arguments: object) -> Event:
    return {"ph": "M", "pid": process, "tid": track, "name": what, "args": arguments}


def _nodes(process: int, item: Mapping[str, Any], has_gpu: bool) -> Iterator[Event]:
    passed = 0
    for node in item["nodes"]:
        if item["unit"] == "seconds":
            start, end = node["start_ms"] * 1e3, node["end_ms"] * 1e3
        else:
            start, passed = passed / 1e3, passed + node["instructions"]
            end = passed / 1e3
        arguments = {key: node[key] for key in _SHOWN if node.get(key) is not None}
        track = _GPU if has_gpu and on_gpu(node["kernel"]) else 1
        yield _slice(process, track, node["name"] or node["op"], node["op"], (start, end), arguments)


def _loops(process: int, loops: Iterable[Mapping[str, Any]], nodes: Sequence[Event]) -> Iterator[Event]:
    """Each span under the name of the node that ran when it began."""
    own = [event for event in nodes if event["tid"] == 1]
    starts = [event["ts"] for event in own]
    for span in loops:
        start, end = span["start_ms"] * 1e3, span["end_ms"] * 1e3
        at = bisect.bisect_right(starts, start) - 1
        name, kind = (own[at]["name"], own[at]["cat"]) if at >= 0 else ("loop", "loop")
        if span["thread"] == 0:
            name = "loop"
        yield _slice(process, span["thread"] + 1, name, kind, (start, end), {"slices": span["slices"]})


def _slice(
    process: int, track: int, name: str, kind: str, times: tuple[float, float], arguments: Mapping[str, Any]
) -> Event:
    """In microseconds, exact to the nanosecond: what is rounded once stays inside of what it is part of."""
    start, end = (round(time, 3) for time in times)
    about = {"ph": "X", "pid": process, "tid": track, "cat": kind, "name": name}
    return {**about, "ts": start, "dur": round(end - start, 3), "args": dict(arguments)}
