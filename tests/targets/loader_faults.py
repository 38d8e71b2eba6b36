"""Lets calls of dlopen and dlsym fail, one after the other, in a process of its own: the test tells what crashes there.

`run_apart` preloads a library that stands before the C library. It counts the calls that come from a library of Lathe,
from Python's ctypes or from programs, and answers one of them, and equal ones behind it, with nothing (dlopen without
a word in dlerror).
"""

from __future__ import annotations

import ctypes
import json
import os
import subprocess
import sys
from collections.abc import Callable
from contextlib import ExitStack
from pathlib import Path
from typing import Any

from buildtool.errors import LatheError
from buildtool.runtime import DeviceKind, DeviceOptions, Engine, Library
from tests.native_builds import ROOT

#: Variables: the call that fails (-1: none), and words in the names of files whose calls count.
AT, CALLERS = "LOADER_FAILS_AT", "LOADER_CALLERS"
_MOST = 200
_SECONDS = 300
SOURCE = r"""
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int calls, fails_at = -2;
static char failed[200];

const char* loader_failed(void) { return failed; }
void loader_begin(int at) { calls = 0, fails_at = at, failed[0] = 0; }

static void* find(const char* name) {
  void* found = dlvsym(RTLD_NEXT, name, "GLIBC_2.2.5");
  return found != NULL ? found : dlvsym(RTLD_NEXT, name, "GLIBC_2.34");
}

static int fails(const char* function, const char* what, void* caller) {
  Dl_info info;
  if (fails_at == -2) fails_at = getenv("LOADER_FAILS_AT") != NULL ? atoi(getenv("LOADER_FAILS_AT")) : -1;
  if (fails_at < 0 || dladdr(caller, &info) == 0 || info.dli_fname == NULL) return 0;
  const char* words = getenv("LOADER_CALLERS");
  char word[100];
  for (int used = 0; words != NULL && sscanf(words, " %99s%n", word, &used) == 1; words += used) {
    if (strstr(info.dli_fname, word) == NULL) continue;
    char call[200];
    const int is_symbol = strcmp(function, "dlsym") == 0;
    snprintf(call, sizeof(call), "%s %s", function, what != NULL ? what : "");
    if (calls++ == fails_at) strcpy(failed, call);
    // What fails goes on failing: other names of the same library are no way out.
    return failed[0] != 0 && strncmp(failed, call, is_symbol ? sizeof(call) : 6) == 0;
  }
  return 0;
}

void* dlopen(const char* name, int flags) {
  static void* (*next)(const char*, int);
  if (next == NULL) next = (void* (*)(const char*, int))find("dlopen");
  return fails("dlopen", name, __builtin_return_address(0)) ? NULL : next(name, flags);
}

void* dlsym(void* handle, const char* name) {
  static void* (*next)(void*, const char*);
  if (next == NULL) next = (void* (*)(void*, const char*))find("dlsym");
  // ctypes of Python 3.11 reads dlerror, and crashes where there is none.
  return next(handle, fails("dlsym", name, __builtin_return_address(0)) ? "lathe_no_such_function" : name);
}
"""


def shim(folder: Path) -> Path:
    """The library to be preloaded."""
    file = folder / "loader_shim.so"
    (folder / "loader_shim.c").write_text(SOURCE)
    subprocess.run(["gcc", "-O1", "-shared", "-fPIC", "-o", file, folder / "loader_shim.c", "-ldl"], check=True)
    return file


def run_apart(kind: str, preloaded: Path) -> list[dict[str, Any]]:
    """What came of each call that failed: `call`, and `device`, `reason` or `error`."""
    settings = {**os.environ, "LD_PRELOAD": str(preloaded), CALLERS: "/_ctypes. libgpu_kernels libdsp_kernels"}
    done = subprocess.run(
        [sys.executable, "-m", __name__, kind, preloaded],
        cwd=ROOT,
        env=settings,
        capture_output=True,
        text=True,
        timeout=_SECONDS,
        check=False,
    )
    assert done.returncode == 0, (done.returncode, done.stdout[-2000:], done.stderr[-4000:])
    return [json.loads(line) for line in done.stdout.splitlines()]


def _told(make: Callable[[], Engine], check: Callable[[Engine], None]) -> dict[str, Any]:
    try:
        engine = make()
    except LatheError as error:
        return {"error": str(error)}
    check(engine)
    return {"device": engine.device_info.on_device, "reason": engine.device_info.reason or ""}


def _gpu() -> Callable[[], dict[str, Any]]:
    from tests.targets.opencl.network import small_library, small_network

    network, library = small_network(), small_library()
    options = DeviceOptions(kind=DeviceKind.GPU)
    return lambda: _told(
        lambda: network.engine(Library(library.path, library.name), options),
        lambda engine: network.check(engine.run(network.inputs)),
    )


def _dsp(stack: ExitStack) -> Callable[[], dict[str, Any]]:
    from tests.targets.hexagon.network import small_library, small_network

    network, library = small_network(), small_library()
    stack.enter_context(library.on_simulator())

    def make() -> Engine:
        anew = Library(library.library.path, library.library.name)
        return anew.engine(
            model=network.model.model, data=network.model.data, threads=1, device=DeviceOptions(kind=DeviceKind.ANY)
        )

    return lambda: _told(make, lambda engine: network.check(engine.run(network.inputs)))


def main(kind: str, preloaded: str) -> None:
    loader = ctypes.CDLL(preloaded)
    loader.loader_failed.restype = ctypes.c_char_p
    with ExitStack() as stack:
        trial = _gpu() if kind == "gpu" else _dsp(stack)
        for at in range(_MOST):
            loader.loader_begin(at)
            told = trial()
            failed = loader.loader_failed().decode()
            sys.stdout.write(json.dumps({"call": failed, **told}) + "\n")
            sys.stdout.flush()
            if not failed:
                return
    raise AssertionError(f"more than {_MOST} calls")


if __name__ == "__main__":
    main(*sys.argv[1:])
