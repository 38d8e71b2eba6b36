"""What `make release` refuses: archives that lack files, trees with changes, Pythons that cannot be run.

The whole of it needs minutes and a package index; the workflow file runs it.
"""

from __future__ import annotations

import sys

import pytest
import yaml

from scripts import release
from tests.packaging.conftest import ROOT

TRACKED = [
    ".ci/run",
    "README.md",
    "buildtool/requests/runs.py",
    "buildtool/schemas/container.proto",
    "native/kernel/units.yaml",
    "native/ops/add/op.yaml",
    "tests/conftest.py",
]
SOURCE = [f"lathe_build-1.0/{name}" for name in ("PKG-INFO", *TRACKED[1:])]
WHEEL = [
    "buildtool/_resources/native/kernel/units.yaml",
    "buildtool/_resources/native/ops/add/op.yaml",
    "buildtool/requests/runs.py",
    "buildtool/schemas/container.proto",
    "buildtool/schemas/container_pb2.py",
]


def test_complete_archives_lack_nothing() -> None:
    assert release.missing_from_source(SOURCE, TRACKED) == []
    assert release.missing_from_wheel(WHEEL, TRACKED) == []


@pytest.mark.parametrize("name", WHEEL)
def test_a_file_that_a_wheel_lacks_is_named(name: str) -> None:
    assert release.missing_from_wheel([other for other in WHEEL if other != name], TRACKED) == [name]


@pytest.mark.parametrize("name", TRACKED[1:])
def test_a_file_that_the_source_archive_lacks_is_named(name: str) -> None:
    assert release.missing_from_source([other for other in SOURCE if not other.endswith(name)], TRACKED) == [name]


def test_the_version_is_that_of_the_package() -> None:
    import buildtool

    assert release.project_version() == buildtool.version()


def test_tracked_files_are_those_of_the_tree() -> None:
    tracked = release.tracked_files()
    assert {"pyproject.toml", "native/kernel/units.yaml"} <= set(tracked)
    assert not any("_pb2" in name for name in tracked)


def test_pythons_of_releases_are_those_of_the_workflow() -> None:
    workflow = yaml.safe_load((ROOT / ".github" / "workflows" / "test.yml").read_text())
    versions = workflow["jobs"]["test"]["strategy"]["matrix"]["python"]
    assert tuple(f"python{version}" for version in versions) == release.PYTHONS


def test_a_python_that_cannot_run_is_left_out_and_named(capsys: pytest.CaptureFixture[str]) -> None:
    (found,) = release.find_pythons(["no-such-python", sys.executable])
    assert found.version == f"{sys.version_info.major}.{sys.version_info.minor}"
    assert "no-such-python cannot be run: the wheel is not tried with it" in capsys.readouterr().err


def test_a_python_that_was_asked_for_has_to_be_there() -> None:
    with pytest.raises(release.ReleaseError, match="no-such-python cannot be run: install it, or name others"):
        release.find_pythons([sys.executable, "no-such-python"], required=True)


def test_a_tree_with_changes_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(release, "_run", lambda *_: " M native/runtime/engine.cc\n?? notes.txt\n")
    with pytest.raises(release.ReleaseError, match=r"2 files differ .* the first is 'native/runtime/engine.cc'"):
        release.refuse_changes()
    monkeypatch.setattr(release, "_run", lambda *_: "")
    release.refuse_changes()


def test_a_failing_command_shows_its_end() -> None:
    with pytest.raises(release.ReleaseError, match=r"counting failed with 3:\n(.|\n)*line 99"):
        release._run(["sh", "-c", "seq -f 'line %g' 0 99; exit 3"], "counting", ROOT)
