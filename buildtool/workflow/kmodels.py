"""`lathe run` and `lathe validate` for a kmodel file, whoever made it: no deployment file is needed."""

from __future__ import annotations

import math
import time
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

import numpy as np

from buildtool.builders import package
from buildtool.devices.runner import RunResult
from buildtool.errors import ModelFileError, RunError, Where
from buildtool.ir.evaluate import evaluate
from buildtool.reports.documents import RunReport, ValidationReport
from buildtool.running.compare import Variant, compare_outputs
from buildtool.running.metrics import Array
from buildtool.settings import RunSettings
from buildtool.targets.k210.format.kmodel import Kmodel, read
from buildtool.targets.k210.format.kpu_layers import Conv
from buildtool.targets.k210.generation import estimate
from buildtool.targets.k210.simulation import intermediates
from buildtool.targets.k210.simulation.simulator import Simulator
from buildtool.targets.k210.simulation.to_graph import INPUT, Unrolled, to_graph
from buildtool.targets.k210.target import ABI
from buildtool.tensors.files import saved
from buildtool.workflow import on_simulator

_REFERENCE = "the meaning of its layers in NumPy; bytes are equal, floats up to rounding"
_ROUNDING = 1e-5  # of the largest value; NumPy adds in another order


def is_kmodel(file: Path) -> bool:
    """Whether a file is to be read as one."""
    return file.suffix.lower() == ".kmodel" and file.is_file()


def run(file: Path, settings: RunSettings) -> RunReport:
    """The outputs that the simulator gives for an input, or for random bytes."""
    model = _read(file)
    given = _input(model, file, settings)
    began = time.perf_counter()
    outputs = _outputs(model, to_graph(model, file.stem), given)
    result = RunResult(outputs, (time.perf_counter() - began) * 1e3)
    told = on_simulator.report(ABI, file.stem, result, settings)
    return RunReport(file.stem, file.parent, ({**told, "estimate": estimate.document(model)},))


def dump(file: Path, settings: RunSettings, folder: Path) -> Path:
    """Write what every layer puts out as text; where it is."""
    model = _read(file)
    for name, text in intermediates.texts(model, _input(model, file, settings).tobytes()).items():
        package.write_file(folder / name, text)
    return folder


def validate(file: Path, settings: RunSettings) -> ValidationReport:
    """Whether the simulator, which follows the registers in both memories, gives what the layers mean."""
    model = _read(file)
    given = _input(model, file, settings)
    unrolled = to_graph(model, file.stem)
    (value,) = unrolled.graph.inputs
    real = given.astype(np.float32).reshape([int(dim) for dim in value.type.shape if isinstance(dim, int)])
    meant = evaluate(unrolled.graph, {INPUT: real})
    found = _outputs(model, unrolled, given)
    expected = {name: np.asarray(meant[name]).reshape(values.shape) for name, values in found.items()}
    results = []
    variant = Variant(file.stem, ABI, "firmware", "file", on_simulator.DEVICE)
    for result in compare_outputs(variant, found, expected, 0.0, _REFERENCE):
        different = _different(found[result.output], expected[result.output])
        results.append(replace(result, problem=f"{different} values differ" if different else "").as_json())
    return ValidationReport(file.stem, file.parent, _REFERENCE, tuple(results))


def _read(file: Path) -> Kmodel:
    try:
        return read(file.read_bytes(), str(file))
    except OSError as error:
        raise ModelFileError(f"the file cannot be read: {error.strerror}", where=Where(file=str(file))) from None


def _input(model: Kmodel, file: Path, settings: RunSettings) -> Array:
    """Bytes of planes, channels first; floats where the first layer is fully connected."""
    planes = isinstance(model.layers[0], Conv)
    count = model.input_bytes if planes else model.input_bytes // 4
    unknown = [name for name in settings.inputs if name != INPUT]
    if unknown:
        where = Where(file=str(file))
        raise RunError(f"the kmodel has no input '{unknown[0]}'", where=where, rule=f"its input is called '{INPUT}'")
    if INPUT not in settings.inputs:
        random = np.random.default_rng(settings.seed)
        return random.integers(0, 256, count, np.uint8) if planes else random.random(count, np.float32)
    path = settings.inputs[INPUT]
    values = saved(path)
    where = Where(file=str(path))
    if values.size != count:
        raise RunError(f"the input has {values.size} values", where=where, rule=f"the first layer takes {count}")
    if planes and (np.any(values != np.floor(values)) or values.min() < 0 or values.max() > 255):
        raise RunError("the input is not of bytes", where=where, rule="integers from 0 to 255, channels first")
    return values.reshape(-1).astype(np.uint8 if planes else np.float32)


def _different(found: Array, expected: Array) -> int:
    """How many values are not those that were expected: bytes have to be equal."""
    room = 0.0 if found.dtype == np.uint8 else _ROUNDING * max(1.0, float(np.abs(expected).max(initial=0.0)))
    return int(np.count_nonzero(~(np.abs(found.astype(np.float64) - expected) <= room)))


def _outputs(model: Kmodel, unrolled: Unrolled, given: Array) -> Mapping[str, Array]:
    """By the names `output0`, `output1`, ...: bytes or floats, as the layers that wrote them."""
    found = {}
    for value, data in zip(unrolled.graph.outputs, Simulator(model).run(given.tobytes()), strict=True):
        count = math.prod(int(dim) for dim in value.type.shape if isinstance(dim, int))
        found[value.name] = np.frombuffer(data, np.uint8 if len(data) == count else "<f4")
    return found
