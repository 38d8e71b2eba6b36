"""`lathe tune`: it measures, builds with the figures, and later commands keep to them."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest

from tests.cli.conftest import EXAMPLE, Lathe


@pytest.mark.slow
def test_tune_and_what_follows(lathe: Lathe, tmp_path: Path) -> None:
    for name in ("deploy.yml", "digits.onnx", "pictures.npy"):
        shutil.copy(EXAMPLE / name, tmp_path / name)
    where = [tmp_path / "deploy.yml", "--output", tmp_path / "build", "--abi", "host"]
    (told,) = lathe("tune", *where, "--round", 2, "--num-threads", 1, "--json").document["models"]
    assert told["nodes"], "the example has convolutions of 3x3"
    for node in told["nodes"]:
        assert set(node["ns"]) == {"direct", "winograd2", "winograd4"}
    file = tmp_path / "build/digits/report/tuning.json"
    # Whatever was measured: from here on one way is made the fastest.
    figures = json.loads(file.read_text())
    for times in figures["measured"][0]["nodes"].values():
        times.update(direct=1000, winograd2=10, winograd4=1000)
    file.write_text(json.dumps(figures))
    (model,) = lathe("build", *where, "--json").document["models"]
    assert any("winograd2" in kernel for kernel in model["plans"][0]["kernels"])
    stamp = (tmp_path / "build/digits/report/build.json").stat().st_mtime_ns
    assert lathe("run", *where).code == 0
    assert (tmp_path / "build/digits/report/build.json").stat().st_mtime_ns == stamp, "it was up to date"
    assert lathe("validate", *where).code == 0
    file.unlink()
    lathe("run", *where)
    assert (tmp_path / "build/digits/report/build.json").stat().st_mtime_ns != stamp, "there are no figures any more"
