"""What a user asks for beside a description, as if the description said it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from buildtool.targets.max7800x.description.chosen import Chosen, choose
from buildtool.targets.max7800x.description.sections import Findings, Given, Section
from buildtool.targets.max7800x.network import STOP


@dataclass(frozen=True)
class Options:
    """The switches of ai8xize that change what a network is."""

    fifo: bool = False
    fast_fifo: bool = False
    average_rounds: bool = False
    drops_channels: bool = False  # --reshape-inputs
    streams_freely: bool = False  # --allow-streaming
    start_layer: int = 0  # the first that runs (MAX78002)
    stop_after: int | None = None  # the last that runs
    no_bias: tuple[int, ...] | None = ()  # layers whose biases are left out; None: all
    skipped_weights: int = 0  # --skip-checkpoint-layers
    skipped_layers: int = 0  # --skip-yaml-layers
    streaming_layers: tuple[int, ...] = ()  # beside those that say so
    ignore_streaming: bool = False
    ignore_activation: bool = False
    input_offset: int | None = None
    output_width: int | None = None  # of the last layer


DEFAULTS = Options()


def of_each(layers: Sequence[Chosen], options: Options) -> tuple[Chosen, ...]:
    """The layers with what holds for all, or for some by number."""
    return tuple(_changed(chosen, _of_one(chosen.section, chosen.index, options)) for chosen in layers)


def of_borders(running: Sequence[Chosen], options: Options) -> tuple[Chosen, ...]:
    """The layers that run, with what holds for the first and the last of them."""
    first, *rest = running
    if options.input_offset is not None:
        first = _changed(first, _with(first.section, "in_offset", options.input_offset))
    every = [first, *rest]
    if options.output_width is not None:
        every[-1] = _changed(every[-1], _with(every[-1].section, "output_width", options.output_width))
    return tuple(every)


def stopped(layers: Sequence[Chosen], options: Options, findings: Findings) -> tuple[Chosen, ...]:
    """The layers, none of which runs after the one that is the last."""
    if options.stop_after is None:
        return tuple(layers)
    last = options.stop_after - options.skipped_layers  # they are numbered as they are written
    by_index = {chosen.index: chosen for chosen in layers}
    if last not in by_index:
        findings.refuse(
            layers[0].section,
            "",
            f"the network cannot stop after layer {options.stop_after}",
            rule=f"it has {len(layers)} layers",
        )
    return tuple(_last(chosen, by_index) if chosen.index == last else chosen for chosen in layers)


def _last(chosen: Chosen, by_index: Mapping[int, Chosen]) -> Chosen:
    """The layer after which the network stops. Its output stays on the processors from which the next layer reads."""
    following = by_index.get(chosen.index + 1 if chosen.next_layer is None else chosen.next_layer)
    if following is not None and "processors" in following.section and "output_processors" not in chosen.section:
        section = _with(chosen.section, "output_processors", following.section.get("processors"))
        chosen = _changed(chosen, section)
    return replace(chosen, next_layer=STOP)


def _of_one(section: Section, index: int, options: Options) -> Section:
    if options.ignore_streaming:
        section = _without(section, "streaming")
    if options.ignore_activation:
        section = _without(section, "activate")
    if index in options.streaming_layers:
        section = _with(section, "streaming", True)
    return section


def _changed(chosen: Chosen, section: Section) -> Chosen:
    """A layer that another section describes; what refers to other layers stays."""
    if section is chosen.section:
        return chosen
    return replace(
        choose(section),
        index=chosen.index,
        sources=chosen.sources,
        next_layer=chosen.next_layer,
        weight_source=chosen.weight_source,
        simulated_next=chosen.simulated_next,
    )


def _with(section: Section, key: str, value: Any) -> Section:
    return replace(section, given={**section.given, key: Given(value, section.where_of(key), section.called(key))})


def _without(section: Section, key: str) -> Section:
    if key not in section:
        return section
    return replace(section, given={name: found for name, found in section.given.items() if name != key})
