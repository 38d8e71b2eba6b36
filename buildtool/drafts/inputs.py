"""The sizes that a model leaves open: given by the user, asked for, or chosen and reported."""

from __future__ import annotations

import contextlib
import math
import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TypeAlias

from buildtool.errors import ConfigError, GraphError, ModelFileError, Problem, Where
from buildtool.importers.request import TensorRequest

Ask: TypeAlias = Callable[[str, str], str]  # a question and the answer that is meant by none, to the answer

_PICTURE = 224  # pixels
_CHANNELS = (1, 3, 4)
_USUAL_IMAGE = (1, 3, _PICTURE, _PICTURE)


@dataclass(frozen=True)
class Opened:
    """An input of a source model: open sizes are None; the names that the model gives them may be empty."""

    name: str
    sizes: tuple[int | None, ...]
    names: tuple[str, ...] = ()

    def shown(self) -> str:
        """The shape, as --input-shape takes it but for what is open."""
        return ",".join("?" if size is None else str(size) for size in self.sizes)

    def suggested(self, axis: int) -> int | None:
        """A size for an axis that is open: a batch of one, a picture of the usual size; None where nothing suggests."""
        if axis == 0 and len(self.sizes) > 1:
            return 1
        if len(self.sizes) == 4 and (self.sizes[1] in _CHANNELS or self.sizes[3] in _CHANNELS):
            spatial = (2, 3) if self.sizes[1] in _CHANNELS else (1, 2)
            known = [self.sizes[other] for other in spatial if self.sizes[other] is not None]
            return (known or [_PICTURE])[0] if axis in spatial else None
        return None


@dataclass
class OpenSizes:
    """Decides the open sizes of all models of a draft. `given`: shapes by the names of inputs, as words."""

    given: dict[str, str]
    ask: Ask | None = None
    note: Callable[[Problem], None] | None = None
    _chosen: list[Problem] = field(
        default_factory=list
    )  # what to say where the sizes of a model do not fit, given or not

    def requests(self, file: Path, opened: Iterable[Opened]) -> tuple[TensorRequest, ...]:
        """The inputs with the shapes that were given, or decided. ConfigError lists all that nobody can decide."""
        found: list[TensorRequest] = []
        problems: list[Problem] = []
        for item in opened:
            where = Where(file=str(file), value=item.name)
            text = self.given.pop(item.name, None)
            if text is not None:
                found.append(TensorRequest(item.name, parse(text, item.name), "MODEL", where=where))
                what = f"the model was read with --input-shape {item.name}={text}"
                self._chosen.append(Problem(what, where, remedy="give the sizes that the model was made for"))
                continue
            shape = self._decided(item, where)
            if isinstance(shape, Problem):
                problems.append(shape)
            else:
                found.append(TensorRequest(item.name, shape, "MODEL", where=where))
        if problems:
            raise ConfigError(problems)
        return tuple(found)

    @contextlib.contextmanager
    def blamed(self) -> Iterator[None]:
        """Where a model does not fit the sizes that were chosen for it, either may be wrong: the error names both."""
        try:
            yield
        except (GraphError, ModelFileError) as error:
            first = error.problems[0]
            at_a_node = isinstance(error, GraphError) or bool(first.where.node)
            if not self._chosen or not at_a_node:
                raise
            where = first.where if first.where.file else replace(first.where, file=self._chosen[0].where.file)
            remedy = "; ".join(one.remedy for one in self._chosen)
            raise ConfigError(
                first.what,
                where=where,
                rule="; ".join(one.what for one in self._chosen),
                remedy=f"{remedy}; if these are its sizes, the model is damaged: export it again",
            ) from error
        finally:
            self._chosen.clear()

    def check_all_used(self) -> None:
        check_all_used(self.given)

    def _decided(self, item: Opened, where: Where) -> tuple[int | tuple[int, int], ...] | Problem:
        sizes: list[int | tuple[int, int] | None] = list(item.sizes)
        chosen: list[str] = []
        for axis in (axis for axis, size in enumerate(item.sizes) if size is None):
            suggested = item.suggested(axis)
            named = item.names[axis] if axis < len(item.names) else ""
            title = f"axis {axis}" + (f" ({named})" if named else "")
            if self.ask is not None:
                question = f"'{item.name}' [{item.shown()}]: size of {title}"
                sizes[axis] = parse(self.ask(question, str(suggested or "")), item.name)[0]
            elif suggested is not None:
                sizes[axis] = suggested
                chosen.append(f"{title}: {suggested}")
        usual = _USUAL_IMAGE if len(item.sizes) == len(_USUAL_IMAGE) else (1,) * len(item.sizes)
        example = ",".join(str(size or item.suggested(axis) or usual[axis]) for axis, size in enumerate(item.sizes))
        remedy = f"--input-shape {item.name}={example} (1..8 for a size that may vary)"
        if any(size is None for size in sizes):
            what = f"the model leaves the shape [{item.shown()}] of '{item.name}' open"
            return Problem(what, where, remedy=f"give it: {remedy}")
        if chosen:
            self._chosen.append(
                Problem(
                    f"the model leaves the shape [{item.shown()}] of '{item.name}' open",
                    where,
                    remedy=f"give the sizes that the model was made for, instead of {', '.join(chosen)}: {remedy}",
                )
            )
        if chosen and self.note is not None:
            what = f"the model leaves sizes of '{item.name}' open; chosen: {', '.join(chosen)}"
            self.note(Problem(what, where, remedy=f"for other sizes: {remedy}"))
        return tuple(size for size in sizes if size is not None)


def check_all_used(left: Mapping[str, object]) -> None:
    """ConfigError for an input that no model has."""
    if left:
        raise ConfigError(f"no model has an input '{next(iter(left))}'", remedy="see: lathe inspect MODEL")


def parse_range(text: str, name: str) -> tuple[float, float]:
    """`0,1`: the smallest and the largest number, as the command line gives them."""
    try:
        low, high = (float(word) for word in text.split(","))
    except ValueError:
        low = high = math.nan
    if not (math.isfinite(low) and math.isfinite(high) and low <= high):
        raise ConfigError(
            f"'{text}' is not a range, in --input-range {name}={text}",
            rule="two finite numbers, the smaller one first: --input-range NAME=0,1",
            remedy=f"write the smallest and the largest value of the input: --input-range {name}=0,1",
        )
    return low, high


def parse(text: str, name: str) -> tuple[int | tuple[int, int], ...]:
    """A shape as the command line gives it; an empty one is that of a scalar."""
    sizes: list[int | tuple[int, int]] = []
    for word in text.split(",") if text.strip() else ():
        match = re.fullmatch(r"\s*(\d+)(?:\.\.(\d+))?\s*", word)
        if match is None:
            raise ConfigError(
                f"'{word}' is not a dimension, in --input-shape {name}={text}",
                rule="a shape is a list of dimensions such as 1,3,224,224, or of bounds such as 1..8,3,64,64",
                remedy=f"write an integer for '{word}', or bounds such as 1..8",
            )
        low, high = int(match[1]), int(match[2] or match[1])
        if not 1 <= low <= high:
            what = f"'{word.strip()}' is not a dimension, in --input-shape {name}={text}"
            raise ConfigError(
                what,
                rule="a dimension is at least 1, and the lower bound comes first",
                remedy=f"write {max(min(low, high), 1)}..{max(low, high, 1)}" if match[2] else "write 1 or more",
            )
        sizes.append(low if low == high else (low, high))
    return tuple(sizes)


def of_onnx(file: Path) -> list[Opened]:
    """The inputs of an ONNX file that are no weights."""
    import onnx

    try:
        graph = onnx.load(file, load_external_data=False).graph
    except Exception as problem:  # protobuf's own classes differ between versions
        raise ModelFileError(
            "this is not an ONNX model: it is damaged, truncated or of another kind", where=Where(file=str(file))
        ) from problem
    weights = {tensor.name for tensor in graph.initializer}
    return [
        Opened(
            item.name,
            tuple(dim.dim_value if dim.dim_value > 0 else None for dim in item.type.tensor_type.shape.dim),
            tuple(dim.dim_param for dim in item.type.tensor_type.shape.dim),
        )
        for item in graph.input
        if item.name not in weights
    ]
