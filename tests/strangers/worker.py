"""Judges what it is told on stdin, one JSON line each, and answers with a line: a process of its own, which may die."""

from __future__ import annotations

import functools
import json
import os
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from buildtool.plan import manifest
from buildtool.runtime import Library
from tests.strangers import onnx_models, stored
from tests.strangers.judge import Verdict, judge, judge_model


def _verdict(job: Mapping[str, Any], library: Library) -> Verdict:
    if "case" in job:
        return judge(stored.read_case(Path(job["case"])), library)
    if "model" in job:
        return judge_model(stored.read_model(Path(job["model"])), library)
    return judge_model(onnx_models.draw(job["seed"]), library)


def main() -> None:
    answers = os.fdopen(os.dup(1), "w")
    os.dup2(2, 1)  # whatever libraries print is no answer
    manifest.load = functools.cache(manifest.load)
    library = Library(sys.argv[1])
    for line in sys.stdin:
        verdict = _verdict(json.loads(line), library)
        print(json.dumps([verdict.kind, verdict.stage, verdict.what]), file=answers, flush=True)


if __name__ == "__main__":
    main()
