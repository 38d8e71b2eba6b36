"""Exports, builds, runs and times real architectures: `make gallery`, or `python -m tests.gallery`.

    make gallery MODELS='resnet*,BERT' KEEP=1

Writes build/gallery.json and, after all architectures or with `PAGE=1`, docs/gallery.md. PyTorch and the packages with
the architectures are installed into build/gallery/env. `KEEP=1` exports and builds only what is not correct yet.
"""

from __future__ import annotations

import argparse
import fnmatch
import json
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np

from tests.gallery.names import folder_name
from tests.gallery.page import page

ROOT = Path(__file__).resolve().parents[2]
FOLDER = ROOT / "build" / "gallery"
RESULT = ROOT / "build" / "gallery.json"
PAGE = ROOT / "docs" / "gallery.md"
COSINE = 0.9999
SECONDS = 600
TOGETHER = 8  # architectures that are exported before they are built, so that an interrupted run has results
LATHE = Path(sys.executable).with_name("lathe")


def environment(given: str | None) -> Path:
    """The Python that has the packages; installed where none is given."""
    if given:
        return Path(given)
    folder = FOLDER / "env"
    requirements = Path(__file__).with_name("requirements.txt")
    stamp = folder / "requirements.txt"
    if not stamp.is_file() or stamp.read_text() != requirements.read_text():
        subprocess.run([sys.executable, "-m", "venv", "--clear", str(folder)], check=True)
        pip = [str(folder / "bin" / "python"), "-m", "pip", "install", "--quiet", "--disable-pip-version-check"]
        subprocess.run([*pip, "-r", str(requirements)], check=True)
        stamp.write_text(requirements.read_text())
    return folder / "bin" / "python"


def names(python: Path) -> list[str]:
    """All architectures."""
    script = "import json; from tests.gallery.export import ENTRIES; print(json.dumps(list(ENTRIES)))"
    done = subprocess.run([str(python), "-c", script], cwd=ROOT, capture_output=True, text=True, check=True)
    return list(json.loads(done.stdout.splitlines()[-1]))


def export(python: Path, wanted: list[str]) -> None:
    """Export those that are not there; one that ends the process does not stop the others."""
    left = [name for name in wanted if not _case(name).is_file() and not _error(name).is_file()]
    while left:
        command = [str(python), "-m", "tests.gallery.export", str(FOLDER / "models"), *left]
        subprocess.run(command, cwd=ROOT, check=False)
        remaining = [name for name in left if not _case(name).is_file() and not _error(name).is_file()]
        if len(remaining) == len(left):
            raise RuntimeError(f"nothing was exported: {' '.join(command[:4])}")
        left = remaining


def _case(name: str) -> Path:
    return FOLDER / "models" / folder_name(name) / "case.json"


def _error(name: str) -> Path:
    return FOLDER / "models" / folder_name(name) / "error.txt"


def measure(name: str) -> dict[str, Any]:
    """What became of an architecture."""
    folder = _case(name).parent
    if _error(name).is_file():
        lines = [line for line in _error(name).read_text().strip().splitlines() if line.strip()]
        return {"model": name, "status": "not exported", "reason": lines[-1][:200]}
    case = json.loads(_case(name).read_text())
    kept = ("family", "exporter", "nodes", "parameters", "sizes")
    result: dict[str, Any] = {"model": name, **{key: case[key] for key in kept}}
    problem = _build(folder, case)
    if problem:
        return {**result, **problem}
    command = [sys.executable, "-m", "tests.gallery.compare", str(folder)]
    done = _run(command)
    if done.returncode:
        status = "crashed" if done.returncode < 0 else "failed"
        return {**result, "status": status, "reason": _last(done)}
    found = json.loads(done.stdout.splitlines()[-1])
    library = folder / "out" / "model" / "lib" / "host" / "libmodel.so"
    status = "right" if found["cosine"] >= COSINE else "wrong"
    return {**result, "status": status, **found, "library_bytes": library.stat().st_size}


def _build(folder: Path, case: dict[str, Any]) -> dict[str, str]:
    """What went wrong; empty where the library is there."""
    shapes = []
    first = np.load(folder / "inputs_0.npz")
    last = np.load(folder / f"inputs_{case['sizes'] - 1}.npz")
    for name in case["inputs"]:
        pairs = zip(first[name].shape, last[name].shape, strict=True)
        sizes = [str(a) if a == b else f"{min(a, b)}..{max(a, b)}" for a, b in pairs]
        shapes += ["--input-shape", f"{name}={','.join(sizes)}"] if sizes else []
    file = folder / "model.yml"
    command = [str(LATHE), "init", str(folder / "model.onnx"), "-o", str(file), "--force", *shapes]
    done = _run([*command, "--data-type", "fp32_fp32"])
    if not done.returncode:
        done = _run([str(LATHE), "build", str(file), "--output", str(folder / "out"), "--no-archive", "-q"])
    if not done.returncode:
        return {}
    status = {70: "defect", 124: "too slow"}.get(done.returncode, "refused")
    return {"status": status, "reason": _last(done)}


def _run(command: list[str]) -> subprocess.CompletedProcess[str]:
    try:
        return subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False, timeout=SECONDS)
    except subprocess.TimeoutExpired:
        return subprocess.CompletedProcess(command, 124, "", f"more than {SECONDS} s")


def _last(done: subprocess.CompletedProcess[str]) -> str:
    """The error, in one line, without places of this machine."""
    text = " ".join((done.stderr or done.stdout).split())
    found = re.search(r"error: .*", text)
    return re.sub(r"/\S+/", "", found[0] if found else text[-300:])[:400]


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--models", help="names, separated by commas, with * for parts of them; all if none is given")
    parser.add_argument("--python", help="a Python that has the packages")
    parser.add_argument("--keep", action="store_true", help="correct results of an earlier run stay")
    parser.add_argument("--page", action="store_true", help="write the page, whatever the results are of")
    options = parser.parse_args()
    python = environment(options.python)
    everything = names(python)
    patterns = [name.strip() for name in options.models.split(",")] if options.models else ["*"]
    if unknown := [pattern for pattern in patterns if not fnmatch.filter(everything, pattern)]:
        parser.error(f"no architecture is called {', '.join(unknown)}; there are {', '.join(everything)}")
    wanted = [name for name in everything if any(fnmatch.fnmatchcase(name, pattern) for pattern in patterns)]
    earlier = json.loads(RESULT.read_text())["results"] if RESULT.is_file() else []
    results = {entry["model"]: entry for entry in earlier}
    left = [name for name in wanted if not (options.keep and results.get(name, {}).get("status") == "right")]
    for start in range(0, len(left), TOGETHER):
        together = left[start : start + TOGETHER]
        export(python, together)
        for name in together:
            results[name] = measure(name)
            print(f"{name:40} {results[name]['status']:10} {results[name].get('reason', '')[:200]}", flush=True)
            ordered = [results[key] for key in everything if key in results]
            RESULT.write_text(json.dumps({"results": ordered}, indent=1) + "\n")
    if options.page or not options.models:
        PAGE.write_text(page(json.loads(RESULT.read_text())["results"]))
    return 0 if all(results[name]["status"] in ("right", "not exported") for name in wanted) else 1


if __name__ == "__main__":
    sys.exit(main())
