"""Resource variables. What a model keeps from one run to the next becomes an input, and an output for the next run."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TypeAlias

from buildtool.errors import ModelFileError, UnsupportedError, Where
from buildtool.importers.model import SourceNode, SourceTensor
from buildtool.ir.operator import Array

#: Its output is its input. Files do not have this operator.
VALUE = "@VALUE"
ON_VARIABLES = frozenset({"VAR_HANDLE", "READ_VARIABLE", "ASSIGN_VARIABLE"})
RUN_ONCE = "CALL_ONCE"
_Key: TypeAlias = tuple[object, object]


@dataclass
class Kept:
    """Nodes without variables, and what the variables became. Variables that are never assigned are constants."""

    nodes: list[SourceNode] = field(default_factory=list)
    inputs: dict[str, SourceTensor] = field(default_factory=dict)
    outputs: dict[str, SourceTensor] = field(default_factory=dict)
    constants: dict[str, Array] = field(default_factory=dict)
    initial: dict[str, Array] = field(default_factory=dict)  # of the inputs


def without_variables(
    nodes: Sequence[SourceNode], tensors: Mapping[str, SourceTensor], initial: Mapping[_Key, Array], where: Where
) -> Kept:
    """Each read gives what was assigned last, in the order of the file. ModelFileError where nothing was, ever."""
    kept = Kept()
    keys = {node.outputs[0]: _key(node) for node in nodes if node.op == "VAR_HANDLE"}
    names = {key: name for name, key in reversed(keys.items())}
    now: dict[_Key, str] = {}  # the value of each variable
    read: dict[_Key, SourceNode] = {}  # before any assignment
    for node in nodes:
        key = keys.get(node.inputs[0]) if node.op in ON_VARIABLES and node.inputs else None
        if key is not None and node.op == "READ_VARIABLE":
            if key not in now:
                read.setdefault(key, node)
            kept.nodes.append(_value(node, now.get(key, names[key]), node.outputs[0]))
        elif key is not None and node.op == "ASSIGN_VARIABLE":
            now[key] = node.inputs[1]
        elif node.op not in ("VAR_HANDLE", RUN_ONCE):
            kept.nodes.append(node)
    for key, node in read.items():
        name = names[key]
        if key not in initial and key not in now:
            raise ModelFileError(
                f"the variable '{name}' has no value: nothing in the file assigns one",
                where=replace(where, node=node.name),
                remedy="convert the model with its weights: TFLiteConverter.from_keras_model or from_saved_model",
            )
        state = replace(tensors[node.outputs[0]], name=name)
        if key in initial and key not in now:
            kept.constants[name] = initial[key]
            continue
        kept.inputs[name] = state
        if key in initial:
            kept.initial[name] = initial[key]
        if key in now:
            kept.outputs[f"{name}:next"] = replace(state, name=f"{name}:next")
            kept.nodes.append(_value(node, now[key], f"{name}:next"))
    return kept


def values_of(nodes: Sequence[SourceNode], constants: Mapping[str, Array], where: Where) -> dict[_Key, Array]:
    """What a graph that runs once assigns to variables. UnsupportedError where it computes that."""
    keys = {node.outputs[0]: _key(node) for node in nodes if node.op == "VAR_HANDLE"}
    found: dict[_Key, Array] = {}
    for node in nodes:
        if node.op != "ASSIGN_VARIABLE" or node.inputs[0] not in keys:
            continue
        if node.inputs[1] not in constants:
            raise UnsupportedError(
                f"the initial value of the variable '{node.inputs[0]}' is computed by the graph that runs once",
                where=replace(where, node=node.name),
                rule="initial values of variables are constants",
                remedy="assign a constant (tf.constant), and convert the model again",
            )
        found[keys[node.inputs[0]]] = constants[node.inputs[1]]
    return found


def _key(node: SourceNode) -> _Key:
    return node.attributes.get("container"), node.attributes.get("shared_name")


def _value(node: SourceNode, source: str, name: str) -> SourceNode:
    """`name` is what `source` is; the quantisation and the type are those that `node` reads the variable with."""
    made = node.outputs[0]
    return replace(
        node,
        op=VALUE,
        name=name,
        inputs=(source,),
        outputs=(name,),
        attributes={},
        quantisation={one: node.quantisation[made] for one in (source, name) if made in node.quantisation},
        dtypes=dict.fromkeys((source, name), node.dtypes[made]),
    )
