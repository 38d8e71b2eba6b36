"""What networks learn: classes, a class for each pixel, boxes (YOLO v2), embeddings that are near each other for
samples of one class, or samples themselves, so that others are found by what is lost of them.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import nn
from torch.nn import functional

from buildtool.errors import ConfigError, Where
from buildtool.targets.k210.boxes import Box, Regions, boxes
from buildtool.training import rules, single_shot
from buildtool.training.data import Data

CLASSES, PIXELS, BOXES, PRIORS, EMBEDDINGS = "classes", "pixels", "boxes", "priors", "embeddings"
REBUILD = "rebuild"
MEASURES = {
    CLASSES: "accuracy",
    PIXELS: "mean IoU",
    BOXES: "mAP",
    PRIORS: "mAP",
    EMBEDDINGS: "nearest of the same class",
    REBUILD: "AUC",
}
_LABELS = {PIXELS: "labels of pixels", BOXES: "boxes", PRIORS: "boxes"}  # what samples of a task have; of others labels
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
        """Embeddings are measured with classes that training did not see; what is rebuilt is learned of label 0."""
        if self.word == REBUILD:
            return data.of_the_first_label()
        return data.by_classes() if self.word == EMBEDDINGS else data

    def for_search(self, data: Data) -> Data:
        """What a search may see: no sample, and for embeddings no class, that measures the network in the end."""
        return (data.by_classes() if self.word == EMBEDDINGS else data).for_search()

    def classes(self, data: Data) -> int:
        """What the function of a network is told: with priors also that nothing is there."""
        return data.classes + (self.word == PRIORS)


def check(task: Task, network: nn.Module, outputs: Any, classes: int) -> None:
    """ConfigError where the network puts out something else than the task has."""
    if task.word == PRIORS:
        single_shot.checked(network, outputs, classes)
    elif not isinstance(outputs, torch.Tensor):
        raise ConfigError(
            f"the network puts out a {type(outputs).__name__} for the task '{task.word}'",
            where=Where(model=type(network).__name__),
            rule=f"one output; two with the task '{PRIORS}': places and scores",
            remedy="leave the others out of what `forward` returns",
        )


def of(entry: Mapping[str, Any], data: Data, where: Where) -> Task:
    """What the entry of an architecture says, and the samples have."""
    sides = entry.get("anchors", ())
    of_boxes = BOXES if sides else PRIORS
    usual = of_boxes if data.has_boxes else PIXELS if data.has_masks else CLASSES
    word = entry.get("task", usual)
    if word not in MEASURES:
        raise ConfigError(f"there is no task '{word}'", where=where, rule=f"`task`: {', '.join(MEASURES)}")
    if _LABELS.get(usual) != _LABELS.get(word):
        raise ConfigError(
            f"the task is '{word}', and the samples have {_LABELS.get(usual, 'labels')}", where=where,
            rule="`boxes` for the task boxes, `labels` of [number, rows, columns] for pixels, one for each sample "
            "for others",
        )  # fmt: skip
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


def loss_of_pixels(outputs: torch.Tensor, labels: torch.Tensor) -> torch.Tensor:
    """Cross entropy of every pixel."""
    _check_pixels(outputs.shape, labels.shape)
    return functional.cross_entropy(outputs, labels)


def _check_pixels(outputs: Sequence[int], labels: Sequence[int]) -> None:
    if len(outputs) != len(labels) + 1 or tuple(outputs[2:]) != tuple(labels[1:]):
        raise ConfigError(
            f"an output of {_sides(outputs)} for labels of {_sides(labels)}",
            rule="a plane for each class, with the rows and columns of the labels",
        )


def loss_of_rebuilding(outputs: torch.Tensor, samples: torch.Tensor) -> torch.Tensor:
    """The mean squared difference."""
    _check_rebuilt(outputs.shape, samples.shape)
    return functional.mse_loss(outputs.reshape(len(outputs), -1), samples.reshape(len(samples), -1))


def _check_rebuilt(outputs: Sequence[int], samples: Sequence[int]) -> None:
    if math.prod(outputs[1:]) != math.prod(samples[1:]):
        raise ConfigError(
            f"an output of {_sides(outputs)} for samples of {_sides(samples)}",
            rule="the task rebuild has as many outputs as inputs, in their order",
        )


def _sides(shape: Sequence[int]) -> str:
    return " x ".join(map(str, shape[1:]))


# -- measures --
def measured(task: Task, outputs: NDArray[Any], data: Data) -> float:
    """Of the held-out samples: the share that is right, or what else the task is measured by."""
    truths = data.test_labels
    if task.word == REBUILD:
        _check_rebuilt(outputs.shape, data.test_samples.shape)
        lost = outputs.reshape(len(outputs), -1) - data.test_samples.reshape(len(outputs), -1) / rules.DATA_FACTOR
        return area_under_the_curve(np.square(lost).mean(1), truths > 0)
    if task.word == PIXELS:
        _check_pixels(outputs.shape, truths.shape)
        return mean_of_unions(outputs.argmax(1), truths)
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


def mean_of_unions(answers: NDArray[Any], truths: NDArray[Any]) -> float:
    """Over the classes that occur: pixels that are right, of those that are of the class or were said to be."""
    shares = []
    for label in np.unique(truths):
        said, is_so = answers == label, truths == label
        shares.append((said & is_so).sum() / (said | is_so).sum())
    return float(np.mean(shares))


def area_under_the_curve(scores: NDArray[Any], strange: NDArray[np.bool_]) -> float:
    """The share of pairs of a strange and a usual sample in which the strange one has the higher score; equal: half."""
    usual, others = np.sort(scores[~strange]), scores[strange]
    below, up_to = np.searchsorted(usual, others, "left"), np.searchsorted(usual, others, "right")
    return float((below + up_to).sum() / (2 * len(usual) * len(others)))


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
