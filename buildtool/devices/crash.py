"""What a program said as it died, with the names of the functions (native/tools/crash.h)."""

from __future__ import annotations

import bisect
import shutil
import subprocess
from collections.abc import Sequence
from pathlib import Path, PurePosixPath

from elftools.common.exceptions import ELFError
from elftools.elf.elffile import ELFFile
from elftools.elf.sections import SymbolTableSection

_CRASH = "lathe_run: crash: "
_FRAME = "lathe_run: frame: "


def last_words(stderr: str) -> str:
    """The line that tells most of how a program ended; nothing where it said nothing."""
    lines = stderr.strip().splitlines()
    crashes = [line.removeprefix(_CRASH).strip() for line in lines if line.startswith(_CRASH)]
    return (crashes or lines or [""])[-1]


def functions(stderr: str, library: Path | None, symbols: Path | None) -> list[str]:
    """The functions of the library that were being run, the innermost first; the file `symbols` knows their names.

    Libraries have no tables to walk a stack with: behind the first, these are the functions that addresses on the
    stack point into, of which some may be left from earlier calls.
    """
    if library is None or symbols is None or not symbols.is_file():
        return []
    offsets = []
    for line in stderr.splitlines():
        offset, _, file = line.removeprefix(_FRAME).partition(" ")
        if line.startswith(_FRAME) and PurePosixPath(file).name.endswith(library.name):
            offsets.append(int(offset, 16))
    names = _named(offsets, symbols)
    return _demangled([name for index, name in enumerate(names) if name != (names[index - 1] if index else "")])


def _named(offsets: Sequence[int], symbols: Path) -> list[str]:
    """The functions that lie at these offsets; what is none is left out."""
    try:
        with symbols.open("rb") as stream:
            table = ELFFile(stream).get_section_by_name(".symtab")
            if not isinstance(table, SymbolTableSection):
                return []
            found = sorted(
                (item["st_value"] & ~1, item["st_size"], item.name)  # the lowest bit says Thumb
                for item in table.iter_symbols()
                if item["st_info"]["type"] == "STT_FUNC" and item["st_size"]
            )
    except (OSError, ELFError):
        return []
    starts = [start for start, _, _ in found]
    names = []
    for offset in offsets:
        index = bisect.bisect_right(starts, offset) - 1
        if index >= 0 and offset < found[index][0] + found[index][1]:
            names.append(found[index][2])
    return names


def _demangled(names: list[str]) -> list[str]:
    """As people write them, where the program is here that knows how."""
    tool = shutil.which("c++filt") or shutil.which("llvm-cxxfilt")
    if tool is None or not names:
        return names
    done = subprocess.run([tool], input="\n".join(names), capture_output=True, text=True, check=False)
    lines = done.stdout.splitlines()
    return lines if done.returncode == 0 and len(lines) == len(names) else names
