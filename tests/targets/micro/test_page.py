"""The commands of docs/how-to/microcontrollers.md run as they stand, and its C compiles."""

from __future__ import annotations

import os
import re
import shlex
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from tests.targets.micro.quantised_models import Model

PAGE = Path(__file__).resolve().parents[3] / "docs" / "how-to" / "microcontrollers.md"
pytestmark = [pytest.mark.arm, pytest.mark.slow]


def keywords() -> bytes:
    model = Model(1)
    x = model.conv(model.input(1, 12, 10, 1), 16, (5, 4), 2)
    x = model.conv(model.depthwise(x, (3, 3)), 16, (1, 1))
    x = model.pool(x, "AVERAGE", 5, 5)
    return model.file(model.softmax(model.dense(model.reshape(x, 1, 16), 4)))


def blocks(language: str) -> list[str]:
    return re.findall(rf"^```{language}\n(.*?)^```$", PAGE.read_text(), re.DOTALL | re.MULTILINE)


def run(line: str | list[str], folder: Path) -> str:
    words = shlex.split(line) if isinstance(line, str) else line
    paths = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
    env = {**os.environ, "PATH": paths}
    done = subprocess.run(words, cwd=folder, env=env, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_the_page(tmp_path: Path) -> None:
    (tmp_path / "keywords.tflite").write_bytes(keywords())
    deployment, with_host, heard = blocks("yaml")
    (tmp_path / "keywords.yml").write_text(deployment)
    (commands,) = blocks("sh")
    _, validated, ran, measured = [run(line, tmp_path) for line in commands.splitlines()]
    assert "all 1 passed" in validated
    assert validated.count(" equal ") == 1
    (tmp_path / "host.yml").write_text(deployment.replace("target_abis: [cortex-m4]\n", with_host))
    assert run("lathe validate host.yml", tmp_path).count(" equal ") == 2
    assert "mps2-an386" in ran and "mps3-an547" in measured and "virt" in measured
    project = tmp_path / "build" / "keywords" / "lib" / "cortex-m4" / "keywords"
    example, _ = blocks("c")  # the second is a part of a program
    (project / "app.c").write_text(example)
    flags = ["-mcpu=cortex-m4", "-mthumb", "-Wall", "-Wextra", "-Werror", "-Isrc"]
    run(["arm-none-eabi-gcc", *flags, "-c", "app.c"], project)
    code = '#include "mace/micro_keywords.h"\nint main() { micro::MaceMicroEngine* e; micro::keywords::'
    code += "GetMicroEngineSingleton(&e); void* data; const int32_t* dims; int32_t count; return e->Run() + "
    code += "e->GetOutputData(0, &data, &dims, &count) + e->RegisterInputData(0, data, dims); }\n"
    (project / "app.cc").write_text(code)
    run(["arm-none-eabi-g++", *flags, "-fno-exceptions", "-c", "app.cc"], project)
    run("make", project)
    _cmake(project)
    _front_end(tmp_path, deployment, heard)


def _front_end(folder: Path, deployment: str, heard: str) -> None:
    """The model with a front end: the C of the page's line, and its twin."""
    (folder / "keywords.yml").write_text(deployment + heard.splitlines(keepends=True)[1])
    run("lathe build keywords.yml", folder)
    project = folder / "build" / "keywords" / "lib" / "cortex-m4" / "keywords"
    run("make", project)
    assert "#define KEYWORDS_SAMPLES 4000\n" in (project / "src" / "keywords_frontend.h").read_text()
    names: dict[str, Any] = {"samples": np.zeros(16000, np.int16), "picture": np.zeros((240, 320, 3), np.uint8)}
    (twin,) = blocks("python")
    exec(twin, names)
    assert names["rows"].shape == (49, 10) and names["pixels"].shape == (96, 96, 3)


def _cmake(project: Path) -> None:
    """The project as CMake builds it, with the compiler of the target."""
    options = ["-DCMAKE_SYSTEM_NAME=Generic", "-DCMAKE_C_COMPILER=arm-none-eabi-gcc", "-DCMAKE_C_FLAGS=-mcpu=cortex-m4"]
    run(
        ["cmake", "-S", ".", "-B", "out", "-G", "Ninja", "-DCMAKE_TRY_COMPILE_TARGET_TYPE=STATIC_LIBRARY", *options],
        project,
    )
    run(["cmake", "--build", "out"], project)
    assert (project / "out" / "libkeywords.a").is_file()
