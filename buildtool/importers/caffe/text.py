"""The text form of protobuf as a tree that knows its lines.

protobuf's own parser does not tell the lines of what it has read, and either refuses every field that a fork of Caffe
has for its training or is silent about all that it skips.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import replace
from typing import NamedTuple

from buildtool.errors import ModelFileError, Where

MOST_DEPTH = 32
NOT_TEXT = "model_file_path is the prototxt, a text; weight_file_path is the caffemodel"
_TOKEN = re.compile(
    r"(?P<space>[ \t\r\f\v]+|\#[^\n]*)|(?P<newline>\n+)"
    r"|(?P<string>\"(?:[^\"\\\n]|\\[^\n])*\"|'(?:[^'\\\n]|\\[^\n])*')"
    r"|(?P<word>-?[ \t]*[A-Za-z0-9_.](?:[A-Za-z0-9_.]|(?<=[eE])[+-])*)|(?P<mark>[{}<>\[\]:;,])"
    r"|(?P<other>.)"
)
_NAME = re.compile(r"[A-Za-z_]\w*")
_ESCAPE = re.compile(r"\\(.)")
_CLOSING = {"{": "}", "<": ">"}
_ESCAPES = {"n": "\n", "t": "\t", "r": "\r", "\\": "\\", "'": "'", '"': '"'}


class Scalar(NamedTuple):
    """A number, a word or a string."""

    text: str
    quoted: bool


class Message(NamedTuple):
    """What stands between braces."""

    fields: tuple[Field, ...]

    def all(self, name: str) -> list[Field]:
        return [field for field in self.fields if field.name == name]


class Field(NamedTuple):
    """A name and its value; the elements of a list in brackets are fields of one name."""

    name: str
    value: Scalar | Message
    line: int


class _Token(NamedTuple):
    kind: str  # string, word or mark; end at the end of the text
    text: str
    line: int


def parse(data: bytes, where: Where) -> Message:
    """The fields of a text. ModelFileError where it is none."""
    try:
        text = data.decode("utf-8-sig")
    except UnicodeDecodeError:
        raise ModelFileError("the prototxt is not text", where=where, remedy=NOT_TEXT) from None
    return _Parser(text, where).message("end", 0)


class _Parser:
    def __init__(self, text: str, where: Where) -> None:
        self._where = where
        self._tokens = self._split(text)
        self._next = next(self._tokens)

    def _fail(self, what: str, line: int, remedy: str = "") -> ModelFileError:
        return ModelFileError(what, where=replace(self._where, line=line), remedy=remedy)

    def _split(self, text: str) -> Iterator[_Token]:
        line = 1
        for match in _TOKEN.finditer(text):
            kind = match.lastgroup or ""
            if kind == "newline":
                line += len(match[0])
            elif kind == "other":
                raise self._fail(f"{match[0]!r} is not expected here", line, NOT_TEXT if line == 1 else "")
            elif kind != "space":
                yield _Token(kind, match[0], line)
        while True:
            yield _Token("end", "", line)

    def _take(self) -> _Token:
        token, self._next = self._next, next(self._tokens)
        return token

    def _take_if(self, marks: str) -> bool:
        if self._next.kind == "mark" and self._next.text in marks:
            self._next = next(self._tokens)
            return True
        return False

    def message(self, end: str, depth: int) -> Message:
        """The fields up to the mark `end`, or to the end of the text."""
        if depth > MOST_DEPTH:
            raise self._fail(f"more than {MOST_DEPTH} nested messages", self._next.line)
        fields: list[Field] = []
        while True:
            token = self._take()
            if token.kind == "end" or (token.kind == "mark" and token.text == end):
                if token.kind != "end" and end != "end":
                    return Message(tuple(fields))
                if token.kind == "end" and end == "end":
                    return Message(tuple(fields))
                raise self._fail(f"'{end}' is missing", token.line, "the file is damaged or truncated: export it again")
            if token.kind != "word" or not _NAME.fullmatch(token.text):
                raise self._fail(f"a field has no name but {token.text!r}", token.line, NOT_TEXT if depth == 0 else "")
            fields += self._values(token, depth)
            self._take_if(",;")

    def _values(self, name: _Token, depth: int) -> list[Field]:
        """The value of a field, or those in brackets."""
        has_colon = self._take_if(":")
        if has_colon and self._take_if("["):
            values: list[Field] = []
            while not self._take_if("]"):
                if values and not self._take_if(","):
                    raise self._fail(f"a list of '{name.text}' does not end", self._next.line)
                values.append(self._value(name, depth))
            return values
        if not has_colon and not (self._next.kind == "mark" and self._next.text in _CLOSING):
            raise self._fail(f"a ':' is missing after '{name.text}'", name.line)
        return [self._value(name, depth)]

    def _value(self, name: _Token, depth: int) -> Field:
        token = self._take()
        if token.kind == "mark" and token.text in _CLOSING:
            return Field(name.text, self.message(_CLOSING[token.text], depth + 1), name.line)
        if token.kind == "word":
            return Field(name.text, Scalar(_together(token.text), False), name.line)
        if token.kind != "string":
            raise self._fail(f"'{name.text}' has no value", token.line)
        text = _unescaped(token.text)
        while self._next.kind == "string":  # strings side by side are one
            text += _unescaped(self._take().text)
        return Field(name.text, Scalar(text, True), name.line)


def _unescaped(literal: str) -> str:
    text = literal[1:-1]
    return _ESCAPE.sub(lambda match: _ESCAPES.get(match[1], match[0]), text) if "\\" in text else text


def _together(word: str) -> str:
    """A number without the spaces after its sign."""
    return "-" + word[1:].lstrip() if word.startswith("-") else word
