"""Single-shot detectors with several maps: each prior box has its place and a score for every class, the first of
which is that nothing is there. Places are encoded as in ai8x-training: offsets by a tenth of the prior's sides, and
logarithms of its sides by a fifth.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import nn
from torch.nn import functional

from buildtool.errors import ConfigError, Where
from buildtool.targets.k210.boxes import Box, box_of

PRIORS = "priors_cxcy"  # the attribute of networks: middles and sides, as shares of the picture
_OFFSET, _SIDE = 10.0, 5.0
_MATCH = 0.5  # intersection over union with an object from which on a prior is to find it
_NEGATIVES = 3  # for each prior that finds an object; those with the largest loss
_LEAST, _OVERLAP, _MOST = 0.05, 0.45, 100  # of boxes that are counted

Outputs = tuple[torch.Tensor, torch.Tensor]


def checked(network: nn.Module, outputs: Any, classes: int) -> Outputs:
    """Places [samples, priors, 4] and scores [samples, priors, classes]; ConfigError for whatever else."""
    priors, where = getattr(network, PRIORS, None), Where(model=type(network).__name__)
    rule = f"a network for boxes has `anchors` in `models`, or puts out places and scores of its priors, `{PRIORS}`"
    if not isinstance(priors, torch.Tensor) or priors.ndim != 2 or priors.shape[1] != 4:
        raise ConfigError(
            "the network has no prior boxes", where=where, rule=rule,
            remedy=f"self.{PRIORS}: middle and sides of each, [number, 4]",
        )  # fmt: skip
    both = isinstance(outputs, tuple | list) and len(outputs) == 2
    shapes = [tuple(one.shape[1:]) if isinstance(one, torch.Tensor) else None for one in outputs] if both else []
    if shapes != [(len(priors), 4), (len(priors), classes)]:
        told = " and ".join("x".join(map(str, shape)) if shape else "?" for shape in shapes) or "one output"
        raise ConfigError(
            f"the network puts out {told} for {len(priors)} priors", where=where, rule=rule,
            remedy=f"{len(priors)} x 4 places and {len(priors)} x {classes} scores: one of nothing, and one per class",
        )  # fmt: skip
    return outputs[0], outputs[1]


def loss_of(network: nn.Module, outputs: Outputs, truths: torch.Tensor) -> torch.Tensor:
    """Of the priors that are to find an object: their places and classes; and the classes of the worst others."""
    places, scores = outputs
    priors = getattr(network, PRIORS).to(places.dtype)
    wanted = [_wanted(priors, rows[rows[:, 0] >= 0].to(places.dtype)) for rows in truths]
    labels = torch.stack([label for label, _ in wanted])
    finds = labels > 0
    of_classes = functional.cross_entropy(scores.transpose(1, 2), labels, reduction="none")
    most = (_NEGATIVES * finds.sum(1)).clamp(min=1)
    others = of_classes.masked_fill(finds, 0.0).sort(1, descending=True).values
    worst = torch.arange(others.shape[1]) < most[:, None]
    count = max(int(finds.sum()), 1)
    encoded = torch.stack([box for _, box in wanted])
    of_places = functional.smooth_l1_loss(places[finds], encoded[finds], reduction="sum")
    return (of_classes[finds].sum() + others[worst].sum() + of_places) / count


def _wanted(priors: torch.Tensor, objects: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
    """The label of each prior, 0: nothing, and its encoded place."""
    labels, boxes = torch.zeros(len(priors), dtype=torch.long), torch.zeros_like(priors)
    if not len(objects):
        return labels, boxes
    edges = torch.cat([priors[:, :2] - priors[:, 2:] / 2, priors[:, :2] + priors[:, 2:] / 2], 1)
    low = torch.maximum(objects[:, None, 1:3], edges[None, :, :2])
    high = torch.minimum(objects[:, None, 3:], edges[None, :, 2:])
    both = (high - low).clamp(min=0).prod(2)
    overlaps = both / ((objects[:, 3:] - objects[:, 1:3]).prod(1)[:, None] + priors[:, 2:].prod(1) - both)
    best, number = overlaps.max(0)
    nearest = overlaps.argmax(1)  # no object is without a prior
    best[nearest] = 1.0
    number[nearest] = torch.arange(len(objects))
    chosen = objects[number]
    finds = best >= _MATCH
    labels[finds] = chosen[finds, 0].long() + 1
    sides = chosen[:, 3:] - chosen[:, 1:3]
    offsets = ((chosen[:, 1:3] + chosen[:, 3:]) / 2 - priors[:, :2]) / priors[:, 2:] * _OFFSET
    return labels, torch.cat([offsets, torch.log(sides / priors[:, 2:]) * _SIDE], 1)


def boxes(priors: NDArray[Any], places: NDArray[Any], scores: NDArray[Any]) -> list[Box]:
    """What is found in one sample, the most probable box first."""
    middles = places[:, :2] / _OFFSET * priors[:, 2:] + priors[:, :2]
    sides = np.exp(places[:, 2:] / _SIDE) * priors[:, 2:]
    exponents = np.exp(scores - scores.max(1, keepdims=True))
    shares = exponents / exponents.sum(1, keepdims=True)
    found: list[tuple[float, int, NDArray[Any]]] = []
    for label in range(1, scores.shape[1]):
        likely = np.flatnonzero(shares[:, label] > _LEAST)
        order = likely[np.argsort(-shares[likely, label], kind="stable")]
        edges = np.concatenate([middles[order] - sides[order] / 2, middles[order] + sides[order] / 2], 1)
        kept: list[int] = []
        for at, edge in enumerate(edges):
            if not kept or _overlaps(edge, edges[kept]).max() <= _OVERLAP:
                kept.append(at)
        found += [(float(shares[order[at], label]), label - 1, edges[at]) for at in kept]
    found.sort(key=lambda one: -one[0])
    return [box_of((*edge, probability, label)) for probability, label, edge in found[:_MOST]]


def _overlaps(one: NDArray[Any], others: NDArray[Any]) -> NDArray[Any]:
    """Intersection over union with each."""
    sides = np.minimum(one[2:], others[:, 2:]) - np.maximum(one[:2], others[:, :2])
    both = np.maximum(sides, 0).prod(1)
    either = (one[2:] - one[:2]).prod() + (others[:, 2:] - others[:, :2]).prod(1) - both
    return np.asarray(both / np.maximum(either, 1e-12))


def all_boxes(network: nn.Module, outputs: Sequence[NDArray[Any]]) -> list[list[Box]]:
    """Of every sample."""
    priors = np.asarray(getattr(network, PRIORS).detach().cpu().numpy(), np.float64)
    return [boxes(priors, places, scores) for places, scores in zip(*outputs, strict=True)]
