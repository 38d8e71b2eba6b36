"""Checkpoints: every rule against arithmetic that is written down here once more, and files that are read back."""

from __future__ import annotations

import math
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from buildtool.errors import ConfigError, ModelFileError
from buildtool.targets.max7800x.checkpoints import checkpoint, fuse_batch_norm, torch_archive, torch_writer
from buildtool.targets.max7800x.checkpoints.quantise_checkpoint import Rule, quantise


def trained(**more: Any) -> dict[str, Any]:
    """Two layers, the second with a bias. Numbers are multiples of 1/1024: sums of few of them are exact."""
    rng = np.random.default_rng(5)

    def numbers(*shape: int) -> Any:
        return (rng.integers(-600, 600, shape) / 1024).astype(np.float32)

    state = {
        "conv1.output_shift": np.array([-3.0], np.float32),
        "conv1.weight_bits": np.array([0.0], np.float32),
        "conv1.adjust_output_shift": np.array([1.0], np.float32),
        "conv1.quantize_activation": np.array([0.0], np.float32),
        "conv1.op.weight": numbers(4, 3, 3, 3),
        "conv1.op.base_b_q": np.array([1.0], np.float32),
        "conv1.w_zero_point": np.array([0.0], np.float32),
        "fc.op.weight": numbers(5, 8),
        "fc.op.bias": numbers(5),
    }
    return {"epoch": 7, "arch": "net", "state_dict": {**state, **more}}


def rounded(value: Fraction, bits: int) -> int:
    """Halves up, saturated."""
    return max(-(2 ** (bits - 1)), min(2 ** (bits - 1) - 1, math.floor(value + Fraction(1, 2))))


def power_of(values: list[float]) -> int:
    """The highest power of two that leaves no value above one."""
    power = 0
    while max(map(abs, values)) * 2.0 ** (power + 1) <= 1:
        power += 1
    while max(map(abs, values)) * 2.0**power > 1:
        power -= 1
    return power


@pytest.mark.parametrize("bits", [8, 4, 2, 1])
def test_the_rule_of_quantiles(bits: int) -> None:
    tree = trained()
    state = tree["state_dict"]
    made = quantise(tree, Rule(), bits=[bits, bits]).tree
    for layer, names in (("conv1", ["conv1.op.weight"]), ("fc", ["fc.op.weight", "fc.op.bias"])):
        both = [float(value) for name in names for value in state[name].reshape(-1)]
        power = power_of(both)
        assert made["state_dict"][f"{layer}.output_shift"] == [-power]
        assert made["state_dict"][f"{layer}.weight_bits"] == [bits]
        scale = Fraction(2) ** (power + bits - 1)
        for name in names:
            wanted = [rounded(Fraction(float(value)) * scale, bits) for value in state[name].reshape(-1)]
            factor = 2.0 ** (bits - 8) * 128 if name.endswith("bias") else 1
            assert made["state_dict"][name].reshape(-1).tolist() == [value * factor for value in wanted], name
    assert made["extras"] == {"clipping_method": "MAX_BIT_SHIFT"}


def test_a_quantile_lets_the_largest_weights_go() -> None:
    weights = np.linspace(-0.2, 0.2, 1000, dtype=np.float32).reshape(1, 1000)
    weights[0, :5] = 0.9
    shift = np.array([0.99], np.float32)
    made = quantise({"state_dict": {"fc.op.weight": weights, "fc.shift_quantile": shift}}, Rule())
    layer = made.layers[0]
    assert (layer.output_shift, layer.factor, layer.clipped) == (-2, 512.0, 5)
    assert made.tree["state_dict"]["fc.op.weight"].max() == 127


def test_shifts_have_ends() -> None:
    tiny = {"state_dict": {"fc.op.weight": np.full((2, 2), 2.0**-40, np.float32)}}
    assert quantise(tiny, Rule()).layers[0].output_shift == -(23 - 8)
    huge = {"state_dict": {"fc.op.weight": np.full((2, 2), 2.0**40, np.float32)}}
    assert quantise(huge, Rule()).layers[0].output_shift == 7 + 8
    nothing = {"state_dict": {"fc.op.weight": np.zeros((2, 2), np.float32)}}
    assert quantise(nothing, Rule()).layers[0].output_shift == -(23 - 8)


def reach_of(method: str, weights: Any) -> float:
    """What the methods of 2020 take for the reach of weights."""
    values = [float(value) for value in weights.reshape(-1)]
    if method == "SCALE":
        return 0.75
    if method == "MAX":
        return max(map(abs, values))
    if method in ("AVG", "AVGMAX"):
        rows = [[float(value) for value in row.reshape(-1)] for row in weights]
        return max(abs(sum(min(row) for row in rows) / len(rows)), abs(sum(max(row) for row in rows) / len(rows)))
    mean = sum(values) / len(values)
    deviation = math.sqrt(sum((value - mean) ** 2 for value in values) / (len(values) - 1))
    return max(abs(max(min(values), mean - 1.5 * deviation)), abs(min(max(values), mean + 1.5 * deviation)))


@pytest.mark.parametrize("method", ["SCALE", "MAX", "AVG", "AVGMAX", "STDDEV"])
@pytest.mark.parametrize("bits", [8, 4])
def test_the_rules_of_2020(method: str, bits: int) -> None:
    tree = trained()
    state = tree["state_dict"]
    made = quantise(tree, Rule(method, scale=0.75, deviations=1.5), bits=[bits, bits])
    for at, names in enumerate((["conv1.op.weight"], ["fc.op.weight", "fc.op.bias"])):
        half = 2 if at == 0 else 1  # for the layer that reads the input
        factor = float(np.float32(2 ** (bits - 1) * reach_of(method, state[names[0]]) / half))
        assert made.layers[at].factor == factor
        for name in names:
            products = state[name].reshape(-1) * np.float32(factor)
            wanted = [max(-(2 ** (bits - 1)), min(2 ** (bits - 1) - 1, round(float(value)))) for value in products]
            times = 128 if name.endswith("bias") else 1
            assert made.tree["state_dict"][name].reshape(-1).tolist() == [value * times for value in wanted], name
    assert made.tree["extras"]["clipping_method"] == method
    assert made.tree["state_dict"]["conv1.output_shift"] == [-3]  # these rules have no shifts


def test_halves_go_to_even_numbers_in_2020_and_up_since() -> None:
    weights = np.array([[0.5, 1.5, 2.5, -0.5, -1.5, 64.0]], np.float32) / 128
    first = {"a.op.weight": np.ones((1, 1), np.float32)}  # another layer, since the first is halved
    old = quantise({"state_dict": {**first, "b.op.weight": weights}}, Rule("SCALE", scale=1.0))
    assert old.tree["state_dict"]["b.op.weight"].tolist() == [[0, 2, 2, 0, -2, 64]]
    new = quantise({"state_dict": {"b.op.weight": weights / 2, "b.op.bias": np.array([0.75], np.float32)}}, Rule())
    assert new.tree["state_dict"]["b.op.weight"].tolist() == [[0, 1, 1, 0, -1, 32]]
    new = quantise({"state_dict": {"b.op.weight": weights, "b.op.bias": np.array([0.75], np.float32)}}, Rule())
    assert new.tree["state_dict"]["b.op.weight"].tolist() == [[1, 2, 3, 0, -1, 64]]


def test_entries_of_training_are_replaced_by_those_of_quantised_layers() -> None:
    state = quantise(trained(), Rule()).tree["state_dict"]
    assert state["conv1.adjust_output_shift"] == [0]
    assert state["conv1.quantize_activation"] == [1]
    assert "conv1.op.base_b_q" not in state
    assert "conv1.w_zero_point" not in state


def test_bits_are_those_of_the_description_then_of_the_checkpoint() -> None:
    tree = trained(**{"fc.weight_bits": np.array([2], np.int64)})
    assert [layer.bits for layer in quantise(tree, Rule()).layers] == [8, 2]
    assert [layer.bits for layer in quantise(tree, Rule(), bits=[4, None]).layers] == [4, 2]
    part = quantise(tree, Rule(), bits=[4])
    assert len(part.layers) == 1
    assert part.tree["state_dict"]["fc.op.weight"] is tree["state_dict"]["fc.op.weight"]
    with pytest.raises(ModelFileError, match="weights of 3 bits"):
        quantise(tree, Rule(), bits=[3])


WRONG = {
    "zero point": ({"conv1.w_zero_point": np.ones(1)}, "the zero point is not zero"),
    "batch norm": ({"conv1.bn.running_var": np.ones(4)}, "--fuse-batch-norm"),
    "not finite": ({"fc.op.bias": np.array([np.nan])}, "not finite"),
    "whole": ({"fc.op.weight": np.ones((2, 2), np.int64)}, "of int64"),
    "empty": ({"fc.op.weight": np.ones((0, 2), np.float32)}, "no values"),
}


@pytest.mark.parametrize("name", WRONG)
def test_layers_that_cannot_be_quantised_are_errors(name: str) -> None:
    more, message = WRONG[name]
    with pytest.raises(ModelFileError, match=message):
        quantise(trained(**more), Rule())


@pytest.mark.parametrize("tree", [None, {}, {"state_dict": []}, {"state_dict": {}}])
def test_trees_without_weights_are_errors(tree: Any) -> None:
    with pytest.raises(ModelFileError):
        quantise(tree, Rule())


def test_rules_that_do_not_exist() -> None:
    for arguments in ({"method": "BEST"}, {"scale": 0.0}, {"deviations": math.inf}):
        with pytest.raises(ConfigError):
            Rule(**arguments)


def test_files_are_read_back_and_hold_what_the_accelerator_multiplies_by(tmp_path: Path) -> None:
    made = quantise(trained(), Rule())
    tree, left_out = torch_writer.without_opaque({**made.tree, "optimizer_type": torch_archive.Opaque("SGD")})
    assert left_out == ("optimizer_type",)
    file = tmp_path / "net.pth.tar"
    file.write_bytes(torch_writer.packed(tree))
    assert torch_writer.packed(tree) == file.read_bytes()
    back = torch_archive.read(file)
    assert {key: back[key] for key in ("epoch", "arch", "extras")} == {
        "epoch": 7,
        "arch": "net",
        "extras": {"clipping_method": "MAX_BIT_SHIFT"},
    }
    assert list(back["state_dict"]) == list(tree["state_dict"])
    assert all(np.array_equal(back["state_dict"][key], value) for key, value in tree["state_dict"].items())
    held = checkpoint.read(file)
    assert [parameters.name for parameters in held.parameters] == ["conv1.op.weight", "fc.op.weight"]
    assert [parameters.output_shift for parameters in held.parameters] == [layer.output_shift for layer in made.layers]
    bias = held.parameters[1].bias
    assert bias is not None
    assert (bias * 128).tolist() == made.tree["state_dict"]["fc.op.bias"].tolist()


def test_everything_that_a_file_may_hold(tmp_path: Path) -> None:
    arrays = [np.arange(6).reshape(2, 3).astype(kind) for kind in ("f4", "f8", "f2", "i8", "i4", "i2", "i1", "u1", "?")]
    tree: dict[Any, Any] = {
        "numbers": [0, -1, 2**31 - 1, -(2**31), 2**31, -(2**63), 0.5, True, False, None],
        "texts": ("", "\N{GREEK SMALL LETTER ALPHA}", ("nested", [])),
        "arrays": [*arrays, np.array(2.5), np.zeros((0, 3)), np.asfortranarray(arrays[0])],
        3: {},
    }
    file = tmp_path / "all.pt"
    file.write_bytes(torch_writer.packed(tree))
    back = torch_archive.read(file)
    assert back["numbers"] == tree["numbers"]
    assert [type(number) for number in back["numbers"]] == [type(number) for number in tree["numbers"]]
    assert back["texts"] == tree["texts"]
    assert back[3] == {}
    for left, right in zip(back["arrays"], tree["arrays"], strict=True):
        assert left.dtype == right.dtype
        assert left.shape == right.shape
        assert np.array_equal(left, right)
    for wrong in (object(), {1, 2}, np.array([1j]), 2**3000):
        with pytest.raises(ValueError, match=r"cannot be written|too large"):
            torch_writer.packed([wrong])


def normalised(transposed: bool = False, **more: Any) -> dict[str, Any]:
    rng = np.random.default_rng(9)
    state = {
        "module.conv1.op.weight": rng.normal(size=(3, 4, 3, 3) if transposed else (4, 3, 3, 3)).astype(np.float32),
        "module.conv1.op.bias": rng.normal(size=4).astype(np.float32),
        "module.conv1.bn.weight": rng.normal(size=4).astype(np.float32),
        "module.conv1.bn.bias": rng.normal(size=4).astype(np.float32),
        "module.conv1.bn.running_mean": rng.normal(size=4).astype(np.float32),
        "module.conv1.bn.running_var": rng.uniform(0.1, 2, size=4).astype(np.float32),
        "module.conv1.bn.num_batches_tracked": np.array(12),
        "module.conv2.op.weight": rng.normal(size=(2, 4, 1, 1)).astype(np.float32),
    }
    return {"arch": "net_bn", "state_dict": {**state, **more}}


@pytest.mark.parametrize("transposed", [False, True])
def test_batch_normalisation_is_fused(transposed: bool) -> None:
    tree = normalised(transposed)
    state = {key.removeprefix("module.conv1."): value for key, value in tree["state_dict"].items()}
    fused = fuse_batch_norm.fuse(tree, arch="net")
    assert fused.layers == ("module.conv1",)
    assert fused.tree["arch"] == "net"
    made = fused.tree["state_dict"]
    assert list(made) == ["module.conv1.op.weight", "module.conv1.op.bias", "module.conv2.op.weight"]
    assert made["module.conv2.op.weight"] is tree["state_dict"]["module.conv2.op.weight"]
    for channel in range(4):
        sigma = math.sqrt(float(state["bn.running_var"][channel]))
        gamma, beta = float(state["bn.weight"][channel]), float(state["bn.bias"][channel])
        pick = (slice(None), channel) if transposed else (channel,)
        wanted = state["op.weight"][pick].astype(np.float64) * gamma / sigma / 4
        assert np.allclose(made["module.conv1.op.weight"][pick], wanted, rtol=1e-5)
        bias = (float(state["op.bias"][channel]) - float(state["bn.running_mean"][channel])) * gamma / sigma / 4
        assert made["module.conv1.op.bias"][channel] == pytest.approx(bias + beta / 4, rel=1e-4, abs=1e-6)
    assert quantise(fused.tree, Rule()).layers[0].name == "module.conv1"


def test_normalisation_without_factors_and_layers_without_bias() -> None:
    tree = normalised()
    for key in ("bn.weight", "bn.bias", "op.bias"):
        del tree["state_dict"][f"module.conv1.{key}"]
    made = fuse_batch_norm.fuse(tree).tree["state_dict"]
    assert list(made)[:2] == ["module.conv1.op.weight", "module.conv1.op.bias"]
    mean, variance = (tree["state_dict"][f"module.conv1.bn.running_{name}"] for name in ("mean", "var"))
    assert np.allclose(made["module.conv1.op.bias"], -mean / np.sqrt(variance) / 4, rtol=1e-5)


@pytest.mark.parametrize(
    ("more", "message"),
    [
        ({"module.conv1.bn.running_var": np.full(4, -1.0)}, "negative"),
        ({"module.conv1.bn.running_mean": np.full(3, 1.0)}, "not one per channel"),
        ({"module.conv1.bn.weight": np.full(4, np.inf)}, "not finite"),
        ({"lost.bn.running_mean": np.zeros(4), "lost.bn.running_var": np.ones(4)}, "ambiguous"),
    ],
)
def test_normalisation_that_cannot_be_fused(more: dict[str, Any], message: str) -> None:
    with pytest.raises(ModelFileError, match=message):
        fuse_batch_norm.fuse(normalised(**more))
