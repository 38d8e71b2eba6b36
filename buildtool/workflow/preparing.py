"""The first stages, whatever is built: import and optimise."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path

from buildtool.config import Deployment, ModelConfig
from buildtool.errors import Problem, UnsupportedError
from buildtool.importers.request import ImportedModel
from buildtool.ir.graph import Graph
from buildtool.ops.registry import registry
from buildtool.passes import pipeline
from buildtool.quant import concats, equalisation, sources
from buildtool.reports.graph_page import Stages
from buildtool.requests import model_sources, quantised
from buildtool.settings import DEFAULTS, SILENT, Options, Progress

#: Passes that leave the arithmetic of quantised operators as it is.
_KEEPING = ("remove_dead_code", "fold_constants", "remove_identities")


@dataclass(frozen=True)
class PreparedModel:
    """A model after the passes, with what it was before."""

    config: ModelConfig
    file: Path
    imported: ImportedModel
    graph: Graph  # optimised; that of `imported` is untouched
    passes: tuple[pipeline.PassRun, ...]
    stages: Stages = field(default_factory=Stages)  # from the file to the last pass, where they are drawn


def prepare(
    deployment: Deployment,
    options: Options = DEFAULTS,
    progress: Progress = SILENT,
    *,
    keeps_stored: bool = False,
    drawn: bool = False,
) -> tuple[PreparedModel, ...]:
    """Import and optimise all models. The unsupported operators of all of them are reported together.

    `keeps_stored`: no pass changes the arithmetic of models that come with quantised operators. `drawn`: the stages are
    drawn for the page of the graph, which takes time.
    """
    prepared: list[PreparedModel] = []
    unsupported: list[Problem] = []
    for model in deployment.models:
        progress.stage(f"import {model.name}")
        try:
            file, imported = model_sources.imported(deployment, model, options)
        except UnsupportedError as error:
            unsupported.extend(error.problems)
            continue
        progress.stage(f"optimise {model.name}")
        graph = imported.graph.clone()
        graph.ranges.update(quantised.ranges(model, options.allow_unverified))
        names = model.graph_optimize_options or None
        stages = _stages(imported) if drawn else Stages()
        watch = stages.after if drawn else None
        if keeps_stored and sources.is_quantised(imported.graph):
            passes = pipeline.optimise(graph, _KEEPING, watch)
            prepared.append(PreparedModel(model, file, imported, graph, passes, stages))
            continue
        passes = pipeline.optimise(graph, names, watch, quantised=model.quantize.enabled or model.quantize.observed)
        narrow = model.quantize.enabled or model.quantize.observed or model.quantize.large_weights
        if not narrow and sources.is_quantised(imported.graph):
            progress.note(sources.computed_in_float(model.where))
        asked = model.where_of("quantize") != model.where  # chips quantise unasked, and say themselves what they lack
        if model.quantize.enabled and asked and not graph.ranges and not keeps_stored:
            raise quantised.no_ranges(model)
        if model.quantize.equalize and narrow:
            _equalise(model, imported, graph, progress)
        if model.quantize.change_concat_ranges:
            concats.share(graph)
        if model.quantize.enabled:
            quantised.check_choice(model, graph, registry(deployment.op_paths))
            quantised.change_weights(model, graph, options.allow_unverified)
        prepared.append(PreparedModel(model, file, imported, graph, passes, stages))
    if unsupported:
        raise UnsupportedError(unsupported)
    return tuple(prepared)


def _stages(imported: ImportedModel) -> Stages:
    stages = Stages()
    stages.file(f"In the file ({imported.platform})", imported.outline)
    stages.graph("As imported", imported.graph, "In the operators of Lathe, before the passes.")
    return stages


def _equalise(model: ModelConfig, imported: ImportedModel, graph: Graph, progress: Progress) -> None:
    where = model.where_of("quantize_equalize")
    if imported.graph.ranges:
        what = "`quantize_equalize` has no effect on a model with ranges from training"
        progress.note(Problem(what, where, rule="training has already adapted its channels"))
    elif not equalisation.equalise(graph):
        progress.note(Problem("`quantize_equalize` has no effect: no two layers can be equalised", where))
