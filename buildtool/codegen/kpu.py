"""The generated sources of firmware with a KPU: a model as assembler and as a header, and a project for the SDK."""

from __future__ import annotations

import functools
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, Protocol

import jinja2


@dataclass(frozen=True)
class Port:
    """An input or output. Without a scale it is floats."""

    name: str
    shape: tuple[int, ...]
    bytes: int
    scale: str = ""  # as C reads it
    zero_point: int = 0


class Regions(Protocol):
    """How boxes are found in the first output."""

    @property
    def rows(self) -> int: ...
    @property
    def columns(self) -> int: ...
    @property
    def classes(self) -> int: ...
    @property
    def sizes(self) -> Sequence[Sequence[float]]: ...
    @property
    def threshold(self) -> float: ...
    @property
    def overlap(self) -> float: ...


def model_assembler(name: str, main_memory: int, regions: Regions | None = None) -> bytes:
    """Includes `<name>.kmodel` and `<name>.sample` from the assembler's include path."""
    return _render("model.S", name=name, main_memory=main_memory, regions=regions)


def model_header(
    name: str, into: Port, outputs: Sequence[Port], main_memory: int, regions: Regions | None = None
) -> bytes:
    """What a program has to know of a model."""
    into, outputs = _safe(into), [_safe(output) for output in outputs]
    names = {"name": name, "upper": name.upper(), "main_memory": main_memory, "regions": regions}
    return _render("model.h", input=into, outputs=outputs, **names)


def _safe(port: Port) -> Port:
    """With a name that cannot end a comment."""
    return replace(
        port, name="".join(letter if letter.isprintable() else " " for letter in port.name).replace("*/", "* /")
    )


def sdk_project(library: str, models: Sequence[str]) -> bytes:
    """CMakeLists.txt for the standalone SDK of the K210."""
    return _render("CMakeLists.txt", library=library, models=models)


def _render(template: str, **values: Any) -> bytes:
    return _environment().get_template(f"kpu/{template}.j2").render(**values).encode()


@functools.cache
def _environment() -> jinja2.Environment:
    return jinja2.Environment(
        loader=jinja2.PackageLoader("buildtool.codegen"),
        undefined=jinja2.StrictUndefined,
        keep_trailing_newline=True,
        autoescape=False,
    )
