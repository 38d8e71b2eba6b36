"""Computes the outputs of one model: `python main.py REQUEST.json`; see `buildtool.running.other_python`.

The request says which framework, which files, and which inputs and outputs by their names in the model. `inputs.npz`
beside it holds the inputs by number, `outputs.npz` gets the outputs. 4 is the exit code without the framework, 5 that
of a model that the framework cannot run; the last line of the error output tells why.
"""

from __future__ import annotations

import importlib
import importlib.util
import json
import os
import sys
from pathlib import Path
from typing import Any

_WITHOUT_FRAMEWORK, _WITHOUT_RESULT = 4, 5


def main() -> int:
    request_file = Path(sys.argv[1])
    request: dict[str, Any] = json.loads(request_file.read_text(encoding="utf-8"))
    os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")
    worker = importlib.import_module(f"with_{request['platform']}")
    needed = next((name for name in worker.NEEDS if importlib.util.find_spec(name.partition(".")[0])), None)
    if needed is None or importlib.util.find_spec("numpy") is None:
        sys.stderr.write(f"{' or '.join(worker.NEEDS)}\n")
        return _WITHOUT_FRAMEWORK
    if hasattr(worker, "prepare"):
        worker.prepare(request)
    numpy: Any = importlib.import_module("numpy")
    with numpy.load(request_file.with_name("inputs.npz")) as stored:
        inputs = [stored[str(index)] for index in range(len(request["inputs"]))]
    try:
        outputs = worker.compute(importlib.import_module(needed), request, inputs)
    except Exception as problem:  # whatever the framework raises, and what its modules do when they are loaded
        sys.stderr.write(f"\n{type(problem).__name__}: {' '.join(str(problem).split())}\n")
        return _WITHOUT_RESULT
    arrays = {str(index): numpy.asarray(output) for index, output in enumerate(outputs)}
    numpy.savez(request_file.with_name("outputs.npz"), **arrays)
    return 0


if __name__ == "__main__":
    sys.exit(main())
