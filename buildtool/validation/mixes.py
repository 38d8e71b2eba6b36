"""One network in several mixtures of stored and real numbers, run by one library that has all kernels."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from buildtool.builders import package
from buildtool.codegen import container
from buildtool.devices.in_process import LoadedModel
from buildtool.ir.graph import Graph
from buildtool.running.metrics import Array


@dataclass(frozen=True)
class Mixes:
    """The library, and a folder for the mixture that is loaded."""

    library: Path
    identifier: str
    model: str
    folder: Path

    def load(self, graph: Graph, *, keep_all: bool = False) -> LoadedModel:
        """A graph as the runtime plans it itself. One at a time: the next one takes its place on disk."""
        written = container.write(graph, name=self.model)
        files = {".pb": written.model, ".data": written.data}
        for suffix, contents in files.items():
            package.write_file(self.folder / f"{self.model}{suffix}", contents)
        return LoadedModel(self.library, self.model, identifier=self.identifier, models=self.folder, keep_all=keep_all)

    def outputs(self, graph: Graph, samples: Sequence[Mapping[str, Array]]) -> list[dict[str, Array]]:
        """What it gives for every sample."""
        with self.load(graph) as loaded:
            return [loaded.run(sample) for sample in samples]
