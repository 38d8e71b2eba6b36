"""Runs a fuzz target for some time, or `all` of them: `python -m tests.fuzz TARGET --seconds 600`, `make fuzz`.

The target runs in a process of its own that is started again where a hang or a crash ended it. Everything lies in
build/fuzz/TARGET: `corpus` grows from run to run, `findings` holds what this run found, each input (.bin) beside what
it did (.txt). The exit status is 1 where there is a finding. Targets begin with the inputs of the tests and those of
fuzz/corpus, which `--keep` writes from what was found.
"""

from __future__ import annotations

import argparse
import io
import json
import os
import re
import shutil
import subprocess
import sys
import time
import zipfile
from dataclasses import asdict, dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
#: Those of tests/fuzz/readers.py.
READERS = (
    "accuracy_journal",
    "adjusted_weights",
    "calibration_journal",
    "encrypted_file",
    "k210_saved_model",
    "kmodel_file",
    "mace_log",
    "max7800x_checkpoint",
    "max7800x_description",
    "opencl_store",
    "pickle",
    "pytorch_archive",
    "ranges",
    "tuning",
)
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
    *READERS,
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


_CORPUS = ROOT / "fuzz" / "corpus"
_MOST_KEPT = 12 << 10  # bytes of a target's inputs in fuzz/corpus


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
    parser.add_argument("target", choices=(*TARGETS, "all"))
    parser.add_argument("--seconds", type=int, default=600, help="of each target")
    parser.add_argument("--keep", action="store_true", help="write the smallest of the corpus to fuzz/corpus instead")
    options = parser.parse_args()
    targets = TARGETS if options.target == "all" else (options.target,)
    if options.keep:
        for target in targets:
            _keep(target)
        return 0
    results = {target: _fuzz(target, options.seconds) for target in targets if _is_built(target)}
    if options.target == "all":
        summary = ROOT / "build" / "fuzz" / "summary.json"
        summary.write_text(json.dumps(results, indent=2) + "\n", encoding="utf-8")
        print(f"{sum(result['executions'] for result in results.values()):,} executions: {summary.relative_to(ROOT)}")
    return 1 if any(result["findings"] for result in results.values()) else 0


def _is_built(target: str) -> bool:
    """Native targets are programs, which need Clang."""
    built = target not in _NATIVE or Path(_program(target)[0]).is_file()
    if not built:
        print(f"{target}: not built; `make fuzz-native FUZZ_NATIVE={target.removeprefix('native_')}` builds it")
    return built


def _fuzz(target: str, seconds: int) -> dict[str, int]:
    """Runs one target and tells what came of it."""
    folder = ROOT / "build" / "fuzz" / target
    findings = folder / "findings"
    shutil.rmtree(findings, ignore_errors=True)
    for inner in (findings, folder / "corpus"):
        inner.mkdir(parents=True, exist_ok=True)
    seeds = _seeds(target)
    totals = Totals()
    end = time.monotonic() + seconds
    while (left := int(end - time.monotonic())) > 0 and totals.processes < _MOST_PROCESSES:
        _run(target, folder, seeds, left, totals)
    found = sorted(findings.glob("*.txt"))
    for file in found:
        print(f"\n{file.relative_to(ROOT)}\n{file.read_text(encoding='utf-8', errors='replace')[-3000:]}")
    print(
        f"{target}: {seconds} s, {totals.executions} executions in {totals.processes} processes, "
        f"coverage {totals.coverage} edges, {totals.features} features, corpus {totals.corpus}, {len(found)} findings",
        flush=True,
    )
    return {"seconds": seconds, **asdict(totals), "findings": len(found)}


def _seeds(target: str) -> Path:
    """The folder with what a target begins with: the inputs of the tests, and those that were kept."""
    seeds_of = _SEEDS_OF.get(target, target)
    seeds = ROOT / "build" / "fuzz" / "seeds" / seeds_of
    if not seeds.is_dir():
        made = subprocess.run(
            [*_program(seeds_of), "--write-seeds"], cwd=ROOT, capture_output=True, text=True, check=False
        )
        if made.returncode:
            raise SystemExit(made.stderr)
    kept = _CORPUS / f"{target}.zip"
    if kept.is_file():
        with zipfile.ZipFile(kept) as archive:
            archive.extractall(seeds)
    return seeds


def _keep(target: str) -> None:
    """Writes the smallest inputs of a corpus to fuzz/corpus: each reached something new when it was found."""
    folder = ROOT / "build" / "fuzz" / target / "corpus"
    stream = io.BytesIO()
    with zipfile.ZipFile(stream, "w", zipfile.ZIP_DEFLATED) as archive:
        for file in sorted(folder.iterdir(), key=lambda file: (file.stat().st_size, file.name)):
            if stream.tell() + file.stat().st_size // 2 < _MOST_KEPT:
                archive.writestr(zipfile.ZipInfo(file.name), file.read_bytes(), zipfile.ZIP_DEFLATED)
    _CORPUS.mkdir(parents=True, exist_ok=True)
    (_CORPUS / f"{target}.zip").write_bytes(stream.getvalue())
    print(f"{target}: {len(archive.namelist())} inputs, {len(stream.getvalue()):,} bytes")


def _program(target: str) -> list[str]:
    """What runs a target, or writes its seeds."""
    if target in _NATIVE:
        return [str(ROOT / "build" / "fuzz" / "native" / _NATIVE[target])]
    module = ["tests.fuzz.readers", target] if target in READERS else [f"tests.fuzz.{target}"]
    return [sys.executable, "-m", *module]


def _run(target: str, folder: Path, seeds: Path, seconds: int, totals: Totals) -> None:
    """One process of the fuzzer; how it ended becomes a finding where it did not end by itself."""
    command = [*_program(target), str(folder / "corpus"), str(seeds)]
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
