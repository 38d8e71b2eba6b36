"""What is kept between builds, how room is made, and that builds at the same time are safe."""

from __future__ import annotations

import os
import subprocess
import sys
import threading
import time
from pathlib import Path

import pytest

from buildtool.builders import cache
from buildtool.builders.objects import ObjectCache
from buildtool.errors import BuildError

BUILD = """
import sys
from pathlib import Path
from buildtool.builders.objects import ObjectCache, Unit
from buildtool.builders.toolchain import probe
from buildtool.codegen.native_sources import NativeSources
files = {f"native/ops/a/{name}.cc": f"extern int {name};\\nint {name} = 1;\\n".encode() for name in "abcdef"}
units = [Unit(path) for path in files]
store = ObjectCache(Path(sys.argv[1]))
objects = store.objects(probe("host"), NativeSources.of_tree(files), units)
assert all(path.is_file() for path in objects.paths.values())
print(len(objects.compiled))
"""


def put(folder: Path, name: str, size: int, days: float) -> Path:
    """An object that was last used so many days ago."""
    path = folder / "objects" / name[:2] / f"{name}.o"
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(b"\0" * size)
    moment = time.time() - days * 86400
    os.utime(path, (moment, moment))
    return path


def test_pruning_removes_objects_that_were_not_used_for_long(tmp_path: Path) -> None:
    old, new = put(tmp_path, "aa1", 10, 31), put(tmp_path, "bb2", 20, 29)
    assert cache.prune(tmp_path, days=30, most=None) == cache.Pruned(1, 10)
    assert (old.exists(), new.exists()) == (False, True)


def test_the_longest_unused_goes_until_it_fits(tmp_path: Path) -> None:
    paths = [put(tmp_path, f"aa{days}", 100, days) for days in (1, 3, 2)]
    assert cache.prune(tmp_path, days=30, most=200).bytes == 100
    assert [path.exists() for path in paths] == [True, False, True]


def test_use_is_noted_without_touching_what_linkers_look_at(tmp_path: Path) -> None:
    done = subprocess.run([sys.executable, "-c", BUILD, tmp_path], text=True, capture_output=True, check=True)
    assert done.stdout.split() == ["6"]
    paths = list(tmp_path.glob("objects/*/*.o"))
    moment = time.time() - 40 * 86400
    for path in paths:
        os.utime(path, (moment, moment))
    assert subprocess.run([sys.executable, "-c", BUILD, tmp_path], check=False).returncode == 0
    assert all(abs(path.stat().st_mtime - moment) < 1 for path in paths)
    assert cache.prune(tmp_path, days=30, most=None).entries == 0


def test_nothing_goes_while_a_build_uses_the_cache(tmp_path: Path) -> None:
    kept = put(tmp_path, "aa1", 10, 99)
    user = ObjectCache(tmp_path)
    user.use()
    with pytest.raises(BuildError, match="builds are using the cache"):
        cache.prune(tmp_path, days=30, most=None, wait=0.0)
    assert kept.exists()
    del user
    assert cache.prune(tmp_path, days=30, most=None, wait=0.0).entries == 1


@pytest.mark.slow
def test_builds_and_pruning_at_the_same_time(tmp_path: Path) -> None:
    """Whatever goes, each build has all of its objects in the end."""
    stop = threading.Event()

    def prune() -> None:
        while not stop.is_set():
            cache.prune(tmp_path, days=0, most=None)
            time.sleep(0.05)

    pruner = threading.Thread(target=prune)
    pruner.start()
    try:
        command = [sys.executable, "-c", BUILD, str(tmp_path)]
        builds = [subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE) for _ in range(2)]
        ends = [(build.communicate()[1].decode(), build.returncode) for build in builds]
    finally:
        stop.set()
        pruner.join()
    assert ends == [("", 0), ("", 0)]


def test_sizes_are_written_as_people_write_them() -> None:
    assert [cache.size_of(text) for text in ("12", "2K", "1.5M", "2GiB", "1 GB")] == [12, 2048, 1572864, 2**31, 2**30]
