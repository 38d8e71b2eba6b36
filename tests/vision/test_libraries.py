"""Libraries whose deployment has `preprocess` and `vision`: what they compute, and what they do not hold."""

from __future__ import annotations

import re
import subprocess
from collections.abc import Mapping, Sequence
from pathlib import Path
from types import MappingProxyType

import numpy as np
import onnx
import pytest
import yaml
from onnx import TensorProto, helper, numpy_helper

import buildtool
from buildtool.builders import elf
from buildtool.errors import LatheError
from buildtool.vision import FUNCTIONS, OF_INPUTS
from tests.native_builds import QEMU
from tests.vision import definitions as d
from tests.vision.definitions import Array

ROOT = Path(__file__).resolve().parents[2]
CAMERA = Path(__file__).with_name("camera.cc")
COMPILERS = {
    "host": "c++",
    "aarch64-linux-gnu": "aarch64-linux-gnu-g++",
    "arm-linux-gnueabihf": "arm-linux-gnueabihf-g++",
}
ABIS = ["host", *(pytest.param(abi, marks=pytest.mark.arm) for abi in sorted(QEMU))]
SIZE, CLASSES = 32, 7
MEAN, SCALE = (103.5, 116.25, 123.75), (0.017, 0.0175, 0.01743)
IMAGES = {
    "source": "nv21",
    "order": "bgr",
    "mean": list(MEAN),
    "scale": list(SCALE),
    "rotation": 90,
    "fit": "letterbox",
    "fill": [7],
}


def network(path: Path, stored: str = "float32") -> None:
    """A convolution, the mean of all pixels, and classes. With uint8, the input is a stored number."""
    random = np.random.default_rng(1)
    filters = random.normal(size=(8, 3, 5, 5)).astype(np.float32) / 8
    weights = random.normal(size=(8, CLASSES)).astype(np.float32)
    nodes = [
        helper.make_node("Conv", ["x", "filters"], ["maps"], strides=[2, 2], pads=[2, 2, 2, 2]),
        helper.make_node("Relu", ["maps"], ["kept"]),
        helper.make_node("GlobalAveragePool", ["kept"], ["means"]),
        helper.make_node("Flatten", ["means"], ["flat"]),
        helper.make_node("MatMul", ["flat", "weights"], ["scores"]),
    ]
    constants = [numpy_helper.from_array(filters, "filters"), numpy_helper.from_array(weights, "weights")]
    kind = TensorProto.FLOAT
    if stored == "uint8":
        nodes.insert(0, helper.make_node("DequantizeLinear", ["image", "step", "zero"], ["x"]))
        constants += [numpy_helper.from_array(np.float32(0.02), "step"), numpy_helper.from_array(np.uint8(131), "zero")]
        kind = TensorProto.UINT8
    else:
        nodes[0].input[0] = "image"
    graph = helper.make_graph(
        nodes,
        "camera",
        [helper.make_tensor_value_info("image", kind, [1, 3, SIZE, SIZE])],
        [helper.make_tensor_value_info("scores", TensorProto.FLOAT, [1, CLASSES])],
        constants,
    )
    onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 13)]), path)


def built(
    folder: Path,
    abis: Sequence[str],
    images: object = None,
    vision: Sequence[str] = (),
    stored: str = "float32",
    nhwc: bool = True,
    top: Mapping[str, object] = MappingProxyType({}),
) -> buildtool.BuildReport:
    folder.mkdir(exist_ok=True)
    network(folder / "camera.onnx", stored)
    shape = f"1,{SIZE},{SIZE},3" if nhwc else f"1,3,{SIZE},{SIZE}"
    model: dict[str, object] = {
        "platform": "onnx",
        "model_file_path": "camera.onnx",
        "subgraphs": [
            {
                "input_tensors": ["image"],
                "input_shapes": [shape],
                "input_data_formats": ["NHWC" if nhwc else "NCHW"],
                "input_data_types": [stored],
                "output_tensors": ["scores"],
                "output_shapes": [f"1,{CLASSES}"],
            }
        ],
        "runtime": "cpu",
        "data_type": "fp32_fp32",
    }
    model |= {"preprocess": images} if images else {}
    deployment: dict[str, object] = {
        "library_name": "camera",
        "target_abis": list(abis),
        "models": {"camera": model},
        **top,
    }
    deployment |= {"vision": list(vision)} if vision else {}
    (folder / "deploy.yml").write_text(yaml.safe_dump(deployment), encoding="utf-8")
    return buildtool.build(
        folder / "deploy.yml", buildtool.Overrides(), buildtool.Options(folder / "build", archive=False)
    )


def frame_of(width: int, height: int) -> tuple[Array, list[Array]]:
    """An NV21 frame, with what is on it: smooth, so that one step of a byte does not make much."""
    y, x = np.mgrid[:height, :width]
    luma = 128 + 100 * np.sin(x / 17 + y / 29)
    pairs = np.stack([128 + 60 * np.cos(x / 23), 128 + 60 * np.sin(y / 31)], -1)[::2, ::2]
    planes = [luma.astype(np.uint8)[..., None], pairs.astype(np.uint8)]
    return np.concatenate([plane.ravel() for plane in planes]), planes


def expected_input(planes: list[Array], width: int, height: int, fit: int = d.LETTERBOX) -> Array:
    """What the definitions make of it: one step of a byte is 0.0175 in the tensor."""
    view = d.View(0, 0, width, height, d.BILINEAR, 90, 0, fit, (7, 7, 7, 0))
    pixels = d.tensor_bytes(d.NV21, planes, (width, height), d.FULL, view, SIZE, SIZE, d.BGR)
    return ((pixels - np.array(MEAN)) * np.array(SCALE)).astype(np.float32)[None]


def run_camera(
    abi: str, folder: Path, frame: Array, pixels: int, size: tuple[int, int], runs: int = 3
) -> subprocess.CompletedProcess[str]:
    """The program with the library's archive."""
    output = folder / "build" / "camera"
    (folder / "frame").write_bytes(frame.tobytes())
    program = folder / f"camera-{abi}"
    if not program.exists():
        options = ["-std=c++17", "-O1", "-Wall", "-Wextra", "-Werror", f"-I{output / 'include'}"]
        archive = output / "lib" / abi / "libcamera.a"
        subprocess.run([COMPILERS[abi], *options, CAMERA, archive, "-lpthread", "-lm", "-o", program], check=True)
    model = output / "model" / abi / "camera"
    words = [
        model.with_suffix(".pb"),
        model.with_suffix(".data"),
        folder / "frame",
        pixels,
        *size,
        runs,
        folder / "scores",
    ]
    command = [*QEMU.get(abi, []), program, *words]
    return subprocess.run([str(word) for word in command], capture_output=True, text=True, check=False)


@pytest.mark.slow
@pytest.mark.parametrize("abi", ABIS)
@pytest.mark.parametrize("nhwc", [True, False])
def test_a_frame_becomes_scores_without_allocation(abi: str, nhwc: bool, tmp_path: Path) -> None:
    images = IMAGES if nhwc else {**IMAGES, "fit": "pad"}
    report = built(tmp_path, list(dict.fromkeys(["host", abi])), images, nhwc=nhwc)
    width, height = 129, 97
    frame, planes = frame_of(width, height)
    done = run_camera(abi, tmp_path, frame, d.NV21, (width, height))
    assert done.returncode == 0, done.stderr
    before, allocations, image, nodes = map(float, done.stdout.split())
    assert before > 0 and allocations == 0
    assert image > 0 and nodes > 0
    made = np.frombuffer((tmp_path / "scores").read_bytes(), np.float32)

    session = buildtool.load(report)
    tensor = expected_input(planes, width, height, d.LETTERBOX if nhwc else d.PAD)
    wanted = session.run({"image": tensor if nhwc else tensor.transpose(0, 3, 1, 2)})["scores"][0]
    np.testing.assert_allclose(made, wanted, atol=0.02 * np.abs(wanted).max())
    if abi == "host":
        again = session.run_image(frame, "nv21", size=(width, height))["scores"][0]
        np.testing.assert_allclose(again, made, rtol=1e-5, atol=1e-6)


def test_python_runs_images(tmp_path: Path) -> None:
    images = [{"source": ["rgb", "nv21"], "resize": "nearest"}]
    report = built(tmp_path, ["host"], images, nhwc=True)
    session = buildtool.load(report)
    rgb = np.random.default_rng(3).integers(0, 256, (SIZE, SIZE, 3), np.uint8)
    wanted = session.run({"image": rgb.astype(np.float32)[None]})["scores"]
    for image, pixels in (rgb, "rgb"), (rgb[..., ::-1], "bgr"):
        np.testing.assert_array_equal(session.run_image(image, pixels)["scores"], wanted)
    part = session.run_image(np.pad(rgb, ((4, 2), (6, 0), (0, 0))), "rgb", part=(6, 4, SIZE, SIZE))
    np.testing.assert_array_equal(part["scores"], wanted)
    for image, pixels, size, message in (
        (rgb, "rgba", None, "has 4096 bytes, this one 3072"),
        (rgb, "rgb24", None, "there are no images 'rgb24'"),
        (rgb.astype(float), "rgb", None, "an image holds bytes"),
        (np.zeros(SIZE * SIZE * 2, np.uint8), "yuyv", (SIZE, SIZE), "not built for images of the format 9"),
    ):
        with pytest.raises(LatheError, match=message):
            session.run_image(image, pixels, size=size)
    with pytest.raises(LatheError, match="there is no input 'picture'"):
        session.run_image(rgb, "rgb", input_name="picture")
    with pytest.raises(LatheError, match="30x32 pixels from 6, 4 on are not inside of 32x32"):
        session.run_image(rgb, "rgb", part=(6, 4, 30, 32))


@pytest.mark.slow
def test_scale_and_zero_point_of_the_model_are_in_the_same_pass(tmp_path: Path) -> None:
    images = {"source": "rgb", "mean": 127.5, "scale": 1 / 127.5, "resize": "nearest"}
    report = built(tmp_path, ["host"], images, stored="uint8")
    session = buildtool.load(report)
    rgb = np.random.default_rng(4).integers(0, 256, (SIZE, SIZE, 3), np.uint8)
    made = session.run_image(rgb)["scores"]
    if session.inputs[0].dtype == "uint8":
        real = (rgb.astype(np.float64) - 127.5) / 127.5
        stored = np.clip(np.rint(real / 0.02) + 131, 0, 255).astype(np.uint8)
        np.testing.assert_allclose(made, session.run({"image": stored[None]})["scores"], rtol=1e-5, atol=1e-5)


ALL_ROWS = re.findall(r"row\((\w+), (\w+)\)", (ROOT / "native" / "vision" / "rows.h").read_text())[1:]


def symbols_of(report: buildtool.BuildReport) -> str:
    """All names in the library, as the compiler writes them."""
    return " ".join(elf.defined_symbols(report.folder / "debug" / "host" / "libcamera.so"))


def rows_of(symbols: str) -> set[str]:
    return {name for _, name in ALL_ROWS if f"{name}_row" in symbols}


def functions_of(symbols: str) -> set[str]:
    camel = {name: "".join(word.title() for word in name.split("_")) for name in FUNCTIONS}
    return {name for name, word in camel.items() if f"6vision{len(word)}{word}E" in symbols}


def test_a_library_without_the_keys_holds_and_runs_none(tmp_path: Path) -> None:
    report = built(tmp_path, ["host"])
    with pytest.raises(LatheError, match="built without 'preprocess'"):
        buildtool.load(report).run_image(np.zeros((8, 8, 3), np.uint8))
    assert report.library_for("host").sizes["vision"] == 0
    assert "6vision" not in symbols_of(report)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("function", "rows"),
    {
        "softmax": set(),
        "resize": {"resize_across", "resize_down", "sum_rows", "sum_columns"},
        "flip": {"mirror_pixels"},
        "rotate": {"mirror_pixels", "transpose_pixels"},
    }.items(),
)
def test_a_library_holds_what_was_asked_for(function: str, rows: set[str], tmp_path: Path) -> None:
    report = built(tmp_path, ["host"], vision=[function])
    symbols = symbols_of(report)
    assert functions_of(symbols) == {function}
    assert rows_of(symbols) == rows
    assert report.library_for("host").sizes["vision"] > 0


def test_an_input_holds_its_formats_filter_and_type(tmp_path: Path) -> None:
    symbols = symbols_of(built(tmp_path, ["host"], {"source": "nv21", "resize": "bilinear"}))
    assert functions_of(symbols) == {*OF_INPUTS, "boxes_back"}
    across = {"resize_across", "resize_down"}
    assert rows_of(symbols) == {"yuv_pairs", "yuv_full", "split_pairs", "elements_f32", "split_channels", *across}
    assert "semi_reader" in symbols and "bilinear_filter" in symbols and "f32_writer" in symbols
    assert "6vision7padding" not in symbols
    for absent in ("planar_reader", "pixel_reader", "yuyv_reader", "area_filter", "nearest_filter", "s8_writer"):
        assert absent not in symbols
