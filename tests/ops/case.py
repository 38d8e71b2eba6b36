"""Cases of operators: attributes and inputs for which references, kernels and importers are compared."""

from __future__ import annotations

import importlib
import pkgutil
import zlib
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from buildtool.ir.operator import Array, Operator
from buildtool.ir.types import TensorType, dtype_of
from tests.ops import cases as cases_package


@dataclass(frozen=True)
class OpCase:
    """One application of an operator.

    `constants`: the positions of inputs that the model brings (weights). `made_for`: how the names of the algorithms
    begin that the case was made for; kernels of others run it as it stands only.
    """

    op: Operator
    inputs: tuple[Array, ...]
    name: str  # unique among the cases of the operator; letters, digits and underscores
    constants: tuple[int, ...] = ()
    made_for: str = ""

    @property
    def types(self) -> tuple[TensorType, ...]:
        return tuple(TensorType(dtype_of(array), array.shape) for array in self.inputs)

    def __str__(self) -> str:
        return f"{self.op.name}_{self.name}"


def operators_with_cases() -> list[str]:
    return sorted(info.name for info in pkgutil.iter_modules(cases_package.__path__))


def cases_of(operator: str) -> Iterator[OpCase]:
    """The cases of one operator, the same ones every time."""
    module = importlib.import_module(f"{cases_package.__name__}.{operator}")
    yield from module.cases(np.random.default_rng(zlib.crc32(operator.encode())))


def all_cases() -> Iterator[OpCase]:
    for operator in operators_with_cases():
        yield from cases_of(operator)
