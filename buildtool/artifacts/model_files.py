"""The files of `model/`: containers, their text form, and a page for each graph."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from buildtool.artifacts.fingerprints import version
from buildtool.builders.disks import writing_to
from buildtool.codegen import container
from buildtool.reports.graph_page import Stages
from buildtool.targets import native_library
from buildtool.targets.protocol import ModelSource, PlannedModel, TargetProgram

_LARGE = 16 << 20  # bytes of weights that wait for the end of a build in files rather than in memory


def model_files(stages: Sequence[Stages], programs: Sequence[TargetProgram], scratch: Path) -> dict[str, bytes | Path]:
    """The files of `model/`: portable, as text and as a page to look at; planned per ABI, as far as the library does
    not hold them itself. `stages`: what the models were before. `scratch`: where a folder may be made for large
    weights, which live as long as it does.
    """
    files: dict[str, bytes | Path] = {}
    for before, model in zip(stages, programs[0].models, strict=True):
        name = model.source.name
        portable, files[f"{name}.data"] = _written(model, planned=False, file=scratch / f"{name}.data")
        files[f"{name}.pb"] = portable
        files[f"{name}.pb_txt"] = container.describe(portable).encode()
        files[f"{name}_index.html"] = _graph_page(before, model.source)
    for program in programs:
        library = program.library
        if library.data_in_library and library.graph_in_library:
            continue
        for model in program.models:
            name = f"{program.abi}/{model.source.name}"
            own, data = _written(model, planned=True, file=scratch / f"{name}.data")
            if not library.graph_in_library:
                files[f"{name}.pb"] = own
            if not library.data_in_library:
                files[f"{name}.data"] = data
            if "paddle" in library.interfaces and not library.data_in_library:
                whole = container.Container(own, data if isinstance(data, bytes) else data.read_bytes())
                files[f"{name}.whole.pb"] = container.in_one_file(whole)
    return files


def _graph_page(stages: Stages, source: ModelSource) -> bytes:
    if source.obscured:
        stages = Stages()
    stages.graph("As built", source.graph, "What the library computes.")
    return stages.page(source.name, version())


def graph_pages(stages: Sequence[Stages], sources: Sequence[ModelSource]) -> dict[str, bytes]:
    """Of firmware: what `model_files` has for people to look at."""
    pairs = zip(stages, sources, strict=True)
    return {f"model/{source.name}_index.html": _graph_page(before, source) for before, source in pairs}


def planned(model: PlannedModel) -> container.Container:
    """The graph and the weights of a model as its ABI takes them."""
    return native_library.write_container(model)


def _written(model: PlannedModel, *, planned: bool, file: Path) -> tuple[bytes, bytes | Path]:
    """The graph, and the weights: those that are large in the file."""
    source = model.source if planned else model.portable
    if sum(value.constant.nbytes for value in source.graph.values() if value.constant is not None) < _LARGE:
        files = native_library.write_container(model, planned)
        return files.model, files.data
    with writing_to(file):
        file.parent.mkdir(parents=True, exist_ok=True)
        with file.open("wb") as data:
            return native_library.write_container_to(data, model, planned), file
