"""The environment of the peers, `build/bench-env`: made and filled on first use, apart from `.venv`."""

from __future__ import annotations

import json
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parents[3]
FOLDER = ROOT / "build" / "bench-env"

#: What the writers and workers need whichever peers there are.
COMMON = ("numpy<2.5", "onnx==1.23.2", "flatbuffers==25.12.19")
#: Engine -> its packages; the first one is the engine.
PEERS: dict[str, tuple[str, ...]] = {
    "onnxruntime": ("onnxruntime==1.31.1",),
    "ncnn": ("ncnn==1.0.20261020", "pnnx==20261020"),
    "litert": ("ai-edge-litert==2.3.0", "ai-edge-quantizer"),
    "openvino": ("openvino==2026.4.1",),
    "mnn": ("mnn==3.6.1",),
}
#: pnnx declares PyTorch, which its converter (a program) does without for ONNX files.
WITHOUT_DEPENDENCIES = ("pnnx",)


@dataclass(frozen=True)
class Environment:
    """Which peers are there, with their versions, and why the others are not."""

    python: Path
    versions: dict[str, str]
    left_out: dict[str, str]

    def site_packages(self) -> Path:
        command = [str(self.python), "-c", "import sysconfig; print(sysconfig.get_path('purelib'))"]
        return Path(subprocess.run(command, capture_output=True, text=True, check=True).stdout.strip())


def prepare(engines: list[str]) -> Environment:
    """Install what is missing for these peers. One that cannot be installed is left out, with the reason."""
    python = FOLDER / "bin" / "python"
    if not python.exists():
        subprocess.run([sys.executable, "-m", "venv", str(FOLDER)], check=True)
    installed = _installed(python)
    problem = _install(python, COMMON, installed)
    if problem:
        raise RuntimeError(f"the peers' environment cannot be made: {problem}")
    left_out = {}
    for engine in engines:
        problem = _install(python, PEERS[engine], installed)
        if problem:
            left_out[engine] = problem
    installed = _installed(python)
    versions = {
        engine: installed[_name(PEERS[engine][0])] for engine in engines if _name(PEERS[engine][0]) in installed
    }
    return Environment(python, {name: versions[name] for name in versions if name not in left_out}, left_out)


def _name(requirement: str) -> str:
    return requirement.split("=")[0].split("<")[0]


def _is_met(requirement: str, installed: dict[str, str]) -> bool:
    name, _, version = requirement.partition("==")
    return installed.get(_name(name)) == version if version else _name(name) in installed


def _install(python: Path, requirements: tuple[str, ...], installed: dict[str, str]) -> str:
    """Why a requirement could not be installed; empty where all are there. An index without the version that is asked
    for may have another one, which the report then names."""
    for requirement in requirements:
        name = _name(requirement)
        if _is_met(requirement, installed):
            continue
        problem = _pip(python, requirement)
        if problem and name not in installed and name != requirement:
            problem = _pip(python, name)
        if problem and name not in installed:
            return problem
    return ""


def _pip(python: Path, requirement: str) -> str:
    sys.stderr.write(f"installing {requirement}\n")
    options = ["--no-deps"] if _name(requirement) in WITHOUT_DEPENDENCIES else []
    command = [str(python), "-m", "pip", "install", "--quiet", "--disable-pip-version-check", *options, requirement]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode == 0:
        return ""
    lines = [line for line in done.stderr.splitlines() if line.startswith("ERROR")]
    return f"{requirement} cannot be installed: {lines[-1] if lines else done.stderr[-200:]}"


def _installed(python: Path) -> dict[str, str]:
    program = "import importlib.metadata as m, json; print(json.dumps({d.name: d.version for d in m.distributions()}))"
    done = subprocess.run([str(python), "-c", program], capture_output=True, text=True, check=True)
    return {name.lower().replace("_", "-"): version for name, version in json.loads(done.stdout).items()}
