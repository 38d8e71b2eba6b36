"""Runs a job on a device with the program `lathe_run` (native/tools)."""

from __future__ import annotations

import json
import signal
import tempfile
from pathlib import Path, PurePosixPath
from typing import Any

import numpy as np

from buildtool.devices.device import Completed, Device
from buildtool.devices.runner import Array, Job, NodeTime, RunResult
from buildtool.errors import DeviceError, RunError, Where

_REFUSED = 1  # lathe_run has said why


def run(device: Device, job: Job) -> RunResult:
    """Run the job. RunError where the library refuses the model or its inputs, or crashes."""
    with tempfile.TemporaryDirectory(prefix="lathe-job-") as name:
        folder = Path(name)
        command: list[str | PurePosixPath] = [device.push(job.program)]
        if job.library is not None:
            command += ["--library", device.push(job.library), "--symbol", job.symbol]
        for option, file in (("--model", job.model_file), ("--data", job.data_file)):
            if file is not None:
                command += [option, device.push(file)]
        if job.model_file is None:
            command += ["--model-name", job.model]
        for index, (tensor, array) in enumerate(job.inputs.items()):
            np.save(folder / f"input{index}.npy", array)
            command += ["--input", f"{tensor}={device.push(folder / f'input{index}.npy')}"]
        outputs = {tensor: device.path(f"output{index}.npy") for index, tensor in enumerate(job.outputs)}
        for tensor, path in outputs.items():
            command += ["--output", f"{tensor}={path}"]
        command += ["--threads", str(job.threads), "--rounds", str(job.rounds), "--json", "-"]
        command += ["--profile"] if job.profile else []
        done = device.run(command, job.timeout)
        if done.exit_code:
            raise _failure(done, device, job)
        report = _report(done, device)
        arrays = {tensor: _pulled(device, path, folder) for tensor, path in outputs.items()}
    return RunResult(
        outputs=arrays,
        milliseconds=report["timings"].get("median_ns", 0) / 1e6,
        memory=report["memory"],
        device=device.properties(),
        nodes=tuple(NodeTime(node["name"], node["op"], node["kernel"], node["ns"]) for node in report.get("nodes", ())),
    )


def _pulled(device: Device, path: PurePosixPath, folder: Path) -> Array:
    array: Array = np.load(device.pull(path, folder / path.name), allow_pickle=False)
    return array


def _report(done: Completed, device: Device) -> dict[str, Any]:
    try:
        report: dict[str, Any] = json.loads(done.stdout)
    except ValueError as problem:
        raise DeviceError(
            f"{device.name} gave something else than the result: {done.stdout[:200]!r}", rule=f"it ran: {done.command}"
        ) from problem
    return report


def _failure(done: Completed, device: Device, job: Job) -> RunError:
    """What the library said, or how the program died."""
    where = Where(file=str(job.model_file or job.library or job.program), model=job.model)
    if done.exit_code == _REFUSED:
        try:
            message = json.loads(done.stdout)["error"]["message"]
        except (ValueError, KeyError, TypeError):
            message = done.stderr.strip() or "the library gave no reason"
        return RunError(message, where=where)
    said = done.stderr.strip().splitlines()
    number = -done.exit_code if done.exit_code < 0 else done.exit_code - 128  # emulators and shells add 128
    names = {item.value: item.name for item in signal.Signals}
    how = f"was ended by {names[number]}" if number in names else f"ended with exit code {done.exit_code}"
    remedy = "the processor model lacks instructions that the library uses" if names.get(number) == "SIGILL" else ""
    return RunError(
        f"the program that runs the model {how} on {device.name}" + (f": {said[-1]}" if said else ""),
        where=where,
        remedy=remedy or "this is a defect of Lathe or of the kernel of yours that it runs: please report it",
    )
