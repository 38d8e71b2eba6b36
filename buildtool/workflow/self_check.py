"""Runs what was built once as planned and once with memory of its own for each value, before anybody gets it.

Both runs use the same kernels: results that differ are the fault of the memory plan. The runs happen in a forked
process, which a wrong plan may kill. One does for all models of a library: to copy this process takes longer, the
more models it holds.
"""

from __future__ import annotations

import json
import os
import select
import signal
import time
import warnings
from collections.abc import Mapping, Sequence
from pathlib import Path

import numpy as np

from buildtool.builders.built import BuiltLibrary
from buildtool.devices.choose import runs_here
from buildtool.errors import InternalError, Problem, RunError, Where
from buildtool.ir.types import DType
from buildtool.runtime import Array, DeviceKind, DeviceOptions, Engine, Library, Session, TensorInfo
from buildtool.settings import Progress
from buildtool.targets.protocol import PlannedModel, TargetProgram

_SHARE = 0.1  # of the time of the build
_LEAST_SECONDS = 1.0
_PATIENCE = 30.0  # how many times its share a process may take that hangs
_MOST_BYTES = 1 << 30  # of all values of a model
_RTOL = 1e-3
_FAULTS = (signal.SIGSEGV, signal.SIGBUS, signal.SIGFPE, signal.SIGILL, signal.SIGABRT)

#: What the library itself says of what it was given: LATHE_BAD_MODEL and LATHE_INTERNAL of lathe/c_api.h.
_OUR_FAULT = (4, 6)


class WrongPlanError(Exception):
    """An output differs between the two runs."""


def check(
    built: Sequence[BuiltLibrary],
    programs: Sequence[TargetProgram],
    files: Mapping[str, bytes | Path],
    progress: Progress,
    build_seconds: float,
) -> None:
    """InternalError where a plan lets values overwrite each other; a note where that could not be found out.

    `files`: those of `model/`. Libraries for other machines are not run.
    """
    limit = max(_LEAST_SECONDS, _SHARE * build_seconds)
    for library, program in zip(built, programs, strict=True):
        if not runs_here(program.abi):
            continue
        progress.step(f"self-check of {library.name} for {program.abi}")
        small = [model for model in program.models if size_of_values(model) <= _MOST_BYTES]
        names = [model.source.name for model in small]
        told = dict(zip(names, _verdicts(library, program, small, files, limit), strict=True))
        for model in program.models:
            kind, what = told.get(model.source.name, ("skipped", "its values together need more than 1 GiB"))
            where = Where(file=str(library.shared), model=model.source.name)
            if kind == "wrong":
                rule = f"the kernels of {program.abi} compute the same wherever values are placed"
                raise InternalError(f"the built library is wrong: {what}", where=where, rule=rule)
            if kind == "skipped":
                note = f"the memory plan was not compared with a run without shared memory: {what}"
                progress.note(Problem(note, Where(model=model.source.name), remedy="check it with: lathe validate"))


def size_of_values(model: PlannedModel) -> int:
    """Bytes that the model takes where no value shares memory."""
    return sum(place.size for place in model.plan.arena)


def _verdicts(
    library: BuiltLibrary,
    program: TargetProgram,
    models: Sequence[PlannedModel],
    files: Mapping[str, bytes | Path],
    limit: float,
) -> list[tuple[str, str]]:
    """What was found of each model: right, wrong or skipped, and a word on it."""
    verdicts: list[tuple[str, str]] = []
    while len(verdicts) < len(models):
        left = models[len(verdicts) :]
        found, died = _apart(library, program, left, files, limit)
        if died and len(found) > 1:  # one of those before may have spoilt the memory: each for itself tells which
            alone = [_apart(library, program, [model], files, limit) for model in left[: len(found)]]
            found = [verdict for (verdict,), _ in alone]
        verdicts += found
    return verdicts


def _apart(
    library: BuiltLibrary,
    program: TargetProgram,
    models: Sequence[PlannedModel],
    files: Mapping[str, bytes | Path],
    limit: float,
) -> tuple[list[tuple[str, str]], bool]:
    """What one process finds of models, one behind the other, up to one at which it dies or hangs; whether it died."""
    reader, writer = os.pipe()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DeprecationWarning)  # of fork beside threads: the child starts none of Python's
        child = os.fork()
    if child == 0:
        os.close(reader)
        for fault in _FAULTS:  # a handler of a library in this process may return, and the process live on
            signal.signal(fault, signal.SIG_DFL)
        try:
            for model in models:
                os.write(writer, json.dumps(_verdict(library, program, model, files, limit)).encode() + b"\n")
        finally:
            os._exit(0)
    os.close(writer)
    verdicts: list[tuple[str, str]] = []
    told, hangs = b"", False
    try:
        while len(verdicts) < len(models):
            ready, _, _ = select.select([reader], [], [], _PATIENCE * limit)
            part = os.read(reader, 1 << 16) if ready else b""
            if not part:
                hangs = not ready
                break
            *lines, told = (told + part).split(b"\n")
            verdicts += [(kind, what) for kind, what in map(json.loads, lines)]
    finally:
        os.close(reader)
        os.kill(child, signal.SIGKILL)  # one that has ended keeps its status
        _, status = os.waitpid(child, 0)
    if hangs:
        verdicts.append(("skipped", f"it took longer than {_PATIENCE * limit:.0f} s"))
    died = len(verdicts) < len(models) and not hangs
    if died:
        verdicts.append(("wrong", f"a run ended with signal {-os.waitstatus_to_exitcode(status)}"))
    return verdicts, died


def _verdict(
    library: BuiltLibrary, program: TargetProgram, model: PlannedModel, files: Mapping[str, bytes | Path], limit: float
) -> tuple[str, str]:
    """Never raises: what it says is all that a process does."""
    try:
        name = model.source.name
        found = {suffix: files.get(f"{program.abi}/{name}{suffix}") for suffix in (".pb", ".data")}
        engine = Library(library.shared, program.library.identifier).engine(
            model=found[".pb"],
            data=found[".data"],
            model_name=None if found[".pb"] else name,
            device=DeviceOptions(kind=DeviceKind.CPU),
        )
        compare(engine, limit)
    except WrongPlanError as error:
        return "wrong", str(error)
    except RunError as error:  # others than ours: memory, instruction sets that this machine lacks
        ours = error.__cause__ is not None and error.__cause__.args[1:] and error.__cause__.args[1] in _OUR_FAULT
        return "wrong" if ours else "skipped", error.problems[0].what
    except BaseException as error:
        return "skipped", f"{type(error).__name__}: {error}"
    return "right", ""


def compare(engine: Engine, limit: float = _LEAST_SECONDS) -> None:
    """Raises where the planned run of a model differs from one in which each value has memory of its own.

    Where sizes may vary, the smallest ones are compared as well, which the library plans by itself.
    """
    began = time.monotonic()
    together, alone = engine.session(), engine.session(keep_all=True)
    _compare_at(together, alone, [entry.shape for entry in together.inputs])
    least = [entry.min_shape for entry in together.inputs]
    varies = any(entry.min_shape != entry.shape for entry in together.inputs)
    if varies and all(min(shape, default=1) > 0 for shape in least) and time.monotonic() - began < limit:
        shapes = {entry.name: shape for entry, shape in zip(together.inputs, least, strict=True)}
        try:
            alone.resize(shapes)
        except RunError:
            return  # not each combination of sizes is one that the model can do
        _compare_at(together, alone, least)


def _compare_at(together: Session, alone: Session, shapes: Sequence[Sequence[int]]) -> None:
    feeds = {entry.name: _numbers(entry, shape) for entry, shape in zip(together.inputs, shapes, strict=True)}
    expected, found = alone.run(feeds), together.run(feeds)
    for name, array in found.items():
        if difference := _difference(expected[name], array):
            raise WrongPlanError(f"output '{name}' {difference} when values share memory, so the memory plan is wrong")


def _numbers(entry: TensorInfo, shape: Sequence[int]) -> Array:
    """Random numbers. Integers are 0 or 1: most models that take indices can do with these."""
    rng = np.random.default_rng(0)
    if entry.dtype in (DType.F32, DType.F64, DType.F16, DType.BF16):
        return np.asarray(rng.uniform(-1, 1, shape), entry.dtype.numpy)
    return np.asarray(rng.integers(0, 2, shape), entry.dtype.numpy)


def _difference(expected: Array, found: Array) -> str:
    """Vector instructions may round the ends of rows in another way, where rows lie apart."""
    if expected.tobytes() == found.tobytes():
        return ""
    if expected.shape != found.shape:
        return f"has the shape {list(found.shape)} instead of {list(expected.shape)}"
    if expected.dtype.kind != "f":
        return f"differs in {int(np.sum(expected != found))} of {found.size} elements"
    with np.errstate(all="ignore"):
        wide, other = expected.astype(np.float64), found.astype(np.float64)
        finite = np.isfinite(wide)
        if not np.array_equal(wide[~finite], other[~finite], equal_nan=True):
            return "differs in NaN or infinity"
        error = float(np.max(np.abs(wide - other)[finite], initial=0))
        largest = float(np.max(np.abs(wide[finite]), initial=0))
    return "" if error <= _RTOL * largest + 1e-6 else f"is off by {error:.3g}"
