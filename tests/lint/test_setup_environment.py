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
    with pytest.raises(setup.SetupError, match="runs the ARM libraries on the host") as caught:
        setup.install_debian_packages()
    assert "apt-get install qemu-user" in str(caught.value)
    assert commands == []


def test_settings_of_linters_are_no_requirements() -> None:
    tables = setup._requirement_tables()
    assert "grpcio-tools" in tables
    assert "scikit-learn" in tables
    assert "[tool.ruff" not in tables
