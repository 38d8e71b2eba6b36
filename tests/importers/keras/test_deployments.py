"""Deployment files of Keras models: `lathe init` writes them, and what is built of them gives what Keras gives."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.cli.conftest import Lathe, lathe
from tests.importers.keras import writer
from tests.importers.keras.harness import archive

__all__ = ["lathe"]  # a fixture


@pytest.mark.slow
@pytest.mark.parametrize("name", ["residual-keras2.h5", "residual-keras3.keras", "nested-keras3.keras"])
def test_init(name: str, lathe: Lathe, tmp_path: Path) -> None:
    (tmp_path / name).write_bytes(archive()[name])
    file = tmp_path / "deployment.yml"
    assert lathe("init", tmp_path / name, "-o", file).code == 0
    text = file.read_text(encoding="utf-8")
    assert "platform: keras" in text
    assert lathe("check", file).code == 0
    assert lathe("convert", file, "--output", tmp_path / "converted").code == 0


def test_init_of_open_sizes(lathe: Lathe, tmp_path: Path) -> None:
    model = tmp_path / "open.h5"
    model.write_bytes(writer.h5(writer.sequential(writer.given(None, None, 3), writer.layer("ReLU", "r"))))
    chosen = lathe("init", model, "-o", tmp_path / "a.yml")
    assert chosen.code == 0
    assert "--input-shape x=1,224,224,3" in chosen.stderr
    assert lathe("init", model, "-o", tmp_path / "a.yml", "--force", "--input-shape", "x=1,4..9,5,3").code == 0
    assert "1,4..9,5,3" in (tmp_path / "a.yml").read_text(encoding="utf-8")


def test_ranges_can_be_seen(lathe: Lathe, tmp_path: Path) -> None:
    """What training for quantisation found is in the text of the graph, and with what rounds in the converted model."""
    name, out = "simulated-keras2.keras", tmp_path / "out"
    (tmp_path / name).write_bytes(archive()[name])
    file = tmp_path / "deployment.yml"
    assert lathe("init", tmp_path / name, "-o", file, "--library-name", "rounded").code == 0
    assert "    quantize: 1\n" in file.read_text(encoding="utf-8")
    file.write_text(file.read_text(encoding="utf-8").replace("    quantize: 1\n", ""), encoding="utf-8")
    assert lathe("convert", file, "-o", out, "--emit", "ir").code == 0
    written = next(out.rglob("*.ir")).read_text(encoding="utf-8")
    assert written.count('\nrange "') == 15
    model = next(file for file in out.rglob("model/*.pb"))
    document = lathe("inspect", "model", model, "--json").document
    assert len(document["quantised"]) == 9
    assert document["quantised"][0]["name"] == "quantize_layer"
    assert document["quantised"][0]["tensors"] == ["input0"]
    assert "rounded by" in lathe("inspect", "model", model).stdout
