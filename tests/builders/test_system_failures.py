"""Calls of the system that fail while a library runs: threads that sleep and wake, clocks, dlopen."""

from __future__ import annotations

import json
import os
import subprocess
from pathlib import Path

import numpy as np
import pytest

from buildtool.builders.objects import ObjectCache
from buildtool.builders.runner import shared_runner
from buildtool.ir.graph import Graph
from tests.builders.conftest import Build, relu_network, source
from tests.plan.graphs import add_input, apply, make
from tests.targets import loader_faults

#: Goes before the C library: SYSTEM names what fails, and every EVERY-th call does.
_SHIM = r"""
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

static int fails(const char* what) {
  static int calls;
  const char* wanted = getenv("SYSTEM");
  if (wanted == NULL || strcmp(wanted, what) != 0) return 0;
  return __atomic_add_fetch(&calls, 1, __ATOMIC_RELAXED) % atoi(getenv("EVERY")) == 0;
}

static void tell(const char* what) {
  static int told;
  if (__atomic_fetch_add(&told, 1, __ATOMIC_RELAXED) == 0 && write(2, what, strlen(what)) < 0) _exit(9);
}

long syscall(long number, ...) {
  static long (*next)(long, ...);
  if (next == NULL) next = (long (*)(long, ...))dlsym(RTLD_NEXT, "syscall");
  long a[6];
  va_list list;
  va_start(list, number);
  for (int i = 0; i < 6; ++i) a[i] = va_arg(list, long);
  va_end(list);
  if (number == SYS_futex && (fails("refused") || fails("interrupted"))) {
    tell("futex failed\n");
    errno = strcmp(getenv("SYSTEM"), "refused") == 0 ? ENOSYS : EINTR;
    return -1;
  }
  return next(number, a[0], a[1], a[2], a[3], a[4], a[5]);
}

int clock_gettime(clockid_t clock, struct timespec* now) {
  if (fails("clock")) {
    tell("clock failed\n");
    errno = EINVAL;
    return -1;
  }
  return (int)syscall(SYS_clock_gettime, clock, now);
}
"""


@pytest.fixture(scope="module")
def shim(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("shim")
    (folder / "shim.c").write_text(_SHIM)
    library = folder / "shim.so"
    subprocess.run(["gcc", "-O1", "-shared", "-fPIC", "-o", library, folder / "shim.c", "-ldl"], check=True)
    return library


@pytest.mark.parametrize(
    ("system", "every"),
    # Who is not woken sleeps for ever: a futex that is refused is refused to those that sleep, too.
    [("refused", 1), ("clock", 1), ("clock", 3)],
)
def test_results_do_not_depend_on_calls_that_fail(
    build: Build, cache: ObjectCache, shim: Path, tmp_path: Path, system: str, every: int
) -> None:
    graph = Graph(name="act")
    graph.outputs.append(apply(graph, make("sigmoid"), add_input(graph, "x", (400, 1000)), name="act"))
    built = build(source("one", [graph], code=True), "host", owner="runner")
    given, found = tmp_path / "x.bin", tmp_path / "y.bin"
    x = np.random.default_rng(1).normal(size=(400, 1000)).astype(np.float32)
    x.tofile(given)
    words = [shared_runner("host", cache), "--library", built.shared, "--symbol", "lathe_api_one", "--threads", 2]
    words += ["--input", f"x={given}", "--output", f"{graph.outputs[0].name}={found}", "--rounds", 20]
    environment = {**os.environ, "LD_PRELOAD": str(shim), "SYSTEM": system, "EVERY": str(every)}
    done = subprocess.run(
        [str(word) for word in words], env=environment, capture_output=True, text=True, check=False, timeout=60
    )
    assert done.returncode == 0, done.stderr
    assert f"{'clock' if system == 'clock' else 'futex'} failed" in done.stderr
    np.testing.assert_allclose(np.fromfile(found, np.float32).reshape(x.shape), 1 / (1 + np.exp(-x)), rtol=1e-5)


def test_times_are_nothing_without_a_clock(build: Build, cache: ObjectCache, shim: Path, tmp_path: Path) -> None:
    built = build(source("one", [relu_network()], code=True), "host", owner="runner")
    words = [shared_runner("host", cache), "--library", built.shared, "--symbol", "lathe_api_one", "--profile"]
    environment = {**os.environ, "LD_PRELOAD": str(shim), "SYSTEM": "clock", "EVERY": "1"}
    done = subprocess.run(
        [*map(str, words), "--json", "-"], env=environment, capture_output=True, text=True, check=True, timeout=60
    )
    assert "clock failed" in done.stderr
    (node,) = json.loads(done.stdout)["nodes"]
    assert {key: number for key, number in node.items() if key.endswith("_ns") and number} == {}, node


def test_loading_that_fails_has_a_message(build: Build, cache: ObjectCache, tmp_path: Path) -> None:
    """Where dlerror is silent, too."""
    built = build(source("one", [relu_network()], code=True), "host", owner="runner")
    words = [str(shared_runner("host", cache)), "--library", str(built.shared), "--symbol", "lathe_api_one"]
    settings = {**os.environ, "LD_PRELOAD": str(loader_faults.shim(tmp_path)), loader_faults.CALLERS: "lathe_run"}
    for at, told in enumerate((f"cannot load the library: {built.shared}", "no function 'lathe_api_one'", "")):
        settings[loader_faults.AT] = str(at)
        done = subprocess.run(words, env=settings, capture_output=True, text=True, check=False)
        assert done.returncode >= 0, (at, done.stderr)
        assert bool(done.returncode) == bool(told)
        assert told in done.stderr
