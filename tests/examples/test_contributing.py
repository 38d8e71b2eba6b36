"""The steps of CONTRIBUTING.md, taken in a copy of the tree: an operator, a pass, a target."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import numpy as np
import onnx
import pytest
from onnx import TensorProto, helper

ROOT = Path(__file__).resolve().parent.parent.parent
PARTS = ("buildtool", "native", "cmake", "toolchains", "tests", "docs", "examples", "scripts", "pyproject.toml")

PASS = '''"""Two negations in a row are none."""

from __future__ import annotations

from buildtool.ir.graph import Graph
from buildtool.passes.base import Pass
from buildtool.passes.editor import Editor


class RemoveDoubleNegations(Pass):
    name = "remove_double_negations"
    summary = "drop two negations in a row"

    def run(self, graph: Graph) -> bool:
        editor = Editor(graph)
        for node in editor.nodes():
            inner = graph.producers().get(node.inputs[0]) if node.op.name == "neg" else None
            if inner is not None and inner.op.name == "neg" and editor.replace(node.outputs[0], inner.inputs[0]):
                editor.remove(node)
        return editor.changed
'''

HANDLER = '''"""Squareplus, a smooth relu."""

from __future__ import annotations

from buildtool.importers.builder import Tensor
from buildtool.importers.onnx.registry import handler
from buildtool.importers.step import Step


@handler("Squareplus")
def squareplus(step: Step) -> Tensor:
    return step.emit("squareplus", step.input(0))
'''

DEPLOYMENT = """library_name: one
target_abis: [{abi}]
models:
  one:
    platform: onnx
    model_file_path: one.onnx
    subgraphs:
      - input_tensors: [x]
        input_shapes: ["2,3"]
        output_tensors: [y]
        output_shapes: ["2,3"]
    runtime: cpu
    data_type: fp32_fp32
"""


@pytest.fixture
def tree(tmp_path: Path) -> Path:
    copy = tmp_path / "lathe"
    for part in PARTS:
        source = ROOT / part
        if source.is_dir():
            shutil.copytree(
                source, copy / part, ignore=shutil.ignore_patterns("__pycache__", "build", "_runtime*.so.*")
            )
        else:
            shutil.copy(source, copy / part)
    return copy


def python(tree: Path, *arguments: str, folder: Path | None = None) -> str:
    environment = {**os.environ, "PYTHONPATH": str(tree), "LATHE_CACHE_DIR": str(tree / "cache"), "NO_COLOR": "1"}
    done = subprocess.run(
        [sys.executable, *arguments], cwd=folder or tree, env=environment, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


def lathe(tree: Path, *arguments: str, folder: Path | None = None) -> str:
    code = "import sys; from buildtool.cli.main import main; sys.exit(main())"
    return python(tree, "-c", code, *arguments, folder=folder)


def change(file: Path, old: str, new: str) -> None:
    text = file.read_text()
    assert old in text, f"{file} does not hold {old!r}"
    file.write_text(text.replace(old, new))


@pytest.fixture
def deploy(tmp_path: Path) -> Callable[[list[onnx.NodeProto], str], Path]:
    """Writes a model x -> y of these nodes, and a deployment of it for an ABI, into a folder."""

    def write(nodes: list[onnx.NodeProto], abi: str = "host") -> Path:
        folder = tmp_path / "work"
        folder.mkdir(exist_ok=True)
        x, y = (helper.make_tensor_value_info(name, TensorProto.FLOAT, [2, 3]) for name in "xy")
        domains = [helper.make_opsetid("", 17)]
        onnx.save(
            helper.make_model(helper.make_graph(nodes, "g", [x], [y]), opset_imports=domains), folder / "one.onnx"
        )
        (folder / "one.yml").write_text(DEPLOYMENT.format(abi=abi))
        return folder

    return write


@pytest.mark.slow
def test_an_operator(tree: Path, deploy: Callable[[list[onnx.NodeProto]], Path]) -> None:
    lathe(tree, "dev", "new-op", "squareplus")
    meaning = tree / "buildtool" / "ops" / "squareplus.py"
    change(meaning, "return (x.copy(),)", "return ((0.5 * (x + np.sqrt(x * x + np.float32(4)))).astype(x.dtype),)")
    change(meaning, "from buildtool.ir.operator", "import numpy as np\n\nfrom buildtool.ir.operator")
    kernel = tree / "native" / "ops" / "squareplus" / "squareplus.cc"
    change(kernel, "return x;", "return 0.5f * (x + __builtin_sqrtf(x * x + 4.0f));")
    python(tree, "-m", "pytest", "-q", "-p", "no:cacheprovider", "-n", "0", "tests/ops", "-k", "squareplus or coverage")
    export = tree / "buildtool" / "exporters" / "onnx" / "handlers" / "squareplus.py"
    root = 'step.emit("Sqrt", step.emit("Add", step.emit("Mul", x, x), step.number(4.0)))'
    change(export, 'step.emit("Identity", x)', f'step.emit("Mul", step.number(0.5), step.emit("Add", x, {root}))')
    exported = ["-k", "squareplus or all_operators", "tests/exporters/onnx/test_operators.py"]
    python(tree, "-m", "pytest", "-q", "-p", "no:cacheprovider", "-n", "0", *exported)
    (tree / "buildtool" / "importers" / "onnx" / "handlers" / "squareplus.py").write_text(HANDLER)
    folder = deploy([helper.make_node("Squareplus", ["x"], ["y"])])
    found = json.loads(lathe(tree, "validate", "one.yml", "--json", folder=folder))
    assert found["results"]
    assert all(result["passed"] and result["max_abs"] < 1e-6 for result in found["results"])
    library = json.loads(lathe(tree, "inspect", "library", "build/one/lib/host/libone.so", "--json", folder=folder))
    assert library["kernels"] == ["squareplus_f32_plain__portable"]


@pytest.mark.slow
def test_a_pass(tree: Path, deploy: Callable[[list[onnx.NodeProto]], Path]) -> None:
    (tree / "buildtool" / "passes" / "remove_double_negations.py").write_text(PASS)
    pipeline = tree / "buildtool" / "passes" / "pipeline.py"
    change(pipeline, "    RemoveNoops,\n", "    RemoveNoops,\n    RemoveDoubleNegations,\n")
    new_import = "from buildtool.passes.remove_double_negations import RemoveDoubleNegations\n"
    change(pipeline, "from buildtool.passes.remove_identities", new_import + "from buildtool.passes.remove_identities")
    assert "remove_double_negations" in lathe(tree, "inspect", "passes")
    names = ["x", "a", "b", "y"]
    kinds = ["Neg", "Neg", "Relu"]
    nodes = [helper.make_node(kind, [names[i]], [names[i + 1]]) for i, kind in enumerate(kinds)]
    found = json.loads(lathe(tree, "convert", "one.yml", "--json", folder=deploy(nodes)))
    assert [model["nodes"] for model in found["models"]] == [1]


@pytest.mark.slow
@pytest.mark.skipif(shutil.which("x86_64-linux-gnu-g++") is None, reason="there is no x86_64-linux-gnu-g++ here")
def test_a_target(tree: Path, deploy: Callable[[list[onnx.NodeProto], str], Path]) -> None:
    abi = "x86_64-linux-gnu"
    toolchain = (tree / "toolchains" / "aarch64-linux-gnu.cmake").read_text()
    lines = toolchain.replace("aarch64-linux-gnu", abi).replace("aarch64", "x86_64").splitlines()
    kept = [line for line in lines if "FLAGS_INIT" not in line]
    (tree / "toolchains" / f"{abi}.cmake").write_text("\n".join(kept) + "\n")
    change(
        tree / "buildtool" / "targets" / "processors.py",
        '"host": ',
        f'"{abi}": AbiCapabilities(("portable",), ("portable",), machine="x86_64", title="PC"),\n        "host": ',
    )
    folder = deploy([helper.make_node("Relu", ["x"], ["y"])], abi)
    lathe(tree, "build", "one.yml", folder=folder)
    script = (
        "import sys, numpy, buildtool.runtime as r\n"
        "l = r.Library(sys.argv[1])\n"
        "e = l.engine(model=sys.argv[2] + '.pb', data=sys.argv[2] + '.data')\n"
        "print(e.run({'x': numpy.array([[-1, 2, 3], [4, -5, 6]], numpy.float32)})['y'].sum())"
    )
    output = python(tree, "-c", script, f"build/one/lib/{abi}/libone.so", "build/one/model/one", folder=folder)
    assert np.isclose(float(output), 15)
