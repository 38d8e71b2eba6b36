"""Runs exported models, and says what is wrong with what comes out."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
import onnx
import onnxruntime
from onnx.reference import ReferenceEvaluator

from buildtool.exporters.onnx import Exported, export
from buildtool.ir.graph import Graph
from buildtool.ir.operator import Array
from tests import exact_onnxruntime

#: The least that is allowed, whatever the tolerance of an operator's kernels: runtimes add up in the type itself.
_LEAST_RTOL = {np.dtype(np.float16): 4e-3, np.dtype(np.float32): 2e-5, np.dtype(np.float64): 1e-7}


class NobodyRunsItError(Exception):
    """Neither onnxruntime nor the evaluator of the onnx package runs the model."""


def checked(graph: Graph) -> Exported:
    """The exported graph, after every check that the onnx package makes."""
    exported = export(graph)
    onnx.checker.check_model(onnx.load_from_string(exported.content), full_check=True)
    return exported


def run(content: bytes, feeds: Mapping[str, Array]) -> list[Array]:
    """The outputs according to onnxruntime, or to the onnx package where that lacks an operator or element type."""
    feeds = {name: np.asarray(array) for name, array in feeds.items()}
    model = onnx.load_from_string(content)
    try:
        if exact_onnxruntime.inexact(model):
            raise NobodyRunsItError("sums of products saturate on this processor")
        results = _session(content).run(None, feeds)
    except Exception as missing:  # each kind of refusal has a class of its own there
        try:
            with np.errstate(all="ignore"):
                results = ReferenceEvaluator(model).run(None, feeds)
        except Exception as problem:
            raise NobodyRunsItError(f"{missing}; {problem}") from problem
    return [np.asarray(result) for result in results]


def run_fast(content: bytes, feeds: Mapping[str, Array]) -> list[Array]:
    """The outputs according to onnxruntime."""
    return [np.asarray(result) for result in _session(content).run(None, dict(feeds))]


def _session(content: bytes) -> onnxruntime.InferenceSession:
    return onnxruntime.InferenceSession(content, exact_onnxruntime.options(), ["CPUExecutionProvider"])


def differences(wanted: Sequence[Array], found: Sequence[Array], rtol: float = 0, atol: float = 1e-6) -> str:
    """What is wrong with the outputs; empty where nothing is."""
    if len(wanted) != len(found):
        return f"{len(found)} outputs instead of {len(wanted)}"
    return "; ".join(filter(None, (_difference(*pair, rtol, atol) for pair in zip(wanted, found, strict=True))))


def _difference(wanted: Array, found: Array, rtol: float, atol: float) -> str:
    if wanted.shape != found.shape or wanted.dtype != found.dtype:
        return f"{found.dtype}{found.shape} instead of {wanted.dtype}{wanted.shape}"
    if wanted.dtype.kind != "f":
        return "" if np.array_equal(wanted, found) else f"{np.sum(wanted != found)} elements differ"
    finite = np.isfinite(wanted)
    if not np.array_equal(wanted[~finite], found[~finite], equal_nan=True):
        return "infinite elements differ"
    right, other = wanted[finite].astype(np.float64), found[finite].astype(np.float64)
    error = np.max(np.abs(right - other), initial=0)
    limit = atol + max(rtol, _LEAST_RTOL[wanted.dtype]) * np.max(np.abs(right), initial=0)
    return "" if error <= limit else f"the largest error is {error:.3g}, above {limit:.3g}"


def counts(exported: Exported, *operators: str) -> int:
    """How many nodes of these operators there are."""
    return sum(exported.operators.get(operator, 0) for operator in operators)
