"""A folder that makes a part of this machine a device: another processor by qemu, another home, another lock."""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path

# The device's programs start through `setsid sh -c SCRIPT NAME PROGRAM ...`: that is where the emulator gets in.
_SETSID = """\
#!/bin/sh
case "$1" in sh) ;; *) exec /usr/bin/setsid "$@" ;; esac
script=$3 name=$4 program=$5
shift 5
case $(od -An -tx1 -j18 -N1 "$program" 2>/dev/null) in
*b7) set -- qemu-aarch64 -L /usr/aarch64-linux-gnu -cpu max "$program" "$@" ;;
*28) set -- qemu-arm -L /usr/arm-linux-gnueabihf -cpu max "$program" "$@" ;;
*) set -- "$program" "$@" ;;
esac
exec /usr/bin/setsid sh -c "$script" "$name" "$@"
"""
_UNAME = """\
#!/bin/sh
case "$*" in -m) echo {machine} ;; *) exec /usr/bin/uname "$@" ;; esac
"""
_GETPROP = """\
#!/bin/sh
case "$1" in
{cases}
esac
"""


def make(folder: Path, machine: str, android: Mapping[str, str] | None = None) -> dict[str, str]:
    """The variables of the device's shells. `android`: the answers of getprop."""
    programs, home = folder / "bin", folder / "home"
    for path in (programs, home):
        path.mkdir(parents=True, exist_ok=True)
    _program(programs / "setsid", _SETSID)
    _program(programs / "uname", _UNAME.format(machine=machine))
    if android is not None:
        cases = "\n".join(f"{name}) echo '{value}' ;;" for name, value in android.items())
        _program(programs / "getprop", _GETPROP.format(cases=cases))
    return {"HOME": str(home), "TMPDIR": str(home), "PATH": f"{programs}:{os.environ['PATH']}"}


def _program(file: Path, text: str) -> None:
    file.write_text(text, encoding="utf-8")
    file.chmod(0o755)


def running_in(folder: Path) -> list[int]:
    """The processes whose working directory is this folder or below, or did so before it was removed."""
    found = []
    for process in Path("/proc").glob("[0-9]*"):
        try:
            place = (process / "cwd").readlink()
            if place.is_relative_to(folder) and "Z" not in (process / "stat").read_text().rpartition(")")[2].split()[0]:
                found.append(int(process.name))
        except OSError:
            continue
    return found
