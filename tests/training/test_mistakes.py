"""Mistakes in policies, samples, spaces and options: each is answered with what, where, the rule and a remedy."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

from buildtool.errors import Where
from buildtool.training import data, folders, policies, spaces
from buildtool.training.policies import Policy
from buildtool.workflow import training
from tests.training import golden, test_data, test_policies, test_spaces

SETTINGS = training.FitSettings(5, 32, 0.003, 0, 1)
MODEL = Path("model.py")
WANTED: dict[str, Any] = {
    "how": "evolution", "trials": 4, "population": 2, "weight_bits": "8,4", "weight_memory": None, "cycles": None,
    "abi": "max78000", "workers": 1, "scheduler": "",
}  # fmt: skip


def policy(text: str) -> Callable[[Path], object]:
    def case(folder: Path) -> object:
        (folder / "qat.yaml").write_text(f"{text}\n")
        return policies.read(folder / "qat.yaml")

    return case


def samples(arrays: dict[str, Any]) -> Callable[[Path], object]:
    def case(folder: Path) -> object:
        np.savez(folder / "mine.npz", **arrays)
        return data.read(str(folder / "mine.npz"))

    return case


def space(value: Any) -> Callable[[Path], object]:
    return lambda folder: spaces.read({"search": value}, Where(file="model.py", node="net"))


def folder_of(size: tuple[int, int], *files: str, **ways: Any) -> Callable[[Path], object]:
    def case(folder: Path) -> object:
        for name in files:
            file = folder / "samples" / name
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_bytes(b"not what its name says")
        return folders.read(folder / "samples", size, **ways)

    return case


def fit(**ways: Any) -> Callable[[Path], object]:
    given: dict[str, Any] = {"policy": None, "resume": False, "told": print, **ways}
    return lambda folder: training.fit(MODEL, None, "digits", SETTINGS, folder, **given)


def search(settings: training.FitSettings = SETTINGS, **ways: Any) -> Callable[[Path], object]:
    wanted = training.SearchSettings(**{**WANTED, **ways})
    return lambda folder: training.search(
        MODEL, None, "digits", settings, wanted, folder, resume=False, told=lambda _: None
    )


def late(folder: Path) -> object:
    (folder / "qat.yaml").write_text("start_epoch: 5\n")
    return training.fit(
        MODEL, None, "digits", SETTINGS, folder, policy=folder / "qat.yaml", resume=False, told=lambda _: None
    )


CASES: golden.Cases = {
    **{f"policy: {text}": policy(text) for text in test_policies.MISTAKES},
    "policy: a layer that is not there": lambda folder: policies.check_layers(
        Policy(overrides={"conv3": 4}), ["conv1", "conv2"], "qat.yaml"
    ),
    "policy: quantisation after the end": late,
    **{f"samples: {told}": samples(arrays) for told, arrays in test_data.MISTAKES.items()},
    "samples: no such file": lambda folder: data.read("digit"),
    **{f"space: {value!r}": space(value) for value in test_spaces.MISTAKES.values()},
    "bits: 3": lambda folder: spaces.bits_of("8,3"),
    "bits: twice": lambda folder: spaces.bits_of("8,8"),
    "--set: no value": fit(arguments=["width"]),
    "--set: twice": fit(arguments=["width=8", "width=16"]),
    "--how": search(how="grid"),
    "--epochs": search(training.FitSettings(1, 32, 0.003, 0, 1)),
    "--abi": search(abi="k210"),
    "folder: none": folder_of((32, 32)),
    "folder: no classes": folder_of((32, 32), "one.png"),
    "folder: an empty class": folder_of((32, 32), "cat/one.png", "dog/notes.txt"),
    "folder: both kinds": folder_of((32, 32), "cat/one.png", "dog/two.wav"),
    "folder: a damaged picture": folder_of((32, 32), "cat/one.png", "dog/two.png"),
    "folder: a damaged sound": folder_of((128, 128), "no/one.wav", "yes/two.wav"),
    "folder: --size": folder_of((0, 32), "cat/one.png", "dog/two.png"),
    "--size": lambda folder: training.samples_of(folder, "32", folder / "samples.npz", grey=False, rate=None),
    **{
        f"--augment {text}": fit(augment=text)
        for text in ("turn", "shift", "shift=1.5", "noise=-1", "gain=2", "flip=1")
    },
    "teacher: no checkpoint": fit(teacher=training.Teacher("net", Path("large.pth.tar"), 1.0, 0.5, 0.5, None)),
}


def test_all_are_answered(tmp_path: Path) -> None:
    assert len(CASES) >= 40
    golden.compare(Path(__file__).with_name("mistakes.txt"), golden.answers(CASES, tmp_path))
