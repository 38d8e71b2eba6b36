"""Programs that run a model on an emulated board, and how they are started."""

from __future__ import annotations

from collections.abc import Sequence

from buildtool import resources
from buildtool.codegen.source_tree import Image
from buildtool.targets.micro.emitting.model import Border, borders, identifier
from buildtool.targets.micro.network import Network
from buildtool.targets.micro.planning import Plan
from buildtool.targets.micro.processors import Processor

FOLDER = "native/micro/emulator"
#: Of Debian, with each emulator.
PACKAGES = {
    "qemu-system-arm": "qemu-system-arm",
    "qemu-system-riscv32": "qemu-system-misc",
    "qemu-system-riscv64": "qemu-system-misc",
    "": "",
}
OPTIMISATION = ("-std=gnu99", "-O3", "-ffunction-sections", "-fdata-sections")


def files() -> dict[str, bytes]:
    """What programs are compiled of beside their models."""
    folder = resources.native_dir() / "micro" / "emulator"
    return {f"{FOLDER}/{path.name}": path.read_bytes() for path in sorted(folder.iterdir())}


def harness(network: Network, plan: Plan) -> bytes:
    """The model for main.c."""
    model = identifier(network.name)
    inputs, outputs = borders(network, plan)
    lines = [
        "/* Generated: do not edit. */",
        '#include "harness.h"',
        "",
        f'#include "{model}.h"',
        "",
        f"const int lm_harness_inputs = {len(inputs)}, lm_harness_outputs = {len(outputs)};",
        f"static lm_harness_border in[{len(inputs)}], out[{len(outputs)}];",
        "const lm_harness_border* const lm_harness_input = in;",
        "const lm_harness_border* const lm_harness_output = out;",
        "",
        "void lm_harness_prepare(void) {",
        *_filled("in", inputs),
        *_filled("out", outputs),
        "}",
        "",
        f"void lm_harness_invoke(void) {{ {model}_invoke(); }}",
    ]
    return ("\n".join(lines) + "\n").encode()


def _filled(name: str, found: Sequence[Border]) -> list[str]:
    return [
        line
        for at, border in enumerate(found)
        for line in (
            f"  {name}[{at}].data = (void*){border.name};",
            f"  {name}[{at}].size = {border.tensor.bytes};",
        )
    ]


def image(name: str, sources: Sequence[str], include: Sequence[str], processor: Processor) -> Image:
    """The program of a model; `sources`: of the model, its kernels and its harness."""
    startup = "startup_arm.c" if processor.is_arm else "startup_riscv.c"
    names = ("main_host.c",) if processor.is_host else ("main.c", "semihosting.c", startup)
    own = tuple(f"{FOLDER}/{each}" for each in names)
    return Image(f"{name}_emulated", (*sources, *own), compile_flags(include, processor), link_flags(processor))


def compile_flags(include: Sequence[str], processor: Processor) -> tuple[str, ...]:
    """Of programs and of libraries, whose sources are thus compiled once."""
    return (*processor.flags, *OPTIMISATION, "-Wall", *(f"-I{each}" for each in (*include, FOLDER)))


def link_flags(processor: Processor) -> tuple[str, ...]:
    if processor.is_host:
        return ("-Wl,--gc-sections", "-lm")
    board = processor.emulated
    places = {"lm_flash": board.flash[0], "lm_ram": board.ram[0]}
    sizes = {"lm_flash_bytes": board.flash[1], "lm_ram_bytes": board.ram[1]}
    symbols = tuple(f"-Wl,--defsym={name}={value:#x}" for name, value in {**places, **sizes}.items())
    library = ("--specs=nano.specs",) if processor.is_arm else ()
    return (
        *library,
        *("-nostartfiles", f"-T{FOLDER}/board.ld", "-Wl,-e,0", "-Wl,--gc-sections", "-Wl,--build-id=none"),
        *symbols,
        "-Wl,--no-warn-rwx-segments",
        *((processor.library,) if processor.library else ()),
        "-lm",
    )
