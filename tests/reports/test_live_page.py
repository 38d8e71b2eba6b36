"""`lathe build --report-live`: the page of a build runs its models, in Node without the page and in a browser."""

from __future__ import annotations

import base64
import io
import json
import re
import shutil
import subprocess
import wave
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import buildtool
from buildtool import resources
from buildtool.errors import LatheError
from buildtool.reports import build_page, html_page
from buildtool.settings import Options, Overrides
from tests.cli.conftest import EXAMPLE
from tests.wasm import browser

PAGE = Path("report/index.html")
TEMPLATES = resources.root() / "buildtool" / "reports" / "templates"
DRIVER = Path(__file__).with_name("live_page.mjs")
pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def built(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("live")
    shutil.copytree(EXAMPLE, folder / "source")
    options = Options(output=folder / "build", live=True, self_check=False)
    return buildtool.build(folder / "source" / "deploy.yml", Overrides(("host",)), options).folder


def picture() -> Any:
    return (np.load(EXAMPLE / "test.npz")["pictures"][0] / 16).astype(np.float32).reshape(1, 1, 8, 8)


def label() -> int:
    return int(np.load(EXAMPLE / "test.npz")["labels"][0])


def npy(array: Any) -> str:
    stream = io.BytesIO()
    np.save(stream, array)
    return base64.b64encode(stream.getvalue()).decode()


def sound(samples: Any, width: int, channels: int = 1) -> str:
    stream = io.BytesIO()
    with wave.open(stream, "wb") as file:
        file.setnchannels(channels)
        file.setsampwidth(width)
        file.setframerate(16000)
        file.writeframes(samples.tobytes())
    return base64.b64encode(stream.getvalue()).decode()


def tensor(shape: list[int], type_: str = "float32", format_: str = "NONE") -> dict[str, Any]:
    return {"name": "x", "shape": shape, "type": type_, "format": format_}


def driven(folder: Path, cases: list[dict[str, Any]], tmp_path: Path) -> dict[str, Any]:
    """What live_page.mjs says. The first case is the input of the model."""
    data = html_page.data_of((folder / PAGE).read_bytes())["live"]
    for name, text in {"module.mjs": data.pop("script"), "data": json.dumps(data), "cases": json.dumps(cases)}.items():
        (tmp_path / name).write_text(text)
    files = (TEMPLATES / "live.js", tmp_path / "module.mjs", tmp_path / "data", tmp_path / "cases")
    done = subprocess.run(["node", DRIVER, *files], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return dict(json.loads(done.stdout))


def test_the_model_in_the_page_computes_what_the_library_computes(built: Path, tmp_path: Path) -> None:
    case = {"kind": "npy", "tensor": tensor([1, 1, 8, 8]), "file": npy(picture())}
    seen = driven(built, [case], tmp_path)
    assert seen["input"]["shape"] == [1, 1, 8, 8] and seen["range"] == [0, 1]
    assert seen["nodes"].count("conv2d") == 2 and seen["milliseconds"] > 0
    (summary,) = seen["summaries"]
    assert summary["largest"][0][0] == label()
    np.save(tmp_path / "picture.npy", picture())
    settings = buildtool.RunSettings(inputs={"image": tmp_path / "picture.npy"}, output_folder=tmp_path / "out")
    options = Options(output=built.parent)
    buildtool.run(built.parent.parent / "source" / "deploy.yml", Overrides(("host",)), options, settings)
    (file,) = (tmp_path / "out").rglob("probabilities*")
    native = np.load(file) if file.suffix == ".npy" else np.fromfile(file, np.float32)
    assert summary["largest"][0][1] == pytest.approx(float(native.max()), rel=1e-5)
    assert summary["low"] == pytest.approx(float(native.min()), rel=1e-4) and summary["strange"] == 0


def test_files_become_elements(built: Path, tmp_path: Path) -> None:
    numbers = np.arange(6).reshape(2, 3)
    floats, rgba = tensor([2, 3]), [255, 0, 51, 255, 0, 102, 204, 255]
    stereo = np.array([[16384, -16384], [32767, 32767]], np.int16)
    wanted: list[tuple[dict[str, Any], Any]] = [
        ({"kind": "npy", "tensor": tensor([1, 1, 8, 8]), "file": npy(picture())}, picture().ravel().tolist()),
        *(
            ({"kind": "npy", "tensor": floats, "file": npy(numbers.astype(kind))}, [0, 1, 2, 3, 4, 5])
            for kind in ("f4", "f8", "f2", "i1", "u1", "i2", "u2", "i4", "u4", "i8", "u8")
        ),
        ({"kind": "npy", "tensor": tensor([2, 3], "int64"), "file": npy(numbers.astype("i4"))}, [0, 1, 2, 3, 4, 5]),
        ({"kind": "npy", "tensor": tensor([2, 3], "float16"), "file": npy(numbers / 3)}, halves(numbers / 3)),
        ({"kind": "npy", "tensor": tensor([5]), "file": npy(numbers)}, "x has 5 elements (5), the file has 6"),
        ({"kind": "npy", "tensor": floats, "file": npy(np.asfortranarray(numbers))}, re.compile("Fortran")),
        ({"kind": "npy", "tensor": floats, "file": npy(numbers.astype("c8"))}, "arrays of <c8 are not read"),
        ({"kind": "npy", "tensor": floats, "file": sound(stereo, 2, 2)}, "this is not an .npy file"),
        ({"kind": "wav", "file": sound(stereo, 2, 2)}, [0, 32767 / 32768]),
        ({"kind": "wav", "file": sound(np.array([0, 255, 128], np.uint8), 1)}, [-1, 127 / 128, 0]),
        ({"kind": "wav", "file": npy(numbers)}, "this is not a .wav file"),
        ({"kind": "cut", "length": 3, "file": sound(stereo, 2, 2)}, [0, 32767 / 32768, 0]),
        ({"kind": "raw", "tensor": tensor([2], "int8"), "file": base64.b64encode(b"\x01\xff").decode()}, [1, -1]),
        ({"kind": "raw", "tensor": floats, "file": npy(numbers)}, re.compile("^x has 24 bytes, the file has")),
        (image([1, 1, 2, 3], "NHWC", rgba, [0, 1]), [1, 0, 0.2, 0, 0.4, 0.8]),
        (image([1, 3, 1, 2], "NCHW", rgba, [-1, 1]), [1, -1, -1, -0.2, -0.6, 0.6]),
        (image([1, 2, 1], "NONE", rgba, [0, 255]), [0.299 * 255 + 0.114 * 51, 0.587 * 102 + 0.114 * 204]),
        (image([1, 1, 2, 3], "NHWC", rgba, [0, 1], "uint8"), [255, 0, 51, 0, 102, 204]),
        (image([1, 1, 2, 3], "NHWC", rgba, [0, 1], "int8"), [127, -128, -77, -128, -26, 76]),
        ({"kind": "image", "tensor": tensor([1, 3, 8, 9])}, ["channels", 3, "height", 8, "width", 9, "first", True]),
        ({"kind": "image", "tensor": tensor([1, 16])}, []),
        ({"kind": "halves"}, []),
        ({"kind": "halved", "values": values()}, halves(np.array(values()))),
    ]
    answers = driven(built, [case for case, _ in wanted], tmp_path)["answers"]
    for answer, (case, expected) in zip(answers, wanted, strict=True):
        if isinstance(expected, re.Pattern):
            assert expected.search(answer), case
        elif isinstance(expected, str) or case["kind"] == "image":
            assert answer == expected, case
        else:
            assert answer == pytest.approx(expected, rel=1e-6, abs=1e-7), case


def image(shape: list[int], format_: str, rgba: list[int], limits: list[float], type_: str = "float32") -> Any:
    return {"kind": "pixels", "tensor": tensor(shape, type_, format_), "values": rgba, "range": limits}


def values() -> list[float]:
    """Numbers near those that halves have, half-way between two, and beyond."""
    drawn = np.random.default_rng(0).normal(size=200) * 10.0 ** np.random.default_rng(1).integers(-9, 6, 200)
    return [*drawn.tolist(), 65519.0, 65520.0, -1e9, 2.0**-25, 2.0**-24 * 1.5, 1 + 2.0**-11, 1 + 3 * 2.0**-11]


def halves(array: Any) -> list[int]:
    with np.errstate(over="ignore"):
        bits = np.asarray(array, np.float64).astype(np.float16).view(np.uint16)
    return [int(value) for value in bits.ravel()]


def test_the_page_stays_live_and_needs_nothing_else(built: Path) -> None:
    page = (built / PAGE).read_bytes()
    policy = re.search(rb'Content-Security-Policy" content="([^"]*)"', page)
    assert policy is not None and b"'wasm-unsafe-eval'" in policy[1] and b"unsafe-inline" not in policy[1]
    build_page.refresh(built)
    assert (built / PAGE).read_bytes() == page
    assert not (built / "lib" / "wasm32-simd").exists()
    assert re.search(rb'<script type="module">', page)


def test_models_for_other_devices_are_refused(tmp_path: Path) -> None:
    options = Options(output=tmp_path, live=True)
    with pytest.raises(LatheError, match="--report-live: the model 'digits' is for the runtime 'gpu'"):
        buildtool.build(EXAMPLE / "deploy.yml", Overrides(("host",), runtime="gpu"), options)


@pytest.mark.skipif(browser.program() is None, reason="chromium is not installed")
def test_a_picture_that_is_dropped_on_the_page(built: Path, tmp_path: Path) -> None:
    np.save(tmp_path / "digit.npy", picture())
    with browser.controlled() as page:
        page.open(f"{(built / PAGE).as_uri()}#run", 1280, 900)
        shown = "(document.getElementById('main')?.textContent ?? '').includes('{}')"
        page.wait_for(shown.format("is the largest"))
        node = page.call("DOM.getDocument")["root"]["nodeId"]
        chooser = page.call("DOM.querySelector", nodeId=node, selector=".drop input[type=file]")["nodeId"]
        page.call("DOM.setFileInputFiles", nodeId=chooser, files=[str(tmp_path / "digit.npy")])
        page.wait_for("document.querySelector('.drop .more').textContent === 'digit.npy'")
        page.wait_for(shown.format(f"element {label()}"))
