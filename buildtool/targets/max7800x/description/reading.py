"""From a description, weights and a sample to a network."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from buildtool.errors import ConfigError, LatheError, ModelFileError, Problem, Where
from buildtool.targets.max7800x.checkpoints import checkpoint
from buildtool.targets.max7800x.checkpoints.checkpoint import Weights
from buildtool.targets.max7800x.description import adapted, binding, layers, limits, order, places, rules, shapes
from buildtool.targets.max7800x.description.adapted import DEFAULTS, Options
from buildtool.targets.max7800x.description.binding import Bound
from buildtool.targets.max7800x.description.chosen import Chosen, choose
from buildtool.targets.max7800x.description.sections import Findings, Section, Sections, sections
from buildtool.targets.max7800x.description.shapes import Shape, Surroundings
from buildtool.targets.max7800x.devices import MAX78002, Device
from buildtool.targets.max7800x.network import DataBuffer, Network
from buildtool.yaml_marks import read_yaml


@dataclass(frozen=True)
class Described:
    """A description, complete."""

    network: Network
    sample: NDArray[np.int64] | None  # [channels, rows, columns]
    written: tuple[frozenset[str], ...]  # of each layer: the keys that the file gives
    notes: tuple[Problem, ...] = ()
    options: Options = DEFAULTS


def read(
    file: Path,
    *,
    device: Device,
    weights: Path | None = None,
    bias: Path | None = None,
    sample: Path | None = None,
    options: Options = DEFAULTS,
) -> Described:
    """The network of a description. ConfigError with all that is wrong, or ModelFileError for the other files."""
    findings = Findings()
    written, ordered, running = _parsed(file, device, options, findings)
    data = _sample(sample)
    held = _held(weights, bias, ordered, options) if weights is not None else None
    bound = _bound(ordered, held, written, device, findings)
    _stop_at(findings)
    buffer = written.buffers[0] if written.buffers else None
    given = _given(running[0], bound, data)
    if given is None:
        findings.refuse(
            running[0].section,
            "",
            "the size of the input is unknown",
            remedy="give a sample (--sample-input), or write `in_dim` in the first layer",
        )
        _stop_at(findings)
    surroundings = Surroundings(given, buffer, options.drops_channels)
    found = shapes.shapes(running, bound, surroundings, findings)
    _stop_at(findings)
    assert given is not None
    general = written.general
    made = layers.layers(running, found, bound, general, options.no_bias, findings)
    network = Network(
        general.get("arch"),
        device,
        made,
        given.channels,
        given.size,
        general.get("dataset"),
        options.fifo or options.fast_fifo,
        options.fast_fifo,
        tuple(_plain(section) for section in written.unload),
        (general.get("output_map"),) if "output_map" in general else (),
        general.get("snoop", ()),
        tuple(_buffer(section) for section in written.buffers),
        options.average_rounds,
        str(file),
    )
    keys = tuple(frozenset(chosen.section.given) for chosen in running)
    if places.are_left_out(keys):
        _stop_at(findings)
        network, keys = places.found(network, keys)
    else:
        limits.check_limits(running, network, general, findings, streams_freely=options.streams_freely)
        _stop_at(findings)
    return Described(network, data, keys, tuple(findings.notes), options)


def _held(weights: Path, bias: Path | None, ordered: Sequence[Chosen], options: Options) -> Weights:
    """The parameters from the first that a layer takes on. Those that no layer takes may be whatever they are."""
    skipped = options.skipped_weights
    needed = range(skipped, skipped + sum(chosen.has_own_weights for chosen in ordered))
    held = checkpoint.read(weights, bias=bias, needed=needed)
    return replace(held, parameters=held.parameters[skipped:])


def outline(
    file: Path, *, device: Device, options: Options = DEFAULTS
) -> tuple[tuple[Chosen, ...], tuple[Problem, ...]]:
    """What a description says without its weights: its layers in the order in which they run, and notes.

    ConfigError with all that is wrong as far as that can be known.
    """
    findings = Findings()
    _, _, running = _parsed(file, device, options, findings)
    return running, tuple(findings.notes)


def _parsed(
    file: Path, device: Device, options: Options, findings: Findings
) -> tuple[Sections, tuple[Chosen, ...], tuple[Chosen, ...]]:
    """The sections of a file, its layers by their numbers, and those that run, in their order."""
    tree = read_yaml(file, environment={})
    findings.problems += tree.problems
    written = sections(tree.root, findings)
    ordered = _ordered(written, options, device, findings)
    _stop_at(findings)
    running = _running(adapted.stopped(ordered, options, findings), options, device, findings)
    _stop_at(findings)
    return written, ordered, running


def _ordered(written: Sections, options: Options, device: Device, findings: Findings) -> tuple[Chosen, ...]:
    """The layers by their numbers, each checked on its own."""
    chosen = [choose(section) for section in written.layers[options.skipped_layers :]]
    if not chosen:
        if written.layers:
            findings.refuse(
                written.general, "", f"no layer is left of {len(written.layers)}", remedy="skip fewer layers"
            )
        return ()
    in_order = order.in_order(chosen, written.buffers, findings, first=options.skipped_layers)
    ordered = adapted.of_each(in_order, options)
    for layer in ordered:
        rules.check_layer(layer, device, findings)
    rules_of_all(written, ordered, device, findings)
    return ordered


def _running(ordered: Sequence[Chosen], options: Options, device: Device, findings: Findings) -> tuple[Chosen, ...]:
    """The layers that run, from the one that is asked for on."""
    start = options.start_layer
    if not 0 <= start < len(ordered) or (start and device is not MAX78002):
        findings.refuse(
            ordered[0].section,
            "",
            f"the network cannot start with layer {start}",
            rule=f"one of its {len(ordered)} layers" if device is MAX78002 else f"the {device.part} starts with 0",
        )
        return ()
    running = adapted.of_borders(order.running(ordered, start, findings), options)
    for layer in running[1:]:
        if layer.section.get("data_format", False):
            findings.refuse(
                layer.section, "data_format", "`data_format: CHW` is for the first layer", remedy="remove it here"
            )
    return running


def rules_of_all(written: Sections, ordered: Sequence[Chosen], device: Device, findings: Findings) -> None:
    """What the description as a whole may not say."""
    if len(ordered) > device.layers:
        findings.refuse(
            ordered[device.layers].section,
            "",
            f"the description has {len(ordered)} layers",
            rule=f"at most {device.layers} on the {device.part}",
        )
    if "snoop" in written.general and device is not MAX78002:
        findings.refuse(written.general, "snoop", f"the {device.part} has no `snoop`", rule="the MAX78002 does")
    if len(written.buffers) > 1:
        findings.refuse(written.buffers[1], "", "there is more than one data buffer", rule="at most one")


def _bound(
    ordered: Sequence[Chosen], held: Weights | None, written: Sections, device: Device, findings: Findings
) -> dict[int, Bound]:
    takers = [chosen for chosen in ordered if chosen.has_own_weights]
    if held is None:
        if takers:
            findings.problems.append(
                Problem(
                    "the layers have no weights",
                    written.general.where,
                    rule=f"{takers[0].section.title} is the first of {len(takers)} that need some",
                    remedy="pass the checkpoint: --checkpoint-file, or `weight_file_path` in a deployment file",
                )
            )
        return {}
    arch = written.general.get("arch", "")
    if held.arch and not held.of_tests and held.arch.lower() != arch.lower():
        findings.refuse(
            written.general,
            "arch",
            f"`arch` is '{arch}', and the checkpoint is for '{held.arch}'",
            rule=f"the checkpoint is {held.file}",
            remedy="give the checkpoint of this network",
        )
    return binding.bind(ordered, held, device, findings)


def _given(first: Chosen, bound: Mapping[int, Bound], data: NDArray[np.int64] | None) -> Shape | None:
    if data is not None:
        return Shape(data.shape[0], (data.shape[1], data.shape[2]))
    return shapes.given_shape(first, bound.get(first.index))


def _sample(path: Path | None) -> NDArray[np.int64] | None:
    """A sample as [channels, rows, columns]."""
    if path is None:
        return None
    found = checkpoint.arrays(path)
    where = Where(file=str(path))
    values = found[0] if len(found) == 1 else np.empty(0, np.int64)
    if values.ndim not in (2, 3) or values.size == 0:
        raise ModelFileError("this is not a sample", where=where, rule="one array of [channels, rows, columns]")
    if values.min() < -128 or values.max() > 127:
        raise ModelFileError(
            f"the sample reaches from {values.min()} to {values.max()}",
            where=where,
            rule="inputs are integers from -128 to 127",
            remedy="subtract 128 from pixels of 0 to 255",
        )
    values = values.astype(np.int64)
    return values if values.ndim == 3 else values[:, :, np.newaxis]


def _plain(section: Section) -> dict[str, object]:
    return {key: found.value for key, found in section.given.items()}


def _buffer(section: Section) -> DataBuffer:
    return DataBuffer(
        section.get("name"),
        section.get("processors"),
        section.get("dim"),
        section.get("channels"),
        section.get("offset"),
        section.get("width", 8),
    )


def _stop_at(findings: Findings) -> None:
    if findings.problems:
        error: type[LatheError] = ConfigError
        raise error(findings.problems)
