"""The page that shows a model's graph: what it holds, that hostile names stay text, and how a browser draws it."""

from __future__ import annotations

import html.parser
import json
import re
import shutil
import subprocess
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import buildtool
from buildtool.importers.outline import Outline, OutlinedNode, OutlinedTensor
from buildtool.ir.graph import Graph, Value
from buildtool.ir.types import DType, QuantType, TensorType
from buildtool.ops.add import Add
from buildtool.ops.concat import Concat
from buildtool.ops.identity import Identity
from buildtool.ops.relu import Relu
from buildtool.passes import pipeline
from buildtool.reports import graph_page
from buildtool.reports.graph_drawing import kind_of
from buildtool.reports.graph_page import Stages, page, with_results
from tests.cli.conftest import EXAMPLE

HOSTILE = "</script><img src=x onerror=\"document.title='taken'\"><!-- \u2028 \ud800 {{ 7 * 7 }} & ' \\"
SPREAD = {"low": -1, "high": 1, "mean": 0, "deviation": 1, "zeros": 0.5, "odd": 0, "every": 2, "counts": [1, 2, 3]}
CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser")


class _Elements(html.parser.HTMLParser):
    """Which elements a page has, their attributes, and the text of the one with the data."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.tags: list[str] = []
        self.links: list[str] = []
        self.data = ""
        self._in_data = False
        self.feed(text)

    def handle_starttag(self, tag: str, attributes: list[tuple[str, str | None]]) -> None:
        self.tags.append(tag)
        self.links += [str(value) for key, value in attributes if key in ("src", "href", "action", "onerror")]
        self._in_data = ("id", "data") in attributes

    def handle_data(self, data: str) -> None:
        if self._in_data:
            self.data += data
            self._in_data = False


def small_graph(name: str = "y") -> Graph:
    graph = Graph(name="small")
    x = Value("x", TensorType(DType.F32, (1, 4)), ("image",))
    graph.inputs = [x]
    weights = graph.new_constant("bias", np.arange(12, dtype=np.float32)[:4])
    add = graph.new_node(Add(), [x, weights], name="layer/add")
    relu = graph.new_node(Relu(), add.outputs, name=name)
    both = graph.new_node(Concat(axis=1), [relu.outputs[0], add.outputs[0]])
    both.outputs[0].name = name
    graph.nodes = [add, relu, both]
    graph.outputs = [both.outputs[0]]
    return graph


def drawn(text: bytes) -> dict[str, Any]:
    """The data of a page, with the nodes of each graph in their places."""
    loaded: dict[str, Any] = json.loads(_Elements(text.decode()).data)
    for graph in loaded["graphs"]:
        graph["items"] = [loaded["nodes"][number] for number in graph["items"]]
    return loaded


def test_it_holds_nodes_values_edges_and_figures() -> None:
    data = drawn(page("small", {"only": small_graph()}, "1.0"))
    (graph,) = data["graphs"]
    assert [item["op"] for item in graph["items"]] == ["x", "add", "relu", "concat", "y"]
    assert [item["kind"] for item in graph["items"]] == ["input", "arithmetic", "activation", "movement", "output"]
    assert [edge[:2] for edge in graph["edges"]] == [[0, 1], [1, 2], [2, 3], [1, 3], [3, 4]]
    assert (graph["nodes"], graph["macs"], graph["weights"]) == (3, 0, 16)
    assert ["activation", '"none"'] in graph["items"][1]["attributes"]
    constant = data["values"][graph["items"][1]["inputs"][1]]
    assert (constant["type"], constant["bytes"], constant["constant"]) == ("f32[4]", 16, "0, 1, 2, 3")
    assert data["values"][0]["from"] == ["image"]
    assert len(graph["boxes"]) == len(graph["items"])


def test_stages_share_equal_nodes_and_values() -> None:
    graph = small_graph()
    once, twice = (drawn(page("small", dict.fromkeys(titles, graph), "1.0")) for titles in ("a", "ab"))
    assert len(twice["graphs"]) == 2
    assert (twice["nodes"], twice["values"]) == (once["nodes"], once["values"])


def test_passes_that_change_something_are_stages() -> None:
    stages, graph = Stages(), small_graph()
    doubled = graph.new_node(Identity(), [graph.outputs[0]])
    doubled.outputs[0].name, graph.outputs[0].name = "y", "inner"
    graph.nodes.append(doubled)
    graph.outputs = [doubled.outputs[0]]
    stages.graph("As imported", graph)
    runs = pipeline.optimise(graph, None, stages.after)
    data = drawn(stages.page("small", "1.0"))
    changed = [run.name for run in runs if run.modified]
    assert "remove_identities" in changed
    assert [item["title"] for item in data["graphs"]] == ["As imported", *changed]
    assert all(item["pass"] and item["about"].endswith(".") for item in data["graphs"][1:])
    assert [item["nodes"] for item in data["graphs"]][:2] == [4, 3]


def test_of_large_graphs_the_stages_between_are_left_out(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(graph_page, "_MOST_BETWEEN", 5)
    stages, graph = Stages(), small_graph()
    for name in ("one", "two", "three"):
        stages.after(pipeline.PassRun(name, 3, 3, name != "one"), graph)
    assert [item["title"] for item in drawn(stages.page("m", "1"))["graphs"]] == ["two"]


def test_constants_have_histograms_and_values_their_ranges() -> None:
    graph = small_graph()
    filters = graph.new_constant("filters", np.linspace(-1, 1, 64, dtype=np.float32).reshape(1, 64))
    graph.nodes[0].inputs[1] = filters
    graph.nodes[0].inputs[0].type = replace(graph.inputs[0].type, quant=QuantType((0.5,), (0,)))
    data = drawn(page("small", {"only": graph}, "1.0"))
    values = {value["name"]: value for value in data["values"]}
    found = values[filters.name]["spread"]
    assert (found["low"], found["high"], found["every"], sum(found["counts"])) == (-1, 1, 1, 64)
    assert values["x"]["range"] == [-64, 63.5]
    assert values["x"]["bits"] == 8


def measurement(*rows: tuple[int, str, float]) -> dict[str, Any]:
    nodes = [{"index": index, "op": op, "median_ms": cost, "kernel": f"{op}__k"} for index, op, cost in rows]
    return {"abi": "host", "device": "local", "unit": "seconds", "nodes": nodes}


def test_results_colour_the_boxes_that_they_are_of() -> None:
    plain = page("small", {"only": small_graph()}, "1.0")
    layer = {"value": "y", "cosine": 1.0, "max_rel": 0.1, "own": {"max_rel": 0.0}, "passed": True}
    layers = {"abi": "host", "device": "local", "layers": [layer]}
    measured = measurement((0, "add", 2.0), (1, "relu", 1.0), (1, "relu", 0.5), (2, "mul", 9.0))
    data = drawn(with_results(plain, [measured], [layers]))
    (costs,) = data["measured"]
    assert costs["boxes"] == [[1, 2.0, "add__k"], [2, 1.5, "relu__k"]]
    assert data["layers"][0]["values"]["y"]["cosine"] == 1.0
    assert with_results(with_results(plain, [measured], [layers]), [], []) == plain


def test_the_file_of_a_framework_is_a_stage() -> None:
    node = OutlinedNode("com.example.Conv", "first", ("x", "w"), ("y",), (("kernel", "[3, 3]"),))
    tensors = {"x": OutlinedTensor("f32[1]"), "w": OutlinedTensor("float32[4]", 16, True)}
    stages = Stages()
    stages.file("In the file", Outline(("x",), ("y",), (node,), tensors))
    stages.file("none", None)
    (graph,) = drawn(stages.page("m", "1"))["graphs"]
    assert [item["op"] for item in graph["items"]] == ["x", "com.example.Conv", "y"]
    assert [edge[:2] for edge in graph["edges"]] == [[0, 1], [1, 2]]
    assert (graph["items"][1]["kind"], graph["weights"], graph["nodes"]) == ("layer", 16, 1)


def test_it_is_reproducible_and_needs_no_network() -> None:
    first, second = (page("small", {"a": small_graph(), "b": small_graph()}, "1.0") for _ in range(2))
    assert first == second
    elements = _Elements(first.decode())
    assert elements.links == []
    assert "link" not in elements.tags
    assert not re.search(rb"url\((?!#)|@import|fetch\(|https?://(?!www\.w3\.org/2000/svg)", first)


def test_hostile_names_stay_text() -> None:
    hostile, harmless = page(HOSTILE, {HOSTILE: small_graph(HOSTILE)}, "1.0"), page("m", {"g": small_graph()}, "1.0")
    assert _Elements(hostile.decode()).tags == _Elements(harmless.decode()).tags
    graph = drawn(hostile)["graphs"][0]
    assert graph["items"][-1]["op"] == HOSTILE
    assert graph["items"][2]["name"] == HOSTILE


def test_every_operator_has_a_colour() -> None:
    from buildtool.ops.conv2d import Conv2d
    from buildtool.ops.quantize_linear import QuantizeLinear
    from buildtool.ops.registry import registry

    kinds = {name: kind_of(operator.__new__(operator)) for name, operator in registry(()).items()}
    assert kinds[Conv2d.name] == "layer"
    assert kinds[QuantizeLinear.name] == "type"
    assert (kinds["batch_norm"], kinds["max_pool2d"], kinds["mul"]) == ("norm", "reduction", "arithmetic")
    style = (Path(page.__code__.co_filename).parent / "templates" / "graph_page.css").read_text()
    assert all(f"--{kind}:" in style for kind in set(kinds.values()))


def test_convert_writes_it(tmp_path: Path) -> None:
    shutil.copytree(EXAMPLE, tmp_path / "source")
    deployment = tmp_path / "source" / "deploy.yml"
    buildtool.convert(deployment, buildtool.Overrides(("host",)), buildtool.Options(tmp_path))
    data = drawn((tmp_path / "digits" / "model" / "digits_index.html").read_bytes())
    file, before, *passes, after = data["graphs"]
    assert data["name"] == "digits"
    assert file["title"] == "In the file (onnx)"
    assert "Conv" in [item["op"] for item in file["items"]]
    assert before["nodes"] > after["nodes"] > 0
    assert after["macs"] > 10_000
    assert passes and all(item["pass"] for item in passes)


def test_a_page_of_obfuscated_models_does_not_tell_what_they_were(tmp_path: Path) -> None:
    shutil.copytree(EXAMPLE, tmp_path / "source")
    deployment = tmp_path / "source" / "deploy.yml"
    text = deployment.read_text()
    deployment.write_text(text.replace("    runtime:", "    obfuscate: 1\n    runtime:", 1))
    assert "obfuscate" in deployment.read_text()
    buildtool.convert(deployment, buildtool.Overrides(("host",)), buildtool.Options(tmp_path))
    data = drawn((tmp_path / "digits" / "model" / "digits_index.html").read_bytes())
    assert [graph["title"] for graph in data["graphs"]] == ["As built"]


def browse(file: Path, *options: str, fragment: str = "") -> str:
    assert CHROMIUM is not None
    command = [CHROMIUM, "--headless", "--no-sandbox", "--disable-gpu", "--virtual-time-budget=4000"]
    command += [f"--user-data-dir={file.parent / 'profile'}", "--window-size=1200,800", *options]
    done = subprocess.run([*command, file.as_uri() + fragment], capture_output=True, text=True, timeout=120, check=True)
    return done.stdout


@pytest.mark.slow
@pytest.mark.skipif(CHROMIUM is None, reason="chromium is not installed")
def test_a_browser_draws_it(tmp_path: Path) -> None:
    file = tmp_path / "page.html"
    name = HOSTILE.replace("\ud800", "")  # chromium draws it, but cannot write it to a file
    file.write_bytes(page(name, {"before": small_graph(), "after": small_graph(name)}, "1.0"))
    dom = browse(file, "--dump-dom", fragment="#1/1")
    assert "<title>taken</title>" not in dom
    assert "<img" not in dom
    body = dom.partition('id="data"')[0]
    assert body.count('class="box') == 5
    assert body.count('class="edge') == 5
    assert "in the source: image" in body
    beside = browse(file, "--dump-dom", fragment="#1/1+0").partition('id="data"')[0]
    assert beside.count('class="box') == 10
    assert beside.count('class="box arithmetic peer"') == 1  # what the chosen node is on the other side
    inner = small_graph().nodes[1].outputs[0].name
    layer = {"value": inner, "cosine": 0.5, "max_rel": 0.1, "own": {"max_rel": 0.0}, "passed": False, "spread": SPREAD}
    layers = {"abi": "host", "device": "local", "layers": [layer]}
    file.write_bytes(
        with_results(
            page("m", {"one": small_graph()}, "1.0"), [measurement((0, "add", 2.0), (1, "relu", 1.0))], [layers]
        )
    )
    warm = browse(file, "--dump-dom", fragment="#0/2").partition('id="data"')[0]
    assert 'class="canvas heated"' in warm and "1.000 ms, 33.3 %, number 2 of 2" in warm
    assert warm.count('class="histogram"') == 1 and "cosine 0.500000" in warm
    shot = tmp_path / "page.png"
    browse(file, f"--screenshot={shot}", fragment="#0")
    assert shot.read_bytes().startswith(b"\x89PNG")
    assert shot.stat().st_size > 15_000  # an empty page is far smaller
