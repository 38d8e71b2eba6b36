"""Operators that a user brings (`op_paths`): a source node finds its operator by name, whatever its domain.

`MyNorm` in the model is the operator `my_norm` (or `MyNorm`) of the user; attributes go over by name.
"""

from __future__ import annotations

import dataclasses
import re
from collections.abc import Mapping
from typing import Any

from buildtool.importers.builder import Tensor
from buildtool.importers.model import SourceNode
from buildtool.importers.registry import Handler
from buildtool.importers.step import Step
from buildtool.ir.operator import Operator
from buildtool.ops.registry import builtin


def operator_name(title: str) -> str:
    """The usual spelling of an operator of that title: `MyNorm` is `my_norm`, `Scale2D` is `scale2d`."""
    return re.sub(r"(?<=[a-z0-9])(?=[A-Z][a-z])|(?<=[a-z])(?=[A-Z])", "_", title).lower()


def user_handler(node: SourceNode, operators: Mapping[str, type[Operator]]) -> Handler | None:
    """A handler for a node of a user's operator; None where the user has brought no such operator."""
    known = builtin()
    for name in (node.op, operator_name(node.op)):
        if name in operators and name not in known:
            return _handler(name, operators[name])
    return None


def _handler(name: str, operator: type[Operator]) -> Handler:
    def import_node(step: Step) -> tuple[Tensor, ...]:
        fields = {field.name: field for field in dataclasses.fields(operator)}
        attributes: dict[str, Any] = {}
        for key, value in step.node.attributes.items():
            if key not in fields:
                step.unsupported(
                    f"the operator '{name}' has no attribute '{key}'",
                    f"its attributes are: {', '.join(fields) or 'none'}",
                )
            attributes[key] = bool(value) if str(fields[key].type) == "bool" else value
        for key, field in fields.items():
            missing = field.default is dataclasses.MISSING and field.default_factory is dataclasses.MISSING
            if key not in attributes and missing:
                step.malformed(f"the attribute '{key}' of the operator '{name}' is missing")
        return step.emit_all(name, *step.present(), **attributes)

    return import_node
