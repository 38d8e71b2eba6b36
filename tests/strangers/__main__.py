"""Judges random models and writes what was found so far to build/strangers.json: `make strangers`.

Each family gets `run`, `wrong`, `crashed` and `refused_wrongly`; the smallest model of each finding is in
build/strangers/<family>.
"""

from __future__ import annotations

import argparse
import fcntl
import json
import os
import shutil
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from scripts import refresh_oracles
from tests.native_builds import full_library
from tests.strangers import drawers, exclusions, onnx_models, shrinking, stored
from tests.strangers.drawers import Drawer
from tests.strangers.drawing import Model
from tests.strangers.judge import Verdict
from tests.strangers.pool import ROOT, Worker, judge_all

RESULT = ROOT / "build" / "strangers.json"
FOLDER = ROOT / "build" / "strangers"
#: The frameworks of families, as scripts/refresh_oracles.py calls them.
ORACLES = {"keras": "keras", "torch": "pytorch"}
KINDS = ("wrong", "crashed", "refused_wrongly")


class Findings:
    """Counts verdicts in a file, and keeps the smallest model of each cause."""

    def __init__(self, family: str, folder: Path, drawer: Drawer | None, file: Path) -> None:
        self.family = family
        self.folder = folder
        self.file = file
        self.drawer = drawer
        self.counts: Counter[str] = Counter(run=0, **dict.fromkeys(KINDS, 0))
        self.files: Counter[str] = Counter()  # judged, by form
        self.skipped: Counter[str] = Counter()  # what the framework did not write
        self.excluded: Counter[str] = Counter()
        self.causes: Counter[str] = Counter()
        self._seeds: set[int] = set()
        self.began = time.monotonic()
        folder.mkdir(parents=True, exist_ok=True)

    def add(self, job: Mapping[str, Any], verdict: Verdict, worker: Worker) -> None:
        if verdict.kind != "invalid":
            self._count(job)
        if why := exclusions.reason(verdict):
            self.excluded[why] += 1
        elif verdict.kind != "right":
            self._found(job, verdict, worker)
        if "case" in job:
            shutil.rmtree(job["case"], ignore_errors=True)
        self.store()

    def store(self) -> None:
        """Puts the counts beside those of other families, which other processes may write. The file is always whole."""
        held = self.file.with_suffix(".lock")
        with held.open("a") as lock:
            fcntl.flock(lock, fcntl.LOCK_EX)
            known = json.loads(self.file.read_text(encoding="utf-8")) if self.file.is_file() else {}
            text = json.dumps({**known, self.family: self.as_json()}, indent=2) + "\n"
            whole = self.file.with_suffix(f".{os.getpid()}")
            whole.write_text(text, encoding="utf-8")
            whole.replace(self.file)

    def _count(self, job: Mapping[str, Any]) -> None:
        self.files[job.get("form", "onnx")] += 1
        if job["seed"] in self._seeds:
            return
        self._seeds.add(job["seed"])
        self.counts["run"] += 1
        if self.counts["run"] % 100 == 0:
            print(f"{self.family}: {dict(self.counts)} after {time.monotonic() - self.began:.0f} s", flush=True)

    def _found(self, job: Mapping[str, Any], verdict: Verdict, worker: Worker) -> None:
        kind = "refused_wrongly" if verdict.kind == "refused" else verdict.kind
        self.counts[kind] += 1
        self.causes[verdict.signature] += 1
        print(f"{self.family} {job['seed']} {job.get('form', '')}: {_line(verdict)}", flush=True)
        if self.causes[verdict.signature] > 1:
            return
        if "form" in job:
            self._keep_case(job, verdict, worker)
        else:
            self._keep(onnx_models.draw(job["seed"]), verdict, worker)

    def _keep_case(self, job: Mapping[str, Any], verdict: Verdict, worker: Worker) -> None:
        assert self.drawer is not None
        target = self.folder / f"{job['seed']}-{job['form']}"
        told = drawers.shrink(self.drawer, worker, dict(job), verdict, target)
        target.with_suffix(".txt").write_text(f"{_line(verdict)}\n{told}\n", encoding="utf-8")

    def _keep(self, model: Model, verdict: Verdict, worker: Worker) -> None:
        def fails(candidate: Model) -> bool:
            stored.write_model(candidate, self.folder / "candidate.onnx")
            found = worker.judge({"model": str(self.folder / "candidate.onnx")})
            return found.kind == verdict.kind and (found.kind != "refused" or found.signature == verdict.signature)

        small = shrinking.shrink(model, fails)
        file = self.folder / f"{model.seed}.onnx"
        stored.write_model(small, file)
        file.with_suffix(".txt").write_text(f"{_line(verdict)}\n{shrinking.text(small)}\n", encoding="utf-8")

    def as_json(self) -> dict[str, Any]:
        more = {"files": self.files, "not_written": self.skipped, "excluded": self.excluded, "causes": self.causes}
        return {**self.counts, **{key: dict(count.most_common()) for key, count in more.items()}}


def _line(verdict: Verdict) -> str:
    return f"{verdict.kind} ({verdict.stage}): {verdict.what}"


def judge_family(family: str, seeds: range, library: Path, processes: int, python: Path | None) -> dict[str, Any]:
    """What became of random models of a family."""
    if family == "onnx":
        findings = Findings(family, FOLDER / family, None, RESULT)
        judge_all(({"seed": seed} for seed in seeds), library, processes, findings.add)
        return findings.as_json()
    drawer = Drawer(python or refresh_oracles.environment(ORACLES[family]), family)
    findings = Findings(family, FOLDER / family, drawer, RESULT)
    try:
        with tempfile.TemporaryDirectory() as folder:
            written = drawers.jobs(drawer, family, seeds, Path(folder), findings.skipped)
            judge_all(written, library, processes, findings.add)
    finally:
        drawer.end()
    findings.store()  # what the framework did not write, too
    return findings.as_json()


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m tests.strangers", description=__doc__)
    parser.add_argument("--families", nargs="+", default=["onnx"], choices=["onnx", "keras", "torch"])
    parser.add_argument("--count", type=int, default=5000, help="models of each family")
    parser.add_argument("--seed", type=int, default=0, help="of the first one")
    parser.add_argument("--processes", type=int, default=os.cpu_count() or 1)
    parser.add_argument("--python", type=Path, help="an interpreter that has the frameworks of the families")
    parser.add_argument("--model", type=Path, help="a finding (.onnx, or the folder of a case) to judge again")
    asked = parser.parse_args()
    library = full_library()
    if asked.model:
        kind = "case" if asked.model.is_dir() else "model"
        print(Worker(library).judge({kind: str(asked.model.resolve())}))
        return 0
    results: dict[str, Any] = {}
    for family in asked.families:
        seeds = range(asked.seed, asked.seed + asked.count)
        results[family] = judge_family(family, seeds, library, asked.processes, asked.python)
        print(json.dumps({family: results[family]}, indent=2))
    return int(any(results[family][kind] for family in asked.families for kind in KINDS))


if __name__ == "__main__":
    sys.exit(main())
