"""Folders that are filled once per run, whichever worker asks first."""

from __future__ import annotations

import threading
import time
from pathlib import Path

import pytest

from tests.shared_folders import filled_once, run_folder


@pytest.fixture
def worker(
    tmp_path: Path, tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch
) -> pytest.TempPathFactory:
    """What a worker of pytest-xdist has: a folder of its own in that of the run."""
    monkeypatch.setenv("PYTEST_XDIST_WORKER", "gw0")
    own = tmp_path / "run" / "gw0"
    own.mkdir(parents=True)
    monkeypatch.setattr(tmp_path_factory, "getbasetemp", lambda: own)
    return tmp_path_factory


def test_workers_share_the_folder_of_the_run(worker: pytest.TempPathFactory, tmp_path: Path) -> None:
    assert run_folder(worker) == tmp_path / "run"


def test_workers_that_ask_at_the_same_time_fill_it_once(worker: pytest.TempPathFactory) -> None:
    filled: list[Path] = []

    def fill(folder: Path) -> None:
        filled.append(folder)
        time.sleep(0.05)
        (folder / "file").write_text("whole")

    found: list[str] = []
    asking = [
        threading.Thread(target=lambda: found.append((filled_once(worker, "made", fill) / "file").read_text()))
        for _ in range(3)
    ]
    for thread in asking:
        thread.start()
    for thread in asking:
        thread.join()
    assert found == ["whole"] * 3
    assert len(filled) == 1


def test_leftovers_of_a_failure_are_removed_and_filled_again(worker: pytest.TempPathFactory) -> None:
    def broken(folder: Path) -> None:
        (folder / "half").touch()
        raise OSError("no space")

    with pytest.raises(OSError, match="no space"):
        filled_once(worker, "made", broken)
    folder = filled_once(worker, "made", lambda folder: (folder / "file").touch())
    assert [item.name for item in folder.iterdir()] == ["file"]
