"""Frames as inputs (`frame`): nodes that compute what image functions compute."""

from __future__ import annotations

import json
import re
from dataclasses import replace
from pathlib import Path

import numpy as np
import onnx
import pytest
import yaml
from onnx import TensorProto, helper

import buildtool
from buildtool.config.deployment import ImageConfig, ModelConfig, TensorConfig
from buildtool.errors import ConfigError
from buildtool.requests import frames
from buildtool.requests.deployments import load_deployment
from buildtool.vision import CHANNELS, FITS, PIXELS, ROUNDINGS, InputImage, frame_shape
from tests.vision import definitions as d
from tests.vision.definitions import Array

PAGE = Path(__file__).resolve().parents[2] / "docs" / "how-to" / "camera.md"
WIDTH, HEIGHT = 20, 14  # of the network
SIZE = (46, 34)
DEPLOYMENT: dict[str, object] = {
    "platform": "onnx",
    "model_file_path": "pixels.onnx",
    "subgraphs": [
        {
            "input_tensors": ["image"],
            "input_shapes": [f"1,3,{HEIGHT},{WIDTH}"],
            "input_data_formats": ["NCHW"],
            "output_tensors": ["pixels"],
            "output_shapes": [f"1,3,{HEIGHT},{WIDTH}"],
            "output_data_formats": ["NCHW"],
        }
    ],
    "data_type": "fp32_fp32",
}
IMAGES = {"source": "nv21", "frame": list(SIZE), "rotation": 90, "fit": "letterbox", "fill": [7, 70, 170], "scale": 0.5}


def drawn_frame(random: np.random.Generator, source: str, size: tuple[int, int]) -> tuple[Array, list[Array]]:
    """A frame as applications pass it, and its planes."""
    shapes = d.plane_shapes(PIXELS[source], *size)
    planes = [random.integers(0, 256, shape, np.uint8) for shape in shapes]
    return np.concatenate([plane.ravel() for plane in planes]).reshape(frame_shape(source, *size)), planes


def drawn_image(random: np.random.Generator, source: str, size: tuple[int, int]) -> InputImage:
    orders = ["rgb", "bgr", "gray", *([source] if CHANNELS.get(source) == 4 else [])]
    order = str(random.choice(orders))
    fit = int(random.choice(list(FITS.values())))
    fit |= int(random.choice(list(ROUNDINGS.values()))) if fit else 0
    left, top = (int(random.integers(side)) for side in size)
    part = (left, top, int(random.integers(1, size[0] - left + 1)), int(random.integers(1, size[1] - top + 1)))
    channels = CHANNELS[order]
    return InputImage(
        input="image",
        sources=(source,),
        crop=part if random.integers(2) else None,
        rotation=int(random.choice([0, 90, 180, 270])),
        flip=int(random.integers(4)),
        filter=int(random.integers(3)),
        fit=fit,
        fill=tuple(int(value) for value in random.integers(0, 256, channels)),
        order=order,
        mean=(0.0,) * channels,
        scale=(1.0,) * channels,
    )


def defined(image: InputImage, planes: list[Array], size: tuple[int, int], width: int, height: int) -> Array:
    """What the definitions of the image functions make of it."""
    fill = (*image.fill, 0, 0, 0)[:4]
    part = image.crop or (0, 0, *size)
    view = d.View(*part, image.filter, image.rotation, image.flip, image.fit, (fill[0], fill[1], fill[2], fill[3]))
    source, order = PIXELS[image.sources[0]], PIXELS[image.order]
    return d.tensor_bytes(source, planes, size, d.FULL, view, width, height, order)


@pytest.mark.parametrize("source", PIXELS)
def test_nodes_compute_what_image_functions_compute(source: str, model: ModelConfig) -> None:
    random = np.random.default_rng(PIXELS[source])
    for i in range(20):
        size = (2 * int(random.integers(1, 40)), 2 * int(random.integers(1, 40)))
        width, height = size if i % 5 == 0 else (int(random.integers(1, 60)), int(random.integers(1, 60)))
        image = drawn_image(random, source, size)
        tensor = TensorConfig("image", (1, height, width, CHANNELS[image.order]), "float32", "NHWC", (0, 1), "image")
        frame, planes = drawn_frame(random, source, size)
        graph = replace(model.subgraphs[0], images=(ImageConfig(image, frame=size, tensor=tensor),))
        made = frames.converted(replace(model, subgraphs=(graph,)), {"image": frame})["image"]
        assert made.shape == tensor.shape
        assert np.abs(made[0] - np.rint(defined(image, planes, size, width, height))).max() <= 1, image


@pytest.fixture(scope="module")
def model(tmp_path_factory: pytest.TempPathFactory) -> ModelConfig:
    return load_deployment(written(tmp_path_factory.mktemp("frames"))).models[0]


def written(folder: Path, images: object = IMAGES, runtime: str = "cpu", abi: str = "host", **more: object) -> Path:
    """A network whose output is its input, and a deployment of it."""
    border = [
        helper.make_tensor_value_info(name, TensorProto.FLOAT, [1, 3, HEIGHT, WIDTH]) for name in ("image", "pixels")
    ]
    graph = helper.make_graph([helper.make_node("Relu", ["image"], ["pixels"])], "pixels", border[:1], border[1:])
    onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 13)]), folder / "pixels.onnx")
    entry = {**DEPLOYMENT, "runtime": runtime, "preprocess": images, **more}
    text = yaml.safe_dump({"library_name": "frames", "target_abis": [abi], "models": {"pixels": entry}})
    (folder / "deploy.yml").write_text(text, encoding="utf-8")
    return folder / "deploy.yml"


@pytest.mark.slow
@pytest.mark.parametrize("runtime", ["cpu", pytest.param("gpu", marks=pytest.mark.opencl)])
def test_a_library_takes_frames(runtime: str, tmp_path: Path) -> None:
    """On a GPU, all that computes with floats runs there."""
    options = buildtool.Options(tmp_path / "build", archive=False)
    report = buildtool.build(written(tmp_path, runtime=runtime), buildtool.Overrides(), options)
    session = buildtool.load(report)
    (taken,) = session.inputs
    assert tuple(taken.shape) == (1, SIZE[1] * 3 // 2, SIZE[0])
    random = np.random.default_rng(5)
    image = InputImage(
        "image", ("nv21",), None, 90, 0, 1, FITS["letterbox"], (7, 70, 170), "rgb", (0.0,) * 3, (1.0,) * 3
    )
    for _ in range(3):
        frame, planes = drawn_frame(random, "nv21", SIZE)
        made = session.run({"image": frame})["pixels"][0].transpose(1, 2, 0) * 2
        assert np.abs(made - defined(image, planes, SIZE, WIDTH, HEIGHT)).max() <= 1
    if runtime == "gpu":
        facts = json.loads((tmp_path / "build" / "frames" / "report" / "build.json").read_text(encoding="utf-8"))
        (plan,) = facts["models"][0]["plans"]
        sides = {node["op"]: node["side"] for node in plan["placement"]["nodes"]}
        assert {sides[op] for op in ("avg_pool2d", "conv2d", "pad")} == {"device"}


@pytest.mark.slow
@pytest.mark.parametrize("abi", ["wasm32"])
def test_frames_are_validated_in_webassembly(abi: str, tmp_path: Path) -> None:
    """Beside the framework, which gets what the frames become. Image functions are not built there."""
    options = buildtool.Options(tmp_path / "build", archive=False)
    found = buildtool.validate(written(tmp_path, abi=abi), buildtool.Overrides(), options)
    assert found.passed


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"frame": [640]}, "'frame' is not a width and a height"),
        ({"frame": [640, 0]}, "'frame' is not a width and a height"),
        ({"frame": [641, 480]}, "has even sides"),
        ({"source": ["nv21", "rgb"]}, "'source' has several"),
        ({"crop": [0, 0, 47, 34]}, "'crop' goes beyond the frame"),
    ],
)
def test_what_frames_cannot_be(change: dict[str, object], message: str, tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match=message):
        load_deployment(written(tmp_path, {**IMAGES, **change}))


def test_the_page_shows_what_the_input_takes(tmp_path: Path) -> None:
    text = PAGE.read_text(encoding="utf-8")
    _, shown = re.findall(r"^```yaml\n(.*?)^```", text, re.DOTALL | re.MULTILINE)
    images = yaml.safe_load(shown)["preprocess"]
    (taken,) = load_deployment(written(tmp_path, images)).models[0].subgraphs[0].inputs
    assert taken.data_type == "uint8"
    assert f"`{','.join(map(str, taken.shape))}`" in text
