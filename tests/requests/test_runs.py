"""What counts as right in a run, by the runtime of the model."""

from __future__ import annotations

from pathlib import Path

import pytest

from buildtool.config import load_deployment
from buildtool.requests import runs
from buildtool.requests.runs import threshold
from buildtool.settings import EVERYTHING, Options

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


@pytest.mark.parametrize(
    ("stated", "measured", "drawn"),
    [
        ("-1,1", "0,1", (0.0, 1.0)),
        ("-1,1", "-2,0.5", (-1.0, 0.5)),
        ("0,1", "0,1", (0.0, 1.0)),
        ("0,1", "3,4", (0.0, 1.0)),  # nothing in common: as stated
    ],
)
def test_random_inputs_stay_within_the_range_of_a_quantised_model(
    tmp_path: Path, stated: str, measured: str, drawn: tuple[float, float]
) -> None:
    file = tmp_path / "net.yml"
    more = "    quantize: 1\n    quantize_range_file: net.ranges\n"
    text = _MODEL.format(runtime="cpu").replace(
        "        output_tensors", f"        input_ranges: {stated}\n        output_tensors"
    )
    file.write_text(text + more, encoding="utf-8")
    (tmp_path / "net.ranges").write_text(f"x@@{measured}\n", encoding="utf-8")
    model = load_deployment(file).deployment.models[0]
    inputs, notes = runs.within_ranges(model, runs.specs(model)[0], Options())
    assert inputs[0].value_range == drawn
    assert len(notes) == (drawn != tuple(map(float, stated.split(","))))
    given, _ = runs.run_of(model, Options(), EVERYTHING)
    assert drawn[0] <= given["x"].min() < given["x"].max() <= drawn[1]
