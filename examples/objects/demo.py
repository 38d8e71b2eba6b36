"""Detect objects and draw boxes: a single-shot detector that was trained on synthetic scenes, called from C++.

The detector knows balls, blocks, cones, rings and stars on a table (scenes.py). main.cc decodes its output and removes
repeated boxes; `python demo.py [IMAGE]` compiles it and draws objects.png.
"""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper

HERE = Path(__file__).resolve().parent
sys.path[:0] = [str(HERE), str(HERE.parent)]

from demo_tools import answer, built_library, built_program, picture_of, stored_weights, work_folder  # noqa: E402
from scenes import CLASSES, SIZE, scene  # noqa: E402
from train import GRID, LAYERS  # noqa: E402

SEED, SHOWN_SIZE = 13, 480  # of the scene that is shown without an argument
COLOURS = ((220, 50, 47), (38, 139, 210), (133, 153, 0), (211, 54, 130), (203, 110, 22))


def main(file: Path | None) -> int:
    folder = work_folder("objects")
    if file is None:
        from PIL import Image

        image, _ = scene(np.random.default_rng(SEED), SHOWN_SIZE)
        file = folder / "scene.png"
        Image.fromarray((image * 255).astype(np.uint8)).save(file)
    picture, pixels = picture_of(file, folder)
    write_model(folder / "objects.onnx")
    program = built_program(HERE / "main.cc", built_library(HERE / "deploy.yml", folder))
    found = [(int(line[0]), *map(float, line[1:])) for line in map(str.split, answer(program, pixels))]
    result = folder / "objects.png"
    drawn(picture, found).save(result)
    for label, score, *box in found:
        print(f"a {CLASSES[label]} ({score:.0%}) from {box[0]:.0f},{box[1]:.0f} to {box[2]:.0f},{box[3]:.0f}")
    print(f"{len(found)} objects; wrote {result}")
    return 0


def write_model(file: Path) -> None:
    """Convolutions, and two outputs: the chances of the classes, and the distances to the sides of the box."""
    weights, nodes, constants, value = stored_weights(HERE / "weights.npz"), [], {}, "image"
    for number, (inputs, outputs, stride) in enumerate(LAYERS):
        constants[f"conv{number}"] = weights[f"conv{number}"].reshape(3, 3, inputs, outputs).transpose(3, 2, 0, 1)
        constants[f"bias{number}"] = weights[f"bias{number}"]
        names = [value, f"conv{number}", f"bias{number}"]
        nodes.append(helper.make_node("Conv", names, [f"sums{number}"], pads=[1, 1, 1, 1], strides=[stride, stride]))
        value = f"relu{number}"
        nodes.append(helper.make_node("Relu", [f"sums{number}"], [value]))
    head, bias, count = weights["head"].T[:, :, None, None], weights["head_bias"], len(CLASSES)
    constants |= {"classes": head[:count], "classes_bias": bias[:count]}
    constants |= {"sides": head[count:], "sides_bias": bias[count:]}
    nodes.append(helper.make_node("Conv", [value, "classes", "classes_bias"], ["logits"]))
    nodes.append(helper.make_node("Sigmoid", ["logits"], ["scores"]))
    nodes.append(helper.make_node("Conv", [value, "sides", "sides_bias"], ["distances"]))
    shapes = {"scores": [1, count, GRID, GRID], "distances": [1, 4, GRID, GRID]}
    graph = helper.make_graph(
        nodes,
        "objects",
        [helper.make_tensor_value_info("image", TensorProto.FLOAT, [1, 3, SIZE, SIZE])],
        [helper.make_tensor_value_info(name, TensorProto.FLOAT, shape) for name, shape in shapes.items()],
        [numpy_helper.from_array(np.ascontiguousarray(array), name) for name, array in constants.items()],
    )
    onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 13)], ir_version=8), file)


def drawn(picture: Any, found: list[tuple[Any, ...]]) -> Any:
    """The picture with a box, a name and a score for each object."""
    from PIL import ImageDraw, ImageFont

    shown, size = picture.copy(), max(12, picture.width // 30)
    draw, font = ImageDraw.Draw(shown), ImageFont.load_default(size)
    for label, score, left, top, right, bottom in found:
        words = f"{CLASSES[label]} {score:.0%}"
        draw.rectangle([left, top, right, bottom], outline=COLOURS[label], width=max(2, size // 6))
        above = max(0, top - size * 1.3)
        end = left + draw.textlength(words, font) + size / 2
        draw.rectangle([left, above, end, above + size * 1.3], COLOURS[label])
        draw.text((left + size / 4, above), words, fill="white", font=font)
    return shown


if __name__ == "__main__":
    sys.exit(main(Path(sys.argv[1]) if len(sys.argv) > 1 else None))
