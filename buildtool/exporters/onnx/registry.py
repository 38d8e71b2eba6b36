"""Knows the handlers: `@handler("conv2d")` marks the function that writes an operator of the graph as ONNX nodes."""

from __future__ import annotations

import functools
import importlib
import pkgutil
from collections.abc import Callable, Mapping
from typing import TypeAlias

from buildtool.exporters.onnx.step import Step

#: A handler reads the inputs of its step, emits nodes and gives the outputs: `step.give(name)`.
Handler: TypeAlias = Callable[[Step], None]

_handlers: dict[str, Handler] = {}
_channels_first: set[str] = set()


def handler(*operators: str, channels_first: bool = False) -> Callable[[Handler], Handler]:
    """Registers a function as the handler of operators of the graph.

    `channels_first`: it asks for its first input in that order, so that others had better leave it so.
    """

    def register(function: Handler) -> Handler:
        for operator in operators:
            if operator in _handlers:
                raise ValueError(f"two handlers for {operator}")
            _handlers[operator] = function
            if channels_first:
                _channels_first.add(operator)
        return function

    return register


@functools.cache
def handlers() -> Mapping[str, Handler]:
    """All handlers, by the name of the operator."""
    package = importlib.import_module("buildtool.exporters.onnx.handlers")
    for info in pkgutil.iter_modules(package.__path__):
        importlib.import_module(f"{package.__name__}.{info.name}")
    return _handlers


def wants_channels_first(operator: str) -> bool:
    """Whether the handler of an operator asks for its first input with the channels first."""
    handlers()
    return operator in _channels_first
