"""What a file says beyond its layers: names, open sizes, what is wrapped for quantisation, what is refused."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

from buildtool.errors import LatheError, UnsupportedError
from buildtool.importers.keras import import_model
from buildtool.importers.request import ImportRequest, TensorRequest
from buildtool.ir import text
from buildtool.ir.operator import Array
from buildtool.ir.types import DType, QuantType
from buildtool.ops.registry import registry
from buildtool.passes.pipeline import optimise
from tests.importers.keras import writer
from tests.importers.keras.harness import archive, healthy, imported, run

_TWO = writer.sequential(
    writer.given(3), writer.layer("Dense", "one", units=4), writer.layer("Dense", "two", units=2, activation="softmax")
)
_WEIGHTS = {"one": writer.dense(3, 4), "two": writer.dense(4, 2, 1)}


def _by_hand(x: np.ndarray) -> np.ndarray:
    one, two = _WEIGHTS["one"], _WEIGHTS["two"]
    scores = (x @ one["kernel"] + one["bias"]) @ two["kernel"] + two["bias"]
    powers = np.exp(scores - scores.max(axis=-1, keepdims=True))
    return np.asarray(powers / powers.sum(axis=-1, keepdims=True))


def test_names_and_shapes(tmp_path: Path) -> None:
    result = imported(writer.h5(_TWO, _WEIGHTS), tmp_path, ".h5")
    assert [value.name for value in result.graph.inputs] == ["x"]
    assert [value.name for value in result.graph.outputs] == ["two"]
    assert result.graph.inputs[0].type.shape == (1, 3)
    assert result.platform == "keras"
    assert result.source_nodes == 2
    x = np.ones((1, 3), np.float32)
    np.testing.assert_allclose(run(result.graph, [x])[0], _by_hand(x), rtol=1e-5)


def test_names_in_the_words_of_tensorflow(tmp_path: Path) -> None:
    asked = TensorRequest("x:0", (2, 3)), TensorRequest("two/Softmax:0", (2, 2))
    graph = imported(writer.h5(_TWO, _WEIGHTS), tmp_path, ".h5", asked[:1], asked[1:]).graph
    assert [value.name for value in (*graph.inputs, *graph.outputs)] == ["x:0", "two/Softmax:0"]


def test_a_part_of_a_model(tmp_path: Path) -> None:
    asked = TensorRequest("one", (1, 4)), TensorRequest("two")
    graph = imported(writer.h5(_TWO, _WEIGHTS), tmp_path, ".h5", asked[:1], asked[1:]).graph
    assert [value.name for value in graph.inputs] == ["one"]


def test_a_run_time_batch(tmp_path: Path) -> None:
    graph = imported(writer.h5(_TWO, _WEIGHTS), tmp_path, ".h5", [TensorRequest("x", ((1, 8), 3))]).graph
    x = np.linspace(-1, 1, 15).reshape(5, 3).astype(np.float32)
    np.testing.assert_allclose(run(graph, [x])[0], _by_hand(x), rtol=1e-5)


def test_sizes_that_are_left_open(tmp_path: Path) -> None:
    model = writer.sequential(writer.given(None, 3), writer.layer("ReLU", "r"))
    with pytest.raises(LatheError, match="declare input_shapes"):
        imported(writer.h5(model), tmp_path, ".h5")


def test_a_misspelt_name(tmp_path: Path) -> None:
    with pytest.raises(LatheError, match="did you mean 'two'"):
        imported(writer.h5(_TWO, _WEIGHTS), tmp_path, ".h5", [], [TensorRequest("tow")])


def test_a_description_beside_the_weights(tmp_path: Path) -> None:
    (tmp_path / "model.json").write_text(json.dumps({**_TWO, "keras_version": "2.15.0"}))
    (tmp_path / "weights.h5").write_bytes(writer.h5("{}", _WEIGHTS))
    request = ImportRequest("test", tmp_path / "model.json", tmp_path / "weights.h5")
    x = np.ones((1, 3), np.float32)
    np.testing.assert_allclose(run(import_model(request).graph, [x])[0], _by_hand(x), rtol=1e-5)


def test_half_precision(tmp_path: Path) -> None:
    model = writer.sequential(writer.given(3, dtype="float16"), writer.layer("Dense", "one", units=4))
    weights = {"one": {key: array.astype(np.float16) for key, array in _WEIGHTS["one"].items()}}
    graph = imported(writer.h5(model, weights), tmp_path, ".h5").graph
    assert graph.inputs[0].type.dtype is DType.F16
    assert {value.type.dtype for value in graph.values() if value.is_constant} == {DType.F32}


# -- quantisation ------------------------------------------------------------------------------------------------------
def _quantised(inner: dict[str, object], name: str, settings: dict[str, object]) -> dict[str, object]:
    inner["config"] |= {  # type: ignore[operator]
        "activation": {"class_name": "QuantizeAwareActivation", "config": {"activation": "relu"}}
    }
    return writer.layer("QuantizeWrapperV2", name, layer=inner, quantize_config=settings)


def _wrapped(settings: dict[str, object]) -> tuple[dict[str, object], dict[str, dict[str, Array]]]:
    """A network with two wrappers, and its weights."""
    model = writer.sequential(
        writer.given(3),
        writer.layer("QuantizeLayer", "quantize_layer"),
        _quantised(writer.layer("Dense", "one", units=4), "quant_one", settings),
    )
    names = ("quantize_layer_min", "quantize_layer_max", "optimizer_step")
    ranges = {"kernel_min": -1, "kernel_max": 1, "post_activation_min": 0, "post_activation_max": 4}
    weights = {
        "quantize_layer": dict(zip(names, (np.float32(-2.55), np.float32(0), np.int32(-1)), strict=True)),
        "quant_one": _WEIGHTS["one"] | {key: np.float32(value) for key, value in ranges.items()},
    }
    return model, weights


def test_ranges_of_unusual_wrappers_are_left(tmp_path: Path) -> None:
    """How many bits they have only the code knows that wrote them."""
    model, weights = _wrapped({"class_name": "Mine", "config": {"weight_attrs": ["kernel"]}})
    x = np.array([[-1.0, -2.0, 0.5]], np.float32)
    result = imported(writer.h5(model, weights), tmp_path, ".h5", [], [TensorRequest("quant_one/Relu:0")])
    assert list(result.graph.ranges) == ["quantize_layer"]
    wanted = np.maximum(np.minimum(x, 0) @ _WEIGHTS["one"]["kernel"] + _WEIGHTS["one"]["bias"], 0)
    np.testing.assert_allclose(run(result.graph, [x])[0], wanted, rtol=1e-5)


def test_ranges_stay_with_the_graph(tmp_path: Path) -> None:
    """What is rounded keeps the name of the layer, whatever passes make of its nodes."""
    usual = {"weight_attrs": ["kernel"], "activation_attrs": ["activation"], "quantize_output": False}
    model, weights = _wrapped({"class_name": "Default8BitQuantizeConfig", "config": usual})
    graph = imported(writer.h5(model, weights), tmp_path, ".h5").graph
    optimise(graph)
    given, weight, out = (float(np.float32(a) / np.float32(b)) for a, b in ((2.55, 255), (2, 254), (4, 255)))
    assert graph.clone().ranges == {
        "quantize_layer": QuantType((given,), (127,)),
        "quant_one/kernel/quantised": QuantType((weight,), (0,)),
        "quant_one": QuantType((out,), (-128,)),
    }
    assert [node.op.name for node in graph.nodes].count("quantize_linear") == 2


@pytest.mark.parametrize("name", ["simulated-keras2.h5", "simulated-keras2.keras"])
def test_a_network_with_simulated_quantisation(name: str, tmp_path: Path) -> None:
    """All that tensorflow_model_optimization rounds is rounded: weights by channel, before and behind activations."""
    graph = healthy(name, tmp_path).graph
    assert len(graph.ranges) == 15
    assert sum(quant.axis is not None for quant in graph.ranges.values()) == 3
    optimise(graph)
    written, arrays = text.write(graph)
    assert text.read(written, arrays, registry()).ranges == graph.ranges


# -- what is refused ---------------------------------------------------------------------------------------------------
@pytest.mark.parametrize(
    ("refused", "message"),
    [
        (writer.layer("Lambda", "code", function=["4wEAAA==", None, None]), "Python code"),
        (writer.layer("TFOpLambda", "add", function="math.add"), "function 'math.add' of TensorFlow"),
        (writer.layer("TextVectorization", "t"), "TextVectorization"),
        (writer.layer("mine>Scale", "s", factor=2), "mine.Scale"),
        (writer.layer("Activation", "a", activation="sparsemax"), "sparsemax"),
    ],
)
def test_refused_layers(refused: dict[str, object], message: str, tmp_path: Path) -> None:
    model = writer.sequential(writer.given(3), refused)
    with pytest.raises(UnsupportedError, match=message):
        imported(writer.h5(model), tmp_path, ".h5")


def test_masks_that_are_read(tmp_path: Path) -> None:
    model = writer.sequential(
        writer.given(5, dtype="int32"),
        writer.layer("Embedding", "e", mask_zero=True),
        writer.layer("Dropout", "d"),
        writer.layer("GlobalAveragePooling1D", "g"),
    )
    with pytest.raises(UnsupportedError, match=r"it gets a mask(.|\n)*export the model as a SavedModel"):
        imported(writer.h5(model, {"e": {"embeddings": np.zeros((4, 2), np.float32)}}), tmp_path, ".h5")


def test_masking_where_no_layer_reads_it(tmp_path: Path) -> None:
    model = writer.sequential(writer.given(3, 2), writer.layer("Masking", "m", mask_value=1.0))
    x = np.array([[[1, 1], [1, 2], [3, 1]]], np.float32)
    (y,) = run(imported(writer.h5(model), tmp_path, ".h5").graph, [x])
    np.testing.assert_array_equal(y, [[[0, 0], [1, 2], [3, 1]]])


def test_models_of_keras_1(tmp_path: Path) -> None:
    with pytest.raises(UnsupportedError, match=r"Keras 1\.2"):
        imported(writer.h5(_TWO, _WEIGHTS, "1.2.0"), tmp_path, ".h5")


def test_a_file_of_weights_only(tmp_path: Path) -> None:
    with pytest.raises(LatheError, match="contains no"):
        imported(writer.keras({"config.json": b"{}"}), tmp_path)
    with pytest.raises(LatheError, match="no description"):
        import h5py

        with h5py.File(tmp_path / "weights.h5", "w") as file:
            file.create_group("dense")
        import_model(ImportRequest("test", tmp_path / "weights.h5"))


def test_missing_weights(tmp_path: Path) -> None:
    with pytest.raises(LatheError, match="0 weights of the layer, which has kernel, bias"):
        imported(writer.h5(_TWO, {"one": _WEIGHTS["one"]}), tmp_path, ".h5")


def test_both_files_of_a_model_are_one_graph(tmp_path: Path) -> None:
    for version in ("2", "3"):
        graphs = [imported(archive()[f"nested-keras{version}{end}"], tmp_path, end).graph for end in (".h5", ".keras")]
        first, second = (
            [(node.op, [value.constant for value in node.inputs if value.is_constant]) for node in graph.nodes]
            for graph in graphs
        )
        assert [op for op, _ in first] == [op for op, _ in second]
        for (_, left), (_, right) in zip(first, second, strict=True):
            assert all(np.array_equal(a, b) for a, b in zip(left, right, strict=True))  # type: ignore[arg-type]
