"""What a description says of the bits of weights, before there are any."""

from __future__ import annotations

from pathlib import Path

from buildtool.errors import ConfigError
from buildtool.targets.max7800x.description import order
from buildtool.targets.max7800x.description.chosen import choose
from buildtool.targets.max7800x.description.sections import Findings, sections
from buildtool.yaml_marks import read_yaml


def weight_bits(file: Path) -> tuple[int | None, ...]:
    """Of the layers that have weights of their own, in their order; None where the file says nothing.

    ConfigError with all that is wrong with the words of the file. Whether the layers fit each other is not looked at.
    """
    findings = Findings()
    tree = read_yaml(file, environment={})
    findings.problems += tree.problems
    written = sections(tree.root, findings)
    layers = order.in_order([choose(section) for section in written.layers], written.buffers, findings)
    if findings.problems:
        raise ConfigError(findings.problems)
    return tuple(layer.section.get("quantization") for layer in layers if layer.has_own_weights)
