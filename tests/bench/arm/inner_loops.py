"""What llvm-mca says of the inner loops of the 64-bit ARM kernels: `make bench-arm-loops`, or

    python -m tests.bench.arm.inner_loops [--mca llvm-mca-19] [--unit panels] [--cpus cortex-a76]

The units of native/kernel are compiled as a build does it, and the loops are found in the disassembly: those without
a branch inside that have at least eight vector multiply-adds. Cycles are those of an iteration, once many have gone by,
and behind them stands how much of that time the multiply-adds alone would take. A model of llvm's knows the pipes and
latencies of a processor, and no cache: every load hits. That of Cortex-A55 begins more than one multiply-add of 128
bits in a cycle, which the processor does not: what is above 100 % says nothing.

llvm-mca is in Debian's packages llvm-19 and llvm (which is 14); nothing else of the project needs it.
"""

from __future__ import annotations

import argparse
import functools
import re
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from buildtool.codegen import kernel_units
from buildtool.plan import manifest
from tests.bench import words
from tests.bench.arm.counting import ROOT, CountingError, command

#: Vector multiply-adds of 128 bits that begin in a cycle. For Cortex-A76 llvm has the model of Cortex-A57, which begins
#: one; Neoverse N1 is the same core, and has a model of its own since llvm 17.
PIPES = {"cortex-a55": 1, "cortex-a76": 1, "neoverse-n1": 2}
UNITS = ("panels", "depthwise")
TOOLS = ("llvm-mca-19", "llvm-mca", "llvm-mca-14")
ITERATIONS = 1000
LEAST = 8  # multiply-adds of a loop that is worth showing
FLAGS = ("-std=c++17", "-O2", "-march=armv8-a", "-ffp-contract=off", "-fno-exceptions", "-fno-rtti")

_FUNCTION = re.compile(r"^[0-9a-f]+ <(.*)>:$")
_INSTRUCTION = re.compile(r"^ *([0-9a-f]+):\t([^\t]+)(?:\t([^/]*))?")
_BRANCH = re.compile(r"b|b\.\w+|cbn?z|tbn?z|bl|blr|br|ret")


@dataclass(frozen=True)
class Instruction:
    address: int
    name: str
    operands: str

    @property
    def target(self) -> int | None:
        """Where a branch goes, if it says so."""
        found = re.search(r"([0-9a-f]+) <", self.operands)
        return int(found[1], 16) if found and _BRANCH.fullmatch(self.name) else None


@dataclass(frozen=True)
class Loop:
    function: str
    body: tuple[Instruction, ...]  # without the branch back

    @property
    def multiply_adds(self) -> int:
        return sum(instruction.name == "fmla" for instruction in self.body)

    @property
    def assembly(self) -> str:
        return "".join(f"{instruction.name} {instruction.operands}\n" for instruction in self.body)


def functions(disassembly: str) -> Iterator[tuple[str, list[Instruction]]]:
    """The functions that objdump shows, with the short names of those of C++."""
    name, body = "", list[Instruction]()
    for line in disassembly.splitlines():
        if begun := _FUNCTION.match(line):
            if body:
                yield name, body
            name, body = begun[1].split("(anonymous namespace)::", 1)[-1].split("(")[0], []
        elif found := _INSTRUCTION.match(line):
            body.append(Instruction(int(found[1], 16), found[2].strip(), (found[3] or "").strip()))
    if body:
        yield name, body


def loops(disassembly: str, least: int = LEAST) -> list[Loop]:
    """The loops without a branch inside that have so many multiply-adds."""
    found = []
    for name, body in functions(disassembly):
        places = {instruction.address: index for index, instruction in enumerate(body)}
        for index, instruction in enumerate(body):
            start = places.get(instruction.target, index) if instruction.target is not None else index
            inner = body[start:index]
            if start < index and not any(_BRANCH.fullmatch(other.name) for other in inner):
                loop = Loop(name, tuple(inner))
                if loop.multiply_adds >= least:
                    found.append(loop)
    return found


def disassembled(unit: str) -> str:
    """The machine code of a unit that kernels share."""
    name = f"{manifest.UNITS}/{unit}__neon.cc"
    text = kernel_units.unit(name, [ROOT])
    if text is None:
        raise CountingError(f"there is no unit {name}")
    with tempfile.TemporaryDirectory() as folder:
        source, result = Path(folder) / "unit.cc", Path(folder) / "unit.o"
        source.write_bytes(text)
        include = ("-I", ROOT, "-I", ROOT / "native" / "include")
        command(["aarch64-linux-gnu-g++", *FLAGS, *include, "-c", source, "-o", result])
        return command(["aarch64-linux-gnu-objdump", "-d", "-C", "--no-show-raw-insn", result])


def cycles(loop: Loop, cpu: str, tool: str) -> float:
    """Of one iteration."""
    arguments = [tool, "-mtriple=aarch64-linux-gnu", f"-mcpu={cpu}", f"-iterations={ITERATIONS}"]
    done = subprocess.run(arguments, input=loop.assembly, capture_output=True, text=True, check=False)
    total = re.search(r"Total Cycles: +(\d+)", done.stdout)
    if total is None:
        raise CountingError(f"{' '.join(arguments)}: {done.stderr[-2000:]}")
    return int(total[1]) / ITERATIONS


def tool_of(asked: str) -> str:
    names = [asked] if asked else TOOLS
    for name in names:
        if path := shutil.which(name):
            return path
    raise CountingError(f"{' and '.join(names)} are missing: apt-get install llvm-19")


def rows(units: Sequence[str], cpus: Sequence[str], tool: str) -> Iterator[list[str]]:
    for unit in units:
        for loop in loops(disassembled(unit)):
            row = [loop.function, str(len(loop.body) + 1), str(loop.multiply_adds)]
            for cpu in cpus:
                taken = cycles(loop, cpu, tool)
                row.append(f"{taken:.0f} ({100 * loop.multiply_adds / PIPES[cpu] / taken:.0f} %)")
            yield row


def main() -> int:
    parser = argparse.ArgumentParser(
        prog="python -m tests.bench.arm.inner_loops",
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    units = functools.partial(words.listed, UNITS)
    parser.add_argument("--units", type=units, default=list(UNITS), metavar="A,B", help=", ".join(UNITS))
    cpus = functools.partial(words.listed, tuple(PIPES))
    parser.add_argument("--cpus", type=cpus, default=list(PIPES), metavar="A,B", help=", ".join(PIPES))
    parser.add_argument("--mca", default="", help=f"the program (default: the first of {', '.join(TOOLS)})")
    options = parser.parse_args()
    try:
        tool = tool_of(options.mca)
        found = list(rows(options.units, options.cpus, tool))
    except CountingError as problem:
        sys.stderr.write(f"{problem}\n")
        return 1
    heads = ["loop of", "instructions", "multiply-adds", *options.cpus]
    for row in [heads, ["---"] * len(heads), *found]:
        sys.stdout.write(f"| {' | '.join(row)} |\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
