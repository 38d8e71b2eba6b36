"""Compiles the interpreter of kmodels together with a program of the tests."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from tests.native_builds import ROOT, command

ROOM = ROOT / "native" / "kpu"
HERE = Path(__file__).parent
WARNINGS = ("-Wall", "-Wextra", "-Werror", "-Wconversion", "-pedantic")
C99 = ("-std=c99", "-ffp-contract=off", *WARNINGS)
RISCV = ("-march=rv64imafdc", "-mabi=lp64d", "-mcmodel=medany", "--specs=picolibc.specs", "-fno-math-errno")
CORTEX_M7 = ("-mcpu=cortex-m7", "-mfloat-abi=hard", "-mfpu=fpv5-d16", "-mthumb", "-fno-math-errno")


def objects(compiler: str, folder: Path, *flags: str) -> list[Path]:
    """The objects of the interpreter."""
    made = []
    for source in sorted(ROOM.glob("*.c")):
        made.append(folder / f"{source.stem}.o")
        command([compiler, *C99, *flags, "-ffunction-sections", "-c", source, "-o", made[-1]])
    return made


def program(source: str, folder: Path, flags: Sequence[str] = ()) -> Path:
    """A program of this folder with the interpreter, for this machine."""
    made = folder / Path(source).stem
    parts = [*objects("gcc", folder, "-O1", *flags)]
    if source.endswith(".cc"):
        compiler = ["gcc", "-std=c++17", "-fno-exceptions", "-fno-rtti", "-nostdinc++", *WARNINGS]
    else:
        compiler = ["gcc", "-std=c11", *WARNINGS]
    command([*compiler, "-O1", *flags, "-I", ROOM, HERE / source, *parts, "-o", made, "-lm"])
    return made
