"""Generated programs as they are, on emulated cores of the chips' kind, with the model in place of the accelerator."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path

import pytest

from buildtool.targets.max7800x.devices import MAX78002, Device
from buildtool.targets.max7800x.firmware import program, sources
from buildtool.targets.max7800x.firmware.program import Program
from buildtool.targets.max7800x.options import Options
from buildtool.targets.max7800x.planning import planner
from tests.native_builds import ROOT, build, command
from tests.targets.kpu.test_bare_machines import run_image
from tests.targets.max7800x.known_answers import NAMES, KnownAnswer, exist

ROOM = ROOT / "native" / "max7800x"
C99 = ("-std=c99", "-O2", "-Wall", "-Wextra", "-Werror", "-ffunction-sections", "-fdata-sections")
INCLUDED: tuple[str | Path, ...] = ("-I", ROOM / "headers", "-I", ROOM)
RISCV_MEMORY = {
    "__flash": 0x80000000,
    "__flash_size": 0x01000000,
    "__ram": 0x81000000,
    "__ram_size": 0x01000000,
    "__stack_size": 0x8000,
}


@dataclass(frozen=True)
class Core:
    """What compiles, links and runs a program."""

    compiler: tuple[str, ...]
    link: tuple[str | Path, ...]
    run: Callable[[Path], str]


def emulator(name: str, *machine: str) -> Callable[[Path], str]:
    return lambda image: "\n".join(run_image(name, list(machine), image))


HOST = Core(("gcc", "-g1", "-fsanitize=address,undefined"), (), lambda image: command([image]))
CORTEX_M4 = Core(
    ("arm-none-eabi-gcc", "-mcpu=cortex-m4", "-mthumb", "-mfpu=fpv4-sp-d16", "-mfloat-abi=hard"),
    ("--specs=rdimon.specs", "-nostartfiles", "-T", ROOM / "emulator" / "mps2.ld", ROOM / "emulator" / "startup.c"),
    emulator("qemu-system-arm", "-M", "mps2-an386"),
)
RV32 = Core(
    ("riscv64-unknown-elf-gcc", "-march=rv32imac", "-mabi=ilp32", "--specs=picolibc.specs"),
    (
        "--crt0=semihost",
        "--oslib=semihost",
        *(f"-Wl,--defsym={name}={value:#x}" for name, value in RISCV_MEMORY.items()),
    ),
    emulator("qemu-system-riscv32", "-M", "virt", "-m", "128M", "-bios", "none"),
)
EMULATED = [pytest.param(CORTEX_M4, marks=pytest.mark.arm, id="cortex-m4"), pytest.param(RV32, id="rv32")]


@pytest.fixture(scope="module")
def model(tmp_path_factory: pytest.TempPathFactory) -> Callable[[Core], list[Path]]:
    """Compiles the model for a core, once."""
    made: dict[Core, list[Path]] = {}

    def compiled(core: Core) -> list[Path]:
        if core is HOST:
            return [build("lathe_max7800x_machine", variant="asan", source=ROOM) / "liblathe_max7800x_machine.a"]
        if core not in made:
            folder = tmp_path_factory.mktemp("model")
            made[core] = [folder / f"{source.stem}.o" for source in sorted(ROOM.glob("machine*.c"))]
            for target in made[core]:
                command([*core.compiler, *C99, "-c", ROOM / f"{target.stem}.c", "-o", target])
        return made[core]

    return compiled


def run(core: Core, objects: list[Path], made: Program, folder: Path) -> str:
    """What the generated program prints."""
    of_the_core = "riscv/" if made.options.processor == "riscv" else ""
    for name, content in sources.emit(made).items():
        if name.startswith(of_the_core) and name.endswith((".c", ".h")):
            (folder / name.removeprefix(of_the_core)).write_bytes(content)
    image = folder / "image.elf"
    part = made.network.device.part.removeprefix("MAX")
    files = [*sorted(folder.glob("*.c")), ROOM / "chip.c", *objects]
    flags = [*C99, *INCLUDED, "-I", folder, f"-DTARGET_NUM={part}", "-Wl,--gc-sections"]
    command([*core.compiler, *flags, *files, *core.link, "-lm", "-o", image])
    return core.run(image)


def program_of(name: str, device: Device | None = None, options: Options | None = None) -> Program:
    """Of a known answer; for another device it is placed anew."""
    known = KnownAnswer(name)
    network = known.network
    if device is not None:
        network = planner.place(replace(planner.unplaced(network), device=device))
    return program.make(network, known.sample, options)


@exist
@pytest.mark.parametrize("name", NAMES)
def test_the_programs_of_the_known_answers_pass(name: str, model: Callable[[Core], list[Path]], tmp_path: Path) -> None:
    assert "*** PASS ***" in run(HOST, model(HOST), program_of(name), tmp_path)


@exist
@pytest.mark.slow
@pytest.mark.parametrize("core", EMULATED)
@pytest.mark.parametrize("name", NAMES)
def test_and_on_cores_like_those_of_the_chip(
    name: str, core: Core, model: Callable[[Core], list[Path]], tmp_path: Path
) -> None:
    assert "*** PASS ***" in run(core, model(core), program_of(name), tmp_path)


@exist
@pytest.mark.slow
@pytest.mark.parametrize("core", EMULATED)
def test_a_known_network_on_the_larger_chip(core: Core, model: Callable[[Core], list[Path]], tmp_path: Path) -> None:
    made = program_of("t_cifar10_bias_q4", MAX78002)
    assert "*** PASS ***" in run(core, model(core), made, tmp_path)


@exist
@pytest.mark.slow
@pytest.mark.parametrize("sleep", [True, False], ids=["sleeping", "awake"])
@pytest.mark.parametrize("name", ["mnist_extrasmall", "t_fifostream_cifar_hwc"])
def test_programs_for_the_riscv_core(
    name: str, sleep: bool, model: Callable[[Core], list[Path]], tmp_path: Path
) -> None:
    made = program_of(name, options=Options(processor="riscv", sleep=sleep))
    assert "*** PASS ***" in run(RV32, model(RV32), made, tmp_path)


@exist
@pytest.mark.slow
@pytest.mark.parametrize("core", EMULATED)
def test_wrong_answers_and_wrong_use_end_with_an_error(
    core: Core, model: Callable[[Core], list[Path]], tmp_path: Path
) -> None:
    made = program_of("t_upsample_nonsq")
    first = made.expected[0]
    spoilt = replace(first, words=(first.words[0] ^ 1, *first.words[1:]))
    with pytest.raises(AssertionError, match="FAIL"):
        run(core, model(core), replace(made, expected=(spoilt, *made.expected[1:])), tmp_path)
    short = replace(made.inputs[0], words=made.inputs[0].words[:-1])
    with pytest.raises(AssertionError, match="which was never written"):
        run(core, model(core), replace(made, inputs=(short, *made.inputs[1:])), tmp_path)
