"""Fuzzes the reader of model containers in Python.

The two files are one input: the length of the first in four bytes, then both. What the first says of the second (its
size and checksum) is put right most of the time, since the fuzzer cannot guess it.
"""

from __future__ import annotations

from tests.fuzz import harness

with harness.instrumented():
    from buildtool.codegen import container
    from buildtool.errors import LatheError
    from buildtool.ops.registry import registry
    from buildtool.schemas import container_pb2

    OPERATORS = registry()

import contextlib
import hashlib
import random
import struct
import sys
from pathlib import Path
from typing import Any

import atheris
from google.protobuf.message import DecodeError

from tests.fuzz import onnx_seeds

_SEEDS = Path("build/fuzz/seeds/container_file")
_NUMBERS = (0, 1, 2, 3, 4, 7, 8, 16, 64, 255, 2**16, 2**31 - 1, 2**31, 2**32 - 1, 2**63 - 1, 2**64 - 1)


def _joined(model: bytes, data: bytes) -> bytes:
    return struct.pack("<I", len(model)) + model + data


def _parted(joined: bytes) -> tuple[bytes, bytes]:
    size = struct.unpack("<I", joined[:4].ljust(4, b"\0"))[0]
    return joined[4 : 4 + size], joined[4 + size :]


def main() -> None:
    """The target."""
    if "--write-seeds" in sys.argv:
        _write_seeds()
        return

    def target(joined: bytes) -> None:
        model, data = _parted(joined)
        loaded = container.load(model, data, OPERATORS, "fuzzed.pb")
        again = container.write(loaded.graph, name=loaded.name, half=False, plan=loaded.plan)
        container.load(again.model, again.data, OPERATORS)
        container.describe(model)

    harness.fuzz(target, _mutated)


def _mutated(joined: bytes, most: int, seed: int) -> bytes:
    """Changes the message by its fields, or its bytes, or the data."""
    dice = random.Random(seed)
    model, data = _parted(joined)
    draw = dice.random()
    if draw < 0.05:
        return bytes(atheris.Mutate(joined, most))
    if draw < 0.15:
        data = bytes(atheris.Mutate(data, max(len(data), 64)))
    if draw < 0.25:
        model = bytes(atheris.Mutate(model, max(most - len(data), 1)))
    message = container_pb2.Model()
    with contextlib.suppress(DecodeError):
        message.ParseFromString(model)
        for _ in range(dice.choice((0, 1, 1, 1, 2, 4)) if draw < 0.25 else dice.choice((1, 1, 2, 4))):
            with contextlib.suppress(LookupError, ValueError, TypeError):
                _change(message, dice)
        if dice.random() < 0.95:
            message.data_size, message.data_sha256 = len(data), hashlib.sha256(data).digest()
        model = message.SerializeToString()
    changed = _joined(model, data)
    return changed if len(changed) <= most else joined


def _change(message: Any, dice: random.Random) -> None:
    """One field somewhere in the message."""
    while True:
        field, value = dice.choice(message.ListFields())
        repeated = field.is_repeated if hasattr(field, "is_repeated") else field.label == field.LABEL_REPEATED
        if field.message_type is None or dice.random() < 0.15:
            break
        message = dice.choice(value) if repeated else value
    if dice.random() < 0.15:
        message.ClearField(field.name)
    elif repeated and field.message_type is not None:
        value.add().CopyFrom(dice.choice(value))
    elif repeated and dice.random() < 0.3:
        del value[dice.randrange(len(value))]
    elif repeated:
        value[dice.randrange(len(value))] = _scalar(field, dice.choice(value), dice)
    elif field.message_type is None:
        setattr(message, field.name, _scalar(field, value, dice))


def _scalar(field: Any, old: Any, dice: random.Random) -> Any:
    if isinstance(old, str):
        return dice.choice((old + "x", "", old[:-1], "relu", "add", "none", "\0"))
    if isinstance(old, bytes):
        return old[: dice.randrange(len(old) + 1)]
    if isinstance(old, float):
        return dice.choice((0.0, -1.0, 1e30, float("inf"), float("nan")))
    if isinstance(old, bool):
        return not old
    number = dice.choice(_NUMBERS) if dice.random() < 0.4 else dice.randint(0, 40)
    return number - 2**64 if number >= 2**63 and field.cpp_type == field.CPPTYPE_INT64 else number


def _write_seeds() -> None:
    """What the models that the ONNX importer is fuzzed with become, as imported and as planned."""
    from buildtool.importers.onnx import import_model
    from buildtool.importers.request import ImportRequest
    from buildtool.passes.pipeline import optimise
    from buildtool.plan import arena, manifest, select
    from buildtool.plan.plan import Plan

    _SEEDS.mkdir(parents=True, exist_ok=True)
    manifests = manifest.load()
    if not onnx_seeds.FOLDER.is_dir():
        onnx_seeds.main()
    for file in sorted(onnx_seeds.FOLDER.glob("*.onnx")):
        with contextlib.suppress(LatheError):
            graph = import_model(ImportRequest("seed", file)).graph
            written = container.write(graph, name="seed", half=False)
            (_SEEDS / file.stem).write_bytes(_joined(written.model, written.data))
            optimise(graph)
            choices = select.select(graph, manifests, abi="host", isas=("portable",))
            memory = arena.plan(graph, choices)
            plan = Plan("host", tuple(choice.names for choice in choices), memory.placements, memory.size)
            written = container.write(graph, name="seed", half=False, plan=plan)
            (_SEEDS / f"{file.stem}-planned").write_bytes(_joined(written.model, written.data))


if __name__ == "__main__":
    main()
