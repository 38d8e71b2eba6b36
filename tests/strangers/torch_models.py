"""Random PyTorch modules, written by both exporters to ONNX, with what PyTorch computes.

    python -m tests.strangers.torch_models FOLDER FIRST COUNT

Runs where PyTorch is installed; the folders that it writes are judged where Lathe is (stored.read_case).
"""

from __future__ import annotations

import json
import random
import sys
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import torch
from torch import nn

_BATCHES = (3, 1, 2)  # the largest first
_MOST_ELEMENTS = 20_000
_OPSETS = {"script": 17, "dynamo": 20}
Step = Callable[[Any], Any]


def _convolution(rng: random.Random, x: Any) -> Step | None:
    rank = x.dim() - 2
    if not 1 <= rank <= 3:
        return None
    channels = x.shape[1]
    groups = rng.choice([n for n in range(1, channels + 1) if channels % n == 0])
    kernel = rng.randint(1, min(3, *x.shape[2:]))
    words = {"stride": rng.randint(1, 2), "padding": rng.randint(0, kernel - 1), "groups": groups}
    width = groups * rng.randint(1, 3)
    if rng.random() < 0.25:
        return getattr(nn, f"ConvTranspose{rank}d")(channels, width, kernel, **words)
    modes = ["zeros", "zeros", "zeros", "replicate", *(["reflect"] if min(x.shape[2:]) > 2 else [])]
    return getattr(nn, f"Conv{rank}d")(channels, width, kernel, padding_mode=rng.choice(modes), **words)


def _pool(rng: random.Random, x: Any) -> Step | None:
    rank = x.dim() - 2
    if not 1 <= rank <= 3:
        return None
    if rng.random() < 0.25:
        return getattr(nn, f"Adaptive{rng.choice(['Avg', 'Max'])}Pool{rank}d")(1)
    size = rng.randint(1, min(3, *x.shape[2:]))
    words = {"stride": rng.randint(1, 2), "padding": rng.randint(0, size // 2), "ceil_mode": rng.random() < 0.4}
    if rng.random() < 0.5:
        return getattr(nn, f"MaxPool{rank}d")(size, **words)
    return getattr(nn, f"AvgPool{rank}d")(size, count_include_pad=rng.random() < 0.5, **words)


def _normal(rng: random.Random, x: Any) -> Step | None:
    if rng.random() < 0.4:
        return nn.LayerNorm(x.shape[-1])
    if not 3 <= x.dim() <= 5:
        return None
    channels = x.shape[1]
    kind = rng.choice(["batch", "group", "instance"])
    if kind == "batch":
        return getattr(nn, f"BatchNorm{x.dim() - 2}d")(channels)
    if kind == "group":
        return nn.GroupNorm(rng.choice([n for n in range(1, channels + 1) if channels % n == 0]), channels)
    many = np.prod(x.shape[2:]) > 1
    return getattr(nn, f"InstanceNorm{x.dim() - 2}d")(channels, affine=rng.random() < 0.5) if many else None


def _unit(rng: random.Random, x: Any) -> Step:
    units = [nn.ReLU(), nn.SiLU(), nn.GELU(), nn.GELU("tanh"), nn.Hardswish(), nn.Mish(), nn.ELU(0.5), nn.Softplus(3.0)]
    units += [nn.LeakyReLU(0.2), nn.PReLU(), nn.Hardtanh(-0.5, 0.7), nn.ReLU6(), nn.Hardsigmoid(), nn.CELU(0.7)]
    units += [nn.Softmax(-1), nn.LogSoftmax(1), nn.Tanhshrink(), nn.Hardshrink(0.3), nn.Softsign(), nn.LogSigmoid()]
    return rng.choice(units)


def _recurrent(rng: random.Random, x: Any) -> Step | None:
    if x.dim() != 3 or x.shape[1] > 12:
        return None
    made = rng.choice([nn.LSTM, nn.GRU, nn.RNN])
    words = {"batch_first": True, "bidirectional": rng.random() < 0.4, "num_layers": rng.randint(1, 2)}
    layer = made(x.shape[2], rng.randint(1, 5), **words)
    return _First(layer)


class _First(nn.Module):
    def __init__(self, inner: nn.Module) -> None:
        super().__init__()
        self.inner = inner

    def forward(self, x: Any) -> Any:
        return self.inner(x)[0]


class _SelfAttention(nn.Module):
    def __init__(self, width: int, heads: int) -> None:
        super().__init__()
        self.inner = nn.MultiheadAttention(width, heads, batch_first=True)

    def forward(self, x: Any) -> Any:
        return self.inner(x, x, x, need_weights=False)[0]


def _attention(rng: random.Random, x: Any) -> Step | None:
    if x.dim() != 3:
        return None
    width = x.shape[2]
    return _SelfAttention(width, rng.choice([n for n in range(1, width + 1) if width % n == 0]))


def _linear(rng: random.Random, x: Any) -> Step:
    return nn.Linear(x.shape[-1], rng.randint(1, 8), bias=rng.random() < 0.8)


def _moves(rng: random.Random, x: Any) -> Step | None:
    axis = rng.randrange(1, x.dim())
    size = x.shape[axis]
    kinds: list[Step | None] = [
        lambda x: x.flip(axis),
        lambda x: x.flatten(1),
        lambda x: x.transpose(axis, -1),
        lambda x: torch.roll(x, 1, axis),
        lambda x: x.mean(axis, keepdim=True) + x,
        lambda x: torch.cumsum(x, axis),
        lambda x: x.narrow(axis, size // 2, size - size // 2),
        lambda x: torch.cat([x.index_select(axis, torch.arange(0, size, 2)), x.flip(axis)], axis),
        lambda x: torch.stack([x, -x], axis).flatten(axis, axis + 1),
        lambda x: x.amax(axis),
        lambda x: x.std(axis, keepdim=True) if size > 1 else x,
        lambda x: torch.where(x > 0.1, x, x * 0.3),
        lambda x: x.repeat_interleave(2, axis),
        lambda x: x.unsqueeze(axis).expand(*x.shape[:axis], 2, *x.shape[axis:]).flatten(axis, axis + 1),
        lambda x: x.reshape(x.shape[0], -1),
        lambda x: x.tril() if x.dim() > 2 else x.clamp(min=-0.4),
        lambda x: torch.chunk(x, 2, axis)[-1] if size > 1 else x,
        lambda x: nn.functional.normalize(x, dim=axis),
        lambda x: nn.functional.pad(x, (1, 2), value=0.5),
        lambda x: x[..., ::2] if x.shape[-1] > 1 else x,
    ]
    return rng.choice(kinds)


def _grown(rng: random.Random, x: Any) -> Step | None:
    if x.dim() != 4:
        return None
    mode = rng.choice(["nearest", "bilinear", "bicubic"])
    corners = None if mode == "nearest" else rng.random() < 0.5
    factor = rng.choice([2, 2, 3])
    kinds: list[Step] = [nn.Upsample(scale_factor=factor, mode=mode, align_corners=corners)]
    if x.shape[1] % 4 == 0:
        kinds.append(nn.PixelShuffle(2))
    if x.shape[2] % 2 == 0 and x.shape[3] % 2 == 0:
        kinds.append(nn.PixelUnshuffle(2))
    return rng.choice(kinds)


_DRAWN = [_convolution] * 4 + [_pool, _pool, _normal, _normal, _unit, _unit, _linear, _recurrent, _attention]
_GROWERS: list[Callable[[random.Random, Any], Step | None]] = [*_DRAWN, _moves, _moves, _moves, _grown]


class Drawn(nn.Module):
    """A chain of steps, some of which meet an earlier value of the same shape again."""

    def __init__(self, seed: int) -> None:
        super().__init__()
        rng = random.Random(seed)
        rank = rng.choice([2, 3, 3, 4, 4, 4, 5])
        self.shape = (rng.randint(1, 6), *(rng.randint(3, 9 if rank < 5 else 5) for _ in range(rank - 2)))
        self.held = nn.ModuleList()
        self.steps: list[tuple[Step, int | None]] = []
        values = [torch.zeros(2, *self.shape)]
        wanted = rng.randint(2, 8)
        for _ in range(60):
            if len(self.steps) == wanted:
                break
            step = rng.choice(_GROWERS)(rng, values[-1])
            if step is None:
                continue
            if isinstance(step, nn.Module):
                step = step.eval()
            with torch.no_grad():
                made = step(values[-1])
            if not 0 < made.numel() <= _MOST_ELEMENTS or made.dim() > 5 or made.dim() < 2:
                continue
            alike = [index for index, value in enumerate(values) if value.shape == made.shape]
            self.steps.append((step, rng.choice(alike) if alike and rng.random() < 0.5 else None))
            values.append(made)
            if isinstance(step, nn.Module):
                self.held.append(step)

    def forward(self, x: Any) -> Any:
        values = [x]
        for step, other in self.steps:
            made = step(values[-1])
            values.append(made if other is None else made + values[other])
        return values[-1]


def write(seed: int, folder: Path) -> None:
    """One folder for each exporter; the batch is a run-time size."""
    torch.manual_seed(seed)
    module = Drawn(seed).eval()
    for name, buffer in module.named_buffers():
        if "running" in name:
            buffer.uniform_(0.5, 1.5)
    feeds = [torch.rand(batch, *module.shape) * 4 - 2 for batch in _BATCHES]
    with torch.no_grad():
        results = [module(x) for x in feeds]
    arrays = {f"{run}_in_0": x.numpy() for run, x in enumerate(feeds)}
    arrays |= {f"{run}_out_0": y.numpy() for run, y in enumerate(results)}
    for form, opset in _OPSETS.items():
        place = folder / f"{seed}-{form}"
        place.mkdir(parents=True, exist_ok=True)
        file = place / "model.onnx"
        try:
            if form == "script":
                words: dict[str, Any] = {"dynamo": False, "dynamic_axes": {"x": {0: "batch"}}}
            else:
                size = torch.export.Dim("batch", min=1, max=max(_BATCHES))
                words = {"dynamo": True, "dynamic_shapes": ({0: size},), "verbose": False, "external_data": False}
            torch.onnx.export(module, (feeds[0],), file, opset_version=opset, input_names=["x"], **words)
        except Exception as problem:  # an exporter that cannot write this module
            (place / "skipped.txt").write_text(f"{type(problem).__name__}: {problem}"[:500], encoding="utf-8")
            continue
        np.savez(place / "runs.npz", **arrays)
        inputs = [{"name": "x", "shape": [[min(_BATCHES), max(_BATCHES)], *module.shape]}]
        about = {"platform": "onnx", "file": file.name, "inputs": inputs, "outputs": 1, "runs": 3, "rtol": 5e-4}
        (place / "case.json").write_text(json.dumps(about), encoding="utf-8")


def main() -> None:
    warnings.simplefilter("ignore")
    folder, first, count = Path(sys.argv[1]), int(sys.argv[2]), int(sys.argv[3])
    torch.set_num_threads(1)
    for seed in range(first, first + count):
        try:
            write(seed, folder)
        except Exception as problem:  # the drawing asks for what PyTorch refuses
            print(f"{seed}: {type(problem).__name__}: {str(problem)[:200]}", flush=True)


if __name__ == "__main__":
    main()
