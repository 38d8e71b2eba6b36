"""Libraries for WebAssembly that the tests share, and Node to run them in."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from buildtool.reports.documents import BuildReport
from buildtool.settings import Options
from buildtool.workflow import building

ROOT = Path(__file__).resolve().parents[2]
DIGITS = ROOT / "examples" / "digits"
ABIS = ("wasm32", "wasm32-simd", "wasm32-relaxed-simd-threads")


def deployment(folder: Path, *, in_code: bool = False, abis: tuple[str, ...] = ABIS) -> Path:
    """The digits of the example, for WebAssembly."""
    for name in ("digits.onnx",):
        shutil.copy(DIGITS / name, folder / name)
    text = (DIGITS / "deploy.yml").read_text()
    text = text.replace("[host, aarch64-linux-gnu, arm-linux-gnueabihf]", f"[{', '.join(abis)}]")
    if in_code:
        text = text.replace("format: file", "format: code")
    file = folder / "deploy.yml"
    file.write_text(text)
    return file


@pytest.fixture(scope="session")
def digits(tmp_path_factory: pytest.TempPathFactory) -> BuildReport:
    """The example's library, models in files."""
    folder = tmp_path_factory.mktemp("digits")
    return building.build(deployment(folder), options=Options(output=folder / "build"))
