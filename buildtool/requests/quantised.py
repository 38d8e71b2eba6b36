"""What a deployment says of the numbers that are stored in a few bits."""

from __future__ import annotations

from collections.abc import Collection

from buildtool.config import ModelConfig
from buildtool.errors import ConfigError, Problem, UnsupportedError
from buildtool.ir.graph import Graph
from buildtool.ir.types import QuantType
from buildtool.quant import choice, range_files, weight_files
from buildtool.quant.choice import Choice
from buildtool.quant.ranges import stored_as
from buildtool.requests.model_sources import fetched


def ranges(model: ModelConfig, allow_unverified: bool = False) -> dict[str, QuantType]:
    """How tensors are stored, as the model's range file says."""
    file = model.quantize.range_file
    if file is None:
        return {}
    found = range_files.read(fetched(file, allow_unverified))
    return {name: stored_as(low, high) for name, (low, high) in found.items()}


def no_ranges(model: ModelConfig) -> ConfigError:
    return ConfigError(
        "`quantize: 1`, but no tensor of the model has a range",
        where=model.where_of("quantize"),
        rule="ranges come from a model that was trained or stored with quantisation, or from `quantize_range_file`",
        remedy="measure them on samples: lathe quantize FILE --inputs SAMPLES",
    )


def change_weights(model: ModelConfig, graph: Graph, allow_unverified: bool = False) -> None:
    """Give an optimised graph the weights that the deployment names for few bits."""
    if model.quantize.weights_file is not None:
        file = fetched(model.quantize.weights_file, allow_unverified)
        weight_files.apply(graph, weight_files.read(file), file, choice.real(graph, choice_of(model)))


def choice_of(model: ModelConfig) -> Choice:
    """Which nodes are stored in a few bits, as far as the deployment says so."""
    return Choice(model.quantize.operators, model.quantize.keep_float)


def check_choice(model: ModelConfig, graph: Graph, operators: Collection[str]) -> None:
    """ConfigError where the deployment names layers or operators that there are not."""
    problems = [
        Problem(
            f"'{word}' in '{key}' is neither an operator nor a layer of the model",
            model.where_of(key),
            rule="`lathe inspect ops` lists operators; `lathe quantize --sensitivity` lists "
            "the layers that remain after the passes",
            remedy=f"did you mean '{near}'?" if near else "",
        )
        for key, word, near in choice.unknown(graph, choice_of(model), operators)
    ]
    if problems:
        raise ConfigError(problems)


def real_numbers_for_dsp(model: ModelConfig) -> UnsupportedError:
    return UnsupportedError(
        f"the runtime '{model.runtime}' computes with integers of 8 bits, and the model is not quantised",
        where=model.where_of("runtime"),
        rule="a model for the DSP has `quantize: 1`, and is quantised in its file or has the ranges of its tensors",
        remedy="write `quantize: 1`; `lathe quantize FILE --inputs SAMPLES` finds ranges of real numbers",
    )
