"""What `lathe tune` measured: `report/tuning.json`, which later builds of the same things read."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path, PurePosixPath
from typing import Any

from buildtool.builders import opencl_files
from buildtool.devices.runner import NodeTime
from buildtool.ir.graph import Graph
from buildtool.plan import algorithms
from buildtool.plan.algorithms import Times
from buildtool.settings import Options
from buildtool.targets.protocol import DeviceData

DIRECT = "direct"  # what people call algorithms.DIRECT
_FILE = Path("report/tuning.json")
TURNS = 3  # how often every library runs


@dataclass(frozen=True)
class Measured:
    """One model on one ABI: the nodes that can be computed in several ways, and what each took."""

    model: str
    abi: str
    device: str
    threads: int
    rounds: int
    nodes: Times

    def as_json(self) -> dict[str, Any]:
        return {**vars(self), "nodes": {name: _named(times) for name, times in self.nodes.items()}}


@dataclass(frozen=True)
class GpuFile:
    """What a GPU has found out: a file that is shipped with the library."""

    path: str  # in the folder of the build
    abi: str
    data: bytes = field(repr=False)

    def as_json(self) -> dict[str, str]:
        return {"path": self.path, "abi": self.abi, "sha256": hashlib.sha256(self.data).hexdigest()}


@dataclass(frozen=True)
class Tuning:
    """All that was measured for one library."""

    fingerprint: str  # of the build that was measured, without what is chosen by these figures
    measured: tuple[Measured, ...] = ()
    gpu: tuple[GpuFile, ...] = ()

    @property
    def identity(self) -> str:
        """A fingerprint of what is built with these figures."""
        return hashlib.sha256(self.text().encode()).hexdigest() if self.measured or self.gpu else self.fingerprint

    def times(self) -> Mapping[str, Mapping[str, Times]]:
        """By model and ABI."""
        found: dict[str, dict[str, Times]] = {}
        for item in self.measured:
            found.setdefault(item.model, {})[item.abi] = item.nodes
        return found

    def device_data(self) -> dict[str, DeviceData]:
        """What GPUs have found out, by ABI."""
        found: dict[str, DeviceData] = {}
        for abi in dict.fromkeys(file.abi for file in self.gpu):
            files = [file.data for file in self.gpu if file.abi == abi]
            tuned = [data for data in files if data.startswith(opencl_files.Content.TUNING.value)]
            programs = [data for data in files if data.startswith(opencl_files.Content.PROGRAMS.value)]
            found[abi] = DeviceData(opencl_files.merge(tuned), b"".join(programs))
        return found

    def as_json(self) -> dict[str, Any]:
        measured = [item.as_json() for item in self.measured]
        return {"fingerprint": self.fingerprint, "measured": measured, "gpu": [file.as_json() for file in self.gpu]}

    def text(self) -> str:
        return json.dumps(self.as_json(), indent=2, ensure_ascii=False) + "\n"

    def files(self) -> dict[str, bytes]:
        """What a build with these figures writes."""
        if not self.measured and not self.gpu:
            return {}
        return {_FILE.as_posix(): self.text().encode(), **{file.path: file.data for file in self.gpu}}


def path(folder: Path) -> Path:
    """Where the figures of a build are."""
    return folder / _FILE


def read(folder: Path, fingerprint: str) -> Tuning:
    """The figures in the folder of a build; empty where there are none of these very things."""
    try:
        data = json.loads(path(folder).read_text(encoding="utf-8"))
        if data["fingerprint"] != fingerprint:
            return Tuning(fingerprint)
        measured = tuple(_measured(item) for item in data["measured"])
        files = (_gpu_file(folder, item) for item in data.get("gpu", ()))
        return Tuning(fingerprint, measured, tuple(file for file in files if file is not None))
    except (OSError, ValueError, KeyError, TypeError, AttributeError):
        return Tuning(fingerprint)


def _measured(data: Mapping[str, Any]) -> Measured:
    nodes = {
        str(name): {algorithms.DIRECT if word == DIRECT else str(word): int(time) for word, time in times.items()}
        for name, times in data["nodes"].items()
    }
    return Measured(**{**data, "nodes": nodes})


def _gpu_file(folder: Path, data: Mapping[str, str]) -> GpuFile | None:
    """The file that was written down; None where it is not there any more, or another one."""
    path = PurePosixPath(data["path"])
    if path.parent != PurePosixPath(opencl_files.FOLDER) or not (folder / path).is_file():
        return None
    file = GpuFile(str(path), data["abi"], (folder / path).read_bytes())
    return file if file.as_json() == data else None


def trial(options: Options, algorithm: str) -> Options:
    """Where the library is built that uses one algorithm wherever it can."""
    return replace(options, output=options.output / "variants" / (algorithm or DIRECT))


class Log:
    """Gathers the least time of each way of computing each node."""

    def __init__(self) -> None:
        self._runs: dict[tuple[str, str], dict[str, Any]] = {}
        self._times: dict[tuple[str, str], dict[str, dict[str, int]]] = {}

    def add(self, run: Mapping[str, Any], algorithm: str, nodes: Iterable[NodeTime]) -> None:
        """One run, as it is reported, of the library that uses the algorithm wherever it can."""
        key = (run["model"], run["abi"])
        self._runs[key] = {name: run[name] for name in ("model", "abi", "device", "threads", "rounds")}
        known = self._times.setdefault(key, {})
        for position, node in enumerate(nodes):
            if algorithm == algorithms.DIRECT or f"_{algorithm}__" in node.kernel:
                times = known.setdefault(algorithms.label(position, node.name), {})
                times[algorithm] = min(node.nanoseconds, times.get(algorithm, node.nanoseconds))

    def measured(self) -> tuple[Measured, ...]:
        """The nodes that can be computed in several ways."""
        several = {
            key: {name: times for name, times in nodes.items() if len(times) > 1} for key, nodes in self._times.items()
        }
        return tuple(Measured(**run, nodes=several[key]) for key, run in self._runs.items())


@dataclass(frozen=True)
class TuningReport:
    """What `lathe tune` found out, and what it changed."""

    library: str
    folder: Path
    models: tuple[dict[str, Any], ...]
    gpus: tuple[dict[str, Any], ...] = ()  # every model with parts for a GPU, on every device

    def as_json(self) -> dict[str, Any]:
        return {
            "library": self.library,
            "folder": str(self.folder),
            "file": str(path(self.folder)),
            "models": list(self.models),
            "gpus": list(self.gpus),
        }


def summary(item: Measured, graph: Graph, tiles: int | None) -> dict[str, Any]:
    """What the figures of a model change."""
    labels = {node: algorithms.label(position, node.name) for position, node in enumerate(graph.nodes)}
    estimated, chosen = (
        {labels[node]: way for node, way in choice.items() if node in labels}
        for choice in (algorithms.choose(graph, tiles), algorithms.choose(graph, tiles, measured=item.nodes))
    )
    nodes = [
        {"name": name, "ns": _named(times), "chosen": chosen.get(name) or DIRECT} for name, times in item.nodes.items()
    ]
    return {
        **item.as_json(),
        "nodes": nodes,
        "changed": sum(chosen.get(name) != estimated.get(name) for name in item.nodes),
        "estimated_ns": sum(times[estimated.get(name, algorithms.DIRECT)] for name, times in item.nodes.items()),
        "chosen_ns": sum(times[chosen.get(name, algorithms.DIRECT)] for name, times in item.nodes.items()),
    }


def _named(times: Mapping[str, int]) -> dict[str, int]:
    return {algorithm or DIRECT: time for algorithm, time in times.items()}
