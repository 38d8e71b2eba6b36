"""Set-up acts only where something is missing, and says what it cannot mend."""

from __future__ import annotations

import shutil
from collections.abc import Iterable
from pathlib import Path

import pytest

from scripts import setup_environment as setup


@pytest.fixture
def commands(monkeypatch: pytest.MonkeyPatch) -> list[list[str]]:
    """What would have been run; everything succeeds."""
    seen: list[list[str]] = []

    def record(command: Iterable[str | Path], may_fail: bool = False) -> bool:
        seen.append([str(word) for word in command])
        return True

    monkeypatch.setattr(setup, "_run", record)
    monkeypatch.setattr(shutil, "which", lambda name: f"/usr/bin/{name}")
    return seen


def _have_all_but(monkeypatch: pytest.MonkeyPatch, *missing: str) -> None:
    monkeypatch.setattr(setup, "_installed_debian_packages", lambda names: set(names) - set(missing))


def test_nothing_missing_runs_nothing(commands: list[list[str]], monkeypatch: pytest.MonkeyPatch) -> None:
    _have_all_but(monkeypatch)
    setup.install_debian_packages()
    assert commands == []


def test_root_installs_exactly_what_is_missing(commands: list[list[str]], monkeypatch: pytest.MonkeyPatch) -> None:
    _have_all_but(monkeypatch, "qemu-user", "lld-19")
    monkeypatch.setattr(setup, "_root_prefix", list)
    setup.install_debian_packages()
    assert commands[0][-1] == "update"
    assert commands[1][-2:] == ["qemu-user", "lld-19"]


def test_a_user_goes_through_sudo(commands: list[list[str]], monkeypatch: pytest.MonkeyPatch) -> None:
    _have_all_but(monkeypatch, "make")
    monkeypatch.setattr(setup, "_root_prefix", lambda: ["sudo", "-n"])
    setup.install_debian_packages()
    assert all(command[:2] == ["sudo", "-n"] for command in commands)


def test_without_root_the_message_says_what_to_do(commands: list[list[str]], monkeypatch: pytest.MonkeyPatch) -> None:
    _have_all_but(monkeypatch, "qemu-user")
    monkeypatch.setattr(setup, "_root_prefix", lambda: None)
    with pytest.raises(setup.SetupError, match="runs the libraries for ARM and RISC-V on the host") as caught:
        setup.install_debian_packages()
    assert "apt-get install qemu-user" in str(caught.value)
    assert commands == []


def _stamps_of(tree: Path, monkeypatch: pytest.MonkeyPatch) -> dict[str, str]:
    """What set-up writes down for a tree in which everything is installed anew."""
    written: dict[str, str] = {}
    monkeypatch.setattr(setup, "ROOT", tree)
    monkeypatch.setattr(setup, "_stamp", lambda name: "")
    monkeypatch.setattr(setup, "_write_stamp", written.__setitem__)
    monkeypatch.setattr(setup, "_build_requirements", list)
    setup.install_python_packages()
    return written


def test_a_new_target_is_installed_without_new_requirements(
    commands: list[list[str]], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    text = (Path(__file__).parents[2] / "pyproject.toml").read_text(encoding="utf-8")
    (tmp_path / "pyproject.toml").write_text(text, encoding="utf-8")
    before = _stamps_of(tmp_path, monkeypatch)
    line = '[project.entry-points."lathe.targets"]\n'
    assert line in text
    more = text.replace(line, line + 'mine = "mine:TARGET"\n')
    (tmp_path / "pyproject.toml").write_text(more, encoding="utf-8")
    after = _stamps_of(tmp_path, monkeypatch)
    assert after["build"] != before["build"]
    assert after["requirements"] == before["requirements"]


def test_settings_of_linters_are_no_requirements() -> None:
    tables = setup._requirement_tables()
    assert "grpcio-tools" in tables
    assert "scikit-learn" in tables
    assert "[tool.ruff" not in tables
