"""How often networks are right."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from buildtool.errors import RunError
from buildtool.targets.max7800x.devices import MAX78000
from buildtool.targets.max7800x.lowering import lower
from buildtool.targets.max7800x.network import Kernel
from buildtool.targets.max7800x.simulation import evaluate
from buildtool.targets.max7800x.simulation.evaluate import Accuracy
from buildtool.targets.max7800x.simulation.native_simulator import Simulator
from buildtool.targets.max7800x.simulation.simulate import run
from tests.targets.max7800x import native
from tests.targets.max7800x.odd_networks import layer, network
from tests.targets.max7800x.test_digits import digits, test_set

COPIES = Kernel(np.eye(4, dtype=np.int8).reshape(4, 4, 1, 1), size=(1, 1), pad=(0, 0))
COPY = network(4, (1, 1), replace(layer(0, "conv2d", (-1,), 4, (1, 1), kernel=COPIES), output_width=32))


def measured(samples: Any, labels: Any, **more: Any) -> Accuracy:
    return evaluate.evaluate(Simulator(COPY, native.library()), samples, labels, **more)


SAMPLES = [
    np.array(values).reshape(4, 1, 1) for values in ((9, 5, 1, 0), (3, 8, 7, 1), (2, 2, 2, 2), (-9, -8, -7, -6))
] * 20
LABELS = [0, 2, 1, 0] * 20


def test_answers_are_counted() -> None:
    found = measured(SAMPLES, LABELS)
    assert found.confusion.tolist() == [[20, 0, 0, 20], [20, 0, 0, 0], [0, 20, 0, 0], [0, 0, 0, 0]]
    assert (found.samples, found.right, found.share) == (80, 20, 0.25)
    assert found.wrong[:4] == (1, 2, 3, 5)


@pytest.mark.parametrize(("top", "right"), [(1, 20), (2, 60), (3, 60), (4, 80)])
def test_the_first_answers(top: int, right: int) -> None:
    assert measured(SAMPLES, LABELS, top=top, workers=3).right == right


@pytest.mark.parametrize(
    ("samples", "labels", "more", "message"),
    [
        ([], [], {}, "no samples"),
        (SAMPLES, LABELS[1:], {}, "80 samples and 79 labels"),
        (SAMPLES, [4, *LABELS[1:]], {}, "sample 0 has the label 4; 1 labels"),
        (SAMPLES, LABELS, {"top": 5}, "top 5 of 4 answers"),
        ([np.zeros((5, 1, 1))], [0], {}, "the sample is 5 x 1 x 1"),
    ],
)
def test_samples_and_labels_that_do_not_match_are_errors(samples: Any, labels: Any, more: Any, message: str) -> None:
    with pytest.raises(RunError, match=message):
        measured(samples, labels, **more)


def test_digits_are_right_as_often_as_the_simulator_in_numpy_says() -> None:
    lowered = lower.lower(digits(), MAX78000)
    pictures, labels = test_set()
    samples = [lowered.input.stored(picture) for picture in pictures]
    found = evaluate.evaluate(Simulator(lowered.network, native.library()), samples, labels.tolist())
    answers = [int(run(lowered.network, sample).result.argmax()) for sample in samples[:60]]
    assert [at for at in found.wrong if at < 60] == [at for at in range(60) if answers[at] != labels[at]]
    assert found.samples == len(labels)
    assert found.share >= 0.97
