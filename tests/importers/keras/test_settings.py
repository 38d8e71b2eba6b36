"""Settings of layers that the importer does not know, as a later Keras may add, are errors and not ignored."""

from __future__ import annotations

import io
import json
import re
import zipfile
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from buildtool.errors import ModelFileError, UnsupportedError
from buildtool.importers.request import TensorRequest
from tests.importers.keras import writer
from tests.importers.keras.harness import archive, expected, imported, models, run


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


_CELLS = r"LSTM|GRU|SimpleRNN"
#: What Keras takes where a description leaves a setting out (the signatures of 3.10): which layers, setting, values.
_DEFAULTS: tuple[tuple[str, str, tuple[Any, ...]], ...] = (
    (r"Conv|Dense|LSTM|GRU|RNN", "use_bias", (True,)),
    (r"Conv", "strides", (1, [1], [1, 1], [1, 1, 1])),
    (r"Conv", "dilation_rate", (1, [1], [1, 1], [1, 1, 1])),
    (r"Conv(?!LSTM)|Pooling", "padding", ("valid",)),
    (r"Conv", "groups", (1,)),
    (r"Conv", "depth_multiplier", (1,)),
    (r"Conv", "output_padding", (None,)),
    (r"Conv|Pooling|UpSampling|Cropping|ZeroPadding|Flatten", "data_format", ("channels_last",)),
    (r"Pooling", "pool_size", (2, [2], [2, 2], [2, 2, 2])),
    (r"Pooling", "strides", (None,)),
    (r"Global.*Pooling", "keepdims", (False,)),
    (r"Dense|Conv(?!LSTM)", "activation", ("linear",)),
    (_CELLS, "activation", ("tanh",)),
    (r"^(LSTM|GRU)", "recurrent_activation", ("sigmoid",)),
    (_CELLS, "go_backwards", (False,)),
    (_CELLS, "return_sequences", (False,)),
    (_CELLS, "return_state", (False,)),
    (r"Bidirectional", "merge_mode", ("concat",)),
    (r"(Batch|Layer|Group)Normalization", "epsilon", (0.001,)),
    (r"(Batch|Layer|Group)Normalization", "center", (True,)),
    (r"(Batch|Layer|Group)Normalization", "scale", (True,)),
    (r"(Batch|Layer|Group)Normalization|Concatenate|Softmax", "axis", (-1,)),
    (r"UpSampling2D", "interpolation", ("nearest",)),
    (r"UpSampling", "size", (2, [2, 2], [2, 2, 2])),
    (r"Resizing", "interpolation", ("bilinear",)),
    (r"Resizing", "crop_to_aspect_ratio", (False,)),
    (r"Resizing", "antialias", (False,)),
    (r"Rescaling", "offset", (0.0,)),
    (r"^ReLU", "max_value", (None,)),
    (r"^ReLU", "negative_slope", (0.0,)),
    (r"^ReLU", "threshold", (0.0,)),
    (r"^LeakyReLU", "negative_slope", (0.3,)),
    (r"^ELU", "alpha", (1.0,)),
    (r"PReLU", "shared_axes", (None,)),
    (r"AutoContrast|Equalization", "value_range", ([0, 255],)),
    (r"MultiHeadAttention", "value_dim", (None,)),
    (r"^Attention|AdditiveAttention", "use_scale", (False,)),
    (r"^Attention", "score_mode", ("dot",)),
    (r"^Dot", "normalize", (False,)),
)


def _without_defaults(data: bytes) -> tuple[bytes, frozenset[tuple[str, str]]]:
    """A model whose layers leave out what they need not say, and what that is: classes and settings."""
    made, left_out = io.BytesIO(), set()

    def shorten(item: Any) -> None:
        if isinstance(item, list):
            for one in item:
                shorten(one)
        elif isinstance(item, dict):
            name, settings = item.get("class_name"), item.get("config")
            if isinstance(name, str) and isinstance(settings, dict):
                for pattern, key, values in _DEFAULTS:
                    value = settings.get(key, "missing")
                    if re.search(pattern, name) and any(value == one and type(value) is type(one) for one in values):
                        del settings[key]
                        left_out.add((name, key))
            for one in item.values():
                shorten(one)

    with zipfile.ZipFile(io.BytesIO(data)) as old, zipfile.ZipFile(made, "w") as new:
        for info in old.infolist():
            content = old.read(info)
            if info.filename == "config.json":
                model = json.loads(content)
                shorten(model)
                content = json.dumps(model).encode()
            new.writestr(info, content)
    return made.getvalue(), frozenset(left_out)


def _models_that_leave_out() -> list[str]:
    """One model for each setting of each layer that can be left out."""
    seen: set[tuple[str, str]] = set()
    names = []
    for name in models():
        if name.endswith(".keras") and "open" not in name:
            _, left_out = _without_defaults(archive()[name])
            if left_out - seen:
                seen |= left_out
                names.append(name)
    return names


@pytest.mark.parametrize("name", _models_that_leave_out())
def test_settings_that_are_left_out_have_the_defaults_of_keras(name: str, tmp_path: Path) -> None:
    given, wanted = expected(name)
    data, _ = _without_defaults(archive()[name])
    for found, array in zip(run(imported(data, tmp_path).graph, given), wanted, strict=True):
        np.testing.assert_allclose(found, array, rtol=2e-5, atol=1e-3 if "cubic" in name else 5e-6)


def test_an_unknown_mode_of_a_spectrogram_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(UnsupportedError, match="the mode 'phase'"):
        imported(_changed("spectrum-stft-keras3.keras", "STFTSpectrogram", {"mode": "phase"}), tmp_path)


def test_a_resize_to_one_row(tmp_path: Path) -> None:
    layer = writer.layer("Resizing", "s", height=1, width=3, interpolation="nearest")
    graph = imported(writer.h5(writer.sequential(writer.given(4, 3, 1), layer)), tmp_path, ".h5").graph
    x = np.arange(12, dtype=np.float32).reshape(1, 4, 3, 1)
    (y,) = run(graph, [x])
    np.testing.assert_array_equal(y, x[:, 2:3])


def test_a_setting_that_versions_of_keras_take_for_different_ones_is_an_error(tmp_path: Path) -> None:
    """Keras 2 takes the hard sigmoid, Keras 3 the sigmoid."""
    name = "convlstm2d-plain-keras3.keras"
    with pytest.raises(ModelFileError, match="'recurrent_activation' is missing"):
        imported(_changed(name, "ConvLSTM2D", {"recurrent_activation": None}), tmp_path)
