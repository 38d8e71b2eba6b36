"""The two programs behind the Bazel rules, without Bazel: finding the installed Lathe, and one conversion."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

import buildtool
from tests.cli.conftest import EXAMPLE
from tests.packaging.conftest import ROOT
from tests.targets.hexagon.shifted import DEPLOYMENT, write_model

BAZEL = ROOT / "bazel"
FOLDERS = ("headers", "embedded", "include", "models", "dsp")
HOST_ISAS = ("avx2", "avx512", "vnni", "neon", "fp16", "dotprod", "i8mm")
FILES = ("registry", "symbols", "undefined", "exports", "promises")


def script(name: str, *arguments: object, folder: Path, isolated: bool = False) -> subprocess.CompletedProcess[str]:
    options = ["-I", "-S"] if isolated else []
    command = [sys.executable, *options, str(BAZEL / name), *map(str, arguments)]
    return subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)


def request(folder: Path, deployment: str, **changed: Any) -> Path:
    """What the rule would ask for, with the network of the digits."""
    (folder / "deploy.yml").write_text(deployment)
    wishes: dict[str, Any] = {
        "abi": "aarch64-linux-gnu",
        "deployment": "app/deploy.yml",
        "files": {"app/deploy.yml": "deploy.yml", "app/nets/digits.onnx": str(EXAMPLE / "digits.onnx")},
        "kernels": {isa: f"out/kernels/{isa}" for isa in ("portable", "neon", "fp16")},
        "library_name": "renamed",
        "model_graph_format": "",
        "model_data_format": "",
        **{name: f"out/{name}" for name in (*FOLDERS, *FILES)},
        **changed,
    }
    file = folder / "request.json"
    file.write_text(json.dumps(wishes))
    return file


def deployment() -> str:
    return (EXAMPLE / "deploy.yml").read_text().replace("digits.onnx", "nets/digits.onnx")


def listed(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.rglob("*") if path.is_file())


@pytest.mark.slow
def test_a_conversion_fills_every_output(tmp_path: Path) -> None:
    done = script("convert.py", ROOT, request(tmp_path, deployment()), folder=tmp_path)
    assert done.returncode == 0, done.stderr
    out = tmp_path / "out"
    assert (out / "symbols").read_text() == "lathe_api_renamed\n"
    assert json.loads((out / "promises").read_text()) == {"api": "lathe_api_renamed", "glibc_floor": "2.17"}
    assert listed(out / "models") == ["digits.data", "digits.pb"]
    assert listed(out / "embedded") == ["weights.S"]
    assert {"c_api.h", "engine.h", "renamed.h"} <= set(listed(out / "include"))
    assert listed(out / "headers") == []  # those of Lathe are there already
    neon = listed(out / "kernels" / "neon")
    assert "conv2d_f32_gemm__neon.cc" in neon
    assert all(name.endswith("__neon.cc") for name in neon)
    assert str(tmp_path) not in (out / "registry").read_text()


@pytest.mark.slow
def test_programs_for_the_dsp(tmp_path: Path) -> None:
    """The bytes that `lathe build` gives; nothing of them is among the host's units, and the host has its own."""
    write_model(tmp_path / "shifted.onnx")
    files = {"app/deploy.yml": "deploy.yml", "app/shifted.onnx": "shifted.onnx"}
    kernels = {isa: f"out/kernels/{isa}" for isa in ("portable", "hexagon", *HOST_ISAS)}
    wishes = request(tmp_path, DEPLOYMENT, abi="host", files=files, kernels=kernels, library_name="shifted")
    done = script("convert.py", ROOT, wishes, folder=tmp_path)
    assert done.returncode == 0, done.stderr
    assert {"dsp.cc", "loader.cc", "region.cc"} <= set(listed(tmp_path / "out" / "kernels" / "hexagon"))
    assert not {"libc.cc", "program.cc"} & {*listed(tmp_path / "out" / "kernels" / "hexagon")}

    assert script("install.py", "tool", buildtool.version(), folder=tmp_path).returncode == 0
    flags: dict[str, Any] = {}
    exec((tmp_path / "tool" / "flags.bzl").read_text(), {"struct": dict}, flags)
    library = [flag for flag in flags["LIBRARY_FLAGS"] if not flag.startswith("-W")]
    of_dsp = {"version": flags["HEXAGON_FLAGS"], "library": library, "core": flags["CORE_FLAGS"]["clang"]}
    asked = {"dsp_sources": "out/dsp", "dsp_programs": "out/programs", "library_name": "shifted", "flags": of_dsp}
    (tmp_path / "dsp.json").write_text(json.dumps(asked))
    tool = [str(tmp_path / "tool" / "lathe"), "dsp.json"]
    run = subprocess.run(tool, cwd=tmp_path, env={}, capture_output=True, text=True, check=False)
    assert run.returncode == 0, run.stderr
    assert listed(tmp_path / "out" / "programs") == ["libshifted_skel.so"]

    (tmp_path / "shifted.yml").write_text(DEPLOYMENT.replace("library_name: other", "library_name: shifted"))
    built = buildtool.build(tmp_path / "shifted.yml", options=buildtool.Options(output=tmp_path / "build"))
    made = tmp_path / "out" / "programs" / "hexagon-v68" / "libshifted_skel.so"
    assert made.read_bytes() == built.dsp_programs[0].read_bytes()


@pytest.mark.slow
def test_image_functions_are_compiled_with_the_kernels(tmp_path: Path) -> None:
    text = deployment() + "    preprocess: {source: nv21}\n"
    done = script("convert.py", ROOT, request(tmp_path, text), folder=tmp_path)
    assert done.returncode == 0, done.stderr
    out = tmp_path / "out"
    assert "rows__neon.cc" in listed(out / "kernels" / "neon")
    assert {"session.cc", "tensor.cc", "readers.cc"} <= set(listed(out / "kernels" / "portable"))
    assert listed(out / "headers") == []


@pytest.mark.slow
def test_formats_hold_instead_of_those_of_the_deployment(tmp_path: Path) -> None:
    file = request(tmp_path, deployment(), model_graph_format="code", model_data_format="code")
    done = script("convert.py", ROOT, file, folder=tmp_path)
    assert done.returncode == 0, done.stderr
    assert listed(tmp_path / "out" / "models") == []
    assert listed(tmp_path / "out" / "embedded") == ["model0.data", "model0.pb", "weights.S"]


def test_only_a_library_that_keeps_its_promises_is_passed_on(tmp_path: Path) -> None:
    (tmp_path / "own.c").write_text("#include <unistd.h>\nint lathe_api_own(void) { return getpid(); }\n")
    subprocess.run(["cc", "-shared", "-nostdlib", "-fPIC", "own.c", "-lc", "-o", "own.so"], cwd=tmp_path, check=True)
    for floor, said in [("2.17", ""), ("2.1", "own.so: error: getpid need glibc 2.")]:
        (tmp_path / "promises").write_text(json.dumps({"api": "lathe_api_own", "glibc_floor": floor}))
        wishes = {"check": [["own.so", f"checked-{floor}"]], "promises": "promises"}
        (tmp_path / "request.json").write_text(json.dumps(wishes))
        done = script("convert.py", ROOT, "request.json", folder=tmp_path)
        assert done.stderr.startswith(said)
        assert bool(done.returncode) == bool(said)
        assert (tmp_path / f"checked-{floor}").exists() != bool(said)


@pytest.mark.slow
def test_a_mistake_names_the_declared_path(tmp_path: Path) -> None:
    file = request(tmp_path, deployment().replace("nets/digits.onnx", "nets/letters.onnx"))
    done = script("convert.py", ROOT, file, folder=tmp_path)
    assert done.returncode == 3
    assert done.stderr.startswith("app/deploy.yml:9:")
    assert "Traceback" not in done.stderr
    assert not (tmp_path / "out").exists()


def test_a_python_without_lathe_is_told_what_to_do(tmp_path: Path) -> None:
    done = script("install.py", tmp_path, "0.1.0", folder=tmp_path, isolated=True)
    assert done.returncode == 1
    assert f"Lathe is not installed for {sys.executable}" in done.stderr
    assert "pip install lathe-build" in done.stderr


def test_another_version_is_refused(tmp_path: Path) -> None:
    done = script("install.py", tmp_path, "99.0", folder=tmp_path)
    assert done.returncode == 1
    assert f"has Lathe {buildtool.version()}" in done.stderr
    assert "pip install lathe-build==99.0" in done.stderr


@pytest.mark.slow
def test_the_laid_out_tool_converts_with_nothing_else(tmp_path: Path) -> None:
    """Also the flags are those of the CMake files."""
    done = script("install.py", "tool", buildtool.version(), folder=tmp_path)
    assert done.returncode == 0, done.stderr
    flags: dict[str, Any] = {}
    exec((tmp_path / "tool" / "flags.bzl").read_text(), {"struct": dict}, flags)
    assert flags["ISA_FLAGS"]["avx2"] == ["-mavx2", "-mfma", "-mf16c"]
    assert flags["CORE_FLAGS"] == {
        "gnu": ["-Os", "-fomit-frame-pointer", "-fno-move-loop-invariants", "-fno-tree-loop-im"],
        "clang": ["-Os", "-fomit-frame-pointer"],
    }
    assert "-Wl,--force-group-allocation" in flags["MERGE_OPTIONS"]
    assert {"-nostdlib", "-Wl,--hash-style=gnu", "-Wl,-z,noseparate-code"} <= {*flags["LINK_OPTIONS"]}
    assert flags["TOOLCHAIN_FLAGS"]["aarch64-linux-gnu"]["link"] == ["-Wl,-z,norelro"]
    file = request(tmp_path, deployment())
    run = subprocess.run(
        [tmp_path / "tool" / "lathe", file], cwd=tmp_path, env={}, capture_output=True, text=True, check=False
    )
    assert run.returncode == 0, run.stderr
    assert listed(tmp_path / "out" / "models") == ["digits.data", "digits.pb"]
