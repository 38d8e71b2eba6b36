"""Reads `native/ops/<op>/op.yaml`: which kernels there are, what each takes, and how exact it is.

A manifest is read strictly: every key, name and file is checked, and all problems of all manifests are reported
together.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import yaml

from buildtool import resources
from buildtool.errors import ConfigError, Problem, Where
from buildtool.ir.types import DType
from buildtool.plan.conditions import Condition, ConditionError
from buildtool.plan.packing import INPUT, PACKINGS

#: The one in C takes a tenth of the time; a build reads all manifests.
_LOADER: Any = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
KERNEL_DTYPES = ("any", *(dtype.value for dtype in DType))
#: The folder of the generated units, one per kernel: `<op>/<kernel>.cc`.
UNITS = "native/units"
_OP_NAME = re.compile(r"[a-z][a-z0-9]*(_[a-z0-9]+)*")
_VARIANT = re.compile(r"[a-z0-9]+(_[a-z0-9]+)*")
_ISA = re.compile(r"[a-z0-9]+")
#: How the file of a model may store f32.
_STORED = ("f16", "bf16", "s8", "s16", "u8")
#: Stands for the element type of each kernel in `inputs` and `outputs`.
_OWN_TYPE = "type"
_KEYS = {
    *("variant", "types", "isas", "source", "parameters", "widen_halves", "inputs", "outputs", "when", "in_place"),
    *("priority", "tolerance", "pack", "takes", "algorithm", "strided_inputs", "strided_output", "parts", "quantised"),
    "reads_stored",
}


@dataclass(frozen=True)
class KernelInfo:
    """One kernel as its manifest describes it."""

    name: str
    op: str
    dtype: str  # the element type that decides, or "any"
    variant: str
    isa: str
    inputs: tuple[frozenset[DType], ...]  # allowed types by position; the last entry repeats
    outputs: tuple[frozenset[DType], ...]
    when: Condition
    in_place: int | None  # the input whose buffer output 0 may take over
    priority: int
    rtol: float
    atol: float
    root: Path  # the folder that holds `native/`
    pack: str = ""  # how input 1 is packed for this kernel, where it is a constant
    takes: frozenset[str] = frozenset()  # the packings of input 1 that it reads besides
    algorithm: str = ""  # where this way of computing is not always better, its name: see algorithms.py
    strided_inputs: frozenset[int] = frozenset()  # whose rows of the last axis may lie apart; the last number repeats
    strided_output: bool = False  # whether those of output 0 may
    quantised: str = (
        ""  # "any": for quantised nodes; for others, too: "same" moves numbers of one type, "either" of all
    )
    parts: str = ""  # "inputs" may be part of output 0, or "outputs" inside input 0: they need no work then
    code: str = ""  # the source, relative to `root`, that is compiled for this type and instruction set
    parameters: tuple[tuple[str, str], ...] = ()  # what it is compiled with besides, as LATHE_<NAME>
    widen_halves: bool = False  # its vectors are floats whose elements are halves in memory
    reads_stored: DType | None = None  # it is for f32 weights (input 1) that the file stores so, and expands none

    @property
    def source(self) -> str:
        """The path of the unit that the build makes of `code`; see buildtool/codegen/kernel_units.py."""
        return f"{UNITS}/{self.op}/{self.name}.cc"

    def reads(self, packing: str) -> bool:
        """Whether it reads input 1 packed like this; the empty name is the constant as the graph has it."""
        if packing == "":
            return self.algorithm == ""
        return packing == self.pack or packing in self.takes


@dataclass(frozen=True)
class Manifests:
    """All kernels by operator: larger priority first, then by name."""

    kernels: Mapping[str, tuple[KernelInfo, ...]]

    def of(self, op: str) -> tuple[KernelInfo, ...]:
        return self.kernels.get(op, ())

    def __iter__(self) -> Iterator[KernelInfo]:
        for op in sorted(self.kernels):
            yield from self.kernels[op]


def registry_order(kernel: KernelInfo, isas: Sequence[str]) -> tuple[str, int, int, str]:
    """The key by which the registry of an ABI is sorted: its instruction sets are `isas`, the best first."""
    return kernel.op, isas.index(kernel.isa), -kernel.priority, kernel.name


def load(op_paths: Sequence[Path] = ()) -> Manifests:
    """The manifests of Lathe and of the user's folders. ConfigError lists all problems of all of them."""
    problems: list[Problem] = []
    found: dict[str, list[KernelInfo]] = {}
    origin: dict[str, Path] = {}
    for root in (resources.root(), *op_paths):
        for folder in sorted((root / "native" / "ops").glob("*/")):
            file = folder / "op.yaml"
            sources = _sources(folder)
            if not file.is_file():
                if sources:
                    problems.append(Problem("these kernels have no manifest", Where(str(folder)), "op.yaml names them"))
                continue
            if folder.name in origin:
                what = f"the operator '{folder.name}' already has a manifest: {origin[folder.name]}"
                problems.append(Problem(what, Where(str(file)), remedy="rename the operator"))
                continue
            origin[folder.name] = file
            found[folder.name] = _Reader(file, root, problems).kernels(sources)
    if problems:
        raise ConfigError(problems)
    return Manifests({op: tuple(sorted(kernels, key=_manifest_order)) for op, kernels in found.items()})


def of_operator(root: Path, op: str) -> tuple[KernelInfo, ...]:
    """The kernels of one operator; none where this folder has no manifest of it. ConfigError as for `load`."""
    folder = root / "native" / "ops" / op
    if not (folder / "op.yaml").is_file():
        return ()
    problems: list[Problem] = []
    kernels = _Reader(folder / "op.yaml", root, problems).kernels(_sources(folder))
    if problems:
        raise ConfigError(problems)
    return tuple(kernels)


def _sources(folder: Path) -> set[str]:
    """The stems of the C++ files that kernels may be compiled from: those without a header of the same name."""
    return {path.stem for path in folder.glob("*.cc") if not path.with_suffix(".h").exists()}


def _manifest_order(kernel: KernelInfo) -> tuple[int, str]:
    return -kernel.priority, kernel.name


class _Reader:
    """Reads one manifest and appends what is wrong with it to `problems`."""

    def __init__(self, file: Path, root: Path, problems: list[Problem]) -> None:
        self.file = file
        self.root = root
        self.problems = problems
        self.op = file.parent.name

    def _problem(self, what: str, line: int = 0, rule: str = "", remedy: str = "") -> None:
        self.problems.append(Problem(what, Where(str(self.file), line), rule, remedy))

    def kernels(self, sources: set[str]) -> list[KernelInfo]:
        """The kernels of the manifest. `sources`: the stems of the C++ files beside it."""
        result: dict[str, KernelInfo] = {}
        used: set[str] = set()
        for entry, line in self._entries():
            for kernel in self._kernels(entry, line, sources):
                if kernel.name in result:
                    self._problem(f"the kernel '{kernel.name}' is listed twice", line)
                result[kernel.name] = kernel
                used.add(Path(kernel.code).stem)
        if not self.problems:
            for stem in sorted(sources - used):
                self._problem(f"no kernel is compiled from {stem}.cc", remedy="add it under `kernels`, or remove it")
        return list(result.values())

    def _entries(self) -> list[tuple[dict[str, Any], int]]:
        """The items of `kernels` with their lines; nothing where the file as a whole is wrong."""
        try:
            text = self.file.read_text(encoding="utf-8")
            loader = _LOADER(text)
            tree = loader.get_single_node()
            data = None if tree is None else loader.construct_document(tree)
        except (yaml.YAMLError, OSError, UnicodeDecodeError) as problem:
            mark = getattr(problem, "problem_mark", None)
            self._problem(f"this is not a YAML file: {problem}", mark.line + 1 if mark else 0)
            return []
        if not isinstance(data, dict) or set(data) != {"op", "kernels"} or not isinstance(data["kernels"], list):
            self._problem("a manifest has the keys `op` and `kernels`, a list", 1)
            return []
        if data["op"] != self.op or not _OP_NAME.fullmatch(self.op):
            self._problem(f"`op` is '{data['op']}'", 1, f"it must be the name of the folder, here '{self.op}'")
        assert isinstance(tree, yaml.MappingNode)
        nodes = next(value for key, value in tree.value if key.value == "kernels").value
        result = []
        for entry, node in zip(data["kernels"], nodes, strict=True):
            line = node.start_mark.line + 1
            if isinstance(entry, dict):
                result.append((entry, line))
            else:
                self._problem(
                    "an entry has at least the keys variant, types, isas, inputs, outputs and tolerance", line
                )
        return result

    def _kernels(self, entry: dict[str, Any], line: int, sources: set[str]) -> list[KernelInfo]:
        """One for each element type and instruction set of an entry; none where something is wrong with it."""
        before = len(self.problems)
        for key in sorted(str(key) for key in entry):
            if key not in _KEYS:
                self._problem(f"`{key}` is not a key of a kernel", line, "the keys are " + ", ".join(sorted(_KEYS)))
        variant = str(entry.get("variant", ""))
        if not _VARIANT.fullmatch(variant):
            self._problem(f"`variant` is '{variant}'", line, "words of lower-case letters and digits, joined by _")
        types = self._words(entry.get("types"), "types", line, lambda word: word in KERNEL_DTYPES, KERNEL_DTYPES)
        isas = self._words(entry.get("isas"), "isas", line, _ISA.fullmatch, ())
        when = self._when(entry.get("when", ""), line)
        in_place, priority = entry.get("in_place"), entry.get("priority", 0)
        if in_place is not None and (type(in_place) is not int or in_place < 0):
            self._problem(f"`in_place` is {in_place!r}", line, "it is the number of an input, from 0")
        if type(priority) is not int:
            self._problem(f"`priority` is {priority!r}", line, "it is an integer; the larger one wins")
        rtol, atol = self._tolerance(entry.get("tolerance"), line)
        pack, takes, algorithm = self._packings(entry, line)
        strided_inputs, strided_output, parts = self._strides(entry, line)
        parameters = self._parameters(entry.get("parameters", {}), line)
        reads_stored = self._reads_stored(entry.get("reads_stored"), pack, line)
        if entry.get("quantised", "any") not in ("any", "same", "either"):
            self._problem(
                f"`quantised` is {entry['quantised']!r}",
                line,
                "it is any, same or either: the quantised types it takes",
            )
        result = []
        for dtype in types:
            inputs, outputs = (self._types(entry.get(key), key, line, dtype) for key in ("inputs", "outputs"))
            for isa in isas:
                name = f"{self.op}_{dtype}_{variant}__{isa}"
                facts = (name, self.op, dtype, variant, isa, inputs, outputs, when, in_place, priority, rtol, atol)
                kernel = KernelInfo(
                    *facts,
                    self.root,
                    pack=pack,
                    takes=takes,
                    algorithm=algorithm,
                    strided_inputs=strided_inputs,
                    strided_output=strided_output,
                    parts=parts,
                    quantised=str(entry.get("quantised", "")),
                    code=self._code(str(entry.get("source", "")), name, variant, sources, line),
                    parameters=parameters,
                    widen_halves=bool(entry.get("widen_halves", False)),
                    reads_stored=reads_stored,
                )
                result.append(kernel)
        return result if len(self.problems) == before else []

    def _words(
        self, entry: Any, key: str, line: int, known: Callable[[str], object], words: Sequence[str]
    ) -> tuple[str, ...]:
        """`[f32, s32]`: the element types of `types`, the instruction sets of `isas`."""
        rule = "a list of " + (f"element types: {' '.join(words)}" if words else "instruction sets, such as [portable]")
        if not isinstance(entry, list) or not entry or not all(isinstance(item, str) for item in entry):
            self._problem(f"`{key}` is {entry!r}", line, rule)
            return ()
        for item in entry:
            if not known(item):
                self._problem(f"`{key}`: '{item}' is not one", line, rule)
        return tuple(entry)

    def _parameters(self, entry: Any, line: int) -> tuple[tuple[str, str], ...]:
        """`{side: 3}`, which the source reads as LATHE_SIDE."""
        if not isinstance(entry, dict) or not all(
            isinstance(key, str) and _VARIANT.fullmatch(key) and isinstance(value, int) for key, value in entry.items()
        ):
            self._problem(f"`parameters` is {entry!r}", line, "names with integers, true or false")
            return ()
        return tuple((key, str(value).lower()) for key, value in sorted(entry.items()))

    def _reads_stored(self, entry: Any, pack: str, line: int) -> DType | None:
        """`reads_stored: f16`, of a kernel that has a `pack`."""
        if entry is None:
            return None
        if entry not in _STORED or not pack:
            rule = f"it is one of {' '.join(_STORED)}, of a kernel that has a `pack`; u8 is two of 4 bits in a byte"
            self._problem(f"`reads_stored` is {entry!r}", line, rule)
            return None
        return DType(entry)

    def _code(self, given: str, name: str, variant: str, sources: set[str], line: int) -> str:
        """The source of a kernel: the one that is given, else the one of the most particular name."""
        names = [given] if given else [name, name.rpartition("__")[0], f"{self.op}_{variant}", self.op]
        found = next((candidate for candidate in names if candidate in sources), None)
        if found is None:
            self._problem(
                f"the kernel '{name}' has no source",
                line,
                "it belongs next to op.yaml as " + ".cc or ".join(names) + ".cc",
            )
        return f"native/ops/{self.op}/{found}.cc"

    def _strides(self, entry: dict[str, Any], line: int) -> tuple[frozenset[int], bool, str]:
        """`strided_inputs: [0]`, `strided_output: true` and `parts: inputs`."""
        inputs, output, parts = entry.get("strided_inputs", []), entry.get("strided_output", False), entry.get("parts")
        if not isinstance(inputs, list) or not all(type(item) is int and item >= 0 for item in inputs):
            self._problem(f"`strided_inputs` is {inputs!r}", line, "it lists numbers of inputs, from 0")
            inputs = []
        if not isinstance(output, bool):
            self._problem(f"`strided_output` is {output!r}", line, "it is true or false")
        if parts not in (None, "inputs", "outputs"):
            self._problem(f"`parts` is {parts!r}", line, "it is inputs or outputs: those that may be part of the other")
        return frozenset(inputs), bool(output), parts or ""

    def _packings(self, entry: dict[str, Any], line: int) -> tuple[str, frozenset[str], str]:
        """`pack: {1: panels16}`, `takes: {1: [panels8]}` and `algorithm: winograd4`."""
        pack, takes = (entry.get(key, {}) for key in ("pack", "takes"))
        rule = f"pack: {{{INPUT}: word}}, takes: {{{INPUT}: [word, ...]}}; the words are {' '.join(PACKINGS)}"
        pack = pack.get(INPUT, "") if isinstance(pack, dict) and set(pack) <= {INPUT} else None
        takes = takes.get(INPUT, []) if isinstance(takes, dict) and set(takes) <= {INPUT} else None
        if not isinstance(pack, str) or (pack and pack not in PACKINGS):
            self._problem(f"`pack` is {entry['pack']!r}", line, rule)
        if not isinstance(takes, list) or not all(isinstance(word, str) and word in PACKINGS for word in takes):
            self._problem(f"`takes` is {entry['takes']!r}", line, rule)
            takes = []
        algorithm = entry.get("algorithm", "")
        if not isinstance(algorithm, str) or (algorithm and not pack):
            self._problem(f"`algorithm` is {algorithm!r}", line, "it is a word, of a kernel that has a `pack`")
        return str(pack), frozenset(takes), str(algorithm)

    def _types(self, entry: Any, key: str, line: int, own: str) -> tuple[frozenset[DType], ...]:
        """`[f32|f16, any]` as sets of types. `own` is the type of the kernel, which the word `type` stands for."""
        rule = "one entry per position: element types joined by '|', 'any', or 'type', the kernel's; the last repeats"
        if not isinstance(entry, list) or not all(isinstance(item, str) for item in entry):
            self._problem(f"`{key}` is {entry!r}", line, rule)
            return ()
        result = []
        for item in entry:
            words = [own if word.strip() == _OWN_TYPE else word.strip() for word in item.split("|")]
            if unknown := [word for word in words if word not in KERNEL_DTYPES]:
                self._problem(f"`{key}`: '{unknown[0]}' is not an element type", line, rule)
                continue
            result.append(frozenset(DType) if "any" in words else frozenset(DType(word) for word in words))
        if not result:
            self._problem(f"`{key}` is empty", line, rule)
        return tuple(result)

    def _when(self, text: Any, line: int) -> Condition:
        if not isinstance(text, str):
            self._problem(f"`when` is {text!r}", line, "a condition is a string")
            return Condition()
        try:
            return Condition(text)
        except ConditionError as problem:
            self._problem(f"`when`: {problem}", line, "attributes, rank(i), dim(i, axis), is_constant(i), operators")
            return Condition()

    def _tolerance(self, entry: Any, line: int) -> tuple[float, float]:
        rule = "tolerance: {rtol: ..., atol: ...}, two numbers that are not negative"
        if not isinstance(entry, dict) or set(entry) != {"rtol", "atol"}:
            self._problem(f"`tolerance` is {entry!r}", line, rule)
            return 0.0, 0.0
        values = [entry["rtol"], entry["atol"]]
        if not all(isinstance(value, int | float) and not isinstance(value, bool) and value >= 0 for value in values):
            hint = "in YAML, 1.0e-4 needs the point: without it the value is a string"
            self._problem(f"`tolerance` is {entry!r}", line, rule, hint)
            return 0.0, 0.0
        return float(values[0]), float(values[1])
