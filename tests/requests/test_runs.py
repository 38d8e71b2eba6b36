"""What counts as right in a run, by the runtime of the model."""

from __future__ import annotations

from pathlib import Path

import pytest

from buildtool.config import load_deployment
from buildtool.requests.runs import threshold

_MODEL = """\
models:
  net:
    platform: onnx
    model_file_path: net.onnx
    subgraphs:
      - input_tensors: x
        input_shapes: 1,8,8,3
        output_tensors: y
        output_shapes: 1,10
    runtime: {runtime}
"""
_THRESHOLDS = "    validation_threshold: {cpu: 0.8, gpu: 0.7, dsp: 0.6}\n"
_INT4 = "    quantize_large_weights: int4\n"


def _threshold(folder: Path, runtime: str, more: str = "") -> float:
    file = folder / "net.yml"
    file.write_text(_MODEL.format(runtime=runtime) + more, encoding="utf-8")
    return threshold(load_deployment(file).deployment.models[0])


@pytest.mark.parametrize(
    ("runtime", "usual", "given", "int4"),
    [
        ("cpu", 0.999, 0.8, 0.95),
        ("gpu", 0.995, 0.7, 0.95),
        ("cpu+gpu", 0.995, 0.7, 0.95),
        ("cpu_gpu", 0.995, 0.7, 0.95),
        ("dsp", 0.98, 0.6, 0.98),
    ],
)
def test_a_model_that_the_gpu_shares_is_held_to_the_gpus_threshold(
    tmp_path: Path, runtime: str, usual: float, given: float, int4: float
) -> None:
    assert _threshold(tmp_path, runtime) == usual
    assert _threshold(tmp_path, runtime, _THRESHOLDS) == given
    assert _threshold(tmp_path, runtime, _INT4) == int4
