"""What networks learn besides classes: boxes by mean average precision, embeddings by their nearest."""

from __future__ import annotations

import importlib.util
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch

import buildtool
from buildtool.errors import LatheError
from buildtool.targets.k210.boxes import Box
from buildtool.training import data, models, tasks
from buildtool.training.data import Data
from buildtool.training.tasks import Task
from buildtool.workflow import convert, training

EXAMPLE = Path(__file__).resolve().parents[3] / "examples" / "chips"
MODEL = EXAMPLE / "kpu_models.py"
PAIR = Task("boxes", ((1.0, 1.0), (3.0, 2.0)))


def box(left: float, probability: float, label: int = 0) -> Box:
    return Box(left, 0.0, left + 0.2, 0.5, probability, label)


def truth(*lefts: float, label: int = 0) -> list[list[float]]:
    rows = [[float(label), left, 0.0, left + 0.2, 0.5] for left in lefts]
    return rows + [[-1.0] * 5] * (3 - len(rows))


def test_mean_average_precision_by_hand() -> None:
    truths = np.array([truth(0.0, 0.5), truth(0.3), truth(0.1, label=1)])
    # Right at 0.9, wrong at 0.8 (nothing there), right at 0.7; one of three objects of class 0 is never found.
    answers = [[box(0.0, 0.9), box(0.51, 0.7)], [box(0.75, 0.8)], [box(0.1, 0.4, 1)]]
    of_class_0 = (1 + 2 / 3) / 3
    assert tasks.mean_average_precision(answers, truths) == pytest.approx((of_class_0 + 1) / 2)
    # A second box of one object is wrong, and so is one of another class.
    again = [[box(0.0, 0.9), box(0.01, 0.8)], [box(0.3, 0.7, 1)], []]
    assert tasks.mean_average_precision(again, truths) == pytest.approx((1 / 3 + 0) / 2)
    assert tasks.mean_average_precision([[], [], []], truths) == 0


def test_the_loss_of_boxes_is_least_at_the_truth() -> None:
    """Outputs that decode to the objects: found as they are, and any other number costs more."""
    truths = torch.tensor([[[1.0, 0.30, 0.30, 0.42, 0.46], [0.0, 0.5, 0.5, 0.9, 0.8], [-1.0] * 5]])
    outputs = torch.zeros(1, 2, 7, 7, 7)
    outputs[:, :, 4] = -12
    for label, left, top, right, bottom in truths[0, :2].tolist():
        x, y, wide, high = (left + right) * 3.5, (top + bottom) * 3.5, (right - left) * 7, (bottom - top) * 7
        anchor = 0 if wide < 1.5 else 1
        cell = outputs[0, anchor, :, int(y), int(x)]
        cell[0], cell[1] = torch.logit(torch.tensor([x % 1, y % 1])).tolist()
        cell[2:4] = torch.log(torch.tensor([wide, high]) / torch.tensor(PAIR.anchors[anchor]))
        cell[4], cell[5 + int(label)] = 12, 12
    flat = outputs.reshape(1, 14, 7, 7)
    least = float(tasks.loss_of_boxes(PAIR, flat, truths))
    assert least < 0.01
    found = tasks.found(PAIR, flat[0].numpy())
    assert sorted(one.label for one in found) == [0, 1]
    nothing = np.zeros((1, 1, 7, 7), np.int64)
    held = Data("one", nothing, truths.numpy(), nothing, truths.numpy())
    assert tasks.measured(PAIR, flat.numpy(), held) == 1
    rng = np.random.default_rng(0)
    for _ in range(20):
        other = flat + torch.from_numpy(rng.normal(0, 0.5, flat.shape).astype(np.float32))
        assert float(tasks.loss_of_boxes(PAIR, other, truths)) > least


def test_pixels_by_hand() -> None:
    truths = np.array([[[0, 0], [1, 1]], [[0, 0], [0, 2]]])
    answers = np.array([[[0, 1], [1, 1]], [[0, 0], [0, 0]]])
    # Class 0: 4 of 6; class 1: 2 of 3; class 2 was never said.
    assert tasks.mean_of_unions(answers, truths) == pytest.approx((4 / 6 + 2 / 3 + 0) / 3)
    planes = (np.arange(3)[None, :, None, None] == truths[:, None]).astype(np.float32)
    held = Data("two", np.zeros((2, 1, 2, 2), np.int64), truths, np.zeros((2, 1, 2, 2), np.int64), truths)
    assert tasks.measured(Task("pixels"), planes, held) == 1
    known = torch.from_numpy(truths)
    least = float(tasks.loss_of_pixels(torch.from_numpy(planes) * 20, known))
    assert least < 1e-6 < float(tasks.loss_of_pixels(torch.from_numpy(planes), known))
    with pytest.raises(LatheError, match="an output of 3 x 2 x 1 for labels of 2 x 2"):
        tasks.loss_of_pixels(torch.from_numpy(planes[..., :1]), known)


def test_what_is_rebuilt_by_hand() -> None:
    """Of the pairs of a strange and a usual sample; equal ones count half."""
    strange = np.array([False, False, True, True])
    assert tasks.area_under_the_curve(np.array([1.0, 2.0, 2.0, 3.0]), strange) == (0.5 + 1 + 1 + 1) / 4
    assert tasks.area_under_the_curve(np.array([1.0, 2.0, 0.0, 0.5]), strange) == 0
    samples = np.zeros((4, 3, 2), np.int64)
    held = Data("four", samples, strange.astype(int), samples, strange.astype(int))
    outputs = np.repeat(np.array([0.1, 0.2, -0.3, 0.4]), 6).reshape(4, 6)
    assert tasks.measured(Task("rebuild"), outputs, held) == 1
    given = torch.zeros(4, 3, 2)
    assert float(tasks.loss_of_rebuilding(torch.from_numpy(outputs), given)) == pytest.approx(0.075)
    with pytest.raises(LatheError, match="an output of 5 for samples of 3 x 2"):
        tasks.loss_of_rebuilding(torch.zeros(4, 5), given)


def test_the_loss_of_embeddings_prefers_what_is_alike() -> None:
    labels = torch.tensor([0, 0, 1, 1, 2])
    apart = torch.eye(3)[labels] + 0.01
    assert float(tasks.loss_of_embeddings(apart, labels)) < 0.05
    assert float(tasks.loss_of_embeddings(apart, torch.tensor([0, 1, 0, 1, 2]))) > 3
    assert tasks.nearest_of_the_same(apart.numpy(), np.array([0, 0, 1, 1, 2])) == 0.8  # nothing is like the last


def written(folder: Path, count: int) -> Path:
    specification = importlib.util.spec_from_file_location("chips_samples", EXAMPLE / "samples.py")
    assert specification is not None
    assert specification.loader is not None
    module = importlib.util.module_from_spec(specification)
    specification.loader.exec_module(module)
    pictures, boxes = module.objects(count)
    np.savez_compressed(folder / "objects.npz", samples=pictures, boxes=boxes)
    return folder / "objects.npz"


def test_boxes_from_training_to_a_program(tmp_path: Path) -> None:
    """A few epochs find some; what is exported names the anchors."""
    file = written(tmp_path, 500)
    settings = training.FitSettings(8, 20, 0.004, 0, 1)
    policy = tmp_path / "policy.yaml"
    policy.write_text("start_epoch: 7\nweight_bits: 8\n")
    fitted = training.fit(
        MODEL, "objects", str(file), settings, tmp_path, policy=policy, resume=False, told=lambda _: None
    )
    assert fitted["measure"] == "mAP"
    assert fitted["best"]["accuracy"] > 0.15
    assert "mAP" in (tmp_path / "objects.html").read_text()
    best = Path(fitted["best"]["checkpoint"])
    found = training.evaluate(MODEL, "objects", str(file), best, bits=None, top=1, abi="k210")
    assert (found["layers_compared"], found["accuracy"]) == (5, fitted["best"]["accuracy"])
    files = training.export(MODEL, "objects", str(file), best, tmp_path / "out", bits=None, abi="k210")
    assert "kpu: {anchors: [1.4, 1.4, 2.1, 2.1]}" in files[0].read_text()
    built = convert(files[0], options=buildtool.Options(tmp_path / "build"))
    assert list((Path(built.folder) / "lib" / "k210").glob("*.kmodel"))


def test_embeddings_of_classes_that_training_did_not_see(tmp_path: Path) -> None:
    settings = training.FitSettings(6, 64, 0.004, 0, 1)
    fitted = training.fit(MODEL, "digits", "digits", settings, tmp_path, policy=None, resume=False, told=lambda _: None)
    assert fitted["measure"] == "nearest of the same class"
    assert fitted["best"]["accuracy"] > 0.88  # 0.82 before training
    found = training.evaluate(MODEL, "digits", "digits", Path(fitted["best"]["checkpoint"]), bits=8, top=1, abi="k210")
    held = data.read("digits").by_classes()
    assert sorted(set(held.test_labels)) == [7, 8, 9]
    assert sorted(set(held.labels)) == list(range(7))
    assert found["samples"] == len(held.test_labels)
    assert abs(found["accuracy"] - fitted["best"]["accuracy"]) < 0.03
    assert found["layers_compared"] == 3


def known(boxes: bool) -> Data:
    labels: Any = np.array([truth(0.1)] * 12, np.float32) if boxes else np.arange(12) % 4
    samples = np.zeros((12, 1, 8, 8), np.int64)
    return Data("some", samples, labels, samples, labels)


@pytest.mark.parametrize(
    ("entry", "boxes", "what"),
    [({"task": "faces"}, False, "there is no task 'faces'"),
     ({"task": "boxes", "anchors": [1, 1]}, False, "the task is 'boxes', and the samples have labels"),
     ({"task": "embeddings"}, True, "the task is 'embeddings', and the samples have boxes"),
     ({"task": "boxes"}, True, "`anchors` is [] for the task 'boxes'"),
     ({"anchors": [1, 1, 2]}, True, "`anchors` is [1, 1, 2] for the task 'boxes'"),
     ({"anchors": [1, -1]}, True, "`anchors` is [1, -1] for the task 'boxes'"),
     ({"task": "pixels"}, False, "the task is 'pixels', and the samples have labels"),
     ({"task": "rebuild"}, True, "the task is 'rebuild', and the samples have boxes"),
     ({"anchors": [1, 1]}, False, "`anchors` is [1, 1] for the task 'classes'")],
)  # fmt: skip
def test_entries_that_do_not_fit_are_answered(entry: dict[str, Any], boxes: bool, what: str) -> None:
    with pytest.raises(LatheError) as caught:
        tasks.of(entry, known(boxes), buildtool.errors.Where())
    assert caught.value.problems[0].what == what
    assert caught.value.problems[0].rule


def test_outputs_and_batches_that_do_not_fit_are_answered() -> None:
    with pytest.raises(LatheError, match="an output of 13 x 7 x 7 is none of 2 anchors"):
        tasks.loss_of_boxes(PAIR, torch.zeros(1, 13, 7, 7), torch.zeros(1, 1, 5))
    with pytest.raises(LatheError, match="a batch has no two samples of one class"):
        tasks.loss_of_embeddings(torch.zeros(2, 4), torch.tensor([0, 1]))
    with pytest.raises(LatheError, match="the samples have 2 classes"):
        Data("two", np.zeros((4, 1, 8, 8), np.int64), np.array([0, 1] * 2), np.zeros((4, 1, 8, 8), np.int64),
             np.array([0, 1] * 2)).by_classes()  # fmt: skip


def test_anchors_are_those_of_the_model_file() -> None:
    assert models.task(MODEL, "objects", known(boxes=True)).anchors == ((1.4, 1.4), (2.1, 2.1))


def test_a_search_sees_nothing_that_measures_in_the_end() -> None:
    samples = np.arange(400).reshape(400, 1, 1, 1)
    whole = data._split("some", samples, np.arange(400) // 40)  # noqa: SLF001: samples that are numbered
    for word in ("embeddings", "rebuild", "classes"):
        task = Task(word)
        final, seen = task.split(whole), task.split(task.for_search(whole))
        used = {*seen.samples.reshape(-1).tolist(), *seen.test_samples.reshape(-1).tolist()}
        assert not used & set(final.test_samples.reshape(-1).tolist()), word
    shown = Task("embeddings").for_search(whole)
    assert not {*shown.labels, *shown.test_labels} & set(Task("embeddings").split(whole).test_labels)
