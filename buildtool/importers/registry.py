"""Knows the handlers of one framework: `@handler("Conv")` makes graph nodes, `@evaluator("Shape")` computes on import.

Each framework has one registry, and its handlers in a package of their own, one function per source operator:

    REGISTRY = Registry("onnx", "buildtool.importers.onnx.handlers")
    handler, evaluator = REGISTRY.handler, REGISTRY.evaluator
"""

from __future__ import annotations

import importlib
import pkgutil
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType
from typing import TypeAlias

from buildtool.importers.builder import Tensor
from buildtool.importers.step import Step

#: A handler gives the outputs of the source node, in order; trailing ones that it does not make are left out.
Handler: TypeAlias = Callable[[Step], Tensor | Sequence[Tensor]]
#: An evaluator gives the only output from known inputs; None where it cannot tell.
Evaluator: TypeAlias = Callable[[Step], Tensor | None]


@dataclass(frozen=True)
class Refusal:
    """Why an operator has no handler, and what a user can do."""

    reason: str
    remedy: str


class Registry:
    """The handlers and evaluators of a framework, by the titles of its operators (`SourceNode.title`)."""

    def __init__(
        self,
        platform: str,
        package: str,
        refusals: Mapping[str, Refusal] = MappingProxyType({}),
        settled: Mapping[str, frozenset[str]] | None = None,
    ) -> None:
        """`package`: the name of the package whose modules register themselves; loaded when it is first needed.

        `refusals`: operators, by their titles, that cannot have a handler.

        `settled`: attributes that change no result, by the title of the operator, and under "" those of all operators.
        Where it is given, a model is refused if it sets another attribute that no handler looked at.
        """
        self.platform = platform
        self.refusals = refusals
        self.settled = settled
        self._package = package
        self._loaded = False
        self._handlers: dict[str, Handler] = {}
        self._evaluators: dict[str, Evaluator] = {}
        self._of_any_size: set[str] = set()

    def handler(self, *operators: str) -> Callable[[Handler], Handler]:
        """Registers a function as the handler of operators, by their titles: `Conv`, `com.microsoft.QLinearAdd`."""

        def register(function: Handler) -> Handler:
            for operator in operators:
                if operator in self._handlers:
                    raise ValueError(f"two handlers for {operator}")
                self._handlers[operator] = function
            return function

        return register

    def evaluator(self, *operators: str, any_size: bool = False) -> Callable[[Evaluator], Evaluator]:
        """Registers a function that computes operators whose inputs are known and small; it is asked before a handler.

        `any_size`: it looks at types only, so that large inputs do no harm.
        """

        def register(function: Evaluator) -> Evaluator:
            for operator in operators:
                if operator in self._evaluators:
                    raise ValueError(f"two evaluators for {operator}")
                self._evaluators[operator] = function
                if any_size:
                    self._of_any_size.add(operator)
            return function

        return register

    def handlers(self) -> Mapping[str, Handler]:
        self._load()
        return self._handlers

    def evaluators(self) -> Mapping[str, Evaluator]:
        self._load()
        return self._evaluators

    def knows(self, operator: str) -> bool:
        return operator in self.handlers() or operator in self.evaluators()

    def takes_any_size(self, operator: str) -> bool:
        """Whether the evaluator of an operator may be asked about large inputs."""
        self._load()
        return operator in self._of_any_size

    def supported(self) -> tuple[str, ...]:
        """The operators that can be imported, sorted; some only where their inputs are known at build time."""
        return tuple(sorted({*self.handlers(), *self.evaluators()}))

    def _load(self) -> None:
        if not self._loaded:
            package = importlib.import_module(self._package)
            for info in pkgutil.iter_modules(package.__path__):
                importlib.import_module(f"{package.__name__}.{info.name}")
            self._loaded = True
