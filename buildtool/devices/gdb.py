"""Finds gdb, tells it where everything is, and lets a person talk to it."""

from __future__ import annotations

import shlex
import shutil
import signal
import subprocess
import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

from buildtool.devices.device import Gate
from buildtool.devices.programs import machine_for
from buildtool.errors import DeviceError, RunError, ToolchainError

_ARCHITECTURES = {"aarch64": "aarch64", "arm": "arm", "x86_64": "i386:x86-64", "riscv": "riscv"}  # as gdb calls them


def find(abi: str, wanted: str = "") -> str:
    """A gdb that knows the processor of an ABI. ToolchainError where there is none."""
    machine = machine_for(abi)
    for word in [wanted] if wanted else ["gdb-multiarch", f"{abi}-gdb", "gdb"]:
        program = shutil.which(word)
        if program and _knows(program, _ARCHITECTURES.get(machine, machine)):
            return program
    if wanted:
        raise ToolchainError(f"'{wanted}' is not a gdb that supports {machine}", remedy="remove --gdb, or name another")
    raise ToolchainError(f"no installed gdb supports {machine}", remedy="install one: apt-get install gdb-multiarch")


def _knows(program: str, architecture: str) -> bool:
    words = [program, "-nx", "-batch", "-ex", f"set architecture {architecture}", "-ex", "show architecture"]
    try:
        done = subprocess.run(words, stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=30, check=False)
    except (OSError, subprocess.TimeoutExpired):
        return False
    return f'"{architecture}"' in done.stdout


def script(gate: Gate, program: Path, library: Path, symbol: str, sources: Sequence[Path]) -> str:
    """What gdb does first: it lets the program run until it has loaded the library."""
    lines = ["# Written by `lathe debug`: the program runs until it has loaded the library.", "set confirm off"]
    lines += ["set breakpoint pending on", *(f"directory {_quoted(folder)}" for folder in sources)]
    lines += [f"set sysroot {gate.sysroot}"] if gate.sysroot else []
    lines += [f"set solib-search-path {library.parent}", f"file {_quoted(program)}"]
    if gate.target:
        lines.append(f"target remote {gate.target}")
    else:
        lines += [f"set args {shlex.join(gate.command[1:])}", "starti"]
    return "\n".join([*lines, f"tbreak {symbol}", "continue"]) + "\n"


def _quoted(path: Path) -> str:
    """A path as gdb's commands take it."""
    return '"' + str(path).replace("\\", "\\\\").replace('"', '\\"') + '"'


def command(program: str, file: Path, commands: Sequence[str], *, batch: bool) -> list[str]:
    """What starts gdb with its script and further commands."""
    words = [program, "-q", *(["-batch"] if batch else []), "-x", str(file)]
    return [*words, *(word for text in commands for word in ("-ex", text))]


def talk(words: Sequence[str]) -> None:
    """Run gdb for whoever sits here. RunError where it ends with something else than success."""
    with _deaf():
        try:
            process = subprocess.Popen(list(words))
        except OSError as problem:
            raise DeviceError(f"'{words[0]}' cannot be started: {problem.strerror or problem}") from problem
        try:
            code = process.wait()
        finally:
            if process.poll() is None:
                process.kill()
                process.wait()
    if code:
        raise RunError(f"gdb ended with exit code {code}", remedy="see its messages above")


@contextmanager
def _deaf() -> Iterator[None]:
    """Ctrl-C is for gdb, which interrupts the program."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    before = signal.signal(signal.SIGINT, lambda *_: None)  # a handler, because gdb would inherit that it is ignored
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, before)
