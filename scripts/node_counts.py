"""Counts the nodes of the zoo and of the OCR networks: as exported, after onnxsim, and after Lathe's passes.

    python scripts/node_counts.py --python ENV/bin/python > docs/reference/node-counts.md

onnxsim wants versions of its own, so it runs in another environment: `pip install onnxsim onnx` there, and name its
Python. Constant nodes are not counted: Lathe's constants are no nodes, and onnxsim turns them into initial values.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from importlib.metadata import version
from pathlib import Path

import onnx

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from buildtool.importers.onnx import import_model
from buildtool.importers.request import ImportRequest
from buildtool.passes.pipeline import optimise
from tests.ocr.networks import NETWORKS as OCR
from tests.zoo import networks as zoo

_SIMPLIFY = """
import json, sys
from importlib.metadata import version
import onnx, onnxsim
model, passed = onnxsim.simplify(onnx.load(sys.argv[1]))
assert passed
nodes = sum(node.op_type != "Constant" for node in model.graph.node)
print(json.dumps([nodes, version("onnxsim"), version("onnx")]))
"""


def rows(python: str) -> Iterator[tuple[str, int, int, int, str]]:
    """Name, the three counts, and the versions of onnxsim and of the onnx beside it."""
    with tempfile.TemporaryDirectory() as folder:
        for name in zoo.NETWORKS:
            file = Path(folder) / f"{name}.onnx"
            onnx.save(zoo.build(name), file)
            graph = import_model(ImportRequest(name, file)).graph
            optimise(graph)
            yield name, _nodes(file), *_simplified(python, file, len(graph.nodes))
    for network in OCR:
        graph = network.load().graph
        optimise(graph)
        yield f"rapidocr {network.name}", _nodes(network.path()), *_simplified(python, network.path(), len(graph.nodes))


def _nodes(file: Path) -> int:
    return sum(node.op_type != "Constant" for node in onnx.load(file).graph.node)


def _simplified(python: str, file: Path, lathe: int) -> tuple[int, int, str]:
    done = subprocess.run([python, "-c", _SIMPLIFY, str(file)], capture_output=True, text=True, check=True)
    nodes, simplifier, library = json.loads(done.stdout.strip().splitlines()[-1])
    return nodes, lathe, f"onnxsim {simplifier} (onnx {library})"


def main() -> None:
    """Print the page."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--python", required=True, help="the Python of an environment that has onnxsim")
    table = list(rows(parser.parse_args().python))
    print("# Node counts\n")
    print("The number of nodes of a network, without constants. Measured by `scripts/node_counts.py` with")
    print(f"{table[0][4]}, and with Lathe on onnx {version('onnx')}. The zoo is made by `tests/zoo`, for images of")
    print("224 x 224; the OCR networks are those of `rapidocr-onnxruntime` 1.4.4, with sizes bounded as `tests/ocr`")
    print("declares them.\n")
    print("| network | as exported | onnxsim | Lathe |\n|---|---:|---:|---:|")
    for name, raw, simplified, lathe, _ in table:
        print(f"| {name} | {raw} | {simplified} | {lathe} |")


if __name__ == "__main__":
    main()
