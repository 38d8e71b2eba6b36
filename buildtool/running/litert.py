"""LiteRT as the one who gives the right answer for TFLite models."""

from __future__ import annotations

import importlib.util
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from buildtool.errors import UnsupportedError, Where
from buildtool.running.inputs import TensorSpec
from buildtool.running.metrics import Array
from buildtool.running.reference import from_source, to_source


def litert_is_here() -> bool:
    return importlib.util.find_spec("ai_edge_litert") is not None


class LitertReference:
    """The source model in LiteRT's interpreter, in this process.

    Outputs are those of the kernels that applications get by default (XNNPACK), which round integers once, as Lathe
    does. Tensors inside of the model exist only where LiteRT's own kernels run, some of which round twice.
    """

    name = "litert"

    def __init__(self, model_file: Path, inputs: Sequence[TensorSpec], outputs: Sequence[TensorSpec]) -> None:
        self._file = model_file
        self._inputs = inputs
        self._outputs = outputs
        self._usual = self._loaded(model_file)
        ends = {detail["name"] for detail in self._usual.get_output_details()}
        names = {spec.source_name or spec.name for spec in outputs}
        self._all = self._loaded(model_file, inner=True) if names - ends else self._usual
        known = {detail["name"]: detail for detail in self._all.get_tensor_details()}
        fed = {detail["name"] for detail in self._usual.get_input_details()}
        for spec in (*inputs, *outputs):
            name = spec.source_name or spec.name
            if name not in (fed if spec in inputs else known):
                raise self._refusal(f"'{name}' cannot be {'set' if spec in inputs else 'read'}")
        self._details = known
        self._ends = ends

    def run(self, inputs: Mapping[str, Array]) -> dict[str, Array]:
        arrays = {spec.name: to_source(inputs[spec.name], spec) for spec in self._inputs}
        try:
            for interpreter in dict.fromkeys((self._usual, self._all)):
                for spec in self._inputs:
                    interpreter.resize_tensor_input(self._of(spec)["index"], arrays[spec.name].shape)
                interpreter.allocate_tensors()
                for spec in self._inputs:
                    detail = self._of(spec)
                    interpreter.set_tensor(detail["index"], _stored(arrays[spec.name], detail))
                interpreter.invoke()
            return {spec.name: from_source(self._result(spec), spec) for spec in self._outputs}
        except (RuntimeError, ValueError) as problem:
            raise self._refusal(str(problem)) from problem

    def _of(self, spec: TensorSpec) -> Mapping[str, Any]:
        """What the interpreters say of a tensor."""
        detail: Mapping[str, Any] = self._details[spec.source_name or spec.name]
        return detail

    def _result(self, spec: TensorSpec) -> Array:
        detail = self._of(spec)
        interpreter = self._usual if detail["name"] in self._ends else self._all
        result = np.asarray(interpreter.get_tensor(detail["index"]))
        scale, zero_point = detail["quantization"]
        if not spec.dtype.is_float or result.dtype.kind == "f" or not scale:
            return np.asarray(result, spec.dtype.numpy)
        return np.asarray((result.astype(np.float32) - zero_point) * np.float32(scale), np.float32)

    def _loaded(self, file: Path, inner: bool = False) -> Any:
        from ai_edge_litert.interpreter import Interpreter, OpResolverType

        kernels = OpResolverType.BUILTIN_WITHOUT_DEFAULT_DELEGATES if inner else OpResolverType.AUTO
        try:
            return Interpreter(
                str(file), experimental_op_resolver_type=kernels, experimental_preserve_all_tensors=inner, num_threads=1
            )
        except (RuntimeError, ValueError) as problem:
            raise self._refusal(str(problem)) from problem

    def _refusal(self, why: str) -> UnsupportedError:
        return UnsupportedError(
            f"LiteRT cannot run this model: {why.splitlines()[0] if why else 'no reason given'}",
            where=Where(file=str(self._file)),
            remedy="compare with Lathe's own evaluator: --reference numpy",
        )


def _stored(array: Array, detail: Mapping[str, Any]) -> Array:
    """The array in the type of an input; floats are what the whole numbers of a quantised one stand for."""
    dtype, (scale, zero_point) = np.dtype(detail["dtype"]), detail["quantization"]
    if array.dtype.kind != "f" or dtype.kind == "f" or not scale:
        return array.astype(dtype, copy=False)
    ends = np.iinfo(str(dtype))
    steps = np.round(array.astype(np.float32) / np.float32(scale)) + zero_point
    return np.asarray(np.clip(steps, ends.min, ends.max), dtype)
