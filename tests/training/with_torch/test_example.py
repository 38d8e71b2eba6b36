"""examples/chips: from samples to a C project in one command."""

from __future__ import annotations

import shutil
import subprocess
import sys
from pathlib import Path
from types import ModuleType

import numpy as np
import pytest

from buildtool.targets.max7800x.devices import DEVICES
from buildtool.targets.max7800x.firmware import program
from buildtool.training import data, evaluating
from buildtool.workflow import training
from tests.targets.max7800x import machine

EXAMPLES = Path(__file__).resolve().parents[3] / "examples"
CHIPS = EXAMPLES / "chips"
MODEL = CHIPS / "models.py"


@pytest.mark.parametrize(
    ("task", "count", "layers", "measure", "chip"),
    [("segments", 80, 8, "mean IoU", "max78000"),
     ("vibrations", 120, 6, "AUC", "max78000"),
     ("faces", 10, 5, "nearest of the same class", "max78000"),
     ("objects", 60, 6, "mAP", "max78002"),
     ("detector", 60, 9, "mAP", "max78000"),
     ("textures", 60, 7, "accuracy", "max78000")],
)  # fmt: skip
def test_few_samples_and_epochs(
    samples: ModuleType, tmp_path: Path, task: str, count: int, layers: int, measure: str, chip: str
) -> None:
    """Trained integers, the simulator, and the model of the chip with the registers of the program are equal."""
    pictures, truths = samples.TASKS[task](count)
    file = str(tmp_path / "some.npz")
    np.savez(file, samples=pictures, **{"boxes" if task in samples.BOXES else "labels": truths})
    policy = tmp_path / "policy.yaml"
    policy.write_text("start_epoch: 1\nweight_bits: 8\n")
    settings = training.FitSettings(2, 40, 0.003, 0, 1)
    fitted = training.fit(MODEL, task, file, settings, tmp_path, policy=policy, resume=False, told=lambda _: None)
    assert fitted["measure"] == measure
    assert fitted["best"]["quantised"]
    best = Path(fitted["best"]["checkpoint"])
    found = training.evaluate(MODEL, task, file, best, bits=None, top=1, abi=chip)
    assert found["layers_compared"] == layers
    assert found["accuracy"] == pytest.approx(fitted["best"]["accuracy"])
    held = data.read(file)
    name, network = evaluating.loaded(MODEL, task, held, best, None)
    on_chip = evaluating.chip_network(name, network, DEVICES[chip], held.shape, tmp_path)
    differences, outcome = machine.differences(program.make(on_chip, held.test_samples[0]))
    assert not outcome.complaints
    assert not differences


@pytest.mark.parametrize(
    ("task", "count", "measure", "memories"),
    [("vibrations", 120, "AUC", (12_000, 6_000)), ("faces", 10, "nearest", (30_000, 11_000))],
)  # fmt: skip
def test_bits_and_widths_are_searched_for_other_tasks(
    samples: ModuleType, tmp_path: Path, task: str, count: int, measure: str, memories: tuple[int, int]
) -> None:
    """Bits for a network of floats that was trained, and networks with their bits; both within a memory."""
    pictures, truths = samples.TASKS[task](count)
    file = str(tmp_path / "some.npz")
    np.savez(file, samples=pictures, labels=truths)
    settings = training.FitSettings(2, 40, 0.003, 0, 1)
    fitted = training.fit(MODEL, task, file, settings, tmp_path, policy=None, resume=False, told=lambda _: None)
    sizes = {}
    for memory in memories:
        found = training.search_bits(
            MODEL, task, file, Path(fitted["best"]["checkpoint"]), weight_bits="8,4,2", weight_memory=memory,
            abi="max78000", start_epoch=1, folder=tmp_path / str(memory),
        )  # fmt: skip
        policy = Path(found["policy"])
        again = training.fit(
            MODEL, task, file, settings, tmp_path / "bits", policy=policy, resume=False, told=lambda _: None
        )
        measured = training.evaluate(
            MODEL, task, file, Path(again["best"]["checkpoint"]), bits=None, top=1, abi="max78000"
        )
        assert found["measure"].startswith(measure)
        assert measured["weight_bytes"] == found["weight_bytes"] <= memory
        sizes[memory] = found["weight_bytes"]
    assert sizes[memories[1]] < sizes[memories[0]]
    wanted = training.SearchSettings("random", 2, 2, "8,4", 40_000, None, "max78000", 1, "")
    searched = training.search(
        MODEL, task, file, settings, wanted, tmp_path / "searched", resume=False, told=lambda _: None
    )
    assert searched["measure"].startswith(measure)
    assert len(searched["trials"]) == 2
    assert len({trial["weight_bytes"] for trial in searched["trials"]}) == 2


def test_a_search_and_a_project_in_one_command(tmp_path: Path) -> None:
    """With two networks to choose from, few samples and epochs."""
    shutil.copytree(CHIPS, tmp_path / "chips")
    script = tmp_path / "chips" / "train.py"
    text = script.read_text()
    assert "SAMPLES: dict[str, int] = {}" in text
    assert '"textures": 16' in text
    text = text.replace("SAMPLES: dict[str, int] = {}", 'SAMPLES: dict[str, int] = {"textures": 80}')
    script.write_text(text.replace('"textures": 16', '"textures": 2'))
    command = [sys.executable, str(script), "textures", "--search", "4000", "--trials", "2", "-o", str(tmp_path)]
    done = subprocess.run(command, check=False, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr
    assert "search: 2 networks trained" in done.stdout
    assert " of 4000 bytes, " in done.stdout
    assert "layers equal the simulator's, for every sample" in done.stdout
    assert "project: " in done.stdout


def test_a_project_in_one_command(tmp_path: Path) -> None:
    """With fewer samples and epochs; `main.c` contains the known answer."""
    for name in ("chips", "keywords"):
        shutil.copytree(EXAMPLES / name, tmp_path / name)
    script = tmp_path / "chips" / "train.py"
    text = script.read_text()
    assert '"scenes": 16' in text
    script.write_text(text.replace('"scenes": 16', '"scenes": 4'))
    samples = tmp_path / "chips" / "samples.py"
    samples.write_text(samples.read_text().replace("count: int = 2400", "count: int = 300"))
    done = subprocess.run(
        [sys.executable, str(script), "scenes", "--bits", "8", "-o", str(tmp_path / "out")],
        check=False, capture_output=True, text=True,
    )  # fmt: skip
    assert done.returncode == 0, done.stdout + done.stderr
    assert "6 layers equal the simulator's" in done.stdout
    (project,) = [line.split(": ")[1] for line in done.stdout.splitlines() if line.startswith("project: ")]
    assert (Path(project) / "main.c").is_file()
    assert "check_output" in (Path(project) / "main.c").read_text()
