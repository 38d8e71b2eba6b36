"""Makes a `SourceModel` of a prototxt and a caffemodel.

Caffe runs layer after layer, and a layer may write into the blob that it reads. Here every tensor is defined once: the
last that is called by the name of a blob has this name, those before it a number behind it (`conv1#1`). Inputs keep
theirs.
"""

from __future__ import annotations

from collections import Counter
from pathlib import Path

from buildtool.errors import ModelFileError, Where
from buildtool.importers.caffe.layer_types import SOURCES
from buildtool.importers.caffe.prototxt import Layer, Structure, read_structure
from buildtool.importers.caffe.text import NOT_TEXT
from buildtool.importers.caffe.weights import read_blobs
from buildtool.importers.files import read_bytes
from buildtool.importers.model import SourceModel, SourceNode, SourceTensor
from buildtool.importers.order import check_names, in_execution_order
from buildtool.ir.operator import Array
from buildtool.ir.types import DType

#: The attribute that says how many of a node's inputs are blobs of the network; those behind are weights.
BOTTOMS = "bottoms"
_DAMAGED = "each bottom of a layer is an input of the network or a top of a layer before it"
_ENDS = frozenset({"Silence"})  # layers that read what nobody wants


def read(prototxt: Path, caffemodel: Path | None, name: str) -> SourceModel:
    """The checked content of the files. LatheError where they are no network."""
    where = Where(file=str(prototxt), model=name)
    data = read_bytes(prototxt, where, NOT_TEXT, NOT_TEXT)
    structure = read_structure(data, where)
    inputs = _inputs(structure, where)
    layers = [layer for layer in structure.layers if layer.type not in SOURCES or layer.bottoms]
    if not layers:
        raise ModelFileError("the network has no layers", where=where, remedy=NOT_TEXT)
    blobs = read_blobs(caffemodel, [layer.name for layer in layers], name) if caffemodel is not None else {}
    names = _Names(layers, inputs)
    constants: dict[str, Array] = {}
    nodes: list[SourceNode] = []
    for layer in layers:
        bottoms = names.read(layer.bottoms)
        if layer.type in _ENDS:
            continue
        weights = []
        for index, blob in enumerate(blobs.get(layer.name, ())):
            weights.append(names.unused(f"{layer.name}/{index}"))
            constants[weights[-1]] = blob
        attributes = {**layer.attributes, BOTTOMS: len(bottoms)}
        tops = names.made(layer.tops)
        nodes.append(SourceNode(layer.type, "", layer.name, (*bottoms, *weights), tops, attributes))
    outputs = {one: SourceTensor(one, DType.F32, None) for one in names.unread()}
    if not outputs:
        raise ModelFileError("the network has no outputs", where=where, rule="an output is a top that no layer reads")
    check_names(nodes, {**inputs, **constants}, outputs, where, _DAMAGED)
    ordered = in_execution_order(nodes, where)
    return SourceModel(where, 0, "NCHW", inputs, outputs, {}, constants, ordered)


def read_inputs(prototxt: Path) -> dict[str, SourceTensor]:
    """What a network is fed, without a look at its weights."""
    where = Where(file=str(prototxt))
    return _inputs(read_structure(read_bytes(prototxt, where, NOT_TEXT, NOT_TEXT), where), where)


def _inputs(structure: Structure, where: Where) -> dict[str, SourceTensor]:
    """What the network is fed. Sizes that are not positive are open."""
    shapes: dict[str, tuple[int, ...] | None] = dict(structure.inputs)
    for layer in structure.layers:
        if layer.type not in SOURCES or layer.bottoms:
            continue
        given = layer.shapes * len(layer.tops) if len(layer.shapes) == 1 else layer.shapes
        if given and len(given) != len(layer.tops):
            raise ModelFileError(
                f"the layer '{layer.name}' has {len(layer.tops)} tops, but shapes of {len(given)}",
                where=Where(where.file, layer.line, model=where.model),
            )
        shapes.update(zip(layer.tops, given or [None] * len(layer.tops), strict=True))
    return {
        name: SourceTensor(
            name, DType.F32, None if shape is None else tuple(dim if 0 < dim < 2**31 else None for dim in shape)
        )
        for name, shape in shapes.items()
    }


class _Names:
    """Which tensor a blob is at the moment, while layer after layer is read."""

    def __init__(self, layers: list[Layer], inputs: dict[str, SourceTensor]) -> None:
        self._to_come = Counter(top for layer in layers if layer.type not in _ENDS for top in layer.tops)
        self._taken = {*self._to_come, *inputs, *(bottom for layer in layers for bottom in layer.bottoms)}
        self._now = {name: name for name in inputs}
        self._inputs = frozenset(inputs)
        self._made: dict[str, None] = {}  # in order
        self._read: set[str] = set()

    def read(self, blobs: tuple[str, ...]) -> tuple[str, ...]:
        tensors = tuple(self._now.get(blob, blob) for blob in blobs)
        self._read.update(tensors)
        return tensors

    def made(self, blobs: tuple[str, ...]) -> tuple[str, ...]:
        tensors = []
        for blob in blobs:
            self._to_come[blob] -= 1
            is_last = not self._to_come[blob] and blob not in self._inputs
            self._now[blob] = blob if is_last else self.unused(blob)
            self._made[self._now[blob]] = None
            tensors.append(self._now[blob])
        return tuple(tensors)

    def unused(self, name: str) -> str:
        """The name, or the name with a number where it stands for something else."""
        number, free = 1, name
        while free in self._taken:
            free, number = f"{name}#{number}", number + 1
        self._taken.add(free)
        return free

    def unread(self) -> tuple[str, ...]:
        return tuple(name for name in self._made if name not in self._read)
