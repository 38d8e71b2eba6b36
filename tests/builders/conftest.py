"""Libraries that the tests of the builders share: compiled once per run of the tests."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

import pytest

from buildtool.builders import library
from buildtool.builders.built import BuiltLibrary
from buildtool.builders.objects import ObjectCache
from buildtool.codegen.source_tree import SourceTree
from buildtool.ir.graph import Graph
from buildtool.ir.operator import Operator
from buildtool.targets.cpu import TARGET
from buildtool.targets.protocol import LibrarySource, ModelSource, TargetProgram
from tests.plan.graphs import add_input, apply, make, small_network
from tests.shared_folders import run_folder

ABI_NAMES = ("host", "aarch64-linux-gnu", "arm-linux-gnueabihf")
ABIS = ["host", *(pytest.param(abi, marks=pytest.mark.arm) for abi in ABI_NAMES[1:])]
Build = Callable[..., BuiltLibrary]


def relu_network(name: str = "act", op: Operator | None = None) -> Graph:
    """One node."""
    graph = Graph(name=name)
    graph.outputs.append(apply(graph, op or make("relu"), add_input(graph, "x", (2, 5)), name="act"))
    return graph


def source(
    name: str = "tiny",
    graphs: Sequence[Graph] = (),
    op_paths: Sequence[Path] = (),
    *,
    code: bool = False,
    messages: bool = True,
) -> LibrarySource:
    """A library of these models; the small network where none is given."""
    models = tuple(ModelSource(graph.name, graph) for graph in graphs or [small_network()])
    return LibrarySource(name, name, models, code, code, tuple(op_paths), messages)


def lowered(library_source: LibrarySource, *abis: str) -> tuple[list[TargetProgram], SourceTree]:
    programs = [TARGET.lower(library_source, abi) for abi in abis or ("host",)]
    return programs, TARGET.emit(programs)


@pytest.fixture(scope="session")
def cache(tmp_path_factory: pytest.TempPathFactory) -> Iterator[ObjectCache]:
    """One cache for all workers of pytest-xdist: that is what it is for. Builds and links are those of this run alone.

    Its objects are those of the user's cache, which the other tests fill: a name is a hash of all that decides the
    bytes, and test_objects.py, which tests that, has caches of its own.
    """
    folder, lasting = run_folder(tmp_path_factory) / "lathe-cache", ObjectCache()
    lasting.use()  # as long as this generator lives, nothing is pruned from it
    objects = lasting.folder / "objects"
    for made in (folder, objects):
        made.mkdir(exist_ok=True)
    with contextlib.suppress(FileExistsError):  # of another worker
        (folder / "objects").symlink_to(objects, target_is_directory=True)
    yield ObjectCache(folder)


@pytest.fixture(scope="session")
def build(cache: ObjectCache) -> Build:
    """Builds a library in the shared cache: `build(source, abi)`."""

    def run(library_source: LibrarySource, abi: str = "host", owner: str = "test") -> BuiltLibrary:
        programs, tree = lowered(library_source, abi)
        result = library.build(programs[0], tree, cache=cache, owner=f"{owner}-{abi}-{library_source.graph_in_library}")
        assert result is not None
        return result

    return run
