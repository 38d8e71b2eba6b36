"""From TensorFlow's files to deployment files and libraries: a folder stands for the SavedModel in it."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from buildtool.runtime import Library
from tests.cli.conftest import Lathe, lathe
from tests.importers.tensorflow.harness import network, node, written

__all__ = ["lathe"]  # a fixture


@pytest.mark.parametrize("name", ["saved_keras", "frozen_keras", "dilated"])
def test_a_deployment_file(name: str, lathe: Lathe, tmp_path: Path) -> None:
    model, inputs, _ = network(name, tmp_path)
    file = tmp_path / "deployment.yml"
    assert lathe("init", model, "-o", file).code == 0
    text = file.read_text(encoding="utf-8")
    assert "platform: tensorflow" in text
    assert f"input_tensors: [{next(iter(inputs))}]" in text
    assert lathe("check", file).code == 0


def test_a_folder_in_a_deployment_file(lathe: Lathe, tmp_path: Path) -> None:
    model, _, _ = network("saved_keras", tmp_path)
    file = tmp_path / "deployment.yml"
    assert lathe("init", model, "-o", file).code == 0
    text = file.read_text(encoding="utf-8")
    file.write_text(text.replace("/saved_model.pb", ""), encoding="utf-8")
    assert lathe("check", file).code == 0
    (model / "saved_model.pb").unlink()
    assert lathe("convert", file, "--output", tmp_path / "converted").code != 0


def test_an_input_of_any_shape(lathe: Lathe, tmp_path: Path) -> None:
    model = written(tmp_path, node("x", "Placeholder", dtype="DT_FLOAT"), node("y", "Neg", "x"))
    refused = lathe("init", model, "-o", tmp_path / "deployment.yml")
    assert refused.code != 0
    assert "--input-shape x=" in refused.stderr
    assert lathe("init", model, "-o", tmp_path / "deployment.yml", "--input-shape", "x=2,3").code == 0


@pytest.mark.slow
def test_a_library(lathe: Lathe, tmp_path: Path) -> None:
    """A branch and a loop that the data decides, in a library."""
    model, inputs, outputs = network("saved_module", tmp_path)
    file = tmp_path / "deployment.yml"
    options = ("--library-name", "looping", "--data-type", "fp32_fp32")
    assert lathe("init", model, "-o", file, *options).code == 0
    assert lathe("build", file, "--output", tmp_path / "out").code == 0
    built = next((tmp_path / "out").rglob("model/model.pb"))
    library = Library(next((tmp_path / "out").rglob("liblooping.so")))
    results = library.engine(model=built, data=built.with_suffix(".data"), threads=2).run(dict(inputs))
    assert results.keys() == outputs.keys()
    for name, wanted in outputs.items():
        np.testing.assert_allclose(results[name], wanted, rtol=1e-4, atol=1e-5)
