"""The weights of all models inside a library as one block that holds equal ones once.

Networks that differ in their sizes only, or the two halves of a decoder (prompt and next word), have the same weights.
"""

from __future__ import annotations

import hashlib
import itertools
from collections.abc import Iterator, Sequence

from buildtool.codegen.container import Container
from buildtool.plan.plan import ALIGNMENT
from buildtool.schemas import container_pb2 as pb

_LEAST = 4096  # bytes to save, a page: below it every model keeps a block of its own


def shared(models: Sequence[Container]) -> tuple[Container, ...]:
    """The same models with the same block for data, where that is smaller; else as they are."""
    messages = [pb.Model.FromString(model.model) for model in models]
    places: dict[bytes, int] = {}  # digest of a piece -> where it lies in the block
    block = bytearray()
    moved: list[dict[int, int]] = []  # per model: offsets before -> in the block
    for model, message in zip(models, messages, strict=True):
        offsets = sorted({place.offset for place in _places(message)})
        moved.append({})
        for offset, end in itertools.pairwise([*offsets, len(model.data)]):
            piece = model.data[offset:end]
            piece += bytes(-len(piece) % ALIGNMENT)  # what follows begins at a multiple of it
            digest = hashlib.sha256(piece).digest()
            if digest not in places:
                places[digest] = len(block)
                block += piece
            moved[-1][offset] = places[digest]
    if len(block) + _LEAST > sum(len(model.data) for model in models):
        return tuple(models)
    data = bytes(block)
    digest = hashlib.sha256(data).digest()
    for message, moves in zip(messages, moved, strict=True):
        for place in _places(message):
            place.offset = moves[place.offset]
        message.data_size, message.data_sha256 = len(data), digest
    return tuple(Container(message.SerializeToString(deterministic=True), data) for message in messages)


def _places(message: pb.Model) -> Iterator[pb.Constant | pb.Scaled]:
    """What says where weights lie."""
    for value in message.graph.values:
        if value.HasField("constant"):
            yield value.constant
            if value.constant.HasField("scaled"):
                yield value.constant.scaled
