"""`lathe init`: what it writes is right at once."""

from __future__ import annotations

import io
import zipfile
from pathlib import Path

import numpy as np
import onnx
import pytest
import yaml
from onnx import TensorProto, helper, numpy_helper

from buildtool.config import load_deployment
from buildtool.ir.types import DType
from buildtool.running import inputs as run_inputs
from tests.cli.conftest import EXAMPLE, Lathe
from tests.importers.tflite.writer import GraphSpec, NodeSpec, Quantisation, TensorSpec, write


def write_model(path: Path, shape: list[int | str | None], name: str = "x", kind: int = TensorProto.FLOAT) -> Path:
    """A model with one node, y = relu(x)."""
    graph = helper.make_graph(
        [helper.make_node("Relu", [name], ["y"])],
        "g",
        [helper.make_tensor_value_info(name, kind, shape)],
        [helper.make_tensor_value_info("y", kind, None)],
        [numpy_helper.from_array(np.zeros(1, np.float32), "unused")],
    )
    onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 13)]), path)
    return path


def test_the_file_it_writes_passes_and_says_what_the_model_says(lathe: Lathe, tmp_path: Path) -> None:
    file = tmp_path / "new.yml"
    result = lathe("init", EXAMPLE / "digits.onnx", "--output", file, "--json")
    assert result.code == 0
    assert result.document["file"] == str(file)
    assert lathe("check", file).code == 0
    model = yaml.safe_load(file.read_text())["models"]["digits"]
    assert model["subgraphs"][0]["input_shapes"] == ["1,1,8,8"]
    assert model["subgraphs"][0]["input_data_formats"] == ["NCHW"]
    assert model["subgraphs"][0]["output_tensors"] == ["probabilities"]
    assert len(model["model_sha256_checksum"]) == 64


def test_a_model_of_tflite(lathe: Lathe, tmp_path: Path) -> None:
    tensors = [TensorSpec(name, "float32", (1, 4, 6, 3), signature=(-1, 4, 6, 3)) for name in ("image", "result")]
    (tmp_path / "net.tflite").write_bytes(write(GraphSpec(tensors, [NodeSpec("RELU", [0], [1])], [0], [1])))
    assert lathe("init", tmp_path / "net.tflite").code == 0
    assert lathe("check", tmp_path / "net.yml").code == 0
    model = yaml.safe_load((tmp_path / "net.yml").read_text())["models"]["net"]
    assert model["platform"] == "tflite"
    assert model["subgraphs"][0]["input_shapes"] == ["1,4,6,3"]
    assert model["subgraphs"][0]["input_data_formats"] == ["NHWC"]


def test_open_sizes_of_tflite_are_not_those_that_the_converter_wrote(lathe: Lathe, tmp_path: Path) -> None:
    tensors = [TensorSpec(name, "float32", (1, 1), signature=(-1, -1)) for name in ("sound", "result")]
    (tmp_path / "net.tflite").write_bytes(write(GraphSpec(tensors, [NodeSpec("RELU", [0], [1])], [0], [1])))
    result = lathe("init", tmp_path / "net.tflite")
    assert result.code == 2
    assert "the shape [?,?] of 'sound' open" in result.stderr
    assert lathe("init", tmp_path / "net.tflite", "--input-shape", "sound=1,1280").code == 0


def test_without_output_it_stands_beside_the_model_and_is_not_replaced(lathe: Lathe, tmp_path: Path) -> None:
    model = write_model(tmp_path / "net.onnx", [1, 4])
    assert lathe("init", model).code == 0
    again = lathe("init", model)
    assert again.code == 2
    assert "--force" in again.stderr
    assert lathe("init", model, "--force").code == 0


def test_several_models_and_stdout(lathe: Lathe, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "b").mkdir()
    write_model(tmp_path / "net.onnx", [1, 4])
    write_model(tmp_path / "b" / "net.onnx", [1, 3, 8, 8])
    result = lathe("init", "net.onnx", "b/net.onnx", "-o", "-", "--library-name", "both", "--target-abis", "host,armhf")
    document = yaml.safe_load(result.stdout)
    assert document["library_name"] == "both"
    assert document["target_abis"] == ["host", "arm-linux-gnueabihf"]
    assert document["models"]["net_2"]["model_file_path"] == "b/net.onnx"
    assert document["models"]["net_2"]["subgraphs"][0]["output_data_formats"] == ["NCHW"]


def test_open_sizes_are_asked_for_and_may_be_bounds(lathe: Lathe, tmp_path: Path) -> None:
    model = write_model(tmp_path / "open.onnx", ["N", 3, "H", None])
    result = lathe("init", model, "-o", "-")
    assert yaml.safe_load(result.stdout)["models"]["open"]["subgraphs"][0]["input_shapes"] == ["1,3,224,224"]
    assert "sizes of 'x' open; chosen: axis 0 (N): 1, axis 2 (H): 224, axis 3: 224" in result.stderr
    assert "for other sizes: --input-shape x=1,3,224,224" in result.stderr
    words = write_model(tmp_path / "words.onnx", [1, "length"], name="ids")
    result = lathe("init", words, "-o", "-")
    assert result.code == 2
    assert "the shape [1,?] of 'ids' open\n  fix:  give it: --input-shape ids=1,1 (1..8" in result.stderr
    given = lathe("init", model, "-o", "-", "--input-shape", "x=1..4,3,16,16")
    shapes = yaml.safe_load(given.stdout)["models"]["open"]["subgraphs"][0]
    assert shapes["input_shapes"] == ["1..4,3,16,16"]
    assert shapes["output_shapes"] == ["1..4,3,16,16"]
    other = lathe("init", model, "-o", "-", "--input-shape", "x=1,3,8,8", "--input-shape", "z=1")
    assert "no model has an input 'z'" in other.stderr


def test_odd_names_are_quoted(lathe: Lathe, tmp_path: Path) -> None:
    file = tmp_path / "8 odd-name.onnx"
    write_model(file, [2], name="in:put, 0")
    result = lathe("init", file)
    assert result.code == 0, result.stderr
    written = tmp_path / "8 odd-name.yml"
    assert lathe("check", written).code == 0
    (model,) = yaml.safe_load(written.read_text())["models"].items()
    assert model[0] == "m_8_odd_name"
    assert model[1]["subgraphs"][0]["input_tensors"] == ["in:put, 0"]


@pytest.mark.parametrize(
    ("name", "data", "code", "message"),
    [
        ("none.onnx", None, 3, "cannot be read"),
        ("bad.onnx", b"\x08\x01garbage", 3, "not an ONNX model"),
        ("net.tflite", b"x", 3, "not a TFLite model"),
        ("net.safetensors", b"x", 4, "known: .onnx, .tflite"),
    ],
)
def test_wrong_models(lathe: Lathe, tmp_path: Path, name: str, data: bytes | None, code: int, message: str) -> None:
    if data is not None:
        (tmp_path / name).write_bytes(data)
    result = lathe("init", tmp_path / name)
    assert result.code == code
    assert message in result.stderr
    assert not list(tmp_path.glob("*.yml"))


def test_scalars_bounds_and_folders(lathe: Lathe, tmp_path: Path) -> None:
    values = [helper.make_tensor_value_info("x", 1, ["N", 4]), helper.make_tensor_value_info("s", 1, [])]
    node = helper.make_node("Mul", ["x", "s"], ["y"])
    graph = helper.make_graph([node], "g", values, [helper.make_tensor_value_info("y", 1, None)])
    folder = tmp_path / "my net"
    folder.mkdir()
    onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)]), folder / "inference.onnx")
    file = tmp_path / "new.yml"
    assert lathe("init", folder, "-o", file, "--input-shape", "x=2..8,4").code == 0
    document = yaml.safe_load(file.read_text())
    assert document["library_name"] == "my_net"
    assert document["models"]["my_net"]["subgraphs"][0]["input_shapes"] == ["2..8,4", []]
    assert lathe("check", file).code == 0
    wrong = lathe("init", folder, "-o", "-", "--input-shape", "x=0..8,4")
    assert wrong.code == 2
    assert "'0..8' is not a dimension" in wrong.stderr


@pytest.mark.slow
@pytest.mark.parametrize(("abi", "runtime"), [("k210", "kpu"), ("max78000", "cnn")])
def test_chips_get_their_keys(
    abi: str, runtime: str, lathe: Lathe, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    file, model_file = tmp_path / "digits.yml", tmp_path / "digits.onnx"
    model_file.write_bytes((EXAMPLE / "digits.onnx").read_bytes())
    result = lathe("init", model_file, "-o", file, "--abi", abi)
    assert result.code == 0
    assert "next: lathe quantize digits.yml --inputs SAMPLES" in result.stdout
    model = yaml.safe_load(file.read_text())["models"]["digits"]
    assert (model["runtime"], model["quantize"], model["quantize_range_file"]) == (runtime, 1, "digits.ranges")
    assert model["subgraphs"][0]["input_ranges"] == ["-1,1"]
    without = lathe("check", file)
    assert without.code == 3
    assert f"fix:  write it with: lathe quantize {file} --inputs SAMPLES\n" in without.stderr
    (tmp_path / "digit.ranges").touch()
    assert "--inputs SAMPLES (did you mean 'digit.ranges'?)" in lathe("check", file).stderr
    assert lathe("quantize", file, "--inputs", EXAMPLE / "pictures.npy", "--samples", 4).code == 0
    assert lathe("check", file).code == 0


def test_ranges_of_inputs_may_be_given(lathe: Lathe, tmp_path: Path) -> None:
    def ranges(*words: str) -> object:
        result = lathe("init", EXAMPLE / "digits.onnx", "-o", "-", *words)
        assert result.code == 0
        assert "assumption" not in result.stdout
        return yaml.safe_load(result.stdout)["models"]["digits"]["subgraphs"][0].get("input_ranges")

    assert ranges() is None
    assert ranges("--input-range", "image=-0.5,2") == ["-0.5,2"]
    assert ranges("--input-range", "image=0,1", "--abi", "k210") == ["0,1"]


def test_an_input_may_have_one_legal_value(lathe: Lathe, tmp_path: Path) -> None:
    """Such as the sample rate of a model of speech, which refuses all others."""
    file = tmp_path / "new.yml"
    model = write_model(tmp_path / "rate.onnx", [], kind=TensorProto.INT64)
    assert lathe("init", model, "-o", file, "--input-range", "x=16000,16000").code == 0
    assert lathe("check", file).code == 0
    (tensor,) = load_deployment(file).deployment.models[0].subgraphs[0].inputs
    spec = run_inputs.TensorSpec(tensor.name, (), DType.S64, "NONE", value_range=tensor.value_range)
    assert run_inputs.random_inputs([spec], seed=1)["x"] == 16000


@pytest.mark.parametrize(
    ("word", "message"),
    [
        ("0,1", "--input-range cannot be '0,1'"),
        ("image=1,0", "'1,0' is not a range, in --input-range image=1,0"),
        ("image=0,inf", "'0,inf' is not a range"),
        ("image=0", "'0' is not a range"),
        ("picture=0,1", "no model has an input 'picture'"),
    ],
)
def test_wrong_ranges(lathe: Lathe, word: str, message: str) -> None:
    result = lathe("init", EXAMPLE / "digits.onnx", "-o", "-", "--input-range", word)
    assert result.code == 2
    assert message in result.stderr


def test_a_quantised_model_stays_one(lathe: Lathe, tmp_path: Path) -> None:
    quant = Quantisation((0.5,), (-10,))
    tensors = [
        TensorSpec("image", "float32", (1, 4)),
        TensorSpec("stored", "int8", (1, 4), quantisation=quant),
        TensorSpec("result", "int8", (1, 4), quantisation=quant),
    ]
    nodes = [NodeSpec("QUANTIZE", [0], [1]), NodeSpec("RELU", [1], [2])]
    (tmp_path / "net.tflite").write_bytes(write(GraphSpec(tensors, nodes, [0], [2])))
    assert lathe("init", tmp_path / "net.tflite").code == 0
    model = yaml.safe_load((tmp_path / "net.yml").read_text())["models"]["net"]
    assert model["quantize"] == 1
    assert model["subgraphs"][0]["input_ranges"] == ["-59,68.5"]
    assert lathe("check", tmp_path / "net.yml").code == 0


def test_a_scale_alone_quantises_no_tensor(lathe: Lathe, tmp_path: Path) -> None:
    node = helper.make_node("QuantizeLinear", ["x", "scale"], ["y"])
    scale = numpy_helper.from_array(np.float32(0.5), "scale")
    given = helper.make_tensor_value_info("x", TensorProto.FLOAT, [1, 4])
    result = helper.make_tensor_value_info("y", TensorProto.UINT8, [1, 4])
    graph = helper.make_graph([node], "g", [given], [result], [scale])
    onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 13)]), tmp_path / "net.onnx")
    assert lathe("init", tmp_path / "net.onnx").code == 0
    assert lathe("check", tmp_path / "net.yml").code == 0


def test_outputs_without_elements_are_refused_at_once(lathe: Lathe, tmp_path: Path) -> None:
    node = helper.make_node("Tile", ["x", "times"], ["y"])
    times = numpy_helper.from_array(np.array([0, 1], np.int64), "times")
    given = helper.make_tensor_value_info("x", TensorProto.FLOAT, [2, 4])
    result = helper.make_tensor_value_info("y", TensorProto.FLOAT, None)
    graph = helper.make_graph([node], "g", [given], [result], [times])
    onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 13)]), tmp_path / "net.onnx")
    refused = lathe("init", tmp_path / "net.onnx")
    assert refused.code == 4
    assert "'y' has no elements: its shape is [0,4]" in refused.stderr
    assert not (tmp_path / "net.yml").exists()


@pytest.mark.parametrize("answers", ["\n8\n16..32\n", "2\n8\n16..32\n"])
def test_a_person_is_asked_for_open_sizes(
    answers: str, lathe: Lathe, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    class Terminal(io.StringIO):
        def isatty(self) -> bool:
            return True

    model = write_model(tmp_path / "open.onnx", ["N", 3, "H", None])
    monkeypatch.setattr("sys.stdin", Terminal(answers))
    terminal = Terminal()
    monkeypatch.setattr("sys.stderr", terminal)
    assert lathe("init", model).code == 0
    asked = terminal.getvalue()
    assert "'x' [?,3,?,?]: size of axis 0 (N) [1]: 'x' [?,3,?,?]: size of axis 2 (H) [224]: " in asked
    shapes = yaml.safe_load((tmp_path / "open.yml").read_text())["models"]["open"]["subgraphs"][0]["input_shapes"]
    assert shapes == [f"{answers[0].strip() or 1},3,8,16..32"]


def test_build_goes_on_to_the_library(lathe: Lathe, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    write_model(tmp_path / "net.onnx", [1, 4])
    result = lathe("init", "net.onnx", "--build", "--json")
    assert result.code == 0
    assert result.document["libraries"][0]["abi"] == "host"
    assert (tmp_path / "build" / "net" / "net.tar.gz").is_file()
    assert lathe("init", "net.onnx", "--build", "-o", "-").code == 2


def test_files_that_cannot_be_imported_are_named(lathe: Lathe, tmp_path: Path) -> None:
    (tmp_path / "net.gguf").write_bytes(b"GGUF\x03\0\0\0")
    result = lathe("init", tmp_path / "net.gguf")
    assert result.code == 4
    assert "this is a GGUF file of llama.cpp, which cannot be imported" in result.stderr
    (tmp_path / "checkpoint").write_text("")
    result = lathe("init", tmp_path)
    assert result.code == 4
    assert "this is a checkpoint of TensorFlow 1" in result.stderr
    (tmp_path / "net.onnx").write_bytes(b"\x1f\x8b\x08")
    assert "this is a gzip archive" in lathe("init", tmp_path / "net.onnx").stderr


def test_targets_and_types_are_known_ones(lathe: Lathe, tmp_path: Path) -> None:
    file = tmp_path / "new.yml"
    assert lathe("init", EXAMPLE / "digits.onnx", "-o", file, "--abi", "cortex-m,cortex-m4").code == 0
    assert yaml.safe_load(file.read_text())["target_abis"] == ["cortex-m4"]
    checked = lathe("check", file)
    assert checked.code == 0, checked.stderr  # microcontrollers run floats, too
    wrong = lathe("init", EXAMPLE / "digits.onnx", "-o", "-", "--target-abis", "host,k211")
    assert wrong.code == 2
    assert "--target-abis cannot be 'k211'" in wrong.stderr
    assert "did you mean 'k210'?" in wrong.stderr
    wrong = lathe("init", EXAMPLE / "digits.onnx", "-o", "-", "--data-type", "float32")
    assert wrong.code == 2
    assert "did you mean 'fp32_fp32'?" in wrong.stderr


def test_models_without_inputs_are_no_models_to_deploy(lathe: Lathe, tmp_path: Path) -> None:
    node = helper.make_node("Constant", [], ["y"], value=numpy_helper.from_array(np.ones(3, np.float32)))
    graph = helper.make_graph([node], "g", [], [helper.make_tensor_value_info("y", TensorProto.FLOAT, [3])])
    onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)]), tmp_path / "net.onnx")
    result = lathe("init", tmp_path / "net.onnx")
    assert result.code == 4
    assert "the model has no inputs: its outputs are always the same" in result.stderr
    assert "compute the outputs once" in result.stderr


def test_sizes_below_0_are_open(lathe: Lathe, tmp_path: Path) -> None:
    model = write_model(tmp_path / "open.onnx", [-1, 3, 16, 16])
    result = lathe("init", model, "-o", "-")
    assert yaml.safe_load(result.stdout)["models"]["open"]["subgraphs"][0]["input_shapes"] == ["1,3,16,16"]
    assert "axis 0: 1" in result.stderr


def test_damage_is_named_beside_sizes_that_were_chosen(lathe: Lathe, tmp_path: Path) -> None:
    model = onnx.load(write_model(tmp_path / "open.onnx", [-1, 3, 16, 16]))
    model.graph.node[0].CopyFrom(helper.make_node("Conv", ["x", "weights"], ["y"], name="first"))
    model.graph.initializer.append(numpy_helper.from_array(np.zeros((8, 4, 3, 3), np.float32), "weights"))
    onnx.save(model, tmp_path / "open.onnx")
    result = lathe("init", tmp_path / "open.onnx", "-o", "-")
    assert result.code == 2
    head, rule, fix = result.stderr.splitlines()[-3:]
    assert "node 'first'" in head
    assert "leaves the shape [?,3,16,16]" in rule
    assert "--input-shape" in fix
    assert "the model is damaged" in fix


@pytest.mark.parametrize("release", ["2.6.0", "2.6.3"])
def test_models_that_state_no_shapes_are_asked_about(release: str, lathe: Lathe, tmp_path: Path) -> None:
    archive = EXAMPLE.parents[1] / "tests" / "oracles" / "paddle_lite" / "expected" / "models.zip"
    file = tmp_path / "net.nb"
    with zipfile.ZipFile(archive) as models:
        file.write_bytes(models.read(f"{release}/conv2d.nb"))
    result = lathe("init", file)
    assert result.code == 2
    assert "leaves the shape [?] of 'Input_0' open" in result.stderr
    wrong = lathe("init", file, "--input-shape", "Input_0=2,3,6,5")
    assert wrong.code == 2
    assert "rule: the model was read with --input-shape Input_0=2,3,6,5" in wrong.stderr
    assert "error: conv2d" in wrong.stderr
    assert "give the sizes that the model was made for" in wrong.stderr
    assert lathe("init", file, "--input-shape", "Input_0=2,4,6,5").code == 0
    assert lathe("check", file.with_suffix(".yml")).code == 0


def test_a_saved_model_under_another_name(lathe: Lathe, tmp_path: Path) -> None:
    archive = EXAMPLE.parents[1] / "tests" / "oracles" / "tensorflow" / "expected" / "networks.zip"
    with zipfile.ZipFile(archive) as models:
        models.extractall(tmp_path, [name for name in models.namelist() if name.startswith("saved_keras/model/")])
    folder = tmp_path / "saved_keras" / "model"
    (folder / "saved_model.pb").rename(folder / "net.onnx")
    assert lathe("init", folder / "net.onnx").code == 0
    file = folder / "net.yml"
    assert yaml.safe_load(file.read_text())["models"]["net"]["platform"] == "tensorflow"
    assert lathe("check", file).code == 0
    file.write_text(file.read_text().replace("platform: tensorflow", "platform: onnx"))
    wrong = lathe("check", file)
    assert wrong.code == 3
    assert "this is a SavedModel of TensorFlow, and no model of onnx" in wrong.stderr
    (folder / "variables").rename(folder / "others")
    file.write_text(file.read_text().replace("platform: onnx", "platform: tensorflow"))
    without = lathe("check", file)
    assert without.code == 3
    assert "the folder 'variables' beside saved_model.pb belongs to the model" in without.stderr
