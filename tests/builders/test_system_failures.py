"""Calls of the system that fail while a library runs: threads that sleep and wake, and clocks."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

import numpy as np
import pytest

from buildtool.builders.objects import ObjectCache
from buildtool.builders.runner import shared_runner
from buildtool.ir.graph import Graph
from tests.builders.conftest import Build, source
from tests.plan.graphs import add_input, apply, make

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
