"""Takes one model through all stages, and says what is wrong with it: import, passes, plan, native runs, export."""

from __future__ import annotations

import functools
import tempfile
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

from buildtool.codegen import container
from buildtool.errors import InternalError, LatheError, Where
from buildtool.exporters.onnx import export
from buildtool.importers.frameworks import import_model
from buildtool.importers.pytorch import contents
from buildtool.importers.request import ImportedModel, ImportRequest, TensorRequest
from buildtool.ir.evaluate import evaluate
from buildtool.ir.operator import Array
from buildtool.passes.pipeline import optimise
from buildtool.runtime import Engine, Library
from buildtool.targets.cpu import TARGET
from buildtool.targets.protocol import LibrarySource, ModelSource, PlannedModel
from tests.strangers import oracle

RTOL = 2e-4
ATOL = 2e-5
_FEW = 0.005  # of the values of an output
_MORE_DRAWS = 30  # before a model is called wrong: rounding may turn an output over that a few noises left alone

Feeds = Mapping[str, Array]


@dataclass(frozen=True)
class Run:
    """Inputs, and what the framework computes for them; `stable`: whether rounding cannot turn an output over.

    `real`: where the framework rounds to a few bits within the model, what it computes without that. Lathe rounds less
    often: what is as near to it as the framework is right.
    """

    feeds: Feeds
    expected: tuple[Array, ...]
    stable: tuple[bool, ...]
    real: tuple[Array | None, ...] = ()


@dataclass(frozen=True)
class Case:
    """A model, and its runs: the first is at the largest size."""

    platform: str
    file: Path
    inputs: tuple[TensorRequest, ...]
    outputs: tuple[TensorRequest, ...]
    runs: tuple[Run, ...]
    rtol: float = RTOL
    atol: float = ATOL
    quantised: bool = False  # it is stored in a few bits
    program: Path | None = None  # what PyTorch wrote `file` from


@dataclass(frozen=True)
class Verdict:
    """`kind`: right, wrong, crashed, refused (by Lathe) or invalid (refused by the framework)."""

    kind: str
    stage: str = ""
    what: str = ""

    @property
    def signature(self) -> str:
        """What findings of one cause have in common."""
        return f"{self.kind}/{self.stage}/{_without_numbers(self.what)}"


RIGHT = Verdict("right")


class _FoundError(Exception):
    def __init__(self, verdict: Verdict) -> None:
        super().__init__(verdict.what)
        self.verdict = verdict


def _without_numbers(text: str) -> str:
    words = text.split()
    return " ".join(word for word in words if not any(c.isdigit() for c in word))[:120]


def judge(case: Case, library: Library) -> Verdict:
    """The first thing that is wrong."""
    try:
        imported = _staged("import", lambda: _import(case))
        graph = imported.graph
        case = _named(case, [value.name for value in graph.inputs])
        _compare(case, "import", lambda feeds: _evaluated(graph, feeds))
        _staged("passes", lambda: optimise(graph, quantised=case.quantised))
        _compare(case, "passes", lambda feeds: _evaluated(graph, feeds))
        _exported(case, imported)
        planned = _staged("plan", lambda: _plan(imported, case.quantised))
        model = planned.source
        for plan in (planned.plan, None):
            write = functools.partial(container.write, model.graph, name="s", stored=model.stored, plan=plan)
            files = _staged("write", write)
            for threads in (1, 2):
                engine = library.engine(model=files.model, data=files.data, threads=threads)
                _native(case, f"{'planned' if plan else 'portable'} x{threads}", engine)
    except _FoundError as found:
        return found.verdict
    return RIGHT


def _named(case: Case, names: Sequence[str]) -> Case:
    """The case with the inputs by their names in the graph, where it knows their positions only."""
    if case.inputs:
        return case
    runs = [replace(run, feeds=dict(zip(names, run.feeds.values(), strict=True))) for run in case.runs]
    return replace(case, runs=tuple(runs))


def _staged(stage: str, work: Callable[[], Any]) -> Any:
    """What `work` gives; what it raises is a refusal where it blames the model, else a crash."""
    try:
        return work()
    except _FoundError:
        raise
    except LatheError as error:
        blames_model = not isinstance(error, InternalError) and stage in ("import", "plan", "export")
        problem = error.problems[0]
        what = f"{type(error).__name__}: {problem.what}" + (f" ({problem.rule})" if problem.rule else "")
        raise _FoundError(Verdict("refused" if blames_model else "crashed", stage, what)) from error
    except Exception as error:
        where = error.__traceback__
        while where is not None and where.tb_next is not None:
            where = where.tb_next
        place = f"{Path(where.tb_frame.f_code.co_filename).name}" if where is not None else ""
        raise _FoundError(Verdict("crashed", stage, f"{type(error).__name__}: {error} ({place})")) from error


def _import(case: Case) -> ImportedModel:
    if case.program:
        contents.verify(case.program, Where(file=str(case.program)))
    return import_model(case.platform, ImportRequest("s", case.file, inputs=case.inputs, outputs=case.outputs))


def _evaluated(graph: Any, feeds: Feeds) -> list[Array]:
    with np.errstate(all="ignore"):
        results = evaluate(graph, {value.name: feeds[value.name] for value in graph.inputs})
    return [results[value.name] for value in graph.outputs]


def _plan(imported: ImportedModel, quantised: bool) -> PlannedModel:
    source = ModelSource("s", imported.graph, quantised=quantised)
    return TARGET.lower(LibrarySource(name="s", identifier="s", models=(source,)), "host").models[0]


def _native(case: Case, stage: str, engine: Engine) -> None:
    """At all sizes, the first one again at the end; then with memory of its own for each value."""
    session = _staged(stage, engine.session)
    _compare(case, stage, lambda feeds: list(session.run(feeds).values()), (*case.runs, case.runs[0]))
    apart = _staged(stage, lambda: engine.session(keep_all=True))
    for run in case.runs:
        together, alone = session.run(run.feeds), apart.run(run.feeds)
        for name, array in together.items():
            if array.tobytes() != alone[name].tobytes():
                raise _FoundError(Verdict("wrong", stage, f"output {name} is another one when values share no memory"))


def _exported(case: Case, imported: ImportedModel) -> None:
    exported = _staged("export", lambda: export(imported.graph))
    try:
        session = oracle.session(exported.content)
    except oracle.RefusedError as refused:
        raise _FoundError(Verdict("crashed", "export", f"onnxruntime refuses it: {refused}")) from refused
    try:
        _compare(case, "export", lambda feeds: oracle.run(session, feeds))
    except _FoundError as found:
        if case.platform != "onnx" or found.verdict.kind != "wrong":
            raise
        # onnxruntime is not exact, either: what it makes of PyTorch's own file may be as far off.
        own = oracle.session(case.file.read_bytes())
        runs = [replace(run, expected=tuple(oracle.run(own, run.feeds))) for run in case.runs]
        _compare(case, "export", lambda feeds: oracle.run(session, feeds), runs)


def _compare(case: Case, stage: str, compute: Callable[[Feeds], Sequence[Array]], runs: Sequence[Run] = ()) -> None:
    for run in runs or case.runs:
        found = _staged(stage, functools.partial(compute, run.feeds))
        real = run.real or (None,) * len(run.expected)
        for index, (wanted, result, stable) in enumerate(zip(run.expected, found, run.stable, strict=True)):
            problem = difference(wanted, result, case.rtol, case.atol, real[index])
            if problem and (stable or "shape" in problem):
                shapes = "/".join(str(list(array.shape)) for array in run.feeds.values())
                raise _FoundError(Verdict("wrong", stage, f"output {index} {problem}; inputs {shapes}"))


def difference(wanted: Array, found: Array, rtol: float, atol: float, real: Array | None = None) -> str:
    """What is wrong with an output; empty where nothing is.

    `real`: see Run. A value that one step of rounding turns over inside of a model of a few bits may be as far from the
    real one as the framework's own values are elsewhere, where no more than a few values are.
    """
    if wanted.shape != found.shape:
        return f"has the shape {list(found.shape)}, not {list(wanted.shape)}"
    if wanted.dtype != found.dtype:
        return f"is of type {found.dtype}, not {wanted.dtype}"
    if wanted.dtype.kind not in "fc":
        count = int(np.sum(wanted != found))
        return f"differs in {count} of {wanted.size} elements" if count else ""
    with np.errstate(all="ignore"):
        finite = np.isfinite(wanted)
        if not np.array_equal(wanted[~finite], found[~finite], equal_nan=True):
            return "differs in NaN or infinity"
        right, other = wanted[finite].astype(np.float64), found[finite].astype(np.float64)
        errors = np.abs(right - other)
        if real is not None:
            exact = real[finite].astype(np.float64)
            errors = np.minimum(errors, np.abs(other - exact) - np.abs(right - exact))
        limit = atol + rtol * float(np.max(np.abs(right), initial=0))
        if real is not None:
            far = errors > limit
            if np.sum(far) <= far.size * _FEW and np.max(np.abs(other - exact)) <= np.max(np.abs(right - exact)):
                errors = np.where(far, 0, errors)
        error = float(np.max(errors, initial=0))
    return "" if error <= limit else f"is off by {error:.3g}, above {limit:.3g}"


def case_of(model: Any, folder: Path, draws: int = 1) -> Case | Verdict:
    """A drawn ONNX model with what onnxruntime computes; a verdict where that refuses it. `draws`: see oracle.runs."""
    content = model.proto.SerializeToString()
    try:
        runs = oracle.runs(model, draws)
    except oracle.RefusedError as refused:
        return Verdict("invalid", "onnxruntime", str(refused))
    file = folder / "model.onnx"
    file.write_bytes(content)
    bounds = {word: (min(sizes), max(sizes)) for word, sizes in model.symbols.items()}
    requests = tuple(
        TensorRequest(
            item.name,
            tuple(bounds[dim.dim_param] if dim.dim_param else dim.dim_value for dim in item.type.tensor_type.shape.dim),
            "MODEL",
        )
        for item in model.proto.graph.input
    )
    return Case("onnx", file, requests, (), runs)


def judge_model(model: Any, library: Library) -> Verdict:
    """The verdict on a drawn ONNX model."""
    verdict = RIGHT
    with tempfile.TemporaryDirectory() as folder:
        for draws in (1, _MORE_DRAWS):
            case = case_of(model, Path(folder), draws)
            verdict = case if isinstance(case, Verdict) else judge(case, library)
            if verdict.kind != "wrong":
                break
    return verdict
