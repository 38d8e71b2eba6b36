"""Measures single layers of many sizes in qemu and fits costs.json: `python -m tests.bench.micro.costs`."""

from __future__ import annotations

import json
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np

from buildtool.targets.micro import costs
from buildtool.targets.micro import network as nets
from buildtool.targets.micro.network import Layer, Network, Tensor, Window
from buildtool.targets.micro.processors import PROCESSORS
from tests.bench.micro import lathe

MACHINES = {"dsp": "cortex-m4", "mve": "cortex-m55", "portable": "cortex-m3"}
_IMAGES = (
    (6, 9, 8, 16, 1),
    (3, 20, 24, 24, 1),
    (12, 12, 3, 12, 2),
    (1, 24, 32, 32, 1),
    (4, 48, 16, 8, 2),
    (8, 8, 48, 64, 1),
)
_KERNELS = ((1, 1), (3, 3), (1, 1), (5, 4), (3, 3), (2, 2))


def drawn() -> Iterator[Layer]:
    """Layers of all kinds that can be computed in bands, and products."""
    random = np.random.default_rng(5)

    def tensor(name: str, *shape: int) -> Tensor:
        return Tensor(name, shape, 0.05, int(random.integers(-20, 20)))

    def products(made: int, *filters: int) -> dict[str, Any]:
        return {
            "weights": random.integers(-127, 128, (made, *filters)).astype(np.int8),
            "bias": random.integers(-3000, 3000, made).astype(np.int32),
            "multipliers": tuple(int(m) for m in random.integers(1 << 30, (1 << 31) - 1, made)),
            "shifts": tuple(int(s) for s in random.integers(-10, -7, made)),
        }

    for number, (rows, columns, deep, made, step) in enumerate(_IMAGES):
        x = tensor("x", 1, rows * step, columns * step, deep)
        y, same = tensor("y", 1, rows, columns, made), tensor("y", 1, rows, columns, deep)
        near, other = tensor("a", 1, rows, columns, deep), tensor("b", 1, rows, columns, deep)
        about: dict[str, Any] = {"name": "layer", "inputs": (x,)}
        for kernel in (_KERNELS[number], _KERNELS[number - 1]):
            window = Window(kernel, (step, step), (kernel[0] // 2, kernel[1] // 2))
            yield nets.Conv(window=window, output=y, **about, **products(made, *kernel, deep))
        for kernel in ((3, 3), _KERNELS[number] if _KERNELS[number][1] % 2 == 0 else (3, 1 + number // 2)):
            window = Window(kernel, (step, step), (kernel[0] // 2, kernel[1] // 2))
            for channels in (deep, 8 if deep != 8 else 5):
                source, made_by = tensor("x", *x.shape[:3], channels), tensor("y", *same.shape[:3], channels)
                filters = products(channels, *kernel, 1)
                yield nets.Depthwise(name="layer", window=window, inputs=(source,), output=made_by, **filters)
        window = Window((2 + number % 2, 2), (step, step), (0, 0))
        yield nets.MaxPool(window=window, output=same, **about)
        yield nets.AveragePool(window=window, output=same, **about)
        pair: dict[str, Any] = {"name": "layer", "inputs": (near, other), "output": same}
        yield nets.Add(multipliers=(1 << 30, 1518500250, 1717986918), shifts=(0, -1, -18), **pair)
        yield nets.Mul(multiplier=1 << 30, shift=-7, **pair)
        table = np.arange(-128, 128).astype(np.int8)
        yield nets.Table(name="layer", inputs=(near,), output=same, table=table)
        wide = tensor("y", 1, rows, columns, 2 * deep)
        yield nets.Concat(name="layer", inputs=(near, other), output=wide, rows=rows * columns, runs=(deep, deep))
        bordered = tensor("y", 1, rows + 2, columns + 2, deep)
        yield nets.Pad(name="layer", inputs=(near,), output=bordered, before=(1, 1), value=0)
        flat = tensor("x", 1, 1, 1, rows * columns * deep)
        yield nets.Dense(
            name="layer", inputs=(flat,), output=tensor("y", 1, made), rows=1, **products(made, flat.elements)
        )


def _fitted(rows: list[tuple[tuple[float, ...], int]]) -> list[float]:
    """Factors that are not negative, so that relative errors are small: without those that came out below zero."""
    a, b = np.array([row for row, _ in rows], np.float64), np.array([count for _, count in rows], np.float64)
    a, b = a / b[:, None], np.ones_like(b)
    used = list(range(a.shape[1]))
    while True:
        found = np.linalg.lstsq(a[:, used], b, rcond=None)[0]
        if found.min() >= 0:
            break
        used.pop(int(found.argmin()))
    factors = np.zeros(a.shape[1])
    factors[used] = found[:]
    print("  largest error", f"{np.abs(a @ factors - 1).max():.3f}")
    return [float(f"{factor:.4g}") for factor in factors]


def main() -> int:
    found: dict[str, dict[str, list[float]]] = {}
    for kernel_set, machine in MACHINES.items():
        measured: dict[str, list[tuple[tuple[float, ...], int]]] = {}
        with tempfile.TemporaryDirectory(prefix="costs-") as place:
            for layer in drawn():
                network = Network("layer", layer.inputs, (layer.output,), (layer,))
                inputs = lathe.inputs_of(network)
                data = b"".join(each.tobytes() for each in inputs.values())
                ran = lathe.run(network, PROCESSORS[machine], Path(place), data)
                assert ran.output == lathe.expected(network, inputs)
                kind = costs.kind(layer, kernel_set)
                measured.setdefault(kind, []).append((costs.features(layer), ran.instructions))
        found[kernel_set] = {}
        for kind, rows in sorted(measured.items()):
            print(kernel_set, kind, len(rows), end="")
            found[kernel_set][kind] = _fitted(rows)
        found[kernel_set]["keep"] = found[kernel_set]["pad"]
    lines = [
        f' "{kernel_set}": {{\n' + ",\n".join(f'  "{kind}": {json.dumps(row)}' for kind, row in kinds.items()) + "\n }"
        for kernel_set, kinds in found.items()
    ]
    Path(costs.__file__).with_name("costs.json").write_text("{\n" + ",\n".join(lines) + "\n}\n")
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
