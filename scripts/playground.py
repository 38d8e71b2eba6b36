"""Builds what the playground of the site runs, three libraries for WebAssembly. mkdocs calls it for the site.

The files go to `playground/` of the site: per library the ES module, the module, the model and the report of the build,
and playground.json, which says what is there. A library whose tools or model cannot be had is left out, and the page
says so. Run by hand, the script fills a folder: python scripts/playground.py FOLDER
"""

from __future__ import annotations

import json
import shutil
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "examples" / "keywords"))
sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "examples"))
sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

import onnx
from demo_tools import files_of_package, stored_weights
from faces.demo import MODEL, PACKAGE
from mkdocs.config.defaults import MkDocsConfig
from speech import front_end, network

import buildtool
from buildtool.errors import LatheError
from buildtool.settings import Options, Overrides

ROOT = Path(__file__).resolve().parents[1]
ABI = "wasm32-simd"
SAMPLES = ("faces/photo.jpg", "keywords/yes.wav", "keywords/ahoy.wav")
WORK = ROOT / "build" / "playground"


def on_post_build(config: MkDocsConfig) -> None:
    """Called by mkdocs when the pages are written."""
    fill(Path(config.site_dir) / "playground", WORK)


def fill(folder: Path, work: Path) -> dict[str, Any]:
    """Write all files of the playground beside its page; returns what playground.json says."""
    about: dict[str, Any] = {"version": buildtool.version(), "abi": ABI, "libraries": {}, "missing": {}}
    for name, prepare in (("digits", _digits), ("faces", _faces), ("keywords", _keywords)):
        try:
            about["libraries"][name] = _library(name, prepare, folder / name, work / name)
        except (LatheError, SystemExit) as problem:
            said = problem.problems[0].what if isinstance(problem, LatheError) else str(problem)
            about["missing"][name] = said
            print(f"playground: {name} is left out: {said}", file=sys.stderr)
    for source in SAMPLES:
        shutil.copyfile(ROOT / "examples" / source, folder / Path(source).name)
    (folder / "playground.json").write_text(json.dumps(about, indent=2) + "\n")
    return about


def _library(name: str, prepare: Callable[[Path], None], folder: Path, work: Path) -> dict[str, Any]:
    """Build one library, and copy what a page needs of it. Returns its figures."""
    work.mkdir(parents=True, exist_ok=True)
    prepare(work)
    deployment = work / "deploy.yml"
    text = (ROOT / "examples" / name / "deploy.yml").read_text()
    for key in ("model_graph_format", "model_data_format"):
        text = text.replace(f"{key}: code", f"{key}: file")
    deployment.write_text(text)
    options = Options(output=work / "build", archive=False)
    built = buildtool.build(deployment, Overrides(target_abis=(ABI,)), options)
    shutil.rmtree(folder, ignore_errors=True)
    files = [*(built.folder / "lib" / ABI).iterdir(), *(built.folder / "model" / ABI).iterdir()]
    for file in files:
        to = folder / file.relative_to(built.folder)
        to.parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(file, to)
    report = built.folder / "report" / "index.html"
    if report.is_file():
        shutil.copyfile(report, folder / "report.html")
    model = built.models[0]
    return {
        "module": f"{name}/lib/{ABI}/{name}.mjs",
        "report": f"{name}/report.html" if report.is_file() else "",
        "wasm": built.libraries[0].bytes_stripped,
        "weights": sum(file.stat().st_size for file in (built.folder / "model" / ABI).iterdir()),
        "macs": model.macs,
        "nodes": model.nodes,
    }


def _digits(work: Path) -> None:
    shutil.copyfile(ROOT / "examples" / "digits" / "digits.onnx", work / "digits.onnx")


def _faces(work: Path) -> None:
    files_of_package(PACKAGE, MODEL, work)


def _keywords(work: Path) -> None:
    weights = stored_weights(ROOT / "examples" / "keywords" / "weights.npz")
    onnx.save(network(weights, front_end()), work / "keywords.onnx")


if __name__ == "__main__":
    target = Path(sys.argv[1])
    target.mkdir(parents=True, exist_ok=True)
    print(json.dumps(fill(target, WORK), indent=2))
