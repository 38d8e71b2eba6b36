"""What networks learn: classes, boxes (YOLO v2), or embeddings that are near each other for samples of one class."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch.nn import functional

from buildtool.errors import ConfigError, Where
from buildtool.targets.k210.boxes import Box, Regions, boxes
from buildtool.training.data import Data

CLASSES, BOXES, EMBEDDINGS = "classes", "boxes", "embeddings"
MEASURES = {CLASSES: "accuracy", BOXES: "mAP", EMBEDDINGS: "nearest of the same class"}
_BEFORE_CLASSES = 5
_NO_OBJECT = 0.5  # what a cell without an object counts, as in YOLO v2
_HEAT = 0.1  # of similarities
_LEAST, _OVERLAP = 0.02, 0.45  # of boxes that are counted
_RIGHT = 0.5  # intersection over union of a box that is right


@dataclass(frozen=True)
class Task:
    """What the outputs of a network mean. `anchors`: width and height of each, in cells."""

    word: str = CLASSES
    anchors: tuple[tuple[float, float], ...] = ()

    @property
    def measure(self) -> str:
        return MEASURES[self.word]

    def split(self, data: Data) -> Data:
        """Embeddings are measured with classes that training did not see."""
        return data.by_classes() if self.word == EMBEDDINGS else data


def of(entry: Mapping[str, Any], data: Data, where: Where) -> Task:
    """What the entry of an architecture says, and the samples have."""
    word, sides = entry.get("task", BOXES if data.has_boxes else CLASSES), entry.get("anchors", ())
    if word not in MEASURES:
        raise ConfigError(f"there is no task '{word}'", where=where, rule=f"`task`: {', '.join(MEASURES)}")
    if data.has_boxes != (word == BOXES):
        told = "boxes" if data.has_boxes else "labels"
        raise ConfigError(f"the task is '{word}', and the samples have {told}", where=where,
                          rule="`boxes` for the task boxes, `labels` for others")  # fmt: skip
    numbers = all(isinstance(side, int | float) and side > 0 for side in sides)
    if (word == BOXES) != bool(sides) or len(sides) % 2 or not numbers:
        raise ConfigError(
            f"`anchors` is {list(sides)} for the task '{word}'", where=where,
            rule="the task boxes has `anchors`: width and height of each, in cells of the output",
        )  # fmt: skip
    return Task(word, tuple((float(wide), float(high)) for wide, high in zip(sides[::2], sides[1::2], strict=True)))


# -- losses --
def loss_of_boxes(task: Task, outputs: torch.Tensor, truths: torch.Tensor) -> torch.Tensor:
    """As in YOLO v2: places, sizes, objectness and classes of the cells and anchors that objects belong to.
    `truths`: for each sample rows of label, left, top, right, bottom; labels below 0 are none.
    """
    planes = _planes(task, outputs)
    rows, columns = planes.shape[-2:]
    sample, number = torch.nonzero(truths[..., 0] >= 0, as_tuple=True)
    label, left, top, right, bottom = truths[sample, number].unbind(1)
    x, y = (left + right) / 2 * columns, (top + bottom) / 2 * rows
    wide, high = (right - left) * columns, (bottom - top) * rows
    column, row = x.long().clamp(0, columns - 1), y.long().clamp(0, rows - 1)
    sizes = torch.tensor(task.anchors, dtype=planes.dtype)
    both = torch.minimum(wide[:, None], sizes[:, 0]) * torch.minimum(high[:, None], sizes[:, 1])
    anchor = (both / ((wide * high)[:, None] + sizes.prod(1) - both)).argmax(1)
    found = planes[sample, anchor, :, row, column]
    wanted = torch.zeros_like(planes[:, :, 4])
    wanted[sample, anchor, row, column] = 1
    weights = torch.where(wanted > 0, 1.0, _NO_OBJECT)
    places = (torch.sigmoid(found[:, 0]) - (x - column)).square() + (torch.sigmoid(found[:, 1]) - (y - row)).square()
    logs = torch.log(torch.stack([wide, high], 1) / sizes[anchor])
    extents = (found[:, 2:4] - logs).square().sum(1)
    objects = functional.binary_cross_entropy_with_logits(planes[:, :, 4], wanted, weights, reduction="sum")
    classes = functional.cross_entropy(found[:, _BEFORE_CLASSES:], label.long(), reduction="sum")
    return (5 * (places.sum() + extents.sum()) + objects + classes) / len(outputs)


def _planes(task: Task, outputs: torch.Tensor) -> torch.Tensor:
    channels = outputs.shape[1]
    if outputs.ndim != 4 or channels % len(task.anchors) or channels // len(task.anchors) <= _BEFORE_CLASSES:
        raise ConfigError(
            f"an output of {' x '.join(map(str, outputs.shape[1:]))} is none of {len(task.anchors)} anchors",
            rule="for each anchor 5 planes and one per class",
        )
    return outputs.reshape(len(outputs), len(task.anchors), -1, *outputs.shape[2:])


def loss_of_embeddings(outputs: torch.Tensor, labels: torch.Tensor) -> torch.Tensor:
    """Supervised contrast: of all others in the batch, those of the same class are to be the most similar."""
    directions = functional.normalize(outputs.reshape(len(outputs), -1), dim=1)
    alone = torch.eye(len(labels), dtype=torch.bool)
    similar = (directions @ directions.T / _HEAT).masked_fill(alone, -1e4)
    same = (labels[:, None] == labels) & ~alone
    counted = same.any(1)
    if not counted.any():
        raise ConfigError("a batch has no two samples of one class", remedy="give a larger --batch")
    logs = functional.log_softmax(similar, dim=1)
    means = (logs * same).sum(1)[counted] / same.sum(1)[counted]
    return -means.mean()


# -- measures --
def measured(task: Task, outputs: NDArray[Any], truths: NDArray[Any]) -> float:
    """Of the held-out samples: the share that is right, or the mean average precision."""
    if task.word == BOXES:
        return mean_average_precision([found(task, output) for output in outputs], truths)
    flat = outputs.reshape(len(outputs), -1)
    if task.word == EMBEDDINGS:
        return nearest_of_the_same(flat, truths)
    return float((flat.argmax(1) == truths).mean())


def found(task: Task, output: NDArray[Any]) -> list[Box]:
    """The boxes in one output, as the program on the chip finds them."""
    channels, rows, columns = output.shape
    classes = channels // len(task.anchors) - _BEFORE_CLASSES
    return boxes(Regions(rows, columns, classes, task.anchors, _LEAST, _OVERLAP), output)


def nearest_of_the_same(outputs: NDArray[Any], labels: NDArray[Any]) -> float:
    """The share of samples whose most similar other one is of their class."""
    lengths = np.linalg.norm(outputs.astype(np.float64), axis=1, keepdims=True)
    directions = outputs / np.maximum(lengths, 1e-12)
    similar = directions @ directions.T
    np.fill_diagonal(similar, -np.inf)
    return float((labels[similar.argmax(1)] == labels).mean())


def mean_average_precision(answers: Sequence[Sequence[Box]], truths: NDArray[Any]) -> float:
    """Over the classes that occur: the area below precision by recall, each precision the best at that recall or above.
    A box is right if it is the first to overlap an object of its class by half of their union.
    """
    precisions = []
    for label in np.unique(truths[..., 0][truths[..., 0] >= 0]):
        objects = [rows[rows[:, 0] == label, 1:] for rows in truths]
        listed = [(box, number) for number, answer in enumerate(answers) for box in answer if box.label == label]
        listed.sort(key=lambda one: -one[0].probability)
        precisions.append(_average_precision(listed, objects))
    return float(np.mean(precisions)) if precisions else 0.0


def _average_precision(listed: Sequence[tuple[Box, int]], objects: Sequence[NDArray[Any]]) -> float:
    taken = [np.zeros(len(each), bool) for each in objects]
    right = np.zeros(len(listed))
    for place, (box, number) in enumerate(listed):
        overlaps = _overlaps(box, objects[number])
        if len(overlaps) and overlaps.max() >= _RIGHT and not taken[number][overlaps.argmax()]:
            taken[number][overlaps.argmax()] = True
            right[place] = 1
    total = sum(len(each) for each in objects)
    if not len(right):
        return 0.0
    precision = right.cumsum() / np.arange(1, len(right) + 1)
    best = np.maximum.accumulate(precision[::-1])[::-1]
    return float((best * right).sum() / total)


def _overlaps(box: Box, objects: NDArray[Any]) -> NDArray[Any]:
    """Intersection over union with each."""
    wide = np.minimum(box.right, objects[:, 2]) - np.maximum(box.left, objects[:, 0])
    high = np.minimum(box.bottom, objects[:, 3]) - np.maximum(box.top, objects[:, 1])
    both = np.maximum(wide, 0) * np.maximum(high, 0)
    areas = (objects[:, 2] - objects[:, 0]) * (objects[:, 3] - objects[:, 1])
    either = (box.right - box.left) * (box.bottom - box.top) + areas - both
    return np.asarray(both / np.maximum(either, 1e-12))
