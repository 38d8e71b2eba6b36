"""What it saves to build three models for three ABIs with one command: wall time beside the sum of nine single builds.

    python -m tests.bench.many [--rounds 3] [--abis host,aarch64-linux-gnu,arm-linux-gnueabihf]

Each round begins with empty caches: one for the command that builds all, one for the nine that follow each other and
may use what those before them compiled. Then all of it is built once more, with the caches full and no results left.
"""

from __future__ import annotations

import argparse
import itertools
import os
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path

from buildtool.drafts import deployment
from tests.size.measure import ROOT
from tests.zoo.networks import cached

ABIS = ("host", "aarch64-linux-gnu", "arm-linux-gnueabihf")
_START = "import sys; from buildtool.cli.main import main; sys.exit(main())"


def models() -> dict[str, Path]:
    """Three networks by name."""
    zoo = {name: cached(name, ROOT / "build" / "test-zoo") for name in ("mobilenet_v1", "mobilenet_v2")}
    return {"digits": ROOT / "examples" / "digits" / "digits.onnx", **zoo}


def written(folder: Path, name: str, files: Sequence[Path]) -> Path:
    file = folder / f"{name}.yml"
    file.write_text(deployment.write(files, relative_to=folder, library_name=name, data_type="fp32_fp32"))
    return file


def seconds(file: Path, abis: Sequence[str], folder: Path) -> float:
    """Of one command, with Python's start. Its cache is `folder`/cache; its results are new."""
    shutil.rmtree(folder / "out", ignore_errors=True)
    words = ["build", str(file), "--quiet", "--no-archive", "-o", str(folder / "out"), "--target-abis", ",".join(abis)]
    began = time.perf_counter()
    environment = {**os.environ, "LATHE_CACHE_DIR": str(folder / "cache"), "PYTHONPATH": str(ROOT)}
    subprocess.run([sys.executable, "-c", _START, *words], env=environment, check=True)
    return time.perf_counter() - began


def measured(folder: Path, abis: Sequence[str]) -> dict[str, tuple[float, float]]:
    """Seconds of the one command, and of all single ones together: with empty caches, and with full ones."""
    found = models()
    together = written(folder, "all", list(found.values()))
    single = [(written(folder, name, [file]), abi) for (name, file), abi in itertools.product(found.items(), abis)]
    for name in ("one", "many"):
        (folder / name).mkdir()
    result = {}
    for caches in ("empty", "full"):
        whole = seconds(together, abis, folder / "one")
        result[caches] = whole, sum(seconds(file, [abi], folder / "many") for file, abi in single)
    return result


def main() -> None:
    """Measure and print the medians."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rounds", type=int, default=1)
    parser.add_argument("--abis", default=",".join(ABIS))
    options = parser.parse_args()
    rounds = []
    for _ in range(options.rounds):
        with tempfile.TemporaryDirectory() as folder:
            rounds.append(measured(Path(folder), options.abis.split(",")))
    sys.stdout.write("| caches | one command, s | single builds together, s | ratio |\n|---|---:|---:|---:|\n")
    for caches in rounds[0]:
        one, many = (statistics.median(item[caches][place] for item in rounds) for place in (0, 1))
        sys.stdout.write(f"| {caches} | {one:.1f} | {many:.1f} | {one / many:.2f} |\n")


if __name__ == "__main__":
    main()
