"""What a program writes and expects, as plain text: for simulations of the chip's logic, and for eyes.

Memories are files that `$readmemh` of Verilog reads: a line `@<place> <value>` for each place that holds something,
both in hexadecimal; `x` stands for four bits that nobody compares.

- `registers.txt`: accesses in order, one a line, under `# <function>`; what stands behind `#` says what it is.
  `w <address> <value>` writes, `p <address> <bits>` reads until all bits are set, `c <address> <bits>` reads and fails
  where one is set, `z <address> <count>` writes so many words of zero.
- `kernels/processor_<number>.mem`: columns of 72 bits, the first byte first.
- `biases/quadrant_<number>.mem`: bytes.
- `input/memory_<number>.mem`: words of the data memory of four processors, `input/fifo_<number>.mem`: words in order.
- `expected/memory_<number>.mem`: words after the network has run.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping

from buildtool.targets.max7800x.devices import PROCESSORS_PER_MEMORY, PROCESSORS_PER_QUADRANT, Device
from buildtool.targets.max7800x.firmware import addresses
from buildtool.targets.max7800x.firmware.addresses import BYTES_PER_COLUMN, WORD
from buildtool.targets.max7800x.firmware.data_memory import ExpectedBlock
from buildtool.targets.max7800x.firmware.program import Program

_LETTERS = {"write": "w", "wait": "p", "check": "c", "clear": "z"}
_MEMORIES_PER_QUADRANT = PROCESSORS_PER_QUADRANT // PROCESSORS_PER_MEMORY


def emit(program: Program) -> dict[str, bytes]:
    """Every file, by its path."""
    device = program.network.device
    files = {"registers.txt": "".join(f"{line}\n" for line in _registers(program))}
    for processor, lines in _kernels(program).items():
        files[f"kernels/processor_{processor:02}.mem"] = "".join(lines)
    places = addresses.of(device)
    for address, held in program.biases:
        quadrant = (address - places.biases) // places.quadrant
        files[f"biases/quadrant_{quadrant}.mem"] = "".join(
            f"@{offset:04x} {value:02x}\n" for offset, value in enumerate(held)
        )
    for block in program.inputs:
        if block.address is None:
            files[f"input/fifo_{block.fifo}.mem"] = "".join(f"{word:08x}\n" for word in block.words)
        else:
            memory, start = _place(device, block.address)
            files[f"input/memory_{memory:02}.mem"] = _words(
                {start + at: f"{word:08x}" for at, word in enumerate(block.words)}
            )
    for memory, words in _expected(device, program.expected).items():
        files[f"expected/memory_{memory:02}.mem"] = _words(words)
    return {name: text.encode() for name, text in sorted(files.items())}


def _registers(program: Program) -> Iterator[str]:
    yield "# cnn_init"
    for kind, address, value in program.init:
        yield f"{_LETTERS[kind]} {address:08x} {value:08x}"
    yield "# cnn_configure"
    for address, count in program.cleared:
        yield f"z {address:08x} {count:08x}"
    for group in program.configuration:
        for address, value, name in group.settings:
            yield f"w {address:08x} {value:08x} # {group.title}: {name}"
    yield "# cnn_start"
    for address, value in program.start:
        yield f"w {address:08x} {value:08x}"


def _kernels(program: Program) -> dict[int, list[str]]:
    """By processor: a line for each column."""
    found: dict[int, list[str]] = defaultdict(list)
    for chunk in program.placed.kernels.chunks():
        for at in range(0, len(chunk.data), BYTES_PER_COLUMN):
            column = chunk.column + at // BYTES_PER_COLUMN
            found[chunk.processor].append(f"@{column:04x} {chunk.data[at : at + BYTES_PER_COLUMN].hex()}\n")
    return found


def _place(device: Device, address: int) -> tuple[int, int]:
    """The number of a data memory, and a word in it."""
    places = addresses.of(device)
    quadrant, inner = divmod(address - places.data, places.quadrant)
    memory, offset = divmod(inner, places.data_step)
    return quadrant * _MEMORIES_PER_QUADRANT + memory, offset // WORD


def _expected(device: Device, blocks: Iterable[ExpectedBlock]) -> dict[int, dict[int, str]]:
    """By memory: its words, with x for what does not count."""
    found: dict[int, dict[int, str]] = defaultdict(dict)
    for block in blocks:
        memory, start = _place(device, block.address)
        for at, word in enumerate(block.words):
            digits = zip(f"{word:08x}", f"{block.mask:08x}", strict=True)
            found[memory][start + at] = "".join(digit if counts == "f" else "x" for digit, counts in digits)
    return dict(sorted(found.items()))


def _words(words: Mapping[int, str]) -> str:
    return "".join(f"@{place:04x} {word}\n" for place, word in sorted(words.items()))
