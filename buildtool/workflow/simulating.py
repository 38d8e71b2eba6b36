"""A described network of the MAX7800x on this machine, to the last bit: outputs, comparisons, accuracy, cycles."""

from __future__ import annotations

import zipfile
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from buildtool.builders.device_simulators import max7800x_simulator
from buildtool.builders.objects import ObjectCache
from buildtool.builders.package import write_file
from buildtool.builders.process import Processes
from buildtool.errors import ConfigError, RunError, ValidationError, Where
from buildtool.settings import SILENT, Progress, SimulationSettings
from buildtool.targets.max7800x import description
from buildtool.targets.max7800x.devices import DEVICES
from buildtool.targets.max7800x.simulation import compare, evaluate, intermediates
from buildtool.targets.max7800x.simulation.compare import Comparison
from buildtool.targets.max7800x.simulation.estimate import Estimate, Power, estimate
from buildtool.targets.max7800x.simulation.evaluate import Accuracy
from buildtool.targets.max7800x.simulation.native_simulator import Simulator
from buildtool.targets.max7800x.simulation.simulate import Trace


@dataclass(frozen=True)
class SimulationReport:
    """What a network computed, and what else was asked for."""

    network: str
    device: str
    trace: Trace | None  # of the sample
    cycles: Estimate
    comparison: Comparison | None = None
    accuracy: Accuracy | None = None
    written: tuple[str, ...] = ()  # files

    def as_json(self) -> dict[str, Any]:
        document: dict[str, Any] = {
            "network": self.network,
            "device": self.device,
            "estimate": self.cycles.as_json(),
            "written": list(self.written),
        }
        if self.trace is not None:
            layers = self.trace.network.layers
            document["outputs"] = {str(layers[at].index): out.tolist() for at, out in self.trace.results.items()}
        if self.comparison is not None:
            document["same"] = self.comparison.same
            document["differences"] = [difference.as_json() for difference in self.comparison.differences]
            document["missing"] = list(self.comparison.missing)
        if self.accuracy is not None:
            document["accuracy"] = self.accuracy.as_json()
        return document


def simulate(file: Path, settings: SimulationSettings, progress: Progress = SILENT) -> SimulationReport:
    """Run a description with its weights: on a sample, over labelled samples, or both.

    ValidationError where the outputs of layers are not those of `settings.against`: it names the first wrong layer,
    channel and pixel.
    """
    if settings.device not in DEVICES:
        raise ConfigError(f"there is no device '{settings.device}'", rule=f"one of {', '.join(DEVICES)}")
    device = DEVICES[settings.device]
    options = description.Options(average_rounds=settings.average_rounds)
    described = description.read(
        file, device=device, weights=settings.weights, bias=settings.bias, sample=settings.sample, options=options
    )
    for note in described.notes:
        progress.note(note)
    network = described.network
    power = None if settings.power is None else Power(*settings.power)
    report = SimulationReport(network.name, device.name, None, estimate(network, power=power))
    simulator = Simulator(network, max7800x_simulator(ObjectCache(processes=Processes(echo=progress.step))))
    if settings.data is not None:
        progress.stage("evaluate")
        samples, labels = _labelled(settings.data)
        report = replace(report, accuracy=evaluate.evaluate(simulator, list(samples), labels, top=settings.top))
    if described.sample is None:
        if settings.data is None or settings.log_folder is not None or settings.against is not None:
            raise ConfigError("there is no sample", where=Where(file=str(file)), remedy="give a .npy file of one")
        return report
    progress.stage("simulate")
    trace = simulator.run(described.sample)
    report = replace(report, trace=trace)
    if settings.log_folder is not None:
        report = replace(report, written=_logged(trace, settings.log_folder))
    if settings.against is not None:
        report = replace(report, comparison=_compared(trace, settings.against))
    return report


def _compared(trace: Trace, folder: Path) -> Comparison:
    found = compare.with_outputs(trace, intermediates.read(folder))
    if not found.same:
        raise ValidationError(str(found), where=Where(file=str(folder)))
    return found


def _logged(trace: Trace, folder: Path) -> tuple[str, ...]:
    texts = intermediates.texts(trace)
    for name, text in texts.items():
        write_file(folder / name, text)
    return tuple(str(folder / name) for name in texts)


def _labelled(file: Path) -> tuple[NDArray[Any], list[int]]:
    """The arrays `samples` and `labels` of an .npz."""
    where = Where(file=str(file))
    rule = "an .npz with whole numbers: `samples` of [number, channels, rows, columns] and `labels`"
    try:
        with file.open("rb") as stream, np.load(stream, allow_pickle=False) as arrays:
            samples, labels = arrays["samples"], arrays["labels"]
    except OSError as error:
        raise RunError(f"cannot read the file: {error.strerror or error}", where=where, rule=rule) from None
    except (ValueError, KeyError, TypeError, EOFError, zipfile.BadZipFile) as error:
        raise RunError(f"these are no labelled samples: {error}", where=where, rule=rule) from None
    if samples.ndim < 2 or samples.dtype.kind not in "iu" or labels.ndim != 1 or labels.dtype.kind not in "iu":
        found = f"samples of {samples.dtype} in {samples.ndim} dimensions, labels of {labels.dtype} in {labels.ndim}"
        raise RunError(found, where=where, rule=rule)
    return samples, [int(label) for label in labels]
