"""What the check for Android found: `lathe build --ndk-check`."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from buildtool.reports.table import Table


@dataclass(frozen=True)
class Execution:
    """One output of a model, computed by a library for Android, beside what this machine's own library computes."""

    model: str
    output: str
    cosine: float
    threshold: float

    @property
    def passed(self) -> bool:
        return self.cosine >= self.threshold


@dataclass(frozen=True)
class Checked:
    """One ABI: what was compiled for it, and the library where one was made."""

    abi: str
    sources: int
    files: tuple[str, ...] = ()  # the sources, where they are all that there are
    kernels: tuple[str, ...] = ()  # of the library
    bytes_stripped: int = 0
    page_alignment: int = 0
    needed: tuple[str, ...] = ()
    executed_on: str = ""  # empty: it was linked only
    executions: tuple[Execution, ...] = ()


@dataclass(frozen=True)
class NdkCheckReport:
    """All ABIs."""

    library: str  # empty: all native sources, and no library
    compiler: str
    checked: tuple[Checked, ...]

    @property
    def passed(self) -> bool:
        return all(execution.passed for item in self.checked for execution in item.executions)

    def as_json(self) -> dict[str, Any]:
        abis = []
        for item in self.checked:
            executions = [{**vars(execution), "passed": execution.passed} for execution in item.executions]
            abis.append({**vars(item), "executions": executions})
        return {"library": self.library, "compiler": self.compiler, "passed": self.passed, "abis": abis}

    def parts(self) -> list[str | Table]:
        """The report for people."""
        if not self.library:
            sources = Table(["ABI", "sources compiled and linked"], right=frozenset({"sources compiled and linked"}))
            for item in self.checked:
                sources.add(item.abi, item.sources)
            return [sources]
        table = Table(["ABI", "sources", "bytes", "aligned to", "needs"], right=frozenset({"sources", "bytes"}))
        for item in self.checked:
            needed = ", ".join(item.needed)
            table.add(item.abi, item.sources, item.bytes_stripped, item.page_alignment, needed)
        runs = Table(["ABI", "executed on", "model", "output", "cosine to this machine", "state"])
        for item in self.checked:
            for execution in item.executions:
                state = "passed" if execution.passed else "failed"
                where = (item.abi, item.executed_on, execution.model, execution.output)
                runs.add(*where, f"{execution.cosine:.7f}", state)
        return [table, runs, "these files are not for devices: build with the Android NDK"]
