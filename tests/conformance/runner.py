"""Runs one conformance case: import, optimise, evaluate with the NumPy meaning, run in the native library.

Lathe decides shapes when it builds, so a tensor that says how large something is (the target of a Reshape, the scales
of a Resize) has to be known then. The cases pass such tensors as inputs. A case is imported with all of its inputs open
first; where the importer asks for one to be known, the case is imported again with its small inputs frozen as weights,
and the result says so.
"""

from __future__ import annotations

import tempfile
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import onnx
from onnx import numpy_helper

from buildtool.codegen import container
from buildtool.errors import LatheError
from buildtool.importers.frameworks import import_model
from buildtool.importers.request import ImportRequest, TensorRequest
from buildtool.ir.evaluate import evaluate
from buildtool.ir.graph import Graph
from buildtool.ir.types import DType
from buildtool.passes.pipeline import optimise
from buildtool.runtime import Library
from tests.conformance.cases import ConformanceCase

PASSED = "passed"
_BF16_RTOL = 2**-6  # two steps between neighbours, as the runner of the onnx package has it
_FROZEN_ELEMENTS = 64  # inputs up to this size may be shapes, axes, scales, counts


@dataclass(frozen=True)
class Outcome:
    """How a case went on both sides: PASSED, or what was in the way."""

    reference: str
    native: str
    frozen: bool = False


@dataclass(frozen=True)
class _Subject:
    graph: Graph
    open_inputs: tuple[str, ...]  # names of the inputs that were left open
    frozen: bool


def run(case: ConformanceCase, library: Library | None) -> Outcome:
    """Both sides of one case; `library` holds every kernel (None: the reference only)."""
    reference = native = PASSED
    frozen = False
    for inputs, expected in case.data:
        if not all(isinstance(item, np.ndarray) for item in (*inputs, *expected)):
            text = "excluded: values that are no tensors"
            return Outcome(text, text)
        try:
            subject = _import(case, inputs)
        except LatheError as problem:
            text = f"import: {_first_line(problem)}"
            return Outcome(text, text)
        frozen = frozen or subject.frozen
        names = [value.name for value in case.model.graph.input if value.name not in _weights(case.model)]
        feeds = {name: _fed(array) for name, array in zip(names, inputs, strict=False) if name in subject.open_inputs}
        if reference == PASSED:
            reference = _compare_reference(subject.graph, feeds, expected, case)
        if native == PASSED and library is not None:
            native = _compare_native(subject.graph, feeds, expected, case, library)
    return Outcome(reference, native if library is not None else "not run", frozen)


def _weights(model: onnx.ModelProto) -> set[str]:
    return {tensor.name for tensor in model.graph.initializer}


def _import(case: ConformanceCase, inputs: Sequence[Any]) -> _Subject:
    try:
        return _import_with(case, inputs, set())
    except LatheError as problem:
        small = {
            value.name
            for value, array in zip(case.model.graph.input, inputs, strict=False)
            if array.size <= _FROZEN_ELEMENTS and (array.dtype.kind in "iub" or array.ndim <= 1)
        }
        if not small:
            raise
        first = problem
    for names in _candidates(case, small):
        try:
            return _import_with(case, inputs, names)
        except LatheError:
            continue
    raise first


def _candidates(case: ConformanceCase, small: set[str]) -> list[set[str]]:
    """The small inputs but the first one, which is the data; then all small inputs."""
    first = case.model.graph.input[0].name
    return [names for names in (small - {first}, small) if names]


def _import_with(case: ConformanceCase, inputs: Sequence[Any], frozen: set[str]) -> _Subject:
    """Import with the inputs in `frozen` as weights, the others with the shapes of the data."""
    model = onnx.ModelProto()
    model.CopyFrom(case.model)
    held = _weights(model)
    fed = [value for value in model.graph.input if value.name not in held]
    requests = []
    for value, array in zip(fed, inputs, strict=False):
        if value.name in frozen:
            model.graph.initializer.append(numpy_helper.from_array(array, value.name))
        else:
            layout = "NCHW" if array.ndim == 4 else "NONE"
            requests.append(TensorRequest(value.name, tuple(array.shape), layout, _half(value)))
    outputs = tuple(
        TensorRequest(value.name, None, "NCHW" if len(value.type.tensor_type.shape.dim) == 4 else "NONE", _half(value))
        for value in model.graph.output
    )
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "model.onnx"
        onnx.save(model, file)
        imported = import_model("onnx", ImportRequest("case", file, inputs=tuple(requests), outputs=outputs))
    optimise(imported.graph)
    return _Subject(imported.graph, tuple(request.name for request in requests), bool(frozen))


def _fed(array: Any) -> Any:
    """bf16 is carried by float32."""
    return array.astype(np.float32) if str(array.dtype) == "bfloat16" else array


def _half(value: onnx.ValueInfoProto) -> DType | None:
    """The type to ask for at the border: inside of the graph halves are widened, and nobody would notice."""
    kinds: dict[int, DType] = {onnx.TensorProto.FLOAT16: DType.F16, onnx.TensorProto.BFLOAT16: DType.BF16}
    return kinds.get(value.type.tensor_type.elem_type)


def _compare_reference(graph: Graph, feeds: dict[str, Any], expected: Sequence[Any], case: ConformanceCase) -> str:
    try:
        outputs = evaluate(graph, feeds)
    except LatheError as problem:
        return f"reference: {_first_line(problem)}"
    return _difference([outputs[value.name] for value in graph.outputs], expected, case)


def _compare_native(
    graph: Graph, feeds: dict[str, Any], expected: Sequence[Any], case: ConformanceCase, library: Library
) -> str:
    files = container.write(graph, name="case", half=False)
    try:
        outputs = library.engine(model=files.model, data=files.data, threads=1).run(feeds)
    except LatheError as problem:
        return f"native: {_first_line(problem)}"
    return _difference([outputs[value.name] for value in graph.outputs], expected, case)


def _difference(outputs: Sequence[Any], expected: Sequence[Any], case: ConformanceCase) -> str:
    """PASSED, or the first output that is not what the case says (values, shape and element type)."""
    for index, (found, wanted) in enumerate(zip(outputs, expected, strict=True)):
        if found.shape != wanted.shape:
            return f"output {index} has the shape {list(found.shape)}, not {list(wanted.shape)}"
        if found.dtype != wanted.dtype and not _carries(found, wanted):
            return f"output {index} holds {found.dtype}, not {wanted.dtype}"
        if wanted.dtype.kind in "biu":
            if not np.array_equal(found, wanted):
                return f"output {index} differs in {int(np.sum(found != wanted))} of {wanted.size} elements"
            continue
        rtol = max(case.rtol, _BF16_RTOL) if str(wanted.dtype) == "bfloat16" else case.rtol
        close = np.isclose(found.astype(np.float64), wanted.astype(np.float64), rtol, case.atol, equal_nan=True)
        if not close.all():
            return f"output {index} differs in {int(np.sum(~close))} of {wanted.size} elements"
    return PASSED


def _carries(found: Any, wanted: Any) -> bool:
    """bf16 has no type of its own in NumPy and comes out of Lathe as float32."""
    return str(wanted.dtype) == "bfloat16" and found.dtype == np.float32


def _first_line(problem: LatheError) -> str:
    first = problem.problems[0]
    return f"{first.what}" + (f" ({first.rule})" if first.rule else "")
