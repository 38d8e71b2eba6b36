"""Networks of the tests as files, built by `lathe build` for the K210, and what each way to run one gives."""

from __future__ import annotations

import zlib
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from buildtool import version
from buildtool.drafts import deployment
from buildtool.exporters.onnx import ExportRequest, export_models
from buildtool.importers.frameworks import import_model
from buildtool.importers.request import ImportRequest
from buildtool.ir.evaluate import evaluate
from buildtool.ir.graph import Graph
from buildtool.ir.operator import Array
from buildtool.passes.pipeline import optimise
from buildtool.quant import range_files
from buildtool.quant.ranges import between
from buildtool.targets.k210.format.kmodel import read
from buildtool.targets.k210.generation.quantise import Bytes
from buildtool.targets.k210.simulation.simulator import simulate
from tests.native_builds import command
from tests.targets.k210.generating import Net, calibrate, cosine, pictures

MACHINE = ("qemu-system-riscv64", "-M", "virt", "-cpu", "rv64", "-m", "256M", "-bios", "none", "-nographic")
QUIET = ("-monitor", "none", "-serial", "none")


def mnist() -> Graph:
    """Written digits of 28x28 in grey."""
    net = Net(21)
    x = net.pool(net.layer(net.input(1, 28, 28, 1), 16))
    x = net.pool(net.layer(x, 32))
    x = net("relu", net.product(net("reshape", x, shape=(1, 7 * 7 * 32)), 64))
    return net.finish(net("softmax", net.product(x, 10), axis=1))


def as_file(graph: Graph, file: Path) -> Path:
    """The network as ONNX."""
    names = tuple(tuple(value.name for value in values) for values in (graph.inputs, graph.outputs))
    (made,) = export_models([ExportRequest(graph, *names)], version())
    file.write_bytes(made.content)
    return file


def ranges(file: Path, samples: int = 4, given: Sequence[Mapping[str, Array]] = ()) -> str:
    """A range file from random pictures, or from those that are given, without a library."""
    graph = import_model("onnx", ImportRequest(file.stem, file)).graph
    optimise(graph, quantised=True)
    calibrate(graph, given or pictures(graph, samples))
    found = {value: graph.range_of(value) for value in graph.values()}
    known = {
        name: between(quant) for value, quant in found.items() if quant for name in (value.name, *value.source_names)
    }
    return range_files.text(known)


def described(files: Mapping[str, Path], folder: Path, known: bool = True, samples: int = 4) -> Path:
    """A deployment file for these models; `known`: with ranges beside it."""
    text = deployment.write(list(files.values()), relative_to=folder, library_name="nets", data_type="fp32_fp32")
    text = text.replace("target_abis: [host]", "target_abis: [k210]")
    parts = text.split("    runtime: cpu\n    data_type: fp32_fp32\n")
    assert len(parts) == len(files) + 1
    made = parts[0]
    for name, part in zip(files, parts[1:], strict=True):
        made += "    runtime: kpu\n"
        if known:
            (folder / f"{name}.ranges").write_text(ranges(files[name], samples))
            made += f"    quantize: 1\n    quantize_range_file: {name}.ranges\n"
        made += part
    (folder / "nets.yml").write_text(made)
    return folder / "nets.yml"


def on_riscv(elf: Path, folder: Path, into: Path | None = None) -> tuple[str, list[bytes]]:
    """What the image says, and the outputs that it writes for the bytes of `into`; of its own input it writes none."""
    words = ["net", *([str(into), str(folder / "out")] if into else [])]
    semihosting = "enable=on,target=native" + "".join(f",arg={word}" for word in words)
    said = command(["timeout", "600", *MACHINE, *QUIET, "-semihosting-config", semihosting, "-kernel", elf])
    count = sum(1 for line in said.splitlines() if line.startswith("output "))
    return said, [(folder / f"out{index}").read_bytes() for index in range(count)] if into else []


def on_host(runner: Path, kmodel: Path, into: Path, folder: Path) -> list[bytes]:
    """The outputs of the interpreter on this machine."""
    command([runner, kmodel, into, folder / "host"])
    count = len(read(kmodel.read_bytes()).outputs)
    return [(folder / f"host{index}").read_bytes() for index in range(count)]


def by_simulator(kmodel: Path, into: Path) -> list[bytes]:
    return list(simulate(read(kmodel.read_bytes(), str(kmodel)), into.read_bytes()))


def told(outputs: list[bytes]) -> list[str]:
    """What images say of outputs, as far as it is not about floats."""
    return [f"output {index}: {len(data)} bytes, CRC-32 {zlib.crc32(data):08x}," for index, data in enumerate(outputs)]


def picture_of(graph: Graph, into: Mapping[str, Any]) -> tuple[Array, bytes]:
    """A picture that ranges were not found with, and as the file takes it; `into`: what the report tells of it."""
    (value,) = graph.inputs
    picture = pictures(graph, 1, seed=77)[0][value.name]
    planes = picture if list(picture.shape[1:]) == into["shape"] else picture.transpose(0, 3, 1, 2)
    return picture, Bytes(into["scale"], into["zero_point"]).stored(planes).tobytes()


def nearness(file: Path, picture: Array, outputs: list[bytes]) -> float:
    """The least cosine of outputs to those of the float network."""
    graph = import_model("onnx", ImportRequest(file.stem, file)).graph
    wanted = evaluate(graph, {graph.inputs[0].name: picture})
    found = []
    for value, data in zip(graph.outputs, outputs, strict=True):
        array = np.frombuffer(data, "<f4")
        real = wanted[value.name]
        found.append(max(cosine(array, real), cosine(array, np.moveaxis(real, -1, 1))))
    return min(found)
