"""The image processing of Paddle-Lite's C++ interface, in programs that were written for it."""

from __future__ import annotations

import os
import re
import subprocess
from pathlib import Path

import numpy as np
import pytest

import buildtool
from tests.native_builds import QEMU
from tests.vision import definitions as d
from tests.vision.test_libraries import ABIS, COMPILERS, built

PROGRAM = Path(__file__).with_name("paddle_images.cc")
STRICT = ["-std=c++11", "-Wall", "-Wextra", "-Werror"]
HELD = ["convert", "resize", "rotate", "flip", "to_tensor"]
#: The documentation of Paddle-Lite, whose example is tried, where it is.
SEED = os.environ.get("LATHE_PADDLE_LITE_DOCS", "")


def library(folder: Path, abis: list[str], held: list[str]) -> buildtool.BuildReport:
    return built(folder, abis, vision=held, top={"paddle_compat": "1"})


def compiled(report: buildtool.BuildReport, abi: str, source: Path, program: Path) -> None:
    archive = report.file_of(abi, "static")
    words = [COMPILERS[abi], *STRICT, f"-I{report.folder / 'include'}", source, archive, "-lpthread", "-o", program]
    subprocess.run([str(word) for word in words], check=True)


@pytest.mark.slow
@pytest.mark.parametrize("abi", ABIS)
def test_each_call_equals_its_definition(abi: str, tmp_path: Path) -> None:
    report = library(tmp_path, list(dict.fromkeys(["host", abi])), HELD)
    compiled(report, abi, PROGRAM, tmp_path / "program")
    width, height, new_width, new_height = 70, 46, 35, 23
    random = np.random.default_rng(2)
    planes = [random.integers(0, 256, shape, np.uint8) for shape in d.plane_shapes(d.NV12, width, height)]
    (tmp_path / "frame").write_bytes(b"".join(plane.tobytes() for plane in planes))
    model = report.folder / "model" / abi / "camera.pb"
    words = [model, tmp_path / "frame", width, height, new_width, new_height, tmp_path / "steps"]
    command = [str(word) for word in (*QEMU.get(abi, []), tmp_path / "program", *words)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 3
    assert "degrees are 90, 180 or 270" in done.stderr  # the last call of the program

    data = (tmp_path / "steps").read_bytes()
    (rgb,) = d.convert(d.NV12, planes, width, height, d.FULL, d.RGB, d.FULL)
    sizes = [rgb.size, *[3 * new_width * new_height] * 3]
    parts = np.split(np.frombuffer(data[: sum(sizes)], np.uint8).astype(float), np.cumsum(sizes)[:-1])
    converted, resized, rotated, flipped = parts
    np.testing.assert_array_equal(converted, rgb.ravel())
    (target,) = d.resize([rgb.astype(np.uint8)], [np.zeros((new_height, new_width, 3), np.uint8)], d.BILINEAR)
    assert np.abs(resized - target.ravel()).max() <= 1
    image = resized.reshape(new_height, new_width, 3)
    np.testing.assert_array_equal(rotated.reshape(new_width, new_height, 3), np.rot90(image, -1))
    np.testing.assert_array_equal(flipped.reshape(new_width, new_height, 3), np.rot90(image, -1)[::-1])
    tensor = np.frombuffer(data[sum(sizes) :], np.float32).reshape(-1, 3)
    wanted = (flipped.reshape(-1, 3) - [127.5, 110, 90]) * [0.5, 0.25, 0.125]
    np.testing.assert_allclose(tensor, wanted, rtol=1e-6, atol=1e-5)


@pytest.mark.slow
def test_a_function_that_the_library_lacks_is_named(tmp_path: Path) -> None:
    report = library(tmp_path, ["host"], ["flip"])
    compiled(report, "host", PROGRAM, tmp_path / "program")
    (tmp_path / "frame").write_bytes(bytes(6))
    words = [tmp_path / "program", "camera.pb", tmp_path / "frame", 2, 2, 1, 1, tmp_path / "steps"]
    done = subprocess.run([str(word) for word in words], capture_output=True, text=True, check=False)
    assert done.returncode == 3
    assert "built without 'convert': add it to the key 'vision' of the deployment file" in done.stderr


#: What the example does not declare.
AROUND = """
#include "paddle_image_preprocess.h"
using namespace paddle::lite::utils::cv;

int main() {{
  const uint8_t* src = nullptr;
  uint8_t *lite_dst = nullptr, *resize_tmp = nullptr, *tv_out_ratote = nullptr, *tv_out_flip = nullptr;
  Tensor& dst_tensor = *static_cast<Tensor*>(nullptr);
  float *means = nullptr, *scales = nullptr;
  ImageFormat srcFormat, dstFormat;
  int srch, srcw, dsth, dstw;
  FlipParam flip_param;
  float degree;
  LayoutType layout = LayoutType::NCHW;
  {code}
}}
"""


@pytest.mark.skipif(not SEED, reason="LATHE_PADDLE_LITE_DOCS names no documentation of Paddle-Lite")
def test_the_example_of_its_documentation_compiles(tmp_path: Path) -> None:
    """As it is there, but for a full-width comma, a semicolon that is missing, and the declaration of a function that
    is meant as that of an object."""
    page = Path(SEED).read_text(encoding="utf-8")
    start = page.index("// init\nsrcFormat = ImageFormat::NV12;")
    lines = page[start : page.index("<|", start)].split("\n")
    example = "\n".join(line for line in lines if not line.endswith(" Demo"))
    statements = re.findall(r"^[a-zA-Z_].*?(?:;$|NHWC$)", example, re.MULTILINE | re.DOTALL)
    kept = [line.replace("\uff0c", ",").rstrip(";") + ";" for line in statements if "preprocess()" not in line]
    code = "\n  ".join(kept)
    assert code.count("image_preprocess.image") == 10
    report = library(tmp_path, ["host"], HELD)
    (tmp_path / "example.cc").write_text(AROUND.format(code=code), encoding="utf-8")
    words = ["c++", "-std=c++11", f"-I{report.folder / 'include'}", "-fsyntax-only", tmp_path / "example.cc"]
    subprocess.run([str(word) for word in words], check=True)
