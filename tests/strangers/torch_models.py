"""Random PyTorch modules, written by both exporters to ONNX and by torch.export, with what PyTorch computes.

Runs where PyTorch is installed (drawers.py starts it); the folders that it writes are judged where Lathe is
(stored.read_case). A program of torch.export becomes ONNX here, by the script with which Lathe imports it: a process
for each would import PyTorch each time.
"""

from __future__ import annotations

import json
import random
import runpy
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import torch
from torch import nn

from tests.strangers.recipes import Recipe, Written, serve

_BATCHES = (3, 1, 2)  # the largest first
_MOST_ELEMENTS = 20_000
_OPSETS = {"script": 17, "dynamo": 20}
_RTOL = 5e-4
_NOISE = 1e-5  # of inputs; where outputs change much more, rounding decides
_IMPORT = Path(__file__).resolve().parents[2] / "buildtool" / "importers" / "pytorch" / "torch_process.py"
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


class _Move(nn.Module):
    """A function, with what it is called in a list of the module's steps."""

    def __init__(self, function: Step, words: str) -> None:
        super().__init__()
        self.function = function
        self.words = words

    def forward(self, x: Any) -> Any:
        return self.function(x)

    def extra_repr(self) -> str:
        return self.words


def _moves(rng: random.Random, x: Any) -> Step:
    axis = rng.randrange(1, x.dim())
    size = x.shape[axis]
    kinds: list[Step] = [
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
    number = rng.randrange(len(kinds))
    return _Move(kinds[number], f"kind {number}, axis {axis}")


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

    def __init__(self, recipe: Recipe) -> None:
        super().__init__()
        rng = recipe.rng("model")
        rank = rng.choice([2, 3, 3, 4, 4, 4, 5])
        drawn = (rng.randint(1, 6), *(rng.randint(3, 9 if rank < 5 else 5) for _ in range(rank - 2)))
        self.shape = tuple(recipe.shape[1:]) or drawn
        self.steps = nn.ModuleList()
        self.meets: list[int | None] = []
        self.shapes: list[tuple[int, ...]] = []
        values = [torch.zeros(_BATCHES[0], *self.shape)]
        for number in range(rng.randint(3, 11)):
            if number not in recipe.dropped:
                torch.manual_seed(recipe.seed * 100 + number)
                self._add(recipe.rng(number), values)
            self.shapes.append(tuple(values[-1].shape))

    def _add(self, rng: random.Random, values: list[Any]) -> None:
        step = rng.choice(_GROWERS)(rng, values[-1])
        if step is None:
            return
        assert isinstance(step, nn.Module)
        step = step.eval()
        with torch.no_grad():
            made = step(values[-1])
        if not 0 < made.numel() <= _MOST_ELEMENTS or made.dim() > 5 or made.dim() < 2 or made.shape[0] != _BATCHES[0]:
            return
        alike = [index for index, value in enumerate(values) if value.shape == made.shape]
        self.steps.append(step)
        self.meets.append(rng.choice(alike) if alike and rng.random() < 0.5 else None)
        values.append(made)

    def forward(self, x: Any) -> Any:
        values = [x]
        for step, other in zip(self.steps, self.meets, strict=True):
            made = step(values[-1])
            values.append(made if other is None else made + values[other])
        return values[-1]


def write(recipe: Recipe, folder: Path, forms: list[str]) -> Written:
    """One folder for each form; the batch is a run-time size."""
    module = Drawn(recipe).eval()
    torch.manual_seed(recipe.seed)
    for name, buffer in module.named_buffers():
        if "running" in name:
            buffer.uniform_(0.5, 1.5)
    feeds = [torch.rand(batch, *module.shape) * 4 - 2 for batch in _BATCHES]
    with torch.no_grad():
        results = [module(x) for x in feeds]
        # Each number by another factor: norms divide by one that all have in common.
        shaken = [module(x * (1 + _NOISE * torch.rand_like(x))) for x in feeds]
    arrays = {f"{run}_in_0": x.numpy() for run, x in enumerate(feeds)}
    arrays |= {f"{run}_out_0": y.numpy() for run, y in enumerate(results)}
    pairs = zip(results, shaken, strict=True)
    stable = [float((y - z).abs().max()) <= _RTOL * float(y.abs().max()) + 2e-5 for y, z in pairs]
    inputs = [{"name": "x", "shape": [[min(_BATCHES), max(_BATCHES)], *module.shape]}]
    for form in forms:
        place = folder / form
        place.mkdir(parents=True, exist_ok=True)
        try:
            about = _save(module, form, place, feeds[0])
        except Exception as problem:  # an exporter that cannot write this module
            (place / "skipped.txt").write_text(f"{type(problem).__name__}: {problem}"[:500], encoding="utf-8")
            continue
        np.savez(place / "runs.npz", **arrays)
        about |= {"platform": "onnx", "file": "model.onnx", "inputs": inputs, "outputs": 1, "runs": len(_BATCHES)}
        about |= {"rtol": _RTOL, "stable": stable}
        (place / "case.json").write_text(json.dumps(about), encoding="utf-8")
    return Written(tuple(feeds[0].shape), tuple(module.shapes), f"{module}\nsums with: {module.meets}")


def _save(module: nn.Module, form: str, folder: Path, x: Any) -> dict[str, Any]:
    """Writes a module; what its case says of the form."""
    file = folder / "model.onnx"
    words: dict[str, Any] = {"input_names": ["x"], "opset_version": _OPSETS.get(form)}
    if form == "script":
        torch.onnx.export(module, (x,), file, dynamo=False, dynamic_axes={"x": {0: "batch"}}, **words)
        return {}
    sizes = ({0: torch.export.Dim("batch", min=1, max=max(_BATCHES))},)
    if form == "dynamo":
        words |= {"verbose": False, "external_data": False}
        torch.onnx.export(module, (x,), file, dynamo=True, dynamic_shapes=sizes, **words)
        return {}
    program = folder / "model.pt2"
    torch.export.save(torch.export.export(module, (x,), dynamic_shapes=sizes), program)
    runpy.run_path(str(_IMPORT))["_from_program"]({"file": str(program), "target": str(file)})
    return {"program": program.name}


def main() -> None:
    warnings.simplefilter("ignore")
    torch.set_num_threads(1)
    serve(write)


if __name__ == "__main__":
    main()
