"""What Bazel's actions ask of Lathe: a conversion (declared files in, the sources of a library out), and a check.

    python convert.py [SITE] REQUEST

SITE is a folder of Python packages, for interpreters that do not know of Lathe. REQUEST is a JSON file, written by the
rule `lathe_library`. Of a conversion:

    deployment, library_name, abi, model_graph_format, model_data_format
    files      {path that the deployment may name: path of the file}
    kernels    {instruction set: folder for the sources of its kernels}
    headers    folder for the headers of the user's own operators
    registry   file for the generated registry
    embedded   folder for what goes into the library as bytes
    include    folder for the headers that the user of the library includes
    models     folder for the models that stay files beside the library
    symbols    file for the names that the library exports; `undefined` the same as an option for the linker;
    exports    the same as a version script
    promises   file for what has to hold of the libraries, for the check

    dsp        folder for the sources of programs on the DSP, where models have parts for it

Of a program on the DSP, which is compiled here, because Bazel's compilers do not know the DSP:

    dsp_sources    the folder from the conversion
    dsp_programs   folder for hexagon-<version>/lib<library>_skel.so, empty where no model has a part for the DSP
    library_name
    flags          {"version", "library", "core": lists of options of the compiler}

And of a check, which copies a library where all of it holds:

    check      [[path of a library, path of the copy], ...]
    promises   the file from the conversion
"""

from __future__ import annotations

import functools
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Collection
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path, PurePosixPath
from typing import Any

_RESULTS = "results"
_DSP_PREFIX = "hexagon-"
_INCLUDE_FOLDERS = ("", "native/include", "include")
_AT_ONCE = 2  # compilers
_UNIT = re.compile(r"^  (native/\S+\.cc)$", re.MULTILINE)
_INCLUDED = re.compile(r'^#include "(native/.+\.cc)"$', re.MULTILINE)


def main(request: dict[str, Any]) -> int:
    if "check" in request:
        return _check(request)
    return _build_for_dsp(request) if "dsp_sources" in request else _convert(request)


def _check(request: dict[str, Any]) -> int:
    from buildtool.builders.elf import check_library
    from buildtool.errors import LatheError

    promises = json.loads(Path(request["promises"]).read_text())
    try:
        for library, copy in request["check"]:
            check_library(Path(library), promises["api"], promises["glibc_floor"])
            shutil.copyfile(library, copy)
    except LatheError as error:
        sys.stderr.write(f"{error.render()}\n")
        return error.exit_code
    return 0


def _build_for_dsp(request: dict[str, Any]) -> int:
    from buildtool.builders import hexagon
    from buildtool.builders.process import Processes
    from buildtool.codegen.library import DSP_UNITS, dsp_file
    from buildtool.errors import LatheError

    sources, programs, flags = Path(request["dsp_sources"]), Path(request["dsp_programs"]), request["flags"]
    programs.mkdir(parents=True, exist_ok=True)
    try:
        for folder in sorted(sources.glob(f"abi/{_DSP_PREFIX}*")):
            own = [flag.replace("%VERSION%", folder.name.removeprefix(_DSP_PREFIX)) for flag in flags["version"]]
            command = [str(hexagon.compiler()), *own, "-isystem", str(hexagon.headers()), *flags["library"]]
            command += [f"-ffile-prefix-map={sources}/=", *(f"-I{sources / path}" for path in _INCLUDE_FOLDERS)]
            with tempfile.TemporaryDirectory(prefix="lathe-") as objects:
                units = (folder / DSP_UNITS).read_text().split()
                compile_one = functools.partial(_compile, command, flags["core"], sources, Path(objects))
                with ThreadPoolExecutor(_AT_ONCE) as threads:
                    compiled = list(threads.map(compile_one, units))
                file = programs / folder.name / dsp_file(request["library_name"])
                identifier = (sources / "identifier").read_text()
                hexagon.link_program(Processes(), compiled, file, identifier)
                file.with_suffix(".map").unlink()
    except LatheError as error:
        sys.stderr.write(f"{error.render()}\n")
        return error.exit_code
    except subprocess.CalledProcessError as problem:
        sys.stderr.write(f"{problem}\n")
        return 1
    return 0


def _compile(command: list[str], core: list[str], sources: Path, objects: Path, unit: str) -> Path:
    made = objects / f"{unit.replace('/', '_')}.o"
    is_core = not _is_unit(PurePosixPath(unit)) and not unit.startswith("abi/")
    subprocess.run([*command, *(core if is_core else ()), "-c", str(sources / unit), "-o", str(made)], check=True)
    return made


def _convert(request: dict[str, Any]) -> int:
    from buildtool.cli.main import run

    here = Path.cwd()
    # In a folder of its own, so that messages and results tell no path of this machine.
    with tempfile.TemporaryDirectory(prefix="lathe-") as scratch:
        os.chdir(scratch)
        try:
            _stage(request["files"], here)
            os.environ["LATHE_CACHE_DIR"] = str(Path(scratch, "cache"))
            failed = run(_command(request))
            if not failed:
                _distribute(request, here, Path(_RESULTS, request["library_name"]))
        finally:
            os.chdir(here)
    return failed


def _stage(files: dict[str, str], here: Path) -> None:
    """Copies, because what reads files that belong to a model may refuse links out of its folder."""
    for path, source in sorted(files.items()):
        target = Path(path)
        target.parent.mkdir(parents=True, exist_ok=True)
        if (here / source).is_dir():
            shutil.copytree(here / source, target, dirs_exist_ok=True)
        else:
            shutil.copyfile(here / source, target)


def _command(request: dict[str, Any]) -> list[str]:
    """The arguments of the command `lathe`."""
    command = ["convert", request["deployment"], "--quiet", "--emit=source", "--output", _RESULTS]
    command += ["--target-abis", request["abi"], "--library-name", request["library_name"]]
    for key in ("model_graph_format", "model_data_format"):
        if request[key]:
            command += [f"--{key}", request[key]]
    return command


def _distribute(request: dict[str, Any], here: Path, folder: Path) -> None:
    """Every file of the result to the output that it belongs to; all outputs exist, if only as empty folders."""
    from buildtool.requests.deployments import load_deployment

    out = {name: here / request[name] for name in ("headers", "embedded", "include", "models", "dsp")}
    out |= {f"kernels/{isa}": here / path for isa, path in request["kernels"].items()}
    for path in out.values():
        path.mkdir(parents=True, exist_ok=True)
    source, generated = folder / "source", folder / "source" / "abi" / request["abi"]
    native = {PurePosixPath(file.relative_to(source)): file for file in _files(source / "native")}
    included = {name for path, file in native.items() if _is_unit(path) for name in _INCLUDED.findall(file.read_text())}
    on_host = _UNIT.findall((generated / "sources.cmake").read_text())
    for path, file in native.items():
        if path.suffix == ".cc" and str(path) not in included and str(path) not in on_host:
            continue  # of the program on the DSP alone
        room = _room_of(path, included)
        if room:
            _copy(file, out[room] / path)
    for file in _files(source / "include"):
        _copy(file, out["include"] / file.relative_to(source / "include"))
    for file in _files(generated):
        if file.name == "weights.S" or file.suffix in (".pb", ".data"):
            _copy(file, out["embedded"] / file.name)
    for file in _files(folder / "model" / request["abi"]):
        _copy(file, out["models"] / file.name)
    _copy(generated / "registry.cc", here / request["registry"])
    _copy(source / "exports.map", here / request["exports"])
    report = json.loads((folder / "report" / "build.json").read_text())
    api = f"lathe_api_{report['identifier']}"
    if list(source.glob(f"abi/{_DSP_PREFIX}*")):
        for path in ("native", "include", *(f"abi/{found.name}" for found in source.glob(f"abi/{_DSP_PREFIX}*"))):
            shutil.copytree(source / path, out["dsp"] / path)
        (out["dsp"] / "identifier").write_text(report["identifier"])
    (here / request["symbols"]).write_text(f"{api}\n")
    (here / request["undefined"]).write_text(f"-Wl,--undefined={api}\n")
    promises = {"api": api, "glibc_floor": load_deployment(request["deployment"]).glibc_floor}
    (here / request["promises"]).write_text(json.dumps(promises) + "\n")


def _is_unit(path: PurePosixPath) -> bool:
    """Whether a native file is compiled for one instruction set, which its name ends with."""
    return path.parts[:2] == ("native", "units")


def _room_of(path: PurePosixPath, included: Collection[str]) -> str:
    """Where a native file belongs; empty for those that the rules have already: the core, and what Lathe includes.

    Sources of kernels are `included` by units: to Bazel they are headers.
    """
    from buildtool import resources

    if _is_unit(path) or (path.parts[:2] == ("native", "vision") and "__" in path.stem):
        return f"kernels/{path.stem.rpartition('__')[2]}"
    if path.suffix == ".h" or str(path) in included:
        return "" if (resources.root() / path).is_file() else "headers"
    if path.parts[:2] in (("native", "runtime"), ("native", "kernel")):
        return ""
    room = path.parts[1] if path.parts[:1] == ("native",) else ""
    return f"kernels/{room}" if room in ("opencl", "hexagon") else "kernels/portable"


def _files(folder: Path) -> list[Path]:
    return sorted(path for path in folder.rglob("*") if path.is_file()) if folder.is_dir() else []


def _copy(source: Path, target: Path) -> None:
    target.parent.mkdir(parents=True, exist_ok=True)
    shutil.copyfile(source, target)


if __name__ == "__main__":
    *sites, request_file = sys.argv[1:]
    sys.path[:0] = [str(Path(site).absolute()) for site in sites]
    sys.exit(main(json.loads(Path(request_file).read_text())))
