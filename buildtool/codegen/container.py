"""The model container: `<name>.pb` (graph, plan) and `<name>.data` (weights). docs/reference/format.md is the contract.

Equal graphs give equal bytes. `write` and `read` are inverse up to the rounding of how constants are `stored`.
"""

from __future__ import annotations

import io
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import IO

from google.protobuf import text_format

from buildtool.codegen import container_reader, container_writer
from buildtool.codegen.container_writer import Stored
from buildtool.ir.graph import Graph
from buildtool.ir.operator import Operator
from buildtool.ir.types import DType
from buildtool.plan.plan import ALIGNMENT, Plan
from buildtool.schemas import container_pb2


@dataclass(frozen=True)
class Container:
    """The two files of a model."""

    model: bytes
    data: bytes


@dataclass(frozen=True)
class Loaded:
    """A container with everything that is in it."""

    name: str
    graph: Graph
    plan: Plan | None
    input_formats: tuple[str, ...]
    output_formats: tuple[str, ...]


def write(
    graph: Graph,
    *,
    name: str,
    half: bool = False,
    stored: Stored | None = None,
    plan: Plan | None = None,
    input_formats: Sequence[str] = (),
    output_formats: Sequence[str] = (),
) -> Container:
    """Serialise a graph. `stored`: how f32 constants are stored where they can be; `half` is short for f16."""
    data = io.BytesIO()  # gives its bytes away without a copy
    stored = stored or Stored(DType.F16 if half else None)
    formats = {"input_formats": input_formats, "output_formats": output_formats}
    return Container(write_to(data, graph, name=name, stored=stored, plan=plan, **formats), data.getvalue())


def write_to(
    file: IO[bytes],
    graph: Graph,
    *,
    name: str,
    stored: Stored,
    plan: Plan | None = None,
    input_formats: Sequence[str] = (),
    output_formats: Sequence[str] = (),
) -> bytes:
    """The same with the weights written to a file while they are converted: they may be larger than memory."""
    message = container_writer.encode_to(file, graph, name, stored, plan)
    message.input_formats.extend(input_formats)
    message.output_formats.extend(output_formats)
    serialised: bytes = message.SerializeToString(deterministic=True)
    return serialised


def read(
    model: bytes, data: bytes, operators: Mapping[str, type[Operator]], file: str = ""
) -> tuple[Graph, Plan | None]:
    """The graph and the plan, if there is one. ModelFileError where the files are malformed; `file` is for its text."""
    loaded = load(model, data, operators, file)
    return loaded.graph, loaded.plan


def load(model: bytes, data: bytes, operators: Mapping[str, type[Operator]], file: str = "") -> Loaded:
    """The same with names and formats."""
    message = container_reader.parse(model, file)
    graph, plan = container_reader.decode(message, data, operators, file)
    return Loaded(message.name, graph, plan, tuple(message.input_formats), tuple(message.output_formats))


def in_one_file(files: Container) -> bytes:
    """The model with its weights inside: a field that begins at a multiple of 64, behind one that fills up to there."""
    if not files.data:
        return files.model
    head = b"\x7a" + _varint(len(files.data))
    fill = -(len(files.model) + 3 + len(head)) % ALIGNMENT
    return files.model + b"\x82\x01" + bytes([fill]) + bytes(fill) + head + files.data


def _varint(number: int) -> bytes:
    digits = []
    while number > 0x7F:
        digits.append(number & 0x7F | 0x80)
        number >>= 7
    return bytes([*digits, number])


def describe(model: bytes, file: str = "") -> str:
    """The text form of `<name>.pb`, for people (`<name>.pb_txt`). ModelFileError where it is no container."""
    message = container_reader.parse(model, file)
    digest = message.data_sha256.hex()
    message.ClearField("data_sha256")  # text_format would write it as escaped bytes
    text = text_format.MessageToString(message, as_utf8=True)
    return f"# data_sha256: {digest}\n{text}"


def from_description(text: str) -> bytes:
    """`<name>.pb` from its text form. text_format.ParseError where it is none."""
    message = text_format.Parse(text, container_pb2.Model())
    first = text.split("\n", 1)[0]
    if first.startswith("# data_sha256: "):
        message.data_sha256 = bytes.fromhex(first.removeprefix("# data_sha256: "))
    serialised: bytes = message.SerializeToString(deterministic=True)
    return serialised
