"""`lathe train`: what needs torch is imported here, and nowhere before."""

from __future__ import annotations

import importlib.util
import io
import json
import tempfile
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from buildtool.builders.device_simulators import device_simulator
from buildtool.builders.objects import ObjectCache
from buildtool.builders.package import write_file
from buildtool.errors import ConfigError, ToolchainError, UnsupportedError, Where
from buildtool.reports import training as pages
from buildtool.running import clusters
from buildtool.targets.max7800x import TARGET
from buildtool.targets.max7800x.devices import DEVICES, Device
from buildtool.tensors.files import npy
from buildtool.training import augmenting, data, folders, policies, spaces

HOWS = ("evolution", "random")
K210 = "k210"


@dataclass(frozen=True)
class FitSettings:
    """The settings of training, without torch."""

    epochs: int
    batch: int
    rate: float
    seed: int
    threads: int


@dataclass(frozen=True)
class Teacher:
    """Whom a network learns from. `file`: the model file of the teacher, where it is another."""

    arch: str
    checkpoint: Path
    temperature: float
    distill_weight: float
    student_weight: float
    file: Path | None


@dataclass(frozen=True)
class SearchSettings:
    """The settings of a search, without torch."""

    how: str
    trials: int
    population: int
    weight_bits: str
    weight_memory: int | None
    cycles: int | None
    abi: str
    workers: int
    scheduler: str


def fit(
    model: Path,
    arch: str | None,
    samples: str,
    settings: FitSettings,
    folder: Path,
    *,
    policy: Path | None,
    resume: bool,
    told: Callable[[str], None],
    teacher: Teacher | None = None,
    arguments: Sequence[str] = (),
    augment: str = "",
    tensorboard: bool = False,
) -> dict[str, Any]:
    """Train a network; what `lathe train fit --json` prints."""
    chosen = None if policy is None else policies.read(policy)
    if chosen is not None and chosen.start_epoch >= settings.epochs:
        what = f"quantisation begins with epoch {chosen.start_epoch}, and there are {settings.epochs}"
        raise ConfigError(what, rule="`start_epoch` counts from 0", remedy="give more --epochs")
    given = _arguments(arguments)
    changed = augmenting.parsed(augment) if augment else None
    if teacher is not None and not teacher.checkpoint.is_file():
        raise ConfigError("there is no checkpoint of the teacher", where=Where(file=str(teacher.checkpoint)))
    _require_torch()
    from buildtool.training import distilling, fitting

    learned = None
    if teacher is not None:
        learned = distilling.Distillation(
            teacher.arch, teacher.checkpoint, teacher.temperature, teacher.distill_weight, teacher.student_weight,
            teacher.file,
        )  # fmt: skip
    asked = fitting.Settings(
        **vars(settings), policy=chosen, policy_file=str(policy or ""), arguments=given, distillation=learned,
        augmentation=changed,
    )  # fmt: skip
    log = _tensorboard(folder) if tensorboard else None

    def show(fitted: fitting.Fitted) -> None:
        write_file(folder / f"{fitted.arch}.html", pages.of_fit(fitted.as_json()))
        if log is not None:
            last = fitted.history[-1]
            log.add_scalar("loss", last.loss, last.number + 1)
            log.add_scalar(fitted.measure, last.accuracy, last.number + 1)
            log.flush()

    fitted = fitting.fit(model, arch, data.read(samples), asked, folder, resume=resume, told=told, after=show)
    return fitted.as_json()


def _tensorboard(folder: Path) -> Any:
    """What writes the curves of a run for TensorBoard."""
    if importlib.util.find_spec("tensorboard") is None:
        raise ToolchainError("TensorBoard is not installed", remedy="pip install tensorboard")
    from torch.utils.tensorboard import SummaryWriter

    return SummaryWriter(str(folder / "tensorboard"))


def samples_of(folder: Path, size: str, output: Path, *, grey: bool, rate: int | None) -> dict[str, Any]:
    """Write the samples of a folder as `--data` takes them; what `lathe train samples --json` prints."""
    sides = size.lower().split("x")
    if not all(side.isdecimal() for side in sides):
        raise ConfigError(f"--size cannot be '{size}'", rule="two sides, such as 32x32")
    found = folders.read(folder, [int(side) for side in sides], grey=grey, rate=rate)
    stream = io.BytesIO()
    np.savez_compressed(stream, samples=found.samples, labels=found.labels, classes=np.array(found.classes))
    write_file(output, stream.getvalue())
    counts = np.bincount(found.labels, minlength=len(found.classes))
    classes = [{"name": name, "samples": int(count)} for name, count in zip(found.classes, counts, strict=True)]
    return {"file": str(output), "shape": list(found.samples.shape), "classes": classes}


def evaluate(
    model: Path, arch: str | None, samples: str, checkpoint: Path, *, bits: int | None, top: int, abi: str | None
) -> dict[str, Any]:
    """The accuracy; with `abi` also whether every layer equals that of the chip's simulator."""
    device = None if abi is None or abi == K210 else _device(abi)
    _require_torch()
    from dataclasses import replace

    from buildtool.training import evaluating, models
    from buildtool.training.kpu import comparing

    held = data.read(samples)
    task = models.task(model, arch, held)
    held = task.split(held)
    name, network = evaluating.loaded(model, arch, held, checkpoint, bits)
    _check_chip(network, abi, checkpoint)
    found = evaluating.evaluate(name, network, held, top=top, task=task)
    if abi == K210:
        found = replace(found, layers_compared=comparing.compare(name, network, held.test_samples)[1])
    elif device is not None:
        with tempfile.TemporaryDirectory() as scratch:
            on_chip = evaluating.chip_network(name, network, device, held.shape, Path(scratch))
        library = device_simulator(TARGET.simulator, ObjectCache())
        found = replace(found, layers_compared=evaluating.compare(network, on_chip, held, library))
    return found.as_json()


def export(
    model: Path, arch: str | None, samples: str, checkpoint: Path, folder: Path, *, bits: int | None, abi: str
) -> tuple[Path, ...]:
    """The files for `lathe build`: for the K210 a deployment file, the network, its ranges and a sample."""
    device = None if abi == K210 else _device(abi)
    _require_torch()
    from buildtool.training import evaluating, models

    held = data.read(samples)
    task = models.task(model, arch, held)
    held = task.split(held)
    name, network = evaluating.loaded(model, arch, held, checkpoint, bits)
    _check_chip(network, abi, checkpoint)
    if device is None:
        return _export_to_k210(name, network, held, folder, [side for size in task.anchors for side in size])
    with tempfile.TemporaryDirectory() as scratch:
        on_chip = evaluating.chip_network(name, network, device, held.shape, Path(scratch))
    return evaluating.export(on_chip, held.test_samples[0], folder)


def streams(description: Path) -> bool:
    """Whether the first layer gets the input through the FIFO, because memory has no room for it."""
    return description.suffix == ".yaml" and "streaming: true" in description.read_text(encoding="utf-8")


def search(
    model: Path,
    arch: str | None,
    samples: str,
    settings: FitSettings,
    wanted: SearchSettings,
    folder: Path,
    *,
    resume: bool,
    told: Callable[[str], None],
) -> dict[str, Any]:
    """Look for a network; what `lathe train search --json` prints."""
    if wanted.how not in HOWS:
        raise ConfigError(f"--how cannot be '{wanted.how}'", rule=" or ".join(HOWS))
    if settings.epochs < 2:
        raise ConfigError("a trial has 1 epoch", rule="half of the epochs are quantised", remedy="--epochs 2 or more")
    bits = spaces.bits_of(wanted.weight_bits)
    device = _device(wanted.abi)
    if wanted.scheduler:
        clusters.size(wanted.scheduler)
    _require_torch()
    from buildtool.training import fitting, searching, spreading

    plan = searching.Plan(
        "random" if wanted.how == "random" else "evolution", wanted.trials, wanted.population, bits,
        wanted.weight_memory, wanted.cycles, device.name.lower(), fitting.Settings(**vars(settings)),
    )  # fmt: skip
    spread = spreading.spread_over(wanted.workers, wanted.scheduler)
    held = data.read(samples)
    found = searching.search(model, arch, held, plan, folder, resume=resume, spread=spread, told=told)
    best = found.best
    policy = _policy(folder, found.arch, searching.policy_text(best, settings.epochs // 2))
    document = {**found.as_json(), "policy": str(policy)}
    _written(folder, found.arch, document, pages.of_search(found.arch, document))
    return document


def search_bits(
    model: Path,
    arch: str | None,
    samples: str,
    checkpoint: Path,
    *,
    weight_bits: str,
    weight_memory: int | None,
    abi: str,
    start_epoch: int,
    folder: Path,
) -> dict[str, Any]:
    """Bits for the layers of a trained network; what `lathe train search --checkpoint --json` prints."""
    if weight_memory is None:
        raise ConfigError("bits are searched for a memory", remedy="--weight-memory BYTES")
    bits, device = spaces.bits_of(weight_bits), _device(abi)
    _require_torch()
    from buildtool.training import bit_search, evaluating, models

    held = data.read(samples)
    task = models.task(model, arch, held)
    held = task.split(held)
    name, network = evaluating.loaded(model, arch, held, checkpoint, None)
    found = bit_search.search(name, network, held, task, device, weight_memory, bits, Where(file=str(checkpoint)))
    folder.mkdir(parents=True, exist_ok=True)
    policy = _policy(folder, name, bit_search.policy(found, start_epoch))
    document = {"arch": name, **found.as_json(), "policy": str(policy)}
    _written(folder, name, document, pages.of_bits(name, document))
    return document


def _policy(folder: Path, name: str, text: str) -> Path:
    file = folder / f"{name}-policy.yaml"
    write_file(file, text.encode())
    return file


def _written(folder: Path, name: str, document: dict[str, Any], page: bytes) -> None:
    write_file(folder / f"{name}-search.json", (json.dumps(document, indent=1) + "\n").encode())
    write_file(folder / f"{name}-search.html", page)


def _arguments(words: Sequence[str]) -> dict[str, Any]:
    """`width=8`: numbers, true and false, or text."""
    found: dict[str, Any] = {}
    for word in words:
        name, equals, text = word.partition("=")
        if not name.isidentifier() or not equals or name in found:
            raise ConfigError(f"--set cannot be '{word}'", rule="NAME=VALUE, each name once, such as width=8")
        try:
            value = json.loads(text)
        except ValueError:
            value = text
        found[name] = value if isinstance(value, bool | int | float) else text
    return found


def _device(abi: str) -> Device:
    if abi not in DEVICES:
        raise ConfigError(f"there is no training for '{abi}'", rule=f"--abi: {', '.join(DEVICES)}, {K210}")
    return DEVICES[abi]


def _check_chip(network: Any, abi: str | None, checkpoint: Path) -> None:
    """That the layers are those of the chip that was asked for."""
    from buildtool.training.kpu import exporting

    of_k210 = exporting.is_of_k210(network)
    if abi is not None and of_k210 != (abi == K210):
        chip, others = ("the K210", f"--abi {K210}") if of_k210 else ("the MAX7800x", f"--abi {' or '.join(DEVICES)}")
        raise ConfigError(
            f"the network has layers of {chip}, and is asked for {abi}",
            where=Where(file=str(checkpoint)),
            rule="layers compute as one chip does",
            remedy=others,
        )


def _export_to_k210(name: str, network: Any, held: Any, folder: Path, anchors: Sequence[float]) -> tuple[Path, ...]:
    from buildtool.training.kpu import exporting

    if exporting.weight_bits(network) != 8:
        raise UnsupportedError(
            "weights of 16 bits", rule="`lathe build` makes kmodels with 8 bits", remedy="train with `weight_bits: 8`"
        )
    content, ranges = exporting.exported(name, network, held.shape)
    output = exporting.steps_of(network, held.shape)[-1].shape
    folder.mkdir(parents=True, exist_ok=True)
    deployment, file, beside, sample = (folder / f"{name}.{end}" for end in ("yml", "onnx", "ranges", "npy"))
    formats = [f"[{'NCHW' if rank == 3 else 'NONE'}]" for rank in (len(held.shape), len(output))]
    shapes = [",".join(map(str, (1, *shape))) for shape in (held.shape, output)]
    description = (
        f"library_name: {name}\ntarget_abis: [{K210}]\nmodels:\n  {name}:\n    platform: onnx\n"
        f"    model_file_path: {file.name}\n    input_tensors: [{exporting.INPUT}]\n"
        f'    input_shapes: ["{shapes[0]}"]\n    input_data_formats: {formats[0]}\n'
        f'    input_ranges: ["-1.0,0.9921875"]\n'
        f'    output_tensors: [output]\n    output_shapes: ["{shapes[1]}"]\n    output_data_formats: {formats[1]}\n'
        f"    validation_inputs_data: [{sample.name}]\n    runtime: kpu\n    quantize: 1\n"
        f"    quantize_range_file: {beside.name}\n" + (f"    kpu: {{anchors: {list(anchors)}}}\n" if anchors else "")
    )
    first = npy((held.test_samples[:1] / 128).astype(np.float32))
    files = (deployment, file, beside, sample)
    for path, written in zip(files, (description.encode(), content, ranges.encode(), first), strict=True):
        write_file(path, written)
    return files


def _require_torch() -> None:
    if importlib.util.find_spec("torch") is None:
        raise ToolchainError("training needs torch, which is not installed", remedy='pip install "lathe-build[train]"')
