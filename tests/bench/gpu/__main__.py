"""Networks on the GPU of this machine: `make bench-gpu`.

    make bench-gpu NETWORKS=resnet18 STORAGES=f16 MEMORIES=buffer SIZE=224

Each network of the zoo runs with every storage, memory and Winograd tile asked for, before and after tuning. `run_ms`
is the median of whole runs, copies of inputs and outputs included; `kernels_ms` the sum of the GPU's own times of all
kernels; `bound_ms` what the GPU of `--peak GMACS,GBS` needs for the multiply-accumulates or for the constants,
whichever takes longer. `cosine` compares with onnxruntime. With `--peer`, where PyTorch sees the same GPU, its eager
mode and its CUDA graphs run the same architecture afterwards. Writes build/bench-gpu.json.
"""

from __future__ import annotations

import argparse
import functools
import itertools
import json
import sys
import time
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, TypeAlias

import numpy as np
import onnx
import onnxruntime

from buildtool.builders import library as builder
from buildtool.builders.objects import ObjectCache
from buildtool.builders.process import Processes
from buildtool.codegen.container import Container
from buildtool.codegen.container_writer import Stored
from buildtool.importers.onnx import import_model
from buildtool.importers.request import ImportRequest, TensorRequest
from buildtool.ir.graph import Graph
from buildtool.ir.operator import Array
from buildtool.ir.types import DType
from buildtool.ir.work import node_macs
from buildtool.passes.pipeline import optimise
from buildtool.runtime import DeviceKind, DeviceOptions, Engine, Library
from buildtool.runtimes import Runtime
from buildtool.targets.native_library import write_container
from buildtool.targets.opencl import TARGET
from buildtool.targets.protocol import DeviceSettings, LibrarySource, ModelSource
from tests.bench import words
from tests.bench.gpu import torch_peer
from tests.zoo.networks import NETWORKS, build

_RESULT = Path(__file__).resolve().parents[3] / "build" / "bench-gpu.json"
_TUNING = 2  # of Engine.device_data

Kernel: TypeAlias = tuple[str, str, float]  # node, kernel, milliseconds


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--networks", type=functools.partial(words.listed, tuple(NETWORKS)), default=list(NETWORKS))
    parser.add_argument("--storages", type=functools.partial(words.listed, ("f32", "f16")), default=["f32", "f16"])
    memories = ("image", "buffer")
    parser.add_argument("--memories", type=functools.partial(words.listed, memories), default=list(memories))
    parser.add_argument("--winograd", type=functools.partial(words.listed, ("0", "2", "4")), default=["0"])
    parser.add_argument("--size", type=int, default=224, help="edge of the picture")
    parser.add_argument("--rounds", type=int, default=100)
    parser.add_argument("--tune", type=float, default=20.0, help="seconds of tuning for each; 0: none")
    parser.add_argument("--nodes", type=int, default=0, help="also print so many of the slowest kernels")
    parser.add_argument("--peak", type=lambda text: tuple(map(float, text.split(","))), help="GMACS,GBS of the GPU")
    parser.add_argument("--peer", action="store_true", help="PyTorch on the same GPU, too")
    options = parser.parse_args()
    results = []
    for name in options.networks:
        with TemporaryDirectory(prefix="lathe-bench-gpu-") as folder:
            results += list(_measured(name, Path(folder), options))
    document = {"size": options.size, "results": results}
    _RESULT.parent.mkdir(exist_ok=True)
    _RESULT.write_text(json.dumps(document, indent=1), encoding="utf-8")
    return 0


@dataclass(frozen=True)
class Built:
    """A network for the GPU: its library and files, what it is fed, and what onnxruntime makes of it."""

    library: Library
    model: bytes
    data: bytes
    feeds: Mapping[str, Array]
    wanted: Array
    storage_path: Path

    def engine(self, **device: Any) -> Engine:
        wishes = DeviceOptions(kind=DeviceKind.GPU, storage_path=self.storage_path, **device)
        return self.library.engine(model=self.model, data=self.data, device=wishes)

    def cosine(self, engine: Engine) -> float:
        (found,) = engine.run(self.feeds).values()
        a, b = found.ravel().astype(np.float64), self.wanted.ravel().astype(np.float64)
        return float(a @ b / np.sqrt((a @ a) * (b @ b)))


def _measured(name: str, folder: Path, options: argparse.Namespace) -> Iterator[dict[str, Any]]:
    size = options.size
    onnx.save(build(name, size=size), folder / "model.onnx")
    picture = np.random.default_rng(0).uniform(-1, 1, (1, 3, size, size)).astype(np.float32)
    session = onnxruntime.InferenceSession(str(folder / "model.onnx"), providers=["CPUExecutionProvider"])
    (wanted,) = session.run(None, {"input": picture})
    request = ImportRequest(name, folder / "model.onnx", inputs=(TensorRequest("input", picture.shape, "NCHW"),))
    graph = import_model(request).graph
    optimise(graph)
    macs = sum(node_macs(node) for node in graph.nodes)
    for storage in options.storages:
        for memory, winograd in itertools.product(options.memories, map(int, options.winograd)):
            library, files = _library(name, graph, storage, memory, winograd)
            built = Built(library, files.model, files.data, {"input": picture}, wanted, folder)
            entry = {"network": name, "storage": storage, "memory": memory, "winograd": winograd, "macs": macs}
            if options.peak:
                gmacs, gigabytes = options.peak
                entry["bound_ms"] = max(macs / gmacs, len(files.data) / gigabytes) / 1e6
            slowest = _measure(built, entry, options)
            print(_line(entry), flush=True)
            for node, kernel, milliseconds in slowest[: options.nodes]:
                print(f"    {milliseconds:8.4f} ms  {kernel:24} {node}", flush=True)
            yield entry | {"slowest": slowest[:10]}
        if options.peer and (times := torch_peer.times(name, size, storage == "f16", options.rounds)):
            print(f"{name:16} {storage} PyTorch " + "  ".join(f"{way} {ms:.3f} ms" for way, ms in times.items()))
            yield {"network": name, "storage": storage, "torch": times}


def _library(name: str, graph: Graph, storage: str, memory: str, winograd: int) -> tuple[Library, Container]:
    source = ModelSource(
        name,
        graph.clone(),
        stored=Stored(DType.F16 if storage == "f16" else None),
        winograd=winograd,
        device=DeviceSettings(Runtime.GPU, memory),
    )
    program = TARGET.lower(LibrarySource("networks", "networks", (source,)), "host")
    cache = ObjectCache(processes=Processes())
    (made,) = builder.build_all([program], TARGET.emit([program]), cache=cache, owner=f"networks on the GPU {name}")
    return Library(made.shared, "networks"), write_container(program.models[0])


def _measure(built: Built, entry: dict[str, Any], options: argparse.Namespace) -> list[Kernel]:
    began = time.perf_counter()
    usual = built.engine()
    entry["start_ms"] = (time.perf_counter() - began) * 1000
    info = usual.device_info
    entry |= {"device": info.device, "programs": info.programs_built, "programs_ms": info.programs_ms}
    entry["cosine"] = built.cosine(usual)
    entry["run_ms"] = _median(usual, built, options.rounds)
    entry["kernels_ms"], slowest = _kernels(built.engine(profile=True), built)
    if options.tune:
        began = time.perf_counter()
        tuning = built.engine(tuning_milliseconds=int(options.tune * 1000))
        tuning.session()
        entry["tuning_seconds"] = time.perf_counter() - began
        found = tuning.device_data(_TUNING)
        tuned = built.engine(tuning=found)
        entry["tuned_cosine"] = built.cosine(tuned)
        entry["tuned_run_ms"] = _median(tuned, built, options.rounds)
        entry["tuned_kernels_ms"], slowest = _kernels(built.engine(tuning=found, profile=True), built)
    return slowest


def _median(engine: Engine, built: Built, rounds: int) -> float:
    session = engine.session()
    return torch_peer.median_ms(lambda: session.run(built.feeds), rounds)


def _kernels(engine: Engine, built: Built) -> tuple[float, list[Kernel]]:
    """The least sum of the kernels' times of ten runs, in milliseconds, and the kernels, the slowest first."""
    session = engine.session()
    best: list[Kernel] = []
    for _ in range(10):
        session.run(built.feeds)
        found = [(entry.name, entry.kernel, entry.nanoseconds / 1e6) for entry in session.profile()]
        if not best or sum(entry[2] for entry in found) < sum(entry[2] for entry in best):
            best = found
    return sum(entry[2] for entry in best), sorted(best, key=lambda entry: -entry[2])


def _line(entry: dict[str, Any]) -> str:
    tuned = f"  tuned {entry['tuned_run_ms']:.3f} / {entry['tuned_kernels_ms']:.3f}" if "tuned_run_ms" in entry else ""
    return (
        f"{entry['network']:16} {entry['storage']} {entry['memory']:6} w{entry['winograd']}"
        f"  cosine {entry['cosine']:.6f}  run {entry['run_ms']:.3f} ms  kernels {entry['kernels_ms']:.3f} ms{tuned}"
        f"  start {entry['start_ms']:.0f} ms"
    )


if __name__ == "__main__":
    sys.exit(main())
