"""The plan of one model for one ABI: a kernel for every node, a place in the arena for every value."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Protocol

ALIGNMENT = 64  # of every placement; wide enough for every vector unit and a cache line of every machine


class WorksInPlace(Protocol):
    """What planners have to know of that which runs a node."""

    @property
    def in_place(self) -> int | None:
        """The input whose buffer output 0 may take over."""

    @property
    def strided_inputs(self) -> frozenset[int]:
        """The inputs whose rows of the last axis may lie apart."""

    @property
    def strided_output(self) -> bool:
        """Whether the rows of output 0 may lie apart."""

    @property
    def parts(self) -> str:
        """`inputs` may be part of output 0, or `outputs` inside input 0; the empty name is neither."""


@dataclass(frozen=True)
class Placement:
    """Where a value lies in the arena. Values of one place share memory (views, in-place results, parts of others)."""

    value: str
    offset: int  # multiple of ALIGNMENT, but for parts
    size: int  # bytes


@dataclass(frozen=True)
class Plan:
    """What the container stores beside the graph so that the runtime has nothing left to decide.

    `kernels` names the kernels of each node, the best first, in the order of `Graph.walk()` (nodes of regions follow
    their node). The arena is for the shapes at the upper bounds of all symbols; the runtime plans anew where shapes
    differ.
    """

    abi: str
    kernels: tuple[tuple[str, ...], ...]
    arena: tuple[Placement, ...]
    arena_size: int
    packings: tuple[str, ...] = ()  # of input 1 of each node, empty where it is not packed; () where none is

    def as_json(self) -> dict[str, Any]:
        return {
            "abi": self.abi,
            "kernels": [list(names) for names in self.kernels],
            "arena": [{"value": item.value, "offset": item.offset, "size": item.size} for item in self.arena],
            "arena_size": self.arena_size,
            "packings": list(self.packings),
        }

    @staticmethod
    def from_json(data: dict[str, Any]) -> Plan:
        """The inverse of `as_json`. KeyError and TypeError where the data are not those of a plan."""
        return Plan(
            abi=str(data["abi"]),
            kernels=tuple(tuple(str(name) for name in names) for names in data["kernels"]),
            arena=tuple(
                Placement(str(item["value"]), int(item["offset"]), int(item["size"])) for item in data["arena"]
            ),
            arena_size=int(data["arena_size"]),
            packings=tuple(str(name) for name in data["packings"]),
        )
