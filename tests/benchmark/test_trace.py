"""The trace of a benchmark: the structure that Perfetto and chrome://tracing read, with a track for each thread."""

from __future__ import annotations

import itertools
import json
from typing import Any

from buildtool.benchmark import trace

Event = dict[str, Any]


def node(name: str, op: str, start: float, end: float, **more: object) -> Event:
    return {"name": name, "op": op, "kernel": "k__avx2", "start_ms": start, "end_ms": end, "macs": 5, **more}


def loop(thread: int, start: float, end: float) -> Event:
    return {"thread": thread, "slices": 3, "start_ms": start, "end_ms": end}


def measurement(**more: object) -> Event:
    nodes = [node("first", "conv2d", 0.001, 0.1), node("", "relu", 0.1, 0.15), node("last", "conv2d", 0.2, 0.5001)]
    told = {"model": "m", "abi": "host", "device": "local", "unit": "seconds", "nodes": nodes}
    return {**told, "threads_of_loops": [loop(0, 0.01, 0.0999), loop(1, 0.0123, 0.09), loop(1, 0.21, 0.5)], **more}


def events(*measurements: Event) -> list[Event]:
    document = json.loads(trace.text(measurements))
    assert document["displayTimeUnit"] == "ms"
    found: list[Event] = document["traceEvents"]
    check(found)
    return found


def check(found: list[Event]) -> None:
    """What the format asks for: named tracks, and slices of a track that are apart or inside each other."""
    named = {(event["pid"], event["tid"]) for event in found if event["name"] == "thread_name"}
    tracks: dict[tuple[int, int], list[Event]] = {}
    for event in found:
        assert {"ph", "pid", "tid", "name", "args"} <= event.keys()
        assert event["ph"] in "XM"
        if event["ph"] == "X":
            assert event["name"] and event["cat"] and event["ts"] >= 0 and event["dur"] >= 0
            tracks.setdefault((event["pid"], event["tid"]), []).append(event)
    assert set(tracks) <= named
    for slices in tracks.values():
        ordered = sorted(slices, key=lambda event: (event["ts"], -event["dur"]))
        for one, other in itertools.combinations(ordered, 2):
            end, begin = one["ts"] + one["dur"], other["ts"]
            assert begin >= end - 1e-9 or begin + other["dur"] <= end + 1e-9


def on(found: list[Event], track: str) -> list[tuple[str, float, float]]:
    """The slices of the track of this name."""
    (tid,) = (event["tid"] for event in found if event["name"] == "thread_name" and event["args"]["name"] == track)
    return [(event["name"], event["ts"], event["dur"]) for event in found if event["ph"] == "X" and event["tid"] == tid]


def test_every_thread_has_a_track() -> None:
    found = events(measurement())
    nodes = [("first", 1, 99), ("relu", 100, 50), ("last", 200, 300.1)]
    assert on(found, "thread 0: nodes") == [*nodes, ("loop", 10, 89.9)]
    assert on(found, "thread 1") == [("first", 12.3, 77.7), ("last", 210, 290)]
    order = [event["args"]["sort_index"] for event in found if event["name"] == "thread_sort_index"]
    assert order == [0, 1]


def test_every_measurement_is_a_process() -> None:
    found = events(measurement(), measurement(abi="other"))
    titles = {event["pid"]: event["args"]["name"] for event in found if event["name"] == "process_name"}
    assert titles == {1: "m, host, local", 2: "m, other, local"}


def test_a_gpu_has_a_track() -> None:
    nodes = [node("a", "conv2d", 0, 1, kernel="conv2d"), node("b", "relu", 1, 2)]
    gpu = {"kind": "gpu", "name": "Large"}
    found = events(measurement(nodes=nodes, gpu=gpu, threads_of_loops=[]))
    assert on(found, "GPU: Large") == [("a", 0, 1000)]
    assert on(found, "thread 0: nodes") == [("b", 1000, 1000)]


def test_instructions_are_nanoseconds() -> None:
    nodes = [node("a", "conv2d", 0, 0, instructions=1500), node("b", "relu", 0, 0, instructions=500)]
    item = measurement(nodes=nodes, unit="instructions")
    del item["threads_of_loops"]
    found = events(item)
    assert on(found, "thread 0: nodes") == [("a", 0, 1.5), ("b", 1.5, 0.5)]
    assert "instructions" in found[0]["args"]["name"]
