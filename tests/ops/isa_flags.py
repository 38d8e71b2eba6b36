"""The compiler flags of an instruction set, asked of the file that knows them, and the header of its intrinsics."""

from __future__ import annotations

import tempfile
from collections.abc import Sequence
from functools import cache
from pathlib import Path

from buildtool import resources
from tests.native_builds import command


@cache
def isa_flags(isa: str) -> tuple[str, ...]:
    include = f"include({resources.cmake_dir() / 'LatheIsa.cmake'})"
    script = f'{include}\nlathe_isa_flags({isa} flags)\nmessage(STATUS "${{flags}}")'
    with tempfile.NamedTemporaryFile("w", suffix=".cmake") as file:
        file.write(script)
        file.flush()
        flags = command(["cmake", "-P", file.name]).removeprefix("--").strip()
    return tuple(flags.split(";")) if flags else ()


def intrinsics(compiler: Sequence[str | Path], isa: str, folder: Path) -> list[str | Path]:
    """Options that make this compiler read the header of the intrinsics once for many files: it takes longer than most.

    `compiler`: with all flags that the files get.
    """
    header = folder / f"intrinsics_{isa}.h"
    x86 = isa in ("avx2", "avx512", "vnni")
    header.write_text(f"#include <{'immintrin.h' if x86 else 'arm_neon.h'}>\n", encoding="utf-8")
    made = header.with_suffix(".h.gch")
    command([*(word for word in compiler if word != "-fsyntax-only"), "-x", "c++-header", header, "-o", made])
    return ["-include-pch", made] if "clang" in Path(compiler[0]).name else ["-include", header]
