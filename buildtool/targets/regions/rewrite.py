"""Turns the regions of a placement into nodes that hold them.

A region becomes one node without inputs. Its body begins with one upload for each value that it reads from around it,
ends with one download for each value that is read around it, and gives these away. What is read around it keeps its
value, with its name: in the body, the kernel that makes it gives a new one.
"""

from __future__ import annotations

import heapq
from collections.abc import Mapping, Sequence

from buildtool.errors import InternalError, Where
from buildtool.ir.attributes import AttrValue
from buildtool.ir.graph import Graph, Node, Region, Value
from buildtool.ir.operator import Operator
from buildtool.targets.regions.flow import Flow, flow_of, read
from buildtool.targets.regions.placement import Placement


def rewrite(
    graph: Graph,
    placement: Placement,
    operator: type[Operator],
    attributes: Mapping[str, AttrValue],
    to_device: Operator,
    from_device: Operator,
) -> Graph:
    """A copy of the graph in which every region is a node of `operator` with these attributes.

    `placement` is one of this graph. `to_device` and `from_device` copy one value.
    """
    result = graph.clone()
    flow = flow_of(result)
    steps = dict(enumerate(flow.nodes))  # a region has the number of its first node
    step_of = list(range(len(flow.nodes)))
    for number, members in enumerate(placement.regions):
        for member in members:
            step_of[member] = members[0]
        given = _given(flow, members)
        body = _body(result, [flow.nodes[member] for member in members], given, to_device, from_device)
        steps[members[0]] = Node(operator(**attributes), [], given, f"device region {number}", [body])
    result.nodes = [steps[step] for step in _order(flow, step_of, graph.name)]
    return result


def _given(flow: Flow, members: Sequence[int]) -> list[Value]:
    """The values of a region that are read around it."""
    inside = set(members)
    return [
        carried.value
        for carried in flow.values
        if carried.maker in inside and (carried.leaves or not inside.issuperset(carried.readers))
    ]


def _body(
    graph: Graph, nodes: Sequence[Node], given: Sequence[Value], to_device: Operator, from_device: Operator
) -> Region:
    """The nodes of a region with their uploads and downloads. Changes the nodes."""
    made = {value for node in nodes for value in node.outputs}
    taken = dict.fromkeys(value for node in nodes for value in read(node) if value not in made)
    uploads = {value: graph.new_node(to_device, [value], f"upload {value.name}", value.name) for value in taken}
    names = {value: node.outputs[0] for value, node in uploads.items()}
    names |= {value: graph.new_value(value.name, value.type) for value in given}
    for node in nodes:
        _rename(node, names)
    downloads = [graph.new_node(from_device, [names[value]], f"download {value.name}", value.name) for value in given]
    return Region([], [node.outputs[0] for node in downloads], [*uploads.values(), *nodes, *downloads])


def _rename(node: Node, names: Mapping[Value, Value]) -> None:
    """Reads and makes other values, in the regions of the node too."""
    node.inputs = [names.get(value, value) for value in node.inputs]
    node.outputs = [names.get(value, value) for value in node.outputs]
    for region in node.regions:
        region.outputs = [names.get(value, value) for value in region.outputs]
        for inner in region.nodes:
            _rename(inner, names)


def _order(flow: Flow, step_of: Sequence[int], model: str) -> list[int]:
    """The steps so that each comes behind those that it needs, and otherwise as early as in the graph."""
    needed: dict[int, set[int]] = {step: set() for step in step_of}
    wanted_by: dict[int, list[int]] = {step: [] for step in step_of}
    for node, earlier in enumerate(flow.before):
        needed[step_of[node]].update(step_of[one] for one in earlier if step_of[one] != step_of[node])
    for step, others in needed.items():
        for other in others:
            wanted_by[other].append(step)
    ready = [step for step, others in needed.items() if not others]
    heapq.heapify(ready)
    order: list[int] = []
    while ready:
        step = heapq.heappop(ready)
        order.append(step)
        for later in wanted_by[step]:
            needed[later].remove(step)
            if not needed[later]:
                heapq.heappush(ready, later)
    if len(order) < len(needed):
        raise InternalError("regions of device nodes depend on each other", where=Where(model=model))
    return order
