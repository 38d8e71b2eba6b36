"""Changes ONNX models where it hurts: edges, operators, attributes, weights, shapes, types, inner graphs - and bytes.

Most changes keep a model parsable, and many keep it half sensible, so that it gets past the reader and as far as the
handlers, the operators and the passes. One change in ten is of the raw bytes.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import numpy as np
import onnx
from google.protobuf.message import DecodeError
from onnx import AttributeProto, GraphProto, ModelProto, NodeProto, TensorProto, helper, numpy_helper

try:
    import atheris
except ImportError:  # the structured changes work, and are tested, without it
    atheris = None

NUMBERS = (0, 1, -1, 2, 3, 4, 5, 7, 8, -2, -3, 16, 17, 100, 127, 128, 255, 256, -128, 65535, 65536, 2**20, 2**31 - 1)
HUGE = (2**31, 2**32, -(2**31), 2**40, 2**62, 2**63 - 1, -(2**63))
REALS = (0.0, -0.0, 1.0, -1.0, 0.5, 2.0, 1e-5, 1e30, -1e30, 3e38, float("inf"), float("-inf"), float("nan"), 1e-40)
_WORDS = (
    "NHWC SAME_UPPER SAME_LOWER VALID NOTSET linear nearest cubic constant reflect edge wrap sum mul min max add none "
    "forward reverse bidirectional Tanh Relu Sigmoid ij,jk->ik ...i,...i->... ii->i DCR CRD tanh half_pixel "
    "align_corners floor ceil asymmetric zeros border"
)
WORDS = (*_WORDS.split(), "", "\0", "é" * 40)
TYPES = (1, 2, 3, 4, 5, 6, 7, 9, 10, 11, 12, 13, 16, 21, 22, 8, 14, 17, 0, 99)
SHAPES = ((), (0,), (1,), (2,), (3,), (4,), (6,), (1, 1), (2, 3), (3, 2), (0, 3), (3, 4), (1, 3, 4), (2, 3, 4),
          (1, 3, 4, 4), (2, 3, 4, 5), (1, 1, 1, 1), (2, 2, 1, 3), (4, 3, 3, 3), (1, 2, 3, 4, 5), (1, 0, 2, 2),
          (1, 1, 2, 1, 2, 2), (300,), (70000,))  # fmt: skip
#: What changes raise where a model has nothing of their kind, or a number does not fit the field.
NOTHING_TO_CHANGE = (LookupError, ValueError, TypeError, OverflowError)
_Change = Callable[["Mutator", ModelProto, random.Random], None]


class Mutator:
    """Called by the fuzzer with an input; gives another one. The same seed gives the same change."""

    def __init__(self, seeds: Sequence[ModelProto], operators: Sequence[str]) -> None:
        self.seeds = seeds
        self.operators = tuple(operators)

    def __call__(self, data: bytes, most: int, seed: int) -> bytes:
        dice = random.Random(seed)
        if atheris is not None and dice.random() < 0.1:
            return bytes(atheris.Mutate(data, most))
        return self.changed(data, most, dice)

    def changed(self, data: bytes, most: int, dice: random.Random) -> bytes:
        """The model after one or a few changes of its structure."""
        try:
            model = ModelProto.FromString(data)
        except (DecodeError, RecursionError, ValueError):
            model = ModelProto()
            model.CopyFrom(dice.choice(self.seeds))
        for _ in range(dice.choice((1, 1, 1, 2, 3, 5))):
            change = dice.choices([change for change, _ in CHANGES], [weight for _, weight in CHANGES])[0]
            try:
                change(self, model, dice)
            except NOTHING_TO_CHANGE:
                continue
        changed: bytes = model.SerializeToString()
        return changed if len(changed) <= most else data


# -- finding places ----------------------------------------------------------------------------------------------------
def _graphs(graph: GraphProto) -> Iterator[GraphProto]:
    yield graph
    for node in graph.node:
        for attribute in node.attribute:
            if attribute.HasField("g"):
                yield from _graphs(attribute.g)


def _graph(model: ModelProto, dice: random.Random) -> GraphProto:
    graphs = list(_graphs(model.graph))
    return graphs[0] if dice.random() < 0.5 else dice.choice(graphs)


def _node(model: ModelProto, dice: random.Random) -> NodeProto:
    return dice.choice(_graph(model, dice).node)


def _names(graph: GraphProto) -> list[str]:
    made = [name for node in graph.node for name in node.output]
    return [*made, *(value.name for value in graph.input), *(tensor.name for tensor in graph.initializer), ""]


def _number(dice: random.Random) -> int:
    draw = dice.random()
    return dice.randint(-4, 8) if draw < 0.6 else dice.choice(NUMBERS) if draw < 0.9 else dice.choice(HUGE)


def _tensor(dice: random.Random, name: str = "") -> TensorProto:
    """A small tensor with content that fits its shape and type."""
    kind = dice.choice(TYPES[:13]) if dice.random() < 0.6 else dice.choice((1, 7, 6, 2, 3))
    shape = dice.choice(SHAPES)
    count = int(np.prod(shape, dtype=int))
    if kind in (TensorProto.FLOAT, TensorProto.FLOAT16, TensorProto.DOUBLE):
        values: Any = [
            dice.choice(REALS) if dice.random() < 0.2 else dice.uniform(-3, 3) for _ in range(min(count, 64))
        ]
    else:
        values = [_number(dice) for _ in range(min(count, 64))]
    if kind == TensorProto.BFLOAT16:
        kind = TensorProto.FLOAT
    dtype = helper.tensor_dtype_to_np_dtype(kind)
    with np.errstate(all="ignore"):
        array = np.resize(np.array(values or [0], dtype=object if dtype.kind in "iu" else np.float64), shape)
        if dtype.kind in "iu":
            bits = 8 * dtype.itemsize
            array = np.vectorize(lambda item: int(item) & (2**bits - 1), otypes=[np.uint64])(array)
        return numpy_helper.from_array(np.asarray(array).astype(dtype), name)


# -- changes -----------------------------------------------------------------------------------------------------------
def _rewire(_: Mutator, model: ModelProto, dice: random.Random) -> None:
    graph = _graph(model, dice)
    node = dice.choice(graph.node)
    names = _names(model.graph) if dice.random() < 0.3 else _names(graph)
    draw = dice.random()
    if draw < 0.6:
        node.input[dice.randrange(len(node.input))] = dice.choice(names)
    elif draw < 0.75:
        node.input.append(dice.choice(names))
    elif draw < 0.9:
        del node.input[dice.randrange(len(node.input))]
    elif draw < 0.95:
        del node.output[dice.randrange(len(node.output))]
    else:
        node.output.append(dice.choice([*names, "new"]))


def _reorder_inputs(_: Mutator, model: ModelProto, dice: random.Random) -> None:
    node = _node(model, dice)
    inputs = list(node.input)
    dice.shuffle(inputs)
    del node.input[:]
    node.input.extend(inputs)


def _other_operator(mutator: Mutator, model: ModelProto, dice: random.Random) -> None:
    node = _node(model, dice)
    node.domain, _, node.op_type = dice.choice(mutator.operators).rpartition(".")


def _append_node(mutator: Mutator, model: ModelProto, dice: random.Random) -> None:
    """A node of another model, with its weights, on top of what is there."""
    other = dice.choice(mutator.seeds).graph
    graph = _graph(model, dice)
    node = NodeProto()
    node.CopyFrom(dice.choice(other.node))
    held = {tensor.name: tensor for tensor in other.initializer}
    names = _names(graph)
    for index, name in enumerate(node.input):
        if name in held and dice.random() < 0.8:
            tensor = graph.initializer.add()
            tensor.CopyFrom(held[name])
            tensor.name = f"w{dice.randrange(10**6)}"
            node.input[index] = tensor.name
        elif name:
            node.input[index] = dice.choice(names)
    made = [f"t{dice.randrange(10**6)}" for _ in node.output]
    del node.output[:]
    node.output.extend(made)
    node.name = made[0]
    graph.node.append(node)
    if dice.random() < 0.7:
        graph.output[0].CopyFrom(onnx.ValueInfoProto(name=made[0]))
    else:
        graph.output.append(onnx.ValueInfoProto(name=dice.choice(made)))


def _remove_node(_: Mutator, model: ModelProto, dice: random.Random) -> None:
    graph = _graph(model, dice)
    del graph.node[dice.randrange(len(graph.node))]


def _change_attribute(_: Mutator, model: ModelProto, dice: random.Random) -> None:
    attribute = dice.choice(_node(model, dice).attribute)
    if dice.random() < 0.05:
        attribute.type = dice.randrange(16)  # type: ignore[assignment]
    kind = attribute.type
    if kind == AttributeProto.INT:
        attribute.i = _number(dice)
    elif kind == AttributeProto.FLOAT:
        attribute.f = dice.choice(REALS)
    elif kind == AttributeProto.STRING:
        attribute.s = dice.choice(WORDS).encode() if dice.random() < 0.9 else b"\xff\xfe"
    elif kind == AttributeProto.TENSOR:
        attribute.t.CopyFrom(_tensor(dice))
    elif kind in (AttributeProto.INTS, AttributeProto.FLOATS, AttributeProto.STRINGS):
        _change_list(attribute, dice)


def _change_list(attribute: AttributeProto, dice: random.Random) -> None:
    kinds: dict[int, tuple[Any, Callable[[], Any]]] = {
        AttributeProto.INTS: (attribute.ints, lambda: _number(dice)),
        AttributeProto.FLOATS: (attribute.floats, lambda: dice.choice(REALS)),
        AttributeProto.STRINGS: (attribute.strings, lambda: dice.choice(WORDS).encode()),
    }
    items, draw = kinds[attribute.type]
    what = dice.random()
    if what < 0.6:
        items[dice.randrange(len(items))] = draw()
    elif what < 0.8:
        items.append(draw())
    else:
        del items[dice.randrange(len(items))]


def _new_attribute(mutator: Mutator, model: ModelProto, dice: random.Random) -> None:
    """An attribute that some node has, or that is missing from now on."""
    node = _node(model, dice)
    if node.attribute and dice.random() < 0.4:
        del node.attribute[dice.randrange(len(node.attribute))]
        return
    alike = [item for seed in mutator.seeds for item in seed.graph.node if item.op_type == node.op_type]
    node.attribute.append(dice.choice(dice.choice(alike).attribute))


def _change_weight(_: Mutator, model: ModelProto, dice: random.Random) -> None:
    tensor = dice.choice(_graph(model, dice).initializer)
    tensor.CopyFrom(_tensor(dice, tensor.name))


def _change_numbers(_: Mutator, model: ModelProto, dice: random.Random) -> None:
    """Some elements of a weight; its shape and type stay."""
    tensor = dice.choice(_graph(model, dice).initializer)
    array = numpy_helper.to_array(tensor).copy()
    flat = array.reshape(-1)
    for _ in range(dice.randint(1, 3)):  # type: ignore[assignment]
        place = dice.randrange(len(flat))
        if array.dtype.kind in "iu":
            flat[place] = np.array(_number(dice)).astype(array.dtype)
        else:
            flat[place] = dice.choice(REALS)
    tensor.CopyFrom(numpy_helper.from_array(array, tensor.name))


def _lie_about_weight(_: Mutator, model: ModelProto, dice: random.Random) -> None:
    tensor = dice.choice(_graph(model, dice).initializer)
    draw = dice.random()
    if draw < 0.3:
        tensor.data_type = dice.choice(TYPES)
    elif draw < 0.6:
        tensor.dims[dice.randrange(len(tensor.dims))] = _number(dice)
    elif draw < 0.8:
        tensor.dims.append(_number(dice))
    else:
        tensor.raw_data = tensor.raw_data[: dice.randrange(len(tensor.raw_data) + 1)]


def _reshape_weight(_: Mutator, model: ModelProto, dice: random.Random) -> None:
    """Other dimensions for the same elements."""
    tensor = dice.choice(_graph(model, dice).initializer)
    dims = list(tensor.dims)
    if dice.random() < 0.5:
        dims.insert(dice.randrange(len(dims) + 1), 1)
    else:
        dice.shuffle(dims)
    del tensor.dims[:]
    tensor.dims.extend(dims)


def _weight_becomes_input(_: Mutator, model: ModelProto, dice: random.Random) -> None:
    graph = model.graph
    tensor = graph.initializer.pop(dice.randrange(len(graph.initializer)))
    if tensor.name not in [value.name for value in graph.input]:
        graph.input.append(helper.make_tensor_value_info(tensor.name, tensor.data_type, list(tensor.dims)))


def _input_becomes_weight(_: Mutator, model: ModelProto, dice: random.Random) -> None:
    graph = model.graph
    value = graph.input.pop(dice.randrange(len(graph.input)))
    graph.initializer.append(_tensor(dice, value.name))


def _change_input(_: Mutator, model: ModelProto, dice: random.Random) -> None:
    """Shape or type of what comes in."""
    tensor = dice.choice(_graph(model, dice).input).type.tensor_type
    draw = dice.random()
    if draw < 0.25:
        tensor.elem_type = dice.choice(TYPES)
    elif draw < 0.5:
        dice.choice(tensor.shape.dim).dim_param = dice.choice(("N", "M", "H", "batch size", "max", ""))
    elif draw < 0.75:
        dice.choice(tensor.shape.dim).dim_value = abs(_number(dice))
    elif draw < 0.9:
        del tensor.shape.dim[:]
        for size in dice.choice(SHAPES):
            tensor.shape.dim.add(dim_value=size)
    elif draw < 0.95:
        tensor.shape.dim.add(dim_value=_number(dice))
    else:
        tensor.ClearField("shape")


def _change_outputs(_: Mutator, model: ModelProto, dice: random.Random) -> None:
    graph = _graph(model, dice)
    if dice.random() < 0.3 and len(graph.output) > 1:
        del graph.output[dice.randrange(len(graph.output))]
    else:
        value = onnx.ValueInfoProto(name=dice.choice(_names(graph)))
        if dice.random() < 0.5:
            graph.output.append(value)
        else:
            graph.output[dice.randrange(len(graph.output))].CopyFrom(value)


def _wrap(_: Mutator, model: ModelProto, dice: random.Random) -> None:
    """A node moves into both branches of an If."""
    graph = _graph(model, dice)
    place = dice.randrange(len(graph.node))
    node = graph.node[place]
    branches = []
    for word in "ab":
        copy = NodeProto()
        copy.CopyFrom(node)
        made = [f"{name}_{word}{dice.randrange(10**6)}" for name in node.output]
        del copy.output[:]
        copy.output.extend(made)
        branches.append(helper.make_graph([copy], word, [], [onnx.ValueInfoProto(name=name) for name in made]))
    condition = dice.choice(_names(graph))
    if dice.random() < 0.7:
        condition = f"c{dice.randrange(10**6)}"
        graph.initializer.append(numpy_helper.from_array(np.array(dice.random() < 0.5), condition))
    node.CopyFrom(
        helper.make_node("If", [condition], list(node.output), then_branch=branches[0], else_branch=branches[1])
    )


def _change_opset(_: Mutator, model: ModelProto, dice: random.Random) -> None:
    dice.choice(model.opset_import).version = dice.choice((*range(1, 29), *NUMBERS))


def _any_field(_: Mutator, model: ModelProto, dice: random.Random) -> None:
    """A scalar of any message in the model becomes another one, or a field goes."""
    message: Any = model
    while True:
        fields = [(field, value) for field, value in message.ListFields()]
        field, value = dice.choice(fields)
        repeated = field.is_repeated if hasattr(field, "is_repeated") else field.label == field.LABEL_REPEATED
        if field.message_type is None or dice.random() < 0.1:
            break
        message = dice.choice(value) if repeated else value
        if not message.ListFields():
            return
    if dice.random() < 0.3:
        message.ClearField(field.name)
    elif repeated:
        draw = dice.random()
        if draw < 0.5:
            del value[dice.randrange(len(value))]
        elif field.message_type is not None:
            value.add().CopyFrom(dice.choice(value))
        else:
            value.append(dice.choice(value))
    elif field.cpp_type in (field.CPPTYPE_INT32, field.CPPTYPE_INT64, field.CPPTYPE_UINT64, field.CPPTYPE_ENUM):
        setattr(message, field.name, _number(dice))
    elif field.cpp_type == field.CPPTYPE_STRING:
        word = dice.choice((*WORDS, *_names(model.graph)))
        setattr(message, field.name, word.encode() if field.type == field.TYPE_BYTES else word)


CHANGES: tuple[tuple[_Change, int], ...] = (
    (_rewire, 10),
    (_reorder_inputs, 1),
    (_other_operator, 5),
    (_append_node, 14),
    (_remove_node, 2),
    (_change_attribute, 14),
    (_new_attribute, 6),
    (_change_weight, 8),
    (_change_numbers, 8),
    (_lie_about_weight, 3),
    (_reshape_weight, 3),
    (_weight_becomes_input, 3),
    (_input_becomes_weight, 2),
    (_change_input, 9),
    (_change_outputs, 3),
    (_wrap, 2),
    (_change_opset, 2),
    (_any_field, 4),
)
