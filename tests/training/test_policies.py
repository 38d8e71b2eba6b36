"""Policies are read as ai8x-training has them, and every mistake is named."""

from __future__ import annotations

from pathlib import Path

import pytest

from buildtool.errors import ConfigError
from buildtool.training import policies
from buildtool.training.policies import Policy

WHOLE = """start_epoch: 10
weight_bits: 8
shift_quantile: 0.985
outlier_removal_z_score: 6.0
overrides:
  conv1: {weight_bits: 2}
  fc:
    weight_bits: 4
"""


def read(folder: Path, text: str) -> Policy:
    file = folder / "qat.yaml"
    file.write_text(text)
    return policies.read(file)


def test_a_policy(tmp_path: Path) -> None:
    found = read(tmp_path, WHOLE)
    assert found == Policy(10, 8, 0.985, 6.0, {"conv1": 2, "fc": 4})
    assert [found.bits_of(name) for name in ("conv1", "conv2", "fc")] == [2, 8, 4]
    assert read(tmp_path, "weight_bits: 4\n") == Policy(weight_bits=4)


MISTAKES = {
    "- 1": "a policy is a mapping",
    "start_epoch: -1": "qat.yaml:1:14: error: `start_epoch` cannot be '-1'\n  rule: an integer from 0 on",
    "start_epoch: 1.5": "`start_epoch` cannot be '1.5'",
    "start_epoch:": "`start_epoch` cannot be empty",
    "start_epoch: [1]": "`start_epoch` cannot be ['1']",
    "weight_bits: 3": "`weight_bits` cannot be '3'\n  rule: 1, 2, 4 or 8",
    "weight_bits: eight": "`weight_bits` cannot be 'eight'",
    "weight_bits: -1": "`weight_bits` cannot be '-1'",
    "shift_quantile: 0": "`shift_quantile` cannot be '0'\n  rule: a number above 0, at most 1",
    "shift_quantile: 1.1": "`shift_quantile` cannot be '1.1'",
    "shift_quantile: nan": "`shift_quantile` cannot be 'nan'",
    "outlier_removal_z_score: -2": "`outlier_removal_z_score` cannot be '-2'",
    "outlier_removal_z_score: inf": "`outlier_removal_z_score` cannot be 'inf'",
    "weigth_bits: 8": "a policy has no key 'weigth_bits'\n  rule: keys: start_epoch, weight_bits, shift_quantile, "
    "outlier_removal_z_score, overrides\n  fix:  did you mean 'weight_bits'?",
    "overrides: 4": "`overrides` cannot be '4'",
    "overrides: {conv1: 4}": "the override of 'conv1' is not understood\n  rule: `weight_bits`: 1, 2, 4 or 8",
    "overrides: {conv1: {weight_bits: 5}}": "the override of 'conv1' is not understood",
    "overrides: {conv1: {bits: 4}}": "the override of 'conv1' is not understood",
    "overrides: {conv1: {weight_bits: 4, shift_quantile: 1}}": "the override of 'conv1' is not understood",
    "weight_bits: 8\nweight_bits: 4": "weight_bits",
}


@pytest.mark.parametrize("text", MISTAKES)
def test_mistakes_are_named(text: str, tmp_path: Path) -> None:
    with pytest.raises(ConfigError) as caught:
        read(tmp_path, text + "\n")
    assert MISTAKES[text] in caught.value.render()


def test_all_mistakes_are_told_at_once(tmp_path: Path) -> None:
    with pytest.raises(ConfigError) as caught:
        read(tmp_path, "weight_bits: 3\nstart: 1\noverrides: {a: 1, b: 2}\n")
    assert len(caught.value.problems) == 4


def test_overrides_are_of_layers_that_exist() -> None:
    with pytest.raises(ConfigError) as caught:
        policies.check_layers(Policy(overrides={"conv2": 4, "conv3": 4}), ["conv1", "conv2"], "qat.yaml")
    (problem,) = caught.value.problems
    assert problem.what == "the network has no layer 'conv3'"
    assert problem.rule == "its layers with weights: conv1, conv2"
