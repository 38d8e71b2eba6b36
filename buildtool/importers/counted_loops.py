"""How often a loop runs that counts: by running what decides it on import, or by what its counter is compared with."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace

from buildtool.errors import UnsupportedError
from buildtool.importers.builder import Tensor
from buildtool.importers.model import SourceBody
from buildtool.importers.order import needed_for
from buildtool.importers.step import Step
from buildtool.ir.graph import Node, Region
from buildtool.ir.operator import Array

MOST_COMPUTED = 1024  # iterations that are run on import to find out how many there are
#: Operators that pass on the numbers they are given.
_PASSING = frozenset({"reshape", "identity", "cast"})


@dataclass(frozen=True)
class Count:
    """What is known of the iterations of a loop, before it is imported."""

    exact: int | None = None  # how many there are
    most: int | None = None  # there are no more than this
    finals: Mapping[int, Array] = field(default_factory=dict)  # carried values behind the last iteration, by place
    intervals: Mapping[int, tuple[float, float]] = field(default_factory=dict)  # carried values that an iteration reads


def count(step: Step, body: SourceBody, starts: Sequence[Tensor | None]) -> Count:
    """`body` is given what is carried, and gives whether there is another iteration, and what is carried then.

    The condition of the first iteration holds. Starts that are missing are not known yet.
    """
    return _run_on_import(step, body, starts) or _compared(step, body, starts) or Count()


# -- iterations that depend on nothing but what is known ---------------------------------------------------------------
def _run_on_import(step: Step, body: SourceBody, starts: Sequence[Tensor | None]) -> Count | None:
    known = {
        name: start for name, start in zip(body.inputs, starts, strict=True) if start and start.content is not None
    }
    places = _closed(step, body, set(known))
    if places is None:
        return None
    outputs = [body.outputs[0], *(body.outputs[index + 1] for index in places)]
    names = [body.inputs[index] for index in places]
    small = replace(body, inputs=tuple(names), outputs=tuple(outputs), nodes=needed_for(body.nodes, outputs, names))
    values = [known[name] for name in names]
    seen: list[list[Array]] = [[] for _ in names]
    for iteration in range(MOST_COMPUTED):
        for items, value in zip(seen, values, strict=True):
            assert value.content is not None
            items.append(value.content)
        goes_on, *values = _tried(step, small, values) or (None,)
        if goes_on is None or any(value.content is None for value in (goes_on, *values)) or goes_on.content is None:
            return None
        if not goes_on.content.reshape(-1)[:1].any():
            finals = {index: value.content for index, value in zip(places, values, strict=True)}
            return Count(
                iteration + 1,
                iteration + 1,
                {index: content for index, content in finals.items() if content is not None},
                {index: _range(items) for index, items in zip(places, seen, strict=True) if items[0].size},
            )
    return None


def _closed(step: Step, body: SourceBody, known: set[str]) -> list[int] | None:
    """The places of carried values that follow from known ones alone; None if the condition is not among these."""
    around = {name for name, tensor in zip(step.node.captured, step.captured(), strict=True) if tensor.content is None}
    made = {name for node in body.nodes for name in node.outputs if name} | set(body.inputs) | set(body.constants)
    reads = [_read_by(body, output) for output in body.outputs]
    places = [index for index, name in enumerate(body.inputs) if name in known]
    while True:
        usable = {body.inputs[index] for index in places}
        bad = around | (set(body.inputs) - usable)
        kept = [index for index in places if not reads[index + 1] & bad]
        if kept == places:
            break
        places = kept
    bad = around | (set(body.inputs) - {body.inputs[index] for index in places})
    return None if reads[0] & bad or not (reads[0] & made or body.outputs[0] not in made) else places


def _read_by(body: SourceBody, output: str) -> set[str]:
    """All that an output of a body depends on."""
    nodes = needed_for(body.nodes, [output], ())
    return {output, *(name for node in nodes for name in node.reads)}


def _range(items: Sequence[Array]) -> tuple[float, float]:
    return min(float(item.min()) for item in items), max(float(item.max()) for item in items)


def _tried(step: Step, body: SourceBody, inputs: Sequence[Tensor]) -> Sequence[Tensor] | None:
    """The outputs of a body, whose nodes are thrown away; None where it cannot be imported."""
    if not step.may_repeat(body):
        return None
    try:
        with step.inside(Region()):
            return step.run_body(body, inputs)
    except UnsupportedError:
        return None


# -- counters that are compared with a bound ---------------------------------------------------------------------------
def _compared(step: Step, body: SourceBody, starts: Sequence[Tensor | None]) -> Count | None:
    """One comparison that has to hold is enough."""
    for name in _conjuncts(body, body.outputs[0]):
        places = _followed(body, name)
        given = [start for start in (starts[index] for index in places) if start is not None]
        if len(given) < len(places):
            continue
        names = [body.inputs[index] for index in places]
        outputs = [name, *(body.outputs[index + 1] for index in places)]
        small = replace(body, inputs=tuple(names), outputs=tuple(outputs), nodes=needed_for(body.nodes, outputs, names))
        region = Region()
        taken = [step.taken(region, start.type) for start in given]
        made = _tried(step, small, taken)
        found = None if made is None else _bound(step, made[0], taken, made[1:])
        if found is None:
            continue
        place, stride, last = found
        start = given[place].content
        if start is None or start.size != 1:
            continue
        first = float(start.reshape(-1)[0])
        most = max(math.ceil((last - first) / stride), 1)
        return Count(None, most, {}, {places[place]: (first, first + (most - 1) * stride)})
    return None


def _followed(body: SourceBody, name: str) -> list[int]:
    """The places of carried values that a value and these values themselves follow from."""
    places: set[int] = set()
    waiting = [name]
    while waiting:
        reads = _read_by(body, waiting.pop())
        found = {index for index, given in enumerate(body.inputs) if given in reads} - places
        places |= found
        waiting += [body.outputs[index + 1] for index in found]
    return sorted(places)


def _conjuncts(body: SourceBody, name: str) -> Iterator[str]:
    """What has to hold for a condition to hold, as far as it is a conjunction of parts."""
    makers = {output: node for node in body.nodes for output in node.outputs if output}
    waiting, seen = [name], set()
    while waiting:
        name = waiting.pop()
        node = makers.get(name)
        if name in seen:
            continue
        seen.add(name)
        if node is not None and node.op.lower() in ("logical_and", "logicaland", "assign", "identity", "and"):
            waiting += [item for item in node.inputs if item]
        else:
            yield name


def _bound(
    step: Step, condition: Tensor, taken: Sequence[Tensor], given: Sequence[Tensor]
) -> tuple[int, float, float] | None:
    """Which input counts, by how much, and what the sum stays below; all of that where `sum < last` is compared.

    `given`: what the next iteration takes: the sum has to be among it.
    """
    node = _maker(step, condition)
    if node is None or node.op.name not in ("less", "less_equal"):
        return None
    counter, limit = (Tensor(value.type, value.constant, value) for value in node.inputs)
    last = step.most(limit)
    added = _maker(step, counter)
    if last is None or added is None or added.op.name != "add" or not counter.dtype.is_integer:
        return None
    for value, by in (added.inputs, reversed(added.inputs)):
        source = _source(step, Tensor(value.type, value.constant, value))
        place = next((index for index, tensor in enumerate(taken) if tensor.value is source.value), None)
        if place is None or _source(step, given[place]).value is not _source(step, counter).value:
            continue
        if by.constant is not None and by.constant.size == 1:
            stride = float(by.constant.reshape(-1)[0])
            if stride > 0:
                return place, stride, last + (1 if node.op.name == "less_equal" else 0)
    return None


def _maker(step: Step, tensor: Tensor) -> Node | None:
    return step.maker(_source(step, tensor))


def _source(step: Step, tensor: Tensor) -> Tensor:
    """What a tensor was before it was passed on."""
    node = step.maker(tensor)
    while node is not None and node.op.name in _PASSING:
        (value,) = node.inputs
        tensor = Tensor(value.type, value.constant, value)
        node = step.maker(tensor)
    return tensor
