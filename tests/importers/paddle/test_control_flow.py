"""Branches, loops and arrays of tensors against Paddle, before and after all passes."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from buildtool.errors import LatheError, UnsupportedError
from buildtool.importers.request import TensorRequest
from buildtool.ir.graph import Graph
from buildtool.ir.operator import Array
from buildtool.passes.pipeline import optimise
from buildtool.schemas import paddle_program_pb2 as pb
from tests.importers.paddle.harness import archive, array, compare, imported, run
from tests.importers.paddle.plain import program_of
from tests.oracles.paddle.programs import random

_PROGRAMS = [
    ("control_flow.zip", name, ".json") for name in ("choice", "repeat", "always_four", "at_most_four", "grown")
] + [
    ("blocks.zip", name, ending)
    for name in ("two_blocks", "one_block", "array_in_loop")
    for ending in (".pdmodel", ".json")
]


def _runs(file: str, name: str) -> list[tuple[dict[str, Array], list[Array]]]:
    """The inputs and results of each run of a program."""
    runs: dict[str, tuple[dict[str, Array], list[Array]]] = {}
    for entry in sorted(archive(file)):
        folder, _, rest = entry.partition("/")
        if folder != name or not rest.endswith(".npy"):
            continue
        number, kind, key = rest.removesuffix(".npy").split("_", 2)
        inputs, outputs = runs.setdefault(number, ({}, []))
        content = array(archive(file)[entry])
        if kind == "in":
            inputs[key] = content
        else:
            outputs.append(content)
    return list(runs.values())


def _graph(file: str, name: str, ending: str, folder: Path) -> Graph:
    model = folder / f"model{ending}"
    model.write_bytes(archive(file)[f"{name}/model{ending}"])
    # Of what grows in a loop, Paddle makes the size open, where it begins as well.
    return imported(model, [TensorRequest("x", (2, 3), "NONE")] if name == "grown" else ()).graph


def _operators(graph: Graph) -> list[str]:
    return [node.op.name for node in graph.walk()]


@pytest.mark.parametrize(("file", "name", "ending"), _PROGRAMS, ids=lambda item: str(item).strip("."))
def test_programs_give_what_paddle_gives(file: str, name: str, ending: str, tmp_path: Path) -> None:
    graph = _graph(file, name, ending, tmp_path)
    runs = _runs(file, name)
    assert runs
    for inputs, outputs in runs:
        compare(run(graph, inputs), outputs, 2e-5)
    optimise(graph)
    for inputs, outputs in runs:
        compare(run(graph, inputs), outputs, 2e-5)


def test_an_array_without_a_bound_is_refused(tmp_path: Path) -> None:
    """The larger one of 5 and a number of the model's inputs bounds nothing."""
    data = archive("blocks.zip")["array_in_loop/model.pdmodel"]
    changed = data.replace(b"elementwise_min", b"elementwise_max")
    assert changed != data
    (tmp_path / "model.pdmodel").write_bytes(changed)
    with pytest.raises(UnsupportedError, match="the number of elements"):
        imported(tmp_path / "model.pdmodel")


@pytest.mark.parametrize(("stacked", "axis"), [(False, 1), (False, -1), (True, 0), (True, 1), (True, 2)])
def test_elements_beside_each_other(stacked: bool, axis: int, tmp_path: Path) -> None:
    """The elements x, 2x, 3x, ... joined along another axis than the first one, or stacked as a new one."""
    program = pb.Program.FromString(archive("blocks.zip")["array_in_loop/model.pdmodel"])
    (joined,) = [item for item in program.blocks[0].ops if item.type == b"tensor_array_to_tensor"]
    for attribute in joined.attrs:
        if attribute.name == b"axis":
            attribute.i = axis
        elif attribute.name == b"use_stack":
            attribute.b = stacked
    file = tmp_path / "model.pdmodel"
    file.write_bytes(program.SerializeToString())
    graph = imported(file).graph
    x = random(2, 3)
    for count in (1, 3, 5):
        elements = [x * np.float32(number) for number in range(1, count + 1)]
        wanted = np.stack(elements, axis) if stacked else np.concatenate(elements, axis)
        compare(run(graph, {"x": x, "n": np.array([count], np.int64)})[:1], [wanted], 1e-6)


def _operator(block: pb.Block, op: str, inputs: dict[str, str], output: str) -> pb.Operator:
    made = block.ops.add(type=op.encode())
    for slot, name in inputs.items():
        made.inputs.add(parameter=slot.encode(), arguments=[name.encode()])
    made.outputs.add(parameter=b"Out", arguments=[output.encode()])
    return made


def _loops_in_loops(depth: int) -> pb.Program:
    """Blocks that run each other, up to one that counts to a number of the model's inputs."""
    program = program_of("scale", {"X": np.zeros(1, np.float32), "N": np.zeros(1, np.float32)}, {}, {}, ("Out",))
    block = program.blocks[0]
    last = block.ops.pop()
    _operator(block, "less_than", {"X": "Out_out_0", "Y": "N_0"}, "goes_on")
    for number in range(depth):
        loop = _operator(block, "while", {"Condition": "goes_on"}, "Out_out_0")
        loop.attrs.add(name=b"sub_block", type=8, block_idx=number + 1)
        if number:
            _operator(block, "less_than", {"X": "Out_out_0", "Y": "N_0"}, "goes_on")
        block = program.blocks.add(idx=number + 1, parent_idx=number)
    _operator(block, "increment", {"X": "Out_out_0"}, "Out_out_0")
    _operator(block, "less_than", {"X": "Out_out_0", "Y": "N_0"}, "goes_on")
    program.blocks[0].ops.append(last)
    return program


def test_loops_in_loops_have_an_end(tmp_path: Path) -> None:
    file = tmp_path / "model.pdmodel"
    file.write_bytes(_loops_in_loops(2).SerializeToString())
    feeds = {"X_0": np.float32([0]), "N_0": np.float32([5])}  # type: ignore[arg-type]
    np.testing.assert_array_equal(run(imported(file).graph, feeds)[0], [5])
    file.write_bytes(_loops_in_loops(20).SerializeToString())
    with pytest.raises(UnsupportedError, match="too often"):
        imported(file)


def test_two_blocks_for_one_choice_become_one_branch(tmp_path: Path) -> None:
    assert _operators(_graph("blocks.zip", "two_blocks", ".pdmodel", tmp_path)).count("if_else") == 1


def test_a_length_that_follows_from_the_program_is_a_number(tmp_path: Path) -> None:
    graph = _graph("control_flow.zip", "always_four", ".json", tmp_path)
    assert "loop" in _operators(graph)
    assert [value.type.shape for value in graph.outputs] == [(1, 5, 3), (1, 3), (1,), (5,)]


def test_iterations_are_written_out_where_a_tensor_grows(tmp_path: Path) -> None:
    graph = _graph("control_flow.zip", "grown", ".json", tmp_path)
    assert "loop" not in _operators(graph)
    assert graph.outputs[0].type.shape == (8, 3)


@pytest.mark.parametrize("name", ["two_blocks", "one_block", "array_in_loop"])
def test_without_one_of_its_operators(name: str, tmp_path: Path) -> None:
    """A program, from which one operator after the other is taken out: still a model, or an error that says why not."""
    whole = pb.Program.FromString(archive("blocks.zip")[f"{name}/model.pdmodel"])
    model = tmp_path / "model.pdmodel"
    errors = []
    for block in range(len(whole.blocks)):
        for place in range(len(whole.blocks[block].ops)):
            program = pb.Program.FromString(whole.SerializeToString())
            del program.blocks[block].ops[place]
            model.write_bytes(program.SerializeToString())
            try:
                imported(model)
            except LatheError as error:
                errors.append(str(error))
    assert any("before the node reads it" in error for error in errors) is (name != "two_blocks")
