"""Locks its own process up, then runs a script in it: `python inside.py ORDER SCRIPT ARGUMENT...`.

Run as a script by `buildtool.jail`, with the Python that the script needs; it imports nothing of Lathe. ORDER is a JSON
object: `read` and `write`, lists of paths; `limits`, numbers by the names of `resource`; `pid` of who started this;
`ready`, a file descriptor that gets one byte when the jail stands. Where none can be had, the exit code is 1, and the
last line on stderr says why; the script has not been touched then.

Three locks of the kernel hold each other up. Landlock leaves no files but those of the order and of Python itself.
The filter of system calls leaves neither new processes nor new programs, so that limits of one process are limits of
all; it leaves no sockets, no signals to others, and no change of owners, modes, times or limits.
"""

from __future__ import annotations

import ctypes
import json
import os
import resource
import runpy
import signal
import struct
import sys
import tempfile
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parent))
from system_calls import program  # type: ignore[import-not-found]

_NO_NEW_PRIVILEGES, _SECCOMP, _FILTER, _DEATH_SIGNAL = 38, 22, 2, 1
_CREATE_RULESET, _ADD_RULE, _RESTRICT_SELF = 444, 445, 446  # Landlock's system calls, on all machines alike
_ASK_VERSION, _BENEATH = 1, 1
_WRITE_FILE, _READ_FILE, _READ_DIR, _TRUNCATE = 1 << 1, 1 << 2, 1 << 3, 1 << 14
_RIGHTS = {1: 13, 2: 14, 3: 15, 4: 15}  # how many rights over files the versions of Landlock know; later ones: 16
_NETWORK, _SCOPES = 3, 3  # bind and connect; abstract sockets and signals

#: What programs read of a system that tells nothing of its user.
_SYSTEM = (
    "/lib", "/lib64", "/usr/lib", "/usr/lib32", "/usr/lib64", "/usr/local/lib", "/usr/share/locale",
    "/usr/share/zoneinfo", "/nix/store", "/gnu/store", "/etc/ld.so.cache", "/etc/localtime", "/dev/urandom",
    "/proc/cpuinfo", "/proc/meminfo", "/proc/self", "/sys/devices/system/cpu", "/sys/devices/system/node",
)  # fmt: skip


class NoJailError(Exception):
    """Why there is no jail."""


def main() -> None:
    order: dict[str, Any] = json.loads(sys.argv[1])
    script = Path(sys.argv[2])
    try:
        _lock(order, script)
    except (NoJailError, OSError, ValueError) as problem:
        sys.exit(f"{problem}")
    os.write(order["ready"], b"1")
    os.close(order["ready"])
    sys.argv = sys.argv[2:]
    if sys.flags.isolated:
        del sys.path[0]
    else:
        sys.path[0] = str(script.parent)
    tempfile.tempdir = str(Path.cwd())  # it would look for a folder in which it can write
    runpy.run_path(str(script), run_name="__main__")


def _lock(order: dict[str, Any], script: Path) -> None:
    libc = ctypes.CDLL(None, use_errno=True)
    libc.prctl(_DEATH_SIGNAL, signal.SIGKILL, 0, 0, 0)
    if os.getppid() != order["pid"]:
        raise NoJailError("the parent process has ended")
    for name, most in order["limits"].items():
        _limit(getattr(resource, name), most)
    if libc.prctl(_NO_NEW_PRIVILEGES, 1, 0, 0, 0):
        raise NoJailError("the kernel does not support no_new_privs")
    _lock_files(libc, [*_of_python(), script.parent, *order["read"]], ["/dev/null", *order["write"]])
    _lock_calls(libc)
    _try()


def _limit(kind: int, most: int) -> None:
    """At most this; the signal of the processor's time comes a second before the end that cannot be put off."""
    _, hard = resource.getrlimit(kind)
    bound = most if hard == resource.RLIM_INFINITY else min(most, hard)
    last = bound + 1 if kind == resource.RLIMIT_CPU and bound == most != hard else bound
    resource.setrlimit(kind, (bound, last))


def _of_python() -> list[str]:
    """Where Python, its packages and their libraries are."""
    roots = {sys.prefix, sys.base_prefix, sys.exec_prefix, sys.base_exec_prefix}
    paths = {path for path in sys.path if Path(path).name.endswith("-packages")} | roots
    for variable in ("LD_LIBRARY_PATH", *(() if sys.flags.isolated else ("PYTHONPATH",))):
        paths |= {path for path in os.environ.get(variable, "").split(":") if path}
    return [*_SYSTEM, *sorted(path for path in paths if len(Path(path).resolve().parts) > 1)]


def _lock_files(libc: Any, readable: list[Any], writable: list[str]) -> None:
    version = libc.syscall(_CREATE_RULESET, None, 0, _ASK_VERSION)
    if version < 1:
        raise NoJailError("the kernel has no Landlock, or it is switched off")
    handled = [(1 << _RIGHTS.get(version, 16)) - 1]
    handled += [_NETWORK] if version >= 4 else []
    handled += [_SCOPES] if version >= 6 else []
    attributes = struct.pack(f"={len(handled)}Q", *handled)
    rules = libc.syscall(_CREATE_RULESET, attributes, len(attributes), 0)
    if rules < 0:
        raise NoJailError(f"Landlock cannot create a ruleset: {os.strerror(ctypes.get_errno())}")
    for path in readable:
        _allow(libc, rules, str(path), _READ_FILE | _READ_DIR)
    for path in writable:
        _allow(libc, rules, path, (_READ_FILE | _WRITE_FILE | _TRUNCATE) & handled[0])
    if libc.syscall(_RESTRICT_SELF, rules, 0):
        raise NoJailError(f"Landlock does not restrict this process: {os.strerror(ctypes.get_errno())}")
    os.close(rules)


def _allow(libc: Any, rules: int, path: str, rights: int) -> None:
    """What is not there need not be allowed."""
    try:
        place = os.open(path, os.O_PATH | os.O_CLOEXEC)
    except OSError:
        return
    if not Path(path).is_dir():
        rights &= ~_READ_DIR
    if libc.syscall(_ADD_RULE, rules, _BENEATH, struct.pack("=Qi", rights, place), 0):
        raise NoJailError(f"Landlock rejects the rule for {path}: {os.strerror(ctypes.get_errno())}")
    os.close(place)


def _lock_calls(libc: Any) -> None:
    filters = program(os.uname().machine, os.getpid())
    if filters is None:
        raise NoJailError(f"the system call numbers of {os.uname().machine} are unknown")
    held = ctypes.create_string_buffer(filters, len(filters))
    described = struct.pack("@HP", len(filters) // 8, ctypes.addressof(held))
    if libc.prctl(_SECCOMP, _FILTER, described, 0, 0):
        raise NoJailError(f"the kernel rejects the system call filter: {os.strerror(ctypes.get_errno())}")


def _try() -> None:
    """A jail that does not hold is none."""
    try:
        os.close(os.open("/", os.O_RDONLY))
    except OSError:
        pass
    else:
        raise NoJailError("Landlock does not prevent reading the root folder")
    try:
        child = os.fork()
    except OSError:
        return
    if child == 0:
        os._exit(0)
    raise NoJailError("the system call filter does not prevent new processes")


if __name__ == "__main__":
    main()
