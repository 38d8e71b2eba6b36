"""kmodel files, version 3: read with every size and offset checked, written with the alignments of the chip.

A file is a header, the outputs, a header per layer, then the bodies back to back. A convolution's body holds its
argument, weights, batch norm and activation too, found by offsets from the start of the file.
"""

from __future__ import annotations

import dataclasses
import struct
from collections.abc import Iterator
from dataclasses import dataclass

from buildtool.errors import LatheError, ModelFileError, Problem, UnsupportedError, Where
from buildtool.targets.k210.format import registers, tables
from buildtool.targets.k210.format.bodies import BODIES
from buildtool.targets.k210.format.kpu_layers import Conv
from buildtool.targets.k210.format.layer import BodyError, Layer, LayerType, need
from buildtool.targets.k210.generation import checks

VERSION = 3
EIGHT_BIT_WEIGHTS = 1  # in flags
HEADER = struct.Struct("<7I")
PAIR = struct.Struct("<2I")
BODY_ALIGNMENT = 8
LAYER_ALIGNMENT = 8
WEIGHTS_ALIGNMENT = 128
BATCH_NORM_ALIGNMENT = 128
ACTIVATION_ALIGNMENT = 256
ACTIVATION_READ_ALIGNMENT = 128  # what other converters leave
_TAIL_PAST_END = 7  # the padding of the last body may be cut off


@dataclass(frozen=True)
class Output:
    """A part of main memory that is a result."""

    address: int
    size: int


@dataclass(frozen=True)
class Kmodel:
    """A whole file. Where its layers lie in it is not a part of what it is: `places`, filled in by `read`."""

    flags: int
    main_memory: int  # bytes
    outputs: tuple[Output, ...]
    layers: tuple[Layer, ...]
    max_start_address: int = 0  # nothing reads it
    places: tuple[tuple[int, int], ...] = dataclasses.field(default=(), compare=False)  # offset, size of each body

    @property
    def wide_weights(self) -> bool:
        """Whether weights have 16 bits."""
        return not self.flags & EIGHT_BIT_WEIGHTS

    @property
    def input_bytes(self) -> int:
        """What the first layer takes: bytes of planes, or floats."""
        return checks.input_bytes(self.layers)


# -- reading ---------------------------------------------------------------------------------------------------------
def read(data: bytes, name: str = "") -> Kmodel:
    """The model in a file. ModelFileError tells all that is wrong with it, UnsupportedError what is another format."""
    where = Where(file=name)
    _check_version(data, where)
    _, flags, arch, layer_count, start, main_memory, output_count = HEADER.unpack_from(data)
    if arch != 0:
        raise UnsupportedError(f"arch in the header is {arch}", where=where, rule="0 is the K210")
    bodies = HEADER.size + PAIR.size * (output_count + layer_count)
    if bodies > len(data):
        raise ModelFileError(
            f"the header declares {output_count} outputs and {layer_count} layers",
            where=where,
            rule=f"their descriptions take {bodies} bytes; the file has {len(data)}",
            remedy="the file is truncated or damaged: fetch or convert it again",
        )
    pairs = [PAIR.unpack_from(data, offset) for offset in range(HEADER.size, bodies, PAIR.size)]
    outputs = tuple(Output(*pair) for pair in pairs[:output_count])
    layers, places = _read_layers(data, pairs[output_count:], bodies, flags, where)
    model = Kmodel(flags, main_memory, outputs, layers, start, places)
    problems = list(_problems(model, where))
    if problems:
        raise ModelFileError(problems)
    return model


def _check_version(data: bytes, where: Where) -> None:
    head = data[:4]
    number = int.from_bytes(data[4:8], "little") if head in (b"KMDL", b"LDMK") else int.from_bytes(head, "little")
    if len(data) >= 8 and (head in (b"KMDL", b"LDMK") or number in (4, 5, 6)):
        maker = {4: "nncase 0.2", 5: "nncase 1.x"}.get(number, "a later nncase")
        raise UnsupportedError(
            f"this is a kmodel of version {number}, which {maker} writes",
            where=where,
            rule="only version 3 is supported",
            remedy="convert the model again: `lathe build` writes version 3, as nncase 0.1 does",
        )
    if len(data) < HEADER.size:
        raise ModelFileError(
            f"{len(data)} bytes are not a kmodel", where=where, rule=f"its header has {HEADER.size} bytes"
        )
    if number != VERSION:
        raise ModelFileError(
            f"the file starts with {number}", where=where, rule="a kmodel of version 3 starts with the integer 3"
        )


def _read_layers(
    data: bytes, headers: list[tuple[int, int]], offset: int, flags: int, where: Where
) -> tuple[tuple[Layer, ...], tuple[tuple[int, int], ...]]:
    layers: list[Layer] = []
    places: list[tuple[int, int]] = []
    problems: list[Problem] = []
    for number, (kind, size) in enumerate(headers):
        spare = _TAIL_PAST_END if number == len(headers) - 1 else 0
        try:
            if offset + size > len(data) + spare:
                raise BodyError(f"its body of {size} bytes exceeds the file", f"the file has {len(data)} bytes")
            layers.append(_read_layer(data, kind, data[offset : offset + size], flags))
            places.append((offset, size))
        except BodyError as problem:
            problems.append(_problem(problem.what, problem.rule, number, kind, offset, where))
        offset += size
        if offset > len(data) + _TAIL_PAST_END:
            break
    if problems:
        raise ModelFileError(problems)
    return tuple(layers), tuple(places)


def _read_layer(data: bytes, kind: int, body: bytes, flags: int) -> Layer:
    try:
        body_type = BODIES[LayerType(kind)]
    except (ValueError, KeyError):
        known = ", ".join(f"{item.value} {item.name}" for item in BODIES)
        raise BodyError("K210 software does not support layers of this type", f"supported types: {known}") from None
    if body_type is Conv:
        return _read_conv(data, body, flags)
    return body_type.parse(body)


def _read_conv(data: bytes, body: bytes, flags: int) -> Conv:
    size = struct.calcsize(Conv.FORMAT)
    need(body, size, "its fields")
    own_flags, main_out, layer_off, weights_off, bn_off, act_off = struct.unpack_from(Conv.FORMAT, body)
    argument = registers.decode(_part(data, "argument", layer_off, registers.BYTES, LAYER_ALIGNMENT))
    weight_bytes = checks.weight_bytes(argument, wide=not flags & EIGHT_BIT_WEIGHTS)
    weights = _part(data, "weights", weights_off, weight_bytes, WEIGHTS_ALIGNMENT)
    norms = _part(data, "batch norm", bn_off, argument.out_channels * tables.BATCH_NORM_BYTES, BATCH_NORM_ALIGNMENT)
    activation = _part(data, "activation", act_off, tables.ACTIVATION_BYTES, ACTIVATION_READ_ALIGNMENT)
    return Conv(
        own_flags, main_out, layer_off, weights_off, bn_off, act_off, argument, weights,
        tables.decode_batch_norms(norms), tables.decode_activation(activation),
    )  # fmt: skip


def _part(data: bytes, what: str, offset: int, size: int, alignment: int) -> bytes:
    if offset % alignment:
        raise BodyError(f"its {what} is at offset {offset}", f"it is aligned to {alignment} bytes")
    if offset + size > len(data):
        raise BodyError(
            f"its {what} of {size} bytes is at offset {offset}", f"it ends within the file of {len(data)} bytes"
        )
    return data[offset : offset + size]


def _problems(model: Kmodel, where: Where) -> Iterator[Problem]:
    for number, (layer, place) in enumerate(zip(model.layers, model.places, strict=True)):
        first = number == 0
        for what, rule in checks.of_layer(layer, model.main_memory, first=first, wide=model.wide_weights):
            yield _problem(what, rule, number, layer.TYPE, place[0], where)
    if not model.layers:
        yield Problem("the file has no layers", where, "a model has at least one")
    for number, output in enumerate(model.outputs):
        if output.address + output.size > checks.rounded(model.main_memory):
            yield Problem(
                f"output {number} of {output.size} bytes is at {output.address}",
                where,
                f"main memory has {model.main_memory} bytes",
                "the file is damaged: fetch or convert it again",
            )


def _problem(what: str, rule: str, number: int, kind: int, offset: int, where: Where) -> Problem:
    try:
        name = LayerType(kind).name
    except ValueError:
        name = "unknown"
    place = dataclasses.replace(where, node=f"layer {number}")
    text = f"layer {number}, type {kind} ({name}), body at offset {offset}: {what}"
    return Problem(text, place, rule, "the file is damaged, or not for this chip: fetch or convert it again")


# -- writing ---------------------------------------------------------------------------------------------------------
def write(model: Kmodel) -> bytes:
    """The bytes of a file. LatheError where the model breaks a rule that `read` would check."""
    start = HEADER.size + PAIR.size * (len(model.outputs) + len(model.layers))
    body = bytearray()
    sizes = []
    for number, layer in enumerate(model.layers):
        try:
            encoded = _encode(layer, start + len(body), model.wide_weights)
        except (struct.error, UnsupportedError) as problem:
            raise _unwritable(number, layer, problem) from problem
        encoded += bytes(-(start + len(body) + len(encoded)) % BODY_ALIGNMENT)
        sizes.append(len(encoded))
        body += encoded
    header = HEADER.pack(
        VERSION, model.flags, 0, len(model.layers), model.max_start_address, model.main_memory, len(model.outputs)
    )
    outputs = b"".join(PAIR.pack(output.address, output.size) for output in model.outputs)
    headers = b"".join(PAIR.pack(layer.TYPE, size) for layer, size in zip(model.layers, sizes, strict=True))
    data = header + outputs + headers + bytes(body)
    read(data, "the kmodel to write")
    return data


def _encode(layer: Layer, start: int, wide: bool) -> bytes:
    return _encode_conv(layer, start, wide) if isinstance(layer, Conv) else layer.encode()


def _encode_conv(layer: Conv, start: int, wide: bool) -> bytes:
    """Its body, for the offset at which the body begins."""
    for what, found, wanted in (
        ("bytes of weights", len(layer.weights), checks.weight_bytes(layer.argument, wide=wide)),
        ("batch norms", len(layer.batch_norm), layer.argument.out_channels),
        ("segments of the activation", len(layer.activation.segments), tables.SEGMENTS),
    ):
        if found != wanted:
            raise UnsupportedError(f"it has {found} {what}", rule=f"its argument declares {wanted}")
    parts = (
        (layer.argument.encode(), LAYER_ALIGNMENT),
        (layer.weights, WEIGHTS_ALIGNMENT),
        (b"".join(norm.encode() for norm in layer.batch_norm), BATCH_NORM_ALIGNMENT),
        (layer.activation.encode(), ACTIVATION_ALIGNMENT),
    )
    end = start + struct.calcsize(Conv.FORMAT)
    body = bytearray()
    offsets = []
    for part, alignment in parts:
        padding = -end % alignment
        offsets.append(end + padding)
        body += bytes(padding) + part
        end += padding + len(part)
    return struct.pack(Conv.FORMAT, layer.flags, layer.main_out, *offsets) + bytes(body)


def _unwritable(number: int, layer: Layer, problem: Exception) -> LatheError:
    first = problem.problems[0] if isinstance(problem, LatheError) else Problem("a value does not fit its field")
    return UnsupportedError(
        f"layer {number}, type {layer.TYPE} ({layer.TYPE.name}): {first.what}",
        where=Where(node=f"layer {number}"),
        rule=first.rule or "fields have 32 bits",
        remedy=first.remedy or "use smaller tensors",
    )
