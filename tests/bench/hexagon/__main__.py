"""Packets and instructions per inference on the Hexagon DSP, counted in qemu: `make bench-hexagon`.

    make bench-hexagon NETWORKS=mobilenet_v2 SIZE=128

A packet is what the DSP issues at once, at most four instructions. Counts are exact and the same on every machine, and
no times. `bound` is the number of packets if each held two `vrmpy` of 128 products, and nothing else were there.
`equal`: whether the outputs are the bytes that the CPU computes. `kernel_ratio` is that of a layer without the call,
whose packets are those of a model that converts one byte. `program_bytes` is the size of the DSP's program,
`client_bytes` what the library for the application needs to talk to it. Single layers follow: convolutions and fully
connected layers of several widths, and what other kernels need for a result. Writes build/bench-hexagon.json.
"""

from __future__ import annotations

import argparse
import functools
import json
import os
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any
from unittest import mock

import numpy as np

import buildtool
from buildtool.builders import hexagon
from buildtool.builders.objects import ObjectCache
from buildtool.builders.qemu_plugin import count_plugin
from buildtool.codegen import container
from buildtool.codegen.container import Container
from buildtool.drafts import deployment
from buildtool.errors import LatheError
from buildtool.ir.graph import Graph, Value
from buildtool.ir.operator import Array, Operator
from buildtool.ir.types import DType, QuantType, TensorType
from buildtool.ir.work import node_macs
from buildtool.ops.add import Add
from buildtool.ops.avg_pool2d import AvgPool2d
from buildtool.ops.concat import Concat
from buildtool.ops.conv2d import Conv2d
from buildtool.ops.dwconv2d import DwConv2d
from buildtool.ops.fully_connected import FullyConnected
from buildtool.ops.max_pool2d import MaxPool2d
from buildtool.ops.mul import Mul
from buildtool.ops.reduce_mean import ReduceMean
from buildtool.ops.registry import builtin
from buildtool.ops.requantize import Requantize
from buildtool.ops.resize2d import Resize2d
from buildtool.ops.sigmoid import Sigmoid
from buildtool.ops.softmax import Softmax
from buildtool.ops.transpose import Transpose
from buildtool.runtime import DeviceKind, DeviceOptions, Library
from tests.bench import words
from tests.ops.stored_case import Operand, add_operand, bias_of, whole
from tests.targets.hexagon.dsp_library import dsp_library, on_dsp
from tests.zoo.networks import NETWORKS
from tests.zoo.quantised import quantised

ROOT = Path(__file__).resolve().parents[3]
FOLDER = ROOT / "build" / "bench-hexagon"
RESULT = ROOT / "build" / "bench-hexagon.json"
PRODUCTS = 256  # of a packet, at most
_RUN = 3  # the method of native/hexagon/protocol.h


@dataclass(frozen=True)
class Count:
    """What the DSP executed for one inference."""

    packets: int
    instructions: int


def read_run(text: str) -> Count:
    """The last run of what the plugin wrote: lines `method packets accesses words`, before and behind each call."""
    lines = [[int(word) for word in line.split()] for line in text.splitlines()]
    before, behind = [line for line in lines if line[0] == _RUN][-2:]
    return Count(behind[1] - before[1], behind[3] - before[3])


def counted(library: Library, model: Container, programs: Path, inputs: Mapping[str, Array]) -> tuple[Count, bool]:
    """What the second run of a model takes, and whether the DSP gives what the CPU gives."""
    cache = ObjectCache()
    simulator = hexagon.simulator(cache)

    def run(kind: DeviceKind) -> list[Array]:
        options = DeviceOptions(kind=kind)
        session = library.engine(model=model.model, data=model.data, threads=1, device=options).session()
        session.run(inputs)
        return list(session.run(inputs).values())

    with TemporaryDirectory(prefix="lathe-count-") as folder:
        written = Path(folder) / "counts"
        plugged = replace(simulator, emulator=(*simulator.emulator, "-plugin", f"{count_plugin(cache)},out={written}"))
        with mock.patch.dict(os.environ, plugged.environment(programs)):
            found = run(DeviceKind.DSP)
        count = read_run(written.read_text())
    wanted = run(DeviceKind.CPU)
    return count, all(np.array_equal(one, other) for one, other in zip(found, wanted, strict=True))


def row(name: str, macs: int, count: Count, *, equal: bool) -> dict[str, Any]:
    """One line of the result."""
    bound = macs / PRODUCTS
    figures = {"packets": count.packets, "instructions": count.instructions, "macs": macs}
    ratios = {"macs_per_packet": round(macs / count.packets, 1), "bound_ratio": round(count.packets / bound, 3)}
    return {"network": name, **figures, **ratios, "equal": equal}


def network(name: str, size: int) -> dict[str, Any]:
    """A network of the zoo, as onnxruntime quantises it."""
    FOLDER.mkdir(parents=True, exist_ok=True)
    file = FOLDER / f"{name}.yml"
    onnx = quantised(name, ROOT / "build" / "bench-peers" / "onnx", size)
    text = deployment.write([onnx], relative_to=FOLDER, library_name=name, target_abis=["host"], data_type="fp32_fp32")
    file.write_text(text.replace("runtime: cpu", "runtime: dsp"))
    report = buildtool.build(file, options=buildtool.Options(FOLDER / "build"))
    files = report.folder / "model" / "host" / f"{report.models[0].name}.pb"
    model = Container(files.read_bytes(), files.with_suffix(".data").read_bytes())
    graph, _ = container.read(model.model, model.data, builtin())
    image = np.random.default_rng(0).uniform(-1, 1, (1, 3, size, size)).astype(np.float32)
    library = Library(report.file_of("host", "shared"), report.library)
    count, equal = counted(library, model, report.dsp_programs[0].parent, {graph.inputs[0].name: image})
    macs = sum(node_macs(node) for region in graph.bodies() for node in region.nodes)
    (client,) = (entry.sizes["dsp"] for entry in report.libraries)
    bytes_of = {"program_bytes": report.dsp_programs[0].stat().st_size, "client_bytes": client}
    return {**row(name, macs, count, equal=equal), **bytes_of}


def layers() -> list[tuple[str, Graph, dict[str, Array]]]:
    """Single layers: 14 x 14 pixels, a window of one or nine, and rows."""
    found: list[tuple[str, Operator, tuple[int, ...], tuple[int, ...]]] = []
    for channels, outputs in ((32, 32), (64, 64), (128, 128), (256, 256), (96, 24)):
        for side in (1, 3):
            op = Conv2d(pads=(side // 2,) * 4)
            found.append(
                (f"conv2d {side}x{side} {channels}-{outputs}", op, (1, 14, 14, channels), (outputs, side, side))
            )
    for channels, stride in ((32, 1), (96, 2), (144, 1), (512, 1)):
        depthwise = DwConv2d(strides=(stride, stride), pads=(1, 1, 1, 1))
        found.append((f"dwconv2d 3x3 / {stride} {channels}", depthwise, (1, 28, 28, channels), (3, 3)))
    for channels, outputs in ((1024, 1000), (512, 64)):
        found.append((f"fully_connected {channels}-{outputs}", FullyConnected(), (1, channels), (outputs,)))
    return [(name, *_layer(op, shape, filters)) for name, op, shape, filters in found]


def _resize(mode: str) -> Resize2d:
    size, rounding = (28, 28), "round_prefer_floor"
    return Resize2d(size=size, scales=(2.0, 2.0), mode=mode, coordinates="half_pixel", rounding=rounding)


def others() -> list[tuple[str, Operator, list[tuple[int, ...]], tuple[int, ...]]]:
    """Kernels without filters: their inputs and outputs."""
    image, small = (1, 28, 28, 64), (1, 14, 14, 64)
    return [
        ("add 28x28x64", Add(), [image, image], image),
        ("mul 28x28x64", Mul(), [image, image], image),
        ("mul 28x28x64, 1x1x64", Mul(), [image, (1, 1, 1, 64)], image),
        ("max_pool2d 3x3 / 2", MaxPool2d(kernel=(3, 3), strides=(2, 2), pads=(1, 1, 1, 1)), [image], small),
        ("avg_pool2d 3x3 / 2", AvgPool2d(kernel=(3, 3), strides=(2, 2), pads=(1, 1, 1, 1)), [image], small),
        ("reduce_mean 28x28x64", ReduceMean(axes=(1, 2), keepdims=True), [image], (1, 1, 1, 64)),
        ("resize2d nearest x 2", _resize("nearest"), [small], image),
        ("resize2d linear x 2", _resize("linear"), [small], image),
        ("concat 2 x 64 channels", Concat(axis=3), [image, image], (1, 28, 28, 128)),
        ("requantize 28x28x64", Requantize(), [image], image),
        ("sigmoid 28x28x64", Sigmoid(), [image], image),
        ("softmax 1000", Softmax(axis=1), [(1, 1000)], (1, 1000)),
        ("transpose NHWC to NCHW", Transpose(perm=(0, 3, 1, 2)), [image], (1, 64, 28, 28)),
    ]


def other_rows() -> list[dict[str, Any]]:
    """What a packet of these kernels comes to in results."""
    rng, rows = np.random.default_rng(0), []
    library = dsp_library(frozenset(op.name for _, op, _, _ in others()))
    for name, op, shapes, result in others():
        graph, inputs = Graph(name="kernel"), {}
        moved = op.name in ("resize2d", "transpose")  # what is stored as it comes
        for number, shape in enumerate(shapes):
            scale = 0.05 if moved else float(np.float32(0.043 + 0.01 * number))
            value = Value(f"x{number}", TensorType(DType.S8, shape, QuantType((scale,), (3,), bits=8)))
            graph.inputs.append(value)
            inputs[value.name] = whole(rng, shape)
        of_y = QuantType((0.05 if moved else float(np.float32(0.0613)),), (3 if moved else -7,), bits=8)
        graph.nodes = [graph.new_node(op, list(graph.inputs), stored=[(DType.S8, of_y)])]
        graph.outputs = list(graph.nodes[0].outputs)
        count, equal = counted(library.library, on_dsp(graph), library.programs, inputs)
        results = int(np.prod(result))
        figures = {"packets": count.packets, "instructions": count.instructions, "results": results}
        each = {"results_per_packet": round(results / count.packets, 2)}
        rows.append({"kernel": name, **figures, **each, "equal": equal})
    return rows


def _layer(op: Operator, shape: tuple[int, ...], filters: tuple[int, ...]) -> tuple[Graph, dict[str, Array]]:
    rng = np.random.default_rng(0)
    graph = Graph(name="layer")
    stored = QuantType((0.05,), (3,), bits=8)
    x = Value("x", TensorType(DType.S8, shape, stored))
    graph.inputs.append(x)
    axis, outputs = (2, shape[-1]) if op.name == "dwconv2d" else (0, filters[0])
    scales = tuple(float(np.float32(scale)) for scale in rng.uniform(0.002, 0.02, outputs))
    weights = Operand(whole(rng, (*filters, shape[-1])), QuantType(scales, (0,) * outputs, axis), True)
    depth = int(np.prod(filters[:2])) if axis == 2 else int(np.prod(filters[1:], dtype=int)) * shape[-1]
    of_y = QuantType((float(np.float32(0.03 * np.sqrt(depth))),), (-7,), bits=8)
    operands = [x, add_operand(graph, weights), add_operand(graph, bias_of(rng, stored, scales))]
    graph.nodes = [graph.new_node(op, operands, stored=[(DType.S8, of_y)])]
    graph.outputs = list(graph.nodes[0].outputs)
    return graph, {"x": whole(rng, shape)}


def _one_byte() -> tuple[Graph, dict[str, Array]]:
    graph = Graph(name="call")
    x = Value("x", TensorType(DType.S8, (1,), QuantType((0.05,), (3,), bits=8)))
    graph.inputs.append(x)
    graph.nodes = [graph.new_node(Requantize(), [x], stored=[(DType.S8, QuantType((0.07,), (-7,), bits=8))])]
    graph.outputs = list(graph.nodes[0].outputs)
    return graph, {"x": np.zeros(1, np.int8)}


def layer_rows() -> list[dict[str, Any]]:
    library = dsp_library(frozenset({"conv2d", "dwconv2d", "fully_connected", "requantize"}))
    rows = []
    graph, inputs = _one_byte()
    call, _ = counted(library.library, on_dsp(graph), library.programs, inputs)
    for name, graph, inputs in layers():
        count, equal = counted(library.library, on_dsp(graph), library.programs, inputs)
        macs = sum(map(node_macs, graph.nodes))
        kernel = round((count.packets - call.packets) / (macs / PRODUCTS), 3)
        rows.append({**row(name, macs, count, equal=equal), "call_packets": call.packets, "kernel_ratio": kernel})
    return rows


def show(rows: Sequence[Mapping[str, Any]]) -> None:
    sys.stdout.write(f"{'':32}{'packets':>14}{'instructions':>14}{'MACs':>14}{'a packet':>10}{'bound x':>9}  equal\n")
    for item in rows:
        counts = "".join(f"{item[key]:14,}" for key in ("packets", "instructions", "macs"))
        ratios = f"{item['macs_per_packet']:10.1f}{item['bound_ratio']:9.2f}"
        kernel = f"  kernel alone {item['kernel_ratio']:.2f}" if "kernel_ratio" in item else ""
        sys.stdout.write(f"{item['network']:32}{counts}{ratios}  {'yes' if item['equal'] else 'NO'}{kernel}\n")


def main() -> int:
    parser = argparse.ArgumentParser(
        prog="python -m tests.bench.hexagon", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    networks = functools.partial(words.listed, tuple(NETWORKS))
    parser.add_argument("--networks", type=networks, default=list(NETWORKS), metavar="A,B", help=", ".join(NETWORKS))
    parser.add_argument("--size", type=int, default=224, help="edge of the input (default: 224)")
    options = parser.parse_args()
    try:
        results = []
        for name in options.networks:
            sys.stderr.write(f"{name}\n")
            results.append(network(name, options.size))
        single, rest = layer_rows(), other_rows()
    except LatheError as problem:
        sys.stderr.write(f"{problem}\n")
        return 1
    RESULT.parent.mkdir(exist_ok=True)
    found = {"size": options.size, "results": results, "layers": single, "kernels": rest}
    RESULT.write_text(json.dumps(found, indent=1) + "\n")
    show([*results, *single])
    for item in rest:
        sys.stdout.write(
            f"{item['kernel']:32}{item['packets']:14,}{item['instructions']:14,}{item['results']:14,} results"
            f"{item['results_per_packet']:9.2f} a packet  {'yes' if item['equal'] else 'NO'}\n"
        )
    return 0 if all(item["equal"] for item in (*results, *single, *rest)) else 1


if __name__ == "__main__":
    sys.exit(main())
