"""Read handwritten digits: from a deployment file to figures of the library. `make demo` runs this, too.

Builds the library for this machine, classifies the pictures beside this file with it, validates it against onnxruntime,
and says how large it is, what it holds and how fast it is. Each step is one command or one call that a user may copy.
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import numpy as np
from rich.columns import Columns
from rich.console import Console
from rich.panel import Panel
from rich.table import Table
from rich.text import Text

import buildtool

HERE = Path(__file__).resolve().parent
WORK = Path(os.environ.get("LATHE_DEMO_FOLDER") or HERE.parent.parent / "build" / "demo")
SHOWN = 6  # pictures that are drawn
ROUNDS = 2000


def main() -> int:
    console = Console(highlight=False)
    WORK.mkdir(parents=True, exist_ok=True)

    started = time.perf_counter()
    lathe("build", str(HERE / "deploy.yml"), "--target-abis", "host")
    console.print(f"[bold]Built[/] the library for this machine in {time.perf_counter() - started:.1f} s")
    library = WORK / "build" / "digits" / "lib" / "host" / "libdigits.so"

    correct, latency = classify(console, library)
    validated = lathe("validate", str(HERE / "deploy.yml"), "--target-abis", "host")["results"]
    holds = lathe("inspect", "library", str(library))
    console.print(summary(correct, latency, validated, holds))
    return 0 if correct and all(result["passed"] for result in validated) else 1


def lathe(*arguments: str) -> Any:
    """Run one command in the work folder and return its JSON document."""
    program = shutil.which("lathe", path=Path(sys.executable).parent) or "lathe"
    done = subprocess.run([program, *arguments, "--json"], cwd=WORK, stdout=subprocess.PIPE, check=False)
    if done.returncode:
        sys.exit(f"`lathe {' '.join(arguments)}` failed with {done.returncode}")
    return json.loads(done.stdout)


def classify(console: Console, library: Path) -> tuple[str, float]:
    """Read all pictures and draw some: what was right (empty if too little was), and the seconds per picture."""
    pictures, labels = np.load(HERE / "pictures.npy"), np.load(HERE / "labels.npy")
    with buildtool.load(library, model="digits") as model:
        answers = np.array([model.run({"image": picture[None]})["probabilities"][0] for picture in pictures])
        seconds = min(timed_run(model, pictures[:1]) for _ in range(5))
    panels = [
        Panel(drawing(picture[0]), title=f"{answer.argmax()}: {answer.max():.0%}", expand=False)
        for picture, answer in zip(pictures[:SHOWN], answers, strict=False)
    ]
    console.print(Columns(panels))
    right = int((answers.argmax(1) == labels).sum())
    return (f"{right} of {len(labels)}" if right >= 0.9 * len(labels) else ""), seconds


def timed_run(model: Any, picture: np.ndarray) -> float:
    """Seconds per run, the call from Python included."""
    inputs = {"image": picture}
    started = time.perf_counter()
    for _ in range(ROUNDS // 5):
        model.run(inputs)
    return (time.perf_counter() - started) / (ROUNDS // 5)


def drawing(picture: np.ndarray) -> Text:
    """Two characters per pixel, so that it comes out square."""
    return Text("\n".join("".join(" .:-=+*#%@"[int(pixel * 9)] * 2 for pixel in row) for row in picture))


def summary(correct: str, latency: float, validated: list[dict[str, Any]], holds: dict[str, Any]) -> Table:
    """The figures of the library."""
    table = Table(show_header=False, box=None, padding=(0, 2, 0, 0))
    table.add_row("digits read correctly", correct or "too few")
    for result in validated:
        verdict = "passed" if result["passed"] else "FAILED"
        label = f"validation: {result['kind']}, {result['format']}, {result['output']}"
        table.add_row(label, f"{verdict}, cosine similarity {result['cosine']:.6f}")
    table.add_row("size of the library, stripped", f"{holds['bytes_stripped']:,} bytes")
    table.add_row("kernels in it", "\n".join(kernel_names(holds["kernels"])))
    table.add_row("latency", f"{latency * 1e6:.1f} µs per picture, called from Python")
    return table


def kernel_names(kernels: list[Any]) -> list[str]:
    return [kernel["name"] if isinstance(kernel, dict) else str(kernel) for kernel in kernels]


if __name__ == "__main__":
    sys.exit(main())
