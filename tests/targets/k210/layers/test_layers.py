"""Described networks mean what TensorLayer means, become kmodels near to that, and say what is wrong with them."""

from __future__ import annotations

import re
import subprocess
from pathlib import Path

import numpy as np
import pytest
from PIL import Image

from buildtool.errors import ConfigError, ModelFileError, UnsupportedError
from buildtool.ir.operator import Array
from buildtool.targets.k210 import layers as tl
from buildtool.targets.k210.format.kmodel import read
from tests.native_builds import command
from tests.targets.k210.generating import cosine
from tests.targets.k210.layers.nets import branched, drawn, pictures


@pytest.fixture(scope="module")
def model() -> tl.Model:
    made = branched()
    made.set_weights(drawn(made.slots))
    return made


# -- what layers mean --------------------------------------------------------------------------------------------------
def window_sums(x: Array, weights: Array, strides: tuple[int, int], same: bool) -> Array:
    """A convolution by its definition, weights [rows, columns, in, out], borders as TensorFlow's SAME has them."""
    (rows, columns), taps = x.shape[:2], weights.shape[:2]
    if same:
        out = [-(-rows // strides[0]), -(-columns // strides[1])]
        more = [max((out[i] - 1) * strides[i] + taps[i] - x.shape[i], 0) for i in (0, 1)]
        x = np.pad(x, [(more[0] // 2, more[0] - more[0] // 2), (more[1] // 2, more[1] - more[1] // 2), (0, 0)])
    else:
        out = [(rows - taps[0]) // strides[0] + 1, (columns - taps[1]) // strides[1] + 1]
    made = np.zeros((*out, weights.shape[3]))
    for i in range(out[0]):
        for j in range(out[1]):
            window = x[i * strides[0] :, j * strides[1] :][: taps[0], : taps[1]]
            made[i, j] = np.einsum("abc,abco->o", window, weights)
    return made


@pytest.mark.parametrize("padding", ["SAME", "VALID"])
@pytest.mark.parametrize("strides", [(1, 1), (2, 2), (1, 3)])
def test_convolutions(padding: str, strides: tuple[int, int]) -> None:
    x = tl.Input((7, 10, 3))
    made = tl.Model(x, tl.Conv2d(5, (3, 2), strides, padding=padding, act="relu")(x))
    filters, biases = arrays = drawn(made.slots)
    made.set_weights(arrays)
    (picture,) = pictures(1, (7, 10, 3))
    wanted = np.maximum(window_sums(picture, filters, strides, padding == "SAME") + biases, 0)
    np.testing.assert_allclose(made.run(picture)["conv2d"][0], wanted, atol=1e-5)


def test_depthwise_convolutions_and_norms() -> None:
    x = tl.Input((6, 9, 2))
    y = tl.DepthwiseConv2d((3, 3), (2, 2), depth_multiplier=3, bias=False)(x)
    made = tl.Model(x, tl.BatchNorm(epsilon=0.25)(y))
    assert [slot.name for slot in made.slots] == [
        "depthwiseconv2d/filters", "batchnorm/beta", "batchnorm/gamma", "batchnorm/moving_mean", "batchnorm/moving_var",
    ]  # fmt: skip
    filters, beta, gamma, mean, variance = arrays = drawn(made.slots)
    made.set_weights(arrays)
    (picture,) = pictures(1, (6, 9, 2))
    parts = [window_sums(picture[..., i : i + 1], filters[:, :, i : i + 1], (2, 2), True) for i in (0, 1)]
    wanted = (np.concatenate(parts, axis=2) - mean) / np.sqrt(variance + 0.25) * gamma + beta
    np.testing.assert_allclose(made.run(picture)["batchnorm"][0], wanted, atol=1e-5)


def test_lists_and_pools() -> None:
    x = tl.Input((4, 5, 2))
    mean = tl.MeanPool2d((3, 3), (2, 2))(x)
    largest = tl.GlobalMaxPool2d()(x)
    dense = tl.Dense(3, bias=False)(tl.Flatten()(x))
    made = tl.Model(x, [mean, largest, dense, tl.GlobalMeanPool2d()(x)])
    (weights,) = drawn(made.slots)
    made.set_weights([weights])
    (picture,) = pictures(1, (4, 5, 2))
    found = made.run(picture)
    np.testing.assert_allclose(found["meanpool2d"][0, 0, 0], picture[:3, :2].mean((0, 1)), rtol=1e-5)
    np.testing.assert_allclose(found["globalmaxpool2d"][0], picture.max((0, 1)))
    np.testing.assert_allclose(found["globalmeanpool2d"][0], picture.mean((0, 1)), rtol=1e-5)
    np.testing.assert_allclose(found["dense"][0], picture.reshape(-1) @ weights, rtol=1e-4)


def test_a_layer_called_twice_has_one_array() -> None:
    x = tl.Input((8, 8, 4))
    shared = tl.Conv2d(4, name="shared")
    made = tl.Model(x, shared(shared(x)))
    assert [slot.name for slot in made.slots] == ["shared/filters", "shared/biases"]


# -- kmodels -----------------------------------------------------------------------------------------------------------
@pytest.mark.parametrize("quantiser", ["minmax", "minmax98", "meanminmax", "kld", "mse"])
def test_every_quantiser_comes_near_to_the_float_network(model: tl.Model, quantiser: str) -> None:
    packed = tl.pack(model, pictures(6), quantiser=quantiser, input_range=(0, 1))
    (picture,) = pictures(1, seed=9)
    wanted, found = model.run(picture), packed.run(picture)
    assert list(found) == ["probabilities", "scores", "largest", "pooled"]
    assert {name: array.shape for name, array in found.items()} == {name: array.shape for name, array in wanted.items()}
    assert min(cosine(found[name], wanted[name]) for name in wanted) > 0.98


def stored(packed: tl.Packed) -> tuple[float, float]:
    """Between which numbers the first output's bytes lie."""
    layer = packed.made.model.layers[-1]
    return layer.bias, layer.bias + 255 * layer.scale  # type: ignore[attr-defined]


@pytest.mark.slow
def test_each_quantiser_finds_its_range_of_the_samples() -> None:
    """A layer that gives what it gets: its range is that of the samples."""
    x = tl.Input((4, 4, 1))
    made = tl.Model(x, tl.Conv2d(1, (1, 1), bias=False)(x))
    made.set_weights([np.ones((1, 1, 1, 1))])
    samples = np.linspace(0, 1, 16 * 200, dtype=np.float32).reshape(200, 4, 4, 1)
    ends = {name: stored(tl.pack(made, samples, quantiser=name))[1] for name in tl.QUANTISERS}
    assert ends["minmax"] == pytest.approx(1, abs=1e-3)
    assert ends["minmax98"] == pytest.approx(0.99, abs=1e-3)
    assert ends["meanminmax"] == pytest.approx(np.mean([sample.max() for sample in samples]), abs=1e-3)
    rare = samples * 1
    rare[-1, 0, 0, 0] = 30
    cut = {name: stored(tl.pack(made, rare, quantiser=name))[1] for name in ("minmax", "kld")}
    assert cut["minmax"] == pytest.approx(30, rel=1e-3)
    assert cut["kld"] < 15


def test_refined_weights_lose_less() -> None:
    x = y = tl.Input((16, 16, 3), name="picture")
    for number in range(4):
        y = tl.Conv2d(16, (3, 3), bias=number % 2 == 0, act="relu", name=f"conv{number}")(y)
    made = tl.Model(x, tl.GlobalMeanPool2d(name="mean")(tl.DepthwiseConv2d(act="relu", name="depth")(y)))
    rng = np.random.default_rng(2)
    made.set_weights([array * rng.choice([0.1, 1, 1, 4], array.shape) for array in drawn(made.slots)])
    errors = []
    for refined in (False, True):
        packed = tl.pack(made, pictures(8, (16, 16, 3)), refined=refined)
        pairs = [(made.run(one)["mean"], packed.run(one)["mean"]) for one in pictures(6, (16, 16, 3), seed=4)]
        errors.append(float(np.mean([np.square(real - stored).mean() for real, stored in pairs])))
    assert errors[1] < errors[0] / 2


def test_bytes_of_pictures_go_in_as_they_are(model: tl.Model) -> None:
    packed = tl.pack(model, pictures(2), input_range=(0, 1))
    raw = np.random.default_rng(3).integers(0, 256, (20, 16, 3))
    assert packed.given(raw / 255) == raw.transpose(2, 0, 1).astype(np.uint8).tobytes()


def test_files(model: tl.Model, tmp_path: Path) -> None:
    packed = tl.save_kmodel(
        model, tmp_path / "new" / "net-1.kmodel", pictures(2), weight_bits=16, header=tmp_path / "net.h"
    )
    assert read((tmp_path / "new" / "net-1.kmodel").read_bytes()) == packed.made.model
    assert packed.made.model.wide_weights
    assert sorted(path.name for path in tmp_path.rglob("*")) == ["net-1.kmodel", "net.h", "new"]
    (tmp_path / "main.c").write_text(
        '#include <stdio.h>\n#include "net.h"\n'
        "int main(void) { return fwrite(net_1_kmodel, 1, net_1_kmodel_size, stdout) != net_1_kmodel_size; }\n"
    )
    command(["gcc", "-std=c99", "-Wall", "-Werror", tmp_path / "main.c", "-o", tmp_path / "main"])
    assert subprocess.run([tmp_path / "main"], capture_output=True, check=True).stdout == packed.data


def test_pictures_of_a_folder(model: tl.Model, tmp_path: Path) -> None:
    for number in (2, 10):
        Image.new("RGB", (32, 40), (255, 0, 10 * number)).save(tmp_path / f"{number:02}.png")
    (tmp_path / "text.txt").write_text("no picture")
    found = tl.pictures(tmp_path, model, between=(-1, 1))
    assert [array.shape for array in found] == [(20, 16, 3)] * 2
    assert found[0][3, 3] == pytest.approx([1, -1, 20 / 255 * 2 - 1])
    assert found[1][0, 0, 2] == pytest.approx(100 / 255 * 2 - 1)
    np.testing.assert_allclose(tl.pictures(tmp_path / "10.png", model)[0], (found[1] + 1) / 2, atol=1e-6)
    with pytest.raises(ConfigError, match="no images"):
        tl.pictures(tmp_path / "elsewhere", model)
    x = tl.Input((5,))
    lists = tl.Model(x, tl.Dense(2, bias=False)(x))
    lists.set_weights([np.zeros((5, 2))])
    with pytest.raises(ConfigError, match="1 or 3 channels"):
        tl.pictures(tmp_path, lists)


# -- what is wrong -----------------------------------------------------------------------------------------------------
def test_all_layers_that_do_not_fit_are_told_at_once() -> None:
    x = tl.Input((12, 12, 3))
    wrong = [
        tl.Conv2d(4, act="rleu", name="a")(tl.Conv2d(4)(tl.Flatten()(x))),
        tl.Dense(3, name="b")(x),
        tl.Conv2d(4, padding="same", name="c")(x),
        tl.MaxPool2d(2, name="d")(x),  # type: ignore[arg-type]
        tl.Add(name="e")(x, tl.Conv2d(5)(x)),
        tl.Conv2d(4, act="rleu", name="f")(x),
        tl.Reshape((1, 7), name="g")(x),
        tl.Conv2d(4, (3, 3), (0, 1), name="h")(x),
    ]
    with pytest.raises(UnsupportedError) as problem:
        tl.Model(x, wrong)
    names = [one.where.node for one in problem.value.problems]
    assert names == ["conv2d", "b", "c", "d", "e", "f", "g", "h"], "a lies behind conv2d"
    assert "did you mean 'relu'" in str(problem.value)


def test_layers_that_the_chip_cannot_run_are_named() -> None:
    x = tl.Input((12, 12, 128))
    y = tl.Conv2d(4, (5, 5), name="five")(tl.Conv2d(64, dilation_rate=(2, 2), name="holes")(x))
    made = tl.Model(x, y)
    made.set_weights(drawn(made.slots))
    with pytest.raises(UnsupportedError) as problem:
        tl.pack(made, pictures(1, (12, 12, 128)))
    assert [one.where.node for one in problem.value.problems] == ["holes", "five"]
    assert all(one.rule and one.remedy for one in problem.value.problems)


def test_wrong_arguments(model: tl.Model, tmp_path: Path) -> None:
    good = pictures(2)
    for arguments, words in (
        ({"samples": good, "quantiser": "minmax89"}, "did you mean 'minmax98'"),
        ({"samples": good, "weight_bits": 4}, "8 and of 16"),
        ({"samples": []}, "no samples"),
        ({"samples": good[:, :10]}, r"sample 1 has the shape \[10, 16, 3\]"),
        ({"samples": good * np.nan}, "sample 1 contains NaN"),
        ({"samples": good, "input_range": (1, 0)}, "a range"),
    ):
        with pytest.raises(ConfigError, match=words):
            tl.pack(model, **arguments)
    with pytest.raises(ConfigError, match="cannot be written"):
        tl.save_kmodel(model, "/proc/net.kmodel", good)
    with pytest.raises(ConfigError, match="called 'a b'"):
        tl.c_array(b"1", "a b")
    with pytest.raises(ConfigError, match="two layers are called 'a'"):
        x = tl.Input((8, 8, 1), name="a")
        tl.Model(x, tl.Conv2d(1, name="a")(x))
    with pytest.raises(ConfigError, match="not a tensor"):
        tl.Conv2d(1)(3)  # type: ignore[arg-type]
    with pytest.raises(UnsupportedError, match="does not start"):
        tl.Model(tl.Input((8, 8, 1)), tl.Conv2d(1)(tl.Input((8, 8, 1))))
    assert not list(tmp_path.iterdir())


def test_weights_that_are_missing_are_told(tmp_path: Path) -> None:
    made = branched()
    with pytest.raises(ModelFileError) as problem:
        tl.save_kmodel(made, tmp_path / "net.kmodel", pictures(1))
    assert [f"{one.where.node}/{match[1]}" for one in problem.value.problems if
            (match := re.match(r"it has no '(\w+)'", one.what))] == [slot.name for slot in made.slots]  # fmt: skip
    assert not list(tmp_path.iterdir())
