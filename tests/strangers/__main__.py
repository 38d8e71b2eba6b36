"""Judges random models and writes what was found to build/strangers.json: `make strangers`.

Each family gets `run`, `wrong`, `crashed` and `refused_wrongly`; the smallest model of each finding is in
build/strangers/<family>.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from scripts import refresh_oracles
from tests.native_builds import full_library
from tests.strangers import exclusions, onnx_models, shrinking, stored
from tests.strangers.drawing import Model
from tests.strangers.judge import Verdict
from tests.strangers.pool import ROOT, Worker, judge_all

RESULT = ROOT / "build" / "strangers.json"
FOLDER = ROOT / "build" / "strangers"
#: The frameworks of families, as scripts/refresh_oracles.py calls them.
ORACLES = {"keras": "keras", "torch": "pytorch"}
_AT_ONCE = 20  # models that a framework writes before they are judged
KINDS = ("wrong", "crashed", "refused_wrongly")


class Findings:
    """Counts verdicts, and keeps the smallest model of each cause."""

    def __init__(self, family: str, folder: Path) -> None:
        self.family = family
        self.folder = folder
        self.counts: Counter[str] = Counter(run=0, **dict.fromkeys(KINDS, 0))
        self.excluded: Counter[str] = Counter()
        self.causes: Counter[str] = Counter()
        self.began = time.monotonic()
        folder.mkdir(parents=True, exist_ok=True)

    def add(self, job: Mapping[str, Any], verdict: Verdict, worker: Worker) -> None:
        if why := exclusions.reason(verdict):
            self.excluded[why] += 1
            self.counts["run"] += verdict.kind != "invalid"
            return
        self.counts["run"] += 1
        if self.counts["run"] % 100 == 0:
            print(f"{self.family}: {dict(self.counts)} after {time.monotonic() - self.began:.0f} s", flush=True)
        if verdict.kind == "right":
            return
        kind = "refused_wrongly" if verdict.kind == "refused" else verdict.kind
        self.counts[kind] += 1
        self.causes[verdict.signature] += 1
        name = str(job.get("seed", Path(str(job.get("case", ""))).name))
        print(f"{self.family} {name}: {verdict.kind} ({verdict.stage}): {verdict.what}", flush=True)
        if self.causes[verdict.signature] == 1 and "seed" in job:
            self._keep(onnx_models.draw(job["seed"]), verdict, worker)

    def _keep(self, model: Model, verdict: Verdict, worker: Worker) -> None:
        def fails(candidate: Model) -> bool:
            stored.write_model(candidate, self.folder / "candidate.onnx")
            found = worker.judge({"model": str(self.folder / "candidate.onnx")})
            return found.kind == verdict.kind and (found.kind != "refused" or found.signature == verdict.signature)

        small = shrinking.shrink(model, fails)
        file = self.folder / f"{model.seed}.onnx"
        stored.write_model(small, file)
        told = f"{verdict.kind} ({verdict.stage}): {verdict.what}\n{shrinking.text(small)}\n"
        file.with_suffix(".txt").write_text(told, encoding="utf-8")

    def as_json(self) -> dict[str, Any]:
        causes = dict(self.causes.most_common())
        return {**self.counts, "excluded": dict(self.excluded), "causes": causes}


def _jobs(family: str, seed: int, count: int, python: Path | None) -> Iterator[dict[str, Any]]:
    """What workers judge: seeds of ONNX models, and what a framework has written for seeds."""
    if family == "onnx":
        yield from ({"seed": number} for number in range(seed, seed + count))
        return
    interpreter = python or refresh_oracles.environment(ORACLES[family])
    with tempfile.TemporaryDirectory() as whole:  # kept to the end: workers may still judge what came before
        for first in range(seed, seed + count, _AT_ONCE):
            folder = Path(whole) / str(first)
            folder.mkdir()
            number = min(_AT_ONCE, seed + count - first)
            command = [str(interpreter), "-m", f"tests.strangers.{family}_models", str(folder), str(first), str(number)]
            subprocess.run(command, cwd=ROOT, check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
            yield from ({"case": str(file.parent)} for file in sorted(folder.glob("*/case.json")))


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m tests.strangers", description=__doc__)
    parser.add_argument("--families", nargs="+", default=["onnx"], choices=["onnx", "keras", "torch"])
    parser.add_argument("--count", type=int, default=5000, help="models of each family")
    parser.add_argument("--seed", type=int, default=0, help="of the first one")
    parser.add_argument("--processes", type=int, default=os.cpu_count() or 1)
    parser.add_argument("--python", type=Path, help="an interpreter with the framework of the family")
    parser.add_argument("--model", type=Path, help="a finding (.onnx) to judge again")
    asked = parser.parse_args()
    library = full_library()
    if asked.model:
        print(Worker(library).judge({"model": str(asked.model.resolve())}))
        return 0
    results: dict[str, Any] = json.loads(RESULT.read_text(encoding="utf-8")) if RESULT.is_file() else {}
    for family in asked.families:
        findings = Findings(family, FOLDER / family)
        judge_all(_jobs(family, asked.seed, asked.count, asked.python), library, asked.processes, findings.add)
        results[family] = findings.as_json()
        RESULT.write_text(json.dumps(results, indent=2) + "\n", encoding="utf-8")
        print(json.dumps({family: results[family]}, indent=2))
    return int(any(results[family][kind] for family in asked.families for kind in KINDS))


if __name__ == "__main__":
    sys.exit(main())
