"""Quantised networks on the DSP from end to end: the bytes of the CPU, whatever part of them the DSP runs."""

from __future__ import annotations

import json
import re
import shlex
from pathlib import Path

import numpy as np
import pytest
import yaml

from buildtool import workflow
from buildtool.builders import hexagon
from buildtool.cli.main import run
from buildtool.errors import ConfigError, RunError, UnsupportedError
from buildtool.ir.operator import Array
from buildtool.settings import DeviceSpec, Options, RunSettings
from tests.examples.test_documented_commands import pages
from tests.native_builds import ROOT
from tests.zoo.networks import NETWORKS, cached
from tests.zoo.quantised import quantised

_ZOO = ROOT / "build" / "test-zoo"
_SIZE, _WIDTH = 64, 0.25
_ON_DSP = (DeviceSpec("dsp-sim"),)


def _deployment(folder: Path, network: str, runtime: str, *, is_quantised: bool = True, **keys: object) -> Path:
    make = quantised if is_quantised else cached
    graph = {
        "input_tensors": ["input"],
        "input_shapes": [f"1,3,{_SIZE},{_SIZE}"],
        "input_data_formats": ["NCHW"],
        "output_tensors": ["output"],
        "output_shapes": ["1,1000"],
    }
    model: dict[str, object] = {
        "platform": "onnx",
        "model_file_path": str(make(network, _ZOO, _SIZE, _WIDTH)),
        "runtime": runtime,
    }
    model |= {"quantize": 1, "subgraphs": [graph]} if is_quantised else {"subgraphs": [graph]}
    file = folder / f"{network}.yml"
    file.write_text(yaml.safe_dump({"library_name": network, "models": {network: model}, **keys}))
    return file


def _outputs(file: Path, folder: Path, devices: tuple[DeviceSpec, ...] = ()) -> tuple[Array, dict[str, str]]:
    """What a network gives for an image, and what ran it."""
    image = folder / "image.npy"
    rng = np.random.default_rng(3)
    np.save(image, rng.uniform(-1, 1, (1, 3, _SIZE, _SIZE)).astype(np.float32))
    settings = RunSettings(devices=devices, inputs={"input": image}, output_folder=folder / "outputs", threads=1)
    (run,) = workflow.run(file, options=Options(output=folder / "build"), settings=settings).as_json()["runs"]
    return np.load(run["outputs"][0]["file"]), run.get("gpu", {"kind": "cpu"})


def _compare(network: str, runtime: str, folder: Path) -> None:
    on_cpu, on_dsp = folder / "cpu", folder / "dsp"
    on_cpu.mkdir()
    on_dsp.mkdir()
    wanted, _ = _outputs(_deployment(on_cpu, network, "cpu"), on_cpu)
    found, told = _outputs(_deployment(on_dsp, network, runtime), on_dsp, _ON_DSP)
    assert (told["kind"], told["reason"]) == ("dsp", "")
    np.testing.assert_array_equal(found, wanted)
    assert len(np.unique(found)) > 20


@pytest.mark.slow
def test_a_network(tmp_path: Path) -> None:
    _compare("mobilenet_v2", "dsp", tmp_path)
    (program,) = (tmp_path / "dsp" / "build" / "mobilenet_v2" / "lib").glob("hexagon-*/*.so")
    assert program.relative_to(tmp_path / "dsp" / "build").as_posix() == (
        "mobilenet_v2/lib/hexagon-v66/libmobilenet_v2_skel.so"
    )
    exported, imported = hexagon.symbols_of(program)
    assert exported == {"mobilenet_v2_skel_handle_invoke"}
    assert imported <= hexagon.IMPORTS
    report = json.loads((tmp_path / "dsp" / "build" / "mobilenet_v2" / "report" / "build.json").read_text())
    placement = report["models"][0]["plans"][0]["placement"]
    assert placement["regions"] == 1
    on_cpu = [node["reason"] for node in placement["nodes"] if node["side"] == "cpu"]
    assert len(on_cpu) == 2  # from real numbers at the start, and to real numbers at the end
    assert all("the DSP computes with quantised numbers of 8 bits" in reason for reason in on_cpu)


@pytest.mark.sweep
@pytest.mark.parametrize("runtime", ["dsp", "cpu+dsp"])
@pytest.mark.parametrize("network", NETWORKS)
def test_networks(network: str, runtime: str, tmp_path: Path) -> None:
    if runtime == "dsp":
        _compare(network, runtime, tmp_path)
        return
    on_cpu = tmp_path / "cpu"
    on_cpu.mkdir()
    wanted, _ = _outputs(_deployment(on_cpu, network, "cpu"), on_cpu)
    found, _ = _outputs(_deployment(tmp_path, network, runtime), tmp_path)
    np.testing.assert_array_equal(found, wanted)


@pytest.mark.slow
def test_the_commands_of_the_page(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """docs/how-to/hexagon.md"""
    file = _deployment(tmp_path, "mobilenet_v2", "hexagon")
    file.rename(tmp_path / "detector.yml")
    monkeypatch.chdir(tmp_path)
    commands = pages()["docs/how-to/hexagon.md"]
    assert len(commands) == 3
    for command in commands:
        assert run(shlex.split(command)[1:]) == 0
    assert re.search(r"mobilenet_v2 .* Hexagon DSP", capsys.readouterr().out)


@pytest.mark.sweep
def test_all_versions_of_the_dsp(tmp_path: Path) -> None:
    file = _deployment(tmp_path, "squeezenet_v11", "dsp", hexagon_versions=["v65", "v66", "v68"])
    workflow.build(file, options=Options(output=tmp_path / "build"))
    programs = sorted((tmp_path / "build" / "squeezenet_v11" / "lib").glob("hexagon-*/*.so"))
    flags = [int.from_bytes(program.read_bytes()[36:40], "little") for program in programs]
    assert flags == [0x65, 0x66, 0x68]


def test_a_model_of_real_numbers(tmp_path: Path) -> None:
    file = _deployment(tmp_path, "mobilenet_v2", "dsp", is_quantised=False)
    with pytest.raises(UnsupportedError, match=r"the model is not quantised(.|\n)*lathe quantize FILE"):
        workflow.convert(file, options=Options(output=tmp_path / "build"))


def test_a_version_that_does_not_exist(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match="hexagon_versions"):
        workflow.convert(_deployment(tmp_path, "mobilenet_v2", "dsp", hexagon_versions=["v99"]))


@pytest.mark.slow
def test_dsp_sim_is_for_libraries_with_a_program(tmp_path: Path) -> None:
    with pytest.raises(RunError, match="the library has no program for the DSP"):
        _outputs(_deployment(tmp_path, "mobilenet_v2", "cpu"), tmp_path, _ON_DSP)
