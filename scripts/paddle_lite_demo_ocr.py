"""Paddle's side of the OCR program of Paddle-Lite-Demo: models, and what the program should find and read.

Detection by differentiable binarisation, a classifier of directions, and recognition by CTC, as the program
computes them around its three networks. `paddle_lite_demo_models.py` calls this; it needs pyclipper too.
"""

# mypy: ignore-errors

from __future__ import annotations

import itertools
import math
from collections.abc import Callable
from pathlib import Path
from typing import Any

import cv2
import numpy as np
import paddle
import pyclipper
from paddle import nn

Array = np.ndarray[Any, Any]
Run = Callable[[Path, Array], list[Array]]
LETTERS = "abcdefghijklmnopqrstuvwxyz0123456789"
SETTINGS = {
    "max_side_len": 960,
    "det_db_thresh": 0.3,
    "det_db_box_thresh": 0.5,
    "det_db_unclip_ratio": 1.6,
    "det_db_use_dilate": 0,
    "det_use_polygon_score": 0,
    "use_direction_classify": 1,
}
_NORMAL = ([0.485, 0.456, 0.406], [1 / 0.229, 1 / 0.224, 1 / 0.225])
_LEAST, _SURE = 3, 0.9  # pixels of a box; score from which a part is turned


class _Bright(nn.Layer):
    """A map that is high where an image is bright, at the image's size: it stands for a trained detector."""

    def __init__(self) -> None:
        super().__init__()
        self.first, self.second, self.last = nn.Conv2D(3, 8, 3, 2, 1), nn.Conv2D(8, 8, 3, 1, 1), nn.Conv2D(8, 1, 1)
        for layer in (self.first, self.second, self.last):
            layer.weight.set_value(layer.weight.abs())

    def scores(self, image: paddle.Tensor) -> paddle.Tensor:
        made = nn.functional.relu(self.second(nn.functional.relu(self.first(image))))
        return self.last(nn.functional.interpolate(made, scale_factor=2, mode="nearest"))

    def forward(self, image: paddle.Tensor) -> paddle.Tensor:
        return nn.functional.hardsigmoid(self.scores(image))

    def tell_apart(self, dark: Array, bright: Array) -> None:
        """Scores of -4 and 4 for two images."""
        low, high = (float(self.scores(paddle.to_tensor(image)).mean()) for image in (dark, bright))
        self.last.weight.set_value(self.last.weight * (8 / (high - low)))
        self.last.bias.set_value(self.last.bias * (8 / (high - low)) - 4 * (high + low) / (high - low))


class _Letters(nn.Layer):
    """Probabilities of letters for every fourth column."""

    def __init__(self) -> None:
        super().__init__()
        self.first, self.second = nn.Conv2D(3, 16, 3, 2, 1), nn.Conv2D(16, 32, 3, 2, 1)
        self.last = nn.Linear(32, len(LETTERS) + 2)
        for layer in (self.first, self.second):  # edges, not brightness
            layer.weight.set_value((layer.weight - layer.weight.mean([2, 3], keepdim=True)) * 4)
        self.last.weight.set_value(self.last.weight * 12)

    def forward(self, image: paddle.Tensor) -> paddle.Tensor:
        made = nn.functional.relu(self.second(nn.functional.relu(self.first(image))))
        return nn.functional.softmax(self.last(made.mean(2).transpose([0, 2, 1])))


def save_models(folder: Path, save: Callable[..., None], spread: Callable[[nn.Layer], None]) -> None:
    """The three networks, and an image with lines at several angles."""
    direction = paddle.vision.models.mobilenet_v1(scale=0.25, num_classes=2)
    spread(direction)
    detector, flat = _Bright(), np.full((64, 64, 3), 1, np.uint8)
    detector.tell_apart(*(_planes(flat * brightness, *_NORMAL) for brightness in (20, 225)))
    save(detector, folder / "ocr_det", [1, 3, None, None], "page")
    save(nn.Sequential(direction, nn.Softmax()), folder / "ocr_cls", [1, 3, 48, 192], "part")
    save(_Letters(), folder / "ocr_rec", [1, 3, 32, None], "line")
    random = np.random.default_rng(26)
    page = np.full((400, 640, 3), 20, np.uint8)
    for row, (angle, length) in enumerate([(0, 300), (4, 250), (-6, 220), (0, 120), (12, 180)]):
        centre = (int(random.integers(190, 420)), 45 + row * 75)
        cv2.fillPoly(page, [np.int32(cv2.boxPoints((centre, (length, 26), angle)))], (210, 225, 240))
        cv2.putText(page, "Lathe 25", (centre[0] - 55, centre[1] + 8), cv2.FONT_HERSHEY_PLAIN, 1.5, (60, 40, 120), 2)
    cv2.imwrite(str(folder / "page.png"), page)
    (folder / "letters.txt").write_text("".join(f"{letter}\n" for letter in LETTERS))
    (folder / "settings.txt").write_text("".join(f"{name} {value}\n" for name, value in SETTINGS.items()))


def read(folder: Path, run: Run) -> list[tuple[str, float]]:
    """What the program prints, its last line first; it draws the boxes of ocr_expected.png."""
    page = cv2.imread(str(folder / "page.png"))
    boxes = _found(page, folder, run)
    drawn = page.copy()
    for box in boxes:
        cv2.polylines(drawn, [np.int32(box)], True, (0, 255, 0), 2, 8, 0)
    cv2.imwrite(str(folder / "ocr_expected.png"), drawn)
    dictionary = ["#", *LETTERS, " "]
    return [_text(_turned(_part(page, box), folder, run), folder, run, dictionary) for box in boxes[::-1]]


def _planes(image: Array, mean: list[float], scale: list[float]) -> Array:
    pixels = image.astype(np.float32) * np.float32(1 / 255)
    made: Array = (pixels - np.array(mean, np.float32)) * np.array(scale, np.float32)
    return made.transpose(2, 0, 1)[None]


def _found(page: Array, folder: Path, run: Run) -> list[list[tuple[int, int]]]:
    height, width = page.shape[:2]
    size = [side if side % 32 == 0 else (32 if side // 32 <= 1 else (side // 32 - 1) * 32) for side in (width, height)]
    values = _planes(cv2.resize(page, size), *_NORMAL)
    scores = run(folder / "ocr_det", values)[0][0, 0]
    _, bits = cv2.threshold((scores * 255).astype(np.uint8), SETTINGS["det_db_thresh"] * 255, 255, cv2.THRESH_BINARY)
    contours, _ = cv2.findContours(bits, cv2.RETR_LIST, cv2.CHAIN_APPROX_SIMPLE)
    made = []
    for contour in contours:
        box, least = _corners(cv2.minAreaRect(contour)) if len(contour) > 2 else ([], 0.0)
        if least < _LEAST or _score(box, scores) < SETTINGS["det_db_box_thresh"]:
            continue
        box, least = _corners(_grown(box))
        if least < _LEAST + 2:
            continue
        points = [(_rounded(x, size[0]), _rounded(y, size[1])) for x, y in box]
        made.append(_clockwise(points))
    ratios = [np.float32(small) / np.float32(side) for small, side in zip(size, (width, height), strict=True)]
    kept = []
    for corners in made:
        points = [
            (min(max(int(x / ratios[0]), 0), width - 1), min(max(int(y / ratios[1]), 0), height - 1))
            for x, y in corners
        ]
        sides = [int(math.hypot(points[0][0] - points[i][0], points[0][1] - points[i][1])) for i in (1, 3)]
        if min(sides) > 4:
            kept.append(points)
    return kept


def _rounded(value: float, most: int) -> int:
    return int(min(max(math.floor(np.float32(value) + 0.5), 0), most))


def _corners(rectangle: Any) -> tuple[list[Array], float]:
    points = sorted(cv2.boxPoints(rectangle), key=lambda point: point[0])
    left = sorted(points[:2], key=lambda point: point[1])
    right = sorted(points[2:], key=lambda point: point[1])
    return [left[0], right[0], right[1], left[1]], min(rectangle[1])


def _score(box: list[Array], scores: Array) -> float:
    height, width = scores.shape
    xs, ys = [point[0] for point in box], [point[1] for point in box]
    left, right = (min(max(int(x), 0), width - 1) for x in (math.floor(min(xs)), math.ceil(max(xs))))
    top, bottom = (min(max(int(y), 0), height - 1) for y in (math.floor(min(ys)), math.ceil(max(ys))))
    mask = np.zeros((bottom - top + 1, right - left + 1), np.uint8)
    cv2.fillPoly(mask, [np.array([[int(x) - left, int(y) - top] for x, y in box], np.int32)], 1)
    return float(cv2.mean(scores[top : bottom + 1, left : right + 1], mask)[0])


def _grown(box: list[Array]) -> Any:
    pairs = list(zip(box, [*box[1:], box[0]], strict=True))
    area = abs(sum(a[0] * b[1] - a[1] * b[0] for a, b in pairs) / 2)
    distance = area * SETTINGS["det_db_unclip_ratio"] / sum(math.hypot(a[0] - b[0], a[1] - b[1]) for a, b in pairs)
    offset = pyclipper.PyclipperOffset()
    offset.AddPath([(int(x), int(y)) for x, y in box], pyclipper.JT_ROUND, pyclipper.ET_CLOSEDPOLYGON)
    return cv2.minAreaRect(np.array(list(itertools.chain(*offset.Execute(distance))), np.float32))


def _clockwise(points: list[tuple[int, int]]) -> list[tuple[int, int]]:
    ordered = sorted(points, key=lambda point: point[0])
    left, right = (sorted(pair, key=lambda point: point[1]) for pair in (ordered[:2], ordered[2:]))
    return [left[0], right[0], right[1], left[1]]


def _part(page: Array, box: list[tuple[int, int]]) -> Array:
    left, top = min(x for x, _ in box), min(y for _, y in box)
    right, bottom = max(x for x, _ in box), max(y for _, y in box)
    points = np.array([(x - left, y - top) for x, y in box], np.float32)
    across, down = (int(math.hypot(*(points[0] - points[i]))) for i in (1, 3))
    target = np.array([(0, 0), (across, 0), (across, down), (0, down)], np.float32)
    matrix = cv2.getPerspectiveTransform(points, target)
    part = cv2.warpPerspective(page[top:bottom, left:right], matrix, (across, down), flags=cv2.BORDER_REPLICATE)
    return np.asarray(cv2.flip(cv2.transpose(part), 0) if part.shape[0] >= part.shape[1] * 1.5 else part)


def _turned(part: Array, folder: Path, run: Run) -> Array:
    across = min(192, math.ceil(np.float32(48) * (np.float32(part.shape[1]) / np.float32(part.shape[0]))))
    image = cv2.copyMakeBorder(cv2.resize(part, (across, 48)), 0, 0, 0, 192 - across, cv2.BORDER_CONSTANT)
    (scores,) = run(folder / "ocr_cls", _planes(image, [0.5] * 3, [2.0] * 3))
    label = int(scores[0].argmax())
    upside_down = label % 2 == 1 and scores[0][label] > _SURE
    return np.asarray(cv2.rotate(part, cv2.ROTATE_180) if upside_down else part)


def _text(part: Array, folder: Path, run: Run, dictionary: list[str]) -> tuple[str, float]:
    ratio = np.float32(part.shape[1]) / np.float32(part.shape[0])
    across = min(int(32 * ratio), math.ceil(np.float32(32) * ratio))
    (scores,) = run(folder / "ocr_rec", _planes(cv2.resize(part, (across, 32)), [0.5] * 3, [2.0] * 3))
    text, kept, last = "", [], 0
    for step, row in enumerate(scores[0]):
        label = int(row.argmax())
        if label > 0 and not (step > 0 and label == last):
            kept.append(row[label])
            text += dictionary[label]
        last = label
    return text, float(np.sum(np.array(kept, np.float32)) / max(1, len(kept)))
