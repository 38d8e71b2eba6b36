"""What stands in files: the forms of layers, phases, names of blobs, weights, and messages about mistakes."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from buildtool.errors import LatheError, ModelFileError, UnsupportedError
from buildtool.importers.caffe import declared_inputs
from buildtool.importers.request import ImportRequest, TensorRequest
from tests.cli.conftest import Lathe, lathe
from tests.importers.caffe.harness import imported, run
from tests.importers.caffe.writer import caffemodel, inputs, layer, numbers

__all__ = ["lathe"]  # a fixture
_X = {"x": (1, 3, 6, 6)}
_CONVOLUTION = "convolution_param { num_output: 4 kernel_size: 3 weight_filler { type: 'xavier' } }"
_WEIGHTS = {"conv": [numbers((4, 3, 3, 3), 1), numbers((4,), 2)]}
_NEW = inputs(_X) + layer("Convolution", "conv", "x", _CONVOLUTION) + layer("ReLU", "relu", "conv", "", "conv")
_OLD = f"""name: "old form"  # a comment
input: 'x' input_dim: 1, input_dim: 3; input_dim: 0x6 input_dim: 6
layers {{ name: "conv" type: CONVOLUTION bottom: "x" top: "conv" blobs_lr: 1 blobs_lr: 2 {_CONVOLUTION} }}
layers: < name: "re" "lu" type: 18 bottom: "conv" top: "conv" relu_param {{ }} >
"""


def _result(text: str, model: bytes, folder: Path) -> np.ndarray:
    x = numbers(_X["x"], 3)
    return run(imported(text, model, folder).graph, {"x": x})[0]


def test_old_and_new_forms_of_both_files(tmp_path: Path) -> None:
    wanted = _result(_NEW, caffemodel(_WEIGHTS), tmp_path)
    assert wanted.shape == (1, 4, 4, 4)
    for text in (_NEW, _OLD):
        for old in (False, True):
            for double in (False, True):
                np.testing.assert_array_equal(_result(text, caffemodel(_WEIGHTS, old, double), tmp_path), wanted)


def test_blobs_written_in_several_pieces(tmp_path: Path) -> None:
    """Packed numbers may be split: their pieces are one after the other."""
    whole = caffemodel({"conv": [_WEIGHTS["conv"][0]]})
    data = _WEIGHTS["conv"][0].tobytes()
    pieces = b"".join(b"\x2a" + bytes([size]) + part for size, part in ((100, data[:100]), (8, data[100:108])))
    rest = data[108:]
    pieces += b"\x2a" + bytes([len(rest) & 127 | 128, len(rest) >> 7]) + rest
    shape = whole[: whole.index(data)]
    assert len(pieces) == len(data) + 2 + 2 + 3
    blob = shape[shape.index(b"\x3a\x06") :][:8] + pieces
    head = b"\x0a\x04conv\x3a" + bytes([len(blob) & 127 | 128, len(blob) >> 7]) + blob
    model = b"\xa2\x06" + bytes([len(head) & 127 | 128, len(head) >> 7]) + head
    text = _NEW.replace("convolution_param {", "convolution_param { bias_term: false")
    wanted = _result(text, whole, tmp_path)
    np.testing.assert_array_equal(_result(text, model, tmp_path), wanted)


def test_layers_that_only_train(tmp_path: Path) -> None:
    rules = {
        "include { phase: TRAIN }": False,
        "include { phase: TRAIN } include { phase: TEST }": True,
        "exclude { phase: TEST }": False,
        "exclude { phase: TRAIN }": True,
        "include { min_level: 1 }": False,
        "include { stage: 'deploy' }": False,
        "exclude { stage: 'deploy' }": True,
        "include { not_stage: 'deploy' max_level: 0 }": True,
    }
    for rule, takes_part in rules.items():
        graph = imported(inputs(_X) + layer("ReLU", "y", "x") + layer("TanH", "z", "x", rule), None, tmp_path).graph
        assert (len(graph.outputs) == 2) is takes_part, rule
    staged = "state { stage: 'deploy' level: 2 }" + inputs(_X) + layer("TanH", "z", "x", "include { stage: 'deploy' }")
    assert len(imported(staged, None, tmp_path).graph.outputs) == 1


def test_blobs_that_are_written_again(tmp_path: Path) -> None:
    """The last tensor has the name of the blob; what read it before reads what it was then."""
    text = inputs(_X) + layer("AbsVal", "a", "x") + layer("Power", "b", "a", "power_param { scale: 2 }")
    text += layer("TanH", "t", "a", "", "a") + layer("Sigmoid", "s", "x", "", "x") + layer("Eltwise", "y", "a b x")
    x = numbers(_X["x"], 4)
    graph = imported(text, None, tmp_path).graph
    wanted = np.tanh(np.abs(x)) + 2 * np.abs(x) + 1 / (1 + np.exp(-x))
    np.testing.assert_allclose(run(graph, {"x": x})[0], wanted, rtol=1e-5)
    graph = imported(text, None, tmp_path, outputs=("a", "a#1", "x#1")).graph
    a, first, changed = run(graph, {"x": x})
    np.testing.assert_allclose(a, np.tanh(first), rtol=1e-5)
    np.testing.assert_allclose(changed, 1 / (1 + np.exp(-x)), rtol=1e-5)


def test_outputs_and_layers_without_a_result(tmp_path: Path) -> None:
    text = inputs(_X) + layer("ReLU", "a", "x") + layer("TanH", "b", "x") + "layer { type: 'Silence' bottom: 'b' }"
    assert [value.name for value in imported(text, None, tmp_path).graph.outputs] == ["a"]


def test_data_layers_are_inputs(tmp_path: Path) -> None:
    text = "layer { name: 'd' type: 'Data' top: 'data' top: 'label' data_param { source: 'x' backend: LMDB } }"
    text += layer("ReLU", "y", "data") + layer("SoftmaxWithLoss", "loss", "y label")
    graph = imported(text, None, tmp_path, [TensorRequest("data", (1, 3, 4, 4), "NCHW")], ["y"]).graph
    assert [node.op.name for node in graph.nodes] == ["relu"]
    with pytest.raises(ModelFileError, match="declare input_shapes"):
        imported(text, None, tmp_path, outputs=["y"])
    with pytest.raises(UnsupportedError, match=r"SoftmaxWithLoss .* is not supported"):
        imported(text, None, tmp_path, [TensorRequest(name, (1, 3), "NONE") for name in ("data", "label")])


def test_input_layers_and_their_sizes(tmp_path: Path) -> None:
    text = "layer { name: 'in' type: 'Input' top: 'a' top: 'b' input_param { shape { dim: 2 dim: 3 } } }"
    graph = imported(text + layer("Eltwise", "y", "a b"), None, tmp_path).graph
    assert [value.type.shape for value in graph.inputs] == [(2, 3), (2, 3)]
    file = tmp_path / "open.prototxt"
    file.write_text("input: 'a' input: 'b' input_dim: [-1, 3, 4, 4] input_dim: [1, 1, 2, 2]")
    assert declared_inputs(ImportRequest("open", file)) == {"a": (None, 3, 4, 4), "b": (1, 1, 2, 2)}


def test_run_time_sizes_on_both_sides_of_a_reshape(tmp_path: Path) -> None:
    text = "input: 'x'" + layer("Reshape", "y", "x", "reshape_param { shape { dim: 0 dim: 2 dim: -1 } }")
    graph = imported(text, None, tmp_path, [TensorRequest("x", ((1, 3), 4, 6), "NONE")]).graph
    x = numbers((3, 4, 6), 5)
    np.testing.assert_array_equal(run(graph, {"x": x})[0], x.reshape(3, 2, 12))


def test_run_time_sizes(tmp_path: Path) -> None:
    """Pools of any size, and batches of any number."""
    pool = layer("Pooling", "y", "x", "pooling_param { kernel_size: 3 stride: 2 pad: 1 }")
    text = "input: 'x'" + pool + layer("Convolution", "conv", "y", _CONVOLUTION)
    text += layer("Pooling", "mean", "conv", "pooling_param { pool: AVE global_pooling: true }")
    text += layer("InnerProduct", "product", "mean", "inner_product_param { num_output: 2 bias_term: false }")
    weights = caffemodel({**_WEIGHTS, "product": [numbers((2, 4), 7)]})
    request = TensorRequest("x", ((1, 3), 3, (8, 12), (8, 12)), "NCHW")
    graph = imported(text, weights, tmp_path, [request]).graph
    for shape in ((1, 3, 8, 8), (3, 3, 11, 12)):
        fixed = imported(text, weights, tmp_path, [TensorRequest("x", shape, "NCHW")]).graph
        x = numbers(shape, 5)
        np.testing.assert_array_equal(run(graph, {"x": x})[0], run(fixed, {"x": x})[0])


_RELU = layer("ReLU", "y", "x")


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "empty"),
        ("# nothing\n", "no layers"),
        ("layer {\n  name: 'a'\n", r":3, .*error: '}' is missing"),
        ("input: 'x'\n\nlayer { tpe: 'ReLU' }", r":3, .*'tpe' in LayerParameter[\s\S]*did you mean 'type'"),
        ("input: 'x'\ninput_dim: 1.5", r":2, .*error: 'input_dim' is an integer"),
        ("input: 5", "quoted string"),
        ("input: 'x' input_dim: 1", "sizes of 1|there are 1 inputs"),
        ("name: 'a'\nname: 'b'", r":2, .*error: 'name' is given twice"),
        ("layer { top 'x' }", "a ':' is missing"),
        ("layer: 3", "needs fields in braces"),
        ("layer { name { } }", "one value"),
        ("input: 'x' input_dim: [1 2]", "does not end"),
        ("@", "is not expected here"),
        ("layer " + "{ a " * 40, "nested"),
        (inputs(_X) + "layers { layer { name: 'a' type: 'relu' } bottom: 'x' top: 'y' }", "before 2014"),
        (inputs(_X) + "layers { type: RELLU bottom: 'x' top: 'y' }", "did you mean 'RELU'"),
        (inputs(_X) + _RELU + "layers { }", "formats 'layers'"),
        (inputs(_X) + "layer { name: 'l' bottom: 'x' top: 'y' }", "has no type"),
        (inputs(_X) + layer("ReLU", "y", "z"), "nothing defines 'z'"),
        (inputs(_X) + layer("ReLU", "y", "x") + "layer { type: 'Silence' bottom: 'y' }", "no outputs"),
        (inputs(_X) + layer("Rellu", "y", "x"), "operator Rellu .* is not supported"),
        (inputs(_X) + layer("ReLU", "y", "x", "relu_param { neg_slope: 1 }"), "did you mean 'negative_slope'"),
        (inputs(_X) + layer("Convolution", "y", "x", _CONVOLUTION), "does weight_file_path belong"),
        (inputs(_X) + layer("Pooling", "y", "x", "pooling_param { kernel_size: 2 pad: 2 }"), "a padding of 2"),
        (inputs(_X) + layer("Pooling", "y", "x", "pooling_param { kernel_size: 1 stride: 4 }"), "after the 6 elements"),
        (inputs(_X) + layer("Softmax", "y", "x", "softmax_param { axis: 4 }"), "no axis 4"),
        (inputs(_X) + layer("Slice", "y", "x", "", "a b"), "cannot be cut"),
        (inputs(_X) + layer("Reshape", "y", "x", "reshape_param { shape { dim: 5 dim: -1 } }"), "divided"),
        (inputs(_X) + layer("Eltwise", "y", "x x", "eltwise_param { coeff: 1 }"), "1 coefficients for 2"),
        (inputs({**_X, "s": (6, 6)}) + layer("Scale", "y", "x s", "scale_param { axis: 3 }"), "2 axes from axis 3 on"),
        (inputs({"x": (5,)}) + layer("BatchNorm", "y", "x"), "there are no channels"),
    ],
)
def test_mistakes(text: str, message: str, tmp_path: Path) -> None:
    with pytest.raises(LatheError, match=message) as caught:
        imported(text, None, tmp_path)
    assert all(problem.where.file == str(tmp_path / "net.prototxt") for problem in caught.value.problems)


def test_files_in_the_wrong_place(tmp_path: Path) -> None:
    with pytest.raises(ModelFileError, match="model_file_path is the prototxt"):
        imported(caffemodel(_WEIGHTS), caffemodel(_WEIGHTS), tmp_path)
    with pytest.raises(ModelFileError, match="weight_file_path is the caffemodel"):
        imported(_NEW, _NEW.encode(), tmp_path)
    with pytest.raises(ModelFileError, match="no layer in it has weights"):
        imported(_NEW, caffemodel({"conv": []}), tmp_path)


def test_weights_that_do_not_fit(tmp_path: Path) -> None:
    small = {"conv": [numbers((4, 3, 3, 2), 1), numbers((4,), 2)]}
    with pytest.raises(ModelFileError, match=r"conv.*\[4, 3, 3, 2\] cannot become \[4, 3, 3, 3\]"):
        imported(_NEW, caffemodel(small), tmp_path)
    with pytest.raises(ModelFileError, match="its bias"):
        imported(_NEW, caffemodel({"conv": [_WEIGHTS["conv"][0], numbers((5,), 2)]}), tmp_path)


def test_init_wants_the_weights_beside(lathe: Lathe, tmp_path: Path) -> None:
    (tmp_path / "net.prototxt").write_text(_NEW)
    result = lathe("init", tmp_path / "net.prototxt")
    assert result.code == 2
    assert "there is no 'net.caffemodel'" in result.stderr
    (tmp_path / "net.caffemodel").write_bytes(caffemodel(_WEIGHTS))
    (tmp_path / "other.caffemodel").write_bytes(b"x")
    assert lathe("init", tmp_path / "net.prototxt").code == 0
    assert lathe("check", tmp_path / "net.yml").code == 0
    assert "weight_file_path: net.caffemodel" in (tmp_path / "net.yml").read_text()
