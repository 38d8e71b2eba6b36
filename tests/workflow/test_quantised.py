"""The zoo as onnxruntime quantises it: built for few bits it gives what onnxruntime gives, node by node to one step."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import numpy as np
import onnx
import onnxruntime
import pytest

import buildtool
from buildtool.drafts import deployment
from buildtool.importers.onnx import import_model
from buildtool.importers.request import ImportRequest
from buildtool.ir.operator import Array
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
    options = onnxruntime.SessionOptions()
    options.graph_optimization_level = onnxruntime.GraphOptimizationLevel.ORT_DISABLE_ALL
    session = onnxruntime.InferenceSession(model.SerializeToString(), options, providers=["CPUExecutionProvider"])
    wanted = [output.name for output in session.get_outputs()]
    return dict(inputs) | dict(zip(wanted, session.run(wanted, dict(inputs)), strict=True))


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


@pytest.mark.parametrize("form", FORMS)
def test_libraries_give_what_onnxruntime_gives(form: str, tmp_path: Path) -> None:
    models = [quantised(name, CACHE, 64, 0.25, form) for name in NETWORKS]
    text = deployment.write(models, relative_to=tmp_path, library_name="zoo", target_abis=["host"])
    file = tmp_path / "zoo.yml"
    file.write_text(text.replace("data_type: fp16_fp32", "data_type: fp32_fp32\n    quantize: 1"))
    options = buildtool.Options(tmp_path / "build")
    built = buildtool.build(file, options=options)
    for model in built.models:
        kernels = model.plans[0]["kernels"]
        assert sum(count for kernel, count in kernels.items() if kernel.startswith("conv2d_s8")) > 10
        assert not [kernel for kernel in kernels if kernel.startswith("conv2d_f32")]
    report = buildtool.validate(file, options=options, settings=buildtool.RunSettings(kinds=("shared",)))
    assert report.reference == "onnxruntime"
    print([(result["cosine"], result["max_abs"]) for result in report.results])  # noqa: T201 (shown with -s)
    assert [result for result in report.results if not result["passed"] or result["cosine"] < 0.999] == []
