"""The wheel for boards: what it holds, how large it is, and that it reads the digits where nothing else of Lathe is."""

from __future__ import annotations

import email
import json
import os
import shutil
import subprocess
import sys
import zipfile
from pathlib import Path

import numpy as np
import pytest

import buildtool
from scripts import release, runtime_wheel
from tests.packaging.conftest import ROOT

DIGITS = ROOT / "examples" / "digits"
#: The root of a Debian system for arm64 with python3-numpy, where there is one.
ARM64 = os.environ.get("LATHE_ARM64_PYTHON_ROOT", "")


def test_the_wheel_is_small_and_needs_numpy_alone(tmp_path: Path) -> None:
    wheel = runtime_wheel.write(tmp_path)
    assert wheel.stat().st_size < 100_000 < runtime_wheel.MOST_BYTES
    with zipfile.ZipFile(wheel) as archive:
        names = archive.namelist()
        info = next(name for name in names if name.endswith("/METADATA"))
        facts = email.message_from_bytes(archive.read(info))
        record = archive.read(info.replace("METADATA", "RECORD")).decode().split()
    assert facts.get_all("Requires-Dist") == ["numpy>=1.24"]
    assert facts["Version"] == buildtool.version()
    assert sorted(row.partition(",")[0] for row in record) == sorted(names)
    sources = [path.relative_to(ROOT / "buildtool").as_posix() for path in runtime_wheel.PACKAGE.rglob("*.py")]
    assert set(sources) < set(names)
    assert wheel.read_bytes() == runtime_wheel.write(tmp_path / "again").read_bytes()


@pytest.mark.slow
@pytest.mark.parametrize("abi", ["host", pytest.param("aarch64-linux-gnu", marks=pytest.mark.arm)])
def test_a_python_with_the_wheel_alone_reads_the_digits(abi: str, tmp_path: Path) -> None:
    if abi != "host" and not ARM64:
        pytest.skip("LATHE_ARM64_PYTHON_ROOT names no root of Debian for arm64 with python3-numpy: nothing ran in qemu")
    options = buildtool.Options(tmp_path / "build", archive=False)
    built = buildtool.build(DIGITS / "deploy.yml", buildtool.Overrides((abi,)), options).folder
    for file in (f"lib/{abi}/libdigits.so", f"model/{abi}/digits.pb", f"model/{abi}/digits.data"):
        shutil.copy(built / file, tmp_path)
    for name in ("pictures.npy", "labels.npy"):
        shutil.copy(DIGITS / name, tmp_path)
    with zipfile.ZipFile(runtime_wheel.write(tmp_path)) as archive:
        archive.extractall(tmp_path / "site")
    search = {"PYTHONPATH": str(tmp_path / "site"), "PYTHONNOUSERSITE": "1"}
    if abi == "host":
        search["PYTHONPATH"] += f":{Path(np.__file__).parents[1]}"  # its NumPy; and so buildtool may be found
        command = [sys.executable, "-c", release.READ_ON_BOARD]
    else:
        python = f"{ARM64}/usr/bin/python3"
        variables = [word for key, value in search.items() for word in ("-E", f"{key}={value}")]
        libraries = f"LD_LIBRARY_PATH={ARM64}/usr/lib/aarch64-linux-gnu/blas:{ARM64}/usr/lib/aarch64-linux-gnu/lapack"
        home = ["-E", f"PYTHONHOME={ARM64}/usr", "-E", libraries]
        search["PYTHONPATH"] += f":{ARM64}/usr/lib/python3/dist-packages"
        variables = [word for key, value in search.items() for word in ("-E", f"{key}={value}")]
        command = ["qemu-aarch64", "-L", ARM64, *home, *variables, python, "-c", release.READ_ON_BOARD]
    environment = {**os.environ, **(search if abi == "host" else {})}
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False, env=environment)
    assert done.returncode == 0, done.stderr
    told = json.loads(done.stdout)
    assert told["correct"] >= release.LEAST_CORRECT
    assert told["alone"] or abi == "host"
