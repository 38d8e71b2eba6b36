"""Small networks in every form that is imported give what TensorFlow gives."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import numpy as np
import pytest

from buildtool.errors import ModelFileError, UnsupportedError
from buildtool.importers.request import TensorRequest
from buildtool.passes.pipeline import optimise
from tests.importers.tensorflow.harness import (
    compare,
    constant,
    imported,
    network,
    node,
    placeholder,
    requests,
    run,
    written,
)

#: What is left of each network after all passes, as far as it says something about the importer.
LEFT = {
    "cosines": {"fully_connected": 17},
    "dilated": {"conv2d": 1, "dwconv2d": 1},
    "frozen_recurrent": {"lstm": 3, "gru": 1, "transpose": 1, "concat": 1},
    "loops_v1": {"loop": 2, "gather": 1},
    "plain_recurrent": {"lstm": 3, "gru": 1, "transpose": 1, "concat": 1},
    "saved_lists": {"loop": 2, "gather": 1},
    "saved_recurrent": {"lstm": 3, "gru": 1, "transpose": 1, "concat": 1},
    "frozen_keras": {"conv2d": 4, "dwconv2d": 1, "deconv2d": 1, "max_pool2d": 1, "fully_connected": 1, "softmax": 1},
    "saved_keras": {"conv2d": 4, "dwconv2d": 1, "deconv2d": 1, "max_pool2d": 1, "fully_connected": 1, "softmax": 1},
    "saved_module": {"if_else": 1, "loop": 1, "gather": 1},
    "spectra": {"fully_connected": 13},
    "saved_v1": {"fully_connected": 1, "where": 1},
}
NODES = {
    "cosines": 106,
    "dilated": 2,
    "frozen_keras": 27,
    "saved_keras": 27,
    "saved_module": 10,
    "saved_v1": 6,
    "spectra": 63,
}
NODES |= {"loops_v1": 7, "saved_lists": 7, "saved_recurrent": 12, "frozen_recurrent": 12, "plain_recurrent": 12}


@pytest.mark.parametrize("name", sorted(NODES))
def test_results(name: str, tmp_path: Path) -> None:
    file, inputs, outputs = network(name, tmp_path)
    sizes = [TensorRequest(key, array.shape, "MODEL") for key, array in inputs.items()]
    graph = imported(file, sizes).graph
    assert {value.name for value in graph.inputs} == inputs.keys()
    compare(run(graph, inputs), outputs, 1e-4, 1e-4)
    optimise(graph)
    compare(run(graph, inputs), outputs, 1e-4, 1e-4)
    counts = Counter(node.op.name for node in graph.nodes)
    assert LEFT[name].items() <= counts.items()
    assert counts.total() == NODES[name]


def test_both_ways_of_saving_give_the_same_graph(tmp_path: Path) -> None:
    size = [TensorRequest("image", (1, 16, 16, 3), "NHWC")]
    saved, frozen = (imported(network(name, tmp_path)[0], size).graph for name in ("saved_keras", "frozen_keras"))
    for graph in (saved, frozen):
        optimise(graph)
    assert Counter(node.op for node in saved.nodes) == Counter(node.op for node in frozen.nodes)
    weights, others = (
        [value.constant for value in graph.values() if value.constant is not None] for graph in (saved, frozen)
    )
    assert len(weights) == len(others)
    for array in weights:
        assert any(array.shape == other.shape and abs(array - other).max() < 1e-6 for other in others)


def test_results_of_the_steps_are_stacked(tmp_path: Path) -> None:
    """A loop carries states alone: counters are its number, and lists that it fills are no copies of lists."""
    file, inputs, _ = network("frozen_recurrent", tmp_path)
    graph = imported(file, [TensorRequest(key, array.shape, "MODEL") for key, array in inputs.items()]).graph
    loops = [node for node in graph.nodes if node.op.name == "loop"]
    assert [len(node.inputs) - 2 for node in loops] == [2, 1, 3, 3]  # of the last two only the last step is kept
    assert [len(node.outputs) for node in loops] == [3, 2, 3, 3]
    assert not any(inner.op.name == "scatter_nd" for node in loops for inner in node.regions[0].nodes)


def test_a_transform_along_a_run_time_size_is_refused(tmp_path: Path) -> None:
    file = written(
        tmp_path,
        placeholder("x", 2, 8),
        node("c", "Complex", "x", "x", T="DT_FLOAT", Tout="DT_COMPLEX64"),
        node("f", "FFT", "c", Tcomplex="DT_COMPLEX64"),
        node("y", "ComplexAbs", "f", T="DT_COMPLEX64", Tout="DT_FLOAT"),
    )
    with pytest.raises(UnsupportedError, match="a transform along an axis of"):
        imported(file, [TensorRequest("x", (2, (1, 9)), "MODEL")], requests("y"))


def test_a_list_without_a_shape_is_no_tensor(tmp_path: Path) -> None:
    constants = constant("unknown", np.array(-1, np.int32)), constant("count", np.array(3, np.int32))
    made = node("list", "TensorListReserve", "unknown", "count", element_dtype="DT_FLOAT")
    file = written(tmp_path, placeholder("x", 3), *constants, made, node("y", "AddV2", "x", "list"))
    with pytest.raises(ModelFileError, match="a list whose tensors have no known shape"):
        imported(file, outputs=requests("y"))


@pytest.mark.parametrize("padding", ["VALID", "SAME"])
def test_dilations_of_transposed_convolutions(padding: str, tmp_path: Path) -> None:
    """TensorFlow has no such kernel for processors: the same filter with zeros in between is the reference."""
    draw = np.random.default_rng(0)
    x, filters = (draw.standard_normal(sizes).astype(np.float32) for sizes in ((1, 4, 3, 2), (3, 2, 5, 2)))
    spread = np.zeros((7, 3, 5, 2), np.float32)
    spread[::3, ::2] = filters
    strides, shape = (1, 2, 1, 1), (1, 13, 5, 5) if padding == "VALID" else (1, 8, 3, 5)
    results = []
    for kernel, dilations in ((filters, (1, 3, 2, 1)), (spread, (1, 1, 1, 1))):
        constants = constant("shape", np.array(shape, np.int32)), constant("w", kernel)
        made = node(
            "y", "Conv2DBackpropInput", "shape", "w", "x", strides=strides, padding=padding, dilations=dilations
        )
        file = written(tmp_path, placeholder("x", *x.shape), *constants, made)
        results.append(run(imported(file, outputs=requests("y")).graph, {"x": x})["y"])
    assert results[0].shape == shape
    np.testing.assert_allclose(results[0], results[1], rtol=1e-5, atol=1e-5)


@pytest.mark.parametrize("size", [(1, 3), (5, 1)])
def test_cubic_resizes_to_one_row(size: tuple[int, int], tmp_path: Path) -> None:
    made = node("y", "ResizeBicubic", "x", "size", half_pixel_centers=True, T="DT_FLOAT")
    file = written(tmp_path, placeholder("x", 1, 4, 6, 2), constant("size", np.array(size, np.int32)), made)
    x = np.full((1, 4, 6, 2), 2.5, np.float32)
    y = run(imported(file, outputs=requests("y")).graph, {"x": x})["y"]
    np.testing.assert_allclose(y, np.full((1, *size, 2), 2.5), rtol=1e-6)


def test_complex_outputs_and_operators_are_refused(tmp_path: Path) -> None:
    file = written(
        tmp_path,
        placeholder("x", 2, 8),
        constant("length", np.array([8], np.int32)),
        node("y", "RFFT", "x", "length", Treal="DT_FLOAT"),
        node("z", "Sqrt", "y"),
    )
    for name, said in (("y", "RFFT as a complex output"), ("z", "Sqrt of complex numbers")):
        with pytest.raises(UnsupportedError, match=said):
            imported(file, outputs=requests(name))
    x = np.arange(16, dtype=np.float32).reshape(2, 8)
    results = run(imported(file, outputs=requests("y:real", "y:imag")).graph, {"x": x})
    spectrum = np.fft.rfft(x)
    compare(results, {"y:real": spectrum.real.astype(np.float32), "y:imag": spectrum.imag.astype(np.float32)})
