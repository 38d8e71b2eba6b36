"""Proves without an NDK that what is made for Android fits Android: the stages of `lathe build --ndk-check`."""

from __future__ import annotations

import tempfile
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

from buildtool.builders import android, android_check
from buildtool.builders.objects import ObjectCache
from buildtool.builders.process import Processes
from buildtool.config import Deployment
from buildtool.devices import on_glibc
from buildtool.errors import ConfigError
from buildtool.reports.documents import BuildReport
from buildtool.reports.ndk_check import Checked, Execution, NdkCheckReport
from buildtool.requests import deployments, runs
from buildtool.running.library_on_device import LibraryOnDevice
from buildtool.running.metrics import Array, compare
from buildtool.runtimes import Runtime
from buildtool.settings import DEFAULTS, EVERYTHING, NOTHING, SILENT, Options, Overrides, Progress
from buildtool.targets.registry import library_target
from buildtool.workflow.building import make

_HOST = "host"


def ndk_check(
    file: Path | str | None,
    overrides: Overrides = NOTHING,
    options: Options = DEFAULTS,
    progress: Progress = SILENT,
) -> NdkCheckReport:
    """With a deployment file: build its library for Android's ABIs, and execute it. Without: compile everything."""
    abis = overrides.target_abis or android.ABIS
    others = [abi for abi in abis if abi not in android.ABIS]
    if others:
        raise ConfigError(
            f"'{others[0]}' is not an ABI of Android",
            rule=f"ABIs of Android: {', '.join(android.ABIS)}",
            remedy="leave it out",
        )
    cache = ObjectCache(processes=Processes(echo=progress.step), note=progress.note)
    compiler = str(android_check.tools()["clang++-19"])
    if file is None:
        return NdkCheckReport("", compiler, tuple(_all_sources(abi, cache, progress) for abi in abis))
    changed = replace(overrides, target_abis=(_HOST,))
    files = android_check.toolchain_files(cache, abis)
    deployment = deployments.load_deployment(file, changed, progress)
    deployment = replace(deployment, target_abis=(_HOST, *abis), toolchains=tuple(files.items()))
    with tempfile.TemporaryDirectory(prefix="lathe-ndk-check-") as name:
        built = make(deployment, replace(options, output=Path(name), archive=False), progress, compiles=True)
        progress.stage(f"execute on {_HOST}")
        expected = _outputs(deployment, options, LibraryOnDevice(built, _HOST, "shared", EVERYTHING))
        checked = tuple(_checked(deployment, options, built, abi, expected, cache, progress) for abi in abis)
    return NdkCheckReport(built.library, compiler, checked)


def _all_sources(abi: str, cache: ObjectCache, progress: Progress) -> Checked:
    progress.stage(f"compile all sources for {abi}")
    isas = library_target(Runtime.CPU, abi).capabilities.abis[abi].isas
    files = tuple(unit.path for unit in android_check.compile_all(abi, isas, cache).paths)
    return Checked(abi, len(files), files)


Outputs = Mapping[str, Mapping[str, Array]]  # by model and name


def _outputs(deployment: Deployment, options: Options, stand: LibraryOnDevice) -> Outputs:
    found = {}
    with stand:
        for model in deployment.models:
            inputs, outputs = runs.run_of(model, options, EVERYTHING)
            found[model.identifier] = stand.run(model.identifier, inputs, outputs).outputs
    return found


def _checked(
    deployment: Deployment,
    options: Options,
    built: BuildReport,
    abi: str,
    expected: Outputs,
    cache: ObjectCache,
    progress: Progress,
) -> Checked:
    library = built.library_for(abi)
    file = built.file_of(abi, "shared")
    alignment = android.page_alignment(file)
    found: Outputs = {}
    executed_on = ""
    if android_check.can_execute(abi):
        progress.stage(f"execute {abi}")
        linux = android_check.EXECUTED_BY[abi]
        device = on_glibc.device(abi, linux, android_check.execution_libraries(abi, cache))
        executed_on = device.name
        android_check.let_glibc_load(file)
        found = _outputs(deployment, options, LibraryOnDevice(built, abi, "shared", EVERYTHING, device, linux))
    executions = [
        Execution(
            model.identifier, name, compare(array, expected[model.identifier][name]).cosine, runs.threshold(model)
        )
        for model in deployment.models
        for name, array in found.get(model.identifier, {}).items()
    ]
    return Checked(
        abi=abi,
        sources=library.compiled + library.reused,
        kernels=library.kernels,
        bytes_stripped=library.bytes_stripped,
        page_alignment=alignment,
        needed=library.needed,
        executed_on=executed_on,
        executions=tuple(executions),
    )
