"""Which weights a layer has, and where the two kinds of files hold them.

Older files (`.h5`) list the weights of each layer of the model, those of an inner model all together: first what can be
trained, then the rest. Newer ones (`.keras`) have a tree of groups that are called after the classes of the layers.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import TypeAlias

from buildtool.errors import ModelFileError, UnsupportedError, Where
from buildtool.importers.keras.description import Layer, Network
from buildtool.importers.keras.hdf5 import Dataset, Group, Hdf5

#: The datasets of every layer that has some, by the layer's place: the names of the models around it and its own.
Place: TypeAlias = tuple[str, ...]
Found: TypeAlias = dict[Place, Sequence[Dataset]]

_KERNEL = ("kernel", "bias")
_RECURRENT = ("kernel", "recurrent_kernel", "bias")
_ATTENTION = ("query", "key", "gate", "value", "attention_output")
_HEADS = ("MultiHeadAttention", "GroupQueryAttention", "GroupedQueryAttention")
_PLAIN: Mapping[str, tuple[str, ...]] = {
    "Dense": _KERNEL,
    "EinsumDense": _KERNEL,
    "Conv1D": _KERNEL,
    "Conv2D": _KERNEL,
    "Conv3D": _KERNEL,
    "Convolution1D": _KERNEL,
    "Convolution2D": _KERNEL,
    "Convolution3D": _KERNEL,
    "Conv1DTranspose": _KERNEL,
    "Conv2DTranspose": _KERNEL,
    "Conv3DTranspose": _KERNEL,
    "Convolution1DTranspose": _KERNEL,
    "Convolution3DTranspose": _KERNEL,
    "DepthwiseConv1D": _KERNEL,
    "DepthwiseConv2D": _KERNEL,
    "SeparableConv1D": ("depthwise_kernel", "pointwise_kernel", "bias"),
    "SeparableConv2D": ("depthwise_kernel", "pointwise_kernel", "bias"),
    "SeparableConvolution1D": ("depthwise_kernel", "pointwise_kernel", "bias"),
    "SeparableConvolution2D": ("depthwise_kernel", "pointwise_kernel", "bias"),
    "Embedding": ("embeddings",),
    "PReLU": ("alpha",),
    "LSTM": _RECURRENT,
    "GRU": _RECURRENT,
    "SimpleRNN": _RECURRENT,
    "ConvLSTM1D": _RECURRENT,
    "ConvLSTM2D": _RECURRENT,
    "ConvLSTM3D": _RECURRENT,
    "ReversibleEmbedding": ("embeddings", "reverse_embeddings"),
    "BatchNormalization": ("gamma", "beta", "moving_mean", "moving_variance"),
    "SyncBatchNormalization": ("gamma", "beta", "moving_mean", "moving_variance"),
    "LayerNormalization": ("gamma", "beta"),
    "GroupNormalization": ("gamma", "beta"),
    "LayerScale": ("gamma",),
    "RMSNormalization": ("scale",),
    "STFTSpectrogram": ("real_kernel", "imag_kernel"),
    "Normalization": ("mean", "variance", "count"),
    "QuantizeLayer": ("range_min", "range_max", "optimizer_step"),
    **dict.fromkeys(_HEADS, tuple(f"{part}_{kind}" for part in _ATTENTION for kind in _KERNEL)),
    "Attention": ("scale", "concat_score_weight"),
    "AdditiveAttention": ("scale",),
}
#: Never trained.
_FIXED = frozenset(
    {"moving_mean", "moving_variance", "mean", "variance", "count", "range_min", "range_max", "optimizer_step"}
)
_CALLED = {"GroupQueryAttention": "GroupedQueryAttention"}  # a class that has another name where it is written
_DENSE = tuple((f"{part}_dense", f"_{part}_dense") for part in ("query", "key", "gate", "value", "output"))
#: In a tree, the groups below that of a layer that hold its weights.
_BELOW: Mapping[str, tuple[tuple[str, ...], ...]] = {
    "LSTM": (("cell",),),
    "GRU": (("cell",),),
    "SimpleRNN": (("cell",),),
    "ConvLSTM1D": (("cell",),),
    "ConvLSTM2D": (("cell",),),
    "ConvLSTM3D": (("cell",),),
    **dict.fromkeys(_HEADS, _DENSE),
}


def slots(layer: Layer) -> tuple[str, ...]:
    """The weights of a layer, in the order in which Keras makes them."""
    names, settings = _PLAIN.get(layer.op, ()) if not layer.domain else (), layer.settings
    without = set()
    if settings.get("use_bias", True) is False:
        without |= {name for name in names if name.endswith("bias")}
    if settings.get("scale", True) is False:
        without.add("gamma")
    if settings.get("center", True) is False or settings.get("rms_scaling") is True:
        without.add("beta")
    match layer.op:
        case "STFTSpectrogram":
            without |= {{"imag": "real_kernel", "real": "imag_kernel"}.get(str(settings.get("mode")), "")}
        case "ReversibleEmbedding" if settings.get("tie_weights", True) is not False:
            without.add("reverse_embeddings")
        case "EinsumDense" if settings.get("bias_axes") is None:
            without.add("bias")
        case op if op in _HEADS and settings.get("use_gate") is not True:
            without |= {f"gate_{kind}" for kind in _KERNEL}
        case "Normalization" if settings.get("mean") is not None:
            without |= _FIXED
        case "Attention" | "AdditiveAttention" if settings.get("use_scale", layer.op != "Attention") is not True:
            without.add("scale")
    if layer.op == "Attention" and settings.get("score_mode", "dot") != "concat":
        without.add("concat_score_weight")
    return (*(name for name in names if name not in without), *_bounds(layer))


def _bounds(layer: Layer) -> tuple[str, ...]:
    """The ranges that are kept beside the weights of a layer for which quantisation is simulated."""
    return tuple(f"{name}_{end}" for name in layer.ranges for end in ("min", "max"))


def listed(network: Network, root: Group, where: Where) -> Found:
    """The weights of an older file. `root` holds a group for each layer of the model."""
    found: Found = {}
    for layer in network.layers:
        group = root.group(layer.name)
        if group is None or layer.domain == "ops":
            continue
        datasets = [_named(group, name, where) for name in group.texts("weight_names")]
        _hand_out((layer.name,), layer, datasets, where, found)
    return found


def _named(group: Group, name: str, where: Where) -> Dataset:
    dataset = group.dataset(name)
    if dataset is None:
        raise ModelFileError(f"the weights '{name}' are not in the file", where=where, remedy="save the model again")
    return dataset


def _hand_out(place: Place, layer: Layer, datasets: list[Dataset], where: Where, found: Found) -> None:
    """Shares the weights of a layer out among the layers in it: all that can be trained come first."""
    leaves = list(_leaves(place, layer, True))
    if len(leaves) == 1:
        at, leaf, _ = leaves[0]
        if layer.op == "SpectralNormalization":  # behind them stands what training needs
            datasets = datasets[: len(slots(leaf))]
        found[at] = _of_quantised(leaf, datasets) if leaf.quantised else datasets
        return
    for _, leaf, _ in leaves:
        if leaf.domain or leaf.quantised:
            raise UnsupportedError(
                f"the weights of '{layer.name}' cannot be assigned: the number of weights of '{leaf.op}' is unknown",
                where=Where(where.file, model=where.model, node=leaf.name),
                remedy="save the model as .keras, where each layer stores its own weights",
            )
    order = [(at, index) for at, leaf, free in leaves for index, name in enumerate(slots(leaf)) if free and _free(name)]
    order += [
        (at, index) for at, leaf, free in leaves for index, name in enumerate(slots(leaf)) if not (free and _free(name))
    ]
    if len(order) != len(datasets):
        raise ModelFileError(
            f"'{layer.name}' has {len(datasets)} weights in the file; its layers have {len(order)}",
            where=Where(where.file, model=where.model, node=layer.name),
            remedy="save the model again",
        )
    shares: dict[Place, dict[int, Dataset]] = {}
    for (at, index), dataset in zip(order, datasets, strict=True):
        shares.setdefault(at, {})[index] = dataset
    found.update({at: [share[index] for index in sorted(share)] for at, share in shares.items()})


def _free(name: str) -> bool:
    return name not in _FIXED


def _leaves(place: Place, layer: Layer, free: bool) -> Iterator[tuple[Place, Layer, bool]]:
    """The layers in a layer that are no models or wrappers, and whether they can be trained."""
    free = free and layer.trainable
    inside = [*(layer.network.layers if layer.network is not None else ()), *layer.inner.values()]
    if not inside:
        yield place, layer, free
    for one in inside if layer.network is not None else ():
        yield from _leaves((*place, one.name), one, free)
    for key, one in layer.inner.items():
        yield from _leaves((*place, key), one, free)


def _of_quantised(layer: Layer, datasets: Sequence[Dataset]) -> list[Dataset]:
    """The layer's own weights among those of the wrapper, which also keeps ranges."""
    by_name = {re.sub(r":\d+$", "", dataset.path.rpartition("/")[2]): dataset for dataset in reversed(datasets)}
    return [by_name[name] for name in _older_names(layer, slots(layer)) if name in by_name]


def _older_names(layer: Layer, names: Sequence[str]) -> list[str]:
    """Keras 2 calls the filter of a depthwise convolution after its kind."""
    depthwise = layer.op.startswith("Depthwise")
    return [f"depthwise_{name}" if depthwise and name.startswith("kernel") else name for name in names]


# -- newer files -------------------------------------------------------------------------------------------------------
def tree(network: Network, root: Group, where: Where) -> Found:
    """The weights of a newer file."""
    found: Found = {}
    _walk((), network, root, found)
    return found


def _walk(place: Place, network: Network, group: Group, found: Found) -> None:
    counts: dict[str, int] = {}
    for layer in network.layers:
        if layer.domain == "ops":
            continue
        own = group.group("layers", _numbered(_group_name(layer.title or layer.op), counts))
        own = own or group.group("_layer_checkpoint_dependencies", layer.name)
        if own is not None:
            _collect((*place, layer.name), layer, own, found)


def _numbered(name: str, counts: dict[str, int]) -> str:
    """The name of a group beside others of that name."""
    number = counts.get(name, 0)
    counts[name] = number + 1
    return f"{name}_{number}" if number else name


def _collect(place: Place, layer: Layer, group: Group, found: Found) -> None:
    if layer.network is not None:
        _walk(place, layer.network, group, found)
        return
    counts: dict[str, int] = {}
    for key, inner in layer.inner.items():
        below = group.group(key)
        if layer.op == "StackedRNNCells":
            below = group.group("cell", "cells", _numbered(f"{_group_name(inner.op)}_cell", counts))
        if below is not None:
            _collect((*place, key), inner, below, found)
    if layer.inner:
        return
    datasets = _in_wrapper(layer, group) if layer.quantised else list(_variables(group))
    for names in _BELOW.get(layer.op, ()) if not layer.domain else ():
        for name in names:
            below = group.group(name)
            if below is not None:
                datasets += _variables(below)
    found[place] = datasets


def _in_wrapper(layer: Layer, group: Group) -> list[Dataset]:
    """The weights of a layer for which quantisation is simulated, and then the ranges.

    The wrapper has what is trained, the layer has what is not rounded: all, or all that is trained, is in one of them.
    Behind that stand what is rounded once more, a count of steps, which has no axes, and the ranges.
    """
    own = list(_variables(group))
    below = group.group("layer")
    inside = list(_variables(below)) if below is not None else []
    bounds = _bounds(layer)
    count = len(slots(layer)) - len(bounds)
    weights = inside if len(inside) == count else own[:count]
    return [*weights, *(own[len(own) - len(bounds) :] if bounds else ())]


def _variables(group: Group) -> Iterator[Dataset]:
    number = 0
    while (dataset := group.dataset("vars", str(number))) is not None:
        yield dataset
        number += 1


def _group_name(title: str) -> str:
    """As Keras makes it of the name of a class."""
    name = re.sub(r"\W+", "", _CALLED.get(title, title))
    name = re.sub("(.)([A-Z][a-z]+)", r"\1_\2", name)
    return re.sub("([a-z])([A-Z])", r"\1_\2", name).lower()


def finder(file: Hdf5) -> Callable[[Network], Found]:
    """What finds the weights in a file of either kind."""
    root = file.root
    older = root.group("model_weights") or (root if root.texts("layer_names") else None)
    if older is not None:
        return lambda network: listed(network, older, file.where)
    return lambda network: tree(network, root, file.where)
