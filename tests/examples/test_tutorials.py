"""The tutorials about images, boards, GPUs and Keras models: their commands and programs run as on the page."""

from __future__ import annotations

import re
import shutil
from pathlib import Path

import numpy as np
import pytest

from tests.devices.sshd import Sshd
from tests.examples.test_demos import packaged, script
from tests.examples.test_documented_commands import ELSEWHERE, pages, shell
from tests.importers.keras import writer

ROOT = Path(__file__).resolve().parents[2]
DIGITS = ROOT / "examples" / "digits"
TUTORIALS = ROOT / "docs" / "tutorials"


def commands(name: str) -> str:
    """All commands of a page but those that are another test's."""
    lines = pages()[f"docs/tutorials/{name}"]
    return "\n".join(line for line in lines if not any(line.startswith(word) for word in ELSEWHERE))


def block(name: str, language: str) -> str:
    """The only block of a page in a language."""
    (text,) = re.findall(rf"^```{language}\n(.*?)^```$", (TUTORIALS / name).read_text(), re.DOTALL | re.MULTILINE)
    return str(text)


def digits(folder: Path, *names: str) -> None:
    for name in names:
        shutil.copy(DIGITS / name, folder)


@pytest.mark.slow
def test_an_image_in_cpp(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    packaged(script("photo/demo.py", monkeypatch), "photo", tmp_path / "build" / "demo" / "photo")
    (tmp_path / "classify.cc").write_text(block("image-cpp.md", "cpp"))
    said = shell(commands("image-cpp.md"), tmp_path)
    assert {line.split()[0] for line in said.splitlines()[-3:]} == {"281", "282", "285"}


@pytest.mark.slow
def test_an_image_in_python(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    packaged(script("photo/demo.py", monkeypatch), "photo", tmp_path / "build" / "demo" / "photo")
    (tmp_path / "classify.py").write_text(block("image-python.md", "python"))
    said = shell(commands("image-python.md"), tmp_path)
    assert all(name in said for name in ("Egyptian cat", "tiger cat", "tabby"))


def test_an_image_in_an_android_app() -> None:
    """tests/packaging/test_android_app.py runs the script and compiles the classes."""
    assert commands("image-android.md") == "cd examples/android-aar\n./run.sh"
    assert "run.sh" in (ROOT / "tests" / "packaging" / "test_android_app.py").read_text()


@pytest.mark.slow
@pytest.mark.arm
def test_a_board(tmp_path: Path) -> None:
    digits(tmp_path, "deploy.yml", "digits.onnx")
    assert re.match(r"devices:\n  board:\n    target_abis: \[arm64\]\n", block("board.md", "yaml"))
    with Sshd(tmp_path / "board") as board:
        for file in (board.device_file(), *(tmp_path / "board" / name for name in ("key", "ssh_config"))):
            shutil.copy(file, tmp_path)
        said = shell(commands("board.md"), tmp_path)
    assert "all 2 passed" in said


@pytest.mark.slow
def test_int8(tmp_path: Path) -> None:
    digits(tmp_path, "accuracy.yml", "accuracy.py", "digits.onnx", "pictures.npy", "test.npz")
    said = shell(commands("int8.md"), tmp_path)
    assert "0.991667" in said
    assert "quantize_range_file: digits.ranges" in (tmp_path / "int8.yml").read_text()


@pytest.mark.slow
@pytest.mark.opencl
def test_a_gpu(tmp_path: Path) -> None:
    digits(tmp_path, "deploy.yml", "digits.onnx")
    said = shell(commands("gpu.md"), tmp_path)
    assert said.count("all 2 passed") == 2 and "programs of the GPU" in said
    assert (tmp_path / "build" / "variants" / "cpu+gpu" / "digits" / "report" / "index.html").is_file()


@pytest.mark.slow
def test_a_keras_model_on_two_accelerators(tmp_path: Path) -> None:
    """With a file as `train.py` writes it, whose weights are random: Keras is not needed."""
    assert all(word in block("microcontrollers.md", "python") for word in ("digits.keras", "samples.npy"))
    (tmp_path / "digits.keras").write_bytes(keras_model())
    np.save(tmp_path / "samples.npy", np.load(DIGITS / "pictures.npy").transpose(0, 2, 3, 1))
    lines = commands("microcontrollers.md").replace("python train.py\n", "")
    said = shell(lines, tmp_path)
    assert said.count("all 1 passed") == 2
    assert (tmp_path / "build/k210/digits/lib/k210/digits.kmodel").is_file()
    assert (tmp_path / "build/max78000/digits/lib/max78000").is_dir()
    assert 'input_ranges: ["0,1"]' in (tmp_path / "k210.yml").read_text()


def keras_model() -> bytes:
    """The layers of the page."""
    random = np.random.default_rng(0)

    def weights(*shape: int) -> dict[str, np.ndarray]:
        kernel = random.normal(0, 1.4 / np.sqrt(np.prod(shape[:-1])), shape).astype(np.float32)
        return {"kernel": kernel, "bias": np.zeros(shape[-1], np.float32)}

    convolution = {"kernel_size": [3, 3], "padding": "same", "activation": "relu", "data_format": "channels_last"}
    pool = {"pool_size": [2, 2], "strides": [2, 2], "padding": "valid", "data_format": "channels_last"}
    model = writer.sequential(
        writer.layer("InputLayer", "image", batch_input_shape=[None, 8, 8, 1], dtype="float32"),
        writer.layer("Conv2D", "first", filters=16, **convolution),
        writer.layer("MaxPooling2D", "first_pool", **pool),
        writer.layer("Conv2D", "second", filters=32, **convolution),
        writer.layer("MaxPooling2D", "second_pool", **pool),
        writer.layer("Flatten", "flat", data_format="channels_last"),
        writer.layer("Dense", "dense", units=10),
        writer.layer("Softmax", "softmax", axis=-1),
    )
    return writer.h5(model, {"first": weights(3, 3, 1, 16), "second": weights(3, 3, 16, 32), "dense": weights(128, 10)})
