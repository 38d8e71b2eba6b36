"""Every operator has its places: an entry in the documentation, cases, and a registry that finds it."""

from __future__ import annotations

import importlib.util
import inspect
import re
from pathlib import Path

import pytest

from buildtool.errors import ConfigError
from buildtool.ir.types import DType, TensorType
from buildtool.ops.registry import builtin, registry
from tests.ops.case import cases_of, operators_with_cases

_ROOT = Path(__file__).parents[2]
#: A case is one node. Operators that hold regions have models: tests/importers/onnx/control_flow.py.
_WITH_CASES = sorted(name for name, kind in builtin().items() if not kind.regions)


def test_cases_and_registry_name_the_same_operators() -> None:
    assert operators_with_cases() == _WITH_CASES


@pytest.mark.parametrize("operator", _WITH_CASES)
def test_operator_has_20_cases_of_its_own(operator: str) -> None:
    cases = list(cases_of(operator))
    assert {case.op.name for case in cases} == {operator}
    assert len(cases) >= 20


@pytest.mark.parametrize("operator", sorted(builtin()))
def test_operator_says_what_it_is(operator: str) -> None:
    """These texts are its entry in the documentation."""
    kind = builtin()[operator]
    meaning = inspect.getmodule(kind).__doc__ or ""
    assert re.match(rf"{operator}\b[^:]*: .+\.", meaning), "the module begins with 'operator: what it computes.'"
    text = vars(kind).get("__doc__") or ""
    assert re.search(r"\bInputs?\b", text), "the text of the class names the inputs"


def test_page_of_operators_has_every_operator_and_attribute() -> None:
    spec = importlib.util.spec_from_file_location("list_operators", _ROOT / "scripts" / "list_operators.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    entries = dict(re.findall(r"^## (\w+)\n(.*?)(?=^## |\Z)", module.page(), re.MULTILINE | re.DOTALL))
    assert list(entries) == sorted(builtin())
    for name, kind in builtin().items():
        words = set(re.findall(r"\w+", entries[name].partition("\nAttributes: ")[2]))
        if "act" in words:
            words |= {"activation", "activation_alpha", "activation_beta"}
        assert set(kind.attribute_kinds()) <= words, name


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
    with pytest.raises(ConfigError, match="the operator 'relu' already exists"):
        registry([_write(tmp_path / "mine", "relu")])
    with pytest.raises(ConfigError, match="the operator 'halve' already exists"):
        registry([_write(tmp_path / "a", "halve"), _write(tmp_path / "b", "halve")])


def test_folder_without_operators(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match="no operator found"):
        registry([tmp_path])


def test_operator_of_the_user_that_does_not_load(tmp_path: Path) -> None:
    folder = _write(tmp_path / "mine", "broken", "def (")
    with pytest.raises(ConfigError, match="loading the operator failed: SyntaxError"):
        registry([folder])
