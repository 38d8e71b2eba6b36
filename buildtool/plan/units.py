"""Reads `native/opencl/ops/<unit>.yaml`: what each device unit takes, and which of them come first.

    op: conv2d
    source: elementwise       # native/opencl/elementwise.cc, which units share; <unit>.cc beside this file unless told
    plan: unary               # what the source calls the plan: LATHE_OPENCL_PLAN(unary); <unit> unless told
    priority: 10              # the larger one is tried first; 0 unless told
    inputs: [f32]             # element types as in op.yaml; the last entry repeats. Devices know f32, and indices
    outputs: [s64]            # f32 unless told
    when: "strides == (1, 1)" # see conditions.py; nothing: always
    always: true              # it never declines at run time what fits here, so that none is needed behind it

The unit's `.cl` stands beside the file. All problems of all manifests are reported together.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from typing import Any

import yaml

from buildtool import resources
from buildtool.errors import ConfigError, Problem, Where
from buildtool.ir.graph import Node
from buildtool.ir.types import DType
from buildtool.plan.conditions import Condition, ConditionError

FOLDER = "native/opencl/ops"
_LOADER: Any = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
_NAME = re.compile(r"[a-z][a-z0-9]*(_[a-z0-9]+)*")
_KEYS = ("op", "source", "plan", "priority", "inputs", "outputs", "when", "always")
_TYPES = (DType.F32, DType.S32, DType.S64)


@dataclass(frozen=True)
class UnitInfo:
    """One device unit as its manifest describes it."""

    name: str
    op: str
    code: str  # the path of the source that plans it
    plan: str  # what that calls the plan
    inputs: tuple[frozenset[DType], ...]  # allowed types by position; the last entry repeats
    outputs: tuple[frozenset[DType], ...]
    when: Condition
    priority: int
    always: bool

    def misfit(self, node: Node) -> str | None:
        """Why the unit cannot run the node; None where it can, as far as a build knows."""
        for word, known, values in (("takes", self.inputs, node.inputs), ("gives", self.outputs, node.outputs)):
            for index, value in enumerate(values):
                allowed = known[min(index, len(known) - 1)]
                if value.type.dtype not in allowed:
                    types = "|".join(dtype.value for dtype in _TYPES if dtype in allowed)
                    return f"{word} {types} as {'input' if word == 'takes' else 'output'} {index}"
        if any(value.type.quant for value in (*node.inputs, *node.outputs)):
            return "takes no quantised values"
        if any(0 in value.type.shape for value in (*node.inputs, *node.outputs)):
            return "takes no tensors without elements"
        try:
            return None if self.when.holds(node) else f"needs {self.when}"
        except ConditionError as problem:
            return f"has a condition that does not fit: {problem}"


@dataclass(frozen=True)
class DeviceUnits:
    """All device units by operator: larger priority first, then by name. That is the order in which they are tried."""

    units: Mapping[str, tuple[UnitInfo, ...]]

    def of(self, op: str) -> tuple[UnitInfo, ...]:
        return self.units.get(op, ())

    def units_for(self, node: Node) -> tuple[UnitInfo, ...]:
        """Those that may run the node, the best first, down to one that never declines; none where none fits."""
        fitting: list[UnitInfo] = []
        for unit in self.of(node.op.name):
            if unit.misfit(node) is None:
                fitting.append(unit)
                if unit.always:
                    break
        return tuple(fitting)

    def why_not(self, node: Node) -> str:
        """Why no unit may run the node, in words; empty where one may."""
        units = self.of(node.op.name)
        if not units:
            return f"there is no unit for {node.op.name}"
        misfits = [(unit.name, unit.misfit(node)) for unit in units]
        if any(misfit is None for _, misfit in misfits):
            return ""
        return "; ".join(f"{name} {misfit}" for name, misfit in misfits)


def in_order(units: Iterable[UnitInfo]) -> tuple[UnitInfo, ...]:
    """Units as the registry of a library lists them."""
    return tuple(sorted(units, key=lambda unit: (unit.op, -unit.priority, unit.name)))


def load(op_paths: Sequence[Path] = ()) -> DeviceUnits:
    """The units of Lathe and of the user's folders. ConfigError lists all problems of all manifests."""
    problems: list[Problem] = []
    origin: dict[str, Path] = {}
    found: dict[str, list[UnitInfo]] = {}
    for root in (resources.root(), *op_paths):
        folder = root / FOLDER
        for file in sorted(folder.glob("*.yaml")):
            if file.stem in origin:
                what = f"the unit '{file.stem}' already has a manifest: {origin[file.stem]}"
                problems.append(Problem(what, Where(str(file)), remedy="rename the unit"))
                continue
            origin[file.stem] = file
            unit = _Reader(file, problems).unit()
            if unit is not None:
                found.setdefault(unit.op, []).append(unit)
        for source in sorted(folder.glob("*.cc")):
            if not source.with_suffix(".yaml").is_file():
                what = "this unit has no manifest"
                problems.append(Problem(what, Where(str(source)), remedy=f"write {source.stem}.yaml beside it"))
    if problems:
        raise ConfigError(problems)
    return DeviceUnits({op: in_order(units) for op, units in found.items()})


class _Reader:
    """Reads one manifest and appends what is wrong with it to `problems`."""

    def __init__(self, file: Path, problems: list[Problem]) -> None:
        self.file = file
        self.problems = problems
        self.lines: dict[str, int] = {}

    def _problem(self, what: str, key: str = "", rule: str = "") -> None:
        self.problems.append(Problem(what, Where(str(self.file), self.lines.get(key, 1)), rule))

    def unit(self) -> UnitInfo | None:
        before = len(self.problems)
        entry = self._entry()
        if entry is None:
            return None
        for key in entry:
            if key not in _KEYS:
                self._problem(f"`{key}` is not a key of a unit", str(key), "the keys are " + ", ".join(_KEYS))
        op, priority, always = entry.get("op"), entry.get("priority", 0), entry.get("always", False)
        if not isinstance(op, str) or not _NAME.fullmatch(op):
            self._problem(f"`op` is {op!r}", "op", "it is the name of an operator")
        if not _NAME.fullmatch(self.file.stem):
            self._problem(f"'{self.file.stem}' is not the name of a unit", rule="lower case words, joined by '_'")
        if type(priority) is not int:
            self._problem(f"`priority` is {priority!r}", "priority", "it is an integer; the larger one wins")
        if not isinstance(always, bool):
            self._problem(f"`always` is {always!r}", "always", "it is true or false")
        if not self.file.with_suffix(".cl").is_file():
            self._problem(f"the file {self.file.stem}.cl does not exist", rule="it belongs next to the manifest")
        code = self._code(entry.get("source"))
        plan = entry.get("plan", self.file.stem)
        if not isinstance(plan, str) or not _NAME.fullmatch(plan):
            self._problem(f"`plan` is {plan!r}", "plan", "it is what the source names by LATHE_OPENCL_PLAN")
        inputs, outputs = (
            self._types("inputs", entry.get("inputs")),
            self._types("outputs", entry.get("outputs", ["f32"])),
        )
        when = self._when(entry.get("when", ""))
        if len(self.problems) > before:
            return None
        return UnitInfo(self.file.stem, str(op), code, plan, inputs, outputs, when, int(priority), bool(always))

    def _code(self, source: Any) -> str:
        """The path of the unit's source, below the folder of the manifest or below Lathe's own."""
        if source is None:
            path, rule = f"{FOLDER}/{self.file.stem}.cc", "it stands beside the manifest, or `source` names another one"
        elif isinstance(source, str) and _NAME.fullmatch(source):
            path, rule = f"native/opencl/{source}.cc", "`source` is the name of a file of native/opencl, without .cc"
        else:
            self._problem(f"`source` is {source!r}", "source", "it is the name of a file of native/opencl, without .cc")
            return ""
        if not any((root / path).is_file() for root in (self.file.parents[3], resources.root())):
            self._problem(f"the file {PurePosixPath(path).name} does not exist", "source", rule)
        return path

    def _entry(self) -> dict[Any, Any] | None:
        """The mapping of the file, with the lines of its keys; None where it is none."""
        try:
            loader = _LOADER(self.file.read_text(encoding="utf-8"))
            tree = loader.get_single_node()
            data = None if tree is None else loader.construct_document(tree)
        except (yaml.YAMLError, OSError, UnicodeDecodeError) as problem:
            mark = getattr(problem, "problem_mark", None)
            where = Where(str(self.file), mark.line + 1 if mark else 0)
            self.problems.append(Problem(f"this is not a YAML file: {problem}", where))
            return None
        if not isinstance(data, dict) or not isinstance(tree, yaml.MappingNode):
            self._problem("a manifest is a mapping with at least op and inputs")
            return None
        self.lines = {str(key.value): key.start_mark.line + 1 for key, _ in tree.value}
        return data

    def _types(self, key: str, entry: Any) -> tuple[frozenset[DType], ...]:
        """`[f32, s32|s64]` as sets of types."""
        words = [dtype.value for dtype in _TYPES]
        rule = f"a list with one entry per position, types joined by '|', of {', '.join(words)}; the last entry repeats"
        if not isinstance(entry, list) or not entry or not all(isinstance(item, str) for item in entry):
            self._problem(f"`{key}` is {entry!r}", key, rule)
            return ()
        result = []
        for item in entry:
            types = [word.strip() for word in item.split("|")]
            if unknown := [word for word in types if word not in words]:
                self._problem(f"`{key}`: '{unknown[0]}' is not an element type of devices", key, rule)
                continue
            result.append(frozenset(DType(word) for word in types))
        return tuple(result)

    def _when(self, text: Any) -> Condition:
        if not isinstance(text, str):
            self._problem(f"`when` is {text!r}", "when", "a condition is a string")
            return Condition()
        try:
            return Condition(text)
        except ConditionError as problem:
            rule = "attributes, rank(i), dim(i, axis), is_constant(i), operators"
            self._problem(f"`when`: {problem}", "when", rule)
            return Condition()
