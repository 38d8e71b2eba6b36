"""Networks that TensorLayer has saved whole: what they compute, what is refused, and that nothing in a file is run."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import h5py
import numpy as np
import pytest

from buildtool.errors import ConfigError, LatheError, ModelFileError, UnsupportedError
from buildtool.targets.k210 import layers as tl
from tests.targets.k210.layers.nets import drawn, pictures, write_hdf5

Entry = tuple[str, dict[str, Any], list[str]]


def described() -> tl.Model:
    """A network with a layer that is called twice, parts side by side, and two outputs."""
    x = tl.Input((12, 12, 3), "in")
    shared = tl.Conv2d(4, (3, 3), bias=False, name="shared")
    one = tl.BatchNorm(act="relu6", name="norm")(tl.Conv2d(4, act="relu", name="conv")(x))
    two = shared(shared(one))
    joined = tl.Concat(name="join")([one, tl.Add(name="sum")(one, two)])
    pooled = tl.MaxPool2d((2, 2), (2, 2), name="pool")(joined)
    return tl.Model(x, [tl.Dense(5, act="softmax", name="out")(tl.Flatten(name="flat")(pooled)),
                        tl.GlobalMeanPool2d(name="mean")(pooled)], "saved")  # fmt: skip


ENTRIES: list[Entry] = [
    ("Conv2d", {"n_filter": 4, "filter_size": (3, 3), "strides": (1, 1), "padding": "SAME", "act": "relu",
                "data_format": "channels_last", "dilation_rate": (1, 1), "name": "conv"}, ["in_node_0"]),
    ("BatchNorm", {"decay": 0.9, "epsilon": 1e-05, "act": "relu6", "is_train": False, "name": "norm"}, ["conv_node_0"]),
    ("Conv2d", {"n_filter": 4, "filter_size": (3, 3), "name": "shared"}, ["norm_node_0"]),
    ("Conv2d", {"n_filter": 4, "filter_size": (3, 3), "name": "shared"}, ["shared_node_0"]),
    ("Elementwise", {"combine_fn": "add", "name": "sum"}, ["norm_node_0", "shared_node_1"]),
    ("Concat", {"concat_dim": -1, "name": "join"}, ["norm_node_0", "sum_node_0"]),
    ("MaxPool2d", {"filter_size": (2, 2), "strides": (2, 2), "padding": "SAME", "name": "pool"}, ["join_node_0"]),
    ("Flatten", {"name": "flat"}, ["pool_node_0"]),
    ("Dense", {"n_units": 5, "act": "softmax", "name": "out"}, ["flat_node_0"]),
    ("GlobalMeanPool2d", {"name": "mean"}, ["pool_node_0"]),
]  # fmt: skip


def text(entries: list[Entry]) -> str:
    """As TensorLayer writes it: the type of the input is no literal."""
    shape = "{'shape': [None, 12, 12, 3], 'dtype': tf.float32, 'name': 'in'}"
    first = f"{{'class': '_InputLayer', 'args': {shape}, 'prev_layer': None}}"
    rest = [repr({"class": kind, "args": {**args, "layer_type": "normal"}, "prev_layer": before})
            for kind, args, before in entries]  # fmt: skip
    ends = "'inputs': 'in_node_0', 'outputs': ['out_node_0', 'mean_node_0']"
    return f"{{'name': 'saved', 'version_info': {{}}, 'model_architecture': [{', '.join([first, *rest])}], {ends}}}"


def save(file: Path, config: str) -> tl.Model:
    """The network with weights, and its file."""
    model = described()
    arrays = drawn(model.slots)
    model.set_weights(arrays)
    write_hdf5(file, model.layers, model.slots, arrays)
    with h5py.File(file, "a") as made:
        made.attrs["model_config"] = config
    return model


def test_a_saved_network(tmp_path: Path) -> None:
    known = save(tmp_path / "net.h5", text(ENTRIES))
    loaded = tl.load(tmp_path / "net.h5")
    assert (loaded.name, loaded.slots) == ("saved", known.slots)
    (picture,) = pictures(1, (12, 12, 3))
    found, wanted = loaded.run(picture), known.run(picture)
    assert list(found) == ["out", "mean"]
    assert all(np.array_equal(found[name], wanted[name]) for name in wanted)


def test_layers_that_there_are_not_are_told_at_once(tmp_path: Path) -> None:
    wrong: list[Entry] = [
        ("DeConv2d", {"name": "a"}, ["in_node_0"]),
        ("Conv2d", {"name": "b", "act": ("is_Func", "code")}, ["in_node_0"]),
        ("Conv2d", {"name": "c", "data_format": "channels_first"}, ["in_node_0"]),
        ("Elementwise", {"name": "d", "combine_fn": "maximum"}, ["in_node_0", "in_node_0"]),
        ("Conv2d", {"name": "e", "colour": 3}, ["in_node_0"]),
        ("UpSampling2d", {"name": "f", "scale": (2, 2), "method": "bilinear"}, ["in_node_0"]),
    ]
    save(tmp_path / "net.h5", text([*wrong, *ENTRIES]))
    with pytest.raises(UnsupportedError) as problem:
        tl.load(tmp_path / "net.h5")
    assert [one.where.node for one in problem.value.problems] == ["a", "b", "c", "d", "e", "f"]
    assert "DeConv2d" in str(problem.value) and "colour" in str(problem.value)


@pytest.mark.parametrize(
    "config",
    [
        "__import__('os').system('touch hostile')",
        "{'model_architecture': [open('hostile', 'w')]}",
        "{'model_architecture': {}}",
        "{'model_architecture': [3]}",
        "{[]: 3}",
        r"{'a': '\d'}",
        "(" * 2000,
        "[" * 300 + "]" * 300,
        "{'model_architecture': []}",
        text([("Conv2d", {"n_filter": 1 << 40, "name": "a"}, ["in_node_0"])]),
        text([("Conv2d", {"n_filter": "x", "name": "out"}, ["in_node_0"])]),
        text([("Flatten", {"name": "out"}, ["elsewhere"])]),
        text(ENTRIES)[:-30],
    ],
    ids=range(13),
)
def test_descriptions_that_are_none(config: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    save(Path("net.h5"), config)
    with pytest.raises(LatheError):
        tl.load("net.h5")
    assert [path.name for path in tmp_path.iterdir()] == ["net.h5"]


def test_other_files(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match="cannot be read"):
        tl.load(tmp_path / "none.h5")
    (tmp_path / "text").write_text("model")
    with pytest.raises(ModelFileError, match="not an HDF5 file"):
        tl.load(tmp_path / "text")
    model = described()
    write_hdf5(tmp_path / "weights.h5", model.layers, model.slots, drawn(model.slots))
    with pytest.raises(ModelFileError, match="does not describe layers"):
        tl.load(tmp_path / "weights.h5")
