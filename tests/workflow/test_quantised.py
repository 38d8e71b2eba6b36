"""The zoo as onnxruntime quantises it: built for few bits it gives what onnxruntime gives, node by node to one step."""

from __future__ import annotations

import json
import zipfile
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import onnx
import onnxruntime
import pytest

import buildtool
from buildtool.drafts import deployment
from buildtool.importers.onnx import import_model
from buildtool.importers.request import ImportRequest
from buildtool.ir.operator import Array
from tests import exact_onnxruntime
from tests.importers.tensorflow.harness import EXPECTED
from tests.stored_layers import compare, stored
from tests.zoo.networks import NETWORKS
from tests.zoo.quantised import quantised

CACHE = Path(__file__).resolve().parents[2] / "build" / "test-zoo"
FORMS = ("QDQ", "QOperator")


def _tensors(file: Path, inputs: Mapping[str, Array]) -> dict[str, Array]:
    """Every tensor of a model, computed as the file says: nothing is fused."""
    model = onnx.load(file)
    names = [name for node in model.graph.node for name in node.output]
    known = {output.name for output in model.graph.output}
    model.graph.output.extend(onnx.ValueInfoProto(name=name) for name in names if name not in known)
    options = exact_onnxruntime.plain_options(model)
    session = onnxruntime.InferenceSession(model.SerializeToString(), options, providers=["CPUExecutionProvider"])
    wanted = [output.name for output in session.get_outputs()]
    return dict(inputs) | dict(zip(wanted, session.run(wanted, dict(inputs)), strict=True))


@pytest.mark.slow
@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("name", NETWORKS)
def test_every_node_is_within_a_step(name: str, form: str) -> None:
    file = quantised(name, CACHE, 64, 0.25, form)
    graph = stored(import_model(ImportRequest(name, file)).graph)
    x = np.random.default_rng(1).uniform(-1, 1, (1, 3, 64, 64)).astype(np.float32)
    found = compare(graph, _tensors(file, {"input": x}))
    print(f"{name} {form}: {found}")  # noqa: T201 (shown with -s)
    assert found.most <= 1, found.worst()
    assert found.part("conv2d", "dwconv2d") > 0.9
    assert not found.real, "all of the zoo can be stored"


def _validated(models: Sequence[Path], folder: Path) -> tuple[buildtool.BuildReport, buildtool.ValidationReport]:
    """A library for the host with these models, stored in few bits."""
    text = deployment.write(models, relative_to=folder, library_name="zoo", target_abis=["host"])
    text = text.replace("data_type: fp16_fp32", "data_type: fp32_fp32")
    for dtype, ends in (("uint8", "0,255"), ("int8", "-128,127"), ("int16", "-32768,32767")):
        line = f"        input_data_types: [{dtype}]\n"
        text = text.replace(line, f'{line}        input_ranges: ["{ends}"]\n')
    file = folder / "zoo.yml"
    file.write_text(text)
    options = buildtool.Options(folder / "build", archive=False)
    built = buildtool.build(file, options=options)
    report = buildtool.validate(file, options=options, settings=buildtool.RunSettings(kinds=("shared",)))
    print([(result["model"], result["cosine"], result["max_abs"]) for result in report.results])  # noqa: T201
    return built, report


def _convolutions(model: Any, kind: str) -> int:
    return sum(count for kernel, count in model.plans[0]["kernels"].items() if kernel.startswith(f"conv2d_{kind}"))


@pytest.mark.slow
@pytest.mark.parametrize("form", FORMS)
def test_libraries_give_what_onnxruntime_gives(form: str, tmp_path: Path) -> None:
    built, report = _validated([quantised(name, CACHE, 64, 0.25, form) for name in NETWORKS], tmp_path)
    for model in built.models:
        assert _convolutions(model, "s8") > 10
        assert not _convolutions(model, "f32")
    assert report.reference == "onnxruntime"
    assert [result for result in report.results if not result["passed"] or result["cosine"] < 0.999] == []


@pytest.mark.slow
def test_libraries_give_what_litert_gives(tmp_path: Path) -> None:
    """Borders of 8 bits with and without a sign, of 16 bits, and of floats; numbers of 16 bits stay real inside."""
    names = ("resnet18_int8", "squeezenet_v11_uint8_borders", "squeezenet_v11_float_borders", "squeezenet_v11_int16")
    with zipfile.ZipFile(EXPECTED / "quantised.zip") as archive:
        models = [Path(archive.extract(f"{name}.tflite", tmp_path)) for name in (*names, "mixed_int8", "trained_uint8")]
    built, report = _validated(models, tmp_path)
    for model in built.models:
        is_real = model.name in ("squeezenet_v11_int16", "trained_uint8")
        assert bool(_convolutions(model, "s8")) is not is_real
        assert bool(_convolutions(model, "f32")) is is_real
    assert report.reference == "litert"
    assert [result for result in report.results if not result["passed"] or result["cosine"] < 0.999] == []
    written = json.loads((built.folder / "report" / "build.json").read_text())
    for model in written["models"]:
        reasons = {node["reason"] for node in model["plans"][0].get("single_precision", [])}
        if model["name"] == "squeezenet_v11_int16":
            assert "no kernel of conv2d computes with its quantised values" in reasons
        if model["name"] == "trained_uint8":
            assert any("zero points" in reason for reason in reasons)
