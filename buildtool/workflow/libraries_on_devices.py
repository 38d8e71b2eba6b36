"""Where the models of a library run: every ABI, on every device that is asked for."""

from __future__ import annotations

from collections.abc import Iterator

from buildtool.config import Deployment, ModelConfig
from buildtool.devices.choose import abi_like, devices_for
from buildtool.devices.runner import RunResult
from buildtool.reports.documents import BuildReport
from buildtool.requests import deployments, runs
from buildtool.running.library_on_device import LibraryOnDevice
from buildtool.settings import Options, Progress, RunSettings


def like_abi(deployment: Deployment, built: BuildReport, abi: str) -> str:
    """The ABI of Lathe's own whose devices run a library: another one where a toolchain file has built it."""
    return abi_like(built.file_of(abi, "shared")) if abi in dict(deployment.toolchains) else abi


def stands_of(
    deployment: Deployment, built: BuildReport, settings: RunSettings
) -> Iterator[tuple[str, LibraryOnDevice]]:
    """Every ABI with every device, one at a time."""
    for abi in deployment.target_abis:
        like = like_abi(deployment, built, abi)
        for device in devices_for(like, settings.on_chips(deployment.target_socs)):
            with LibraryOnDevice(built, abi, "shared", settings, device, like) as stand:
                yield abi, stand


def runs_of(
    deployment: Deployment, built: BuildReport, options: Options, settings: RunSettings, progress: Progress
) -> Iterator[tuple[LibraryOnDevice, ModelConfig, RunResult]]:
    """Every model on every ABI and device."""
    for abi, stand in stands_of(deployment, built, settings):
        for model in deployments.selected(deployment, settings.model):
            progress.stage(f"run {model.name} on {abi}, {stand.device.name}")
            inputs, outputs = runs.run_of(model, options, settings)
            for _ in range(settings.restarts):
                yield stand, model, stand.run(model.identifier, inputs, outputs)
