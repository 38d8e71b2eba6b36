"""The figures of a build, from what the stages made."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from itertools import chain
from pathlib import Path
from typing import Any

from buildtool.builders import package
from buildtool.builders.built import BuiltFirmware, BuiltLibrary
from buildtool.importers.request import ImportedModel
from buildtool.ir.work import macs
from buildtool.passes.pipeline import PassRun
from buildtool.reports import placement
from buildtool.reports.documents import FirmwareReport, LibraryReport, ModelReport
from buildtool.targets.protocol import FirmwareModel, FirmwareProgram, Flashed, TargetProgram


def model_report(
    imported: ImportedModel,
    passes: Sequence[PassRun],
    programs: Sequence[TargetProgram],
    index: int,
    files: Mapping[str, bytes | Path],
) -> ModelReport:
    """The figures of one model of the library."""
    source = programs[0].models[index].source
    return ModelReport(
        name=source.name,
        platform=imported.platform,
        source_nodes=imported.source_nodes,
        nodes=len(list(source.graph.walk())),
        macs=macs(source.graph),
        data_bytes=package.size_of(files[f"{source.name}.data"]),
        operators=dict(sorted(Counter(node.op.name for node in source.graph.walk()).items())),
        passes=tuple(vars(run) for run in passes),
        plans=tuple(
            {
                "abi": program.abi,
                "arena_size": program.models[index].plan.arena_size,
                "lower_bound": program.models[index].lower_bound,
                "kernels": dict(sorted(Counter(chain.from_iterable(program.models[index].plan.kernels)).items())),
                **(
                    {"single_precision": [vars(node) for node in kept]}
                    if (kept := program.models[index].kept) and not source.obscured
                    else {}
                ),
                **(
                    {"placement": placement.of_plan(told, obscured=source.obscured)}
                    if (told := program.models[index].placement)
                    else {}
                ),
            }
            for program in programs
        ),
    )


def library_report(built: BuiltLibrary) -> LibraryReport:
    """The figures of one library."""
    return LibraryReport(
        abi=built.abi,
        shared=f"lib/{built.abi}/{built.shared.name}",
        static=f"lib/{built.abi}/{built.archive.name}" if built.archive else "",
        bytes_stripped=built.info.bytes_stripped,
        bytes_static=built.archive.stat().st_size if built.archive else 0,
        kernels=built.info.kernels,
        exported=built.info.exported,
        needed=built.info.needed,
        glibc=built.info.glibc,
        sizes=built.sizes.as_json(),
        compiled=built.compiled,
        reused=built.reused,
        seconds=round(built.seconds, 3),
    )


def firmware_model_report(
    model: FirmwareModel, platform: str, imported: ImportedModel | None, passes: Sequence[PassRun]
) -> ModelReport:
    """The figures of one model of firmware; a description was not imported."""
    layers = sum(model.operators.values())
    return ModelReport(
        name=model.name,
        platform=platform,
        source_nodes=imported.source_nodes if imported else layers,
        nodes=layers,
        macs=model.macs,
        data_bytes=model.data_bytes,
        operators=dict(model.operators),
        passes=tuple(vars(run) for run in passes),
    )


def firmware_reports(
    programs: Sequence[FirmwareProgram],
    built: Sequence[BuiltFirmware],
    contents: Mapping[str, bytes | Path],
    flashed: Mapping[str, Sequence[Flashed]],
) -> list[FirmwareReport]:
    """The figures of the firmware for each chip. `contents`: what the build writes; `flashed`: what packages put where,
    by ABI."""
    known = {firmware.abi: firmware for firmware in built}
    found = []
    for program in programs:
        firmware, folder = known.get(program.abi), f"lib/{program.abi}/"
        files = {path: len(data) for path, data in sorted(contents.items()) if isinstance(data, bytes)}
        found.append(
            FirmwareReport(
                abi=program.abi,
                compiler=firmware.compiler if firmware else "",
                files={path: size for path, size in files.items() if path.startswith(folder)},
                images={f"{folder}{image.name}.elf": image.memory_bytes for image in firmware.images}
                if firmware
                else {},
                models=tuple(_firmware_figures(model) for model in program.models),
                flash=tuple(vars(part) for part in flashed.get(program.abi, ())),
                seconds=round(firmware.seconds, 3) if firmware else 0.0,
            )
        )
    return found


def _firmware_figures(model: FirmwareModel) -> dict[str, Any]:
    return {
        "name": model.name,
        "figures": [vars(figure) for figure in model.figures],
        "details": dict(model.details),
    }
