"""A graph with fake quantisation, stored in few bits: each node is TensorFlow's to one step."""

from __future__ import annotations

import io
import zipfile
from pathlib import Path

import numpy as np

from tests.importers.tensorflow.harness import EXPECTED, imported
from tests.stored_layers import compare, stored


def test_every_node_is_within_a_step(tmp_path: Path) -> None:
    with zipfile.ZipFile(EXPECTED / "quantised.zip") as archive:
        (tmp_path / "trained.pb").write_bytes(archive.read("trained.pb"))
        names = [name for name in archive.namelist() if name.startswith("trained/")]
        tensors = {Path(name).stem: np.load(io.BytesIO(archive.read(name))) for name in names}
    tensors |= {f"{name}:0": array for name, array in tensors.items()}
    graph = stored(imported(tmp_path / "trained.pb").graph)
    assert sum(node.op.name == "conv2d" for node in graph.nodes) == 4
    found = compare(graph, tensors)
    print(found)  # noqa: T201 (shown with -s)
    assert found.most <= 1, found.worst()
    assert found.part("conv2d", "add") == 1
    assert not found.real
