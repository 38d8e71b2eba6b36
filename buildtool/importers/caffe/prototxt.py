"""Reads a prototxt: the layers that a network has when it runs, in today's form whatever the form of the file."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace

from buildtool.errors import ModelFileError, UnsupportedError, Where
from buildtool.importers.caffe.fields import Values, flattened, schema_of
from buildtool.importers.caffe.layer_types import PARAMETERS, V1_TYPES
from buildtool.importers.caffe.text import Field, Message, parse
from buildtool.importers.model import AttributeValue
from buildtool.schemas import caffe_pb2

#: Parameters of layers that only matter in training, or of layers that have no handler.
_OTHER_PARAMETERS = r"\w+_param"
_V0_RANK = 4  # of inputs whose sizes stand one by one in `input_dim`


@dataclass(frozen=True)
class Layer:
    """A layer; `attributes` are the fields of its own parameters."""

    name: str
    type: str
    bottoms: tuple[str, ...]
    tops: tuple[str, ...]
    attributes: dict[str, AttributeValue]
    shapes: tuple[tuple[int, ...], ...] = ()  # of an Input layer
    line: int = 0


@dataclass(frozen=True)
class Structure:
    """A network. Inputs that stand before the layers have their sizes, or None."""

    inputs: dict[str, tuple[int, ...] | None]
    layers: tuple[Layer, ...]


def read_structure(data: bytes, where: Where) -> Structure:
    """The layers of a prototxt that take part in the phase TEST."""
    network = Values(parse(data, where), schema_of(caffe_pb2.NetParameter), where)
    old, new = network.messages.get("layers", []), network.messages.get("layer", [])
    if old and new:
        raise ModelFileError(
            "the network has layers in the formats 'layers' and 'layer'",
            where=replace(where, line=new[0].line),
            remedy="convert it to one format with Caffe's upgrade_net_proto_text",
        )
    state = _State(network.messages.get("state", []), where)
    layers = [_layer(field, state, where, is_old=bool(old)) for field in old or new]
    return Structure(_inputs(network, where), tuple(layer for layer in layers if layer is not None))


def _inputs(network: Values, where: Where) -> dict[str, tuple[int, ...] | None]:
    names, sizes = network.texts("input"), network.numbers("input_dim")
    shapes = [_shape(field, where) for field in network.messages.get("input_shape", [])]
    if not shapes:
        shapes = [sizes[start : start + _V0_RANK] for start in range(0, len(sizes), _V0_RANK)]
    if shapes and (len(shapes) != len(names) or (sizes and len(sizes) % _V0_RANK)):
        raise ModelFileError(
            f"there are {len(names)} inputs, but sizes of {len(shapes)}",
            where=where,
            rule="each 'input' has an 'input_shape', or four numbers 'input_dim'",
        )
    return dict(zip(names, shapes, strict=True)) if shapes else dict.fromkeys(names)


def _shape(field: Field, where: Where) -> tuple[int, ...]:
    assert isinstance(field.value, Message)
    return Values(field.value, schema_of(caffe_pb2.BlobShape), where).numbers("dim")


def _layer(field: Field, state: _State, where: Where, is_old: bool) -> Layer | None:
    """None where the layer does not take part."""
    assert isinstance(field.value, Message)
    at = replace(where, line=field.line)
    schema = schema_of(caffe_pb2.V1LayerParameter if is_old else caffe_pb2.LayerParameter)
    values = Values(field.value, schema, where, _OTHER_PARAMETERS)
    if is_old and field.value.all("layer"):
        raise UnsupportedError(
            "the network has the format of Caffe before 2014 ('layers' with a 'layer' inside)",
            where=at,
            remedy="convert it to the current format with Caffe's upgrade_net_proto_text and upgrade_net_proto_binary",
        )
    if not state.takes(values.messages.get("include", []), values.messages.get("exclude", [])):
        return None
    kind = values.text("type")
    kind = V1_TYPES.get(kind, kind) if is_old else kind
    tops = values.texts("top")
    name = values.text("name") or next(iter(tops), f"line {field.line}")
    if not kind:
        raise ModelFileError(
            f"the layer '{name}' has no type", where=at, remedy="the file is damaged or no network of Caffe: correct it"
        )
    attributes: dict[str, AttributeValue] = {}
    shapes: list[tuple[int, ...]] = []
    parameter = PARAMETERS.get(kind, "")
    for inner in values.messages.get(parameter, []):
        assert isinstance(inner.value, Message)
        message = schema.fields_by_name[parameter].message_type
        if kind == "Input":
            shapes += [_shape(item, where) for item in inner.value.all("shape") if isinstance(item.value, Message)]
        else:
            attributes.update(flattened(inner.value, message, where))
    return Layer(name, kind, values.texts("bottom"), tops, attributes, tuple(shapes), field.line)


class _State:
    """What the rules of layers are held against: the phase TEST, and the level and stages that the file declares."""

    def __init__(self, fields: Iterable[Field], where: Where) -> None:
        self._where = where
        self._level, self._stages = 0, frozenset[str]()
        for field in fields:
            assert isinstance(field.value, Message)
            values = Values(field.value, schema_of(caffe_pb2.NetState), where)
            self._level, self._stages = values.number("level", 0), frozenset(values.texts("stage"))

    def takes(self, include: Iterable[Field], exclude: Iterable[Field]) -> bool:
        """Whether a layer takes part: where it says which states include it, one of them has to be this one."""
        included = [self._meets(rule) for rule in include]
        return any(included) if included else not any(self._meets(rule) for rule in exclude)

    def _meets(self, rule: Field) -> bool:
        assert isinstance(rule.value, Message)
        values = Values(rule.value, schema_of(caffe_pb2.NetStateRule), self._where)
        return (
            values.text("phase") in ("", "TEST")
            and values.number("min_level", self._level) <= self._level <= values.number("max_level", self._level)
            and self._stages.issuperset(values.texts("stage"))
            and self._stages.isdisjoint(values.texts("not_stage"))
        )
