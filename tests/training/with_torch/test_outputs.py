"""Networks with several outputs: what a layer reads as well, what the program moves about, layers that run twice."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
import torch
from torch import nn

from buildtool.builders.device_simulators import device_simulator
from buildtool.builders.objects import ObjectCache
from buildtool.targets.k210.boxes import Box
from buildtool.targets.max7800x import TARGET
from buildtool.targets.max7800x.devices import DEVICES
from buildtool.targets.max7800x.firmware import program
from buildtool.training import ai8x, evaluating, models, single_shot, tasks, tracing
from buildtool.training.data import Data
from tests.targets.max7800x import machine

SHAPE = (3, 12, 12)


class Several(nn.Module):
    """A layer that is an output and is read, and one that runs for two maps."""

    def __init__(self) -> None:
        super().__init__()
        self.first = ai8x.FusedConv2dReLU(3, 8, 3, padding=1)
        self.second = ai8x.FusedMaxPoolConv2dReLU(8, 8, 3, padding=1)
        self.head = ai8x.Conv2d(8, 4, 3, padding=1)
        self.last = ai8x.Conv2d(4, 2, 1)

    def forward(self, x: torch.Tensor) -> tuple[torch.Tensor, list[torch.Tensor]]:
        fine = self.first(x)
        coarse = self.second(fine)
        maps = [self.head(one) for one in (fine, coarse)]
        rows = [one.permute(0, 2, 3, 1).contiguous().view(one.size(0), -1, 4) for one in maps]
        return coarse, [torch.cat(rows, dim=1), self.last(maps[1])]


@pytest.mark.parametrize("chip", ["max78000", "max78002"])
def test_all_outputs_stay_until_the_end(chip: str, tmp_path: Path) -> None:
    torch.manual_seed(1)
    network = Several()
    models.quantise(network, dict.fromkeys(models.layers_of(network), 8))
    steps = tracing.steps_of(network.eval(), SHAPE)
    assert [(step.title, step.is_output) for step in steps] == [
        ("first", False), ("second", True), ("head", True), ("head, call 2", True), ("last", True),
    ]  # fmt: skip
    samples = np.random.default_rng(0).integers(-128, 128, (4, *SHAPE))
    labels = np.zeros(4, np.int64)
    on_chip = evaluating.chip_network("several", network, DEVICES[chip], SHAPE, tmp_path)
    library = device_simulator(TARGET.simulator, ObjectCache())
    assert evaluating.compare(network, on_chip, Data("some", samples, labels, samples, labels), library) == 5
    made = program.make(on_chip, samples[0])
    outputs = sum(layer.out_channels * layer.out_size[0] * layer.out_size[1]
                  for layer in on_chip.layers if layer.is_output)  # fmt: skip
    assert outputs == 8 * 6 * 6 + 4 * 12 * 12 + 4 * 6 * 6 + 2 * 6 * 6
    assert sum(len(block.words) for block in made.expected) * 4 >= outputs
    differences, outcome = machine.differences(made)
    assert not outcome.complaints
    assert not differences


PRIORS = torch.tensor([[0.25, 0.25, 0.2, 0.2], [0.25, 0.25, 0.4, 0.3], [0.75, 0.75, 0.2, 0.2], [0.7, 0.7, 0.5, 0.5]])


class Priors(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.priors_cxcy = PRIORS


def encoded(box: tuple[float, float, float, float], prior: int) -> list[float]:
    """As ai8x-training encodes."""
    left, top, right, bottom = box
    x, y, wide, high = PRIORS[prior].tolist()
    sides = np.log((right - left) / wide) * 5, np.log((bottom - top) / high) * 5
    return [((left + right) / 2 - x) / wide * 10, ((top + bottom) / 2 - y) / high * 10, *sides]


def test_the_loss_of_priors_is_least_at_the_truth_and_boxes_are_found() -> None:
    """An object that overlaps two priors by half, and one that overlaps none by so much: it gets its best one."""
    objects = [[1.0, 0.1, 0.12, 0.42, 0.38], [0.0, 0.66, 0.66, 0.74, 0.74]]
    truths = torch.tensor([[*objects, [-1.0] * 5]])
    places, scores = torch.zeros(1, 4, 4), torch.zeros(1, 4, 3)
    scores[..., 0] = 9
    for prior, number in ((1, 0), (2, 1)):
        label, *edges = objects[number]
        places[0, prior] = torch.tensor(encoded((edges[0], edges[1], edges[2], edges[3]), prior))
        scores[0, prior] = torch.eye(3)[int(label) + 1] * 9
    least = float(single_shot.loss_of(Priors(), (places, scores), truths))
    assert least < 0.01
    for index in ((0, 1, 0), (0, 1, 3), (0, 2, 1)):
        other = places.clone()
        other[index] += 0.5
        assert float(single_shot.loss_of(Priors(), (other, scores), truths)) > least + 0.01
    for prior in range(4):
        wrong = scores.clone()
        wrong[0, prior] = wrong[0, prior].roll(1)
        assert float(single_shot.loss_of(Priors(), (places, wrong), truths)) > least + 1
    (found,) = single_shot.all_boxes(Priors(), [places.double().numpy(), scores.double().numpy()])
    assert sorted(box.label for box in found) == [0, 1]
    for box in found:
        truth = next(one for one in objects if one[0] == box.label)
        assert np.allclose([box.left, box.top, box.right, box.bottom], truth[1:], atol=1e-6)
    assert tasks.mean_average_precision([found], truths.numpy()) == 1


def test_boxes_of_one_object_are_one() -> None:
    places = np.zeros((4, 4))
    scores = np.array([[0, 0, 5.0], [9, 0, 0], [9, 0, 0], [9, 0, 0]])
    places[1] = encoded((0.15, 0.15, 0.35, 0.34), 1)
    scores[1] = [0, 0, 3]
    priors = PRIORS.double().numpy()
    (found,) = single_shot.boxes(priors, places, scores)
    assert isinstance(found, Box)
    assert (found.label, round(found.left, 6), round(found.right, 6)) == (1, 0.15, 0.35)
    scores[1] = [0, 3, 0]  # of another class
    assert len(single_shot.boxes(priors, places, scores)) == 2


def test_an_image_without_objects_is_learned_as_nothing() -> None:
    truths = torch.full((1, 2, 5), -1.0)
    places = torch.zeros(1, 4, 4)
    low, high = (torch.tensor([[first, 0.0, 0.0]] * 4)[None] for first in (5.0, -5.0))
    assert float(single_shot.loss_of(Priors(), (places, low), truths)) < 0.02
    assert float(single_shot.loss_of(Priors(), (places, high), truths)) > 4
