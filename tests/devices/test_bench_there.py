"""`lathe bench` on devices that are reached over a wire: whole models, and single operators."""

from __future__ import annotations

import shutil
from dataclasses import replace
from pathlib import Path

import pytest

import buildtool
from buildtool.settings import BenchSettings, DeviceSpec, Options, Overrides, RunSettings
from tests.cli.conftest import EXAMPLE
from tests.devices.conftest import ABI, Desk, SshDesk


@pytest.mark.slow
@pytest.mark.arm
def test_bench_measures_on_the_remote_device(desk: Desk, tmp_path: Path) -> None:
    for name in ("deploy.yml", "digits.onnx"):
        shutil.copy(EXAMPLE / name, tmp_path / name)
    spec = desk.server.spec if isinstance(desk, SshDesk) else DeviceSpec("adb", address=desk.word)
    settings = RunSettings(devices=(replace(spec, target_abis=()),), rounds=3, warmup=1, threads=1)
    overrides, options = Overrides(target_abis=(ABI,)), Options(output=tmp_path / "build")
    wishes = BenchSettings(peak=(10.0, 5.0))
    (item,) = buildtool.bench(tmp_path / "deploy.yml", overrides, options, settings, wishes).measurements
    assert (item["abi"], item["unit"], item["plain"]["round"]) == (ABI, "seconds", 3)
    assert item["device"] == item["properties"]["device"]
    assert [node["op"] for node in item["nodes"]].count("conv2d") == 2
    wishes = BenchSettings(only="softmax")
    (group,) = buildtool.bench(tmp_path / "deploy.yml", overrides, options, settings, wishes).operators
    assert group["results"][0]["median_ns"] > 0
