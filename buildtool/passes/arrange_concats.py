"""Arranges the channels of a concatenation so that those which convolutions pick from it lie side by side.

The makers of its operands give their channels in another order, which costs nothing. What convolutions read is then one
slice instead of a gather, and their weights come in the order of the slice.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from buildtool.ir.graph import Graph, Node, Value
from buildtool.ir.operator import Array
from buildtool.ops.concat import Concat
from buildtool.ops.conv2d import Conv2d
from buildtool.ops.gather import Gather
from buildtool.ops.slice import Slice
from buildtool.passes.absorb_channel_orders import reorder_weights, takes_orders
from buildtool.passes.base import Pass
from buildtool.passes.channels import foldable_constants
from buildtool.passes.editor import Editor


class ArrangeConcats(Pass):
    name = "arrange_concats"
    summary = "order the channels of concatenations so that convolutions read one slice of them"
    requires = ("recognise_shuffles",)

    def run(self, graph: Graph) -> bool:
        editor = Editor(graph)
        for node in editor.nodes():
            picks = _picks(editor, node)
            wanted = next((pick for pick in picks if _feeds_convolutions(editor, pick)), None)
            orders = _orders(editor, node, wanted.places) if wanted is not None else None
            if wanted is not None and orders is not None:
                _arrange(editor, node, picks, wanted, orders)
        return editor.changed


@dataclass(frozen=True, eq=False)
class _Pick:
    """A gather of channels."""

    node: Node
    places: Array


def _picks(editor: Editor, node: Node) -> list[_Pick]:
    """The gathers that read a concatenation of channels; none where anybody else does."""
    if not isinstance(node.op, Concat) or node.op.axis != node.outputs[0].type.rank - 1:
        return []
    if editor.is_output(node.outputs[0]) or not all(isinstance(value.type.shape[-1], int) for value in node.inputs):
        return []
    picks = []
    for reader in editor.readers(node.outputs[0]):
        places = _places(reader, node.outputs[0])
        if places is None:
            return []
        picks.append(_Pick(reader, places))
    return picks


def _places(node: Node, source: Value) -> Array | None:
    """The channels that a gather picks."""
    if not isinstance(node.op, Gather) or node.inputs[0] is not source or node.op.axis != source.type.rank - 1:
        return None
    places = node.inputs[1].constant
    return places if places is not None and places.ndim == 1 and places.size > 0 and places.min() >= 0 else None


def _feeds_convolutions(editor: Editor, pick: _Pick) -> bool:
    value = pick.node.outputs[0]
    readers = editor.readers(value)
    once = len(np.unique(pick.places)) == len(pick.places)
    return once and bool(readers) and not editor.is_output(value) and all(takes_orders(value, node) for node in readers)


def _orders(editor: Editor, node: Node, places: Array) -> list[Array | None] | None:
    """For each operand the order in which its channels have to come (None: as they do); None where that cannot be."""
    begin, locals_ = 0, []
    for value in node.inputs:
        size = value.type.shape[-1]
        assert isinstance(size, int)
        picked = np.isin(np.arange(begin, begin + size), places)
        locals_.append(picked)
        begin += size
    touched = [index for index, picked in enumerate(locals_) if picked.any()]
    first, last = touched[0], touched[-1]
    if not all(locals_[index].all() for index in range(first + 1, last)):
        return None
    orders: list[Array | None] = []
    for index, picked in enumerate(locals_):
        chosen, rest = np.flatnonzero(picked), np.flatnonzero(~picked)
        order = np.concatenate([rest, chosen] if index == first != last else [chosen, rest])
        still = not picked.any() or np.array_equal(order, np.arange(len(order)))
        if not still and not _can_be_ordered(editor, node.inputs[index]):
            return None
        orders.append(None if still else order)
    return orders


def _can_be_ordered(editor: Editor, value: Value) -> bool:
    """Whether what makes the value can make its channels in another order, and nobody else minds."""
    maker = editor.private_maker(value, "conv2d", "fully_connected", "gather")
    if maker is None:
        return False
    if maker.op.name == "gather":
        return _places(maker, maker.inputs[0]) is not None
    dense = not isinstance(maker.op, Conv2d) or maker.op.groups == 1
    return dense and len(maker.inputs) <= 3 and foldable_constants(maker)


def _arrange(editor: Editor, node: Node, picks: list[_Pick], wanted: _Pick, orders: list[Array | None]) -> None:
    begin = 0
    moved: list[Array] = []  # old places in the new order
    for value, order in zip(node.inputs, orders, strict=True):
        size = value.type.shape[-1]
        assert isinstance(size, int)
        if order is not None:
            _reorder_maker(editor, value, order)
        moved.append(begin + (np.arange(size) if order is None else order))
        begin += size
    place_of = np.argsort(np.concatenate(moved))
    whole = node.outputs[0]
    editor.forget_names(whole)
    for pick in picks:
        if pick is not wanted:
            places = editor.constant(pick.node.inputs[1], place_of[pick.places].astype(pick.places.dtype))
            editor.set_inputs(pick.node, [whole, places])
    now = place_of[wanted.places]
    for reader in editor.readers(wanted.node.outputs[0]):
        reorder_weights(editor, reader, wanted.node.outputs[0], np.argsort(now))
    shape = wanted.node.outputs[0].type.shape
    starts = (*[0] * (len(shape) - 1), int(now.min()))
    editor.forget_names(editor.substitute(wanted.node, Slice(starts, (1,) * len(shape), shape), [whole]).outputs[0])


def _reorder_maker(editor: Editor, value: Value, order: Array) -> None:
    maker = editor.producer(value)
    assert maker is not None
    editor.forget_names(value)
    first = 1 if maker.op.name != "gather" else len(maker.inputs) - 1
    constants = []
    for operand in maker.inputs[first:]:
        assert operand.constant is not None
        constants.append(editor.constant(operand, np.take(operand.constant, order, axis=0)))
        constants[-1].type = operand.type
    editor.set_inputs(maker, [*maker.inputs[:first], *constants])
