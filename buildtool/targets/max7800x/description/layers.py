"""The layers of a network, of what was chosen, bound and found."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace
from typing import Any

from buildtool.targets.max7800x import processors
from buildtool.targets.max7800x.description import binding
from buildtool.targets.max7800x.description.binding import Bound
from buildtool.targets.max7800x.description.chosen import Chosen
from buildtool.targets.max7800x.description.sections import Findings, Section
from buildtool.targets.max7800x.description.shapes import Shapes
from buildtool.targets.max7800x.network import Layer, Source

_HINTS = ("bypass", "calcx4", "tcalc", "readahead", "snoop_sequence", "buffer_shift", "buffer_insert")


def layers(
    running: Sequence[Chosen],
    found: Mapping[int, Shapes],
    bound: Mapping[int, Bound],
    general: Section,
    no_bias: Collection[int] | None,
    findings: Findings,
) -> tuple[Layer, ...]:
    """The layers in the order in which they run, with all places."""
    made: list[Layer] = []
    previous: Layer | None = None
    for chosen in running:
        kernel = bound.get(chosen.index)
        shapes = found[chosen.index]
        if chosen.has_kernel and kernel is None:  # it bypasses the kernel memory
            kernel = binding.without_memory(chosen, shapes.channels, shapes.result.channels)
        if kernel is not None and (no_bias is None or chosen.index in no_bias):
            kernel = replace(kernel, kernel=replace(kernel.kernel, bias=None))
        layer = _layer(chosen, shapes, kernel, previous)
        made.append(layer)
        previous = layer
    followed = [
        _with_output_processors(chosen, layer, following, general)
        for chosen, layer, following in zip(running, made, [*made[1:], None], strict=True)
    ]
    return _with_outputs(running, followed, findings)


def _layer(chosen: Chosen, shapes: Shapes, bound: Bound | None, previous: Layer | None) -> Layer:
    section = chosen.section
    groups = section.get("bias_group", ())
    return Layer(
        index=chosen.index,
        name=section.get("name", ""),
        operation=chosen.operation,
        sources=shapes.sources,
        in_channels=shapes.channels,
        in_size=shapes.size,
        processors=section.get("processors", 0),
        in_offset=section.get("in_offset", previous.out_offset if previous is not None else 0),
        big_data=section.get("data_format", False),
        streaming=section.get("streaming", False),
        flatten=section.get("flatten", False),
        in_skip=section.get("in_skip", 0),
        in_channel_skip=section.get("in_channel_skip", 0),
        in_crop=section.get("in_crop"),
        pool=shapes.pool,
        pool_first=section.get("pool_first", True),
        operands=chosen.operands,
        eltwise=chosen.eltwise,
        kernel=None if bound is None else bound.kernel,
        output_shift=0 if bound is None else bound.output_shift,
        activation=section.get("activate"),
        out_channels=shapes.result.channels,
        out_size=shapes.result.size,
        output_processors=section.get("output_processors", 0),
        out_offset=section.get("out_offset", 0),
        output_width=section.get("output_width", 8),
        write_gap=section.get("write_gap", 0),
        is_output=section.get("output", False),
        next_layer=chosen.next_layer,
        bias_group=groups[0] if len(groups) == 1 else None,
        bias_groups=groups,
        source=Source(section.where.file, section.where.line),
        hints=_hints(chosen),
    )


def _hints(chosen: Chosen) -> dict[str, Any]:
    section = chosen.section
    hints = {key: section.get(key) for key in _HINTS if key in section}
    if chosen.weight_source is not None:
        hints["weight_source"] = chosen.weight_source
    if chosen.simulated_next is not None:
        hints["simulated_sequence"] = chosen.simulated_next
    return hints


def _with_output_processors(chosen: Chosen, layer: Layer, following: Layer | None, general: Section) -> Layer:
    """Results go where the next layer reads; those of the last one to the first processors."""
    if following is None and "output_map" in general:
        return replace(layer, output_processors=general.get("output_map"))
    if "output_processors" in chosen.section:
        return layer
    if following is not None:
        return replace(layer, output_processors=following.processors)
    return replace(layer, output_processors=(1 << processors.per_pass(layer.out_channels)) - 1)


def _with_outputs(running: Sequence[Chosen], made: Sequence[Layer], findings: Findings) -> tuple[Layer, ...]:
    """What the network gives: the layers that say so, or the last one."""
    last = len(made) - 1
    if not any(layer.is_output for layer in made):
        return (*made[:last], replace(made[last], is_output=True))
    if not made[last].is_output:
        findings.note(running[last].section, "output", "the last layer is not an output of the network")
    return tuple(made)
