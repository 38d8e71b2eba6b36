"""`lathe_run` in both of its forms, for every ABI."""

from __future__ import annotations

import subprocess
from pathlib import Path

import numpy as np
import pytest

from buildtool.builders.objects import ObjectCache
from buildtool.builders.runner import shared_runner, static_runner
from tests.builders.conftest import ABIS, Build, relu_network, source

EMULATORS = {
    "host": [],
    "aarch64-linux-gnu": ["qemu-aarch64", "-L", "/usr/aarch64-linux-gnu"],
    "arm-linux-gnueabihf": ["qemu-arm", "-L", "/usr/arm-linux-gnueabihf"],
}


@pytest.mark.parametrize("abi", ABIS)
@pytest.mark.parametrize("kind", ["shared", "static"])
@pytest.mark.slow
def test_a_model_runs(build: Build, cache: ObjectCache, tmp_path: Path, abi: str, kind: str) -> None:
    built = build(source("one", [relu_network()], code=True), abi, owner="runner")
    if kind == "shared":
        command: list[str | Path] = [shared_runner(abi, cache), "--library", built.shared]
        assert shared_runner(abi, cache) == command[0]
    else:
        command = [static_runner(abi, "one", built.static, cache)]
    array = np.linspace(-1, 1, 10, dtype=np.float32).reshape(2, 5)
    np.save(tmp_path / "x.npy", array)
    command += ["--input", f"x={tmp_path}/x.npy", "--output", f"{OUTPUT}={tmp_path}/y.npy"]
    done = subprocess.run([*EMULATORS[abi], *command], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    np.testing.assert_array_equal(np.load(tmp_path / "y.npy"), np.maximum(array, 0))


OUTPUT = relu_network().outputs[0].name
