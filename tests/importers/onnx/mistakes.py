"""A healthy model, and the mistakes that can be made to it: each function gives a change of a model."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import onnx
from onnx import AttributeProto, ModelProto, TensorProto, helper, numpy_helper

from tests.importers.onnx.harness import model_of, random

node = helper.make_node
Change = Callable[[ModelProto], None]
HUGE = 2**62


def healthy() -> ModelProto:
    """A small model that can be imported; the others are this one with a mistake."""
    nodes = [
        node("Conv", ["x", "w", "b"], ["c"], name="conv", pads=[1, 1, 1, 1], strides=[2, 2]),
        node("Relu", ["c"], ["r"], name="relu"),
        node("Shape", ["r"], ["s"], name="shape"),
        node("Gather", ["s", "zero"], ["n"], name="gather"),
        node("Concat", ["n", "minus"], ["t"], name="concat", axis=0),
        node("Reshape", ["r", "t"], ["f"], name="reshape"),
        node("Gemm", ["f", "m"], ["g"], name="gemm"),
        node("Softmax", ["g"], ["y"], name="softmax", axis=-1),
    ]
    weights = {
        "w": random(4, 3, 3, 3),
        "b": random(4),
        "zero": np.array([0]),
        "minus": np.array([-1]),
        "m": random(64, 5),
    }
    return model_of(nodes, {"x": random(1, 3, 8, 8)}, ["y"], weights)


def weight(model: ModelProto, name: str = "w") -> TensorProto:
    return next(tensor for tensor in model.graph.initializer if tensor.name == name)


def set_weight(of: str, /, **fields: object) -> Change:
    def change(model: ModelProto) -> None:
        tensor = weight(model, of)
        for key, value in fields.items():
            if isinstance(value, list):
                del getattr(tensor, key)[:]
                getattr(tensor, key).extend(value)
            else:
                setattr(tensor, key, value)

    return change


def external(location: str, **more: str) -> Change:
    def change(model: ModelProto) -> None:
        tensor = weight(model)
        tensor.ClearField("raw_data")
        tensor.data_location = TensorProto.EXTERNAL
        for key, value in {"location": location, **more}.items():
            tensor.external_data.add(key=key, value=value)

    return change


def in_field(name: str, code: int, field: str, values: list[int] | list[float], dims: list[int]) -> Change:
    def change(model: ModelProto) -> None:
        tensor = weight(model, name)
        tensor.ClearField("raw_data")
        tensor.data_type = code
        del tensor.dims[:]
        tensor.dims.extend(dims)
        getattr(tensor, field).extend(values)

    return change


def set_attribute(number: int, name: str, value: object) -> Change:
    def change(model: ModelProto) -> None:
        target = model.graph.node[number]
        kept = [attribute for attribute in target.attribute if attribute.name != name]
        del target.attribute[:]
        target.attribute.extend([*kept, helper.make_attribute(name, value)])

    return change


def replace(number: int, *replacement: onnx.NodeProto, **weights: np.ndarray) -> Change:
    def change(model: ModelProto) -> None:
        nodes = list(model.graph.node)
        nodes[number : number + 1] = replacement
        del model.graph.node[:]
        model.graph.node.extend(nodes)
        model.graph.initializer.extend(numpy_helper.from_array(array, name) for name, array in weights.items())

    return change


def edges(number: int, inputs: list[str] | None = None, outputs: list[str] | None = None) -> Change:
    def change(model: ModelProto) -> None:
        for field, names in (("input", inputs), ("output", outputs)):
            if names is not None:
                del getattr(model.graph.node[number], field)[:]
                getattr(model.graph.node[number], field).extend(names)

    return change


def input_dims(*dims: int) -> Change:
    def change(model: ModelProto) -> None:
        shape = model.graph.input[0].type.tensor_type.shape
        del shape.dim[:]
        for dim in dims:
            shape.dim.add(dim_value=dim)

    return change


def of_graph(function: Callable[[onnx.GraphProto], object]) -> Change:
    def change(model: ModelProto) -> None:
        function(model.graph)

    return change


def duplicate_attribute(model: ModelProto) -> None:
    model.graph.node[0].attribute.append(model.graph.node[0].attribute[0])


def lying_attribute(model: ModelProto) -> None:
    """An attribute that says it is a number and holds a list."""
    model.graph.node[0].attribute[0].type = AttributeProto.INT


def recursive_function(model: ModelProto) -> None:
    body = [node("Again", ["a"], ["b"], domain="local")]
    imports = [helper.make_opsetid("", 17), helper.make_opsetid("local", 1)]
    model.functions.append(helper.make_function("local", "Again", ["a"], ["b"], body, imports))
    model.opset_import.append(helper.make_opsetid("local", 1))
    model.graph.node[1].op_type, model.graph.node[1].domain = "Again", "local"


def ints(*numbers: int) -> np.ndarray:
    return np.array(numbers, np.int64)
