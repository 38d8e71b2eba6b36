"""`lathe convert --to onnx`: files under the names and in the formats that the deployment declares."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import onnx
import onnxruntime
import pytest

import buildtool
from buildtool.drafts import deployment
from tests.cli.conftest import EXAMPLE, Lathe, digits, lathe

__all__ = ["digits", "lathe"]


def test_an_onnx_model_like_the_source(lathe: Lathe, digits: Path, tmp_path: Path) -> None:
    document = lathe("convert", digits, "--to", "onnx", "--output", tmp_path / "out", "--json").document
    (model,) = document["models"]
    file = tmp_path / "out" / "digits.onnx"
    assert (document["kind"], document["format"], model["file"]) == ("export", "onnx", str(file))
    assert model["nodes"] <= model["source_nodes"]
    assert [path.name for path in file.parent.iterdir()] == ["digits.onnx"]
    onnx.checker.check_model(onnx.load(file), full_check=True)
    image = np.random.default_rng(3).uniform(0, 1, (5, 1, 1, 8, 8)).astype(np.float32)
    sessions = [onnxruntime.InferenceSession(str(path)) for path in (digits.with_name("digits.onnx"), file)]
    names = [[item.name for item in (*session.get_inputs(), *session.get_outputs())] for session in sessions]
    assert names[0] == names[1]
    for one in image:
        wanted, found = (session.run(None, {names[0][0]: one})[0] for session in sessions)
        np.testing.assert_allclose(found, wanted, rtol=1e-4, atol=1e-6)
    assert "digits" in lathe("convert", digits, "--to", "onnx", "-o", tmp_path / "out").stdout


def test_inputs_have_the_declared_format_and_the_name_of_the_source(
    lathe: Lathe,
    digits: Path,
    tmp_path: Path,
) -> None:
    text = digits.read_text()
    assert "NCHW" in text
    changed = text.replace("NCHW", "NHWC").replace("1,1,8,8", "1,8,8,1")
    assert changed != text
    digits.write_text(changed)
    file = tmp_path / "picture.onnx"
    assert lathe("convert", digits, "--to", "onnx", "--output", file).code == 0
    (image,) = onnx.load(file).graph.input
    assert image.name == "image"
    assert [dim.dim_value for dim in image.type.tensor_type.shape.dim] == [1, 8, 8, 1]


def test_wrong_options(lathe: Lathe, digits: Path, tmp_path: Path) -> None:
    assert "allowed: lathe, onnx" in lathe("convert", digits, "--to", "tflite").stderr
    assert "cannot be combined with" in lathe("convert", digits, "--to", "onnx", "--emit", "ir").stderr
    for name in ("one", "two"):
        (tmp_path / f"{name}.onnx").write_bytes((EXAMPLE / "digits.onnx").read_bytes())
    models = [tmp_path / "one.onnx", tmp_path / "two.onnx"]
    both = tmp_path / "both.yml"
    both.write_text(
        deployment.write(models, relative_to=tmp_path, library_name="both", target_abis=["host"], data_type="fp32_fp32")
    )
    result = lathe("convert", both, "--to", "onnx", "--output", tmp_path / "both.onnx")
    assert (result.code, "names one file" in result.stderr) == (2, True)
    assert lathe("convert", both, "--to", "onnx", "--output", tmp_path / "out").code == 0
    assert sorted(path.name for path in (tmp_path / "out").iterdir()) == ["one.onnx", "two.onnx"]


def test_a_file_that_cannot_be_written(lathe: Lathe, digits: Path, tmp_path: Path) -> None:
    (tmp_path / "full").write_text("a file, not a folder")
    assert lathe("convert", digits, "--to", "onnx", "--output", tmp_path / "full").code == 7


def test_from_python(digits: Path, tmp_path: Path) -> None:
    report = buildtool.export(digits, options=buildtool.Options(output=tmp_path / "out"))
    assert report.models[0].file.read_bytes() == report.models[0].exported.content


@pytest.mark.parametrize("output", ["a", "b"])
def test_the_same_inputs_give_the_same_bytes(digits: Path, tmp_path: Path, output: str) -> None:
    first = buildtool.export(digits, options=buildtool.Options(output=tmp_path / output)).models[0]
    second = buildtool.export(digits, options=buildtool.Options(output=tmp_path / f"{output}2")).models[0]
    assert first.exported.content == second.exported.content
