"""The zoo is what it claims to be: valid, runnable, and as much work as the published networks."""

from __future__ import annotations

import math
from pathlib import Path

import numpy as np
import onnx
import onnxruntime
import pytest

from tests.zoo.networks import NETWORKS, build, cached

MEGA_MACS = {"mobilenet_v1": 569, "mobilenet_v2": 301, "squeezenet_v11": 349, "resnet18": 1814, "shufflenet_v2": 145}


def _run(model: onnx.ModelProto) -> dict[str, np.ndarray]:
    session = onnxruntime.InferenceSession(model.SerializeToString(), providers=["CPUExecutionProvider"])
    shape = session.get_inputs()[0].shape
    image = np.random.default_rng(0).uniform(-1, 1, shape).astype(np.float32)
    names = [output.name for output in session.get_outputs()]
    return dict(zip(names, session.run(names, {"input": image}), strict=True))


@pytest.mark.parametrize("name", NETWORKS)
def test_work_at_full_size(name: str) -> None:
    """Counted on the shapes that onnxruntime really computes."""
    model = build(name)
    onnx.checker.check_model(model, full_check=True)
    weights = {tensor.name: tuple(tensor.dims) for tensor in model.graph.initializer}
    layers = {node.output[0]: weights[node.input[1]] for node in model.graph.node if node.op_type in {"Conv", "Gemm"}}
    for output in layers.keys() - {"output"}:
        model.graph.output.append(onnx.helper.make_tensor_value_info(output, onnx.TensorProto.FLOAT, None))
    results = _run(model)
    macs = sum(results[output].size * math.prod(weight[1:]) for output, weight in layers.items())
    assert round(macs / 1e6) == MEGA_MACS[name]
    assert results["output"].shape == (1, 1000)
    assert np.isfinite(results["output"]).all()
    assert results["output"].std() > 1e-3


@pytest.mark.parametrize("name", NETWORKS)
def test_small_relatives_run(name: str) -> None:
    model = build(name, size=64, width=0.25)
    onnx.checker.check_model(model, full_check=True)
    assert _run(model)["output"].shape == (1, 1000)
    assert model.ByteSize() < 4_000_000


def test_cache_is_stable(tmp_path: Path) -> None:
    first = cached("squeezenet_v11", tmp_path, size=32, width=0.25)
    stamp = first.stat().st_mtime_ns
    assert cached("squeezenet_v11", tmp_path, size=32, width=0.25) == first
    assert first.stat().st_mtime_ns == stamp
    assert first.read_bytes() == build("squeezenet_v11", 32, 0.25).SerializeToString(deterministic=True)
    assert [path.name for path in tmp_path.iterdir()] == [first.name]
