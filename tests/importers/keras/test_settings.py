"""Settings of layers that the importer does not know, as a later Keras may add, are errors and not ignored."""

from __future__ import annotations

import io
import json
import zipfile
from pathlib import Path
from typing import Any

import pytest

from buildtool.errors import UnsupportedError
from buildtool.importers.request import TensorRequest
from tests.importers.keras.harness import archive, imported


def _changed(name: str, layer: str, settings: dict[str, Any]) -> bytes:
    """A model with other settings of its layer of this class."""
    made = io.BytesIO()
    with zipfile.ZipFile(io.BytesIO(archive()[name])) as old, zipfile.ZipFile(made, "w") as new:
        for info in old.infolist():
            data = old.read(info)
            if info.filename == "config.json":
                model = json.loads(data)
                (found,) = [one for one in model["config"]["layers"] if one["class_name"] == layer]
                found["config"].update(settings)
                data = json.dumps(model).encode()
            new.writestr(info, data)
    return made.getvalue()


@pytest.mark.parametrize(
    ("name", "layer", "setting", "value"),
    [
        ("attention-heads-keras3.keras", "MultiHeadAttention", "rotary", True),
        ("conv2d-keras3.keras", "Conv2D", "padding_value", 3),
        ("softmax-axis-keras3.keras", "Softmax", "temperature", 0.5),
        ("resizing-keras3.keras", "Resizing", "antialias", True),
    ],
)
def test_an_unknown_setting_is_an_error(name: str, layer: str, setting: str, value: Any, tmp_path: Path) -> None:
    with pytest.raises(UnsupportedError, match=rf"{layer}: '{setting}' .* is not known") as problem:
        imported(_changed(name, layer, {setting: value}), tmp_path)
    assert setting in problem.value.problems[0].remedy
    assert problem.value.problems[0].where.node


@pytest.mark.parametrize(
    ("setting", "wanted"),
    [("frame_step", 3), ("expand_dims", False)],  # half of a frame of 6
)
def test_what_a_spectrogram_is_without_a_setting(setting: str, wanted: Any, tmp_path: Path) -> None:
    shapes = []
    for value in (None, wanted):
        data = _changed("spectrum-stft-keras3.keras", "STFTSpectrogram", {setting: value})
        shapes.append(imported(data, tmp_path).graph.outputs[0].type.shape)
    assert shapes[0] == shapes[1]


def test_a_crop_of_an_image_of_any_size_is_an_error(tmp_path: Path) -> None:
    sizes = TensorRequest("input0", (1, (7, 9), 5, 3))
    with pytest.raises(UnsupportedError, match="resize from a run-time size"):
        imported(archive()["resizing-crop-keras3.keras"], tmp_path, inputs=[sizes])


@pytest.mark.parametrize("value", [None, False, 0, "", []])
def test_a_setting_that_asks_for_nothing_is_none(value: Any, tmp_path: Path) -> None:
    imported(_changed("conv2d-keras3.keras", "Conv2D", {"later": value}), tmp_path)


def test_what_only_training_reads_is_no_error(tmp_path: Path) -> None:
    changed = _changed("attention-heads-keras3.keras", "MultiHeadAttention", {"dropout": 0.5})
    imported(changed, tmp_path)
