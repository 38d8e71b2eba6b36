"""The installed wheel does the whole example in an empty folder, where there is no source tree."""

from __future__ import annotations

import json
import os
import shutil
from pathlib import Path

import pytest

from tests.cli.conftest import EXAMPLE
from tests.packaging.conftest import Environment

pytestmark = pytest.mark.slow

READ_DIGITS = """
import numpy, buildtool
pictures, labels = numpy.load("pictures.npy"), numpy.load("labels.npy")
with buildtool.load("build/digits/lib/host/libdigits.so", model="digits") as model:
    answers = [model.run({"image": picture[None]})["probabilities"].argmax() for picture in pictures]
print(buildtool.__file__)
print((numpy.array(answers) == labels).mean())
"""


def test_the_example_from_an_installed_wheel(environment: Environment, tmp_path: Path) -> None:
    for name in ("digits.onnx", "pictures.npy", "labels.npy"):
        shutil.copy(EXAMPLE / name, tmp_path / name)
    settings = {key: value for key, value in os.environ.items() if key != "PYTHONPATH"}
    settings["LATHE_CACHE_DIR"] = str(tmp_path / "cache")

    def lathe(*arguments: str) -> str:
        return environment.run("lathe", *arguments, folder=tmp_path, env=settings).stdout

    lathe("init", "digits.onnx", "--target-abis", "host", "--data-type", "fp32_fp32")
    lathe("check", "digits.yml")
    built = json.loads(lathe("build", "digits.yml", "--json"))
    assert built["libraries"][0]["exported"] == ["lathe_api_digits"]
    assert json.loads(lathe("run", "digits.yml", "--json"))["runs"][0]["outputs"][0]["shape"] == [1, 10]
    results = json.loads(lathe("validate", "digits.yml", "--json"))["results"]
    assert [item["passed"] for item in results] == [True, True]
    lathe("dev", "new-op", "hard_tanh", "--path", "my_ops")
    where, right = environment.run("python", "-c", READ_DIGITS, folder=tmp_path, env=settings).stdout.split()
    assert Path(where).is_relative_to(environment.packages)
    assert float(right) >= 0.9
