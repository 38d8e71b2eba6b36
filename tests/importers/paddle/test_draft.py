"""What `lathe init` writes for programs of Paddle."""

from __future__ import annotations

from pathlib import Path

import pytest

from buildtool.drafts.deployment import write
from buildtool.errors import ConfigError
from tests.importers.paddle.harness import archive


def _saved(folder: Path, name: str) -> Path:
    for ending in (".json", ".pdiparams"):
        (folder / f"{name}{ending}").write_bytes(archive("layers.zip")[f"{name}{ending}"])
    return folder / f"{name}.json"


def test_program_and_parameters(tmp_path: Path) -> None:
    text = write([_saved(tmp_path, "classifier")], relative_to=tmp_path)
    for line in (
        "    platform: paddle",
        "    model_file_path: classifier.json",
        "    weight_file_path: classifier.pdiparams",
        '        input_shapes: ["1,3,16,16"]',
        "        output_tensors: [fetch_name_0, fetch_name_1]",
    ):
        assert line in text.splitlines(), line


def test_open_sizes(tmp_path: Path) -> None:
    file = _saved(tmp_path, "classifier")
    file.write_bytes(file.read_bytes().replace(b"[-1,3,16,16]", b"[-1,3,-1,16]"))
    assert "1,3,16,16" in write([file], relative_to=tmp_path), "pictures are squares, where nothing else is known"
    file.write_bytes(file.read_bytes().replace(b"[-1,3,-1,16]", b"[-1,3,-1,-1]"))
    with pytest.raises(ConfigError, match=r"leaves the shape \[\?,3,\?,\?\] of 'x' open") as caught:
        write([file], relative_to=tmp_path)
    assert "matmul" in caught.value.problems[0].what
    assert "1,3,16,16" in write([file], relative_to=tmp_path, shapes={"x": "1,3,16,16"})
