"""The Abacus: a chip that adds, subtracts, multiplies and negates tensors. Its compiler is that of this machine."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Annotated, Literal

import numpy as np

from buildtool.codegen.source_tree import Image, SourceTree
from buildtool.errors import Problem, UnsupportedError, Where
from buildtool.ir.graph import Graph, Node, Value
from buildtool.ir.operator import Array
from buildtool.sections.readers import number_choice
from buildtool.sections.section import Section, key
from buildtool.targets.protocol import (
    CrossCompiler,
    FirmwareCapabilities,
    FirmwareModel,
    FirmwareProgram,
    LibrarySource,
    ModelSource,
)

_OPERATORS = {"add": "{0} + {1}", "sub": "{0} - {1}", "mul": "{0} * {1}", "neg": "-{0}"}


class AbacusSection(Section):
    """Settings of a model for an Abacus."""

    digits: Annotated[int | None, number_choice(3, 6, 9)] = key("How many digits the program prints.", default=6)


@dataclass(frozen=True)
class AbacusTarget:
    """The target of `runtime: abacus`."""

    name: str = "abacus"
    makes_firmware: Literal[True] = True
    capabilities: FirmwareCapabilities = field(
        default_factory=lambda: FirmwareCapabilities(
            runtimes=("abacus",),
            abis={"abacus-1": CrossCompiler(prefix="", packages=("gcc",), title="Abacus")},
            sections={"abacus": AbacusSection},
        )
    )

    def lower(self, library: LibrarySource, abi: str) -> FirmwareProgram:
        """Everything that the chip cannot do, of all models at once; else what reports tell."""
        problems = [problem for model in library.models for problem in _problems(model)]
        if problems:
            raise UnsupportedError(problems)
        return FirmwareProgram(self.name, abi, library, tuple(_report(model) for model in library.models))

    def emit(self, programs: Sequence[FirmwareProgram]) -> SourceTree:
        """One C file and one image for each model."""
        (program,) = programs
        sources = {f"firmware/{model.name}.c": _source(model).encode() for model in program.library.models}
        images = [
            Image(model.name, (f"firmware/{model.name}.c",), ("-std=c99", "-O1"), ("-lm",))
            for model in program.library.models
        ]
        return SourceTree(program.library.name, sources, images={program.abi: tuple(images)})


TARGET = AbacusTarget()


def _problems(model: ModelSource) -> list[Problem]:
    return [
        Problem(
            f"the Abacus has no operator '{node.op.name}'",
            Where(model=model.name, node=node.name),
            rule=f"its operators: {', '.join(_OPERATORS)}, without activations",
        )
        for node in model.graph.walk()
        if node.op.name not in _OPERATORS or getattr(node.op, "activation", "none") != "none"
    ]


def _report(model: ModelSource) -> FirmwareModel:
    operators: dict[str, int] = {}
    for node in model.graph.nodes:
        operators[node.op.name] = operators.get(node.op.name, 0) + 1
    stored = sum(value.constant.nbytes for value in model.graph.values() if value.constant is not None)
    return FirmwareModel(model.name, macs=0, data_bytes=stored, operators=operators)


# -- C -----------------------------------------------------------------------------------------------------------------
def _source(model: ModelSource) -> str:
    """A program that computes the model for its sample, and prints the first output."""
    graph = model.graph
    names = {value: f"v{number}" for number, value in enumerate(graph.values())}
    lines = ["#include <stdio.h>"]
    for value in graph.values():
        known = model.sample[value.name] if value in graph.inputs else value.constant
        lines.append(f"static float {names[value]}[{_size(value)}]{_initial(known)};")
    lines.append("int main(void) {")
    lines += [_loop(graph, node, names) for node in graph.nodes]
    digits, result = model.settings.get("digits", 6), graph.outputs[0]
    lines.append(f'  for (int i = 0; i < {_size(result)}; ++i) printf("%.{digits}f\\n", {names[result]}[i]);')
    return "\n".join([*lines, "  return 0;", "}", ""])


def _initial(known: Array | None) -> str:
    return "" if known is None else f" = {{{', '.join(f'{float(number)!r}f' for number in known.ravel())}}}"


def _size(value: Value) -> int:
    return int(np.prod(_shape(value), dtype=int))


def _shape(value: Value) -> tuple[int, ...]:
    return tuple(int(dim) for dim in value.type.shape if isinstance(dim, int))


def _loop(graph: Graph, node: Node, names: dict[Value, str]) -> str:
    """Inputs that broadcast are read by a table of places."""
    result, places, terms = node.outputs[0], "", []
    for index, value in enumerate(node.inputs):
        if _shape(value) == _shape(result):
            terms.append(f"{names[value]}[i]")
            continue
        table = np.broadcast_to(np.arange(_size(value)).reshape(_shape(value)), _shape(result)).ravel()
        places += f"  static const int at{index}[] = {{{', '.join(map(str, table))}}};\n"
        terms.append(f"{names[value]}[at{index}[i]]")
    loop = f"for (int i = 0; i < {_size(result)}; ++i) {names[result]}[i]"
    return f"  {{\n{places}  {loop} = {_OPERATORS[node.op.name].format(*terms)};\n  }}"
