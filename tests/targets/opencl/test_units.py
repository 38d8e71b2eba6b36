"""GPU kernels against the NumPy references: images and buffers, 32 and 16 bits; accesses outside of tensors count."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from buildtool.codegen import container
from buildtool.ir.operator import Array
from buildtool.plan import manifest
from buildtool.runtime import DeviceKind, DeviceOptions, Library
from tests.ops.case import OpCase, cases_of, operators_with_cases
from tests.ops.native_cases import case_graph
from tests.targets.opencl.device_library import MODES, Mode, all_units, device_library, on_device

pytestmark = [pytest.mark.opencl, pytest.mark.slow]

_BORDERS = {"to_device", "from_device", "device_region"}
OPERATORS = [op for op in operators_with_cases() if all_units().of(op) and op not in _BORDERS]
_MANIFESTS = manifest.load()
_HALF_TOLERANCE = 4e-3  # of the largest result: operands and results are rounded to 11 bits


@pytest.fixture(scope="session")
def kernels() -> Library:
    """All of them in one library."""
    return device_library(OPERATORS)


def _cases(operator: str) -> list[OpCase]:
    found = []
    for case in cases_of(operator):
        graph = case_graph(case.op, case.inputs, frozenset(case.constants))
        if all_units().units_for(graph.nodes[0]):
            found.append(case)
    return found


def _stored(array: Array, mode: Mode) -> Array:
    """What the device has of it."""
    if mode.storage == "f16" and array.dtype == np.float32:
        with np.errstate(over="ignore"):
            return np.asarray(array.astype(np.float16).astype(np.float32))
    return array


def _difference(got: Array, wanted: Array, relative: float) -> str:
    """What is wrong, in words; empty where nothing is."""
    if got.shape != wanted.shape or got.dtype != wanted.dtype:
        return f"is {got.dtype}{got.shape} instead of {wanted.dtype}{wanted.shape}"
    finite = np.isfinite(wanted)
    largest = float(np.max(np.abs(wanted), initial=0.0, where=finite))
    differences = np.subtract(got, wanted, out=np.zeros(got.shape), where=finite)
    error = float(np.max(np.abs(differences), initial=0.0))
    allowed = relative * largest + 1e-6 if got.dtype == np.float32 else 0.0
    return "" if error <= allowed else f"differs by {error:.3g}, allowed is {allowed:.3g}"


def _each_in_two_modes() -> Iterator[Any]:
    """Every other operator has images of 32 bits and buffers of 16, those between them the other two modes; what is
    left is for `make test-all`."""
    for number, operator in enumerate(OPERATORS):
        for mode in MODES:
            usual = ((mode.memory == "image") == (mode.storage == "f32")) == (number % 2 == 0)
            yield pytest.param(operator, mode, id=f"{operator}-{mode}", marks=() if usual else pytest.mark.sweep)


@pytest.mark.parametrize(("operator", "mode"), list(_each_in_two_modes()))
def test_unit(operator: str, mode: Mode, kernels: Library, program_store: Path) -> None:
    options = DeviceOptions(kind=DeviceKind.GPU, check=True, storage_path=program_store)
    exact = max(kernel.rtol for kernel in _MANIFESTS.of(operator) if kernel.isa == "portable")
    wrong = []
    cases = _cases(operator)
    for case in cases:
        graph = case_graph(case.op, case.inputs, frozenset(case.constants))
        model = container.write(on_device(graph, mode), name="case")
        engine = kernels.engine(model=model.model, data=model.data, device=options)
        given = [array for index, array in enumerate(case.inputs) if index not in case.constants]
        feeds = {value.name: array for value, array in zip(graph.inputs, given, strict=True)}
        wanted = case.op.reference(*(_stored(array, mode) for array in case.inputs))
        relative = _HALF_TOLERANCE if mode.storage == "f16" else max(exact, 1e-5)
        for got, expected in zip(engine.run(feeds).values(), wanted, strict=True):
            if difference := _difference(got, _stored(expected, mode), relative):
                wrong.append(f"{case.name}: {difference}")
    assert not wrong, "\n".join(wrong)
    assert len(cases) >= 20, f"{operator} has {len(cases)} cases that a unit takes"


def test_every_operator_of_a_unit_has_cases() -> None:
    operators = set(all_units().units) - _BORDERS
    assert operators == set(OPERATORS)
