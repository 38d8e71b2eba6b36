"""What all tests rely on."""

from __future__ import annotations

import os
import signal
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import HealthCheck, settings

# How long a draw takes says nothing on a busy machine: the first one of a process reads the constants of all modules.
settings.register_profile("tests", deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.load_profile("tests")

# A shell that starts the tests in the background makes them, and every program they start, deaf to Ctrl-C.
if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)

# Python's readline, which pytest loads, leaves the size of the terminal to the workers: tables would be fitted into it.
for _name in ("COLUMNS", "LINES"):
    os.environ.pop(_name, None)

# Warnings of our own sources are errors here; users have other compilers, which warn of other things.
os.environ.setdefault("LATHE_WARNINGS_AS_ERRORS", "1")

# PoCL, also where there is a GPU: what a test expects of memory and times is what PoCL does. For a GPU, say so here.
if Path("/etc/OpenCL/vendors/pocl.icd").is_file():
    os.environ.setdefault("OCL_ICD_VENDORS", "/etc/OpenCL/vendors/pocl.icd")

# A test runs an OpenCL program once: LLVM takes longer to optimise it than that saves, and PoCL can do without.
os.environ.setdefault("POCL_EXTRA_BUILD_FLAGS", "-cl-opt-disable")

_STARTED = pytest.StashKey[float]()


def _processor_seconds() -> float:
    """What this process and the programs that it has started and waited for have used."""
    times = os.times()
    return times.user + times.system + times.children_user + times.children_system


@pytest.hookimpl(wrapper=True, tryfirst=True)
def pytest_runtest_setup(item: pytest.Item) -> Iterator[None]:
    item.stash[_STARTED] = _processor_seconds()
    return (yield)


@pytest.hookimpl(wrapper=True, trylast=True)
def pytest_runtest_teardown(item: pytest.Item) -> Iterator[None]:
    """For `make test-times`: the clock on the wall says little on a busy machine."""
    result = yield
    item.user_properties.append(("processor_seconds", f"{_processor_seconds() - item.stash[_STARTED]:.3f}"))
    return result
