"""What the accelerator cannot do, each as one error that says by how much and what helps."""

from __future__ import annotations

from collections.abc import Iterator

from buildtool.errors import ConfigError, Problem, Where
from buildtool.targets.max7800x.devices import MAX78000
from buildtool.targets.max7800x.program import Program


def check_options(program: Program) -> None:
    """ConfigError where options do not go together, or not with the network."""
    problems = list(_option_problems(program))
    if problems:
        raise ConfigError(problems)


def _option_problems(program: Program) -> Iterator[Problem]:
    network, options = program.network, program.options
    place = Where(file=network.file, model=network.name)
    if network.fast_fifo and options.processor != "riscv":
        yield Problem(
            "the fast FIFO cannot be reached from the Arm core",
            place,
            rule="it belongs to the RISC-V core",
            remedy="choose processor riscv, or the plain FIFO",
        )
    if options.deep_sleep and options.processor != "riscv":
        yield Problem(
            "the Arm core cannot sleep deeply while it runs the network",
            place,
            remedy="choose processor riscv, or leave out deep_sleep",
        )
    if network.device is MAX78000 and (options.pll or options.pipeline):
        yield Problem(f"the {network.device.part} has no PLL and no pipeline", place, remedy="leave out both options")
    if options.timer is not None and not 0 <= options.timer <= 3:
        yield Problem(f"there is no timer {options.timer}", place, rule="0 to 3")
    if options.boost is not None and not (0 <= options.boost[0] <= 3 and 0 <= options.boost[1] <= 31):
        yield Problem(
            f"there is no pin {options.boost[0]}.{options.boost[1]}", place, rule="ports 0 to 3, pins 0 to 31"
        )
    if options.divider(network.device) not in (1, 2, 4, 8, 16):
        yield Problem(f"the clock cannot be divided by {options.clock_divider}", place, rule="1, 2, 4, 8 or 16")
    if options.softmax and not options.unload:
        yield Problem("softmax needs the results that are not unloaded", place, remedy="leave out one of both options")
