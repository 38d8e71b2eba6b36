"""States: what a model keeps from one run to the next. Importers make an input of each, and an output for the next run.

Here both are one memory, so that the next run finds what this one left.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

import numpy as np

from buildtool.ir.operator import Array
from buildtool.targets.micro.network import Concat, Gather, Keep, Layer, Move, Network, Pad, SvdfFilters, Tensor

_MOVES = (Concat, Gather, Keep, Move, Pad)
_NEXT = ":next"  # how the output of a state is called, behind the name of its input


def kept(network: Network, initial: Mapping[str, Array]) -> Network:
    """The same network, whose states stay where they are. `initial`: what those begin with that do not begin with 0."""
    for state in network.inputs:
        following = next((each for each in network.outputs if each.name == f"{state.name}{_NEXT}"), None)
        if following is not None and following.shape == state.shape and following.dtype == state.dtype:
            network = _joined(network, state, following, _first(network, state, initial))
    return network


def _joined(network: Network, state: Tensor, following: Tensor, first: Array) -> Network:
    place, made = network.storage(state), network.storage(following)
    states = {**network.states, state: first}
    if place is made:
        return replace(network, states=states)
    reads = [at for at, layer in enumerate(network.layers) if _reads(network, layer, place)]
    makers = [at for at, layer in enumerate(network.layers) if layer.output is made]
    others = [each for each in network.outputs if each is not following and network.storage(each) is made]
    over = bool(makers) and isinstance(network.layers[makers[0]], SvdfFilters)  # writes where it has read
    if makers and max(reads, default=-1) < makers[0] + over and made.bytes == place.bytes and not others:
        return replace(network, aliases={**network.aliases, made: place}, states=states)
    # Something reads the state behind: what follows is copied when everything is done.
    copy = replace(following, name=f"{following.name} (kept)")
    layer = Keep(name=copy.name, inputs=(following,), output=copy)
    outputs = tuple(copy if each is following else each for each in network.outputs)
    outputs = tuple(replace(each, name=following.name) if each is copy else each for each in outputs)
    renamed = outputs[network.outputs.index(following)]
    aliases = {**network.aliases, copy: place, renamed: place}
    return replace(network, layers=(*network.layers, layer), outputs=outputs, aliases=aliases, states=states)


def _first(network: Network, state: Tensor, initial: Mapping[str, Array]) -> Array:
    if state.name in initial:
        return np.ascontiguousarray(initial[state.name], state.dtype).reshape(state.shape)
    return np.full(state.shape, _zero(network, state), state.dtype)


def _zero(network: Network, state: Tensor) -> int:
    """What stands for zero: as the tensor says, or something that is made of its bytes."""
    waiting, seen = [network.storage(state)], set[Tensor]()
    while waiting:
        place = waiting.pop(0)
        seen.add(place)
        for tensor in (place, *(alias for alias in network.aliases if network.storage(alias) is place)):
            if (tensor.scale, tensor.zero) != (1.0, 0):
                return tensor.zero
        moved = [layer for layer in network.layers if isinstance(layer, _MOVES) and _reads(network, layer, place)]
        waiting += [made for layer in moved if (made := network.storage(layer.output)) not in seen]
    return 0


def _reads(network: Network, layer: Layer, place: Tensor) -> bool:
    return any(network.storage(tensor) is place for tensor in layer.inputs)
