"""Streaming models: what they keep between runs stays in the arena. Compared with LiteRT over several runs."""

from __future__ import annotations

import subprocess
from pathlib import Path

import numpy as np
import pytest

from buildtool.ir.operator import Array
from buildtool.targets.micro import reference
from buildtool.targets.micro.emitting import files, model
from buildtool.targets.micro.network import Keep, Network
from buildtool.targets.micro.planning import plan
from buildtool.targets.micro.processors import PROCESSORS
from tests.importers.tflite.writer import GraphSpec, NodeSpec, Quantisation, TensorSpec, write
from tests.targets.micro import boards
from tests.targets.micro.quantised_models import NONE, VALID, Model, network_of

_RUNS = 12


def _streaming(seed: int, *, late: bool, first: str = "zeros") -> bytes:
    """A convolution over the last five of many rows, unsigned at both ends. `late`: the past is read again behind.

    `first`: what the past begins with.
    """
    made = Model(seed)
    unsigned = made._tensor("uint8", (1, 2, 1, 6), None, Quantisation([0.05], [120]))
    made.inputs.append(unsigned)
    x = made._activation((1, 2, 1, 6))
    made._node("QUANTIZE", [unsigned], x, "", {})
    spec = made.tensors[x].quantisation
    assert spec is not None
    handle = made._tensor("resource", (), None, None)
    made.nodes.append(_handle(handle))
    past = made._node("READ_VARIABLE", [handle], made._activation((1, 3, 1, 6), spec), "", {})
    rows = made._activation((1, 5, 1, 6), spec)
    made._node("CONCATENATION", [past, x], rows, "ConcatenationOptions", {"Axis": 1})
    lists = [made._constant(np.array(each, np.int32), None) for each in ((0, 2, 0, 0), (1, 5, 1, 6), (1, 1, 1, 1))]
    after = made._activation((1, 3, 1, 6), spec)
    made._node("STRIDED_SLICE", [rows, *lists], after, "StridedSliceOptions", {"BeginMask": 13, "EndMask": 13})
    made.nodes.append(NodeSpec("ASSIGN_VARIABLE", [handle, after], []))
    y = made.conv(rows, 7, (5, 1), 1, VALID, NONE)
    if late:
        y = made.add(y, made.conv(past, 7, (3, 1), 1, VALID, NONE))
    end = made._tensor("uint8", made.tensors[y].shape, None, Quantisation([0.09], [131]))
    made._node("QUANTIZE", [y], end, "", {})
    begin = np.full((1, 3, 1, 6), spec.zero_points[0], np.int8)
    if first != "zeros":
        begin = made.random.integers(-128, 128, begin.shape).astype(np.int8) if first == "drawn" else begin + 41
    constants = [TensorSpec("a", "resource", ()), TensorSpec("begin", "int8", begin.shape, begin, spec)]
    once = GraphSpec(constants, [_handle(0), NodeSpec("ASSIGN_VARIABLE", [0, 1], [])], [], [])
    made.nodes.insert(0, NodeSpec("CALL_ONCE", [], [], "CallOnceOptions", {"InitSubgraphIndex": 1}))
    return write(GraphSpec(made.tensors, made.nodes, made.inputs, [end]), once)


def _handle(tensor: int) -> NodeSpec:
    return NodeSpec("VAR_HANDLE", [], [tensor], "VarHandleOptions", {"Container": "", "SharedName": "past"})


def _drawn(network: Network) -> list[Array]:
    random = np.random.default_rng(3)
    return [random.integers(0, 256, network.inputs[0].shape).astype(np.uint8) for _ in range(_RUNS)]


def _litert(data: bytes, inputs: list[Array]) -> list[Array]:
    from ai_edge_litert.interpreter import Interpreter, OpResolverType  # type: ignore[import-untyped,unused-ignore]

    interpreter = Interpreter(model_content=data, experimental_op_resolver_type=OpResolverType.BUILTIN_REF)
    interpreter.allocate_tensors()
    found = []
    for array in inputs:
        interpreter.set_tensor(interpreter.get_input_details()[0]["index"], array)
        interpreter.invoke()
        found.append(interpreter.get_tensor(interpreter.get_output_details()[0]["index"]).copy())
    return found


@pytest.mark.parametrize(("late", "first"), [(False, "zeros"), (True, "zeros"), (False, "drawn"), (True, "ones")])
def test_states_stay_between_runs(late: bool, first: str, tmp_path: Path) -> None:
    """From what the file assigns first: LiteRT's first results depend on it."""
    pytest.importorskip("ai_edge_litert", reason="ai-edge-litert is not installed")
    data = _streaming(4, late=late, first=first)
    network = network_of(data, tmp_path)
    (state,) = network.states
    assert (len(np.unique(network.states[state])) > 1) == (first == "drawn")
    assert network.storage(network.outputs[1]) is network.storage(state)
    assert any(isinstance(layer, Keep) for layer in network.layers) == late
    inputs = _drawn(network)
    expected = b"".join(each.tobytes() for each in _litert(data, inputs))
    assert len(set(expected)) > 30
    sources = files.kernels([network], PROCESSORS["cortex-m3"])
    memory = plan(network, "portable")
    sources["m.h"] = model.header(network, memory).encode()
    sources["m.c"] = model.source(network, memory, "portable").encode()
    for name, content in sources.items():
        (tmp_path / name).write_bytes(content)
    units = [name for name in sources if name.endswith(".c")]
    main = str(Path(__file__).with_name("streaming_main.c"))
    flags = ("-fsanitize=address,undefined", "-fno-sanitize-recover=all", "-std=gnu99", "-I.")
    subprocess.run(["gcc", *boards.WARNINGS, *flags, *units, main, "-o", "host"], cwd=tmp_path, check=True)
    given = b"".join(each.tobytes() for each in inputs)
    done = subprocess.run(["./host"], cwd=tmp_path, input=given, capture_output=True, check=False)
    assert done.returncode == 0, done.stderr.decode()
    assert done.stdout == expected


@pytest.mark.arm
@pytest.mark.parametrize("abi", ["cortex-m4", "cortex-m55", "rv32imac"])
def test_states_on_boards(abi: str, tmp_path: Path) -> None:
    network = network_of(_streaming(5, late=False), tmp_path)
    random = np.random.default_rng(6)
    past = random.integers(-128, 128, network.inputs[1].shape).astype(np.int8)
    inputs = {network.inputs[0].name: _drawn(network)[0], network.inputs[1].name: past}
    ran = boards.run(network, abi, tmp_path, inputs)
    for name, expected in reference.evaluate(network, inputs).items():
        assert np.array_equal(ran.result.outputs[name], expected), name
