"""Whether this machine has a jail."""

from __future__ import annotations

import functools
from pathlib import Path

import pytest

from buildtool import jail


@functools.cache
def why_none() -> str:
    """Why it has none; empty where it has one."""
    try:
        jail.run(Path(__file__).with_name("nothing.py"), [], read=[], write=[])
    except jail.NoJailError as problem:
        return str(problem)
    return ""


needs_jail = pytest.mark.skipif(bool(why_none()), reason=f"no jail on this machine: {why_none()}")
