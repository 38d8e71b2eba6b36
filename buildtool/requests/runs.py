"""The inputs of runs, the references they are compared with, and what counts as right."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

from buildtool.config import Deployment, ModelConfig, TensorConfig
from buildtool.errors import ConfigError, Problem
from buildtool.ir.graph import Graph
from buildtool.ir.types import DType
from buildtool.quant import range_files
from buildtool.requests import frames
from buildtool.requests.model_sources import DTYPES, fetched, imported, model_files, recorded, subgraph
from buildtool.running.inputs import TensorSpec
from buildtool.running.metrics import Array
from buildtool.running.model_under_test import (
    Interpreter,
    Subject,
    choose_reference,
    inputs_for,
    quantises_as_it_runs,
)
from buildtool.settings import Options, Progress, RunSettings
from buildtool.wording import did_you_mean


def run_of(model: ModelConfig, options: Options, settings: RunSettings) -> tuple[Mapping[str, Array], list[str]]:
    """The inputs of a run by name, and the names of its outputs."""
    inputs, outputs = specs(model)
    inputs, _ = within_ranges(model, inputs, options)
    data, _ = recorded(model, options.allow_unverified)
    return inputs_for(inputs, settings.inputs, data, settings.seed), [output.name for output in outputs]


def subject(
    deployment: Deployment, model: ModelConfig, options: Options, settings: RunSettings, progress: Progress
) -> Subject:
    """The model with its inputs and what the reference makes of them."""
    progress.stage(f"reference of {model.name}")
    for note in not_compared(model):
        progress.note(note)
    own = frames.without(model)
    source, found = imported(deployment, own, options)
    inputs, outputs = specs(model, found.source_formats)
    inputs, narrowed = within_ranges(model, inputs, options)
    recorded_inputs, recorded_outputs = recorded(model, options.allow_unverified)
    data = inputs_for(inputs, settings.inputs, recorded_inputs, settings.seed)
    for note in () if settings.inputs or recorded_inputs else narrowed:
        progress.note(note)
    files = () if settings.inputs else recorded_outputs  # they belong to the recorded inputs
    elsewhere = None
    if settings.reference_python is not None:
        _, weights = model_files(model, options.allow_unverified)
        elsewhere = Interpreter(settings.reference_python, weights, settings.timeout, options.trust_model_code)
    reference = choose_reference(
        settings.reference, model.platform, source, found.graph, specs(own, found.source_formats)[0], outputs, files,
        elsewhere,
    )  # fmt: skip
    channels = {output.name: 1 for output in outputs if output.data_format == "NCHW"}
    expected = reference.run(frames.converted(model, data))
    quantises = quantises_as_it_runs(found.graph)
    return Subject(model.identifier, data, expected, reference.name, threshold(model), channels, quantises)


def specs(
    model: ModelConfig, source_formats: Mapping[str, str] | None = None
) -> tuple[tuple[TensorSpec, ...], tuple[TensorSpec, ...]]:
    """Inputs and outputs for runs, at the upper bounds of sizes that may vary."""
    borders, known = subgraph(model), source_formats or {}
    return (
        tuple(_spec(tensor, known.get(tensor.name, "")) for tensor in borders.inputs),
        tuple(_spec(tensor, known.get(tensor.name, "")) for tensor in borders.outputs),
    )


def within_ranges(
    model: ModelConfig, inputs: Sequence[TensorSpec], options: Options
) -> tuple[tuple[TensorSpec, ...], list[Problem]]:
    """Inputs whose random numbers stay within the range that they are quantised for; and where that is less than
    `input_ranges` says. Beyond it, a quantised model only cuts them off."""
    file = model.quantize.range_file
    if file is None:
        return tuple(inputs), []
    found = range_files.read(fetched(file, options.allow_unverified))
    narrowed, notes = [], []
    for spec in inputs:
        low, high = found.get(spec.name) or found.get(spec.source_name) or spec.value_range
        least, most = max(low, spec.value_range[0]), min(high, spec.value_range[1])
        if spec.dtype is not DType.F32 or least >= most or (least, most) == spec.value_range:
            narrowed.append(spec)
            continue
        narrowed.append(replace(spec, value_range=(least, most)))
        what = f"the random numbers of '{spec.name}' are within {least:g},{most:g}, the range that it is quantised for"
        stated = ",".join(f"{end:g}" for end in spec.value_range)
        remedy = f'input_ranges says {stated}: write ["{low:g},{high:g}"] if that is the range of your data'
        notes.append(Problem(what, model.where_of("quantize_range_file"), remedy=remedy))
    return tuple(narrowed), notes


def _spec(tensor: TensorConfig, source_format: str) -> TensorSpec:
    return TensorSpec(
        name=tensor.alias,
        shape=tuple(size if isinstance(size, int) else size[1] for size in tensor.shape),
        dtype=DTYPES.get(tensor.data_type, DType.F32),
        data_format=tensor.data_format if len(tensor.shape) == 4 else "NONE",
        value_range=tensor.value_range,
        source_name=tensor.name,
        source_format=source_format,
        least=tuple(size if isinstance(size, int) else size[0] for size in tensor.shape) if tensor.is_bounded else (),
    )


def not_compared(model: ModelConfig) -> tuple[Problem, ...]:
    """What the deployment wants validated that a comparison of tensors does not look at."""
    key = "accuracy_validation_script"
    if not subgraph(model).accuracy_validation_script:
        return ()
    what = f"'{key}' has no effect: only tensors are compared"
    return (Problem(what, model.where_of(key), remedy="lathe validate --accuracy runs it"),)


def refuse_unknown_tensors(model: ModelConfig, imported: Graph) -> None:
    """ConfigError with each of `check_tensors` that the source model does not have."""
    wanted = subgraph(model).check_tensors
    known = {name for value in imported.values() for name in (*value.source_names, value.name)} if wanted else set()
    problems = [
        Problem(
            f"the model has no tensor '{tensor.name}'",
            tensor.where,
            rule="check_tensors names tensors of the source model",
            remedy=did_you_mean(tensor.name, sorted(known)) or "`lathe validate --layers` lists all tensors",
        )
        for tensor in wanted
        if tensor.name not in known
    ]
    if problems:
        raise ConfigError(problems)


def threshold(model: ModelConfig) -> float:
    """The cosine similarity that the model's outputs must reach on its runtime."""
    return subgraph(model).validation_threshold.of(model.runtime.threshold)
