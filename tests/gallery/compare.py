"""One built architecture beside PyTorch's outputs and onnxruntime's time: `python -m tests.gallery.compare FOLDER`.

Runs in a process of its own, which may crash. Prints one JSON document.
"""

from __future__ import annotations

import functools
import json
import statistics
import sys
import time
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from buildtool.devices.in_process import load_library

Array = npt.NDArray[Any]
ROUNDS = 7


def cosine_of(found: Mapping[str, Array], expected: Mapping[str, Array]) -> float:
    """The smallest cosine similarity of the outputs; 0 where a shape differs."""
    return min((_cosine(found[name], value) for name, value in expected.items()), default=0.0)


def _cosine(found: Array, expected: Array) -> float:
    if found.shape != expected.shape:
        return 0.0
    a, b = found.astype(np.float64).ravel(), expected.astype(np.float64).ravel()
    if np.array_equal(a, b):
        return 1.0
    if not np.isfinite(a).all():
        return 0.0
    return float(a @ b / max(float(np.linalg.norm(a) * np.linalg.norm(b)), 1e-30))


def seconds_in_turn(runs: Sequence[Callable[[], object]]) -> list[float]:
    """Medians; the runs take turns, so that other programs disturb all of them alike."""
    taken: list[list[float]] = [[] for _ in runs]
    for _ in range(ROUNDS):
        for run, times in zip(runs, taken, strict=True):
            start = time.perf_counter()
            run()
            times.append(time.perf_counter() - start)
    return [statistics.median(times) for times in taken]


def main() -> None:
    folder = Path(sys.argv[1])
    import onnxruntime

    case = json.loads((folder / "case.json").read_text())
    model = load_library(folder / "out" / "model" / "lib" / "host" / "libmodel.so", threads=1)
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = 1
    options.log_severity_level = 3
    peer = onnxruntime.InferenceSession(str(folder / "model.onnx"), options, providers=["CPUExecutionProvider"])
    worst, times = 1.0, []
    for size in range(case["sizes"]):
        inputs = dict(np.load(folder / f"inputs_{size}.npz"))
        inputs = {name: value for name, value in inputs.items() if name in case["inputs"]}
        expected = dict(np.load(folder / f"outputs_{size}.npz"))
        if case.get("has_ties"):
            expected = dict(zip(case["outputs"], peer.run(case["outputs"], inputs), strict=True))
        found = model.run(inputs)
        worst = min(worst, cosine_of(found, {name: expected[name] for name in case["outputs"] if name in expected}))
        if size == 0:
            runs = [functools.partial(model.run, inputs), functools.partial(peer.run, None, inputs)]
            times = seconds_in_turn(runs)
    result = {"cosine": round(worst, 7), "ms": round(times[0] * 1e3, 3), "onnxruntime_ms": round(times[1] * 1e3, 3)}
    print(json.dumps({**result, "ratio_to_onnxruntime": round(times[0] / times[1], 3)}))


if __name__ == "__main__":
    main()
