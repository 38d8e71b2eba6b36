"""Lathe and other engines side by side: `make bench-peers`, or `python -m tests.bench.peers`.

    make bench-peers NETWORKS=mobilenet_v1 THREADS=1 ENGINES=lathe,onnxruntime QUICK=1
    make bench-peers SUITE=real DTYPE=int8

Writes build/bench-peers.json, and with `--page` docs/reference/performance.md (performance-networks.md for the suite
`real`). The suite `real`, networks that people run, and `--dtype int8` add their words to the name of the file.
Engines that are not there are installed into build/bench-env; the suite `real` needs PyTorch, which is installed into
build/gallery/env or given by PYTHON_WITH_TORCH. `--quick` is for development: 4 short rounds, one load per engine.
"""

from __future__ import annotations

import argparse
import functools
import json
import shutil
import statistics
import subprocess
import sys
import tempfile
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any

import numpy as np
import onnx
import onnxruntime

import buildtool
from buildtool.errors import LatheError
from buildtool.ir.operator import Array
from tests import exact_onnxruntime
from tests.bench import words
from tests.bench.peers import environment, models, picture, report, rounds
from tests.bench.peers.environment import ROOT, Environment
from tests.bench.peers.suites import ALL, SUITES, Suite
from tests.bench.real.files import NetworkError

RESULT = ROOT / "build" / "bench-peers.json"
PAGE = ROOT / "docs" / "reference" / "performance.md"
PAGE_OF_REAL = PAGE.with_name("performance-networks.md")
PICTURE_OF_REAL = ROOT / "docs" / "images" / "performance-networks.svg"
BY_HAND = "\n## ARM\n"
ENGINES = ("lathe", *environment.PEERS)
IN_BYTES = ("lathe", "onnxruntime", "litert", "openvino", "lathe_fp32")  # ncnn and MNN have a calibration of their own
QUICK = rounds.Plan(rounds=4, runs=4, seconds=0.2, loads=1, patience=0.5)


@functools.cache
def stripped_size(path: str) -> int:
    """Bytes of a library without symbols and debug information."""
    with tempfile.NamedTemporaryFile() as copy:
        shutil.copy(path, copy.name)
        subprocess.run(["strip", "--strip-unneeded", copy.name], capture_output=True, check=False)
        return Path(copy.name).stat().st_size


def library_bytes(item: rounds.Measured) -> int:
    """The libraries that an engine brought along, without those of the system and of Python's own modules."""
    foreign = ("/usr/lib", "/lib", "/usr/local/lib")
    own = [path for path in item.start["libraries"] if "site-packages" in path or not path.startswith(foreign)]
    return sum(stripped_size(path) for path in own if "lib-dynload" not in path)


def measure(options: argparse.Namespace, plan: rounds.Plan) -> dict[str, Any]:
    engines = IN_BYTES if plan.dtype == "int8" else ENGINES
    peers = environment.prepare(
        [engine for engine in engines if engine in environment.PEERS and engine in options.engines]
    )
    present = [engine for engine in engines if engine.startswith("lathe") or engine in peers.versions]
    present = [engine for engine in present if engine in options.engines]
    rows: list[dict[str, Any]] = []
    left_out = dict(peers.left_out)
    others: list[float] = []
    suite = SUITES[options.suite]
    suite.make(options.networks, options.python)
    for network in options.networks:
        paths = {}
        for engine in present:
            try:
                paths[engine] = _paths(engine, network, peers, suite, plan.dtype)
            except (LatheError, NetworkError, RuntimeError) as problem:
                left_out[f"{engine} ({network})"] = str(problem)
        if rounds.REFERENCE not in paths:
            continue
        expected = _exact(suite.quantised(network), suite.inputs(network)) if plan.dtype == "int8" else None
        for threads in options.threads:
            sys.stderr.write(f"{network}, {threads} thread(s)\n")
            folder = models.FOLDER / "work" / f"{network}-{threads}"
            folder.mkdir(parents=True, exist_ok=True)
            source = folder / "inputs.npz"
            feeds: dict[str, Any] = suite.inputs(network)
            np.savez(source, **feeds)
            try:
                outcome = rounds.measure(paths, threads, source, folder, plan, expected)
            except rounds.WorkerError as problem:
                left_out[f"{network}, {threads}"] = str(problem)
                continue
            left_out |= {f"{engine} ({network}, {threads})": reason for engine, reason in outcome.failures.items()}
            sizes = {item.engine: library_bytes(item) for item in outcome.measured}
            rows += rounds.results(network, threads, outcome.measured, sizes, plan.dtype)
            others += outcome.others
    versions = {engine: peers.versions.get(engine, buildtool.version()) for engine in present}
    return {
        "machine": report.machine(),
        "engines": versions,
        "left_out": left_out,
        "plan": asdict(plan),
        "others": round(statistics.mean(others), 3) if others else 0.0,
        "results": rows,
        "geomeans": report.geomeans(rows),
    }


def _paths(engine: str, network: str, peers: Environment, suite: Suite, dtype: str) -> tuple[Path, Path]:
    python = Path(sys.executable) if engine.startswith("lathe") else peers.python
    return python, models.path_of(engine, network, peers, suite, dtype)


def _exact(model: Path, feeds: dict[str, Array]) -> list[Array]:
    """What the integers come to. As it is measured, onnxruntime saturates sums on processors without VNNI."""
    options = exact_onnxruntime.plain_options(onnx.load(model))
    session = onnxruntime.InferenceSession(str(model), options, providers=["CPUExecutionProvider"])
    return list(session.run(None, feeds))


def _written_by_hand(page: str) -> str:
    """What stands behind the tables of this program: that of ARM, which other programs count."""
    return page[page.index(BY_HAND) :] if BY_HAND in page else ""


def write_page(result: dict[str, Any], suite: str) -> None:
    if suite == "real":
        PAGE_OF_REAL.write_text(report.page(result, suite))
        PICTURE_OF_REAL.write_text(picture.picture(result))
    else:
        PAGE.write_text(report.page(result, suite) + _written_by_hand(PAGE.read_text()))


def main() -> int:
    parser = argparse.ArgumentParser(
        prog="python -m tests.bench.peers", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--suite", choices=tuple(SUITES), default="zoo", help="which networks")
    listed = functools.partial(words.listed, ALL)
    parser.add_argument("--networks", type=listed, metavar="A,B", help=", ".join(ALL))
    parser.add_argument("--threads", type=lambda text: [int(word) for word in text.split(",")], default=[1, 2])
    every = tuple(dict.fromkeys((*ENGINES, *IN_BYTES)))
    listed = functools.partial(words.listed, every)
    parser.add_argument("--engines", type=listed, default=list(every), metavar="A,B", help=", ".join(every))
    parser.add_argument("--dtype", choices=tuple(rounds.SMALLEST_COSINE), default="fp32", help="what is computed with")
    parser.add_argument("--rounds", type=int)
    parser.add_argument("--quick", action="store_true", help="a look during development, not a measurement")
    parser.add_argument("--priority", action="store_true", help="run the engines before other programs; needs root")
    parser.add_argument("--page", action="store_true", help="write the page of the suite in docs/reference too")
    parser.add_argument("--python", help="a Python that has PyTorch, torchvision, timm and transformers")
    options = parser.parse_args()
    suite = SUITES[options.suite]
    networks = suite.in_bytes if options.dtype == "int8" else suite.networks
    options.networks = options.networks or list(networks)
    if unknown := [network for network in options.networks if network not in suite.networks]:
        parser.error(f"the suite {options.suite} has no network {', '.join(unknown)}")
    if rounds.REFERENCE not in options.engines:
        options.engines.append(rounds.REFERENCE)
    plan = QUICK if options.quick else rounds.Plan()
    if options.rounds:
        plan = replace(plan, rounds=options.rounds)
    plan = replace(plan, dtype=options.dtype)
    if options.priority:
        plan = replace(plan, priority=-10)
    result = measure(options, plan)
    added = [word for word in (options.suite, options.dtype) if word not in ("zoo", "fp32")]
    written = RESULT.with_stem("-".join([RESULT.stem, *added]))
    written.parent.mkdir(exist_ok=True)
    written.write_text(json.dumps(result, indent=1) + "\n")
    if options.page and options.dtype == "fp32":
        write_page(result, options.suite)
    report.show(result)
    return 0


if __name__ == "__main__":
    sys.exit(main())
