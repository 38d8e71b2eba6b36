"""Weights stored as 16, 8 or 4 bits or as bf16: what a library computes with is exactly what stands in its files.

The inputs pick single weights, so that the outputs are the weights themselves, to the last bit.
"""

from __future__ import annotations

import re
from pathlib import Path

import numpy as np
import onnx
import pytest
from onnx import TensorProto, helper, numpy_helper

import buildtool
from buildtool.codegen import container
from buildtool.codegen.container_writer import Stored
from buildtool.drafts import deployment
from buildtool.errors import RunError
from buildtool.ir.operator import Array
from buildtool.ops.registry import registry
from buildtool.runtime import Library
from buildtool.schemas import container_pb2 as pb
from buildtool.targets.cpu import TARGET
from buildtool.targets.protocol import LibrarySource, ModelSource
from buildtool.workflow import measure_accuracy
from tests.codegen.test_scaled_constants import network

DIGITS = Path(__file__).resolve().parents[2] / "examples" / "digits"
# Of each form: data_type, quantize_large_weights, and the most that a weight may be off by, of its tensor's largest.
FORMS = {
    "bf16": ("bf16_fp32", "0", 2.0**-8),
    "int16": ("fp16_fp32", "int16", 2.0**-15.9),
    "int8": ("fp16_fp32", "1", 2.0**-7.9),
    "int4": ("bf16_fp32", "int4", 0.3),  # the largest of a block may be cut off
}
# By operator of the finished graph.
SHAPES = {"matmul": (64, 37), "gather": (100, 33), "conv2d": (43, 64, 1, 1), "dwconv2d": (130, 1, 3, 3)}


def _weights() -> dict[str, Array]:
    generator = np.random.default_rng(8)
    return {name: generator.standard_normal(shape).astype(np.float32) for name, shape in SHAPES.items()}


def _model(folder: Path) -> Path:
    """An operator of each kind, each with an input and an output of its own."""
    types = {"matmul": [64, 64], "gather": [100], "conv2d": [1, 64, 8, 8], "dwconv2d": [1, 130, 5, 5]}
    results = {"matmul": [64, 37], "gather": [100, 33], "conv2d": [1, 43, 8, 8], "dwconv2d": [1, 130, 5, 5]}
    nodes = [
        helper.make_node("MatMul", ["x_matmul", "w_matmul"], ["y_matmul"]),
        helper.make_node("Gather", ["w_gather", "x_gather"], ["y_gather"], axis=0),
        helper.make_node("Conv", ["x_conv2d", "w_conv2d"], ["y_conv2d"]),
        helper.make_node("Conv", ["x_dwconv2d", "w_dwconv2d"], ["y_dwconv2d"], group=130, pads=[1, 1, 1, 1]),
    ]

    def info(name: str, shape: list[int]) -> onnx.ValueInfoProto:
        kind = TensorProto.INT32 if name == "x_gather" else TensorProto.FLOAT
        return helper.make_tensor_value_info(name, kind, shape)

    graph = helper.make_graph(
        nodes,
        "net",
        [info(f"x_{name}", shape) for name, shape in types.items()],
        [info(f"y_{name}", shape) for name, shape in results.items()],
        [numpy_helper.from_array(array, f"w_{name}") for name, array in _weights().items()],
    )
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8)
    file = folder / "net.onnx"
    onnx.save(model, file)
    return file


def _inputs(folder: Path) -> dict[str, Path]:
    """What picks one weight for each output."""
    middle = np.zeros((1, 130, 5, 5), np.float32)
    middle[:, :, 2, 2] = 1
    arrays = {
        "x_matmul": np.eye(64, dtype=np.float32),
        "x_gather": np.arange(100, dtype=np.int32),
        "x_conv2d": np.eye(64, dtype=np.float32).reshape(1, 64, 8, 8),
        "x_dwconv2d": middle,
    }
    for name, array in arrays.items():
        np.save(folder / f"{name}.npy", array)
    return {name: folder / f"{name}.npy" for name in arrays}


def _picked(folder: Path) -> dict[str, Array]:
    """The weights as a run gave them, in the shapes of the source."""
    found = {name: np.load(folder / f"y_{name}.npy") for name in SHAPES}
    return {
        "matmul": found["matmul"],
        "gather": found["gather"],
        "conv2d": found["conv2d"].reshape(43, 64, 1, 1),
        "dwconv2d": found["dwconv2d"][0, :, 1:4, 1:4].reshape(130, 1, 3, 3)[:, :, ::-1, ::-1],
    }


def _stored(model: Path) -> dict[str, Array]:
    """The weights of a container as this program expands them, in the shapes of the source."""
    graph, _ = container.read(model.read_bytes(), model.with_suffix(".data").read_bytes(), registry())
    found = {}
    for node in graph.walk():
        for value in node.inputs:
            if value.constant is not None:
                found[node.op.name] = np.asarray(value.constant)
    matrix = found.pop("fully_connected").T if "fully_connected" in found else found["matmul"]
    return {
        "matmul": matrix,
        "gather": found["gather"],
        "conv2d": np.moveaxis(found["conv2d"], -1, 1),
        "dwconv2d": np.moveaxis(found["dwconv2d"], -1, 0)[:, None],
    }


def _build(folder: Path, form: str, abi: str) -> tuple[Path, buildtool.Options]:
    data_type, large, _ = FORMS[form]
    text = deployment.write([_model(folder)], relative_to=folder, library_name="net", target_abis=[abi])
    key = f"data_type: {data_type}\n    quantize_large_weights: {large}"
    file = folder / "net.yml"
    file.write_text(text.replace("data_type: fp16_fp32", key), encoding="utf-8")
    return file, buildtool.Options(folder / "build")


def _check(folder: Path, form: str, abi: str) -> None:
    file, options = _build(folder, form, abi)
    buildtool.build(file, options=options)
    settings = buildtool.RunSettings(inputs=_inputs(folder), output_folder=folder / "out", kinds=("shared",))
    buildtool.run(file, options=options, settings=settings)
    picked = _picked(folder / "out" / abi / "net")
    models = folder / "build" / "net" / "model"
    portable, planned = _stored(models / "net.pb"), _stored(models / abi / "net.pb")
    for name, array in _weights().items():
        np.testing.assert_array_equal(picked[name], planned[name], err_msg=f"{name} as the planned form has it")
        np.testing.assert_array_equal(picked[name], portable[name], err_msg=f"{name} as the portable form has it")
        error = np.abs(picked[name] - array).max()
        assert 0 < error <= FORMS[form][2] * np.abs(array).max(), f"{name} is off by {error}"


@pytest.mark.slow
@pytest.mark.parametrize("form", FORMS)
def test_libraries_compute_with_what_is_stored(form: str, tmp_path: Path) -> None:
    _check(tmp_path, form, "host")


@pytest.mark.slow
@pytest.mark.arm
@pytest.mark.parametrize("abi", ["aarch64-linux-gnu", "arm-linux-gnueabihf"])
@pytest.mark.parametrize("form", FORMS)
def test_libraries_compute_with_what_is_stored_on_arm(form: str, abi: str, tmp_path: Path) -> None:
    _check(tmp_path, form, abi)


_SPOILT = {"depth": (0, 1, 48, 97, 192, 2**63), "width": (0, 1, 8, 32, 2**62), "block": (0, 1, 97), "storage": (4, 99)}


def _refuses_spoilt_scales(library: Library, model: bytes, data: bytes) -> None:
    """A file whose scales do not fit its panels is an error when the engine is created, whatever is wrong with them."""
    message = pb.Model.FromString(model)
    for value in message.graph.values:
        if not value.constant.HasField("scaled"):
            continue
        right = pb.Scaled.FromString(value.constant.scaled.SerializeToString())
        for field, numbers in {**_SPOILT, "offset": (right.offset + 1, 2**40)}.items():
            for number in numbers:
                setattr(value.constant.scaled, field, number)
                with pytest.raises(RunError, match="scales"):
                    library.engine(model=message.SerializeToString(), data=data)
                value.constant.scaled.CopyFrom(right)


@pytest.mark.slow
@pytest.mark.parametrize(("form", "bits"), [("half", 16), ("int4", 4.5)])
def test_few_rows_expand_no_weights(form: str, bits: float, tmp_path: Path) -> None:
    """Layers of one row and of a number of rows that only the caller knows read what the file has."""
    weights = np.random.default_rng(3).standard_normal((2, 96, 96)).astype(np.float32)
    nodes = [helper.make_node("MatMul", [f"x{i}", f"w{i}"], [f"y{i}"]) for i in range(2)]
    sizes: list[list[str | int | None]] = [[1, 96], ["n", 96]]
    inputs, outputs = (
        [helper.make_tensor_value_info(f"{name}{i}", TensorProto.FLOAT, size) for i, size in enumerate(sizes)]
        for name in "xy"
    )
    constants = [numpy_helper.from_array(weights[i], f"w{i}") for i in range(2)]
    model = helper.make_model(
        helper.make_graph(nodes, "net", inputs, outputs, constants),
        opset_imports=[helper.make_opsetid("", 17)],
        ir_version=8,
    )
    onnx.save(model, tmp_path / "net.onnx")
    text = deployment.write([tmp_path / "net.onnx"], relative_to=tmp_path, shapes={"x1": "1..70,96"})
    key = "fp16_fp32" if form == "half" else f"fp16_fp32\n    quantize_large_weights: {form}"
    (tmp_path / "net.yml").write_text(re.sub(r"data_type: fp16_fp32.*", f"data_type: {key}", text), encoding="utf-8")
    built = buildtool.build(tmp_path / "net.yml", options=buildtool.Options(tmp_path / "build"))
    planned = built.folder / "model" / "host" / "net.pb"
    graph, _ = container.read(planned.read_bytes(), planned.with_suffix(".data").read_bytes(), registry())
    rounded = [np.asarray(node.inputs[1].constant) for node in graph.nodes]
    data = planned.with_suffix(".data").read_bytes()
    engine = Library(built.folder / built.libraries[0].shared).engine(model=planned.read_bytes(), data=data)
    for rows in (1, 3, 5, 70):
        fed = {f"x{i}": np.random.default_rng(i).standard_normal((n, 96), np.float32) for i, n in enumerate([1, rows])}
        for i, y in enumerate(engine.run(fed).values()):
            np.testing.assert_allclose(y, fed[f"x{i}"] @ rounded[i].T, rtol=1e-4, atol=1e-4)
    _refuses_spoilt_scales(Library(built.folder / built.libraries[0].shared), planned.read_bytes(), data)
    memory = engine.session().memory
    assert memory.weights_allocated < 2048
    assert memory.weights_mapped < 1.1 * weights.size * bits / 8


@pytest.mark.slow
def test_inside_a_library_and_in_files_of_either_form(tmp_path: Path) -> None:
    """The model in the library, the planned and the portable one beside it: all of them give the same weights."""
    file, options = _build(tmp_path, "int4", "host")
    overrides = buildtool.Overrides(model_graph_format="code", model_data_format="code")
    built = buildtool.build(file, overrides, options)
    library = Library(built.folder / built.libraries[0].shared)
    assert library.models == ("net",)
    inputs = {name: np.load(path) for name, path in _inputs(tmp_path).items()}
    inside = library.engine(model_name="net").run(inputs)
    portable = tmp_path / "build" / "net" / "model" / "net.pb"
    buildtool.build(file, options=options)
    for model in (portable, portable.parent / "host" / "net.pb"):
        data = model.with_suffix(".data").read_bytes()
        outside = library.engine(model=model.read_bytes(), data=data).run(inputs)
        for name, array in inside.items():
            np.testing.assert_array_equal(array, outside[name])


def _convolution(folder: Path, filters: Array) -> str:
    """A model of one convolution. Gives the text of its deployment file."""
    node = helper.make_node("Conv", ["x", "w"], ["y"], pads=[1, 1, 1, 1])
    infos = [helper.make_tensor_value_info(name, TensorProto.FLOAT, [1, 64, 32, 32]) for name in "xy"]
    graph = helper.make_graph([node], "net", infos[:1], infos[1:], [numpy_helper.from_array(filters, "w")])
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8)
    onnx.save(model, folder / "net.onnx")
    return deployment.write([folder / "net.onnx"], relative_to=folder)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("word", "winograd"), [("int8", ""), ("int8", "    winograd: 2\n"), ("int4", "    winograd: 4\n")]
)
def test_transformed_filters_are_for_those_who_ask(word: str, winograd: str, tmp_path: Path) -> None:
    filters = np.random.default_rng(3).standard_normal((64, 64, 3, 3)).astype(np.float32)
    text = _convolution(tmp_path, filters)
    key = f"data_type: fp16_fp32\n    quantize_large_weights: {word}\n{winograd}"
    (tmp_path / "net.yml").write_text(re.sub(r"data_type: fp16_fp32.*\n", key, text), encoding="utf-8")
    options = buildtool.Options(tmp_path / "build")
    built = buildtool.build(tmp_path / "net.yml", options=options)
    kernels = built.models[0].plans[0]["kernels"]
    assert any("winograd" in kernel for kernel in kernels) == bool(winograd)
    size = (built.folder / "model" / "host" / "net.data").stat().st_size
    assert not any("winograd4" in kernel for kernel in kernels)  # whose sums would multiply the rounding
    numbers = filters.size * (16 / 9 if winograd else 1)
    assert size < numbers * (1.4 if word == "int8" else 0.8)
    settings = buildtool.RunSettings(kinds=("shared",))
    (result,) = buildtool.validate(tmp_path / "net.yml", options=options, settings=settings).results
    assert result["passed"]
    assert (0.9999 if word == "int8" else 0.98) < result["cosine"] < 1


@pytest.mark.slow
def test_small_transformed_filters_in_16_bits_lose_no_more_than_plain_ones(tmp_path: Path) -> None:
    """The points of large tiles are as little as 1/576 of filters, where halves have few bits."""
    generator = np.random.default_rng(3)
    filters = (generator.standard_normal((64, 64, 3, 3)) * 0.003).astype(np.float16).astype(np.float32)
    text = _convolution(tmp_path, filters)
    assert "fp16_fp32" in text
    (tmp_path / "net.yml").write_text(text, encoding="utf-8")
    options = buildtool.Options(tmp_path / "build")
    built = buildtool.build(tmp_path / "net.yml", options=options)
    assert any("winograd4" in kernel for kernel in built.models[0].plans[0]["kernels"])
    settings = buildtool.RunSettings(kinds=("shared",))
    (result,) = buildtool.validate(tmp_path / "net.yml", options=options, settings=settings).results
    assert result["passed"]
    assert result["sqnr"] > 68  # 53 as halves


@pytest.mark.slow
def test_a_library_of_other_models_says_that_it_cannot_read_them(tmp_path: Path) -> None:
    file, options = _build(tmp_path, "bf16", "host")
    built = buildtool.build(file, options=options)
    library = Library(built.folder / built.libraries[0].shared)
    files = container.write(network(), name="other", stored=Stored(None, "int8"))
    with pytest.raises(RunError, match=r"constant '.*' has integers with scales, which 'net' cannot read"):
        library.engine(model=files.model, data=files.data)


def test_weights_that_are_not_finite_keep_their_type_and_are_named() -> None:
    graph = network()
    spoilt = graph.nodes[0].inputs[1]
    assert spoilt.constant is not None
    spoilt.constant = spoilt.constant.copy()
    spoilt.constant[0, 0, 0, 0] = np.nan
    source = LibrarySource("net", "net", (ModelSource("net", graph, Stored(None, "int8")),))
    program = TARGET.lower(source, "host")
    (note,) = program.notes
    assert note.what.startswith("weights that keep their data_type, because they contain NaN or infinity: w.1")
    (model,) = program.models
    assert model.plan.packings[0], "which are packed as ever"


@pytest.mark.slow
@pytest.mark.parametrize(("form", "least"), [("bf16", 0.99), ("int16", 0.99), ("int8", 0.99), ("int4", 0.98)])
def test_digits_are_still_read(form: str, least: float, tmp_path: Path) -> None:
    """The script of the example measures how often the library is right: 0.992 with weights of single precision."""
    data_type, large, _ = FORMS[form]
    text = (DIGITS / "accuracy.yml").read_text(encoding="utf-8")
    for file in ("digits.onnx", "accuracy.py"):
        text = text.replace(f": {file}", f": {DIGITS / file}")
    key = f"data_type: {data_type}\n    quantize_large_weights: {large}"
    (tmp_path / "digits.yml").write_text(text.replace("data_type: fp32_fp32", key), encoding="utf-8")
    options = buildtool.Options(tmp_path / "build")
    buildtool.build(tmp_path / "digits.yml", options=options)
    (result,) = measure_accuracy(tmp_path / "digits.yml", options=options).results
    assert result["samples"] == 360
    assert result["passed"]
    assert result["metrics"]["top1"] >= least
