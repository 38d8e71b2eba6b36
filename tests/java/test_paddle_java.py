"""The classes of Paddle-Lite's Java interface, run by this machine's Java, and where they are in an archive."""

from __future__ import annotations

import zipfile
from pathlib import Path

import numpy as np
import onnx
import pytest
from onnx import TensorProto, helper

import buildtool
from buildtool.builders.java import find_jdk
from buildtool.codegen import java
from buildtool.codegen.java import JavaLibrary
from buildtool.errors import ToolchainError
from tests.java.conftest import DEPLOYMENT, DIGITS, HERE, JavaBuild, compile_java, run_java, write_models

TURNED = """\
  turned: {platform: onnx, model_file_path: turned.onnx, data_type: fp32_fp32, input_tensors: x,
    input_shapes: "1,2,4,3", input_data_formats: NHWC, output_tensors: y, output_shapes: "1,2,4,3",
    output_data_formats: NHWC}
"""


@pytest.mark.slow
def test_an_app_for_paddle_lite_compiles_and_gives_the_same_bits(tmp_path: Path) -> None:
    try:
        find_jdk()
    except ToolchainError as error:
        pytest.skip(f"NO JAVA HERE, so the classes com.baidu.paddle.lite were not tried: {error}")
    write_models(tmp_path)
    x, y = (helper.make_tensor_value_info(name, TensorProto.FLOAT, [1, 3, 2, 4]) for name in "xy")
    graph = helper.make_graph([helper.make_node("Add", ["x", "x"], ["y"])], "turned", [x], [y])
    onnx.save(
        helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=9), tmp_path / "turned.onnx"
    )
    text = DEPLOYMENT.replace("NAME", "trio").replace("GRAPH", "file").replace("DATA", "file") + TURNED
    (tmp_path / "trio.yml").write_text(text)
    options = buildtool.Options(tmp_path / "build", java=True)
    folder = buildtool.build(tmp_path / "trio.yml", buildtool.Overrides(paddle_compat="1"), options).folder
    libraries = folder / "lib" / "host"
    built = JavaBuild(folder, folder / "java" / "trio.jar", libraries)
    picture = np.load(DIGITS / "pictures.npy")[7].reshape(1, 1, 8, 8).astype(np.float32)
    picture.tofile(tmp_path / "picture.bin")
    compile_java(HERE / "PaddleChecks.java", [built], tmp_path)
    lines = run_java("PaddleChecks", [built], tmp_path, folder / "model" / "host", tmp_path / "picture.bin")
    with buildtool.load(libraries / "libpaddle_light_api_shared.so", model="digits") as model:
        expected = model.run({"image": picture})["probabilities"]
    bits = "digits " + " ".join(f"{word:08x}" for word in expected.view(np.uint32).ravel())
    assert lines == [bits] * 4 + ["done"]
    random = np.random.default_rng(16)
    floats = np.concatenate([
        random.integers(0, 1 << 32, 3000, np.uint32).view(np.float32),
        (random.standard_normal(3000) * 2.0 ** random.integers(-28, 18, 3000)).astype(np.float32),
    ])  # fmt: skip
    floats = floats[~np.isnan(floats)]
    (tmp_path / "floats.bin").write_bytes(floats.astype(">f4").tobytes())
    compile_java(HERE / "HalfChecks.java", [built], tmp_path)
    (halves,) = run_java("com.baidu.paddle.lite.HalfChecks", [built], tmp_path, tmp_path / "floats.bin")
    with np.errstate(over="ignore"):
        np.testing.assert_array_equal(np.array(halves.split(), np.uint16), floats.astype(np.float16).view(np.uint16))
    with zipfile.ZipFile(built.jar) as archive:
        names = archive.namelist()
    assert "com/baidu/paddle/lite/MobileConfig.class" in names
    assert "lathe/trio/Model.class" in names


def test_only_libraries_that_ask_for_them_have_the_classes() -> None:
    plain, face = (JavaLibrary("digits", "digits", "digits", asked) for asked in (False, True))
    assert not any("baidu" in name for name in java.sources(plain))
    added = set(java.sources(face)) - set(java.sources(plain))
    assert added == {f"com/baidu/paddle/lite/{name}.java" for name in java.PADDLE_CLASSES}
    assert b"import lathe.digits.Model;" in java.sources(face)["com/baidu/paddle/lite/PaddlePredictor.java"]
    assert b"baidu" not in java.keep_rules(plain)
    assert b"-keep class com.baidu.paddle.lite.** { *; }" in java.keep_rules(face)
