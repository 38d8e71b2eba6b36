"""A layer inside of what simulates quantisation: nodes that round its weights, what it gives, or both."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from buildtool.importers.keras.description import Layer
from buildtool.importers.model import AttributeValue, SourceNode

_ACTIVATIONS = ("pre_activation", "post_activation", "output")
#: Keras has the output channels of these kernels before the last axis.
_CHANNELS_BEFORE_LAST = ("Conv2DTranspose", "Conv1DTranspose", "Conv3DTranspose")


class Simulation:
    """The nodes of one call. `weights`: the names of the layer's weights and of its ranges, by what they are."""

    def __init__(self, layer: Layer, name: str, weights: dict[str, str]) -> None:
        self._layer = layer
        self._name = name
        self._ranges = {key: (weights.pop(f"{key}_min"), weights.pop(f"{key}_max")) for key in layer.ranges}
        self._weights = weights
        self._activation: dict[str, AttributeValue] = {}

    def before(self) -> Iterator[SourceNode]:
        """What rounds weights."""
        for key in [key for key in self._weights if key in self._ranges]:
            rounded = f"{self._name}/{key}/quantised"
            axis = -2 if self._layer.op in _CHANNELS_BEFORE_LAST else -1
            yield self._rounding(key, self._weights[key], rounded, {"quantizer.narrow_range": 1, "axis": axis})
            self._weights[key] = rounded

    def node(
        self,
        inputs: Sequence[str],
        keywords: Mapping[str, str],
        attributes: Mapping[str, AttributeValue],
        made: tuple[str, ...],
    ) -> SourceNode:
        """The layer, without its activation where something is rounded before it."""
        attributes = dict(attributes)
        if "pre_activation" in self._ranges:
            keys = [key for key in attributes if key.partition(".")[0] == "activation"]
            self._activation = {key: attributes.pop(key) for key in keys}
            attributes["activation"] = "linear"
        if self._roundings():
            made = (f"{self._name}/exact",)
        reads = (*inputs, *keywords.values(), *self._weights.values())
        attributes |= {"keywords": tuple(keywords), "weights": tuple(self._weights)}
        return SourceNode(self._layer.op, "", self._name, reads, made, attributes)

    def behind(self, made: tuple[str, ...]) -> Iterator[SourceNode]:
        """What rounds results, and the activation in between."""
        source, roundings = f"{self._name}/exact", self._roundings()
        for key in roundings:
            last = key == roundings[-1]
            after = key == "pre_activation"
            target = made[0] if last and not after else f"{self._name}/{key}"
            yield self._rounding(key, source, target, {"quantizer.narrow_range": 0})
            source = target
            if after:
                target = made[0] if last else f"{self._name}/activation"
                name = f"{self._name}/activation"
                known: dict[str, AttributeValue] = {"keywords": (), "weights": ()}
                yield SourceNode("Activation", "", name, (source,), (target,), self._activation | known)
                source = target

    def _roundings(self) -> list[str]:
        return [key for key in _ACTIVATIONS if key in self._ranges]

    def _rounding(self, key: str, source: str, target: str, settings: Mapping[str, AttributeValue]) -> SourceNode:
        attributes = {**settings, "quantizer.num_bits": 8, "keywords": (), "weights": ("range_min", "range_max")}
        name = f"{self._name}/{key}/rounding"
        return SourceNode("QuantizeLayer", "", name, (source, *self._ranges[key]), (target,), attributes)
