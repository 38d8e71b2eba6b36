"""What `build` finds out by running a library once with and once without shared memory."""

from __future__ import annotations

import os
import signal
import time
from collections.abc import Callable, Sequence
from pathlib import Path

import onnx
import pytest
from onnx import TensorProto, helper

import buildtool
from buildtool.builders.built import BuiltLibrary, LibraryInfo, SizeReport
from buildtool.cli.main import run
from buildtool.codegen import container
from buildtool.drafts import deployment
from buildtool.errors import InternalError, Problem
from buildtool.ir.graph import Graph
from buildtool.plan import arena, check, manifest
from buildtool.plan.plan import Plan
from buildtool.plan.select import select
from buildtool.runtime import Engine, Library
from buildtool.settings import Silent
from buildtool.targets.cpu import TARGET
from buildtool.targets.protocol import PlannedModel
from buildtool.workflow import building, self_check
from tests.native_builds import full_library
from tests.plan.graphs import add_input, apply, make


def plant(monkeypatch: pytest.MonkeyPatch) -> None:
    """A planner that overwrites what is still read, and a checker that is blind to it."""
    monkeypatch.setattr(arena, "_safe", lambda node, source, owner, step: True)
    monkeypatch.setattr(check, "check", lambda graph, plan, kernels: None)


def _engine(graph: Graph) -> Engine:
    choices = select(graph, manifest.load(), abi="host", isas=TARGET.capabilities.abis["host"].isas)
    memory = arena.plan(graph, choices)
    plan = Plan("host", tuple(choice.names for choice in choices), memory.placements, memory.size)
    check.check(graph, plan, choices)
    files = container.write(graph, name=graph.name, half=False, plan=plan)
    return Library(full_library()).engine(model=files.model, data=files.data, threads=1)


def read_twice() -> Graph:
    """A value that is read after a node which could work in its place."""
    graph = Graph(name="twice")
    first = apply(graph, make("abs"), add_input(graph, "x", (3, 37)))
    graph.outputs = [apply(graph, make("mul"), apply(graph, make("sigmoid"), first), first)]
    return graph


@pytest.mark.slow
def test_a_right_plan_passes() -> None:
    self_check.compare(_engine(read_twice()))


@pytest.mark.slow
def test_a_wrong_plan_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    plant(monkeypatch)
    with pytest.raises(self_check.WrongPlanError, match="the memory plan is wrong"):
        self_check.compare(_engine(read_twice()))


def _deployment(folder: Path, monkeypatch: pytest.MonkeyPatch, names: Sequence[str] = ("twice",)) -> Path:
    """Models of which a library with all kernels becomes the built one: nothing is compiled."""
    x = helper.make_tensor_value_info("x", TensorProto.FLOAT, [3, 37])
    y = helper.make_tensor_value_info("y", TensorProto.FLOAT, [3, 37])
    nodes = [
        helper.make_node("Abs", ["x"], ["a"]),
        helper.make_node("Exp", ["a"], ["e"]),
        helper.make_node("Mul", ["e", "a"], ["y"]),
    ]
    models = [folder / f"{name}.onnx" for name in names]
    for model in models:
        onnx.save(helper.make_model(helper.make_graph(nodes, model.stem, [x], [y])), model)
    file = folder / "twice.yml"
    file.write_text(deployment.write(models, relative_to=folder, library_name="lathe_full"))
    library = full_library()
    info = LibraryInfo(library, "lathe_full", "", "", (), (), (), "", 0)
    built = BuiltLibrary("lathe_full", "host", library, library, library, info, SizeReport(()), "")
    monkeypatch.setattr(building, "_compile", lambda *_: (built,))
    return file


@pytest.mark.slow
def test_a_build_with_a_wrong_plan_is_a_defect_of_lathe(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    file = _deployment(tmp_path, monkeypatch)
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    plant(monkeypatch)
    assert run(["build", str(file), "--output", str(tmp_path / "wrong")]) == 70
    told = capsys.readouterr().err
    assert "the built library is wrong: output 'y' is off by" in told
    assert "this is a defect of Lathe: please report it with the file" in told
    assert not (tmp_path / "wrong" / "lathe_full").exists()
    assert run(["build", str(file), "--output", str(tmp_path / "asked"), "--no-self-check", "--no-archive"]) == 0
    assert (tmp_path / "asked" / "lathe_full" / "lib").is_dir()


@pytest.mark.slow
def test_a_library_that_dies_is_a_defect_of_lathe(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    file = _deployment(tmp_path, monkeypatch)

    def die(engine: Engine, limit: float) -> None:
        assert signal.getsignal(signal.SIGSEGV) is signal.SIG_DFL  # pytest's handler is gone, and those of others
        os.kill(os.getpid(), signal.SIGSEGV)

    monkeypatch.setattr(self_check, "compare", die)
    with pytest.raises(InternalError, match="a run ended with signal 11"):
        buildtool.build(file, options=buildtool.Options(tmp_path / "build"))


def _fork_counted(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    made: list[int] = []
    fork = os.fork

    def counted() -> int:
        made.append(fork())
        return made[-1]

    monkeypatch.setattr(os, "fork", counted)
    return made


@pytest.mark.slow
def test_one_process_does_for_all_models(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    file = _deployment(tmp_path, monkeypatch, [f"m{number}" for number in range(20)])
    made = _fork_counted(monkeypatch)
    buildtool.build(file, options=buildtool.Options(tmp_path / "build", archive=False))
    assert len(made) == 1


@pytest.mark.slow
@pytest.mark.parametrize(
    ("end", "told", "processes"),
    [
        # All five, then three of them alone, of which the last one dies.
        (lambda: os.kill(os.getpid(), signal.SIGSEGV), "a run ended with signal 11", 4),
        (lambda: time.sleep(60), "it took longer than", 2),
    ],
)
def test_of_many_models_the_one_that_ends_is_named(
    end: Callable[[], None], told: str, processes: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """And those behind it are checked all the same."""
    file = _deployment(tmp_path, monkeypatch, [f"m{number}" for number in range(5)])
    checked = tmp_path / "checked"
    checked.mkdir()

    def verdict(library: object, program: object, model: PlannedModel, *_: object) -> tuple[str, str]:
        (checked / model.source.name).touch()
        if model.source.name == "m2":
            end()
        return "right", ""

    monkeypatch.setattr(self_check, "_verdict", verdict)
    monkeypatch.setattr(self_check, "_PATIENCE", 1.0)
    made, progress = _fork_counted(monkeypatch), Silent()
    notes: list[Problem] = []
    monkeypatch.setattr(progress, "note", notes.append)
    options = buildtool.Options(tmp_path / "build", archive=False)
    if "signal" in told:
        with pytest.raises(InternalError, match=told) as raised:
            buildtool.workflow.build(file, options=options, progress=progress)
        (problem,) = raised.value.problems
        processes += 1  # for those behind it
    else:
        buildtool.workflow.build(file, options=options, progress=progress)
        (problem,) = [note for note in notes if "memory plan" in note.what]
    assert problem.where is not None
    assert problem.where.model == "m2"
    assert told in problem.what
    assert len(made) == processes
    assert len(list(checked.iterdir())) == 5


@pytest.mark.slow
def test_models_too_large_to_compare_are_reported(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    file = _deployment(tmp_path, monkeypatch)
    monkeypatch.setattr(self_check, "_MOST_BYTES", 100)
    notes: list[str] = []
    progress = Silent()
    monkeypatch.setattr(progress, "note", lambda problem: notes.append(problem.render("note")))
    buildtool.workflow.build(file, options=buildtool.Options(tmp_path / "build", archive=False), progress=progress)
    (note,) = [note for note in notes if "memory plan" in note]
    assert "its values together need more than 1 GiB" in note
    assert "check it with: lathe validate" in note
