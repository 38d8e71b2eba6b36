"""The handlers of Paddle's operators, by their names in programs of Paddle 2.

Paddle's operators have named slots: a handler reads inputs with `one`, `maybe` and `many`, and gives its main output,
or tensors by slot. Outputs that nothing reads need not be given.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Mapping, Sequence
from typing import TypeAlias

from buildtool.importers.builder import Tensor
from buildtool.importers.paddle.program import MAIN_OUTPUTS, PaddleNode
from buildtool.importers.registry import Registry
from buildtool.importers.step import Step

REGISTRY = Registry("paddle", "buildtool.importers.paddle.handlers")
evaluator = REGISTRY.evaluator
Outputs: TypeAlias = Tensor | Mapping[str, Tensor | Sequence[Tensor]]
SlotHandler: TypeAlias = Callable[[Step], Outputs]


def handler(*operators: str) -> Callable[[SlotHandler], SlotHandler]:
    """Registers a function as the handler of operators."""

    def register(function: SlotHandler) -> SlotHandler:
        REGISTRY.handler(*operators)(functools.partial(_in_order, function))
        return function

    return register


def node_of(step: Step) -> PaddleNode:
    assert isinstance(step.node, PaddleNode)
    return step.node


def many(step: Step, slot: str) -> list[Tensor]:
    """All tensors of an input slot, which may be empty."""
    return [step.input(place) for place in node_of(step).slots.get(slot, ())]


def maybe(step: Step, slot: str) -> Tensor | None:
    """The tensor of an input slot; None where it is empty."""
    tensors = many(step, slot)
    if len(tensors) > 1:
        step.malformed(f"its input '{slot}' has {len(tensors)} tensors instead of one")
    return tensors[0] if tensors else None


def one(step: Step, slot: str) -> Tensor:
    """The tensor of an input slot that the operator cannot do without."""
    tensor = maybe(step, slot)
    if tensor is None:
        step.malformed(f"its input '{slot}' is missing")
    return tensor


def place_of(step: Step, slot: str) -> int:
    """The place of the tensor of a slot among all inputs."""
    one(step, slot)
    return node_of(step).slots[slot][0]


def wants(step: Step, slot: str) -> bool:
    """Whether an output slot is read by anything."""
    node = node_of(step)
    return any(node.outputs[place] for place in node.made.get(slot, ()))


def _in_order(function: SlotHandler, step: Step) -> Sequence[Tensor]:
    given = function(step)
    node = node_of(step)
    if isinstance(given, Tensor):
        main = next((slot for slot in MAIN_OUTPUTS if slot in node.made), next(iter(node.made)))
        given = {main: given}
    filler = next(item if isinstance(item, Tensor) else item[0] for item in given.values())
    results = [filler] * len(node.outputs)
    for slot, places in node.made.items():
        made = given.get(slot)
        tensors = [made] if isinstance(made, Tensor) else list(made or ())
        if not tensors and any(node.outputs[place] for place in places):
            step.unsupported(f"its output '{slot}' cannot be used", "remove what reads it")
        if tensors and len(tensors) != len(places):
            step.malformed(f"its output '{slot}' has {len(places)} tensors instead of {len(tensors)}")
        for place, tensor in zip(places, tensors, strict=False):
            results[place] = tensor
    return results
