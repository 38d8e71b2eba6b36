"""Where the right answer comes from: onnxruntime, Lathe's own NumPy evaluator, or files of the user.

Every other framework has a file of its own.
"""

from __future__ import annotations

import importlib.util
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Protocol

import numpy as np

from buildtool.errors import UnsupportedError, Where
from buildtool.ir.evaluate import evaluate
from buildtool.ir.graph import Graph
from buildtool.running.inputs import TensorSpec, read_array
from buildtool.running.metrics import Array

# From one order of dimensions to another; what is not here is the same in both.
_PERMUTATIONS = {("NHWC", "NCHW"): (0, 3, 1, 2), ("NCHW", "NHWC"): (0, 2, 3, 1)}

#: Of onnxruntime: without it, processors that lack VNNI add products of bytes up in 16 bits, which saturate.
EXACT_INTEGERS = ("session.x64quantprecision", "1")


class Reference(Protocol):
    """Runs the source model. Arrays are in the shapes and formats that the deployment file declares."""

    name: str

    def run(self, inputs: Mapping[str, Array]) -> dict[str, Array]:
        """Outputs by the names that users see."""
        ...


class EvaluatorReference:
    """The graph as it was imported, before any pass, evaluated operator by operator in NumPy."""

    name = "numpy"

    def __init__(self, graph: Graph, inputs: Sequence[TensorSpec], outputs: Sequence[TensorSpec]) -> None:
        self._graph = graph
        self._inputs = inputs
        self._outputs = outputs

    def run(self, inputs: Mapping[str, Array]) -> dict[str, Array]:
        feeds = {value.name: inputs[spec.name] for value, spec in zip(self._graph.inputs, self._inputs, strict=True)}
        results = evaluate(self._graph, feeds)
        return {spec.name: results[value.name] for value, spec in zip(self._graph.outputs, self._outputs, strict=True)}


class OnnxruntimeReference:
    """The source model in onnxruntime, in this process."""

    name = "onnxruntime"

    def __init__(self, model_file: Path, inputs: Sequence[TensorSpec], outputs: Sequence[TensorSpec]) -> None:
        self._inputs = inputs
        self._outputs = outputs
        self._file = model_file
        names = [spec.source_name or spec.name for spec in outputs]
        loaded = _loaded(model_file)
        self._sigmoids = {} if loaded.ByteSize() > _MOST_REWRITTEN or _is_split(loaded) else _sigmoids(loaded, names)
        self._session = _onnxruntime_session(model_file, loaded, [self._sigmoids.get(name, name) for name in names])

    def run(self, inputs: Mapping[str, Array]) -> dict[str, Array]:
        feeds = {spec.source_name or spec.name: to_source(inputs[spec.name], spec) for spec in self._inputs}
        kinds = {item.name: item.type for item in self._session.get_inputs()}
        for name, array in feeds.items():
            feeds[name] = array.astype(_NUMPY_OF_ONNX.get(kinds.get(name, ""), array.dtype), copy=False)
        names = [spec.source_name or spec.name for spec in self._outputs]
        try:
            results = self._session.run([self._sigmoids.get(name, name) for name in names], feeds)
        except Exception as problem:  # onnxruntime's own classes have no common base of its own
            raise _refusal(problem, self._file, _GIVE_INPUTS) from problem
        arrays = [
            _sigmoid(x) if name in self._sigmoids else np.asarray(x) for name, x in zip(names, results, strict=True)
        ]
        return {spec.name: from_source(array, spec) for spec, array in zip(self._outputs, arrays, strict=True)}


class FileReference:
    """Outputs that the user recorded elsewhere for the inputs that the deployment file names."""

    name = "file"

    def __init__(self, files: Sequence[Path], outputs: Sequence[TensorSpec]) -> None:
        self._arrays = {spec.name: read_array(file, spec) for file, spec in zip(files, outputs, strict=True)}

    def run(self, inputs: Mapping[str, Array]) -> dict[str, Array]:
        return dict(self._arrays)


def onnxruntime_is_here() -> bool:
    return importlib.util.find_spec("onnxruntime") is not None


_MOST_REWRITTEN = 1 << 30  # bytes of a model that onnxruntime gets with other outputs
_GIVE_INPUTS = "state which inputs the model accepts (input_ranges, validation_inputs_data), or "
_NUMPY_OF_ONNX: Mapping[str, Any] = {
    "tensor(float)": np.float32,
    "tensor(float16)": np.float16,
    "tensor(double)": np.float64,
    "tensor(int8)": np.int8,
    "tensor(uint8)": np.uint8,
    "tensor(int16)": np.int16,
    "tensor(uint16)": np.uint16,
    "tensor(int32)": np.int32,
    "tensor(uint32)": np.uint32,
    "tensor(int64)": np.int64,
    "tensor(uint64)": np.uint64,
    "tensor(bool)": np.bool_,
}


def to_source(array: Array, spec: TensorSpec) -> Array:
    """An input in the order that the source model has it in."""
    perm = _PERMUTATIONS.get((spec.data_format, spec.source_format)) if array.ndim == 4 else None
    return np.ascontiguousarray(array.transpose(perm)) if perm else array


def from_source(array: Array, spec: TensorSpec) -> Array:
    """An output of the source model in the declared order."""
    perm = _PERMUTATIONS.get((spec.source_format, spec.data_format)) if array.ndim == 4 else None
    return np.ascontiguousarray(array.transpose(perm)) if perm else array


def _loaded(model_file: Path) -> Any:
    """The model without what is in other files."""
    import onnx

    return onnx.load(model_file, load_external_data=False)


def _is_split(model: Any) -> bool:
    """Whether some of its weights are in other files."""
    return any(tensor.data_location == tensor.EXTERNAL for tensor in model.graph.initializer)


def _onnxruntime_session(model_file: Path, loaded: Any, outputs: Sequence[str]) -> Any:
    """A session that gives these outputs, inner tensors among them."""
    import onnx
    import onnxruntime

    options = onnxruntime.SessionOptions()
    options.log_severity_level = 4  # what fails raises an exception that says so
    options.intra_op_num_threads = 1  # results that do not depend on the machine
    options.add_session_config_entry(*EXACT_INTEGERS)
    model: Any = str(model_file)
    declared = {item.name for item in loaded.graph.output}
    inner = [name for name in dict.fromkeys(outputs) if name not in declared]
    if inner:
        whole = onnx.load(model_file)
        whole.graph.output.extend(onnx.ValueInfoProto(name=name) for name in inner)
        model = whole.SerializeToString()
    try:
        return onnxruntime.InferenceSession(
            model,
            options,
            providers=["CPUExecutionProvider"],
            disabled_optimizers=list(_REORDERING) if _quantises(loaded) else None,
        )
    except Exception as problem:  # onnxruntime's own classes have no common base of its own
        raise _refusal(problem, model_file) from problem


#: Fusions that compute in another order than the model says. Without any, `EXACT_INTEGERS` would do nothing.
_REORDERING = (
    *("SkipLayerNormFusion", "BiasSkipLayerNormFusion", "LayerNormFusion", "SimplifiedLayerNormFusion"),
    *("EmbedLayerNormFusion", "AttentionFusion", "GeluFusionL1", "GeluFusionL2", "BiasGeluFusion", "FastGeluFusion"),
)


def _quantises(model: Any) -> bool:
    """Whether numbers are quantised by their own range: other last bits are rounded to other steps, layer by layer."""
    return any(node.op_type == "DynamicQuantizeLinear" for node in model.graph.node)


def _sigmoids(model: Any, outputs: Sequence[str]) -> Mapping[str, str]:
    """Outputs that are sigmoids, and of what. onnxruntime computes these in steps of 6e-8: where an image shows nothing
    of what a network looks for, all that it gives is smaller than that."""
    makers = {name: node for node in model.graph.node for name in node.output}
    found = {name: makers[name].input[0] for name in outputs if name in makers and makers[name].op_type == "Sigmoid"}
    return {name: source for name, source in found.items() if source in makers}


def _sigmoid(x: Any) -> Array:
    """In double precision."""
    array = np.asarray(x)
    with np.errstate(over="ignore"):
        return np.asarray(1 / (1 + np.exp(-array.astype(np.float64))), array.dtype)


def _refusal(problem: Exception, model_file: Path, remedy: str = "") -> UnsupportedError:
    first = str(problem).splitlines()[0] if str(problem) else type(problem).__name__
    return UnsupportedError(
        f"onnxruntime cannot run this model: {first}",
        where=Where(file=str(model_file)),
        rule="onnxruntime computes the outputs that those of the library are compared with",
        remedy=f"{remedy}compare with Lathe's own evaluator: --reference numpy",
    )
