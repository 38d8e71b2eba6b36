"""What becomes of a model's outputs: every function against its definition in NumPy."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from functools import cache
from pathlib import Path

import numpy as np
import pytest

from tests.native_builds import QEMU
from tests.vision import cases as c
from tests.vision.definitions import RGBA, Array

BOX = np.dtype([("box", "<f4", 4), ("score", "<f4"), ("label", "<i4"), ("source", "<i4")])
# Of drawn cases, of each function: the first ones, and all.
COUNTS = (20, pytest.param(200, marks=pytest.mark.sweep))


def close(made: Array, wanted: Array) -> None:
    assert np.shape(made) == np.shape(wanted), (made, wanted)
    assert np.allclose(made, wanted, rtol=1e-4, atol=1e-4), (made, wanted)


def judge_boxes(answer: c.Answer, boxes: Array, scores: Array, labels: Array, sources: Sequence[int] | Array) -> None:
    made = np.frombuffer(answer.buffers[0], BOX)
    assert answer.code == 0
    assert made["source"].tolist() == list(sources)
    assert made["label"].tolist() == list(labels)
    close(made["box"], np.asarray(boxes, float).reshape(-1, 4))
    close(made["score"], np.asarray(scores, float))


def softmax(random: np.random.Generator) -> c.Case:
    x = random.normal(0, 5, random.integers(1, 300)).astype(np.float32)
    power = np.exp(x.astype(float) - x.max())
    wanted = power / power.sum()
    return c.Case("softmax", [], [], [x.tobytes()], lambda a: close(np.frombuffer(a.buffers[0], np.float32), wanted))


def top_k(random: np.random.Generator) -> c.Case:
    x = random.integers(0, 50, random.integers(1, 200)).astype(np.float32)  # with equal ones
    k = int(random.integers(0, 20))
    wanted = np.argsort(-x, kind="stable")[:k].tolist()

    def judge(answer: c.Answer) -> None:
        assert np.frombuffer(answer.buffers[0], np.int32).tolist() == wanted

    return c.Case("top_k", [k], [], [x.tobytes()], judge)


def overlap(a: Array, b: Array) -> float:
    shared = np.maximum(np.minimum(a[2:], b[2:]) - np.maximum(a[:2], b[:2]), 0).prod()
    return float(shared / ((a[2:] - a[:2]).prod() + (b[2:] - b[:2]).prod() - shared)) if shared else 0.0


def nms(random: np.random.Generator) -> c.Case:
    count, any_label = int(random.integers(0, 60)), int(random.integers(2))
    boxes = np.zeros(count, BOX)
    corner = random.uniform(0, 50, (count, 2))
    boxes["box"] = np.concatenate([corner, corner + random.uniform(1, 40, (count, 2))], 1)
    boxes["score"], boxes["label"] = random.uniform(size=count), random.integers(0, 3, count)
    boxes["source"] = np.arange(count)
    kept: list[int] = []
    for i in np.argsort(-boxes["score"], kind="stable"):
        others = [k for k in kept if any_label or boxes["label"][k] == boxes["label"][i]]
        if all(overlap(boxes["box"][k].astype(float), boxes["box"][i].astype(float)) <= 0.45 for k in others):
            kept.append(int(i))
    best = boxes[kept]
    return c.Case(
        "nms",
        [any_label],
        [0.45],
        [boxes.tobytes()],
        lambda a: judge_boxes(a, best["box"], best["score"], best["label"], best["source"]),
    )


def sigmoid(x: Array) -> Array:
    return 1 / (1 + np.exp(-x))


def corners(centre: Array, size: Array) -> Array:
    return np.concatenate([centre - size / 2, centre + size / 2], -1)


def yolo(random: np.random.Generator) -> c.Case:
    objectness, transposed, logits, grids = (int(x) for x in random.integers(0, 2, 4))
    strides, width, height = [8, 16, 32], 96, 64
    cells = [(x, y, s) for s in strides for y in range(height // s) for x in range(width // s)]
    count = len(cells) if grids else int(random.integers(1, 80))
    classes, room, least = int(random.integers(1, 6)), int(random.integers(1, 40)), 0.3
    x = random.uniform(-2 if logits else 0, 1, (count, 4 + objectness + classes)).astype(np.float32)
    scores = x[:, 4 + objectness :].astype(float)
    labels = scores.argmax(1)
    scale = sigmoid if logits else np.asarray
    best = scale(scores.max(1)) * (scale(x[:, 4].astype(float)) if objectness else 1)
    centre, size = x[:, :2].astype(float), x[:, 2:4].astype(float)
    if grids:
        at = np.array(cells, float)
        centre, size = (centre + at[:, :2]) * at[:, 2:], np.exp(size) * at[:, 2:]
    kept = [i for i in np.argsort(-best, kind="stable") if best[i] >= least][:room]
    boxes = corners(centre, size)[kept]
    ints = [room, count, classes, objectness, transposed, logits, grids, width, height, 3, *strides, 0, 0, 0, 0, 0]
    stored = np.ascontiguousarray(x.T if transposed else x)
    return c.Case(
        "yolo", ints, [least], [stored.tobytes()], lambda a: judge_boxes(a, boxes, best[kept], labels[kept], kept)
    )


def ssd(random: np.random.Generator) -> c.Case:
    count, classes, room, least = int(random.integers(1, 80)), int(random.integers(2, 6)), 20, 0.4
    background, logits, y_first = (
        int(random.choice([-1, 0, classes - 1])),
        int(random.integers(3)),
        int(random.integers(2)),
    )
    offsets = random.normal(0, 1, (count, 4)).astype(np.float32)
    scores = random.normal(0.3, 1, (count, classes)).astype(np.float32)
    anchors = random.uniform(0.1, 0.9, (count, 4)).astype(np.float32)
    variances = (0.1, 0.1, 0.2, 0.2)
    exact = scores.astype(float)
    soft = np.exp(exact) / np.exp(exact).sum(1, keepdims=True)
    probability = (exact, sigmoid(exact), soft)[logits]
    if background >= 0:
        probability = probability.copy()
        probability[:, background] = -np.inf
    labels, best = probability.argmax(1), probability.max(1)
    moved = offsets.astype(float)[:, [1, 0, 3, 2]] if y_first else offsets.astype(float)
    centre = anchors[:, :2] + moved[:, :2] * variances[:2] * anchors[:, 2:]
    boxes = corners(centre, anchors[:, 2:] * np.exp(moved[:, 2:] * variances[2:]))
    kept = [i for i in np.argsort(-best, kind="stable") if best[i] >= least][:room]
    buffers = [offsets.tobytes(), scores.tobytes(), anchors.tobytes()]
    return c.Case(
        "ssd",
        [room, count, classes, background, logits, y_first],
        [*variances, least],
        buffers,
        lambda a: judge_boxes(a, boxes[kept], best[kept], labels[kept], kept),
    )


def keypoints(random: np.random.Generator) -> c.Case:
    width, height, channels, planes = (int(x) for x in random.integers([1, 1, 1, 0], [20, 20, 20, 2]))
    maps = random.uniform(size=(channels, height, width)).astype(np.float32)
    wanted = []
    for heat in maps:
        y, x = np.unravel_index(heat.argmax(), heat.shape)
        shift_x = np.sign(heat[y, x + 1] - heat[y, x - 1]) * 0.25 if 0 < x < width - 1 else 0
        shift_y = np.sign(heat[y + 1, x] - heat[y - 1, x]) * 0.25 if 0 < y < height - 1 else 0
        wanted.append([x + shift_x, y + shift_y, heat[y, x]])
    stored = maps if planes else np.ascontiguousarray(maps.transpose(1, 2, 0))
    return c.Case(
        "keypoints",
        [width, height, channels, planes],
        [],
        [stored.tobytes()],
        lambda a: close(np.frombuffer(a.buffers[0], np.float32).reshape(-1, 3), np.array(wanted)),
    )


def probabilities(random: np.random.Generator, classes: int) -> Array:
    x = random.normal(0, 2, (random.integers(1, 25), classes))
    return (np.exp(x) / np.exp(x).sum(1, keepdims=True)).astype(np.float32)


def judge_text(answer: c.Answer, labels: list[int], score: float) -> None:
    assert answer.code == 0
    assert np.frombuffer(answer.buffers[0], np.int32).tolist() == labels
    close(np.frombuffer(answer.buffers[1], np.float32)[0], np.float64(score))


def ctc_greedy(random: np.random.Generator) -> c.Case:
    classes = int(random.integers(2, 9))
    scores, blank = probabilities(random, classes), int(random.integers(classes))
    best = scores.argmax(1)
    kept = [i for i, label in enumerate(best) if label != blank and (i == 0 or best[i - 1] != label)]
    score = float(np.mean([scores[i].max() for i in kept])) if kept else 0.0
    ints = [len(scores), classes, blank, 64]
    return c.Case("ctc_greedy", ints, [], [scores.tobytes()], lambda a: judge_text(a, best[kept].tolist(), score))


def beam_search(scores: Array, blank: int, beams: int) -> tuple[tuple[int, ...], float]:
    """Prefixes with the probabilities that they ended with a blank, and with their last label."""
    kept: dict[tuple[int, ...], tuple[float, float]] = {(): (1.0, 0.0)}
    for row in scores.astype(float):
        made: dict[tuple[int, ...], list[float]] = defaultdict(lambda: [0.0, 0.0])
        for prefix, (with_blank, with_label) in kept.items():
            made[prefix][0] += (with_blank + with_label) * row[blank]
            if prefix:
                made[prefix][1] += with_label * row[prefix[-1]]
            for label, probability in enumerate(row):
                if label != blank:
                    before = with_blank if prefix and prefix[-1] == label else with_blank + with_label
                    longer = (*prefix, label)
                    made[longer][1] += before * probability
        best = sorted(made.items(), key=lambda item: -sum(item[1]))[:beams]
        kept = {prefix: (pair[0], pair[1]) for prefix, pair in best}
    prefix, pair = max(kept.items(), key=lambda item: sum(item[1]))
    return prefix, float(np.log(sum(pair)))


def ctc_beam(random: np.random.Generator) -> c.Case:
    classes, beams = int(random.integers(2, 9)), int(random.integers(1, 33))
    scores, blank = probabilities(random, classes), int(random.integers(classes))
    prefix, score = beam_search(scores, blank, beams)
    ints = [len(scores), classes, blank, 64, beams]
    return c.Case("ctc_beam", ints, [], [scores.tobytes()], lambda a: judge_text(a, list(prefix), score))


def mask_to_alpha(random: np.random.Generator) -> c.Case:
    width, height = (int(x) for x in random.integers(1, 30, 2))
    image = c.Drawn.of(random, RGBA, c.side(random), c.side(random))
    mask = random.uniform(size=(height, width)).astype(np.float32)

    def taps(size: int, to: int) -> tuple[Array, Array, Array]:
        at = np.clip((np.arange(to) + 0.5) * size / to - 0.5, 0, size - 1)
        first = at.astype(int)
        return first, np.minimum(first + 1, size - 1), at - first

    x0, x1, wx = taps(width, image.width)
    y0, y1, wy = taps(height, image.height)
    across = mask[:, x0] * (1 - wx) + mask[:, x1] * wx
    value = across[y0] * (1 - wy[:, None]) + across[y1] * wy[:, None]
    wanted = image.planes()[0].astype(float)
    wanted[..., 3] = np.clip((value - 0.2) / 0.6 * 255, 0, 255)
    buffers = [mask.tobytes(), image.memory.tobytes()]
    ints = [width, height, *image.ints()]
    return c.Case("mask_to_alpha", ints, [0.2, 0.8], buffers, lambda a: image.judge(a, [wanted], 0.51))


KINDS = (softmax, top_k, nms, yolo, ssd, keypoints, ctc_greedy, ctc_beam, mask_to_alpha)


@cache
def drawn(count: int) -> list[c.Case]:
    return [kind(np.random.default_rng(seed)) for kind in KINDS for seed in range(count)]


def judge(abi: str, variant: str, folder: Path, count: int) -> None:
    program = c.built("vision_cases", abi, variant)
    calls = drawn(count)
    for case, answer in zip(calls, c.run(program, QEMU.get(abi, []), calls, folder), strict=True):
        case.judge(answer)


@pytest.mark.slow
@pytest.mark.parametrize("count", COUNTS)
def test_on_this_machine(count: int, tmp_path: Path) -> None:
    judge("host", "", tmp_path, count)


@pytest.mark.slow
@pytest.mark.parametrize("count", COUNTS)
def test_under_sanitizers(count: int, tmp_path: Path) -> None:
    judge("host", "asan", tmp_path, count)


@pytest.mark.slow
@pytest.mark.arm
@pytest.mark.parametrize("count", COUNTS)
@pytest.mark.parametrize("abi", sorted(QEMU))
def test_in_an_emulator(abi: str, count: int, tmp_path: Path) -> None:
    judge(abi, "", tmp_path, count)
