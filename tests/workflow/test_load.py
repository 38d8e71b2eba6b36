"""`buildtool.load`: models in this process, from everything that names one."""

from __future__ import annotations

import shutil
from pathlib import Path

import numpy as np
import pytest

import buildtool
from buildtool.errors import RunError
from tests.cli.conftest import EXAMPLE

HOST = ("host",)


@pytest.fixture(scope="module")
def project(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("load")
    for name in ("deploy.yml", "digits.onnx", "pictures.npy", "labels.npy"):
        shutil.copy(EXAMPLE / name, folder / name)
    return folder


@pytest.mark.slow
@pytest.mark.parametrize("forms", [("file", "file"), ("code", "file"), ("code", "code")])
def test_every_form_reads_digits(project: Path, tmp_path: Path, forms: tuple[str, str]) -> None:
    overrides = buildtool.Overrides(HOST, model_graph_format=forms[0], model_data_format=forms[1])
    built = buildtool.build(project / "deploy.yml", overrides, buildtool.Options(tmp_path))
    pictures = np.load(project / "pictures.npy").astype(np.float32)
    labels = np.load(project / "labels.npy")
    with buildtool.load(built, model="digits", threads=1) as model:
        assert model.inputs[0].shape == (1, 1, 8, 8)
        answers = [int(model.run({"image": picture[None]})["probabilities"].argmax()) for picture in pictures]
    assert (np.array(answers) == labels).mean() >= 0.9
    with pytest.raises(RunError, match="closed"):
        model.run({})


def test_a_library_file_finds_its_model(project: Path, tmp_path: Path) -> None:
    built = buildtool.build(project / "deploy.yml", buildtool.Overrides(HOST), buildtool.Options(tmp_path))
    library = built.file_of("host", "shared")
    with buildtool.load(library) as model:
        assert model.name == "digits"
        assert model.memory.arena > 0
    with pytest.raises(RunError, match="no library"):
        buildtool.load(library.with_name("libnone.so"))
    shutil.rmtree(built.folder / "model")
    with pytest.raises(RunError, match="no model"):
        buildtool.load(library)


@pytest.mark.slow
def test_a_deployment_file_is_built_where_that_is_needed(
    project: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    with buildtool.load(project / "deploy.yml") as model:
        assert model.run({"image": np.zeros((1, 1, 8, 8), np.float32)})["probabilities"].shape == (1, 10)
    assert (tmp_path / "build" / "digits" / "lib" / "host").is_dir()
