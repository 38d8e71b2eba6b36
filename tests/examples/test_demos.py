"""The demonstrations: what surrounds their libraries, and `lathe demo` itself."""

from __future__ import annotations

import importlib.util
import re
import subprocess
import sys
from pathlib import Path
from types import ModuleType

import numpy as np
import onnxruntime
import pytest

from buildtool.cli.demo import demonstrations
from tests.cli.conftest import Lathe, lathe
from tests.importers.tflite.networks import NETWORKS
from tests.wheels import WheelNotAvailableError, files

__all__ = ["lathe"]  # a fixture
ROOT = Path(__file__).resolve().parents[2]
EXAMPLES = ROOT / "examples"
PAGE = ROOT / "docs" / "tutorials" / "demos.md"


def script(path: str, monkeypatch: pytest.MonkeyPatch) -> ModuleType:
    """A module of an example, with its neighbours on the path."""
    file = EXAMPLES / path
    monkeypatch.setattr(sys, "path", [str(file.parent), str(EXAMPLES), *sys.path])
    spec = importlib.util.spec_from_file_location(f"{file.parent.name}_{file.stem}", file)
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_all_are_listed_and_shown(lathe: Lathe) -> None:
    listed = [item["name"] for item in lathe("demo", "--json").document["demonstrations"]]
    assert listed == list(demonstrations()) == ["digits", "faces", "keywords", "sentence"]
    page = PAGE.read_text(encoding="utf-8")
    assert re.findall(r"^lathe demo (\w+)$", page, re.MULTILINE) == listed
    pictures = re.findall(r"\.\./(images/demo-[\w.-]+)", page)
    assert len(pictures) == len(listed) and all((ROOT / "docs" / one).is_file() for one in pictures)
    wrong = lathe("demo", "face")
    assert wrong.code == 2 and "did you mean 'faces'?" in wrong.stderr


def test_the_wheel_contains_them() -> None:
    text = (ROOT / "CMakeLists.txt").read_text(encoding="utf-8")
    (names,) = re.findall(r"foreach\(demo IN ITEMS ([\w ]+)\)", text)
    assert names.split() == list(demonstrations())


def test_the_words_are_heard(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """By the network in onnxruntime, and by what was trained in NumPy."""
    demo = script("keywords/demo.py", monkeypatch)
    demo.write_model(tmp_path / "keywords.onnx")
    session = onnxruntime.InferenceSession(tmp_path / "keywords.onnx", providers=["CPUExecutionProvider"])
    speech = sys.modules["speech"]
    with np.load(EXAMPLES / "keywords" / "weights.npz") as stored:
        weights = {name: stored[name].astype(np.float32) for name in stored}
    for word in speech.WORDS:
        audio = speech.read_wav(EXAMPLES / "keywords" / f"{word}.wav")[None]
        (chances,) = session.run(None, {"audio": audio})
        assert speech.CLASSES[chances[0].argmax()] == word
        trained, _ = speech.forward(weights, speech.features(audio, speech.front_end()))
        np.testing.assert_allclose(chances, trained, atol=1e-4)


def test_the_decoder_completes_words(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    demo = script("sentence/demo.py", monkeypatch)
    demo.write_model(tmp_path / "sentence.onnx")
    session = onnxruntime.InferenceSession(tmp_path / "sentence.onnx", providers=["CPUExecutionProvider"])

    class Model:
        def run(self, inputs: dict[str, np.ndarray]) -> dict[str, np.ndarray]:
            return {"logits": session.run(None, inputs)[0]}

    text, random = "The compil", np.random.default_rng(0)
    while not text.endswith(" "):
        text += demo.next_letter(Model(), text, random)
        assert len(text) < 30
    assert text.startswith(("The compile", "The compila"))


def test_one_of_several_boxes_is_kept(monkeypatch: pytest.MonkeyPatch) -> None:
    demo = script("faces/demo.py", monkeypatch)
    assert demo.anchors().shape == (896, 2)
    regressors, logits = np.zeros((896, 16), np.float32), np.full(896, -90, np.float32)
    for index, logit in ((0, 2.0), (1, 3.0), (511, 1.0), (512, 0.0)):  # the first two are boxes of one cell
        regressors[index, 2:4], logits[index] = 32, logit
    found = demo.faces_in(regressors, logits)
    assert [round(score, 2) for score, _ in found] == [0.95, 0.73]
    np.testing.assert_allclose(found[0][1][:2], np.array([[-3, -3], [5, 5]]) / 32)


@pytest.mark.slow
@pytest.mark.parametrize("name", ["keywords", "sentence"])
def test_a_demonstration_runs(name: str, tmp_path: Path) -> None:
    command: list[str | Path] = [Path(sys.executable).with_name("lathe"), "demo", name, "-o", tmp_path]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    assert {"keywords": "wow.wav: wow", "sentence": "letters per second"}[name] in done.stdout


@pytest.mark.slow
def test_a_face_is_found(tmp_path: Path) -> None:
    package = next(iter(NETWORKS))
    try:
        model = files(package, NETWORKS[package])["face_detection_short_range.tflite"]
    except WheelNotAvailableError as reason:
        pytest.skip(str(reason))
    (tmp_path / "faces").mkdir()
    (tmp_path / "faces" / model.name).write_bytes(model.read_bytes())
    command: list[str | Path] = [Path(sys.executable).with_name("lathe"), "demo", "faces", "-o", tmp_path]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    assert "1 found" in done.stdout and (tmp_path / "faces" / "faces.png").is_file()
