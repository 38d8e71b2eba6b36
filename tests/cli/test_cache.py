"""`lathe cache` and `lathe where`."""

from __future__ import annotations

from pathlib import Path

import pytest

from buildtool import resources
from buildtool.errors import ConfigError
from tests.builders.test_cache import put
from tests.cli.conftest import Lathe


def test_the_command_shows_and_prunes(lathe: Lathe, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("LATHE_CACHE_DIR", str(tmp_path))
    put(tmp_path, "aa1", 10, 99)
    put(tmp_path, "bb1", 20, 1)
    shown = lathe("cache", "--json").document
    assert shown["kinds"]["objects"]["entries"] == 2
    assert shown["bytes"] == 30
    pruned = lathe("cache", "--prune", "--json").document
    assert pruned["removed"] == {"entries": 1, "bytes": 10}
    assert lathe("cache", "--prune", "--all", "--json").document["bytes"] == 0
    assert lathe("cache", "--all").code == ConfigError.exit_code
    assert lathe("cache", "--prune", "--max-size", "much").code == ConfigError.exit_code


def test_the_paths_of_the_parts_are_printed(lathe: Lathe) -> None:
    assert lathe("where", "cmake").stdout == f"{resources.cmake_dir()}\n"
    assert (Path(lathe("where", "include", "--json").document["folder"]) / "lathe" / "engine.h").is_file()
    assert (Path(lathe("where", "examples", "--json").document["folder"]) / "vision" / "image.h").is_file()
    assert lathe("where", "nothing").code == ConfigError.exit_code
