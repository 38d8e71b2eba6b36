"""The inner tensors that a deployment wants compared: `check_tensors` and `check_shapes` in `lathe validate`."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from dataclasses import replace

from buildtool.config import Deployment, TensorConfig
from buildtool.errors import Problem
from buildtool.ir.graph import Value
from buildtool.reports.documents import BuildReport
from buildtool.requests import deployments, model_sources, runs
from buildtool.running.compare import Comparison, Variant
from buildtool.running.inputs import without_ones
from buildtool.running.metrics import DIFFERENT, Array, compare
from buildtool.running.recorded_values import Expected
from buildtool.settings import Options, Progress, RunSettings
from buildtool.validation.layers import aligned
from buildtool.workflow.inner_tensors import Opened, opened_models, source_tensors


def comparisons(
    deployment: Deployment, built: BuildReport, options: Options, settings: RunSettings, progress: Progress
) -> Iterator[Comparison]:
    """One comparison for each tensor to check, on every ABI and device. A note for each that the library lacks."""
    models = deployments.selected(deployment, settings.model)
    if not any(model_sources.subgraph(model).check_tensors for model in models):
        return
    for opened in opened_models(deployment, built, options, settings, progress):
        wanted = model_sources.subgraph(opened.model).check_tensors
        if wanted:
            progress.stage(f"inner tensors of {opened.name} on {opened.abi}, {opened.stand.device.name}")
            yield from _compared(deployment, opened, wanted, options, settings, progress)


def _compared(
    deployment: Deployment,
    opened: Opened,
    wanted: tuple[TensorConfig, ...],
    options: Options,
    settings: RunSettings,
    progress: Progress,
) -> Iterator[Comparison]:
    runs.refuse_unknown_tensors(opened.model, opened.imported.graph)
    network = opened.network(deployment, None)
    values = {name: value for value in network.graph.values() for name in network.names.of_value(value)}
    known = {tensor: values[tensor.name] for tensor in wanted if tensor.name in values}
    for tensor in wanted:
        if tensor not in known:
            progress.note(_not_there(tensor))
    if not known:
        return
    _, found = opened.values([value.name for value in known.values()])
    source, who = source_tensors(opened, options, settings, network, list(known.values()))
    lathe = _of_the_import(opened, known)
    variant = Variant(opened.name, opened.abi, "shared", opened.stand.format, opened.stand.device.name)
    for tensor, value in known.items():
        result = found.get(value.name)
        theirs = None if result is None else aligned(source.get(tensor.name), result)
        right, reference = (theirs, who) if theirs is not None else (lathe.get(tensor.name), "numpy")
        yield _comparison(tensor, variant, result, right, runs.threshold(opened.model), reference)


def _of_the_import(opened: Opened, wanted: Mapping[TensorConfig, Value]) -> dict[str, Array]:
    """These tensors of the model as it was imported, before any pass, in NumPy."""
    graph, missing = opened.imported.graph, {tensor.name for tensor in wanted}
    expected, found = Expected(graph, opened.inputs), dict[str, Array]()
    for node in graph.nodes:
        if not missing:
            break
        for value, array in expected.of(node).items():
            names = missing.intersection((value.name, *value.source_names))
            found.update(dict.fromkeys(names, array))
            missing -= names
    return found


def _comparison(
    tensor: TensorConfig, variant: Variant, result: Array | None, right: Array | None, threshold: float, reference: str
) -> Comparison:
    declared = tuple(size if isinstance(size, int) else size[1] for size in tensor.shape)
    if result is None or right is None:
        whose = "library" if result is None else "source model"
        return Comparison(
            variant, tensor.name, declared, DIFFERENT, threshold, reference, f"the {whose} did not return this tensor"
        )
    plain = Comparison(variant, tensor.name, tuple(result.shape), DIFFERENT, threshold, reference)
    if sorted(without_ones(result.shape)) != sorted(without_ones(declared)):
        problem = f"check_shapes declares {list(declared)}, and the tensor has {list(result.shape)}"
        return replace(plain, problem=problem)
    ordered = right if right.shape == result.shape else aligned(right, result)
    if ordered is None and math.prod(right.shape) == result.size:
        ordered = right.reshape(result.shape)
    if ordered is None:
        return replace(plain, problem=f"shape {list(result.shape)} is not {list(right.shape)}")
    return replace(plain, metrics=compare(result, ordered))


def _not_there(tensor: TensorConfig) -> Problem:
    return Problem(
        f"the tensor '{tensor.name}' cannot be compared: the library computes it inside another node",
        tensor.where,
        rule="optimisation merges nodes, and only the result of the last one is stored",
        remedy="name a later tensor, or add this one to output_tensors",
    )
