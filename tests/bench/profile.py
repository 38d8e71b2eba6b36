"""Where the time of a network goes on this machine: `make bench-profile`, or `python -m tests.bench.profile`.

    make bench-profile NETWORKS=resnet18 THREADS=2 NODES=20 DTYPE=int8

Every node's time is the smallest of several profiled runs. GMAC/s is what the node achieves; nodes without
multiply-accumulates show what they cost.
"""

from __future__ import annotations

import argparse
import functools
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from buildtool.benchmark.operator_names import describe
from buildtool.codegen import container
from buildtool.errors import LatheError
from buildtool.ir.operator import Array
from buildtool.ir.quantised import is_quantised
from buildtool.ir.work import node_macs
from buildtool.ops.registry import builtin
from buildtool.runtime import Library
from tests.bench import words
from tests.bench.peers import models
from tests.bench.peers.suites import ALL, suite_of
from tests.bench.peers.worker import pin
from tests.bench.real.files import NetworkError
from tests.zoo.networks import NETWORKS


@dataclass(frozen=True)
class NodeProfile:
    """One node of a network."""

    op: str
    sizes: str
    kernel: str
    macs: int
    nanoseconds: int


def profile(library: Path, feeds: dict[str, Array], threads: int, runs: int) -> list[NodeProfile]:
    """The nodes in the order in which they run."""
    (model,) = (library.parents[2] / "model" / library.parent.name).glob("*.pb")
    data = model.with_suffix(".data")
    session = Library(library).engine(model=model, data=data, threads=threads).session()
    session.run(feeds)
    profiles = [session.profile() for _ in range(runs)]
    graph, _ = container.read(model.read_bytes(), data.read_bytes(), builtin())
    rows = []
    for node, times in zip(graph.nodes, zip(*profiles, strict=True), strict=True):
        stored = is_quantised(node)
        sizes = describe(node.op, [value.type.real if stored else value.type for value in node.inputs])
        best = min(time.nanoseconds for time in times)
        rows.append(NodeProfile(node.op.name, sizes, times[0].kernel, node_macs(node), best))
    return rows


def speed(macs: int, nanoseconds: int) -> str:
    return f"{macs / nanoseconds:.1f}" if macs and nanoseconds else ""


def by_kernel(rows: Sequence[NodeProfile]) -> list[list[str]]:
    """Sums over the nodes of each kernel, the most expensive first."""
    total = sum(row.nanoseconds for row in rows) or 1
    sums = []
    for kernel in dict.fromkeys(row.kernel for row in rows):
        own = [row for row in rows if row.kernel == kernel]
        sums.append((sum(row.nanoseconds for row in own), sum(row.macs for row in own), len(own), kernel))
    return [
        [kernel, str(count), f"{time / 1e6:.3f}", f"{time / total:.1%}", speed(macs, time)]
        for time, macs, count, kernel in sorted(sums, reverse=True)
    ]


def by_node(rows: Sequence[NodeProfile], most: int) -> list[list[str]]:
    """The most expensive nodes."""
    total = sum(row.nanoseconds for row in rows) or 1
    chosen = sorted(rows, key=lambda row: -row.nanoseconds)[:most]
    return [
        [
            f"{row.op} {row.sizes}",
            row.kernel,
            f"{row.nanoseconds / 1e6:.3f}",
            f"{row.nanoseconds / total:.1%}",
            speed(row.macs, row.nanoseconds),
        ]
        for row in chosen
    ]


def show(title: str, header: Sequence[str], lines: Sequence[Sequence[str]]) -> None:
    from rich.box import SIMPLE_HEAD
    from rich.console import Console
    from rich.table import Table

    console = Console()
    if not console.is_terminal:
        console = Console(width=140)
    table = Table(title=title, title_justify="left", box=SIMPLE_HEAD)
    for name in header:
        table.add_column(name, justify="right" if name in ("nodes", "ms", "share", "GMAC/s") else "left")
    for line in lines:
        table.add_row(*line)
    console.print(table)


def main() -> int:
    parser = argparse.ArgumentParser(
        prog="python -m tests.bench.profile", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    networks = functools.partial(words.listed, ALL)
    parser.add_argument("--networks", type=networks, default=list(NETWORKS), metavar="A,B", help=", ".join(ALL))
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--runs", type=int, default=20)
    parser.add_argument("--nodes", type=int, default=10, help="how many nodes to show (default: 10)")
    parser.add_argument("--dtype", choices=("fp32", "int8"), default="fp32")
    parser.add_argument("--python", help="a Python that has PyTorch, where a network is exported from there")
    options = parser.parse_args()
    pin(options.threads)
    for network in options.networks:
        suite = suite_of(network)
        suite.make([network], options.python)
        try:
            few = options.dtype == "int8"
            file = suite.quantised(network) if few else suite.file(network)
            library = models.library(f"{network}_int8" if few else network, file)
            rows = profile(library, suite.inputs(network), options.threads, options.runs)
        except (LatheError, NetworkError) as problem:
            sys.stderr.write(f"{problem}\n")
            return 1
        total = sum(row.nanoseconds for row in rows) / 1e6
        show(f"{network}: {total:.2f} ms", ["kernel", "nodes", "ms", "share", "GMAC/s"], by_kernel(rows))
        show("", ["node", "kernel", "ms", "share", "GMAC/s"], by_node(rows, options.nodes))
    return 0


if __name__ == "__main__":
    sys.exit(main())
