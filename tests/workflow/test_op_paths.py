"""An operator outside the tree is first-class: drafted, imported, compiled, linked, run and validated."""

from __future__ import annotations

from pathlib import Path

import onnx
import pytest
from onnx import TensorProto, helper

import buildtool
from buildtool.cli.main import run as command


def project(folder: Path) -> Path:
    """A deployment of y = relu(halve(x)) with the operator `halve` in a folder beside it."""
    assert command(["dev", "new-op", "halve", "--path", str(folder / "my_ops"), "-q"]) == 0
    meaning = folder / "my_ops" / "ops" / "halve.py"
    meaning.write_text(meaning.read_text().replace("return (x.copy(),)", "return (x * x.dtype.type(0.5),)"))
    (kernel,) = (folder / "my_ops" / "native" / "ops" / "halve").glob("*.cc")
    kernel.write_text(kernel.read_text().replace("return x;", "return 0.5f * x;"))
    graph = helper.make_graph(
        [
            helper.make_node("Halve", ["x"], ["h"], domain="mine", name="half"),
            helper.make_node("Relu", ["h"], ["y"]),
        ],
        "g",
        [helper.make_tensor_value_info("x", TensorProto.FLOAT, [2, 37])],
        [helper.make_tensor_value_info("y", TensorProto.FLOAT, [2, 37])],
    )
    opsets = [helper.make_opsetid("", 13), helper.make_opsetid("mine", 1)]
    onnx.save(helper.make_model(graph, opset_imports=opsets), folder / "net.onnx")
    file = folder / "net.yml"
    file.write_text("""\
library_name: net
target_abis: [host]
op_paths: [my_ops]
models:
  net:
    platform: onnx
    model_file_path: net.onnx
    subgraphs:
      - input_tensors: [x]
        input_shapes: ["2,37"]
        output_tensors: [y]
        output_shapes: ["2,37"]
    data_type: fp32_fp32
""")
    return file


@pytest.mark.slow
def test_an_operator_of_the_user_is_built_in_and_validated(tmp_path: Path) -> None:
    file = project(tmp_path)
    options = buildtool.Options(tmp_path / "build")
    built = buildtool.build(file, options=options)
    assert "halve_f32_plain__portable" in built.libraries[0].kernels
    # onnxruntime does not know the operator: the reference is the one that its author wrote.
    report = buildtool.validate(file, options=options)
    assert report.passed
    assert report.reference == "numpy"
    assert {result["max_abs"] for result in report.results} == {0.0}


@pytest.mark.slow
def test_a_changed_operator_is_built_again(tmp_path: Path) -> None:
    file = project(tmp_path)
    options, settings = buildtool.Options(tmp_path / "build"), buildtool.RunSettings(reference="numpy")
    buildtool.build(file, options=options)
    (kernel,) = tmp_path.glob("my_ops/native/ops/halve/*.cc")
    kernel.write_text(kernel.read_text().replace("0.5f", "0.25f"))
    report = buildtool.validate(file, options=options, settings=settings)
    assert not report.passed or max(result["max_abs"] for result in report.results) > 0.1


def test_without_the_folder_the_operator_is_missing(tmp_path: Path) -> None:
    file = project(tmp_path)
    file.write_text(file.read_text().replace("op_paths: [my_ops]\n", ""))
    with pytest.raises(buildtool.errors.UnsupportedError, match="Halve"):
        buildtool.convert(file, options=buildtool.Options(tmp_path / "build"))


def test_a_missing_kernel_is_an_error_of_the_build(tmp_path: Path) -> None:
    """The operator has a meaning, and nothing that computes it."""
    file = project(tmp_path)
    manifest = tmp_path / "my_ops" / "native" / "ops" / "halve" / "op.yaml"
    manifest.write_text(manifest.read_text().replace("inputs: [type]", "inputs: [s32]"))
    with pytest.raises(buildtool.errors.UnsupportedError) as caught:
        buildtool.convert(file, options=buildtool.Options(tmp_path / "build"))
    text = str(caught.value)
    assert "net" in text
    assert "half" in text
