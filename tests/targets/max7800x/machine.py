"""The model of the accelerator, given what a program would write."""

from __future__ import annotations

import functools
import subprocess
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from buildtool.targets.max7800x.firmware.addresses import WORD
from buildtool.targets.max7800x.firmware.program import Program
from tests.native_builds import ROOT, build

FIFO = 0x50000008  # a word for each quadrant
EXPRESS = 1  # the byte that says to which column kernels go


@functools.cache
def replay_program() -> Path:
    """With AddressSanitizer and UndefinedBehaviorSanitizer."""
    folder = build("lathe_max7800x_replay", variant="asan", source=ROOT / "native" / "max7800x")
    return folder / "lathe_max7800x_replay"


@dataclass(frozen=True)
class Outcome:
    """What the machine left, and what it complained of."""

    interrupts: int
    words: tuple[int, ...]  # those that were asked for
    complaints: tuple[str, ...]


@dataclass
class Script:
    """Accesses in the order in which a program makes them."""

    device: str = "max78000"
    lines: list[str] = field(default_factory=list)

    def write(self, address: int, value: int) -> None:
        self.lines.append(f"w {address:x} {value & 0xFFFFFFFF:x}")

    def write_words(self, address: int, values: Iterable[int]) -> None:
        for index, value in enumerate(values):
            self.write(address + 4 * index, value)

    def write_all(self, writes: Iterable[tuple[int, int]]) -> None:
        for address, value in writes:
            self.write(address, value)

    def express(self, address: int, kernels: bytes) -> None:
        """Kernels one after the other, to the column that the address says."""
        self.lines.append(f"b {address | EXPRESS:x} 1")
        padded = kernels + bytes(-len(kernels) % 4)
        self.write_words(address, (int.from_bytes(padded[at : at + 4], "big") for at in range(0, len(padded), 4)))

    def wait(self) -> None:
        self.lines.append("i")

    def read(self, address: int, count: int = 1) -> None:
        self.lines.append(f"r {address:x} {count:x}")

    def run(self, program: Sequence[Path] = ()) -> Outcome:
        done = subprocess.run(
            [*(program or [replay_program()]), self.device],
            input="\n".join(self.lines) + "\n",
            capture_output=True,
            text=True,
            check=False,
        )
        complaints = tuple(done.stderr.splitlines())
        assert done.returncode == (1 if complaints else 0), done.stderr[-4000:]
        told = done.stdout.splitlines()
        words = tuple(int(line, 16) for line in told if "interrupt" not in line)
        return Outcome(told.count("interrupt"), words, complaints)


def script_of(program: Program) -> Script:
    """The accesses of a program, up to the interrupt."""
    made = Script(program.network.device.name)
    writes = program.register_writes
    for kind, address, value in program.init:
        if kind == "write":
            made.write(address, value)
        elif kind == "clear":
            made.write_words(address, [0] * value)
    for address, kernels in program.kernels:
        made.express(address, kernels)
    for address, biases in program.biases:
        made.write_words(address, biases)
    made.write_all(writes["cnn_configure"])
    through_fifo = [block for block in program.inputs if block.address is None]
    for block in program.inputs:
        if block.address is not None:
            made.write_words(block.address, block.words)
    made.write_all(writes["cnn_start"])
    for block in through_fifo:
        assert block.fifo is not None
        made.write_all((FIFO + WORD * block.fifo, word) for word in block.words)
    made.wait()
    return made


def differences(program: Program) -> tuple[list[tuple[int, int, int]], Outcome]:
    """Address, word that is expected and word of the machine, both under the mask, where these are not the same."""
    script = script_of(program)
    for block in program.expected:
        script.read(block.address, len(block.words))
    outcome = script.run()
    wanted = [
        (block.address + WORD * index, block.mask, word)
        for block in program.expected
        for index, word in enumerate(block.words)
    ]
    compared = zip(wanted, outcome.words, strict=True)
    return [(at, word & mask, got & mask) for (at, mask, word), got in compared if (word ^ got) & mask], outcome
