"""Checks that every tensor is defined once, and puts nodes into an order in which it is made before it is read.

Exporters mostly do; files may not.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Collection, Iterable, Mapping, Sequence

from buildtool.errors import ModelFileError, Where
from buildtool.importers.model import SourceNode


def in_execution_order(nodes: Sequence[SourceNode], where: Where) -> tuple[SourceNode, ...]:
    """The nodes, in the order of the file where that is possible. ModelFileError where they form a cycle."""
    maker = {name: index for index, node in enumerate(nodes) for name in node.outputs if name}
    needs = [{maker[name] for name in node.reads if name in maker} for node in nodes]
    if all(index > last for index, before in enumerate(needs) for last in before):
        return tuple(nodes)
    readers: list[list[int]] = [[] for _ in nodes]
    for index, before in enumerate(needs):
        for other in before:
            readers[other].append(index)
    missing = [len(before) for before in needs]
    ready = deque(index for index, count in enumerate(missing) if count == 0)
    order: list[int] = []
    while ready:
        index = ready.popleft()
        order.append(index)
        for reader in readers[index]:
            missing[reader] -= 1
            if missing[reader] == 0:
                ready.append(reader)
    if len(order) < len(nodes):
        stuck = [node.name for index, node in enumerate(nodes) if missing[index]]
        raise ModelFileError(
            f"{len(stuck)} nodes depend on each other: {', '.join(stuck[:5])}{' …' if len(stuck) > 5 else ''}",
            where=Where(where.file, model=where.model, node=stuck[0]),
            rule="a model is a graph without cycles",
        )
    return tuple(nodes[index] for index in order)


def needed_for(nodes: Sequence[SourceNode], outputs: Collection[str], given: Collection[str]) -> tuple[SourceNode, ...]:
    """The nodes that the outputs depend on; what is given is not computed."""
    wanted = set(outputs) - set(given)
    needed: list[SourceNode] = []
    for node in reversed(nodes):
        if wanted.intersection(node.outputs):
            needed.append(node)
            wanted.update(name for name in node.reads if name and name not in given)
    return tuple(reversed(needed))


def check_names(
    nodes: Iterable[SourceNode], given: Mapping[str, object], outputs: Mapping[str, object], where: Where, damaged: str
) -> None:
    """Every tensor is made once, and every tensor that is read is made somewhere. `damaged`: what to do if not."""
    makers: dict[str, str] = dict.fromkeys(given, "an input or initial value")
    for node in nodes:
        at = Where(where.file, model=where.model, node=node.name)
        if not any(node.outputs):
            raise ModelFileError("the node has no outputs", where=at, remedy=damaged)
        for name in filter(None, node.outputs):
            if name in makers:
                raise ModelFileError(
                    f"'{name}' is defined twice: here and by {makers[name]}",
                    where=at,
                    rule="every tensor is defined once",
                )
            makers[name] = f"the node '{node.name}'"
    for node in nodes:
        for name in filter(None, node.reads):
            if name not in makers:
                raise ModelFileError(
                    f"nothing defines '{name}', which the node reads",
                    where=Where(where.file, model=where.model, node=node.name),
                    remedy=damaged,
                )
    for name in outputs:
        if name not in makers:
            raise ModelFileError(f"nothing defines the output '{name}'", where=where, remedy=damaged)
