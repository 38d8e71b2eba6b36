"""One HTML page that shows a model's graph: as its file has it, behind each pass, and as it is built."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from buildtool.importers.outline import Outline
from buildtool.ir.graph import Graph
from buildtool.passes import pipeline
from buildtool.reports import graph_values, html_page
from buildtool.reports.graph_drawing import Drawing, drawing_of_graph, drawing_of_outline

#: Nodes that are drawn of all stages between the imported graph and the optimised one: layouts take time.
_MOST_BETWEEN = 4000


class Stages:
    """The graphs of a model from its file to its library, drawn one after the other. Equal nodes are stored once."""

    def __init__(self) -> None:
        self._values = graph_values.Values()
        self._nodes: dict[str, int] = {}
        self._kept: list[dict[str, Any]] = []
        self._graphs: list[dict[str, Any]] = []
        self._left = _MOST_BETWEEN

    def file(self, title: str, outline: Outline | None) -> None:
        """The model as its file has it. One that is too large is left out."""
        if outline is not None and len(outline.nodes) <= self._left:
            self._add(title, drawing_of_outline(outline, self._values), "What the file holds.")

    def graph(self, title: str, graph: Graph, about: str = "") -> None:
        """A graph of Lathe."""
        self._add(title, drawing_of_graph(graph, self._values), about)

    def after(self, run: pipeline.PassRun, graph: Graph) -> None:
        """The graph behind a pass, if that changed it; what is too large is left out."""
        if not run.modified or run.nodes_after > self._left:
            return
        self._left -= run.nodes_after
        summaries = {kind.name: kind.summary for kind in pipeline.available()}
        words = summaries.get(run.name, "")
        self.graph(run.name, graph, f"{words[:1].upper()}{words[1:]}." if words else "")
        self._graphs[-1]["pass"] = True

    def page(self, name: str, version: str) -> bytes:
        """The page. Its last graph is shown first. Reproducible."""
        data = {
            "name": name,
            "version": version,
            "graphs": self._graphs,
            "nodes": self._kept,
            "values": self._values.kept,
            "measured": [],
            "layers": [],
        }
        return html_page.render("graph_page", name, data)

    def _add(self, title: str, drawing: Drawing, about: str) -> None:
        numbers = [self._number(node) for node in drawing.nodes]
        self._graphs.append({"title": title, "about": about, "items": numbers, **drawing.rest})

    def _number(self, node: dict[str, Any]) -> int:
        key = repr(node)
        if key not in self._nodes:
            self._nodes[key] = len(self._kept)
            self._kept.append(node)
        return self._nodes[key]


def page(name: str, graphs: Mapping[str, Graph], version: str) -> bytes:
    """The page of some graphs by their titles."""
    stages = Stages()
    for title, graph in graphs.items():
        stages.graph(title, graph)
    return stages.page(name, version)


def with_results(text: bytes, measurements: Sequence[Mapping[str, Any]], layers: Sequence[Mapping[str, Any]]) -> bytes:
    """The page with what was measured of its last graph; `layers`: contents of layers.json."""
    data = html_page.data_of(text)
    graph = data["graphs"][-1]
    nodes = [data["nodes"][number] for number in graph["items"]]
    of = {"graph": len(data["graphs"]) - 1}
    data["measured"] = [{**_times(item, nodes), **of} for item in measurements]
    data["layers"] = [{**_layers(item), **of} for item in layers]
    return html_page.render("graph_page", data["name"], data)


def _times(item: Mapping[str, Any], nodes: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    """The cost of each box, by its number. A box whose operator is another one has none."""
    first = sum(node["kind"] == "input" for node in nodes)
    cost = "median_ms" if item["unit"] == "seconds" else "instructions"
    found: dict[int, list[Any]] = {}
    for row in item["nodes"]:
        box = first + row["index"]
        if box < len(nodes) and nodes[box]["op"] == row["op"]:
            spent = found.setdefault(box, [box, 0.0, row["kernel"]])
            spent[1] += row[cost]
    title = f"{item['abi']}, {item['device']}"
    return {"title": title, "unit": item["unit"], "boxes": list(found.values())}


def _layers(item: Mapping[str, Any]) -> dict[str, Any]:
    """What the values were, by their names, and how far from what they should be."""
    values = {
        layer["value"]: {
            "cosine": layer["cosine"],
            "error": layer["max_rel"],
            "own": layer["own"]["max_rel"],
            "passed": layer["passed"],
            "spread": layer.get("spread"),
        }
        for layer in item["layers"]
    }
    return {"title": f"{item['abi']}, {item['device']}", "values": values}


def beside(name: str, pages: Mapping[str, bytes]) -> bytes:
    """A page with the last graph of others, and what was measured of them; the first two are side by side."""
    kept: dict[str, Any] = {"name": name, "version": "", "beside": 0}
    kept |= {key: [] for key in ("graphs", "nodes", "values", "measured", "layers")}
    for number, (title, text) in enumerate(pages.items()):
        data = html_page.data_of(text)
        nodes, values = len(kept["nodes"]), len(kept["values"])
        last = data["graphs"][-1]
        edges = [[start, end, value + values, route] for start, end, value, route in last["edges"]]
        moved = {"title": title, "items": [item + nodes for item in last["items"]], "edges": edges}
        kept["graphs"].append({**last, **moved})
        for node in data["nodes"]:
            ends = {key: [value + values for value in node[key]] for key in ("inputs", "outputs")}
            kept["nodes"].append({**node, **ends})
        kept["values"] += data["values"]
        for key in ("measured", "layers"):
            kept[key] += [{**item, "graph": number} for item in data[key]]
        kept["version"] = data["version"]
    return html_page.render("graph_page", name, kept)
