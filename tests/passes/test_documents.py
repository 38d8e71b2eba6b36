"""What the documentation says about passes and node counts is what the code does."""

from __future__ import annotations

import importlib.util
import re
from pathlib import Path

import onnx
import pytest

from buildtool.importers.onnx import import_model
from buildtool.importers.request import ImportRequest
from buildtool.passes.pipeline import LOWERING, ORDER, available, optimise
from tests.zoo import networks

ROOT = Path(__file__).resolve().parents[2]


def test_the_page_of_passes_has_them_all() -> None:
    script = ROOT / "scripts" / "list_passes.py"
    spec = importlib.util.spec_from_file_location("list_passes", script)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    page = module.page()
    assert [one.name for one in available() if f"| `{one.name}` | {one.summary} |" not in page] == []


def test_passes_come_behind_those_that_they_need() -> None:
    places = {kind.name: place for place, kind in reversed(list(enumerate((*ORDER, *LOWERING))))}
    for kind in available():
        assert all(places[name] < places[kind.name] for name in kind.requires), kind.name


def _table() -> dict[str, tuple[int, int, int]]:
    text = (ROOT / "docs" / "reference" / "node-counts.md").read_text(encoding="utf-8")
    rows = re.findall(r"^\| ([\w ]+) \| (\d+) \| (\d+) \| (\d+) \|$", text, re.MULTILINE)
    return {name: (int(raw), int(simplified), int(lathe)) for name, raw, simplified, lathe in rows}


def test_never_more_nodes_than_onnxsim_leaves() -> None:
    table = _table()
    assert len(table) == 8
    assert all(lathe <= simplified for _, simplified, lathe in table.values())


@pytest.mark.slow
@pytest.mark.parametrize("name", networks.NETWORKS)
def test_the_page_of_node_counts_is_up_to_date(name: str, tmp_path: Path) -> None:
    file = tmp_path / "model.onnx"
    onnx.save(networks.build(name), file)
    graph = import_model(ImportRequest(name, file)).graph
    optimise(graph)
    assert len(graph.nodes) == _table()[name][2]
