"""Every operator has its places: a row in the architecture page, cases, and a registry that finds it."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from buildtool.errors import ConfigError
from buildtool.ir.types import DType, TensorType
from buildtool.ops.registry import builtin, registry
from tests.ops.case import cases_of, operators_with_cases

_ARCHITECTURE = Path(__file__).parents[2] / "docs" / "architecture.md"


def _table() -> dict[str, str]:
    """The attribute column of the operator table, by operator."""
    rows: dict[str, str] = {}
    section = _ARCHITECTURE.read_text(encoding="utf-8").partition("## Operators")[2].partition("\n## ")[0]
    for line in section.splitlines():
        match = re.match(r"\| `([a-z0-9_ ]+)` \| (.*) \| (.*) \|$", line)
        if match:
            rows.update(dict.fromkeys(match[1].split(), match[3]))
    return rows


def test_table_and_registry_name_the_same_operators() -> None:
    assert set(_table()) == set(builtin())


def test_cases_and_registry_name_the_same_operators() -> None:
    assert set(operators_with_cases()) == set(builtin())


@pytest.mark.parametrize("operator", sorted(builtin()))
def test_operator_has_20_cases_of_its_own(operator: str) -> None:
    cases = list(cases_of(operator))
    assert {case.op.name for case in cases} == {operator}
    assert len(cases) >= 20


@pytest.mark.parametrize("operator", sorted(builtin()))
def test_table_names_every_attribute(operator: str) -> None:
    row = _table()[operator]
    words = set(re.findall(r"[a-z_0-9]+", row))
    if "act" in words:
        words |= {"activation", "activation_alpha", "activation_beta"}
    assert set(builtin()[operator].attribute_kinds()) <= words


def test_module_is_called_like_its_operator() -> None:
    for name, operator in builtin().items():
        assert operator.__module__ == f"buildtool.ops.{name}"


_USER_OPERATOR = '''
"""An operator of the user's."""
from __future__ import annotations
from dataclasses import dataclass
from typing import ClassVar
from buildtool.ir.operator import Operator

@dataclass(frozen=True)
class Halve(Operator):
    name: ClassVar[str] = "{name}"
    times: int
    def infer(self, inputs):
        (x,) = self.operands(inputs)
        return (x,)
    def reference(self, *inputs):
        return (inputs[0] / 2**self.times,)
'''


def _write(folder: Path, name: str, text: str = _USER_OPERATOR) -> Path:
    (folder / "ops").mkdir(parents=True)
    (folder / "ops" / f"{name}.py").write_text(text.replace("{name}", name), encoding="utf-8")
    return folder


def test_operators_of_the_user_are_found(tmp_path: Path) -> None:
    folder = _write(tmp_path / "mine", "halve")
    operators = registry([folder])
    assert set(operators) == {*builtin(), "halve"}
    x = TensorType(DType.F32, (3,))
    assert operators["halve"](times=1).infer([x]) == (x,)  # type: ignore[call-arg]
    assert "halve" not in builtin()


def test_operator_of_the_user_must_not_hide_another(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match="the operator 'relu' exists already"):
        registry([_write(tmp_path / "mine", "relu")])
    with pytest.raises(ConfigError, match="the operator 'halve' exists already"):
        registry([_write(tmp_path / "a", "halve"), _write(tmp_path / "b", "halve")])


def test_folder_without_operators(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match="no operator found"):
        registry([tmp_path])


def test_operator_of_the_user_that_does_not_load(tmp_path: Path) -> None:
    folder = _write(tmp_path / "mine", "broken", "def (")
    with pytest.raises(ConfigError, match="loading the operator failed: SyntaxError"):
        registry([folder])
