"""Reads a caffemodel: the blobs of every layer, by the layer's name."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path

import numpy as np
from google.protobuf.message import DecodeError

from buildtool import budget
from buildtool.errors import ModelFileError, Where
from buildtool.importers.files import read_bytes
from buildtool.ir.operator import Array
from buildtool.schemas import caffe_pb2

_DAMAGED = "weight_file_path is the caffemodel: copy or download it again"
_MOST_RANK = 8


def read_blobs(file: Path, wanted: Iterable[str], model: str) -> Mapping[str, Sequence[Array]]:
    """The blobs of the layers that are wanted, as 32-bit floats. ModelFileError where the file is damaged."""
    where = Where(file=str(file), model=model)
    network = caffe_pb2.TrainedNetwork()
    try:
        network.ParseFromString(read_bytes(file, where, "save the model with smaller layers", _DAMAGED))
    except DecodeError:
        raise ModelFileError("this is not a caffemodel, or it is damaged", where=where, remedy=_DAMAGED) from None
    names = frozenset(wanted)
    layers = [(layer.name, layer.blobs) for layer in network.layers]
    layers += [(layer.name, layer.blobs) for layer in network.layer]
    if not any(blobs for _, blobs in layers):
        raise ModelFileError("no layer in it has weights", where=where, remedy=_DAMAGED)
    result: dict[str, Sequence[Array]] = {}
    for name, blobs in layers:
        if blobs and name in names and name not in result:
            at = Where(file=str(file), model=model, node=name)
            result[name] = [_array(blob, at) for blob in blobs]
    return result


def _array(blob: caffe_pb2.BlobProto, where: Where) -> Array:
    has_shape = blob.HasField("shape")
    shape = tuple(blob.shape.dim) if has_shape else (blob.num, blob.channels, blob.height, blob.width)
    doubles = b"".join(blob.double_data)
    data, dtype = (doubles, np.dtype("<f8")) if doubles else (b"".join(blob.data), np.dtype("<f4"))
    sane = len(shape) <= _MOST_RANK and all(0 <= dim < 2**31 for dim in shape)
    if not sane or math.prod(shape) * dtype.itemsize != len(data):
        raise ModelFileError(
            f"a blob of the shape {list(shape)} has {len(data)} bytes",
            where=where,
            rule="4 bytes an element, or 8 of double precision",
            remedy=_DAMAGED,
        )
    budget.made(4 * math.prod(shape))
    return np.frombuffer(data, dtype).reshape(shape).astype(np.float32, copy=False)
