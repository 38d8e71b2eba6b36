"""The source framework in another Python: real ones where they are installed, and made-up ones."""

from __future__ import annotations

import stat
import sys
from collections.abc import Mapping
from pathlib import Path

import numpy as np
import onnx
import pytest
from onnx import TensorProto, helper

from buildtool import jail
from buildtool.errors import ConfigError, LatheError, RunError, UnsupportedError
from buildtool.ir.types import DType
from buildtool.running.inputs import TensorSpec
from buildtool.running.litert import litert_is_here
from buildtool.running.other_python import OtherPythonReference, platforms
from tests.cli.conftest import EXAMPLE, Lathe, digits, lathe
from tests.importers.tflite.writer import GraphSpec, NodeSpec, write
from tests.importers.tflite.writer import TensorSpec as Stored
from tests.jail.available import needs_jail

__all__ = ["digits", "lathe"]  # fixtures
_X, _Y = TensorSpec("x", (2, 3), DType.F32), TensorSpec("y", (2, 3), DType.F32)
_DATA = {"x": np.arange(6, dtype=np.float32).reshape(2, 3)}


def _python(folder: Path, modules: Mapping[str, str]) -> Path:
    """An interpreter that has modules of one's own."""
    for name, text in modules.items():
        file = folder / "site" / f"{name}.py"
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text, encoding="utf-8")
    python = folder / "python"
    python.write_text(f'#!/bin/sh\nPYTHONPATH="{folder / "site"}" exec "{sys.executable}" "$@"\n', encoding="utf-8")
    python.chmod(python.stat().st_mode | stat.S_IXUSR)
    return python


def _asked(python: Path, platform: str, model: Path, seconds: float = 60.0) -> Mapping[str, np.ndarray]:
    weights = model.with_suffix(".caffemodel")
    return OtherPythonReference(python, platform, model, weights, [_X], [_Y], seconds).run(_DATA)


def test_every_importer_has_its_framework() -> None:
    from buildtool.importers.frameworks import platforms as importers

    assert platforms() == importers()


def test_onnxruntime(tmp_path: Path) -> None:
    """In the order of the model, and back in the declared one."""
    kinds = [helper.make_tensor_value_info(name, TensorProto.FLOAT, (1, 3, 2, 2)) for name in ("x", "y")]
    graph = helper.make_graph([helper.make_node("Softmax", ["x"], ["y"], axis=1)], "g", kinds[:1], kinds[1:])
    file = tmp_path / "model.onnx"
    onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 13)], ir_version=8), file)
    given, made = (
        TensorSpec(name, (1, 2, 2, 3), DType.F32, "NHWC", source_name=source, source_format="NCHW")
        for name, source in (("a", "x"), ("b", "y"))
    )
    x = np.random.default_rng(0).standard_normal((1, 2, 2, 3)).astype(np.float32)
    found = OtherPythonReference(Path(sys.executable), "onnx", file, None, [given], [made], 60).run({"a": x})
    powers = np.exp(x)
    np.testing.assert_allclose(found["b"], powers / powers.sum(axis=-1, keepdims=True), rtol=1e-5)


@pytest.mark.skipif(not litert_is_here(), reason="LiteRT is not installed")
def test_litert(tmp_path: Path) -> None:
    tensors = [Stored(name, "float32", (2, 3)) for name in ("x", "y")]
    file = tmp_path / "model.tflite"
    file.write_bytes(write(GraphSpec(tensors, [NodeSpec("NEG", [0], [1])], [0], [1])))
    np.testing.assert_array_equal(_asked(Path(sys.executable), "tflite", file)["y"], -_DATA["x"])


_TENSORFLOW = """
class Interpreter:
    def __init__(self, file, **options):
        self.file, self.options = file, options
    def get_tensor_details(self):
        facts = {"quantization": (0.0, 0), "dtype": "float32"}
        return [{"name": name, "index": index, **facts} for index, name in enumerate("xy")]
    def resize_tensor_input(self, index, shape):
        assert tuple(shape) == (2, 3)
    def allocate_tensors(self):
        pass
    def set_tensor(self, index, array):
        self.given = array
    def invoke(self):
        pass
    def get_tensor(self, index):
        return self.given * 2
"""


def test_the_tflite_interpreter_of_tensorflow(tmp_path: Path) -> None:
    packages = ("tensorflow", "tensorflow/lite", "tensorflow/lite/python")
    modules = {f"{package}/__init__": "" for package in packages}
    python = _python(tmp_path, modules | {"tensorflow/lite/python/interpreter": _TENSORFLOW})
    hidden = "import sys\nsys.modules['ai_edge_litert'] = None\n"
    (tmp_path / "site" / "sitecustomize.py").write_text(hidden, encoding="utf-8")
    np.testing.assert_array_equal(_asked(python, "tflite", tmp_path / "net.tflite")["y"], _DATA["x"] * 2)


_OPENCV = """
class dnn:
    def readNetFromCaffe(model, weights):
        assert model.endswith(".prototxt") and weights.endswith(".caffemodel")
        return dnn()
    def setInput(self, array, name):
        self.given = {name: array}
    def forward(self, names):
        return [self.given["x"] * 2 for name in names]
    def getLayer(self, name):
        return type("Layer", (), {"type": "Scale"})
"""
_DETECTOR = _OPENCV.replace("Scale", "DetectionOutput").replace(
    'self.given["x"] * 2', '__import__("numpy").pad(self.given["x"][None, None], ((0, 0), (0, 0), (0, 5), (0, 0)))'
)


def test_a_framework_that_lathe_does_not_have(tmp_path: Path) -> None:
    python = _python(tmp_path, {"cv2": _OPENCV})
    np.testing.assert_array_equal(_asked(python, "caffe", tmp_path / "net.prototxt")["y"], _DATA["x"] * 2)


def test_a_detector_of_opencv_gives_what_it_has_found(tmp_path: Path) -> None:
    python = _python(tmp_path, {"cv2": _DETECTOR})
    np.testing.assert_array_equal(_asked(python, "caffe", tmp_path / "net.prototxt")["y"], _DATA["x"][None, None])


@pytest.mark.parametrize(
    ("modules", "error", "message"),
    [
        ({"cv2": "class dnn:\n    def readNetFromCaffe(*files): raise ValueError('no such\\nlayer')"},
         UnsupportedError, "cannot run this model: ValueError: no such layer"),
        ({"cv2": "import nothing_of_that_name"}, UnsupportedError, "nothing_of_that_name"),
        ({"cv2": "import os; os._exit(3)"}, RunError, "failed: it ended with code 3"),
        ({"cv2": "import time; time.sleep(60)"}, RunError, "took more than 2 seconds"),
        ({"cv2": _OPENCV.replace('["x"] * 2', '["x"].astype(object)')}, RunError, "unreadable outputs"),
    ],
)  # fmt: skip
def test_errors_in_the_other_python_are_reported(
    modules: Mapping[str, str], error: type[LatheError], message: str, tmp_path: Path
) -> None:
    with pytest.raises(error, match=message):
        _asked(_python(tmp_path, modules), "caffe", tmp_path / "net.prototxt", 2.0)


_TORCH = """
class jit:
    def load(file, device):
        import os
        try:
            open({mark!r}, "w").close()
            os.system("true")
        except OSError:
            pass
        assert open(file, "rb").read(2) == b"PK"
        return jit()
    def eval(self):
        return self
    def __call__(self, x):
        return x
class no_grad:
    def __enter__(self): pass
    def __exit__(self, *_): pass
def from_numpy(array):
    array = array.view(Tensor)
    return array
import numpy
class Tensor(numpy.ndarray):
    def numpy(self):
        return numpy.asarray(self) * 2
"""


@pytest.mark.parametrize("jailed", [pytest.param(True, marks=needs_jail), False])
def test_code_of_models_runs_in_a_jail_unless_it_is_trusted(jailed: bool, tmp_path: Path) -> None:
    mark, file = tmp_path / "mark", tmp_path / "model.pt"
    file.write_bytes(b"PK")
    python = _python(tmp_path, {"torch": _TORCH.format(mark=str(mark))})
    reference = OtherPythonReference(python, "pytorch", file, None, [_X], [_Y], 60, jailed=jailed)
    np.testing.assert_array_equal(reference.run(_DATA)["y"], _DATA["x"] * 2)
    assert mark.exists() is not jailed


def test_without_a_jail_models_with_code_are_not_run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def none(*_: object, **__: object) -> jail.Ended:
        raise jail.NoJailError("no Landlock")

    monkeypatch.setattr(jail, "run", none)
    (tmp_path / "model.pt").write_bytes(b"PK")
    with pytest.raises(UnsupportedError, match="not available here: no Landlock") as caught:
        _asked(Path(sys.executable), "pytorch", tmp_path / "model.pt")
    assert "--trust-model-code" in caught.value.problems[0].remedy


def test_a_missing_interpreter_or_framework_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(RunError, match="cannot be started"):
        _asked(tmp_path / "nowhere", "caffe", tmp_path / "net.prototxt")
    with pytest.raises(RunError, match="has no tensorflow, or no numpy"):
        _asked(Path(sys.executable), "tensorflow", tmp_path / "model.pb")
    with pytest.raises(ConfigError, match="no framework of the platform 'mxnet'"):
        _asked(Path(sys.executable), "mxnet", tmp_path / "model")


def test_the_option(lathe: Lathe, digits: Path) -> None:
    both = lathe("validate", digits, "--reference-python", sys.executable, "--reference", "numpy")
    assert both.code == 2
    assert "contradict each other" in both.stderr


@pytest.mark.slow
def test_a_library_beside_another_python(lathe: Lathe, digits: Path, tmp_path: Path) -> None:
    assert (EXAMPLE / "digits.onnx").is_file()
    options = ("--reference-python", sys.executable, "--abi", "host", "--kind", "shared", "-o", tmp_path / "out")
    done = lathe("validate", digits, *options, "--json")
    assert done.code == 0
    assert all(row["passed"] for row in done.document["results"])
    missing = lathe("validate", digits, "--reference-python", tmp_path / "nowhere", "-o", tmp_path / "out")
    assert "cannot be started" in missing.stderr
