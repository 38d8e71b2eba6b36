"""The Python examples of docs/how-to/k210-layers.md run as they stand."""

from __future__ import annotations

import re
from pathlib import Path

import numpy as np
import pytest

from buildtool.errors import UnsupportedError
from buildtool.targets.k210 import layers as tl
from tests.targets.k210.layers.nets import drawn, pictures, write_names
from tests.targets.k210.layers.test_saved_models import ENTRIES, save, text

PAGE = Path(__file__).resolve().parents[4] / "docs" / "how-to" / "k210-layers.md"
EXAMPLES = re.findall(r"^```python\n(.*?)^```$", PAGE.read_text(), re.DOTALL | re.MULTILINE)


def run(number: int) -> dict[str, object]:
    names: dict[str, object] = {}
    exec(compile(EXAMPLES[number], str(PAGE), "exec"), names)
    return names


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


def test_a_saved_model(capsys: pytest.CaptureFixture[str]) -> None:
    save(Path("saved.h5"), text(ENTRIES))
    np.save("pictures.npy", pictures(3, (12, 12, 3)))
    run(0)
    assert Path("saved.kmodel").exists()
    assert "% of the multiplications are the KPU's" in capsys.readouterr().out


def test_a_description_and_its_graph(capsys: pytest.CaptureFixture[str]) -> None:
    np.save("pictures.npy", pictures(3, (28, 28, 1)))
    described = EXAMPLES[1].partition("model.load_weights")[0]
    names: dict[str, object] = {}
    exec(compile(described, str(PAGE), "exec"), names)
    model = names["model"]
    assert isinstance(model, tl.Model)
    write_names(Path("digits.npz"), model.slots, drawn(model.slots))
    run(1)
    assert sorted(path.name for path in Path().iterdir()) == ["digits.h", "digits.kmodel", "digits.npz", "pictures.npy"]
    run(2)
    shown = capsys.readouterr().out
    assert "'conv0/filters', 'norm0/beta'" in shown
    assert "'layer0': (1, 14, 14, 8)" in shown and "'output0': (10,)" in shown


def test_the_table_of_layers_names_all_that_there_are() -> None:
    told = set(re.findall(r"`([A-Z]\w+)`", PAGE.read_text()))
    not_layers = {"Model", "Packed", "QUANTISERS", "c_array", "load", "pack", "pictures", "save_kmodel"}
    assert set(tl.__all__) - not_layers <= told


def test_the_errors_are_those_that_are_shown() -> None:
    x = tl.Input((7, 7, 16))
    with pytest.raises(UnsupportedError) as problem:
        tl.Model(x, [tl.Conv2d(4, act="rleu", name="conv1")(x), tl.Dense(10, name="out")(x)], "digits")
    assert str(problem.value) in PAGE.read_text()
