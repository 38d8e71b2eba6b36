"""A model under test: its inputs, who knows the right answer, and what counts as right."""

from __future__ import annotations

import logging
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from buildtool.errors import RunError, UnsupportedError
from buildtool.ir.graph import Graph
from buildtool.running.inputs import TensorSpec, check_names, random_inputs, read_array
from buildtool.running.litert import LitertReference, litert_is_here
from buildtool.running.metrics import Array
from buildtool.running.other_python import OtherPythonReference
from buildtool.running.reference import (
    EvaluatorReference,
    FileReference,
    OnnxruntimeReference,
    Reference,
    onnxruntime_is_here,
)

_log = logging.getLogger(__name__)


@dataclass(frozen=True)
class Subject:
    """One model, the inputs it gets, and the outputs it should give."""

    name: str
    inputs: Mapping[str, Array]
    expected: Mapping[str, Array]
    reference: str  # who says so
    threshold: float
    channels: Mapping[str, int] = field(default_factory=dict)  # their axis in an output, where it is not the last
    quantises: bool = False  # see quantises_as_it_runs


def quantises_as_it_runs(graph: Graph) -> bool:
    """Whether numbers are quantised by scales that are computed.

    The last bit of a number then decides which step it takes, and all numbers behind it differ with that: two
    implementations that are right may give results as far apart as quantising takes them from the real ones.
    """
    return any(node.op.name == "quantize_linear" and node.inputs[1].constant is None for node in graph.walk())


def inputs_for(
    specs: Sequence[TensorSpec], given: Mapping[str, Path], recorded: Sequence[Path], seed: int
) -> dict[str, Array]:
    """Data for every input: files by name, then those that the deployment names, then random numbers."""
    check_names(given, specs)
    inputs = random_inputs(specs, seed)
    files = {**dict(zip((spec.name for spec in specs), recorded, strict=False)), **given}
    by_name = {spec.name: spec for spec in specs}
    inputs.update((name, read_array(file, by_name[name])) for name, file in files.items())
    return inputs


@dataclass(frozen=True)
class Interpreter:
    """Another Python, which has the framework of the model, and how long it may take."""

    python: Path
    weight_file: Path | None
    seconds: float
    trusts_model: bool = False  # whether code in the model's file may run with all rights


def choose_reference(
    wish: str,
    platform: str,
    model_file: Path,
    graph: Graph,
    inputs: Sequence[TensorSpec],
    outputs: Sequence[TensorSpec],
    recorded: Sequence[Path],
    elsewhere: Interpreter | None = None,
) -> Reference:
    """Files where the deployment names them, else the source framework where it is installed, else NumPy.

    `elsewhere`: the source framework is asked there, whatever files there are.
    """
    if elsewhere is not None:
        return OtherPythonReference(
            elsewhere.python, platform, model_file, elsewhere.weight_file, inputs, outputs, elsewhere.seconds,
            jailed=not elsewhere.trusts_model,
        )  # fmt: skip
    if wish == "auto" and recorded:
        return FileReference(recorded, outputs)
    if wish == "onnxruntime" and not onnxruntime_is_here():
        raise RunError("onnxruntime is not installed", remedy="pip install onnxruntime, or: --reference numpy")
    if wish == "litert" and not litert_is_here():
        raise RunError("LiteRT is not installed", remedy="pip install ai-edge-litert, or: --reference numpy")
    framework: type[OnnxruntimeReference | LitertReference] | None = None
    if platform == "onnx" and wish in ("auto", "onnxruntime") and onnxruntime_is_here():
        framework = OnnxruntimeReference
    elif platform == "tflite" and wish in ("auto", "litert") and litert_is_here():
        framework = LitertReference
    if framework is not None:
        try:
            return framework(model_file, inputs, outputs)
        except UnsupportedError as error:  # an operator of the user, a newer format than it reads
            if wish != "auto":
                raise
            _log.warning("%s; comparing with the NumPy reference instead", error.problems[0].what)
    return EvaluatorReference(graph, inputs, outputs)
