"""How near a node comes to what the processor can do: the greater of computing and moving bytes decides."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

_SAME_SPEED = 1 << 62  # bytes: a bandwidth that is given is that of every size


@dataclass(frozen=True)
class Peak:
    """What the processor can do with these threads. Nothing is known of what is 0."""

    gmacs: Mapping[str, float]  # by the type that is computed in
    reading: Sequence[tuple[int, float]]  # GB/s of buffers of so many bytes, the small ones first
    source: str  # measured, given

    @staticmethod
    def measured(figures: Mapping[str, Any]) -> Peak:
        """From the output of `lathe_run --peak`."""
        f32, s8 = (figures[f"{key}_mmacs"] / 1e3 for key in ("f32", "s8"))
        reading = [(item["bytes"], item["mb_s"] / 1e3) for item in figures["reading"]]
        return Peak({"f32": f32, "s8": s8}, reading, "measured")

    @staticmethod
    def given(gmacs: float, gigabytes: float) -> Peak:
        return Peak({"f32": gmacs}, [(_SAME_SPEED, gigabytes)], "given")

    def bandwidth(self, size: int) -> float:
        """Of the smallest buffer that holds so many bytes; small ones stay in caches."""
        return next((speed for room, speed in self.reading if size <= room), self.reading[-1][1])

    def share(self, macs: int, size: int, kind: str, nanoseconds: float) -> tuple[float, str] | None:
        """The time that a perfect kernel would take as a share of the time it took, and what limits it.

        More than 1 is no mistake: Winograd's algorithms multiply less than `macs` says.
        """
        speed, bandwidth = self.gmacs.get(kind, 0.0) if macs else 1.0, self.bandwidth(size)
        if not speed or not bandwidth or not nanoseconds:
            return None
        computing, moving = macs / speed, size / bandwidth
        return max(computing, moving) / nanoseconds, "computing" if computing >= moving else "memory"

    def as_json(self) -> dict[str, Any]:
        reading = [{"bytes": None if room == _SAME_SPEED else room, "gb_s": speed} for room, speed in self.reading]
        return {"gmacs": dict(self.gmacs), "reading": reading, "source": self.source}
