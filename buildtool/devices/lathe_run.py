"""Runs a job on a device with the program `lathe_run` (native/tools)."""

from __future__ import annotations

import json
import signal
import tempfile
from collections.abc import Mapping
from pathlib import Path, PurePosixPath
from typing import Any

import numpy as np

from buildtool.devices.crash import functions, last_words
from buildtool.devices.device import Completed, Device, Put
from buildtool.devices.runner import Array, Job, NodeTime, RunResult, ThreadTime
from buildtool.errors import DeviceError, RunError, Where

_REFUSED = 1  # lathe_run has said why


def run(device: Device, job: Job) -> RunResult:
    """Run the job. RunError where the library refuses the model or its inputs, or crashes."""
    with tempfile.TemporaryDirectory(prefix="lathe-job-") as name:
        folder = Path(name)
        command = arguments(job, folder, lambda file, lasting: device.push(file, lasting=lasting))
        outputs = {tensor: device.path(f"output{index}.npy") for index, tensor in enumerate(job.outputs)}
        for tensor, path in outputs.items():
            command += ["--output", f"{tensor}={path}"]
        command += ["--rounds", str(job.rounds), "--json", "-"]
        command += ["--warmup", str(job.warmup)] if job.warmup else []
        command += ["--profile"] if job.profile else []
        command += ["--affinity", str(job.affinity)] if job.affinity else []
        command += ["--trace", str(job.trace)] if job.trace else []
        command += ["--markers"] if job.markers else []
        command += _gpu_words(job, device, folder)
        if job.values_file is not None:
            command += ["--values", device.path("values.bin")]
            command += [word for value in job.value_names for word in ("--value", value)]
        done = device.run(command, job.timeout, job.variables)
        if done.exit_code:
            raise _failure(done, device, job)
        report = _report(done, device)
        arrays = {tensor: _pulled(device, path, folder) for tensor, path in outputs.items()}
        if job.values_file is not None:
            device.pull(device.path("values.bin"), job.values_file)
        for file, path in _gpu_outputs(job, device):
            device.pull(path, file)
    timings = report["timings"]
    return RunResult(
        outputs=arrays,
        milliseconds=timings.get("median_ns", 0) / 1e6,
        memory=report["memory"],
        device=device.properties(),
        nodes=tuple(_node(node) for node in report.get("nodes", ())),
        threads=tuple(
            ThreadTime(span["thread"], span["slices"], span["start_ns"], span["end_ns"])
            for span in report.get("threads_of_loops", ())
        ),
        create=report["create_ns"],
        warmup=tuple(timings["warmup_ns"]),
        rounds=tuple(timings["rounds_ns"]),
        observed=tuple(timings["observed_ns"]),
        energy=timings["energy_uj"],
        value_names=tuple(report.get("values", ())),
        process_peak=report.get("process_peak", 0),
        affinity=report.get("affinity", {}),
        log=tuple(done.stderr.splitlines()) if job.trace else (),
        gpu=report.get("device", {}),
    )


def arguments(job: Job, folder: Path, put: Put) -> list[str | PurePosixPath]:
    """The program, and what it has to know to run the model once. Inputs are written into the folder."""
    command: list[str | PurePosixPath] = [put(job.program, True)]
    if job.library is not None:
        command += ["--library", put(job.library, True), "--symbol", job.symbol]
    for option, file in (("--model", job.model_file), ("--data", job.data_file)):
        if file is not None:
            command += [option, put(file, True)]
    if job.model_file is None:
        command += ["--model-name", job.model]
    for index, (tensor, array) in enumerate(job.inputs.items()):
        file = folder / f"input{index}.npy"
        np.save(file, array)
        command += ["--input", f"{tensor}={put(file, False)}"]
    return [*command, "--threads", str(job.threads)]


def _gpu_words(job: Job, device: Device, folder: Path) -> list[str | PurePosixPath]:
    if job.gpu is None:
        return []
    words: list[str | PurePosixPath] = ["--gpu-perf-hint", str(job.gpu.perf_hint)]
    words += ["--gpu-priority-hint", str(job.gpu.priority_hint)]
    words += ["--gpu-check"] if job.gpu.check else []
    words += [] if job.gpu.reuses_programs else ["--opencl-rebuild"]
    words += ["--opencl-storage", device.keeping(job.gpu_programs)] if job.gpu_programs is not None else []
    if job.gpu_files.tuned:
        tuned = folder / "tuned.bin"
        tuned.write_bytes(b"".join(file.read_bytes() for file in job.gpu_files.tuned))
        words += ["--opencl-tuning", device.push(tuned, lasting=False)]
    words += ["--opencl-tune", str(job.gpu_files.milliseconds)] if job.gpu_files.milliseconds else []
    options = {job.gpu_files.write_tuned: "--write-tuning", job.gpu_files.write_programs: "--write-programs"}
    return [*words, *(word for file, path in _gpu_outputs(job, device) for word in (options[file], path))]


def _gpu_outputs(job: Job, device: Device) -> list[tuple[Path, PurePosixPath]]:
    """Where files for what the GPU found out go, and where they are on the device."""
    files = ((job.gpu_files.write_tuned, "tuned.out"), (job.gpu_files.write_programs, "programs.out"))
    return [(file, device.path(name)) for file, name in files if file is not None and job.gpu is not None]


def _node(entry: Mapping[str, Any]) -> NodeTime:
    times = {key: entry[f"{key}_ns"] for key in ("first", "median", "mean", "deviation", "start", "end")}
    return NodeTime(entry["name"], entry["op"], entry["kernel"], entry["ns"], entry["index"], **times)


def peak(device: Device, program: Path, threads: int, timeout: float) -> dict[str, Any]:
    """What the processor of a device can do at most (native/tools/peak.h)."""
    done = device.run([device.push(program), "--peak", "--threads", str(threads), "--json", "-"], timeout)
    if done.exit_code:
        raise DeviceError(
            f"measuring the peak performance of {device.name} ended with exit code {done.exit_code}",
            remedy="give the figures yourself: --peak GMACS,GBS",
        )
    return _report(done, device)


def _pulled(device: Device, path: PurePosixPath, folder: Path) -> Array:
    array: Array = np.load(device.pull(path, folder / path.name), allow_pickle=False)
    return array


def _report(done: Completed, device: Device) -> dict[str, Any]:
    try:
        report: dict[str, Any] = json.loads(done.stdout)
    except ValueError as problem:
        raise DeviceError(
            f"{device.name} returned an invalid result: {done.stdout[:200]!r}", rule=f"it ran: {done.command}"
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
    number = -done.exit_code if done.exit_code < 0 else done.exit_code - 128  # emulators and shells add 128
    names = {item.value: item.name for item in signal.Signals}
    how = f"was killed by {names[number]}" if number in names else f"ended with exit code {done.exit_code}"
    remedies = {
        "SIGILL": "the processor lacks instructions that the library uses",
        "SIGKILL": "it was killed by the system (out of memory) or by a user",
        "SIGTERM": "it was ended by the system (shutdown) or by a user",
    }
    said = last_words(done.stderr)
    stack = functions(done.stderr, job.library, job.symbols)
    return RunError(
        f"the program that runs the model {how} on {device.name}" + (f": {said}" if said else ""),
        where=where,
        rule="location: " + " < ".join(stack) if stack else "",
        remedy=remedies.get(names.get(number, ""))
        or "this is a defect of Lathe or of your own kernel: please report it",
    )
