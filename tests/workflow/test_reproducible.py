"""Equal inputs give equal bytes, in any folder and at any time."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

import buildtool
from tests.cli.conftest import EXAMPLE


def everything(folder: Path) -> dict[str, bytes]:
    return {file.relative_to(folder).as_posix(): file.read_bytes() for file in folder.rglob("*") if file.is_file()}


def made_in(folder: Path, form: str, *, compiles: bool) -> dict[str, bytes]:
    """What a build of the example makes in a folder of its own."""
    folder.mkdir(parents=True)
    for name in ("deploy.yml", "digits.onnx"):
        shutil.copy(EXAMPLE / name, folder / name)
    (buildtool.build if compiles else buildtool.convert)(
        folder / "deploy.yml",
        buildtool.Overrides(("host",), model_graph_format=form, model_data_format=form),
        buildtool.Options(folder / "out", frozenset({"ir", "plan", "source"})),
    )
    return everything(folder / "out" / "digits")


@pytest.mark.parametrize(("form", "compiles"), [("file", False), ("code", True)])
def test_two_builds_in_two_folders_have_the_same_bytes(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, form: str, compiles: bool
) -> None:
    """Sources, output and cache all have other paths: nothing is shared between the two builds but the compiler."""
    found = []
    for place in ("here", "there/deeper"):
        monkeypatch.setenv("LATHE_CACHE_DIR", str(tmp_path / place / "cache"))
        found.append(made_in(tmp_path / place / "work", form, compiles=compiles))
    first, second = found
    assert first.keys() == second.keys()
    assert [name for name in first if first[name] != second[name]] == []
    assert any(name.startswith("source/") for name in first)
    assert [name for name, data in first.items() if str(tmp_path).encode() in data] == []
