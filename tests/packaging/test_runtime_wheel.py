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
#: For each ABI an emulator, the variable that names a root of Debian with python3-numpy, and its folder of libraries.
ROOTS = {
    "aarch64-linux-gnu": ("qemu-aarch64", "LATHE_ARM64_PYTHON_ROOT", "aarch64-linux-gnu"),
    "arm-linux-gnueabihf": ("qemu-arm", "LATHE_ARMHF_PYTHON_ROOT", "arm-linux-gnueabihf"),
}


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
@pytest.mark.parametrize("abi", ["host", *(pytest.param(abi, marks=pytest.mark.arm) for abi in ROOTS)])
def test_a_python_with_the_wheel_alone_reads_the_digits(abi: str, tmp_path: Path) -> None:
    emulator, variable, machine = ROOTS.get(abi, ("", "", ""))
    root = os.environ.get(variable, "")
    if variable and not root:
        pytest.skip(f"{variable} names no root of Debian for {machine} with python3-numpy: nothing ran in qemu")
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
        python, libraries = f"{root}/usr/bin/python3", f"{root}/usr/lib/{machine}"
        search["PYTHONPATH"] += f":{root}/usr/lib/python3/dist-packages"
        search |= {"PYTHONHOME": f"{root}/usr", "LD_LIBRARY_PATH": f"{libraries}/blas:{libraries}/lapack"}
        variables = [word for key, value in search.items() for word in ("-E", f"{key}={value}")]
        command = [emulator, "-L", root, *variables, python, "-c", release.READ_ON_BOARD]
    environment = {**os.environ, **(search if abi == "host" else {})}
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False, env=environment)
    assert done.returncode == 0, done.stderr
    told = json.loads(done.stdout)
    assert told["correct"] >= release.LEAST_CORRECT
    assert told["alone"] or abi == "host"
