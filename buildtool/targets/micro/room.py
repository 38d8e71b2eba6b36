"""Whether a model with its program fits the memory of an emulated board."""

from __future__ import annotations

from dataclasses import dataclass

from buildtool.errors import Problem, UnsupportedError, Where
from buildtool.targets.micro.planning import Plan
from buildtool.targets.micro.processors import Processor

_CODE = 256 << 10  # more than the kernels and the C library take
_STACK = 72 << 10  # what is painted to measure the stack, and what lies beside it


@dataclass(frozen=True)
class Need:
    """Bytes of the program for a board."""

    flash: int
    ram: int


def need(plan: Plan, constant_bytes: int) -> Need:
    """`constant_bytes`: of the model alone."""
    return Need(constant_bytes + _CODE, plan.size + _STACK)


def is_enough(processor: Processor, need_: Need) -> bool:
    """Whether the program fits; there is none without a board."""
    board = processor.board
    return board is None or (need_.flash <= board.flash[1] and need_.ram <= board.ram[1])


def note(model: str, processor: Processor, need_: Need) -> Problem:
    """Said where a library is built that cannot be executed here."""
    return Problem(
        f"the library is built, but no program for an emulator: it would take {_bytes(need_)}",
        Where(model=model),
        rule=_rule(processor),
        remedy="smaller inputs (--input-shape), fewer weights, or `micro: {arena_limit: BYTES}`",
    )


def refused(model: str, processor: Processor, need_: Need) -> UnsupportedError:
    """Said where such a model should be executed."""
    return UnsupportedError(
        f"the model does not fit the emulated board: its program would take {_bytes(need_)}",
        where=Where(model=model),
        rule=_rule(processor),
        remedy="validate it for the host: --abi host, runtime cpu",
    )


def _bytes(need_: Need) -> str:
    return f"{need_.flash:,} bytes of flash and {need_.ram:,} bytes of RAM"


def _rule(processor: Processor) -> str:
    assert processor.board is not None
    flash, ram = processor.board.flash[1], processor.board.ram[1]
    return f"the board '{processor.board.name}' has {flash:,} bytes of flash and {ram:,} bytes of RAM"
