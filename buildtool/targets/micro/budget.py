"""Finds a plan within a limit of RAM: where tensors fit nowhere, some layers are computed in bands of rows.

The plan without bands is free; of the others, which cost instructions, the cheapest that fits wins. The search looks
at stretches of layers around the largest demand, in bands of several heights, first of one stretch and then of more.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from buildtool.targets.micro import bands, costs, planning
from buildtool.targets.micro.bands import Region
from buildtool.targets.micro.network import Network
from buildtool.targets.micro.planning import Plan

_LONGEST = 12  # layers of a region
_HEIGHTS = (1, 2, 3, 4, 8, 16)
_ROUNDS = 3  # regions of a network
_CLOSE = 4  # plans that are improved where none fits at once
_TRIES = 60  # to improve one


@dataclass(frozen=True)
class Stretch:
    """Layers that are computed in bands, for reports."""

    first: str
    last: str
    rows: int
    bands: int
    kept: bool


@dataclass(frozen=True)
class Choice:
    """A network with its memory, and what it costs."""

    network: Network
    plan: Plan
    instructions: int  # estimated
    stretches: tuple[Stretch, ...] = ()


@dataclass(frozen=True)
class Search:
    """The choice; None: nothing fits. `offers`: less and less RAM for more and more instructions."""

    found: Choice | None
    plain: Choice
    offers: tuple[Choice, ...]

    @property
    def smallest(self) -> int:
        return min(offer.plan.size for offer in self.offers)


def search(network: Network, kernel_set: str, limit: int | None) -> Search:
    """Without a limit nothing is looked for: the plan without bands is the choice."""
    plain = Choice(network, planning.plan(network, kernel_set), costs.of_network(network, kernel_set))
    if limit is None:
        return Search(plain, plain, (plain,))
    known, best = [plain], plain
    for _ in range(_ROUNDS):
        more = list(_banded(best, kernel_set))
        known += more
        smallest = min(more, key=_size_then_price, default=best)
        if smallest.plan.size >= best.plan.size or _cheapest(known, limit):
            break
        best = smallest
    if _cheapest(known, limit) is None:
        close = sorted(known, key=_size_then_price)[:_CLOSE]
        known += [_improved(each, kernel_set) for each in close]
    found = _cheapest(known, limit)
    if found is not None and found.stretches:
        found = min((found, _improved(found, kernel_set)), key=_size_then_price)
    return Search(found, plain, _offers(known))


def _improved(choice: Choice, kernel_set: str) -> Choice:
    return Choice(
        choice.network, planning.plan(choice.network, kernel_set, _TRIES), choice.instructions, choice.stretches
    )


def _size_then_price(choice: Choice) -> tuple[int, int]:
    return choice.plan.size, choice.instructions


def _cheapest(known: Sequence[Choice], limit: int) -> Choice | None:
    fits = [each for each in known if each.plan.size <= limit]
    return min(fits, key=lambda each: (each.instructions, each.plan.size), default=None)


def _offers(known: Sequence[Choice]) -> tuple[Choice, ...]:
    """Those that nothing beats in both."""
    found: list[Choice] = []
    for each in sorted(known, key=lambda each: (each.instructions, each.plan.size)):
        if not found or each.plan.size < found[-1].plan.size:
            found.append(each)
    return tuple(found)


def _banded(base: Choice, kernel_set: str) -> Iterator[Choice]:
    network = base.network
    sizes = [size for _, size in base.plan.timeline]
    peak = sizes.index(max(sizes))
    for first in range(max(0, peak - _LONGEST + 1), peak + 1):
        for last in range(max(peak, first + 1), min(first + _LONGEST, len(network.layers))):
            if not bands.is_possible(network, first, last):
                continue
            height = network.layers[last].output.shape[1]
            for rows in (rows for rows in _HEIGHTS if rows < height):
                for kept in (True, False):
                    yield _choice(base, Region(first, last, rows, kept), kernel_set)


def _choice(base: Choice, region: Region, kernel_set: str) -> Choice:
    first, last = (base.network.layers[at] for at in (region.first, region.last))
    count = -(-last.output.shape[1] // region.rows)
    stretch = Stretch(first.name, last.name, region.rows, count, region.kept)
    network = bands.banded(base.network, region)
    plan = planning.plan(network, kernel_set, 0)
    return Choice(network, plan, costs.of_network(network, kernel_set), (*base.stretches, stretch))
