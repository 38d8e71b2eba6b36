"""Runs a fuzz target for some time: `python -m tests.fuzz TARGET --seconds 600`, or `make fuzz`.

The target runs in a process of its own that is started again where a hang or a crash ended it. Everything lies in
build/fuzz/TARGET: `corpus` grows from run to run, `findings` holds what this run found, each input (.bin) beside what
it did (.txt). The exit status is 1 where there is a finding.
"""

from __future__ import annotations

import argparse
import os
import re
import shutil
import subprocess
import sys
import time
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
TARGETS = (
    "onnx_importer",
    "tflite_importer",
    "caffe_importer",
    "tensorflow_importer",
    "keras_importer",
    "paddle_importer",
    "deployment_file",
    "container_file",
    "graph_text",
    "native_model",
    "native_kmodel",
    "native_max7800x",
)
#: Programs in build/fuzz/native, made by `make fuzz-native`.
_NATIVE = {
    "native_model": "model_fuzzer",
    "native_kmodel": "kmodel_fuzzer",
    "native_max7800x": "max7800x_fuzzer",
}
# Else each target has its own.
_SEEDS_OF = {"native_model": "container_file", "native_kmodel": "kmodel", "native_max7800x": "max7800x_program"}
_MOST_PROCESSES = 20  # what ends the process again and again is known by then
_MEBIBYTES = 3072  # of the whole process: the 1 GiB that one input may take is watched by the target
_HANG = 60  # seconds of the clock; only for code that does not come back to Python, which stops itself long before


@dataclass
class Totals:
    """What the processes of a run reported."""

    executions: int = 0
    coverage: int = 0
    features: int = 0
    corpus: int = 0
    processes: int = 0

    def add(self, log: str) -> None:
        counts = re.findall(r"^#(\d+)\s.*?cov: (\d+) ft: (\d+) corp: (\d+)", log, re.MULTILINE)
        self.processes += 1
        if counts:
            executions, coverage, features, corpus = map(int, counts[-1])
            self.executions += max(executions, *(int(item) for item in re.findall(r"^#(\d+)\s", log, re.MULTILINE)))
            self.coverage = max(self.coverage, coverage)
            self.features = max(self.features, features)
            self.corpus = max(self.corpus, corpus)


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m tests.fuzz", description=__doc__)
    parser.add_argument("target", choices=TARGETS)
    parser.add_argument("--seconds", type=int, default=600)
    options = parser.parse_args()
    folder = ROOT / "build" / "fuzz" / options.target
    findings = folder / "findings"
    shutil.rmtree(findings, ignore_errors=True)
    for inner in (findings, folder / "corpus"):
        inner.mkdir(parents=True, exist_ok=True)
    seeds_of = _SEEDS_OF.get(options.target, options.target)
    seeds = ROOT / "build" / "fuzz" / "seeds" / seeds_of
    if not seeds.is_dir():
        command = [sys.executable, "-m", f"tests.fuzz.{seeds_of}", "--write-seeds"]
        made = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
        if made.returncode:
            raise SystemExit(made.stderr)
    totals = Totals()
    end = time.monotonic() + options.seconds
    while (left := int(end - time.monotonic())) > 0 and totals.processes < _MOST_PROCESSES:
        _run(options.target, folder, seeds, left, totals)
    found = sorted(findings.glob("*.txt"))
    for file in found:
        print(f"\n{file.relative_to(ROOT)}\n{file.read_text(encoding='utf-8', errors='replace')[-3000:]}")
    print(
        f"{options.target}: {options.seconds} s, {totals.executions} executions in {totals.processes} processes, "
        f"coverage {totals.coverage} edges, {totals.features} features, corpus {totals.corpus}, {len(found)} findings"
    )
    return 1 if found else 0


def _run(target: str, folder: Path, seeds: Path, seconds: int, totals: Totals) -> None:
    """One process of the fuzzer; how it ended becomes a finding where it did not end by itself."""
    program = [sys.executable, "-m", f"tests.fuzz.{target}"]
    if target in _NATIVE:
        program = [str(ROOT / "build" / "fuzz" / "native" / _NATIVE[target])]
    command = [*program, str(folder / "corpus"), str(seeds)]
    command += [f"-max_total_time={seconds}", f"-rss_limit_mb={_MEBIBYTES}", f"-timeout={_HANG}", "-max_len=16384"]
    command += [f"-artifact_prefix={folder}/findings/", "-len_control=0"]
    environment = {**os.environ, "LATHE_FUZZ_FOLDER": str(folder), "PYTHONHASHSEED": "0"}
    log = folder / "log.txt"
    with log.open("w") as output:
        code = subprocess.run(command, cwd=ROOT, env=environment, stderr=output, stdout=output, check=False).returncode
    text = log.read_text(encoding="utf-8", errors="replace")
    totals.add(text)
    if code == 0:
        return
    name = f"ended-{totals.processes}"
    if (folder / "current").exists():
        shutil.copy(folder / "current", folder / "findings" / f"{name}.bin")
    (folder / "findings" / f"{name}.txt").write_text(f"the process ended with {code}\n{text[-8000:]}")
    if not totals.executions:
        raise SystemExit(text[-4000:])  # the target itself does not start


if __name__ == "__main__":
    sys.exit(main())
