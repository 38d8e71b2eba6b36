"""Walks the source nodes and turns each into graph nodes. What cannot be imported is collected and reported at once."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import replace

import numpy as np

from buildtool import budget
from buildtool.errors import InternalError, LatheError, ModelFileError, Problem, UnsupportedError, Where
from buildtool.importers.builder import SMALL, Builder, Tensor
from buildtool.importers.model import Attributes, AttributeValue, SourceBody, SourceModel, SourceNode
from buildtool.importers.order import needed_for
from buildtool.importers.registry import Handler, Registry
from buildtool.importers.step import Step
from buildtool.importers.user_operators import user_handler
from buildtool.ir.dims import DimensionError, OpenSizeError, TooIntricateError
from buildtool.ir.operator import OperatorError
from buildtool.ir.types import TypeRuleError

_SHOWN_NODES = 4
_COMPLETE = "every operator of the part between input_tensors and output_tensors has an importer"
#: What says deliberately that a node breaks a rule of graphs. Anything else that is no LatheError is our own defect.
_RULES = (OperatorError, DimensionError, TypeRuleError)


class Conversion:
    """The import of one model: the tensors so far, by their source names."""

    def __init__(self, model: SourceModel, registry: Registry, builder: Builder) -> None:
        self._model = model
        self._registry = registry
        self._builder = builder
        self.tensors: dict[str, Tensor] = {name: Tensor.of(array) for name, array in model.constants.items()}
        self._unsupported: dict[str, list[str]] = {}  # operator -> names of its nodes
        self._problems: list[Problem] = []
        self._lost: set[str] = set()  # outputs of nodes that could not be imported, and all that follows from them
        self._read = _names_read(model.nodes, model.outputs)  # in the graph that is being imported
        self._inside = False  # of a graph that is inside of a node

    def run(self, nodes: Sequence[SourceNode]) -> None:
        """Imports the nodes. One UnsupportedError for all that is unsupported."""
        self._walk(nodes)
        self._report()

    def _walk(self, nodes: Sequence[SourceNode]) -> None:
        for node in nodes:
            if self._lost.intersection(node.reads):
                self._lost.update(node.outputs)
                if node.domain == "" and not self._registry.knows(node.title):
                    self._refuse(node)
                continue
            try:
                outputs = self._import(node)
            except UnsupportedError as problem:
                self._problems.extend(problem.problems)
                outputs = ()
            self._lost.update(node.outputs[len(outputs) :])
            self._lost.discard("")
            for name, tensor in zip(node.outputs, outputs, strict=False):
                self._keep(name, tensor)

    def _keep(self, name: str, tensor: Tensor) -> None:
        if not name:
            return
        self.tensors[name] = tensor
        value = tensor.value
        if value is not None and not self._inside:
            value.add_source_names((name,))

    def _import(self, node: SourceNode) -> Sequence[Tensor]:
        budget.spend_time()
        missing = next((name for name in node.inputs if name and name not in self.tensors), None)
        if missing is not None:  # in the body of a node: those of the model itself are in order
            raise ModelFileError(
                f"'{missing}' is not computed before the node reads it",
                where=self._builder.at(node.name),
                remedy="the model is invalid at this node: export it again",
            )
        inputs = [self.tensors[name] if name else None for name in node.inputs]
        step = Step(node, inputs, self._model.opset, self._builder, self)
        try:
            outputs = self._apply(step)
        except LatheError:
            raise
        except (TooIntricateError, OpenSizeError) as problem:
            step.unsupported(str(problem), "fix the input shapes, so that sizes are constant")
        except _RULES as problem:
            step.malformed(str(problem))
        except Exception as problem:
            raise InternalError(f"{node.title}: {type(problem).__name__}: {problem}", where=step.where) from problem
        if outputs and len(outputs) < len(node.outputs) and not self._read.isdisjoint(node.outputs[len(outputs) :]):
            step.unsupported(
                f"only its first {len(outputs)} outputs can be used", "remove the nodes that read the others"
            )
        return outputs

    def _apply(self, step: Step) -> Sequence[Tensor]:
        node = step.node
        registry = self._registry
        known, evaluate = registry.handlers().get(node.title), registry.evaluators().get(node.title)
        if evaluate is not None and (registry.takes_any_size(node.title) or _small_enough(step)):
            with np.errstate(all="ignore"):
                output = evaluate(step)
            if output is not None:
                return (output,)
        known = known or user_handler(node, self._builder.operators)
        if known is None:
            self._refuse(node, " of values that are known only at run time" if evaluate else "")
            return ()
        outputs = self._handled(step, known)
        return (outputs,) if isinstance(outputs, Tensor) else outputs

    def _handled(self, step: Step, handler: Handler) -> Tensor | Sequence[Tensor]:
        """What a handler makes; UnsupportedError where the node has an attribute that it does not know."""
        settled = self._registry.settled
        if settled is None or step.node.title not in self._registry.handlers():
            return handler(step)
        node = step.node
        attributes = Attributes(node.attributes)
        step.node = replace(node, attributes=attributes)
        outputs = handler(step)
        unknown = attributes.unread - settled.get("", frozenset()) - settled.get(node.title, frozenset())
        for name in sorted(unknown):
            if _is_set(node.attributes[name]):
                step.unsupported(
                    f"'{name}' ({node.attributes[name]}) is not known, and may change what it computes",
                    f"build the model without '{name}', or export it to ONNX",
                )
        return outputs

    def tensor(self, name: str) -> Tensor:
        return self.tensors[name]

    def run_body(self, body: SourceBody, inputs: Sequence[Tensor]) -> Sequence[Tensor] | None:
        """The outputs of an inner graph, as `Bodies` has it. What it makes stays inside."""
        around = self.tensors, self._lost, self._read, self._inside, self._problems
        self.tensors = {**self.tensors, **{name: Tensor.of(array) for name, array in body.constants.items()}}
        self.tensors.update(zip(body.inputs, inputs, strict=True))
        self._lost = set(self._lost)
        self._read = _names_read(body.nodes, body.outputs)
        self._inside = True
        self._problems = []
        try:
            self._walk(needed_for(body.nodes, body.outputs, ()))
            if self._problems:
                raise UnsupportedError(self._problems)
            return None if self._lost.intersection(body.outputs) else [self.tensors[name] for name in body.outputs]
        finally:
            self.tensors, self._lost, self._read, self._inside, self._problems = around

    def _refuse(self, node: SourceNode, when: str = "") -> None:
        self._unsupported.setdefault(node.title + when, []).append(node.name)

    def _report(self) -> None:
        refusals = self._registry.refusals
        reasoned = sorted(title for title in self._unsupported if title in refusals)
        problems = list(self._problems)
        for title in reasoned:
            where = self._builder.at(self._unsupported[title][0])
            problems.append(
                Problem(f"{title}: {refusals[title].reason}", where, rule=_COMPLETE, remedy=refusals[title].remedy)
            )
        others = {title: names for title, names in self._unsupported.items() if title not in refusals}
        if others:
            listed = [f"{title} ({_nodes(names)})" for title, names in sorted(others.items())]
            many = len(listed) > 1
            problems.insert(
                0,
                Problem(
                    f"the operator{'s' if many else ''} {', '.join(listed)} {'are' if many else 'is'} not supported",
                    Where(self._model.where.file, model=self._model.where.model),
                    rule=_COMPLETE,
                    remedy="cut the model at other input_tensors or output_tensors, replace the operators when "
                    "exporting, or add your own operators (op_paths)",
                ),
            )
        if problems:
            raise UnsupportedError(problems)


def _is_set(value: AttributeValue) -> bool:
    """Whether an attribute asks for something: zeros and empty ones are how a file says that it does not."""
    return bool(value) if isinstance(value, int | float | str) else np.size(value) > 0


def _names_read(nodes: Iterable[SourceNode], outputs: Iterable[str]) -> frozenset[str]:
    return frozenset({name for node in nodes for name in node.reads} | set(outputs)) - {""}


def _nodes(names: Sequence[str]) -> str:
    shown = ", ".join(f"'{name}'" for name in names[:_SHOWN_NODES])
    more = f" and {len(names) - _SHOWN_NODES} more" if len(names) > _SHOWN_NODES else ""
    return f"node{'s' if len(names) > 1 else ''} {shown}{more}"


def _small_enough(step: Step) -> bool:
    """Whether evaluators may be asked: all inputs that are known are small."""
    sizes = (math.prod(tensor.known.shape) for tensor in step.inputs if tensor is not None and tensor.known is not None)
    return sum(sizes) <= SMALL
