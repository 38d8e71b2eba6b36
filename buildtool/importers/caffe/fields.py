"""Turns the fields of a prototxt into values of the types that buildtool/schemas/caffe.proto gives them."""

from __future__ import annotations

import difflib
import re
from collections.abc import Collection
from dataclasses import replace
from typing import NoReturn, cast

from google.protobuf.descriptor import Descriptor, FieldDescriptor
from google.protobuf.message import Message as Prototype

from buildtool.errors import ModelFileError, Where
from buildtool.importers.caffe.text import Field, Message, Scalar
from buildtool.importers.model import AttributeValue

_IGNORED = "Ignored"
_RANGES = {
    FieldDescriptor.CPPTYPE_INT32: (-(2**31), 2**31 - 1),
    FieldDescriptor.CPPTYPE_INT64: (-(2**63), 2**63 - 1),
    FieldDescriptor.CPPTYPE_UINT32: (0, 2**32 - 1),
}
_TRUTH = {"true": 1, "True": 1, "t": 1, "1": 1, "false": 0, "False": 0, "f": 0, "0": 0}
_WHOLE = re.compile(r"-?(?:0[xX][0-9a-fA-F]+|[0-9]+)")
_REAL = re.compile(r"-?(?:(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:[eE][+-]?[0-9]+)?[fF]?|inf(?:inity)?|nan)", re.IGNORECASE)
_SUGGESTED = 0.6


def schema_of(kind: type[Prototype]) -> Descriptor:
    """The fields that a kind of message has."""
    return cast(Descriptor, kind.DESCRIPTOR)


class Values:
    """The fields of one message, converted. Nested messages stay as they are."""

    def __init__(self, message: Message, schema: Descriptor, where: Where, ignored: str = "") -> None:
        """`ignored`: a regular expression for names outside of the schema that do not matter."""
        self._where = where
        self.scalars: dict[str, AttributeValue] = {}
        self.messages: dict[str, list[Field]] = {}
        seen: dict[str, list[int] | list[float] | list[str]] = {}
        for field in message.fields:
            known = schema.fields_by_name.get(field.name)
            if known is None:
                if not ignored or not re.fullmatch(ignored, field.name):
                    self._unknown(field, schema)
                continue
            if field.name in seen and not known.is_repeated:
                self._fail(field, f"'{field.name}' is given twice")
            values = seen.setdefault(field.name, [])
            if known.type == FieldDescriptor.TYPE_MESSAGE:
                if not isinstance(field.value, Message):
                    self._fail(field, f"'{field.name}' needs fields in braces")
                if known.message_type.name != _IGNORED:
                    self.messages.setdefault(field.name, []).append(field)
                continue
            values.append(self._converted(field, known))  # type: ignore[arg-type]  # all of one field have one type
            self.scalars[field.name] = tuple(values) if known.is_repeated else values[0]  # type: ignore[assignment]

    def text(self, name: str) -> str:
        value = self.scalars.get(name, "")
        return value if isinstance(value, str) else ""

    def texts(self, name: str) -> tuple[str, ...]:
        values = self.scalars.get(name, ())
        return tuple(item for item in values if isinstance(item, str)) if isinstance(values, tuple) else ()

    def numbers(self, name: str) -> tuple[int, ...]:
        values = self.scalars.get(name, ())
        return tuple(item for item in values if isinstance(item, int)) if isinstance(values, tuple) else ()

    def number(self, name: str, default: int) -> int:
        value = self.scalars.get(name, default)
        return value if isinstance(value, int) else default

    def _converted(self, field: Field, known: FieldDescriptor) -> int | float | str:
        if not isinstance(field.value, Scalar):
            self._fail(field, f"'{field.name}' is one value, not fields in braces")
        text, kind = field.value.text, known.cpp_type
        if kind == FieldDescriptor.CPPTYPE_STRING:
            if not field.value.quoted:
                self._fail(field, f"'{field.name}' is a quoted string, not {text}")
            return text
        if field.value.quoted:
            self._fail(field, f"'{field.name}' is not a string, but its value is \"{text}\"")
        if kind == FieldDescriptor.CPPTYPE_ENUM:
            return self._choice(field, text, known)
        if kind == FieldDescriptor.CPPTYPE_BOOL:
            if text not in _TRUTH:
                self._fail(field, f"'{field.name}' is true or false, not {text}")
            return _TRUTH[text]
        if kind == FieldDescriptor.CPPTYPE_FLOAT:
            if not _REAL.fullmatch(text):
                self._fail(field, f"'{field.name}' is a number, not {text}")
            return float(text.lower().removesuffix("f") if not text.lower().endswith("inf") else text)
        low, high = _RANGES[kind]
        # The length: Python refuses to convert very long numbers.
        number = int(text, 0 if "x" in text.lower() else 10) if _WHOLE.fullmatch(text) and len(text) < 32 else None
        if number is None or not low <= number <= high:
            self._fail(field, f"'{field.name}' is an integer from {low} to {high}, not {text}")
        return number

    def _choice(self, field: Field, text: str, known: FieldDescriptor) -> str:
        words = known.enum_type.values_by_name
        if text.isdecimal() and len(text) < 10 and int(text) in known.enum_type.values_by_number:
            text = known.enum_type.values_by_number[int(text)].name
        if text not in words:
            self._fail(field, f"'{field.name}' is {text}, which is not one of {', '.join(words)}", _near(text, words))
        return text

    def _unknown(self, field: Field, schema: Descriptor) -> NoReturn:
        remedy = _near(field.name, schema.fields_by_name) or "remove it if it is needed only for training"
        self._fail(field, f"there is no field '{field.name}' in {schema.name}", remedy)

    def _fail(self, field: Field, what: str, remedy: str = "") -> NoReturn:
        raise ModelFileError(what, where=replace(self._where, line=field.line), remedy=remedy)


def flattened(message: Message, schema: Descriptor, where: Where) -> dict[str, AttributeValue]:
    """The values of a message and of those inside of it, by the names of their fields."""
    values = Values(message, schema, where)
    result = dict(values.scalars)
    for name, fields in values.messages.items():
        for field in fields:
            assert isinstance(field.value, Message)
            result.update(flattened(field.value, schema.fields_by_name[name].message_type, where))
    return result


def _near(word: str, words: Collection[str]) -> str:
    near = difflib.get_close_matches(word, list(words), n=1, cutoff=_SUGGESTED)
    return f"did you mean '{near[0]}'?" if near else ""
