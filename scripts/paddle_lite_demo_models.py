"""Paddle's side of `paddle_lite_demo.py`: it runs in a Python with paddlepaddle and OpenCV, and nothing of Lathe.

`models FOLDER`: a classifier, an SSD detector, a classifier of faces and three networks for text, with weights that a
seed decides, in Paddle's format, and images. `results FOLDER`: what the programs should print and draw, computed by
Paddle.
"""

from __future__ import annotations

import json
import os
import sys
from pathlib import Path

os.environ["FLAGS_enable_pir_api"] = "0"  # noqa: SIM112 (so it is called)

import cv2
import numpy as np
import paddle
import paddle_lite_demo_ocr as ocr  # type: ignore[import-not-found]
from paddle import nn

SIZE = 224
DETECTED = 300
FACE = 128
CLASSES = 4
THRESHOLD = 0.7


def models(folder: Path) -> None:
    paddle.seed(25)
    random = np.random.default_rng(25)
    shapes = cv2.resize(random.integers(0, 256, (9, 12, 3), dtype=np.uint8), (480, 360), interpolation=cv2.INTER_CUBIC)
    cv2.imwrite(str(folder / "image.png"), shapes)
    (folder / "labels.txt").write_text("".join(f"class{number}\n" for number in range(1000)))
    network = paddle.vision.models.mobilenet_v1(scale=0.5, num_classes=1000)
    _spread(network)
    _save(nn.Sequential(network, nn.Softmax()), folder / "classifier", [1, 3, SIZE, SIZE])
    faces = paddle.vision.models.mobilenet_v1(scale=0.25, num_classes=2)
    _spread(faces)
    _save(nn.Sequential(faces, nn.Softmax()), folder / "faces", [None, 3, FACE, FACE], "faces")
    ocr.save_models(folder, _save, _spread)
    plain = paddle.vision.models.mobilenet_v1(scale=0.5, num_classes=1000)
    _spread(plain)
    _save(plain, folder / "plain", [1, 3, SIZE, SIZE], "ones")
    _detector(folder / "detector")


def _spread(network: nn.Layer) -> None:
    """Weights with which outputs differ from each other, as trained ones do."""
    for layer in network.sublayers():
        if isinstance(layer, nn.Linear):
            layer.weight.set_value(layer.weight * 25)
        elif isinstance(layer, nn.BatchNorm2D):
            layer._variance.set_value(layer._variance * 0.1)
            layer.bias.set_value(paddle.uniform(layer.bias.shape, min=-0.3, max=0.3))


def _save(network: nn.Layer, path: Path, shape: list[int | None], name: str = "image") -> None:
    network.eval()
    paddle.jit.save(network, str(path), input_spec=[paddle.static.InputSpec(shape, "float32", name)])


def _detector(path: Path) -> None:
    """Two scales, priors, decoding and suppression as in Paddle's SSD; its outputs are places, scores and boxes."""
    paddle.enable_static()
    program, start = paddle.static.Program(), paddle.static.Program()
    program.random_seed = start.random_seed = 25
    with paddle.static.program_guard(program, start):
        image = paddle.static.data("image", [1, 3, DETECTED, DETECTED], "float32")
        value = image
        levels = []
        for width, stride in ((16, 2), (32, 2), (48, 2), (64, 2), (96, 2)):
            drawn = paddle.ParamAttr(initializer=nn.initializer.Normal(0, (2.0 / (9 * value.shape[1])) ** 0.5))
            value = nn.functional.relu6(
                paddle.static.nn.conv2d(value, width, 3, stride, 1, param_attr=drawn, bias_attr=False)
            )
            levels.append(value)
        places, scores, priors, variances = [], [], [], []
        for level, (least, most) in zip(levels[-2:], ((60.0, 110.0), (110.0, 200.0)), strict=True):
            boxes, variance = paddle.vision.ops.prior_box(
                level, image, [least], [most], [1.0, 2.0], [0.1, 0.1, 0.2, 0.2], flip=True, clip=True
            )
            count = boxes.shape[2]
            wide = paddle.ParamAttr(initializer=nn.initializer.Normal(0, 0.06))
            place = paddle.static.nn.conv2d(level, count * 4, 3, 1, 1, param_attr=wide)
            score = paddle.static.nn.conv2d(level, count * CLASSES, 3, 1, 1, param_attr=wide)
            places.append(paddle.reshape(paddle.transpose(place, [0, 2, 3, 1]), [1, -1, 4]))
            scores.append(paddle.reshape(paddle.transpose(score, [0, 2, 3, 1]), [1, -1, CLASSES]))
            priors.append(paddle.reshape(boxes, [-1, 4]))
            variances.append(paddle.reshape(variance, [-1, 4]))
        place, score = paddle.concat(places, 1), nn.functional.softmax(paddle.concat(scores, 1))
        decoded = paddle.vision.ops.box_coder(
            paddle.concat(priors), paddle.concat(variances), place, "decode_center_size", True, axis=0
        )
        helper = paddle.base.layer_helper.LayerHelper("multiclass_nms3")
        found = helper.create_variable_for_type_inference("float32")
        index, count = (helper.create_variable_for_type_inference("int32") for _ in range(2))
        settings = {"background_label": 0, "score_threshold": 0.3, "nms_top_k": 100, "nms_threshold": 0.45}
        helper.append_op(
            type="multiclass_nms3",
            inputs={"BBoxes": decoded, "Scores": paddle.transpose(score, [0, 2, 1])},
            outputs={"Out": found, "Index": index, "NmsRoisNum": count},
            attrs={**settings, "keep_top_k": 20, "nms_eta": 1.0, "normalized": True},
        )
        executor = paddle.static.Executor(paddle.CPUPlace())
        executor.run(start)
        paddle.static.save_inference_model(str(path), [image], [decoded, score, found], executor, program=program)
        paddle.static.save_inference_model(f"{path}_first", [image], [found], executor, program=program)
    paddle.disable_static()


# --- what the programs should say ------------------------------------------------------------------------------------


def results(folder: Path) -> None:
    image = cv2.imread(str(folder / "image.png"))
    rgb = cv2.cvtColor(image, cv2.COLOR_BGR2RGB)
    pixels = cv2.resize(rgb, (SIZE, SIZE)).astype(np.float32) * np.float32(1 / 255)
    mean, scale = np.array([0.485, 0.456, 0.406], np.float32), np.array([0.229, 0.224, 0.225], np.float32)
    (scores,) = _run(folder / "classifier", ((pixels - mean) / scale).transpose(2, 0, 1)[None])
    order = np.argsort(-scores[0], kind="stable")[:5]
    classes = [[int(index), float(scores[0][index])] for index in order]

    pixels = cv2.resize(rgb, (DETECTED, DETECTED)).astype(np.float32) * np.float32(1 / 255)
    (boxes,) = _run(folder / "detector_first", ((pixels - 0.5) / np.float32(0.5)).transpose(2, 0, 1)[None])
    height, width = image.shape[:2]
    objects = []
    for number, score, *box in boxes:
        x, y = int(box[0] * width), int(box[1] * height)
        w, h = int(box[2] * width) - x, int(box[3] * height) - y
        if score > 0.5 and w > 0 and h > 0:
            objects.append([round(float(number)), float(score), x, y, w, h])
    _masks(folder, image, rgb)
    (ones,) = _run(folder / "plain", np.ones((1, 3, SIZE, SIZE), np.float32))
    found = {"classes": classes, "objects": objects, "ones": ones[0].tolist(), "texts": ocr.read(folder, _run)}
    (folder / "results.json").write_text(json.dumps(found))


def _masks(folder: Path, image: np.ndarray, rgb: np.ndarray) -> None:
    """What mask_detection draws: boxes of a detector, each with the class of its part."""
    height, width = image.shape[:2]
    pixels = cv2.resize(image, (DETECTED, DETECTED)).astype(np.float32) * np.float32(1 / 255)
    mean = np.array([0.407843, 0.694118, 0.482353], np.float32)
    _, _, boxes = _run(folder / "detector", ((pixels - mean) / np.float32(0.5)).transpose(2, 0, 1)[None])
    rois, parts = [], []
    for _, score, *box in boxes:
        left, top, right, bottom = (
            int(side * size) for side, size in zip(box, (width, height, width, height), strict=True)
        )
        if score <= THRESHOLD:
            continue
        x, y = max(left, 0), max(top, 0)
        w, h = min(right, width - 1) - x, min(bottom, height - 1) - y
        rois.append((x, y, w, h))
        cx, cy = int(x + w / 2), int(y + h / 2)
        if abs(np.float32(w) / h - 1) > 1e-5:
            if np.float32(w) / FACE > np.float32(h) / FACE:
                h = w
            else:
                w = h
        x0, y0 = max(cx - w // 2, 0), max(cy - h // 2, 0)
        x1, y1 = min(cx - w // 2 + w, width - 1), min(cy - h // 2 + h, height - 1)
        part = cv2.cvtColor(cv2.resize(rgb[y0:y1, x0:x1], (FACE, FACE)), cv2.COLOR_RGB2BGR)
        parts.append((part.astype(np.float32) * np.float32(1 / 255) - np.float32(0.5)).transpose(2, 0, 1))
    (scores,) = _run(folder / "faces", np.stack(parts))
    drawn = image.copy()
    for (x, y, w, h), row in zip(rois, scores, strict=True):
        worn = int(row.argmax()) == 1
        text = f"{'MASK' if worn else 'NO MASK'}: {int(np.float32(row.max()) * np.float32(100))}%"
        colour = (0, 255, 0) if worn else (255, 0, 0)
        font = cv2.FONT_HERSHEY_PLAIN
        (first, _), _ = cv2.getTextSize(text, font, 1.0, 1)
        scale = w * 1.0 / first
        (_, tall), _ = cv2.getTextSize(text, font, scale, 1)
        cv2.rectangle(drawn, (x, y, w, h), colour, 2)
        above = int(np.float64(y - np.floor(tall * np.float32(1.25) + 0.5)))
        cv2.rectangle(drawn, (x, above), (x + w, y), colour, -1)
        cv2.putText(drawn, text, (x, y), font, scale, (255, 255, 255), 1)
    cv2.imwrite(str(folder / "expected.png"), drawn)


def _run(path: Path, value: np.ndarray) -> list[np.ndarray]:
    settings = paddle.inference.Config(f"{path}.pdmodel", f"{path}.pdiparams")
    settings.disable_gpu()
    predictor = paddle.inference.create_predictor(settings)
    predictor.get_input_handle(predictor.get_input_names()[0]).copy_from_cpu(
        np.ascontiguousarray(value, dtype=np.float32)
    )
    predictor.run()
    return [predictor.get_output_handle(name).copy_to_cpu() for name in predictor.get_output_names()]


if __name__ == "__main__":
    {"models": models, "results": results}[sys.argv[1]](Path(sys.argv[2]))
