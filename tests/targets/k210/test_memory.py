"""Plans of both memories, and the check that does not believe them."""

from __future__ import annotations

import numpy as np
import pytest

from buildtool.errors import InternalError, UnsupportedError
from buildtool.targets.k210.format import cpu_layers as cpu
from buildtool.targets.k210.format import layout
from buildtool.targets.k210.format.kpu_layers import Upload
from buildtool.targets.k210.generation import memory
from buildtool.targets.k210.generation.memory import Buffer, Memory, Step


def copies(buffers: list[Buffer], pairs: list[tuple[int, int]]) -> list[Step]:
    """Steps that copy bytes from one buffer to another, or into the KPU's RAM."""

    def step(source: Buffer, target: Buffer) -> Step:
        if target.in_ram:
            width, height = 64, target.size
            return Step("up", (source,), (target,), lambda at: [Upload(0, at[source], at[target], width, height, 1)])
        size = source.size
        return Step("copy", (source,), (target,), lambda at: [cpu.QConcat(1, at[target], 1, ((at[source], size),))])

    return [step(buffers[source], buffers[target]) for source, target in pairs]


def chain(rng: np.random.Generator, count: int) -> tuple[list[Buffer], list[Step]]:
    """Each is copied from one that was there before: some are needed for long."""
    size = 64 * int(rng.integers(1, 9))
    buffers = [Buffer(f"b{index}", False, size) for index in range(count)]
    pairs = [(int(rng.integers(max(0, index - 4), index)), index) for index in range(1, count)]
    return buffers, copies(buffers, pairs)


def test_plans_pass_the_check() -> None:
    rng = np.random.default_rng(8)
    for _ in range(30):
        buffers, steps = chain(rng, int(rng.integers(2, 20)))
        plan = memory.plan(steps, buffers[:1], buffers[-1:], "net")
        layers = [step.make(plan.places) for step in steps]
        memory.check(steps, layers, plan, buffers[:1], buffers[-1:])
        assert plan.main_peak <= sum(buffer.room for buffer in buffers)


def test_overwritten_buffers_are_found() -> None:
    buffers = [Buffer(name, False, 16) for name in "abc"]
    steps = copies(buffers, [(0, 1), (0, 2)])
    places = {buffers[0]: 0, buffers[1]: 8, buffers[2]: 32}
    with pytest.raises(InternalError, match="8 of 16 of 'a' are overwritten"):
        memory.check(steps, [step.make(places) for step in steps], Memory(places, 0, 48), buffers[:1], buffers[2:])


def test_accesses_outside_the_buffers_of_a_layer_are_found() -> None:
    buffers = [Buffer("a", False, 64), Buffer("b", True, 2)]
    (step,) = copies(buffers, [(0, 1)])
    places = {buffers[0]: 0, buffers[1]: 0}
    with pytest.raises(InternalError, match="UPLOAD reads 128 at 0"):
        memory.check([step], [step.make(places)], Memory(places, 2, 64), buffers[:1], buffers[1:])


def test_an_end_behind_the_memory_is_found() -> None:
    buffers = [Buffer("a", False, 64), Buffer("b", False, 64)]
    steps = copies(buffers, [(0, 1)])
    places = {buffers[0]: 0, buffers[1]: 64}
    with pytest.raises(InternalError, match="'b' exceeds its memory"):
        memory.check(steps, [steps[0].make(places)], Memory(places, 0, 72), buffers[:1], buffers[1:])


def test_planes_that_only_fit_from_both_ends() -> None:
    """Each is nearly half of the memory, and lives until the next is there."""
    size = layout.RAM_UNITS // 2
    buffers = [Buffer(f"p{index}", True, size - index) for index in range(6)]
    steps = [
        Step("layer", (buffers[index],), (buffers[index + 1],), lambda at: ()) for index in range(len(buffers) - 1)
    ]
    plan = memory.plan(steps, buffers[:1], buffers[-1:], "net")
    assert plan.ram_peak <= layout.RAM_UNITS
    memory.check(steps, [()] * len(steps), plan, buffers[:1], buffers[-1:])


def test_planes_that_do_not_fit_are_listed() -> None:
    buffers = [Buffer("small", True, 10), Buffer("one", True, layout.RAM_UNITS), Buffer("two", True, 20)]
    steps = [
        Step("first", (buffers[0],), (buffers[1],), lambda at: ()),
        Step("second", (buffers[1],), (buffers[2],), lambda at: ()),
    ]
    with pytest.raises(UnsupportedError, match="around layer 1 take 2098432 bytes: 'one' 2097152, 'two' 1280"):
        memory.plan(steps, buffers[:1], buffers[2:], "net")
