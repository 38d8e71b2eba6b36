"""Gives the variables of a graph their content.

A SavedModel says how its variables are restored: nodes that read them from files by their keys, and others that assign
what was read. That graph is followed backwards here, so that nothing depends on how objects are called. What a handle
stands for is then the content: reading a variable gives the handle itself.
"""

from __future__ import annotations

import functools
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace

from buildtool.importers.tensorflow.functions import FlatNode, Ref
from buildtool.importers.tensorflow.variables import Variables

HANDLES = frozenset({"VarHandleOp", "VariableV2", "Variable"})
_ASSIGNING = frozenset({"AssignVariableOp", "Assign"})
_PASSING = frozenset({"Identity", "StopGradient"})


def frozen(nodes: Sequence[FlatNode], variables: Variables) -> tuple[FlatNode, ...]:
    """The nodes; those that are variables know how to get their content, which is read when it is needed."""
    by_name = {node.name: node for node in nodes}
    keys = dict(_keys(nodes, by_name))
    return tuple(
        replace(node, content=functools.partial(variables.read, keys.get(node.name) or _own_key(node), node.name))
        if node.op in HANDLES
        else node
        for node in nodes
    )


def _own_key(node: FlatNode) -> str:
    """How a variable is stored of which the graph does not say it: by its name."""
    shared = node.attr["shared_name"].s if "shared_name" in node.attr else b""
    return shared.decode("utf-8", "replace") or node.name


def _keys(nodes: Sequence[FlatNode], by_name: Mapping[str, FlatNode]) -> Iterator[tuple[str, str]]:
    """Variables and their keys, as the nodes that restore them say it."""
    for node in nodes:
        if node.op in _ASSIGNING and len(node.inputs) >= 2:
            variable, (source, index) = (_origin(ref, by_name) for ref in node.inputs[:2])
            restoring = by_name.get(source)
            if restoring is not None and restoring.op == "RestoreV2" and len(restoring.inputs) == 3:
                names = by_name.get(_origin(restoring.inputs[1], by_name)[0])
                listed = names.attr["value"].tensor.string_val if names is not None and "value" in names.attr else ()
                if index < len(listed):
                    yield variable[0], listed[index].decode("utf-8", "replace")


def _origin(ref: Ref, by_name: Mapping[str, FlatNode]) -> Ref:
    """What a tensor is before nodes that pass it on."""
    for _ in range(len(by_name)):
        node = by_name.get(ref[0])
        if node is None or node.op not in _PASSING or not node.inputs:
            break
        ref = node.inputs[0]
    return ref
