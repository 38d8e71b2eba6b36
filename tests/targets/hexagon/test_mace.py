"""MACE's example program with DeviceType::HEXAGON, on the emulated DSP."""

from __future__ import annotations

import os
from pathlib import Path
from unittest import mock

import numpy as np
import pytest
import yaml

import buildtool
from buildtool import workflow
from buildtool.builders import hexagon
from buildtool.builders.objects import ObjectCache
from buildtool.settings import CalibrationSettings
from tests.examples.test_mace_app import APP, EXAMPLES, STRICT, call

pytestmark = pytest.mark.slow


def _deployment(folder: Path, **keys: object) -> Path:
    described = yaml.safe_load((EXAMPLES / "mace-app" / "deploy.yml").read_text())
    model = described["models"]["digits"]
    model |= {"model_file_path": str(EXAMPLES / "digits" / "digits.onnx"), **keys}
    described |= {"target_abis": ["host"], "mace_compat": "1", "hexagon_unsigned": 0, "hexagon_power": "svs"}
    file = folder / "net.yml"
    file.write_text(yaml.safe_dump(described))
    return file


def test_the_example_on_the_dsp(tmp_path: Path) -> None:
    pictures = np.load(EXAMPLES / "digits" / "pictures.npy").reshape(-1, 8, 8, 1).astype(np.float32)
    np.save(tmp_path / "pictures.npy", pictures[:32])
    pictures[7].tofile(tmp_path / "in.bin")
    options, ranges = buildtool.Options(tmp_path / "build"), tmp_path / "ranges"
    workflow.quantize(
        _deployment(tmp_path), CalibrationSettings(tmp_path / "pictures.npy", output=ranges), options=options
    )
    file = _deployment(tmp_path, runtime="dsp", quantize=1, quantize_range_file=str(ranges))
    built = workflow.build(file, options=options)
    folder, app, log = built.folder, tmp_path / "app", tmp_path / "log"
    libraries = folder / "lib" / "host"
    call(["c++", *STRICT, f"-I{folder / 'include'}", APP, "-o", app, f"-L{libraries}", "-lmace"])
    arguments: list[str | Path] = [tmp_path / "in.bin", tmp_path / "out.bin"]
    for kind in ("pb", "data"):
        contents = np.fromfile(folder / "model" / "host" / f"digits.{kind}", np.uint8)
        (contents ^ 90).tofile(tmp_path / f"secret.{kind}")
        arguments.append(tmp_path / f"secret.{kind}")
    given = str(libraries)
    call([app, *arguments, "90", "CPU"], LD_LIBRARY_PATH=given)
    wanted = np.fromfile(tmp_path / "out.bin", np.uint32)
    warned = call([app, *arguments, "90", "HEXAGON"], LD_LIBRARY_PATH=given, LATHE_HEXAGON_LIBRARY="/nonexistent.so")
    assert "DeviceType::HEXAGON, and the CPU computes: there is no FastRPC" in warned
    (tmp_path / "out.bin").unlink()
    simulator = hexagon.simulator(ObjectCache()).environment(built.dsp_programs[0].parent)
    with mock.patch.dict(os.environ, {**simulator, "LATHE_DSP_SIM_LOG": str(log)}):
        said = call([app, *arguments, "90", "HEXAGON"], LD_LIBRARY_PATH=given)
    assert "the CPU computes" not in said
    assert np.array_equal(np.fromfile(tmp_path / "out.bin", np.uint32), wanted)
    lines = [line.split() for line in log.read_text().splitlines()]
    assert [line[0] for line in lines] == ["open", "invoke", "invoke", "close"]
    assert lines[-1][:4] == ["close", "0", "106", "100"]  # turbo, clocks that follow the load
    assert lines[-1][5:] == ["0", "0"], "threads or memory are kept"
