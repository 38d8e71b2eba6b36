"""`lathe dev new-op`: the skeleton works as it stands, and replaces nothing."""

from __future__ import annotations

import shutil
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from buildtool import resources
from buildtool.drafts import operator as draft
from buildtool.ops.registry import registry
from buildtool.plan import manifest
from tests.cli.conftest import Lathe

ROOT = Path(__file__).resolve().parents[2]


def test_a_folder_of_the_user(lathe: Lathe, tmp_path: Path) -> None:
    result = lathe("dev", "new-op", "hard_tanh", "--path", tmp_path, "--json")
    assert result.code == 0
    assert sorted(Path(file).relative_to(tmp_path).as_posix() for file in result.document["files"]) == [
        "native/ops/hard_tanh/hard_tanh.cc",
        "native/ops/hard_tanh/op.yaml",
        "ops/hard_tanh.py",
    ]
    operator = registry((tmp_path,))["hard_tanh"]()
    array = np.arange(3, dtype=np.float32)
    np.testing.assert_array_equal(operator.reference(array)[0], array)
    assert [kernel.name for kernel in manifest.load((tmp_path,)).of("hard_tanh")] == ["hard_tanh_f32_plain__portable"]
    listed = lathe("inspect", "ops", "--op-path", tmp_path, "--json").document["items"]
    assert any(item["name"] == "hard_tanh" and item["kernels"] for item in listed)
    again = lathe("dev", "new-op", "hard_tanh", "--path", tmp_path)
    assert (again.code, "already exists" in again.stderr) == (2, True)


def test_the_written_files_pass_the_linters(tmp_path: Path) -> None:
    draft.write("hard_tanh", tmp_path)
    (meaning,) = (tmp_path / "ops").glob("*.py")
    programs = Path(sys.executable).parent
    for command in (["ruff", "check"], ["ruff", "format", "--check"], ["mypy", "--strict"]):
        subprocess.run([programs / command[0], *command[1:], meaning], cwd=ROOT, check=True)
    (kernel,) = tmp_path.rglob("*.cc")
    style = f"--style=file:{ROOT / '.clang-format'}"
    subprocess.run([programs / "clang-format", style, "--dry-run", "--Werror", kernel], check=True)


@pytest.mark.slow
def test_in_the_source_tree_its_tests_pass_as_it_stands(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """In a copy of the tree, so that this one stays as it is."""
    ignored = shutil.ignore_patterns("build", ".*", "__pycache__", "_runtime*")
    shutil.copytree(ROOT, tmp_path / "tree", ignore=ignored, symlinks=True)
    monkeypatch.setattr(resources, "root", lambda: tmp_path / "tree")
    monkeypatch.setattr(resources, "in_source_tree", lambda: True)
    files = draft.write("hard_tanh")
    assert [file.is_relative_to(tmp_path) for file in files] == [True] * 5
    script = "from tests.ops.case import cases_of; print(len(list(cases_of('hard_tanh'))))"
    done = subprocess.run(
        [sys.executable, "-c", script], cwd=tmp_path / "tree", env={"PYTHONPATH": str(tmp_path / "tree")},
        stdout=subprocess.PIPE, text=True, check=True,
    )  # fmt: skip
    assert int(done.stdout) >= 20


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("HardTanh", "write hard_tanh"),
        ("1st", "cannot name an operator"),
        ("a__b", "cannot name an operator"),
        ("../evil", "cannot name an operator"),
        ("relu", "already exists"),
    ],
)
def test_names_that_it_refuses(lathe: Lathe, tmp_path: Path, name: str, message: str) -> None:
    result = lathe("dev", "new-op", name, "--path", tmp_path)
    assert (result.code, message in result.stderr) == (2, True), result.stderr
    assert not any(tmp_path.iterdir())


def test_an_installed_lathe_is_not_changed(lathe: Lathe, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(resources, "in_source_tree", lambda: False)
    result = lathe("dev", "new-op", "hard_tanh")
    assert result.code == 4
    assert "--path" in result.stderr
