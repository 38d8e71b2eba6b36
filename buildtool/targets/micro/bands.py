"""Computes layers in bands of rows, so that what is between them never exists as a whole.

A `Region` is a stretch of layers. Each band computes some rows of its last output, and before that the rows of the
tensors between that these depend on. Rows that the next band reads as well are computed again, or are kept: their
tensor is a buffer then, whose last rows move to its start. What a band reads and makes are parts of tensors, so that
the kernels need not know of bands; only their borders and sizes differ.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from math import prod

from buildtool.targets.micro import network as nets
from buildtool.targets.micro.network import Banding, Layer, Network, Tensor

_Rows = tuple[int, int]  # the first, and the one behind the last
_WINDOWED = (nets.Conv, nets.MaxPool, nets.AveragePool)
_BY_ROWS = (*_WINDOWED, nets.Add, nets.Mul, nets.Table, nets.Concat, nets.Pad)


@dataclass(frozen=True)
class Region:
    """Layers, the first and the last included, and how they are computed."""

    first: int
    last: int
    rows: int  # of the last output in a band
    kept: bool  # rows that two bands read are computed once


def is_possible(network: Network, first: int, last: int) -> bool:
    """Whether layers can be computed in bands: each row by row, and only the last one's output is read behind."""
    inside = network.layers[first : last + 1]
    if first >= last or any(not _is_by_rows(network, layer) for layer in inside):
        return False
    made = {layer.output for layer in inside[:-1]}
    read = [tensor for layer in (*network.layers[:first], *network.layers[last + 1 :]) for tensor in layer.inputs]
    if any(network.storage(tensor) in made for tensor in (*read, *network.outputs)):
        return False
    seen = {network.storage(tensor) for layer in inside for tensor in layer.inputs}
    return made <= seen and inside[-1].output not in seen


def _is_by_rows(network: Network, layer: Layer) -> bool:
    if not isinstance(layer, _BY_ROWS) or layer in network.banding.origins:
        return False
    if isinstance(layer, nets.Concat) and layer.rows != prod(layer.output.shape[:3]):
        return False
    tensors = (*layer.inputs, layer.output)
    owners = [network.storage(tensor) for tensor in tensors]
    return all(
        len(tensor.shape) == 4 and tensor.shape[0] == 1 and tensor.shape == owner.shape and tensor.dtype == "int8"
        for tensor, owner in zip(tensors, owners, strict=True)
    )


def banded(network: Network, region: Region) -> Network:
    """The same network, with these layers in bands."""
    work = _Work(network, region)
    layers = (*network.layers[: region.first], *work.layers, *network.layers[region.last + 1 :])
    old = network.banding
    banding = Banding(
        {**old.starts, **work.starts},
        {**old.origins, **work.origins},
        {**old.twins, **work.twins},
        {**old.lags, **work.lags()},
    )
    return replace(network, layers=layers, aliases={**network.aliases, **work.aliases}, banding=banding)


@dataclass
class _Band:
    """Of each tensor: the rows that a band computes, and those that it needs."""

    new: dict[Tensor, _Rows] = field(default_factory=dict)
    needed: dict[Tensor, _Rows] = field(default_factory=dict)


class _Work:
    """The layers of all bands."""

    def __init__(self, network: Network, region: Region) -> None:
        self._network, self._region = network, region
        self._inside = network.layers[region.first : region.last + 1]
        self._made = {layer.output for layer in self._inside[:-1]}
        self._output = self._inside[-1].output
        self._bands = list(self._ranges())
        self._buffers = {tensor: buffer for tensor in self._made if (buffer := self._buffer(tensor)) is not None}
        self.layers: list[Layer] = []
        self.aliases: dict[Tensor, Tensor] = {}
        self.starts: dict[Tensor, int] = {}
        self.origins: dict[Layer, Layer] = {}
        self.twins: dict[Tensor | Layer, Tensor | Layer] = {}
        self._first_of: dict[tuple[object, ...], tuple[list[Layer], list[Tensor]]] = {}
        for number in range(len(self._bands)):
            self._emit(number)

    # -- which rows ----------------------------------------------------------------------------------------------------
    def _ranges(self) -> Iterator[_Band]:
        rows, done = self._output.shape[1], dict[Tensor, int]()
        for start in range(0, rows, self._region.rows):
            band = _Band(needed={self._output: (start, min(start + self._region.rows, rows))})
            for layer in reversed(self._inside):
                first, last = band.needed[layer.output]
                before = done.get(layer.output, 0) if self._region.kept else 0
                last = max(last, before)
                band.needed[layer.output] = (first, last)
                band.new[layer.output] = (max(first, before), last)
                if band.new[layer.output][0] < last:
                    self._ask(band, layer)
                else:
                    self._remember(band, layer)
            yield band
            done = {tensor: last for tensor, (_, last) in band.needed.items()}

    def _ask(self, band: _Band, layer: Layer) -> None:
        for tensor in layer.inputs:
            owner = self._network.storage(tensor)
            first, last = _read(layer, *band.new[layer.output], owner.shape[1])
            known = band.needed.get(owner, (first, last))
            band.needed[owner] = (min(first, known[0]), max(last, known[1]))

    def _remember(self, band: _Band, layer: Layer) -> None:
        """Nothing is computed, so nothing is read; what only this layer reads is not asked for either."""
        first = band.new[layer.output][0]
        for tensor in layer.inputs:
            owner = self._network.storage(tensor)
            start = _read(layer, first, first + 1, owner.shape[1])[0]
            band.needed.setdefault(owner, (start, start))

    def _buffer(self, tensor: Tensor) -> Tensor | None:
        """The buffer of a tensor of which rows are kept. None: each band has all of its rows made anew."""
        if not self._region.kept:
            return None
        pairs = zip(self._bands, self._bands[1:], strict=False)
        if not any(after.needed[tensor][0] < before.needed[tensor][1] for before, after in pairs):
            return None
        rows = max(last - first for first, last in (band.needed[tensor] for band in self._bands))
        return replace(tensor, name=f"{tensor.name} (rows)", shape=(1, rows, *tensor.shape[2:]))

    # -- layers --------------------------------------------------------------------------------------------------------
    def _emit(self, number: int) -> None:
        band, known = self._bands[number], dict(self._buffers)
        layers: list[Layer] = []
        own: list[Tensor] = []
        for layer in self._inside:
            (start, end), made = band.new[layer.output], layer.output
            if made in self._buffers and number:
                layers += self._moved(made, number)
            if start >= end:
                continue
            inputs = tuple(self._read_part(tensor, layer, band, known) for tensor in layer.inputs)
            output = self._made_part(made, band, known, own)
            part = _part(layer, inputs, output, (start, end))
            self.origins[part] = layer
            layers.append(part)
        self._twin(layers, own)
        self.layers += layers

    def _moved(self, tensor: Tensor, number: int) -> Iterator[Layer]:
        """The rows that stay of a buffer, down to its start."""
        (first, _), (before, last) = self._bands[number].needed[tensor], self._bands[number - 1].needed[tensor]
        if before < first < last:
            rows = last - first
            source = self._slice(tensor, self._buffers[tensor], first - before, rows)
            output = self._slice(tensor, self._buffers[tensor], 0, rows)
            layer = nets.Keep(name=f"{tensor.name} (rows)", inputs=(source,), output=output)
            self.origins[layer] = next(each for each in self._inside if each.output is tensor)
            yield layer

    def _read_part(self, tensor: Tensor, layer: Layer, band: _Band, known: Mapping[Tensor, Tensor]) -> Tensor:
        owner = self._network.storage(tensor)
        first, last = _read(layer, *band.new[layer.output], owner.shape[1])
        if first == last:  # only borders: no rows of anything that has memory
            return self._slice(tensor, self._network.storage(self._inside[0].inputs[0]), 0, 0)
        if owner in known:
            base = band.needed[owner][0]
            whole = known[owner]
            if (first, last) == band.needed[owner] and owner not in self._buffers and tensor is owner:
                return whole
            return self._slice(tensor, whole, first - base, last - first)
        return self._slice(tensor, owner, first, last - first)

    def _made_part(self, tensor: Tensor, band: _Band, known: dict[Tensor, Tensor], own: list[Tensor]) -> Tensor:
        (first, last), base = band.new[tensor], band.needed.get(tensor, (0, 0))[0]
        if tensor is self._output:
            return self._slice(tensor, tensor, first, last - first)
        if tensor in self._buffers:
            return self._slice(tensor, self._buffers[tensor], first - base, last - first)
        known[tensor] = replace(tensor, shape=(1, last - first, *tensor.shape[2:]))
        own.append(known[tensor])
        return known[tensor]

    def _slice(self, like: Tensor, whole: Tensor, first: int, rows: int) -> Tensor:
        part = replace(like, shape=(1, rows, *like.shape[2:]))
        self.aliases[part] = whole
        self.starts[part] = first * _row_bytes(like)
        return part

    def _twin(self, layers: list[Layer], own: list[Tensor]) -> None:
        """Bands whose layers have the same sizes use the same memory."""
        inside = {id(tensor) for tensor in (*own, *self._buffers.values())}
        shape: list[object] = []
        for layer in layers:
            places = [self.starts.get(tensor, 0) for tensor in (*layer.inputs, layer.output)]
            owners = [self.aliases.get(tensor, tensor) for tensor in (*layer.inputs, layer.output)]
            known = [place if id(owner) in inside else -1 for place, owner in zip(places, owners, strict=True)]
            shapes = [tensor.shape for tensor in (*layer.inputs, layer.output)]
            shape.append((id(self.origins[layer]), type(layer), _borders(layer), tuple(known), tuple(shapes)))
        one = self._first_of.setdefault(tuple(shape), (layers, own))
        if one[0] is not layers:
            self.twins.update(zip(layers, one[0], strict=True))
            self.twins.update(zip(own, one[1], strict=True))

    def lags(self) -> dict[tuple[Tensor, Tensor], int]:
        """How far the output may lie over an input that only these layers read."""
        network = self._network
        others = (*network.layers[: self._region.first], *network.layers[self._region.last + 1 :])
        elsewhere = {network.storage(tensor) for layer in others[self._region.first :] for tensor in layer.inputs}
        elsewhere |= {network.storage(tensor) for tensor in network.outputs}
        late = {network.storage(tensor) for tensor in self._inside[-1].inputs}
        found = {}
        sources = (
            {network.storage(tensor) for layer in self._inside for tensor in layer.inputs} - self._made - elsewhere
        )
        for source in sources:
            lag = 0
            for number, band in enumerate(self._bands):
                later = self._bands[number if source in late else number + 1 :]
                needed = min((each.needed[source][0] for each in later if source in each.needed), default=None)
                if needed is not None:
                    written = band.needed[self._output][1] * _row_bytes(self._output)
                    lag = max(lag, written - needed * _row_bytes(source))
            found[self._output, source] = -(-lag // 4) * 4
        return found


def _row_bytes(tensor: Tensor) -> int:
    return prod(tensor.shape[2:])


def _borders(layer: Layer) -> tuple[int, ...]:
    """What differs between bands beside sizes."""
    if isinstance(layer, _WINDOWED):
        return layer.window.pads
    return layer.before if isinstance(layer, nets.Pad) else ()


def _read(layer: Layer, start: int, end: int, rows: int) -> _Rows:
    """The rows of an input that rows of the output depend on."""
    first, last = start, end
    if isinstance(layer, _WINDOWED):
        window = layer.window
        first = start * window.strides[0] - window.pads[0]
        last = (end - 1) * window.strides[0] - window.pads[0] + (window.kernel[0] - 1) * window.dilations[0] + 1
    elif isinstance(layer, nets.Pad):
        first, last = start - layer.before[0], end - layer.before[0]
    first = min(max(first, 0), rows)
    return first, max(min(last, rows), first)


def _part(layer: Layer, inputs: Sequence[Tensor], output: Tensor, made: _Rows) -> Layer:
    """A layer for some rows of its output."""
    found = replace(layer, inputs=tuple(inputs), output=output)
    first, _ = _read(layer, *made, layer.inputs[0].shape[1])
    if isinstance(found, _WINDOWED):
        window = found.window
        top = first - (made[0] * window.strides[0] - window.pads[0])
        return replace(found, window=replace(window, pads=(top, *window.pads[1:])))
    if isinstance(found, nets.Pad):
        return replace(found, before=(max(first - (made[0] - found.before[0]), 0), found.before[1]))
    if isinstance(found, nets.Concat):
        return replace(found, rows=prod(output.shape[:3]))
    return found
