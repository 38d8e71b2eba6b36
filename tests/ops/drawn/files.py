"""Writes case files for drawn cases."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import replace
from itertools import count
from pathlib import Path

import numpy as np

from buildtool.ir.operator import Array
from buildtool.plan.manifest import Manifests
from tests.ops.case import OpCase
from tests.ops.native_cases import NativeCase, Written, variants, write_cases


def write_drawn(folder: Path, cases: Iterable[OpCase], manifests: Manifests) -> Written:
    """One model per case, a third of them with a symbol, for every kernel and packing that fits it."""
    numbers = count()

    def natives(case: OpCase) -> Iterator[NativeCase]:
        number = next(numbers)
        # Whether there are constants is drawn. Weights that are none might get a symbol too, which kernels refuse.
        models = [model for model in variants(case) if not model.name.endswith("_variable")]
        symbolic = number % 3 == 0 and (case.constants or len(case.inputs) == 1)
        model = models[number // 3 % len(models) if symbolic else 0]
        yield replace(model, expected=exact(case), summed=_before_activation(case))

    return write_cases(folder, cases, manifests, natives)


def exact(case: OpCase) -> tuple[Array, ...]:
    """The results computed in double precision, each rounded once."""
    wide = [array.astype(np.float64) if array.dtype in (np.float16, np.float32) else array for array in case.inputs]
    types = case.op.infer(case.types)
    results = zip(case.op.reference(*wide), types, strict=True)
    return tuple(array.astype(result.dtype.numpy) for array, result in results)


def _before_activation(case: OpCase) -> float:
    """The largest number that a fused activation was given: what was summed is rounded as that, not as what is left."""
    if getattr(case.op, "activation", "none") == "none":
        return 0.0
    others = {name: value for name, value in case.op.attributes().items() if name != "activation"}
    bare = replace(case, op=type(case.op)(**others))
    return max(float(np.max(np.abs(array), initial=0.0)) for array in exact(bare))


def describe(case: OpCase) -> str:
    shapes = ", ".join(str(list(array.shape)) for array in case.inputs)
    return f"{case.name}: {case.op} on {shapes}, constants {list(case.constants)}"
