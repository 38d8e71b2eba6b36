"""`lathe inspect`: it finds out what a thing is and says what is inside."""

from __future__ import annotations

from pathlib import Path

import onnx
import pytest

from tests.cli.conftest import EXAMPLE, Lathe
from tests.importers.tflite.writer import GraphSpec, NodeSpec, TensorSpec, write


def test_an_onnx_model(lathe: Lathe) -> None:
    document = lathe("inspect", EXAMPLE / "digits.onnx", "--json").document
    assert document["kind"] == "onnx"
    assert document["operators"]["Conv"] == 2
    assert document["inputs"] == [{"name": "image", "dtype": "float", "shape": [1, 1, 8, 8]}]
    assert document["unsupported"] == []
    assert "Gemm" in lathe("inspect", EXAMPLE / "digits.onnx").stdout


def test_a_deployment(lathe: Lathe, digits: Path) -> None:
    document = lathe("inspect", digits, "--json").document
    assert document["kind"] == "deployment"
    assert document["models"][0]["platform"] == "onnx"
    assert "library digits" in lathe("inspect", "deployment", digits).stdout


def test_a_converted_model_with_its_plan(lathe: Lathe, digits: Path, tmp_path: Path) -> None:
    assert lathe("convert", digits, "-o", tmp_path / "out", "--abi", "host").code == 0
    folder = tmp_path / "out" / "digits" / "model"
    portable = lathe("inspect", folder / "digits.pb", "--json").document
    assert (portable["kind"], portable["abi"], portable["kernels"]) == ("model", None, [])
    assert portable["operators"]["conv2d"] == 2
    assert portable["macs"] > 10_000
    planned = lathe("inspect", "model", folder / "host" / "digits.pb", "--json").document
    assert planned["abi"] == "host"
    assert planned["arena_size"] > 0
    assert all(node["kernels"] and set(node["kernels"]) <= set(planned["kernels"]) for node in planned["body"])
    assert "conv2d_f32" in lathe("inspect", folder / "host" / "digits.pb", "-v").stdout
    (folder / "digits.data").unlink()
    assert "weights are missing" in lathe("inspect", folder / "digits.pb").stderr


def test_a_build_and_its_library(lathe: Lathe, digits: Path, tmp_path: Path) -> None:
    folder = tmp_path / "out" / "digits"
    assert lathe("build", digits, "-o", tmp_path / "out", "--abi", "host").code == 0
    document = lathe("inspect", folder, "--json").document
    (library,) = document["libraries"]
    assert document["kind"] == "build"
    assert sum(part["bytes"] for part in library["sizes"]["parts"]) == library["bytes_stripped"]
    (memory,) = document["memory"]
    assert memory["arena"] >= memory["lower_bound"] > 0
    assert memory["weights_mapped"] > 7000
    assert memory["weights_allocated"] == 0
    file = folder / "lib" / "host" / "libdigits.so"
    assert lathe("inspect", file, "--json").document["sizes"] == library["sizes"]
    assert "lower bound" in lathe("inspect", folder).stdout
    assert "session.cc" in lathe("inspect", folder, "-v").stdout
    alone = tmp_path / file.name
    alone.write_bytes(file.read_bytes())
    assert "sizes" not in lathe("inspect", alone, "--json").document
    report = folder / "report" / "build.json"
    report.write_text(report.read_text().replace('"parts"', '"pieces"').replace('"lower_bound"', '"bound"'))
    assert "does not contain a build of this version" in lathe("inspect", folder).stderr
    assert lathe("inspect", file).code == 0


def test_operators_and_passes(lathe: Lathe) -> None:
    operators = {item["name"]: item for item in lathe("inspect", "ops", "--json").document["items"]}
    assert "strides" in operators["conv2d"]["attributes"]
    assert all(name.startswith("conv2d_") for name in operators["conv2d"]["kernels"])
    passes = lathe("inspect", "passes", "--json").document["items"]
    assert all(item["summary"] for item in passes)
    assert lathe("inspect", "passes").code == 0


@pytest.mark.parametrize(
    ("name", "data", "code", "message"),
    [
        ("none.onnx", None, 2, "No such file"),
        ("text.txt", b"hello", 2, "the kind of this file is unknown"),
        ("bad.onnx", b"\x08\x01garbage", 3, "not an ONNX model"),
        ("bad.pb", b"\xff\xff\xff", 3, ""),
        ("bad.so", b"\x7fELF but no more", 7, "not a library"),
    ],
)
def test_wrong_things(lathe: Lathe, tmp_path: Path, name: str, data: bytes | None, code: int, message: str) -> None:
    if data is not None:
        (tmp_path / name).write_bytes(data)
        (tmp_path / "bad.data").write_bytes(b"")
    result = lathe("inspect", tmp_path / name)
    assert (result.code, message in result.stderr) == (code, True), result.stderr


def test_wrong_kinds(lathe: Lathe, digits: Path) -> None:
    assert "not a kind of file" in lathe("inspect", "modle", digits).stderr
    assert "needs a file" in lathe("inspect", "library").stderr
    assert lathe("inspect", "library", digits.with_name("none.so")).code == 2


def test_support_by_abi(lathe: Lathe, tmp_path: Path) -> None:
    document = lathe("inspect", "ops", EXAMPLE / "digits.onnx", "--abi", "host,aarch64-linux-gnu", "--json").document
    assert document["abis"] == ["host", "aarch64-linux-gnu"]
    assert "Gemm" in lathe("inspect", "ops", EXAMPLE / "digits.onnx").stdout
    assert len(lathe("inspect", "ops", "--all", "--json").document["items"]) > 150
    assert lathe("inspect", "ops", tmp_path / "none.onnx").code == 3
    assert lathe("inspect", "passes", "--all").code == 2
    assert lathe("inspect", "ops", EXAMPLE / "digits.onnx", "--all").code == 2


def test_support_by_chips(lathe: Lathe, tmp_path: Path) -> None:
    """Chips are columns where they are asked for, and say why not."""
    chips = "host,k210,max78000,max78002"
    document = lathe("inspect", "ops", EXAMPLE / "digits.onnx", "--abi", chips, "--json").document
    assert ",".join(document["abis"]) == chips
    assert document["problems"] == []
    assert {state for row in document["graph_operators"] for state in row["abis"].values()} == {"yes"}
    given, made = (
        onnx.helper.make_tensor_value_info(name, onnx.TensorProto.FLOAT, [1, 3, 8, 8]) for name in ("x", "y")
    )
    nodes = [
        onnx.helper.make_node("Relu", ["x"], ["a"], name="first"),
        onnx.helper.make_node("Erf", ["a"], ["y"], name="bell"),
    ]
    graph = onnx.helper.make_graph(nodes, "bells", [given], [made])
    onnx.save(onnx.helper.make_model(graph, opset_imports=[onnx.helper.make_opsetid("", 17)]), tmp_path / "bells.onnx")
    found = lathe("inspect", "ops", tmp_path / "bells.onnx", "--abi", "host,max78000", "--json").document
    states = {row["name"]: row["abis"] for row in found["operators"]}
    assert states["Erf"] == {"host": "yes", "max78000": "no"}
    assert [problem["what"].partition(":")[0] for problem in found["problems"]] == ["max78000"]
    assert "k210, max78000" in lathe("inspect", "ops", tmp_path / "bells.onnx", "--abi", "z80").stderr


def test_support_of_a_deployment(lathe: Lathe, digits: Path) -> None:
    document = lathe("inspect", "ops", digits, "--abi", "host", "--json").document
    assert (document["kind"], document["abis"]) == ("support_of_deployment", ["host"])
    (model,) = document["models"]
    assert (model["name"], model["problems"]) == ("digits", [])
    assert model["inputs"] == [{"name": "image", "dtype": "f32", "shape": [1, 1, 8, 8]}]
    assert {row["name"]: row["abis"]["host"] for row in model["graph_operators"]}["conv2d"] == "yes"
    shown = lathe("inspect", "ops", digits).stdout
    assert "model digits" in shown and "input image [1, 1, 8, 8]" in shown
    assert len(lathe("inspect", "ops", digits, "--json").document["abis"]) == 3


def test_support_of_a_deployment_with_sizes_of_run_time(lathe: Lathe, digits: Path) -> None:
    """A size that the model leaves open has the bounds that the deployment gives it."""
    model = onnx.load(digits.with_name("digits.onnx"))
    for value in (*model.graph.input, *model.graph.output):
        value.type.tensor_type.shape.dim[0].dim_param = "N"
    open_ = digits.with_name("open.onnx")
    onnx.save(model, open_)
    alone = lathe("inspect", "ops", open_, "--json").document
    assert alone["inputs"] == [{"name": "image", "dtype": "f32", "shape": ["N", 1, 8, 8]}]
    assert alone["graph_operators"] == []
    assert "input image [N, 1, 8, 8]" in lathe("inspect", "ops", open_).stdout
    digits.unlink()
    assert lathe("init", open_, "-o", digits, "--input-shape", "image=1..4,1,8,8", "--target-abis", "host").code == 0
    (found,) = lathe("inspect", "ops", digits, "--json").document["models"]
    assert found["inputs"][0]["shape"][1:] == [1, 8, 8]
    assert found["inputs"][0]["shape"][0].endswith("=1..4")
    assert found["graph_operators"]


def test_support_of_a_bad_deployment(lathe: Lathe, digits: Path, tmp_path: Path) -> None:
    assert lathe("inspect", "ops", tmp_path / "none.yml").code == 2
    digits.with_name("digits.onnx").write_bytes(b"broken")
    assert lathe("inspect", "ops", digits).code == 3


def test_operators_of_every_framework(lathe: Lathe, tmp_path: Path) -> None:
    tensors = [TensorSpec(name, "float32", (1, 4)) for name in ("image", "result")]
    file = tmp_path / "net.model"
    file.write_bytes(write(GraphSpec(tensors, [NodeSpec("RELU", [0], [1])], [0], [1])))
    result = lathe("inspect", "ops", file, "--abi", "host", "--json")
    assert result.code == 0
    assert result.document["platform"] == "tflite"
    assert result.document["nodes"] == [{"operator": "RELU", "count": 1, "supported": {"host": True}}]
    wrong = lathe("inspect", "ops", file, "--platform", "keras")
    assert wrong.code == 3
    assert "this is a TensorFlow Lite model, and no model of keras" in wrong.stderr
    assert lathe("inspect", "ops", file, "--platform", "torch").code == 2
    assert lathe("inspect", "passes", "--platform", "onnx").code == 2
    every = lathe("inspect", "ops", "--all", "--json").document
    assert {item["platform"] for item in every["items"]} == set(every["platforms"]) > {"onnx", "tflite", "paddle"}
    assert "operators of tflite can be imported" in lathe("inspect", "ops", "--all").stdout


def test_files_that_are_no_models_are_named(lathe: Lathe, tmp_path: Path) -> None:
    file = tmp_path / "net.onnx"
    file.write_bytes(b"GGUF\x03\0\0\0")
    result = lathe("inspect", "ops", file)
    assert result.code == 4
    assert "this is a GGUF file of llama.cpp, which cannot be imported" in result.stderr
    assert lathe("inspect", "ops", tmp_path / "nothing").code == 2


def test_models_of_other_frameworks_have_a_card(lathe: Lathe, tmp_path: Path) -> None:
    from tests.importers.tflite.writer import GraphSpec, NodeSpec, TensorSpec, write

    tensors = [TensorSpec(name, "float32", (2, 3)) for name in ("x", "y")]
    file = tmp_path / "net.bin"  # its content says what it is
    file.write_bytes(write(GraphSpec(tensors, [NodeSpec("NEG", [0], [1])], [0], [1])))
    document = lathe("inspect", file, "--json").document
    assert (document["kind"], document["platform"], document["operators"]) == ("source", "tflite", {"NEG": 1})
    assert document["inputs"] == [{"name": "x", "dtype": "float32", "shape": [2, 3]}]
    assert "next: lathe init" in lathe("inspect", file).stdout


def test_a_target_is_no_platform(lathe: Lathe) -> None:
    result = lathe("inspect", "ops", EXAMPLE / "digits.onnx", "--platform", "host")
    assert result.code == 2
    assert "name the target with --abi host" in result.stderr
