"""Networks built for a processor and run on its emulated board, without the commands around."""

from __future__ import annotations

import subprocess
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from buildtool import resources
from buildtool.builders.objects import ObjectCache
from buildtool.builders.qemu_plugin import mark_plugin
from buildtool.ir.operator import Array
from buildtool.targets.micro import TARGET
from buildtool.targets.micro.budget import Choice, Search
from buildtool.targets.micro.emitting import emulated, files, model
from buildtool.targets.micro.network import Network
from buildtool.targets.micro.planning import plan
from buildtool.targets.micro.processors import PROCESSORS, Processor
from buildtool.targets.micro.target import MicroProgram, Planned
from buildtool.targets.protocol import Emulated, LibrarySource

WARNINGS = (
    *("-Wall", "-Wextra", "-Werror", "-Wshadow", "-Wundef", "-Wstrict-prototypes", "-Wmissing-prototypes"),
    *("-Wcast-align", "-Wpointer-arith", "-Wno-unused-function"),
    # What MISRA C asks for and GCC can check.
    *("-Wwrite-strings", "-Wswitch-default", "-Wmissing-declarations", "-Wredundant-decls", "-Wvla"),
    *("-Wold-style-definition", "-Wdouble-promotion", "-Wconversion", "-Wsign-conversion"),
)
EMULATOR = resources.native_dir() / "micro" / "emulator"
_SEMIHOSTING = ("-nographic", "-monitor", "none", "-serial", "none", "-semihosting-config", "enable=on,target=native")


@dataclass(frozen=True)
class Run:
    """What came of a run."""

    result: Emulated
    instructions: int


def _planned(network: Network, processor: Processor) -> Planned:
    """The network as it is, even if it is in bands."""
    choice = Choice(network, plan(network, processor.sets[0]), 0)
    return Planned(network, choice.plan, Search(choice, choice, (choice,)), 0)


def run(network: Network, abi: str, folder: Path, inputs: Mapping[str, Array]) -> Run:
    processor = PROCESSORS[abi]
    planned = _planned(network, processor)
    sources = files.kernels([network], processor)
    name = planned.identifier
    sources[f"{name}.h"] = model.header(network, planned.plan).encode()
    sources[f"{name}.c"] = model.source(network, planned.plan, processor.sets[0]).encode()
    sources["harness.c"] = emulated.harness(network, planned.plan)
    program = MicroProgram("micro", abi, LibrarySource("m", "m", ()), (), (), (planned,))
    about = TARGET.emulation(program, network.name, inputs)
    output, instructions = execute(sources, abi, folder, about.files)
    made = {name: (folder / name).read_bytes() for name in about.made}
    return Run(TARGET.emulated(program, network.name, {**made, "output.bin": output}), instructions)


def execute(
    sources: Mapping[str, bytes], abi: str, folder: Path, given: Mapping[str, bytes], *, strict: bool = True
) -> tuple[bytes, int]:
    """Sources with a harness, compiled and run: what is in output.bin, and the instructions between the marks."""
    processor = PROCESSORS[abi]
    for file, data in {**sources, **given}.items():
        (folder / file).write_bytes(data)
    units = tuple(file for file in sources if file.endswith(".c"))
    image = emulated.image("m", units, (".",), processor)
    native = resources.native_dir().parent
    own = [f"{native}/{file}" if file.startswith("native/") else file for file in image.sources]
    compiling, linking = (
        [word.replace("native/", f"{native}/native/") for word in words]
        for words in (image.compile_flags, image.link_flags)
    )
    compiler = f"{processor.prefix}gcc"
    warnings = WARNINGS if strict else ()
    subprocess.run([compiler, *warnings, *compiling, "-c", *own], cwd=folder, check=True)
    objects = [f"{Path(each).stem}.o" for each in own]
    subprocess.run([compiler, *compiling, *objects, *linking, "-o", "program.elf"], cwd=folder, check=True)
    if processor.is_host:
        subprocess.run([folder / "program.elf"], cwd=folder, check=True, timeout=120)
        return (folder / "output.bin").read_bytes(), 0
    plugin = mark_plugin(ObjectCache())
    board = processor.emulated
    words = [board.emulator, *board.machine, *_SEMIHOSTING, "-plugin", f"{plugin},out=counts", "-kernel", "program.elf"]
    subprocess.run(words, cwd=folder, check=True, timeout=120)
    marks = [int(line.split()[1]) for line in (folder / "counts").read_text().splitlines()]
    return (folder / "output.bin").read_bytes(), marks[1] - marks[0] - 1
