"""The compiler flags of an instruction set, asked of the file that knows them."""

from __future__ import annotations

import tempfile
from functools import cache

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
