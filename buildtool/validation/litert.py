"""LiteRT as the one who gives the right answer for TFLite models."""

from __future__ import annotations

import importlib.util
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from buildtool.errors import UnsupportedError, Where
from buildtool.validation.inputs import TensorSpec
from buildtool.validation.metrics import Array
from buildtool.validation.reference import from_source, to_source


def litert_is_here() -> bool:
    return importlib.util.find_spec("ai_edge_litert") is not None


class LitertReference:
    """The source model in LiteRT's interpreter, in this process, without a delegate."""

    name = "litert"

    def __init__(self, model_file: Path, inputs: Sequence[TensorSpec], outputs: Sequence[TensorSpec]) -> None:
        self._file = model_file
        self._inputs = inputs
        self._outputs = outputs
        self._interpreter = self._loaded(model_file)
        known = {detail["name"]: detail for detail in self._interpreter.get_tensor_details()}
        fed = {detail["name"] for detail in self._interpreter.get_input_details()}
        for spec in (*inputs, *outputs):
            name = spec.source_name or spec.name
            if name not in (fed if spec in inputs else known):
                raise self._refusal(f"it does not let '{name}' be {'given' if spec in inputs else 'read'}")
        self._indices = {name: int(detail["index"]) for name, detail in known.items()}

    def run(self, inputs: Mapping[str, Array]) -> dict[str, Array]:
        try:
            for spec in self._inputs:
                index = self._indices[spec.source_name or spec.name]
                array = to_source(inputs[spec.name], spec)
                self._interpreter.resize_tensor_input(index, array.shape)
            self._interpreter.allocate_tensors()
            for spec in self._inputs:
                index = self._indices[spec.source_name or spec.name]
                self._interpreter.set_tensor(index, to_source(inputs[spec.name], spec))
            self._interpreter.invoke()
            return {spec.name: from_source(self._result(spec), spec) for spec in self._outputs}
        except (RuntimeError, ValueError) as problem:
            raise self._refusal(str(problem)) from problem

    def _result(self, spec: TensorSpec) -> Array:
        return np.asarray(self._interpreter.get_tensor(self._indices[spec.source_name or spec.name]))

    def _loaded(self, file: Path) -> Any:
        from ai_edge_litert import interpreter

        without = interpreter.OpResolverType.BUILTIN_WITHOUT_DEFAULT_DELEGATES
        try:
            return interpreter.Interpreter(
                str(file), experimental_op_resolver_type=without, experimental_preserve_all_tensors=True, num_threads=1
            )
        except (RuntimeError, ValueError) as problem:
            raise self._refusal(str(problem)) from problem

    def _refusal(self, why: str) -> UnsupportedError:
        return UnsupportedError(
            f"LiteRT cannot run this model: {why.splitlines()[0] if why else 'it does not say why'}",
            where=Where(file=str(self._file)),
            remedy="compare with Lathe's own evaluator: --reference numpy",
        )
