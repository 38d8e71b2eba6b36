"""Obscured names tell nothing and change nothing."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import numpy as np

import buildtool
from buildtool.codegen.names import obscure
from buildtool.importers.frameworks import import_model
from buildtool.importers.request import ImportRequest
from buildtool.ir.evaluate import evaluate
from buildtool.ir.verify import verify
from buildtool.ops.registry import registry
from tests.cli.conftest import EXAMPLE
from tests.plan.graphs import looping_network


def test_names_are_numbers_and_known_afterwards() -> None:
    graph = looping_network()
    before = [value.name for value in graph.values()]
    borders = [value.name for value in (*graph.inputs, *graph.outputs)]
    known = obscure(graph)
    verify(graph)
    assert [value.name for value in (*graph.inputs, *graph.outputs)] == borders
    after = [value.name for value in graph.values()]
    assert [known[name][0] if name in known else name for name in after] == before
    assert not {*before} & {*after} - {*borders}
    assert all(node.name in known for node in graph.walk())


def test_a_network_computes_what_it_did() -> None:
    request = ImportRequest("digits", EXAMPLE / "digits.onnx")
    graph = import_model("onnx", request).graph
    (image,) = graph.inputs
    inputs = {image.name: np.random.default_rng(1).random((1, 1, 8, 8), np.float32)}
    wanted = evaluate(graph, inputs)
    obscure(graph)
    for name, found in evaluate(graph, inputs).items():
        np.testing.assert_array_equal(found, wanted[name])


def test_shipped_files_hold_no_name_of_the_source(tmp_path: Path) -> None:
    shutil.copy(EXAMPLE / "digits.onnx", tmp_path)
    text = (EXAMPLE / "deploy.yml").read_text()
    file = tmp_path / "deploy.yml"
    file.write_text(text.replace("    runtime: cpu", "    runtime: cpu\n    obfuscate: 1"))
    built = buildtool.convert(file, buildtool.Overrides(("host",)), buildtool.Options(tmp_path / "out"))
    (mapping,) = (built.folder / "debug").rglob("*.names.json")
    names = json.loads(mapping.read_text())
    source = {name for old in names.values() for name in old} - set(registry())
    assert len(source) > 5
    shipped = [path for path in built.folder.rglob("*") if path.is_file() and "debug" not in path.parts]
    text_files = b"\0".join(path.read_bytes() for path in shipped if path.suffix in (".pb", ".pb_txt", ".html"))
    assert [name for name in sorted(source) if name.encode() in text_files] == []
