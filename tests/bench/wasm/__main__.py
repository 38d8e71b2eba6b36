"""Networks in Lathe, onnxruntime-web and TensorFlow.js in the same browser: `make bench-wasm`.

    make bench-wasm NETWORKS="mobilenet_v1 resnet18" ROUNDS=30
    make bench-wasm NODE=1
    make bench-wasm DTYPES=int8
    make bench-wasm THREADS=2

Each network has a browser of its own, in which the engines take turns: headless Chromium, or Node where there is none.
`lathe` is the library with vectors (wasm32-simd), `lathe_relaxed` that with fused sums. With several threads, which all
engines get, `lathe_alone` is the library without threads. onnxruntime-web gets the ONNX file, Lathe the library that it
builds from it, TensorFlow.js the graph as Lathe has optimised it, by its fused operators with its WebAssembly backend.
Times include copying the input in and the output out. In 8 bits (`int8`), onnxruntime-web gets the same network with
quantised weights and values, and TensorFlow.js, which computes in single precision only, is left out. npm fetches both
engines into build/bench-wasm once. Writes build/bench-wasm.json: per network the medians, the ratios, the largest
difference of outputs and the bytes of WebAssembly.
"""

from __future__ import annotations

import argparse
import itertools
import json
import math
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np

import buildtool
from buildtool.devices.node import launcher
from buildtool.drafts import deployment
from buildtool.ir.graph import Graph
from buildtool.ir.types import DType
from buildtool.requests.deployments import load_deployment
from buildtool.settings import DEFAULTS, SILENT, Options, Overrides
from buildtool.workflow.preparing import prepare
from tests.wasm import browser
from tests.zoo.networks import NETWORKS, cached
from tests.zoo.quantised import quantised

ROOT = Path(__file__).resolve().parents[3]
FOLDER = ROOT / "build" / "bench-wasm"
RESULT = ROOT / "build" / "bench-wasm.json"
#: The libraries that are measured, by the number of threads: one or several.
ABI = "wasm32-simd"
LIBRARIES = {
    False: {"lathe": ABI, "lathe_relaxed": "wasm32-relaxed-simd"},
    True: {"lathe": f"{ABI}-threads", "lathe_relaxed": "wasm32-relaxed-simd-threads", "lathe_alone": ABI},
}
PACKAGES = ("onnxruntime-web@1.30.0", "@tensorflow/tfjs@4.22.0", "@tensorflow/tfjs-backend-wasm@4.22.0")
PEERS = {"fp32": ("onnxruntime_web", "tensorflow_js"), "int8": ("onnxruntime_web",)}
_HERE = Path(__file__).parent
_SECONDS = 300.0
_SIZE = 224
#: As a part of the largest element of the output. Engines round differently after each layer of bytes.
_LARGEST_ERROR = {"fp32": 1e-4, "int8": 0.1}


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--networks", nargs="+", default=list(NETWORKS), choices=list(NETWORKS))
    parser.add_argument("--dtypes", nargs="+", default=list(PEERS), choices=list(PEERS))
    parser.add_argument("--rounds", type=int, default=20)
    parser.add_argument("--warmup", type=int, default=5)
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--node", action="store_true", help="in Node, although there is a browser")
    options = parser.parse_args()
    modules = installed()
    rows = []
    for dtype, name in itertools.product(options.dtypes, options.networks):
        task = prepared(name, dtype, options.rounds, options.warmup, options.threads)
        said = _in_node(modules, task) if options.node or browser.program() is None else _in_browser(modules, task)
        if "problem" in said:
            print(f"{name} in {dtype}: {said['problem']}", file=sys.stderr)
            return 1
        rows.append(_row(said, task, dtype))
        others = (*PEERS[dtype], *LIBRARIES[options.threads > 1])
        if wrong := [peer for peer in others if rows[-1][peer]["error"] > _LARGEST_ERROR[dtype]]:
            print(f"{name} in {dtype}: Lathe and {', '.join(wrong)} do not compute the same", file=sys.stderr)
            return 1
        print(_line(rows[-1]), flush=True)
    abis = LIBRARIES[options.threads > 1]
    document = {
        "abi": abis["lathe"],
        "abis": abis,
        "threads": options.threads,
        "rounds": options.rounds,
        "networks": rows,
        "geometric_mean": _means(rows),
    }
    RESULT.write_text(json.dumps(document, indent=2) + "\n")
    means = ", ".join(f"{ratio:.3f} of {peer}" for peer, ratio in document["geometric_mean"].items())
    print(f"geometric mean: {means}; wrote {RESULT.relative_to(ROOT)}")
    return 0


def installed() -> Path:
    """The folder with the other engines. npm fetches them where they are missing."""
    FOLDER.mkdir(parents=True, exist_ok=True)
    stamp = FOLDER / "installed"
    if not stamp.is_file() or stamp.read_text().split() != list(PACKAGES):
        npm = shutil.which("npm")
        if npm is None:
            sys.exit("npm is missing, which fetches the other engines: apt-get install npm")
        command = [npm, "install", "--no-audit", "--no-fund", "--ignore-scripts", "--prefix", str(FOLDER), *PACKAGES]
        subprocess.run(command, check=True, stdout=subprocess.DEVNULL)
        stamp.write_text(" ".join(PACKAGES))
    return FOLDER / "node_modules"


def prepared(name: str, dtype: str, rounds: int, warmup: int, threads: int = 1) -> Path:
    """The folder of a task: the network in the form that each engine takes, and task.json."""
    folder = FOLDER / (name if dtype == "fp32" else f"{name}_{dtype}")
    folder.mkdir(parents=True, exist_ok=True)
    onnx = (quantised if dtype == "int8" else cached)(name, FOLDER / "onnx", _SIZE)
    file = folder / "deploy.yml"
    file.write_text(deployment.write([onnx], relative_to=folder, library_name=name, data_type="fp32_fp32"))
    abis = LIBRARIES[threads > 1]
    overrides = Overrides(target_abis=tuple(abis.values()))
    built = buildtool.build(file, overrides, Options(output=folder / "build", archive=False))
    shutil.copyfile(onnx, folder / "model.onnx")
    if dtype == "fp32":
        (model,) = prepare(load_deployment(file, overrides), DEFAULTS, SILENT)
        document, weights = for_tensorflow(model.graph)
        (folder / "graph.json").write_text(json.dumps(document))
        (folder / "weights.bin").write_bytes(weights)
    task = {
        "engines": [*abis, *PEERS[dtype]],
        "name": name,
        "shape": [1, 3, _SIZE, _SIZE],
        "rounds": rounds,
        "warmup": warmup,
        "threads": threads,
        "modules": {engine: f"/tasks/build/{name}/lib/{abi}/{name}.mjs" for engine, abi in abis.items()},
        "onnx": "/tasks/model.onnx",
        "graph": "/tasks/graph.json",
        "weights": "/tasks/weights.bin",
        "wasm_bytes": {engine: built.library_for(abi).bytes_stripped for engine, abi in abis.items()},
    }
    (folder / "task.json").write_text(json.dumps(task))
    return folder


def for_tensorflow(graph: Graph) -> tuple[dict[str, Any], bytes]:
    """A graph and its constants as bench.mjs reads them: filters in the order of TensorFlow."""
    constants: dict[str, dict[str, Any]] = {}
    weights = bytearray()
    nodes = []
    for node in graph.nodes:
        for index, value in enumerate(node.inputs):
            if value.constant is None or value.name in constants:
                continue
            array = np.asarray(value.constant)
            if node.op.name == "conv2d" and index == 1:
                array = array.transpose(1, 2, 3, 0)  # OHWI to HWIO
            if node.op.name == "fully_connected" and index == 1:
                array = array.T  # with filters the other way round its backend leaves the bias out
            if node.op.name == "dwconv2d" and index == 1:
                array = array[..., None]  # one output per channel
            kind = "float32" if value.type.dtype is DType.F32 else "int32"
            place = {"type": kind, "shape": list(array.shape), "offset": len(weights), "count": array.size}
            constants[value.name] = {"name": value.name, **place}
            weights += np.ascontiguousarray(array, kind).tobytes()
        attributes = {key.removeprefix("activation_"): value for key, value in vars(node.op).items()}
        unusual = attributes.get("groups", 1) != 1 or tuple(attributes.get("dilations", (1, 1))) != (1, 1)
        if unusual or attributes.get("multiplier", 1) != 1:
            raise ValueError(f"bench.mjs has no counterpart of {node.op}")
        entry = {"op": node.op.name, "inputs": [value.name for value in node.inputs], "output": node.outputs[0].name}
        nodes.append({**entry, "attributes": attributes})
    borders = {"input": graph.inputs[0].name, "output": graph.outputs[0].name}
    return {**borders, "constants": list(constants.values()), "nodes": nodes}, bytes(weights)


def _in_browser(modules: Path, task: Path) -> dict[str, Any]:
    return dict(browser.answer(_HERE, "page.html", _SECONDS, {"/npm/": modules, "/tasks/": task}, isolated=True))


def _in_node(modules: Path, task: Path) -> dict[str, Any]:
    command = [*launcher(LIBRARIES[False]["lathe_relaxed"]), str(_HERE / "node.mjs"), str(modules), str(task)]
    done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=_SECONDS)
    return dict(json.loads(done.stdout)) if done.returncode == 0 else {"problem": done.stderr}


def _row(said: dict[str, Any], task: Path, dtype: str) -> dict[str, Any]:
    result = said.pop("result")
    ratios = {peer: result["lathe"]["median_ms"] / result[peer]["median_ms"] for peer in PEERS[dtype]}
    forms = {"relaxed_to_lathe": result["lathe_relaxed"]["median_ms"] / result["lathe"]["median_ms"]}
    if "lathe_alone" in result:
        forms["lathe_to_alone"] = result["lathe"]["median_ms"] / result["lathe_alone"]["median_ms"]
    sizes = json.loads((task / "task.json").read_text())["wasm_bytes"]
    wasm = {"wasm_bytes": sizes["lathe"], "wasm_bytes_of_forms": sizes}
    return {**result, "dtype": dtype, "ratios": ratios, "forms": forms, **wasm, **said}


def _line(row: dict[str, Any]) -> str:
    engines = [name for name in (*LIBRARIES[True], *PEERS[row["dtype"]]) if name in row]
    times = ", ".join(f"{name} {row[name]['median_ms']:.1f} ({row[name]['least_ms']:.1f}) ms" for name in engines)
    ratios = ", ".join(f"{name} {ratio:.3f}" for name, ratio in {**row["ratios"], **row["forms"]}.items())
    errors = ", ".join(f"{row[name]['error']:.0e}" for name in engines[1:])
    what = f"{row['network']} in {row['dtype']}: {times}; ratios {ratios}; errors {errors}"
    return f"{what}; {row['wasm_bytes']:,} bytes of WebAssembly"


def _means(rows: list[dict[str, Any]]) -> dict[str, float]:
    logs: dict[str, list[float]] = {}
    for row in rows:
        for peer, ratio in {**row["ratios"], **row["forms"]}.items():
            logs.setdefault(f"{peer} in {row['dtype']}", []).append(math.log(ratio))
    return {name: math.exp(sum(values) / len(values)) for name, values in logs.items()}


if __name__ == "__main__":
    sys.exit(main())
