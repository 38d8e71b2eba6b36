"""`lathe run` and `lathe validate` of kmodel files, of whatever origin."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

from buildtool.cli.main import run
from buildtool.targets.k210.format.kmodel import Kmodel, write
from buildtool.targets.k210.simulation import to_graph
from buildtool.targets.k210.simulation.simulator import Simulator
from tests.targets.k210.samples import models, planes_between_memories

MODELS = dict(models())


def saved(folder: Path, model: Kmodel) -> Path:
    path = folder / "net.kmodel"
    path.write_bytes(write(model))
    return path


def test_an_input_is_run_and_the_outputs_are_written(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    model = planes_between_memories()
    file, given = saved(tmp_path, model), tmp_path / "given.npy"
    values = np.random.default_rng(0).integers(0, 256, model.input_bytes)
    np.save(given, values)
    out, dumped = tmp_path / "out", tmp_path / "layers"
    words = ["run", str(file), "--input", f"input={given}", "--output-dir", str(out), "--dump", str(dumped), "--json"]
    assert run(words) == 0
    document = json.loads(capsys.readouterr().out)
    (found,) = document["runs"]
    expected = Simulator(model).run(values.astype(np.uint8).tobytes())
    assert (found["abi"], found["device"], len(found["outputs"])) == ("k210", "simulator", len(expected))
    for output, data in zip(found["outputs"], expected, strict=True):
        array = np.load(output["file"])
        kind = np.uint8 if array.size == len(data) else np.float32
        assert np.array_equal(array, np.frombuffer(data, kind))
    assert len(list(dumped.iterdir())) == len(model.layers)
    assert found["estimate"]["cycles"] > 0


@pytest.mark.parametrize("name", [name for name in MODELS if not name.startswith(("conv", "pool"))])
def test_random_inputs_agree_with_the_meaning_of_the_layers(
    name: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    code = run(["validate", str(saved(tmp_path, MODELS[name])), "--json"])
    printed = capsys.readouterr()
    assert code == 0, printed.err
    document = json.loads(printed.out)
    assert document["passed"]
    assert document["results"]


def test_a_difference_fails(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    real = Simulator.run

    def other(self: Simulator, data: bytes) -> list[bytes]:
        first, *rest = real(self, data)
        return [bytes([first[0] ^ 1]) + first[1:], *rest]

    monkeypatch.setattr(Simulator, "run", other)
    assert run(["validate", str(saved(tmp_path, planes_between_memories()))]) == 9
    assert "1 values differ" in capsys.readouterr().out


MISTAKES = {
    "the kmodel has no input 'image'": ("image", np.zeros(4)),
    "the input has 4 values": ("input", np.zeros(4)),
    "the input is not of bytes": ("input", np.full(planes_between_memories().input_bytes, 0.5)),
}


@pytest.mark.parametrize("told", MISTAKES)
def test_wrong_inputs_are_named(told: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    name, values = MISTAKES[told]
    np.save(tmp_path / "given.npy", values)
    file = saved(tmp_path, planes_between_memories())
    assert run(["run", str(file), "--input", f"{name}={tmp_path / 'given.npy'}"]) == 8
    assert told in capsys.readouterr().err


def test_damaged_files_and_other_options_are_refused(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = tmp_path / "net.kmodel"
    file.write_bytes(b"\3\0\0\0")
    assert run(["run", str(file)]) == 3
    assert run(["validate", str(file)]) == 3
    saved(tmp_path, planes_between_memories())
    assert run(["run", str(file), "--trap-nan"]) == 2
    assert "are for libraries" in capsys.readouterr().err
    assert to_graph.INPUT == "input"
