"""Names that tell nothing: what a model file says of a network besides its arithmetic."""

from __future__ import annotations

from buildtool.ir.graph import Graph


def obscure(graph: Graph) -> dict[str, tuple[str, ...]]:
    """Number the nodes and the values of a graph, but for its inputs and outputs, which callers ask for by name.

    Returns what each new name stood for: the name in the graph, and those in the source.
    """
    known: dict[str, tuple[str, ...]] = {}
    borders = {id(value) for value in (*graph.inputs, *graph.outputs)}
    taken = {value.name for value in (*graph.inputs, *graph.outputs)}
    for number, value in enumerate(graph.values()):
        if id(value) not in borders:
            old, value.name = value.name, _free(f"v{number}", taken)
            known[value.name] = (old, *value.source_names)
        value.source_names = ()
    for number, node in enumerate(graph.walk()):
        known[f"n{number}"] = (node.name,)
        node.name = f"n{number}"
    return known


def _free(name: str, taken: set[str]) -> str:
    while name in taken:
        name += "_"
    return name
