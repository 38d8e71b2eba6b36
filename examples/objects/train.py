"""Trains a single-shot detector on synthetic scenes and writes weights.npz: `python train.py`, in NumPy, in minutes.

One cell of the output covers 8x8 pixels. It holds a logit for each class and the distances from the middle of the cell
to the four sides of the box, in units of 16 pixels. Every cell in the middle of an object learns its box.
"""

from __future__ import annotations

from pathlib import Path

import numpy as np
from scenes import CLASSES, SIZE, Array, scene

HERE = Path(__file__).resolve().parent
CELL, UNIT = 8, 16
GRID = SIZE // CELL
LAYERS = ((3, 16, 2), (16, 24, 2), (24, 32, 1), (32, 48, 2), (48, 48, 1), (48, 48, 1))  # inputs, outputs, stride; 3x3
OUTPUTS = len(CLASSES) + 4
STEPS, BATCH, RATE, SEED = 1500, 24, 2e-3, 7


def main() -> None:
    random = np.random.default_rng(SEED)
    weights = initial(random)
    means = {name: np.zeros_like(value) for name, value in weights.items()}
    squares = {name: np.zeros_like(value) for name, value in weights.items()}
    for step in range(1, STEPS + 1):
        scenes = [scene(random) for _ in range(BATCH)]
        output, kept = forward(weights, np.stack([image for image, _ in scenes]))
        loss, gradient = loss_of(output, [targets(boxes) for _, boxes in scenes])
        rate = RATE * 0.5 * (1 + np.cos(np.pi * step / STEPS)) * min(1, step / 50)
        for name, slope in backward(weights, kept, gradient).items():
            means[name] += 0.1 * (slope - means[name])
            squares[name] += 0.01 * (slope**2 - squares[name])
            mean, square = means[name] / (1 - 0.9**step), squares[name] / (1 - 0.99**step)
            weights[name] -= (rate * mean / (np.sqrt(square) + 1e-7)).astype(np.float32)
        if step % 100 == 0:
            print(f"step {step} of {STEPS}: loss {loss:.3f}", flush=True)
            np.savez(HERE / "weights.npz", **{name: value.astype(np.float16) for name, value in weights.items()})


def initial(random: np.random.Generator) -> dict[str, Array]:
    """Weights of each convolution as [rows * columns * inputs, outputs], and biases; the last one has one pixel."""
    weights = {}
    for number, (inputs, outputs, _) in enumerate(LAYERS):
        weights[f"conv{number}"] = random.normal(0, np.sqrt(2 / (9 * inputs)), (9 * inputs, outputs))
        weights[f"bias{number}"] = np.zeros(outputs)
    weights["head"] = random.normal(0, 0.02, (LAYERS[-1][1], OUTPUTS))
    weights["head_bias"] = np.array([-4.0] * len(CLASSES) + [0.6] * 4)
    return {name: value.astype(np.float32) for name, value in weights.items()}


def forward(weights: dict[str, Array], x: Array) -> tuple[Array, list[Array]]:
    """The outputs of a batch (n x GRID x GRID x OUTPUTS), and what the backward pass needs: inputs and patches."""
    kept = []
    for number, (_, outputs, stride) in enumerate(LAYERS):
        n, height, width, channels = x.shape
        padded = np.pad(x, ((0, 0), (1, 1), (1, 1), (0, 0)))
        parts = [padded[:, i : i + height : stride, j : j + width : stride] for i in range(3) for j in range(3)]
        patches = np.stack(parts, 3).reshape(-1, 9 * channels)
        x = patches @ weights[f"conv{number}"] + weights[f"bias{number}"]
        x = np.maximum(x, 0).reshape(n, height // stride, width // stride, outputs)
        kept += [patches, x]
    return x @ weights["head"] + weights["head_bias"], kept


def backward(weights: dict[str, Array], kept: list[Array], gradient: Array) -> dict[str, Array]:
    slopes = {}
    flat = gradient.reshape(-1, OUTPUTS)
    slopes["head"], slopes["head_bias"] = kept[-1].reshape(len(flat), -1).T @ flat, flat.sum(0)
    gradient = gradient @ weights["head"].T
    for number, (inputs, outputs, stride) in reversed(list(enumerate(LAYERS))):
        patches, result = kept[2 * number : 2 * number + 2]
        flat = (gradient * (result > 0)).reshape(-1, outputs)
        slopes[f"conv{number}"], slopes[f"bias{number}"] = patches.T @ flat, flat.sum(0)
        if number == 0:
            break
        n, height, width, _ = kept[2 * number - 1].shape
        parts = (flat @ weights[f"conv{number}"].T).reshape(n, height // stride, width // stride, 9, inputs)
        padded = np.zeros((n, height + 2, width + 2, inputs), np.float32)
        for part in range(9):
            i, j = divmod(part, 3)
            padded[:, i : i + height : stride, j : j + width : stride] += parts[..., part, :]
        gradient = padded[:, 1:-1, 1:-1]
    return slopes


def targets(boxes: Array) -> Array:
    """What a scene asks for: class (-1: none) and the four distances of each cell."""
    wanted = np.full((GRID, GRID, 5), -1, np.float32)
    middles = (np.arange(GRID) + 0.5) * CELL
    for left, top, right, bottom, label in sorted(boxes, key=lambda box: -(box[2] - box[0]) * (box[3] - box[1])):
        away_x = np.abs(middles - (left + right) / 2)[None] / (right - left)
        away_y = np.abs(middles - (top + bottom) / 2)[:, None] / (bottom - top)
        away = np.maximum(away_x, away_y)
        chosen = (away < 0.25) | (away == away.min())
        x, y = np.broadcast_to(middles, away.shape), np.broadcast_to(middles[:, None], away.shape)
        distances = np.stack([x - left, y - top, right - x, bottom - y], -1) / UNIT
        wanted[chosen] = np.concatenate([np.full((GRID, GRID, 1), label), distances], -1)[chosen]
    return wanted


def loss_of(output: Array, wanted: list[Array]) -> tuple[float, Array]:
    """Cross entropy of each class, and the absolute difference of the distances, both for each cell with an object."""
    want = np.stack(wanted)
    label, count = want[..., 0], len(CLASSES)
    found = label >= 0
    hot = np.eye(count, dtype=np.float32)[np.maximum(label, 0).astype(int)] * found[..., None]
    chances = 1 / (1 + np.exp(-output[..., :count].clip(-30, 30)))
    certain = np.where(hot > 0, chances, 1 - chances)
    scale = 1 / max(int(found.sum()), 1)
    difference = (output[..., count:] - want[..., 1:]) * found[..., None]
    loss = -np.log(certain + 1e-7).sum() * scale + np.abs(difference).sum() * scale
    gradient = np.concatenate([chances - hot, np.sign(difference)], -1)
    return float(loss), (gradient * scale).astype(np.float32)


if __name__ == "__main__":
    main()
