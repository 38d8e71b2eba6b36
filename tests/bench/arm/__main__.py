"""Instructions per inference on ARM, counted in qemu-user: `make bench-arm`, or `python -m tests.bench.arm`.

    make bench-arm NETWORKS=mobilenet_v1 ABIS=aarch64-linux-gnu CPU=max,sve=off
    make bench-arm DTYPES=fp16
    make bench-arm DTYPES=int8 CPU=max
    make bench-arm SUITE=real NETWORKS=face_128,yolo_320

A count is exact and the same on every machine, unlike a time in an emulator, but it is no time either: processors that
issue in order can be faster with more instructions. `bound` is the number of instructions if every one were a vector
multiply-accumulate of four floats, eight halves or sixteen bytes, and there were nothing else; Winograd may go below
it. Half precision (`data_type: fp16_fp16`) is counted where there are instructions for it. `peer` is the best of the
engines in peers.py. Accesses are loads and stores as the emulator does them, of at most 8 bytes. Writes
build/bench-arm.json.

`SUITE=real`: networks that people run (tests/bench/real), by default a dozen of them on 64-bit ARM; those of images are
counted in 8 bits too. It writes build/bench-arm-real.json. The other engines were counted by `count_peers.py`.
"""

from __future__ import annotations

import argparse
import functools
import itertools
import json
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import buildtool
from buildtool.codegen import container
from buildtool.devices.qemu import EMULATORS, find
from buildtool.drafts import deployment
from buildtool.errors import LatheError
from buildtool.ir.work import node_macs
from buildtool.ops.registry import builtin
from buildtool.reports.documents import BuildReport
from tests.bench import words
from tests.bench.arm import peers
from tests.bench.arm.counting import (
    CPUS,
    DTYPES,
    FOLDER,
    LANES,
    ROOT,
    SOURCES,
    Count,
    CountingError,
    command,
    difference,
    is_older,
    plugin,
    read_markers,
)
from tests.bench.peers.suites import ALL, SUITES
from tests.bench.real.files import NetworkError
from tests.bench.real.names import ON_ARM
from tests.zoo.networks import NETWORKS, cached
from tests.zoo.quantised import quantised

RESULT = ROOT / "build" / "bench-arm.json"
#: What is counted of a suite where nobody says more: networks and ABIs.
USUAL: dict[str, tuple[tuple[str, ...], tuple[str, ...]]] = {
    "zoo": (tuple(NETWORKS), tuple(CPUS)),
    "real": (ON_ARM, ("aarch64-linux-gnu",)),
}


@dataclass(frozen=True)
class NodeCount:
    """One node of a model."""

    op: str
    kernel: str
    macs: int
    count: Count


def program(abi: str) -> Path:
    source, result = SOURCES / "counted_run.cc", FOLDER / f"counted_run-{abi}"
    headers = ROOT / "native" / "include"
    if is_older(result, source, headers / "lathe" / "c_api.h"):
        FOLDER.mkdir(parents=True, exist_ok=True)
        command([f"{abi}-g++", "-O2", "-std=c++17", "-Wall", "-Wextra", "-I", headers, source, "-o", result, "-ldl"])
    return result


def model(network: str, dtype: str, size: int) -> Path:
    """The ONNX file."""
    if network in NETWORKS:
        made, where = (quantised if dtype == "int8" else cached), ROOT / "build" / "bench-peers" / "onnx"
        return made(network, where, size)
    suite = SUITES["real"]
    return suite.quantised(network) if dtype == "int8" else suite.file(network)


def described(network: str, dtype: str, abis: Sequence[str], size: int) -> Path:
    """A deployment file of the network."""
    onnx = model(network, dtype, size)
    folder = FOLDER / "lathe"
    folder.mkdir(parents=True, exist_ok=True)
    name = network if dtype == "fp32" else f"{network}_{dtype}"
    file = folder / f"{name}.yml"
    word = "fp32_fp32" if dtype == "int8" else f"{dtype}_{dtype}"
    file.write_text(deployment.write([onnx], relative_to=folder, library_name=name, target_abis=abis, data_type=word))
    return file


def build(network: str, dtype: str, abis: Sequence[str], size: int) -> BuildReport:
    """The tailored library of a network; kernels that did not change come from the cache."""
    file = described(network, dtype, abis, size)
    return buildtool.build(file, options=buildtool.Options(file.parent / "build"))


def count(report: BuildReport, abi: str, cpu: str) -> tuple[Count, list[NodeCount]]:
    """A whole warm run, and its nodes."""
    file = report.folder / "model" / abi / f"{report.models[0].name}.pb"
    data = file.with_suffix(".data")
    emulator = EMULATORS[abi]
    written = FOLDER / f"{report.library}-{abi}.txt"
    output = command(
        [
            *(find(emulator, abi), "-L", emulator.sysroot, "-cpu", cpu, "-plugin", f"{plugin()},out={written}"),
            *(program(abi), report.file_of(abi, "shared"), f"lathe_api_{report.identifier}", file, data),
        ]
    )
    markers = read_markers(written.read_text())
    whole = difference(markers[1][1], markers[0][1])
    between = [difference(later, earlier) for (_, earlier), (_, later) in itertools.pairwise(markers[2:])]
    graph, _ = container.read(file.read_bytes(), data.read_bytes(), builtin())
    nodes = []
    for line, counted in zip(output.splitlines(), between, strict=True):
        index, op, kernel = line.split("\t")
        nodes.append(NodeCount(op, kernel, node_macs(graph.nodes[int(index)]), counted))
    return whole, nodes


def by_kernel(nodes: Sequence[NodeCount], lanes: int) -> list[dict[str, Any]]:
    """Sums over the nodes that one kernel runs, the most expensive first."""
    rows = []
    for kernel in dict.fromkeys(node.kernel for node in nodes):
        own = [node for node in nodes if node.kernel == kernel]
        instructions = sum(node.count.instructions for node in own)
        bound = sum(node.macs for node in own) // lanes
        rows.append(
            {
                "op": own[0].op,
                "kernel": kernel,
                "nodes": len(own),
                "instructions": instructions,
                "accesses": sum(node.count.accesses for node in own),
                "bound": bound,
                "ratio": round(instructions / bound, 3) if bound else None,
            }
        )
    return sorted(rows, key=lambda row: -row["instructions"])


def row(
    network: str, abi: str, cpu: str, dtype: str, whole: Count, nodes: Sequence[NodeCount], size: int = 224
) -> dict[str, Any]:
    """One entry of the result file."""
    bound = sum(node.macs for node in nodes) // LANES[dtype]
    peer = peers.best(network, cpu, dtype, size)
    return {
        "network": network,
        "abi": abi,
        "cpu": cpu,
        "dtype": dtype,
        "instructions": whole.instructions,
        "accesses": whole.accesses,
        "bound": bound,
        "ratio": round(whole.instructions / bound, 3) if bound else None,
        "peer": peer,
        "peers": peers.counted(network, cpu, dtype, size),
        "ratio_to_peer": round(whole.instructions / peer, 3) if peer else None,
        "kernels": by_kernel(nodes, LANES[dtype]),
    }


def millions(number: int | None) -> str:
    return "" if number is None else f"{number / 1e6:.1f}"


def share(ratio: float | None) -> str:
    return "" if ratio is None else f"{ratio:.2f}"


def show(rows: Sequence[dict[str, Any]], with_kernels: bool) -> None:
    from rich.box import SIMPLE_HEAD
    from rich.console import Console
    from rich.table import Table

    console = Console()
    if not console.is_terminal:
        console = Console(width=140)
    table = Table(title="Millions per inference, one thread", title_justify="left", box=SIMPLE_HEAD)
    words_ = ("network", "dtype", "processor")
    for name in (*words_, "instructions", "accesses", "bound", "ratio", "peer", "ratio"):
        table.add_column(name, justify="left" if name in words_ else "right")
    for item in rows:
        counts = (millions(item[key]) for key in ("instructions", "accesses", "bound"))
        beside = (share(item["ratio"]), millions(item["peer"]), share(item["ratio_to_peer"]))
        table.add_row(item["network"], item["dtype"], f"{item['abi']} ({item['cpu']})", *counts, *beside, style="bold")
        for kernel in item["kernels"] if with_kernels else ():
            counts = (millions(kernel[key]) for key in ("instructions", "accesses", "bound"))
            table.add_row("", "", f"{kernel['nodes']:3} x {kernel['kernel']}", *counts, share(kernel["ratio"]))
    console.print(table)


def main() -> int:
    parser = argparse.ArgumentParser(
        prog="python -m tests.bench.arm", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--suite", choices=tuple(USUAL), default="zoo", help="which networks")
    networks = functools.partial(words.listed, ALL)
    parser.add_argument("--networks", type=networks, metavar="A,B", help=", ".join(ALL))
    abis = functools.partial(words.listed, tuple(CPUS))
    parser.add_argument("--abis", type=abis, metavar="A,B", help=", ".join(CPUS))
    dtypes = functools.partial(words.listed, tuple(DTYPES))
    parser.add_argument("--dtypes", type=dtypes, default=list(DTYPES), metavar="A,B", help=", ".join(DTYPES))
    parser.add_argument("--cpu", default="", help="another processor of qemu, for all of them")
    parser.add_argument("--size", type=int, default=224, help="edge of the input (default: 224)")
    parser.add_argument("--totals", action="store_true", help="do not show the kernels")
    parser.add_argument("--python", help="a Python that has PyTorch, where a network is exported from there")
    options = parser.parse_args()
    suite, (usual, usual_abis) = SUITES[options.suite], USUAL[options.suite]
    chosen = options.networks or usual
    strangers = [network for network in chosen if network not in suite.networks]
    if strangers:
        parser.error(f"not in the suite '{options.suite}': {', '.join(strangers)}")
    rows = []
    try:
        suite.make(chosen, options.python)
        for network, dtype in itertools.product(chosen, options.dtypes):
            wanted = [abi for abi in options.abis or usual_abis if abi in DTYPES[dtype]]
            if not wanted or (dtype == "int8" and network not in suite.in_bytes):
                continue
            report = build(network, dtype, wanted, options.size)
            for abi in wanted:
                sys.stderr.write(f"{network} in {dtype} on {abi}\n")
                cpu = options.cpu or CPUS[abi]
                rows.append(row(network, abi, cpu, dtype, *count(report, abi, cpu), options.size))
    except (CountingError, LatheError, NetworkError) as problem:
        sys.stderr.write(f"{problem}\n")
        return 1
    result = RESULT if options.suite == "zoo" else RESULT.with_name(f"{RESULT.stem}-{options.suite}.json")
    result.write_text(json.dumps({"size": options.size, "results": rows}, indent=1) + "\n")
    show(rows, not options.totals)
    return 0


if __name__ == "__main__":
    sys.exit(main())
