"""Makes hostile nodes out of healthy ones: attributes and inputs that are missing, of another type, or out of range."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from types import MappingProxyType
from typing import Any

import numpy as np

from buildtool.importers.model import SourceModel, SourceNode, SourceTensor
from buildtool.importers.registry import Registry
from buildtool.importers.request import ImportRequest, TensorRequest
from buildtool.ir.operator import Array
from buildtool.ir.types import DType, dtype_of

#: What takes the place of an attribute. Half of it is of another kind than the attribute.
_VALUES: tuple[Any, ...] = (
    *(0, 1, -1, -7, 3, 2**40, 2**63 - 1, -(2**63)),
    *(0.0, -1.5, 1e30, float("nan"), float("inf")),
    *("", "nonsense"),
    *((), (0,), (-1,), (2, 3), (1, 1, 1, 1, 1), (2**40, 2**40), (-(2**63),) * 4, (0.5, float("nan")), ("a", "b")),
    np.zeros((2, 0), np.float32),
    np.array(2**40),
)
_LARGEST = 2**16  # elements of constants that are changed


@dataclass(frozen=True)
class Source:
    """What a framework's reader has made of a healthy model, and what is asked of it."""

    name: str
    model: SourceModel
    registry: Registry
    request: ImportRequest


@dataclass(frozen=True)
class Hostile:
    """A model in which one node was changed."""

    operator: str
    number: int  # of the node, among those of the operator
    change: str
    source: Source
    model: SourceModel
    request: ImportRequest

    @property
    def name(self) -> str:
        return f"{self.source.name}: {self.operator}: {self.change}"


Attributes = Mapping[str, Mapping[str, Any]]


def changes(sources: Iterable[Source], each: int = 1, others: Attributes = MappingProxyType({})) -> Iterator[Hostile]:
    """All changes of the nodes of some models; of every operator as many nodes as `each` says."""
    seen: Counter[str] = Counter()
    for source in sources:
        for place, node in enumerate(source.model.nodes):
            if seen[node.title] < each and source.registry.knows(node.title):
                yield from of_node(source, place, seen[node.title], others)
                seen[node.title] += 1


def of_node(source: Source, place: int, number: int, others: Attributes = MappingProxyType({})) -> Iterator[Hostile]:
    """All changes of one node. `others`: attributes of operators that their nodes get, where they have none."""
    node = source.model.nodes[place]
    for name, changed in (*_attributes(node), *_inputs(node), *_rest(node), *_more(node, others.get(node.title, {}))):
        nodes = (*source.model.nodes[:place], changed, *source.model.nodes[place + 1 :])
        yield Hostile(node.title, number, name, source, replace(source.model, nodes=nodes), source.request)
    for name, model, request in _tensors(source, node):
        yield Hostile(node.title, number, name, source, model, request)


def _attributes(node: SourceNode) -> Iterator[tuple[str, SourceNode]]:
    for key in node.attributes:
        kept = {name: value for name, value in node.attributes.items() if name != key}
        yield f"without {key}", replace(node, attributes=kept)
        yield f"unreadable {key}", replace(node, attributes=kept, unreadable={**node.unreadable, key: "a graph"})
        for value in _VALUES:
            yield f"{key}={value!r:.40}", replace(node, attributes={**node.attributes, key: value})
    yield "without attributes", replace(node, attributes={})
    for key in node.bodies:
        kept_bodies = {name: body for name, body in node.bodies.items() if name != key}
        yield f"without {key}", replace(node, bodies=kept_bodies)


def attributes(sources: Iterable[Source]) -> Attributes:
    """One value for each attribute that a node of an operator has, by operator."""
    found: dict[str, dict[str, Any]] = defaultdict(dict)
    for node in (node for source in sources for node in source.model.nodes):
        for key, value in node.attributes.items():
            known = found[node.title].get(key)
            if known is None or (not isinstance(known, np.ndarray | tuple) and not known):  # 0 says little
                found[node.title][key] = value
    return found


def _more(node: SourceNode, others: Mapping[str, Any]) -> Iterator[tuple[str, SourceNode]]:
    for key, value in others.items():
        if key not in node.attributes:
            yield f"with {key}={value!r:.40}", replace(node, attributes={**node.attributes, key: value})


def _inputs(node: SourceNode) -> Iterator[tuple[str, SourceNode]]:
    for index, name in enumerate(node.inputs):
        before, after = node.inputs[:index], node.inputs[index + 1 :]
        yield f"input {index} absent", replace(node, inputs=(*before, "", *after))
        yield f"input {index} dropped", replace(node, inputs=(*before, *after))
        yield f"input {index} twice", replace(node, inputs=(*before, name, name, *after))
        yield f"input {index} instead of all", replace(node, inputs=(name,) * len(node.inputs))
    yield "no inputs", replace(node, inputs=())
    yield "all inputs absent", replace(node, inputs=("",) * len(node.inputs))
    yield "inputs reversed", replace(node, inputs=node.inputs[::-1])


def _rest(node: SourceNode) -> Iterator[tuple[str, SourceNode]]:
    yield "one more output", replace(node, outputs=(*node.outputs, "one more"))
    yield "without dtypes", replace(node, dtypes={})
    yield "without quantisation", replace(node, quantisation={})


def _tensors(source: Source, node: SourceNode) -> Iterator[tuple[str, SourceModel, ImportRequest]]:
    model, request = source.model, source.request
    for name in dict.fromkeys(node.inputs):
        if name in model.constants and model.constants[name].size <= _LARGEST:
            for what, array in _arrays(model.constants[name]):
                yield f"{name} {what}", replace(model, constants={**model.constants, name: array}), request
            yield f"{name} fed", *_fed(model, request, name, model.constants[name])
        elif name in model.inputs:
            yield from ((f"{name} {what}", *asked) for what, asked in _declared(model, request, name))


def _arrays(array: Array) -> Iterator[tuple[str, Array]]:
    """Other ranks, types and numbers."""
    flat = array.reshape(-1)
    yield "flat", flat
    yield "deeper", array.reshape(1, *array.shape)
    yield "deeper behind", array.reshape(*array.shape, 1)
    yield "empty", flat[:0]
    yield "a scalar", flat[:1].reshape(()) if flat.size else np.zeros((), array.dtype)
    yield "one element", flat[:1]
    yield "longer", np.concatenate([flat, flat[:1], flat[:1]])
    yield "of the lowest rank but one", array.reshape(array.shape[0], -1) if array.ndim and array.size else array
    for dtype in (np.float32, np.int64, np.int8, np.bool_):
        if array.dtype != dtype:
            with np.errstate(all="ignore"):
                yield f"of {np.dtype(dtype)}", array.astype(dtype)
    numbers: tuple[Any, ...] = (0, -1, 7)
    if array.dtype.kind in "iu":
        numbers = (*numbers, np.iinfo(array.dtype).max, np.iinfo(array.dtype).min)
    elif array.dtype.kind == "f":
        numbers = (*numbers, float("nan"), float("inf"), -1e30)
    for number in numbers:
        with np.errstate(all="ignore"):
            yield f"full of {number}", np.full(array.shape, number).astype(array.dtype)


def _fed(model: SourceModel, request: ImportRequest, name: str, array: Array) -> tuple[SourceModel, ImportRequest]:
    """The constant as one more input of the model."""
    constants = {key: value for key, value in model.constants.items() if key != name}
    tensor = SourceTensor(name, dtype_of(array), tuple(array.shape))
    changed = replace(model, constants=constants, inputs={**model.inputs, name: tensor})
    if request.inputs:
        request = replace(request, inputs=(*request.inputs, TensorRequest(name, tuple(array.shape), "NONE")))
    return changed, request


def _declared(
    model: SourceModel, request: ImportRequest, name: str
) -> Iterator[tuple[str, tuple[SourceModel, ImportRequest]]]:
    """The input with other shapes and types, as the model declares them or the request."""
    tensor = model.inputs[name]
    asked = next((one for one in request.inputs if one.name == name), None)
    shape = tensor.shape if asked is None or asked.shape is None else asked.shape
    if shape is None:
        return
    shapes: dict[str, tuple[Any, ...]] = {
        "of rank 0": (),
        "of rank 1": (3,),
        "of rank 2": (2, 3),
        "deeper": (1, *shape),
        "deeper behind": (*shape, 2),
        "less deep": shape[1:],
        "empty": (0,) * len(shape),
        "of ones": (1,) * len(shape),
        "odd": tuple(dim + 1 if isinstance(dim, int) else dim for dim in shape),
        "huge": (2**31 - 1,) * len(shape),
        "of open sizes": ((1, 9),) * len(shape),
    }
    for what, other in shapes.items():
        yield what, _with_shape(model, request, name, other)
    for dtype in (DType.F32, DType.S64, DType.U8, DType.BOOL):
        if dtype is not tensor.dtype:
            inputs = {**model.inputs, name: replace(tensor, dtype=dtype)}
            yield f"of {dtype.value}", (replace(model, inputs=inputs), request)


def _with_shape(
    model: SourceModel, request: ImportRequest, name: str, shape: tuple[Any, ...]
) -> tuple[SourceModel, ImportRequest]:
    shape = tuple((1, 9) if dim is None or isinstance(dim, str) else dim for dim in shape)
    of_model = [TensorRequest(key, None, "MODEL") for key in model.inputs]
    asked = {one.name: one for one in request.inputs or of_model}
    asked[name] = replace(asked.get(name, TensorRequest(name)), shape=shape, data_format="MODEL")
    declared = tuple(dim if isinstance(dim, int) else None for dim in shape)
    inputs = {**model.inputs, name: replace(model.inputs[name], shape=declared)}
    return replace(model, inputs=inputs), replace(request, inputs=tuple(asked.values()))
