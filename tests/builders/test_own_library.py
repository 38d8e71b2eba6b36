"""Small libraries for Lathe's own use."""

from __future__ import annotations

import ctypes
from pathlib import Path

import pytest

from buildtool.builders.objects import ObjectCache
from buildtool.builders.own_library import own_library
from buildtool.errors import BuildError

SOURCE = """#include "seven.h"
__attribute__((visibility("default"))) int answer(void) { return SEVEN * 6; }
"""


def built(folder: Path, cache: ObjectCache, *, for_this_cpu: bool = False) -> Path:
    files = [folder / "answer.c", folder / "seven.h"]
    return own_library(cache, "answer", files, ["-O1"], "compiling", for_this_cpu=for_this_cpu)


@pytest.fixture
def sources(tmp_path: Path) -> Path:
    (tmp_path / "answer.c").write_text(SOURCE)
    (tmp_path / "seven.h").write_text("#define SEVEN 7\n")
    return tmp_path


def test_a_library_is_compiled_once(sources: Path) -> None:
    cache = ObjectCache(sources / "cache")
    library = built(sources, cache)
    assert ctypes.CDLL(str(library)).answer() == 42
    compiled = len(cache.processes.commands)
    assert built(sources, cache) == library
    assert len(cache.processes.commands) == compiled
    # for the processor, and of another header: other libraries
    assert built(sources, cache, for_this_cpu=True) != library
    (sources / "seven.h").write_text("#define SEVEN 8\n")
    other = built(sources, cache)
    assert other != library
    assert ctypes.CDLL(str(other)).answer() == 48


def test_nothing_is_left_of_what_does_not_compile(sources: Path) -> None:
    (sources / "answer.c").write_text("int answer(void) { return }\n")
    cache = ObjectCache(sources / "cache")
    with pytest.raises(BuildError, match="compiling failed"):
        built(sources, cache)
    assert not [path for path in (sources / "cache").rglob("*") if path.is_file() and path.suffix != ".lock"]
