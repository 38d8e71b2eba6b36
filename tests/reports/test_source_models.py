"""The card of a model: what it says of inputs and outputs is what the framework says."""

from __future__ import annotations

from pathlib import Path

import pytest

from buildtool.reports.source_models import card, parts
from buildtool.reports.table import Table
from tests.importers.keras import harness


@pytest.mark.parametrize("end", harness.ENDS)
def test_outputs_of_keras_have_types_and_shapes(end: str, tmp_path: Path) -> None:
    """The files do not say them."""
    for name in [name for name in harness.models() if name.endswith(end)][::6]:
        file = tmp_path / name
        file.write_bytes(harness.archive()[name])
        outputs = card(file)["outputs"]
        for output, values in zip(outputs, harness.expected(name)[1], strict=True):
            assert output["dtype"], name
            known = [(a, b) for a, b in zip(output["shape"], values.shape, strict=True) if a != "?"]
            assert all(a == b for a, b in known), (name, output, values.shape)


def test_open_sizes_stay_open(tmp_path: Path) -> None:
    file = tmp_path / "model.keras"
    file.write_bytes(harness.archive()["conv2d-open-keras3.keras"])
    document = card(file)
    (given,), (made,) = document["inputs"], document["outputs"]
    assert given["shape"][:3] == made["shape"][:3] == ["?", "?", "?"]
    assert isinstance(made["shape"][3], int)
    table = parts(document)[1]
    assert isinstance(table, Table)
    assert f"?x?x?x{made['shape'][3]}" in str(table.rows)
