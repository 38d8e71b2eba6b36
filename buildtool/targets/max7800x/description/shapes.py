"""Channels and sizes, from layer to layer: what each takes, what its pool leaves, what it gives."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from buildtool.targets.max7800x.description.binding import Bound
from buildtool.targets.max7800x.description.chosen import Chosen, in_one_dimension
from buildtool.targets.max7800x.description.sections import Findings, Section
from buildtool.targets.max7800x.devices import PROCESSORS
from buildtool.targets.max7800x.network import BUFFER, INPUT, Pool, Size

LARGEST_FLATTENED = 256  # pixels
MOST_CHANNELS = 16 * PROCESSORS


@dataclass(frozen=True)
class Shape:
    """Of what a layer gives, or the network is given."""

    channels: int
    size: Size

    def __str__(self) -> str:
        return f"{self.channels}x{self.size[0]}x{self.size[1]}"


@dataclass(frozen=True)
class Shapes:
    """Of one layer."""

    sources: tuple[int, ...]
    channels: int  # that come in, of one operand
    size: Size  # that comes in
    pool: Pool | None
    result: Shape


class UnknownShapeError(Exception):
    """The shape of a layer cannot be known; what is wrong has been said."""


@dataclass(frozen=True)
class Surroundings:
    """What comes from outside."""

    given: Shape | None  # to the network; None where nobody says
    buffer: Section | None
    drops_channels: bool = False  # layers may take fewer channels than there are


def shapes(
    layers: Sequence[Chosen], bound: Mapping[int, Bound], surroundings: Surroundings, findings: Findings
) -> dict[int, Shapes]:
    """The shapes of the layers, in the order in which they run, by number. After an unknown one some may be missing."""
    found: dict[int, Shapes] = {}
    previous = INPUT
    for chosen in layers:
        sources = chosen.sources or (previous,)
        previous = chosen.index
        try:
            inputs = [_source(chosen, source, found, surroundings) for source in sources]
            found[chosen.index] = _layer(chosen, sources, inputs, bound.get(chosen.index), surroundings, findings)
        except UnknownShapeError:
            continue
    return found


def given_shape(chosen: Chosen, bound: Bound | None) -> Shape | None:
    """What the first layer takes, as far as its keys and weights say it."""
    size: Size | None = chosen.section.get("in_dim")
    channels: int | None = chosen.section.get("in_channels")
    if channels is None and bound is not None:
        kernel = bound.kernel
        channels = kernel.weights.shape[1] * kernel.groups
        if size is not None and chosen.section.get("flatten", False):
            channels //= size[0] * size[1]
    return None if size is None or channels is None else Shape(channels * chosen.operands, size)


def _source(chosen: Chosen, source: int, found: Mapping[int, Shapes], surroundings: Surroundings) -> Shape:
    if source == BUFFER and surroundings.buffer is not None:
        whole: Size = surroundings.buffer.get("dim", (1, 1))
        return Shape(surroundings.buffer.get("channels", 0), chosen.section.get("in_dim", whole))  # or a part of it
    if source == INPUT and surroundings.given is not None:
        return surroundings.given
    if source not in found:
        raise UnknownShapeError
    return found[source].result


def _layer(
    chosen: Chosen,
    sources: tuple[int, ...],
    inputs: Sequence[Shape],
    bound: Bound | None,
    surroundings: Surroundings,
    findings: Findings,
) -> Shapes:
    channels, size = _taken(chosen, inputs, surroundings, findings)
    pool = chosen.pool
    if pool is not None and chosen.operation == "none" and size[1] == 1:
        pool = in_one_dimension(pool)
    pooled = _pooled(chosen, pool, size, findings)
    if chosen.operation == "none":
        _agree(chosen, "out_channels", channels, "an operation without a kernel keeps the channels", findings)
        return Shapes(sources, channels, size, pool, Shape(channels, pooled))
    outputs = _outputs(chosen, channels, pooled, bound, findings)
    return Shapes(sources, channels, size, pool, Shape(outputs, _convolved(chosen, pooled, findings)))


def _taken(chosen: Chosen, inputs: Sequence[Shape], surroundings: Surroundings, findings: Findings) -> tuple[int, Size]:
    """The channels of one operand, and the size, before pooling."""
    section = chosen.section
    together = _joined(chosen, inputs, findings)
    size: Size = section.get("in_dim", together.size)
    if together.channels % chosen.operands:
        findings.refuse(
            section,
            "operands" if "operands" in section else "eltwise",
            f"{together.channels} channels cannot be split into {chosen.operands} operands",
            remedy="name the layers whose results are combined in `in_sequences`",
        )
        raise UnknownShapeError
    channels = together.channels // chosen.operands
    crop = section.get("in_crop", (0, 0))
    numbers, pixels = channels * together.size[0] * together.size[1], (size[0] + sum(crop)) * size[1]
    if numbers % pixels:
        findings.refuse(
            section,
            "in_dim",
            f"{Shape(channels, together.size)} elements do not fill a size of {size[0]}x{size[1]}",
            rule="`in_dim` keeps the elements and changes only their shape" + (", plus `in_crop`" if any(crop) else ""),
        )
        raise UnknownShapeError
    return _channels(chosen, numbers // pixels, size, surroundings, findings), size


def _joined(chosen: Chosen, inputs: Sequence[Shape], findings: Findings) -> Shape:
    """Sources side by side: along the channels, or where sizes differ along the pixels."""
    first = inputs[0]
    if all(shape.size == first.size for shape in inputs):
        return Shape(sum(shape.channels for shape in inputs), first.size)
    size: Size | None = chosen.section.get("in_dim")
    listed = ", ".join(map(str, inputs))
    if size is None:
        findings.refuse(
            chosen.section,
            "in_sequences",
            f"the results that `in_sequences` puts together have different sizes: {listed}",
            remedy="write `in_dim` where their pixels follow each other",
        )
        raise UnknownShapeError
    pixels = sum(shape.size[0] * shape.size[1] for shape in inputs)
    crop = chosen.section.get("in_crop", (0, 0))
    if any(shape.channels != first.channels for shape in inputs) or pixels != (size[0] + sum(crop)) * size[1]:
        findings.refuse(
            chosen.section,
            "in_dim",
            f"the results that `in_sequences` puts together ({listed}) do not make up {size[0]}x{size[1]}",
            rule="where sizes differ, channels are the same and pixels follow each other",
        )
        raise UnknownShapeError
    return Shape(first.channels, (size[0] + sum(crop), size[1]))


def _channels(chosen: Chosen, available: int, size: Size, surroundings: Surroundings, findings: Findings) -> int:
    section = chosen.section
    written: int | None = section.get("in_channels")
    skipped = section.get("in_channel_skip", 0)
    if written is None or written == available:
        return available
    if section.get("flatten", False) and written == available * size[0] * size[1]:
        return available  # counted after flattening
    if surroundings.drops_channels and written + skipped <= available:
        return written
    findings.refuse(
        section,
        "in_channels",
        f"`in_channels` is {written}, and {available} channels come in",
        remedy="remove it, or correct `in_sequences` or `in_dim`",
    )
    raise UnknownShapeError


def _pooled(chosen: Chosen, pool: Pool | None, size: Size, findings: Findings) -> Size:
    if pool is None:
        return size
    if pool.stride[0] != pool.stride[1] and chosen.operation == "none" and size[1] != 1:
        shown = f"{pool.stride[0]}x{pool.stride[1]}"
        findings.refuse(
            chosen.section, "pool_stride", f"`pool_stride` cannot be {shown}", rule="one stride for both dimensions"
        )
        raise UnknownShapeError
    rows, columns = (
        (size[at] - pool.size[at] - pool.dilation[at] + 1) // pool.stride[at] + 1 for at in range(len(size))
    )
    if rows < 1 or columns < 1:
        key = "max_pool" if "max_pool" in chosen.section else "avg_pool"
        findings.refuse(
            chosen.section,
            key if key in chosen.section else "pool_stride",
            f"nothing remains of {size[0]}x{size[1]} after a pool of {pool.size[0]}x{pool.size[1]}",
            remedy="use a smaller pool",
        )
        raise UnknownShapeError
    return rows, columns


def _outputs(chosen: Chosen, channels: int, pooled: Size, bound: Bound | None, findings: Findings) -> int:
    """The channels that a convolution gives."""
    section = chosen.section
    if section.get("bypass", False):
        outputs = int(section.get("out_channels", channels))
        if max(outputs, channels) > MOST_CHANNELS:
            what = f"{channels} channels become {outputs}"
            findings.refuse(section, "out_channels", what, rule=f"at most {MOST_CHANNELS}")
            raise UnknownShapeError
        return outputs
    if bound is None:
        written: int | None = section.get("out_channels")
        if written is None:
            raise UnknownShapeError
        return written
    weights, groups = bound.kernel.weights, bound.kernel.groups
    pixels = _flattened(chosen, pooled, findings)
    if weights.shape[1] * groups != channels * pixels:
        takes = f"{weights.shape[1] * groups} channels"
        come = f"{channels}x{pooled[0]}x{pooled[1]} come" if pixels > 1 else f"{channels} come"
        findings.refuse(
            section,
            "in_channels" if "in_channels" in section else "",
            f"the weights are for {takes}, and {come} in",
            rule="layers take weights in the order of the checkpoint",
            remedy=_why_channels(chosen, weights.shape[1] * groups, channels, pooled),
        )
        raise UnknownShapeError
    _agree(chosen, "out_channels", weights.shape[0], "the weights say so", findings)
    return int(weights.shape[0])


def _why_channels(chosen: Chosen, wanted: int, channels: int, pooled: Size) -> str:
    if not chosen.section.get("flatten", False) and wanted == channels * pooled[0] * pooled[1]:
        return "write `flatten: true`"
    return "check `in_sequences`, `in_dim` and the order of the layers"


def _flattened(chosen: Chosen, pooled: Size, findings: Findings) -> int:
    if not chosen.section.get("flatten", False):
        return 1
    pixels = pooled[0] * pooled[1]
    if pixels > LARGEST_FLATTENED:
        findings.refuse(
            chosen.section,
            "flatten",
            f"`flatten` cannot read {pooled[0]}x{pooled[1]} pixels",
            rule=f"at most {LARGEST_FLATTENED}",
            remedy="pool before",
        )
        raise UnknownShapeError
    if pixels == 1:
        findings.note(chosen.section, "flatten", "`flatten` is not needed: there is one pixel")
    return pixels


def _convolved(chosen: Chosen, pooled: Size, findings: Findings) -> Size:
    if chosen.section.get("flatten", False):
        return (1, 1)
    sides = []
    for at, side in enumerate(pooled):
        reach = chosen.dilation[at] * (chosen.kernel_size[at] - 1)
        if chosen.operation == "convtranspose2d":
            sides.append((side - 1) * chosen.stride[at] - 2 * chosen.pad[at] + reach + chosen.output_pad[at] + 1)
        else:
            sides.append(side - reach - 1 + 2 * chosen.pad[at] + 1)
    if min(sides) < 1:
        findings.refuse(
            chosen.section,
            "kernel_size",
            f"nothing remains of {pooled[0]}x{pooled[1]} after a kernel of "
            f"{chosen.kernel_size[0]}x{chosen.kernel_size[1]}",
            remedy="use a smaller pool before, or a larger `pad`",
        )
        raise UnknownShapeError
    return sides[0], sides[1]


def _agree(chosen: Chosen, key: str, value: int, rule: str, findings: Findings) -> None:
    written = chosen.section.get(key)
    if written is not None and written != value:
        findings.refuse(
            chosen.section, key, f"`{key}` is {written}, and there are {value}", rule=rule, remedy="remove it"
        )
