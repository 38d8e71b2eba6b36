"""Models that TensorFlow's converter wrote in 8 bits from end to end, as firmware: bytes in and out, as in LiteRT."""

from __future__ import annotations

import zipfile
from pathlib import Path

import pytest

from buildtool import workflow
from buildtool.settings import Options, RunSettings
from tests.importers.tensorflow.harness import EXPECTED

DEPLOYMENT = """\
library_name: net
target_abis: [{chip}]
models:
  net:
    platform: tflite
    model_file_path: {name}.tflite
    subgraphs:
      - input_tensors: [image]
        input_shapes: ["{shape}"]
        output_tensors: [{output}]
        output_shapes: ["{result}"]
        validation_threshold: {{KPU: 0.99, CNN: 0.99}}
    runtime: {runtime}
"""
NETWORKS = {
    "trained_uint8": ("1,16,16,3", "end", "1,4,4,12"),
    "squeezenet_v11_int8": ("1,64,64,3", "Identity", "1,24"),
}


@pytest.mark.parametrize("name", sorted(NETWORKS))
@pytest.mark.parametrize(("chip", "runtime"), [("k210", "kpu"), ("max78000", "cnn")])
def test_as_litert(name: str, chip: str, runtime: str, tmp_path: Path) -> None:
    with zipfile.ZipFile(EXPECTED / "quantised.zip") as archive:
        archive.extract(f"{name}.tflite", tmp_path)
    shape, output, result = NETWORKS[name]
    words = {"chip": chip, "runtime": runtime, "name": name, "shape": shape, "output": output, "result": result}
    file = tmp_path / "deploy.yml"
    file.write_text(DEPLOYMENT.format(**words))
    options, settings = Options(tmp_path / "build"), RunSettings()
    report = workflow.validate(file, options=options, settings=settings)
    (comparison,) = report.results
    assert comparison["passed"], comparison
    assert comparison["reference"] == "litert"
