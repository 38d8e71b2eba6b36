"""Knows the handlers: `@handler("Conv")` makes graph nodes, `@evaluator("Shape")` computes what is known on import."""

from __future__ import annotations

import functools
import importlib
import pkgutil
from collections.abc import Callable, Mapping, Sequence
from typing import TypeAlias

from buildtool.importers.onnx.builder import Tensor
from buildtool.importers.onnx.step import Step

#: A handler gives the outputs of the source node, in order; trailing ones that it does not make are left out.
Handler: TypeAlias = Callable[[Step], Tensor | Sequence[Tensor]]
#: An evaluator gives the only output from known inputs; None where it cannot tell.
Evaluator: TypeAlias = Callable[[Step], Tensor | None]

_handlers: dict[str, Handler] = {}
_evaluators: dict[str, Evaluator] = {}
_of_any_size: set[str] = set()


def handler(*operators: str) -> Callable[[Handler], Handler]:
    """Registers a function as the handler of operators, by their titles: `Conv`, `com.microsoft.QLinearAdd`."""

    def register(function: Handler) -> Handler:
        for operator in operators:
            if operator in _handlers:
                raise ValueError(f"two handlers for {operator}")
            _handlers[operator] = function
        return function

    return register


def evaluator(*operators: str, any_size: bool = False) -> Callable[[Evaluator], Evaluator]:
    """Registers a function that computes operators whose inputs are known and small. It is asked before the handler.

    `any_size`: it looks at types only, so that large inputs do no harm.
    """

    def register(function: Evaluator) -> Evaluator:
        for operator in operators:
            if operator in _evaluators:
                raise ValueError(f"two evaluators for {operator}")
            _evaluators[operator] = function
            if any_size:
                _of_any_size.add(operator)
        return function

    return register


@functools.cache
def _load() -> None:
    package = importlib.import_module("buildtool.importers.onnx.handlers")
    for info in pkgutil.iter_modules(package.__path__):
        importlib.import_module(f"{package.__name__}.{info.name}")


def handlers() -> Mapping[str, Handler]:
    """All handlers, by the title of the ONNX operator (`SourceNode.title`)."""
    _load()
    return _handlers


def evaluators() -> Mapping[str, Evaluator]:
    """All evaluators, by the title of the ONNX operator."""
    _load()
    return _evaluators


def takes_any_size(operator: str) -> bool:
    """Whether the evaluator of an operator may be asked about large inputs."""
    _load()
    return operator in _of_any_size
