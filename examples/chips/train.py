"""Trains a network and makes its program for a chip, in one command: `python train.py words --abi max78000 -o out`.

Samples are made, the network is trained with the integers of the chip, compared with the chip's simulator layer by
layer, exported, and built into a C project whose main.c compares the outputs with known answers.
`--search` looks for the widths, depths, kernels and bits of the network first. `--table` trains with every number of
bits instead, and prints accuracy, bytes and cycles. Needs torch.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import samples

HERE = Path(__file__).resolve().parent
LATHE = "import sys; from buildtool.cli.main import main; sys.exit(main())"
EPOCHS = {
    "words": 16, "scenes": 16, "segments": 24, "vibrations": 40, "faces": 16, "objects": 30, "detector": 24,
    "textures": 16,
}  # fmt: skip
BATCH = {"faces": 64}  # with several pictures of each person
SAMPLES: dict[str, int] = {}  # fewer of a task
QUANTILES = {8: 1.0, 4: 1.0, 2: 0.9, 1: 0.8}


def lathe(*arguments: object) -> Any:
    """What a command prints with --json."""
    command = [sys.executable, "-c", LATHE, *map(str, arguments), "--json"]
    done = subprocess.run(command, check=False, capture_output=True, text=True)
    if done.returncode:
        raise SystemExit(f"{done.stdout}{done.stderr}\n'{' '.join(command[3:])}' ended with {done.returncode}")
    return json.loads(done.stdout)


def policy(folder: Path, task: str, bits: int) -> Path:
    """Quantisation begins after half of the epochs; few bits keep a smaller share of the weights in range."""
    file = folder / f"{task}-{bits}.yaml"
    text = f"start_epoch: {EPOCHS[task] // 2}\nweight_bits: {bits}\nshift_quantile: {QUANTILES[bits]}\n"
    file.write_text(text, encoding="utf-8")
    return file


def fit(task: str, data: Path, folder: Path, *more: object) -> Any:
    return lathe(
        "train", "fit", HERE / "models.py", "--arch", task, "--data", data, "--epochs", EPOCHS[task],
        "--batch", BATCH.get(task, 32), "-o", folder, *more,
    )  # fmt: skip


def evaluate(task: str, data: Path, checkpoint: str, *more: object) -> Any:
    return lathe(
        "train", "evaluate", HERE / "models.py", "--arch", task, "--data", data, "--checkpoint", checkpoint, *more
    )


def made(task: str, folder: Path) -> Path:
    """The samples as a file."""
    folder.mkdir(parents=True, exist_ok=True)
    file = folder / f"{task}.npz"
    if not file.is_file():
        pictures, truths = samples.TASKS[task](*([SAMPLES[task]] if task in SAMPLES else []))
        np.savez_compressed(file, samples=pictures, **{"boxes" if task in samples.BOXES else "labels": truths})
    return file


def searched(task: str, data: Path, folder: Path, abi: str, memory: int, trials: int) -> list[object]:
    """What to train the network with that a search finds within a memory."""
    found = lathe(
        "train", "search", HERE / "models.py", "--arch", task, "--data", data, "--weight-memory", memory,
        "--trials", trials, "--epochs", max(EPOCHS[task] // 4, 2), "--abi", abi, "-o", folder / "searched",
    )  # fmt: skip
    best, refused = found["best"], sum(found["refused"].values())
    chosen = ", ".join(f"{name} {value}" for name, value in best["arguments"].items())
    bits = "/".join(str(count) for count in best["bits"].values())
    print(f"search: {len(found['trials'])} networks trained, {refused} did not fit; {chosen}; bits {bits}")
    print(f"{best['weight_bytes']} of {memory} bytes, {best['cycles']} cycles, estimated", flush=True)
    policy_file = Path(found["policy"])
    text = policy_file.read_text(encoding="utf-8")
    start = f"start_epoch: {EPOCHS[task] // 2}"
    rows = [start if row.startswith("start_epoch") else row for row in text.split("\n")]
    policy_file.write_text("\n".join(rows), encoding="utf-8")
    sets = [word for name, value in best["arguments"].items() for word in ("--set", f"{name}={value}")]
    return [*sets, "--qat-policy", policy_file]


def project(task: str, folder: Path, abi: str, bits: int, search: tuple[int, int] | None) -> None:
    """From samples to a C project. `search`: bytes and trials."""
    data = made(task, folder)
    ways = searched(task, data, folder, abi, *search) if search else ["--qat-policy", policy(folder, task, bits)]
    fitted = fit(task, data, folder / "trained", *ways)
    best = fitted["best"]["checkpoint"]
    measured = evaluate(task, data, best, "--simulate", "--abi", abi)
    told = "the bits of the search" if search else f"{bits} bits"
    print(f"{task}: {measured['measure']} {measured['accuracy']:.2%} of {measured['samples']} held-out samples, {told}")
    print(f"{measured['layers_compared']} layers equal the simulator's, for every sample")
    exported = lathe(
        "train", "export", HERE / "models.py", "--arch", task, "--data", data, "--checkpoint", best, "--abi", abi,
        "-o", folder / "exported",
    )  # fmt: skip
    description, weights, sample = exported["files"]
    lathe(
        "build", description, "--checkpoint-file", weights, "--sample-input", sample, "--abi", abi,
        "--output", folder / "build",
    )  # fmt: skip
    for file in sorted((folder / "build").rglob("main.c")):
        print(f"project: {file.parent}")


def table(task: str, folder: Path, abi: str, memory: int) -> None:
    """Floats, all numbers of bits, and mixed ones within a memory; trained, and quantised after training."""
    data = made(task, folder)
    fitted = fit(task, data, folder / "floats")
    floats = fitted["best"]
    print(f"floats: {fitted['measure']} {floats['accuracy']:.2%}", flush=True)
    for bits in (8, 4, 2, 1):
        after = evaluate(task, data, floats["checkpoint"], "--bits", bits)
        best = fit(task, data, folder / f"bits{bits}", "--qat-policy", policy(folder, task, bits))["best"]
        measured = evaluate(task, data, best["checkpoint"], "--simulate", "--abi", abi)
        print(
            f"{bits} bits: after training {after['accuracy']:.2%}, trained {measured['accuracy']:.2%}, "
            f"{measured['weight_bytes']} bytes, {measured['layers_compared']} layers equal",
            flush=True,
        )
    mixed = lathe(
        "train", "search", HERE / "models.py", "--arch", task, "--data", data, "--checkpoint", floats["checkpoint"],
        "--weight-memory", memory, "--start-epoch", EPOCHS[task] // 2, "--abi", abi, "-o", folder / "mixed",
    )  # fmt: skip
    best = fit(task, data, folder / "mixed", "--qat-policy", mixed["policy"])["best"]
    measured = evaluate(task, data, best["checkpoint"], "--simulate", "--abi", abi)
    chosen = "/".join(str(bits) for bits in mixed["bits"].values())
    print(
        f"mixed {chosen} within {memory} bytes: after training {mixed['accuracy']:.2%}, "
        f"trained {measured['accuracy']:.2%}, {mixed['weight_bytes']} bytes, {mixed['cycles']} cycles, "
        f"{measured['layers_compared']} layers equal"
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("task", choices=sorted(samples.TASKS))
    parser.add_argument("--abi", default="max78000", choices=("max78000", "max78002"))
    parser.add_argument("--bits", type=int, default=4, choices=(8, 4, 2, 1))
    parser.add_argument("--search", type=int, metavar="BYTES", help="search a network within this memory")
    parser.add_argument("--trials", type=int, default=24, help="networks that the search trains")
    parser.add_argument("--table", type=int, metavar="BYTES", help="memory of the mixed bits")
    parser.add_argument("-o", "--output", type=Path, default=Path("chips"))
    asked = parser.parse_args()
    if asked.table:
        table(asked.task, asked.output, asked.abi, asked.table)
    else:
        project(asked.task, asked.output, asked.abi, asked.bits, asked.search and (asked.search, asked.trials))


if __name__ == "__main__":
    main()
