"""A wheel of this source tree, and an environment that has it and not the source tree."""

from __future__ import annotations

import subprocess
import sys
import sysconfig
import zipfile
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from tests.shared_folders import filled_once

ROOT = Path(__file__).resolve().parent.parent.parent


@dataclass(frozen=True)
class Environment:
    """A virtual environment into which the wheel was installed."""

    python: Path
    packages: Path

    def run(self, program: str, *arguments: str, folder: Path, **options: Any) -> subprocess.CompletedProcess[str]:
        """Run a program of the environment in a folder; its standard output is in the result."""
        command = [str(self.python.with_name(program)), *arguments]
        return subprocess.run(command, cwd=folder, text=True, stdout=subprocess.PIPE, check=True, **options)


@pytest.fixture(scope="session")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return next(filled_once(tmp_path_factory, "wheel", _build_wheel).glob("*.whl"))


def _build_wheel(folder: Path) -> None:
    command = [sys.executable, "-m", "pip", "wheel", "-qq", "--no-deps", "--no-build-isolation", "--no-index"]
    build_folder = f"--config-settings=build-dir={folder / 'build'}"  # the tree's own may be in use
    subprocess.run([*command, build_folder, f"--wheel-dir={folder}", str(ROOT)], check=True)


@pytest.fixture(scope="session")
def contents(wheel: Path) -> list[str]:
    return zipfile.ZipFile(wheel).namelist()


@pytest.fixture(scope="session")
def environment(wheel: Path, tmp_path_factory: pytest.TempPathFactory) -> Environment:
    """Has the dependencies of the environment that runs the tests, but not its editable Lathe.

    A folder that a .pth file names is put on the path, and the .pth files in it are not read: that is how the editable
    install stays outside.
    """
    folder = filled_once(tmp_path_factory, "environment", partial(_install, wheel))
    return Environment(folder / "bin" / "python", _packages(folder))


def _install(wheel: Path, folder: Path) -> None:
    subprocess.run([sys.executable, "-m", "venv", "--without-pip", folder], check=True)
    install = [sys.executable, "-m", "pip", f"--python={folder}", "install", "-qq", "--no-deps", "--no-index"]
    subprocess.run([*install, str(wheel)], check=True)
    (_packages(folder) / "dependencies.pth").write_text(sysconfig.get_path("purelib") + "\n")


def _packages(folder: Path) -> Path:
    return folder / "lib" / f"python{sys.version_info.major}.{sys.version_info.minor}" / "site-packages"
