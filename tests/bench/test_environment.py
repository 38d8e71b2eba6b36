"""What is installed for the peers, and what is left out: with a pip that only pretends."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.bench.peers import environment


@pytest.fixture
def asked(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The requirements that pip was asked for; it has `there` in any version, and `old` in another one only."""
    found: list[str] = []

    def pip(_: Path, requirement: str) -> str:
        found.append(requirement)
        return "" if requirement.startswith("there") or requirement == "old" else f"{requirement} cannot be installed"

    monkeypatch.setattr(environment, "_pip", pip)
    return found


def test_installed_packages_are_not_installed_again(asked: list[str]) -> None:
    assert environment._install(Path("python"), ("there==1", "numpy<2.5"), {"there": "1", "numpy": "2.4"}) == ""
    assert asked == []


def test_another_version_is_better_than_none(asked: list[str]) -> None:
    assert environment._install(Path("python"), ("there==2", "old==3"), {"there": "1"}) == ""
    assert asked == ["there==2", "old==3", "old"]


def test_packages_that_no_index_has_are_left_out(asked: list[str]) -> None:
    assert environment._install(Path("python"), ("gone==1",), {}) == "gone cannot be installed"
    assert asked == ["gone==1", "gone"]
