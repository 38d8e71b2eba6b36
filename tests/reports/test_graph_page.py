"""The page that shows a model's graph: what it holds, that hostile names stay text, and how a browser draws it."""

from __future__ import annotations

import html.parser
import json
import re
import shutil
import subprocess
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import buildtool
from buildtool.ir.graph import Graph, Value
from buildtool.ir.types import DType, TensorType
from buildtool.ops.add import Add
from buildtool.ops.concat import Concat
from buildtool.ops.relu import Relu
from buildtool.reports.graph_page import kind_of, page
from tests.cli.conftest import EXAMPLE

HOSTILE = "</script><img src=x onerror=\"document.title='taken'\"><!-- \u2028 \ud800 {{ 7 * 7 }} & ' \\"
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
    loaded: dict[str, Any] = json.loads(_Elements(text.decode()).data)
    return loaded


def test_it_holds_nodes_values_edges_and_figures() -> None:
    (graph,) = drawn(page("small", {"only": small_graph()}, "1.0"))["graphs"]
    assert [item["op"] for item in graph["items"]] == ["x", "add", "relu", "concat", "y"]
    assert [item["kind"] for item in graph["items"]] == ["input", "arithmetic", "activation", "movement", "output"]
    assert [edge[:2] for edge in graph["edges"]] == [[0, 1], [1, 2], [2, 3], [1, 3], [3, 4]]
    assert (graph["nodes"], graph["macs"], graph["weights"]) == (3, 0, 16)
    assert ["activation", '"none"'] in graph["items"][1]["attributes"]
    constant = graph["values"][graph["items"][1]["inputs"][1]]
    assert (constant["type"], constant["bytes"], constant["constant"]) == ("f32[4]", 16, "0, 1, 2, 3")
    assert graph["values"][0]["from"] == ["image"]


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
    before, after = data["graphs"]
    assert data["name"] == "digits"
    assert before["nodes"] > after["nodes"] > 0
    assert after["macs"] > 10_000


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
    shot = tmp_path / "page.png"
    browse(file, f"--screenshot={shot}", fragment="#0")
    assert shot.read_bytes().startswith(b"\x89PNG")
    assert shot.stat().st_size > 15_000  # an empty page is far smaller
