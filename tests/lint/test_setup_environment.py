"""Set-up acts only where something is missing, and says what it cannot mend."""

from __future__ import annotations

import re
import shutil
from collections.abc import Iterable
from pathlib import Path

import pytest
from packaging.requirements import Requirement

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
    monkeypatch.setattr(setup, "build_requirements", list)
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


def test_locked_packages_are_installed_by_hash_and_once(
    commands: list[list[str]], monkeypatch: pytest.MonkeyPatch
) -> None:
    stamps: dict[str, str] = {}
    monkeypatch.setattr(setup, "_stamp", lambda name: stamps.get(name, ""))
    monkeypatch.setattr(setup, "_write_stamp", stamps.__setitem__)
    monkeypatch.setattr(setup, "BUILD_PRODUCTS", ())
    monkeypatch.setattr(setup, "_generated_schemas_exist", lambda: True)
    setup.install_python_packages(locked=True)
    packages, lathe = commands
    assert {"--require-hashes", "--no-deps", str(setup.LOCK)} <= set(packages)
    assert {"--no-index", "--no-deps"} <= set(lathe)
    setup.install_python_packages(locked=True)
    setup.install_python_packages()  # `make test` runs `make setup`
    assert len(commands) == 2
    stamps["lock"] = ""  # what an environment of before has
    setup.install_python_packages(locked=True)
    assert len(commands) == 4


def _locked() -> dict[str, list[tuple[Requirement, list[str]]]]:
    """The entries of the lock by name, each with its hashes."""
    found: dict[str, list[tuple[Requirement, list[str]]]] = {}
    for entry in re.split(r"\n(?=\S)", setup.LOCK.read_text(encoding="utf-8").strip()):
        first, *hashes = entry.replace("\\\n", "\n").splitlines()
        requirement = Requirement(first.strip())
        found.setdefault(requirement.name, []).append((requirement, [line.strip() for line in hashes]))
    return found


def test_the_lock_has_what_is_required_each_with_hashes() -> None:
    locked = _locked()
    for entries in locked.values():
        for requirement, hashes in entries:
            assert [item.operator for item in requirement.specifier] == ["=="], requirement
            assert hashes and all(re.fullmatch(r"--hash=sha256:[0-9a-f]{64}", line) for line in hashes), requirement
    text = (setup.ROOT / "pyproject.toml").read_text(encoding="utf-8")
    extras = [re.search(rf"^{extra} = \[(.*?)\]\n", text, re.MULTILINE | re.DOTALL) for extra in setup.EXTRAS]
    wanted = [item for extra in extras for item in re.findall(r'"([^"]+)"', extra[1] if extra else "")]
    assert len(wanted) > 15
    for requirement in map(Requirement, [*wanted, *setup.build_requirements()]):
        versions = [item.version for entry, _ in locked[requirement.name.lower()] for item in entry.specifier]
        assert versions and all(requirement.specifier.contains(version) for version in versions), requirement


def test_actions_of_others_are_named_by_their_commit() -> None:
    workflows = list((setup.ROOT / ".github" / "workflows").glob("*.yml"))
    assert workflows
    used = [line for file in workflows for line in file.read_text().splitlines() if "uses:" in line]
    assert used and all(re.search(r"uses: \S+@[0-9a-f]{40} # v[\d.]+$", line) for line in used), used
