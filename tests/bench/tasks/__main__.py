"""Measures trained networks in every precision. Written for a quiet machine where latencies matter."""

from __future__ import annotations

import argparse
import json
import shutil
import subprocess
import sys
import time
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import yaml

import buildtool
from tests.bench.tasks.tasks import TASKS, Task

ROOT = Path(__file__).resolve().parents[3]
WORK = ROOT / "build" / "tasks"
RUNS = 50
BUDGET = "20"  # decibels
Array = npt.NDArray[Any]

_FLOAT: dict[str, dict[str, Any]] = {
    "`fp32_fp32`": {"data_type": "fp32_fp32"},
    "`fp16_fp32`": {"data_type": "fp16_fp32"},
    "`bf16_fp32`": {"data_type": "bf16_fp32"},
    "`quantize_large_weights: int8`": {"quantize_large_weights": "int8"},
    "`quantize_large_weights: int4`": {"quantize_large_weights": "int4"},
}
_ESTIMATORS = ("min-max", "percentile", "enhance", "kl", "mse", "moving-average")


@dataclass(frozen=True)
class Row:
    variant: str
    right: float  # of the samples
    same: float  # of the samples, as in single precision
    decibels: float | None
    library_bytes: int
    model_bytes: int
    milliseconds: float


def lathe(*arguments: str | Path) -> Any:
    program = shutil.which("lathe", path=Path(sys.executable).parent) or "lathe"
    done = subprocess.run([program, *map(str, arguments), "--json"], stdout=subprocess.PIPE, check=False)
    if done.returncode:
        sys.exit(f"lathe {' '.join(map(str, arguments))} failed with {done.returncode}")
    return json.loads(done.stdout) if done.stdout else None


def deployment(task: Task, folder: Path, keys: dict[str, Any]) -> Path:
    subgraph = {
        "input_tensors": [task.input[0]],
        "input_shapes": [",".join(map(str, task.input[1]))],
        "input_data_formats": ["NCHW"],
        "output_tensors": [task.output[0]],
        "output_shapes": [",".join(map(str, task.output[1]))],
        "output_data_formats": ["NONE"],
    }
    model = {"platform": "onnx", "model_file_path": str(task.model()), "subgraphs": [subgraph], "runtime": "cpu"}
    document = {
        "library_name": task.name,
        "target_abis": ["host"],
        "model_graph_format": "file",
        "model_data_format": "file",
        "models": {task.name: {**model, "data_type": "fp32_fp32", **keys}},
    }
    folder.mkdir(parents=True, exist_ok=True)
    file = folder / "deploy.yml"
    file.write_text(yaml.safe_dump(document, sort_keys=False))
    return file


def outputs_of(task: Task, built: Path, samples: Array) -> tuple[Array, float]:
    """The outputs of all samples, and the median of the milliseconds that one takes on one thread."""
    name = task.name
    with buildtool.load(built / name / f"lib/host/lib{name}.so", model=name, threads=1) as model:
        outputs = np.stack([model.run({task.input[0]: sample[None]})[task.output[0]] for sample in samples])
        taken = []
        for _ in range(RUNS):
            started = time.perf_counter()
            model.run({task.input[0]: samples[0][None]})
            taken.append(time.perf_counter() - started)
    return outputs, 1e3 * float(np.median(taken))


def variants(task: Task, folder: Path) -> dict[str, dict[str, Any]]:
    """The keys of every variant; what calibration writes is written."""
    found = dict(_FLOAT)
    np.save(folder / "calibration.npy", task.calibration())
    for estimator in _ESTIMATORS:
        found[f"`quantize: 1`, `{estimator}`"] = calibrated(task, folder, estimator, ("--estimator", estimator))[0]
    squares = ("--estimator", "mse")
    equal = {"quantize_equalize": 1}
    found["`mse`, equalised"] = calibrated(task, folder, "equal", squares, equal)[0]
    correct = (*squares, "--bias-correction", "--rounding", "adaptive")
    keys, _ = calibrated(task, folder, "corrected", correct)
    found["`mse`, bias correction, adaptive rounding"] = keys
    keys, told_ = calibrated(task, folder, "best", (*correct, "--sensitivity", "--budget", BUDGET), equal)
    found["`mse`, equalised, corrected"] = keys
    if kept := told_["sensitivity"]["keep_float"]:
        budget = f"the same, {len(kept)} layers kept by `--sensitivity --budget {BUDGET}`"
        found[budget] = {**keys, "quantize_keep_float": kept}
    return found


def calibrated(
    task: Task, folder: Path, name: str, options: tuple[str, ...], keys: dict[str, Any] | None = None
) -> tuple[dict[str, Any], Any]:
    """The keys of a deployment in 8 bits, and what `lathe quantize` told."""
    ranges, weights = folder / f"{name}.ranges", folder / f"{name}.npz"
    plain = deployment(task, folder / f"calibrate-{name}", keys or {})
    told_ = lathe(
        "quantize", plain, "--inputs", folder / "calibration.npy", "-o", ranges, "--weights", weights, *options
    )
    found: dict[str, Any] = {**(keys or {}), "quantize": 1, "quantize_range_file": str(ranges)}
    return found | ({"quantize_weights_file": str(weights)} if "corrections" in told_ else {}), told_


def measure(task: Task) -> list[Row]:
    folder = WORK / task.name
    folder.mkdir(parents=True, exist_ok=True)
    samples, truth = task.samples(), task.truth()
    single: Array | None = None
    rows: list[Row] = []
    for number, (variant, keys) in enumerate(variants(task, folder).items()):
        here = folder / str(number)
        lathe("build", deployment(task, here, keys), "-o", here / "built")
        outputs, milliseconds = outputs_of(task, here / "built", samples)
        single = outputs if single is None else single
        answers, before = task.answers(outputs), task.answers(single)
        noise = float(np.square(outputs.astype(np.float64) - single).sum())
        signal = float(np.square(single.astype(np.float64)).sum())
        built = here / "built" / task.name
        rows.append(
            Row(
                variant,
                float(np.mean([a == b for a, b in zip(answers, truth, strict=True)])),
                float(np.mean([a == b for a, b in zip(answers, before, strict=True)])),
                10 * float(np.log10(signal / noise)) if noise else None,
                (built / f"lib/host/lib{task.name}.so").stat().st_size,
                sum((built / "model" / f"{task.name}.{end}").stat().st_size for end in ("pb", "data")),
                milliseconds,
            )
        )
        _tell(told(rows[-1]))
    return rows


def told(row: Row) -> str:
    decibels = "" if row.decibels is None else f"{row.decibels:.1f}"
    figures = (f"{100 * row.right:.1f}", f"{100 * row.same:.1f}", decibels, f"{row.library_bytes:,}")
    return f"| {' | '.join((row.variant, *figures, f'{row.model_bytes:,}', f'{row.milliseconds:.3g}'))} |"


def _tell(line: str) -> None:
    sys.stdout.write(line + "\n")
    sys.stdout.flush()


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--task", action="append", choices=[task.name for task in TASKS])
    parser.add_argument("--json", type=Path)
    chosen = parser.parse_args()
    results = {}
    for task in TASKS:
        if chosen.task is None or task.name in chosen.task:
            _tell(f"\n{task.what}: {len(task.truth())} samples\n")
            _tell("| variant | right (%) | as single precision (%) | outputs (dB) | library | model | ms |")
            _tell("|---|---|---|---|---|---|---|")
            results[task.name] = [asdict(row) for row in measure(task)]
    if chosen.json:
        chosen.json.write_text(json.dumps(results, indent=1))
    return 0


if __name__ == "__main__":
    sys.exit(main())
