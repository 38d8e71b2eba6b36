"""The inner tensors of a source model, from its own framework, by the names that they have there."""

from __future__ import annotations

import logging
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from buildtool.errors import LatheError
from buildtool.ir.types import DType
from buildtool.running.inputs import TensorSpec
from buildtool.running.litert import LitertReference, litert_is_here
from buildtool.running.metrics import Array
from buildtool.running.model_under_test import Interpreter
from buildtool.running.other_python import OtherPythonReference
from buildtool.running.reference import OnnxruntimeReference, Reference, onnxruntime_is_here

_log = logging.getLogger(__name__)
_PLAIN = "numpy"


@dataclass(frozen=True)
class SourceModel:
    """A source model, and who may run it."""

    wish: str  # auto, onnxruntime, litert, numpy
    platform: str
    file: Path
    inputs: Sequence[TensorSpec]
    elsewhere: Interpreter | None = None

    def tensors(self, wanted: Mapping[str, DType], inputs: Mapping[str, Array]) -> tuple[dict[str, Array], str]:
        """Those of these tensors that the source has, and the framework's name; nothing where none is here.

        Layers can be compared without it: a framework that refuses the model is no failure.
        """
        try:
            known = self._known(wanted)
            specs = [TensorSpec(name, (), wanted[name]) for name in known]
            reference = self._reference(specs) if specs else None
            if reference is None:
                return {}, _PLAIN
            return reference.run(inputs), reference.name
        except LatheError as error:
            _log.warning("%s; layers are compared with the NumPy reference alone", error.problems[0].what)
            return {}, _PLAIN

    def _reference(self, outputs: Sequence[TensorSpec]) -> Reference | None:
        if self.elsewhere is not None:
            python, weights, seconds = self.elsewhere.python, self.elsewhere.weight_file, self.elsewhere.seconds
            return OtherPythonReference(
                python, self.platform, self.file, weights, self.inputs, outputs, seconds,
                jailed=not self.elsewhere.trusts_model,
            )  # fmt: skip
        if self.platform == "onnx" and self.wish in ("auto", "onnxruntime") and onnxruntime_is_here():
            return OnnxruntimeReference(self.file, self.inputs, outputs)
        if self.platform == "tflite" and self.wish in ("auto", "litert") and litert_is_here():
            return LitertReference(self.file, self.inputs, outputs)
        return None

    def _known(self, wanted: Iterable[str]) -> list[str]:
        """Those names that are tensors of the model file, where that can be told before the framework is asked."""
        if self.platform == "onnx":
            import onnx

            graph = onnx.load(self.file, load_external_data=False).graph
            made = {name for node in graph.node for name in node.output}
            return [name for name in wanted if name in made]
        if self.platform == "tflite" and litert_is_here():
            from ai_edge_litert import interpreter

            details = interpreter.Interpreter(str(self.file)).get_tensor_details()
            made = {detail["name"] for detail in details}
            return [name for name in wanted if name in made]
        return list(wanted)
