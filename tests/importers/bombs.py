"""Small files that ask for much: each reader's ways of making a lot of work or memory out of a few bytes.

`python -m tests.importers.bombs NAME FOLDER` reads one and prints what that took, as JSON: the test gives each a
process of its own, whose memory nobody else has used.
"""

from __future__ import annotations

import io
import json
import resource
import sys
import time
import zipfile
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import h5py
import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper

from buildtool.errors import LatheError
from buildtool.importers import frameworks
from buildtool.importers.request import ImportRequest
from buildtool.passes.pipeline import optimise
from buildtool.schemas import paddle_program_pb2 as paddle
from buildtool.schemas import tensorflow_graph_pb2 as tensorflow
from tests.importers.tflite.writer import GraphSpec, NodeSpec, TensorSpec, write

#: Writes the file into a folder and gives its path, and the file with its weights where there is one.
Bomb = Callable[[Path], tuple[Path, Path | None]]
BOMBS: dict[str, tuple[str, Bomb]] = {}  # by their names: the platform, and what writes the file
_MILLIONS = 2**24  # elements


def _bomb(platform: str) -> Callable[[Bomb], Bomb]:
    def register(make: Bomb) -> Bomb:
        BOMBS[make.__name__] = (platform, make)
        return make

    return register


# -- ONNX ------------------------------------------------------------------------------------------------------------
def _value(name: str, shape: Sequence[int | str] = (1,), kind: int = TensorProto.FLOAT) -> onnx.ValueInfoProto:
    return helper.make_tensor_value_info(name, kind, shape)


def _int64(name: str, *numbers: int) -> onnx.TensorProto:
    return numpy_helper.from_array(np.array(numbers, np.int64), name)


def _onnx(folder: Path, nodes: Sequence[onnx.NodeProto], **more: Any) -> tuple[Path, None]:
    graph = helper.make_graph(nodes, "bomb", [_value("x")], [_value("y", ("n",))], **more)
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8)
    file = folder / "bomb.onnx"
    file.write_bytes(model.SerializeToString())
    return file, None


def _loops(levels: int, trips: int, start: str) -> onnx.NodeProto:
    """Loops within each other; each iteration adds 1 to a number."""
    inner = helper.make_node("Add", ["v0", "one"], ["w0"])
    for level in range(levels):
        ends = [_value(f"c{level}", (), TensorProto.BOOL), _value(f"w{level}")]
        takes = [_value(f"i{level}", (), TensorProto.INT64), _value(f"d{level}", (), TensorProto.BOOL)]
        same = helper.make_node("Identity", [f"d{level}"], [f"c{level}"])
        body = helper.make_graph([inner, same], f"body{level}", [*takes, _value(f"v{level}")], ends)
        given = start if level == levels - 1 else f"v{level + 1}"
        made = "total" if level == levels - 1 else f"w{level + 1}"
        inner = helper.make_node("Loop", ["trips", "yes", given], [made], body=body)
    return inner


def _loop_values(trips: int) -> list[onnx.TensorProto]:
    one = numpy_helper.from_array(np.ones(1, np.float32), "one")
    yes = numpy_helper.from_array(np.array(True), "yes")
    return [one, yes, numpy_helper.from_array(np.array(trips, np.int64), "trips")]


@_bomb("onnx")
def loops_that_are_computed(folder: Path) -> tuple[Path, None]:
    """4096 iterations of 4096 iterations of 4096."""
    nodes = [_loops(3, 4096, "one"), helper.make_node("Add", ["x", "total"], ["y"])]
    return _onnx(folder, nodes, initializer=_loop_values(4096))


@_bomb("onnx")
def loops_in_loops(folder: Path) -> tuple[Path, None]:
    """Eight levels of 64 iterations over what is known only at run time."""
    nodes = [_loops(8, 64, "x"), helper.make_node("Identity", ["total"], ["y"])]
    return _onnx(folder, nodes, initializer=_loop_values(64))


@_bomb("onnx")
def many_large_constants(folder: Path) -> tuple[Path, None]:
    """300 constants of 64 MiB, each of which the file states in a few bytes."""
    nodes, last = [], "x"
    for number in range(300):
        nodes.append(helper.make_node("ConstantOfShape", ["size"], [f"c{number}"]))
        nodes.append(helper.make_node("Add", [last, f"c{number}"], [f"s{number}" if number < 299 else "y"]))
        last = f"s{number}"
    return _onnx(folder, nodes, initializer=[_int64("size", _MILLIONS)])


@_bomb("onnx")
def one_hole_for_many_weights(folder: Path) -> tuple[Path, None]:
    """1,000 weights lie at one place of a file of 32 MiB that nobody has written."""
    with (folder / "weights").open("wb") as file:
        file.truncate(2**25)
    tensors, nodes, last = [], [], "x"
    for number in range(1000):
        tensor = TensorProto(name=f"c{number}", data_type=TensorProto.FLOAT16, dims=[2**24])
        tensor.data_location = TensorProto.EXTERNAL
        tensor.external_data.add(key="location", value="weights")
        tensors.append(tensor)
        nodes.append(helper.make_node("Add", [last, tensor.name], [f"s{number}" if number < 999 else "y"]))
        last = f"s{number}"
    return _onnx(folder, nodes, initializer=tensors)


@_bomb("onnx")
def functions_that_call_each_other(folder: Path) -> tuple[Path, None]:
    functions = []
    opsets = [helper.make_opsetid("", 17), helper.make_opsetid("f", 1)]
    for level in range(12):
        op, domain = ("Relu", "") if level == 0 else (f"f{level - 1}", "f")
        names = ["a", *(f"t{number}" for number in range(9)), "b"]
        calls = [helper.make_node(op, [names[i]], [names[i + 1]], domain=domain) for i in range(10)]
        functions.append(helper.make_function("f", f"f{level}", ["a"], ["b"], calls, opsets))
    graph = helper.make_graph([helper.make_node("f11", ["x"], ["y"], domain="f")], "g", [_value("x")], [_value("y")])
    model = helper.make_model(graph, functions=functions, opset_imports=opsets, ir_version=8)
    file = folder / "bomb.onnx"
    file.write_bytes(model.SerializeToString())
    return file, None


@_bomb("onnx")
def long_ranges(folder: Path) -> tuple[Path, None]:
    """200 ranges of 2**24 numbers."""
    nodes, last = [], "x"
    for number in range(200):
        nodes.append(helper.make_node("Range", ["start", "end", "step"], [f"r{number}"]))
        nodes.append(helper.make_node("Cast", [f"r{number}"], [f"f{number}"], to=TensorProto.FLOAT))
        nodes.append(helper.make_node("Add", [last, f"f{number}"], [f"s{number}" if number < 199 else "y"]))
        last = f"s{number}"
    numbers = (("start", 0), ("end", 2**24), ("step", 1))
    return _onnx(folder, nodes, initializer=[numpy_helper.from_array(np.array(n, np.int64), k) for k, n in numbers])


# -- TensorFlow ------------------------------------------------------------------------------------------------------
def _tensorflow(folder: Path, graph: tensorflow.GraphDef) -> tuple[Path, None]:
    file = folder / "bomb.pb"
    file.write_bytes(graph.SerializeToString())
    return file, None


def _placeholder(graph: tensorflow.GraphDef) -> None:
    node = graph.node.add(name="x", op="Placeholder")
    node.attr["dtype"].type = tensorflow.DT_FLOAT
    node.attr["shape"].shape.dim.add(size=1)


@_bomb("tensorflow")
def one_number_many_times(folder: Path) -> tuple[Path, None]:
    """40 constants of 256 MiB of which the file holds one number."""
    graph = tensorflow.GraphDef()
    _placeholder(graph)
    last = "x"
    for number in range(40):
        node = graph.node.add(name=f"c{number}", op="Const")
        node.attr["dtype"].type = tensorflow.DT_FLOAT
        tensor = node.attr["value"].tensor
        tensor.dtype = tensorflow.DT_FLOAT
        tensor.tensor_shape.dim.add(size=2**26)
        tensor.float_val.append(1.0)
        total = graph.node.add(name=f"s{number}", op="AddV2", input=[last, f"c{number}"])
        total.attr["T"].type = tensorflow.DT_FLOAT
        last = f"s{number}"
    return _tensorflow(folder, graph)


@_bomb("tensorflow")
def functions_of_functions(folder: Path) -> tuple[Path, None]:
    """Each of 60 functions calls the one below ten times."""
    graph = tensorflow.GraphDef()
    _placeholder(graph)
    for level in range(60):
        function = graph.library.function.add()
        function.signature.name = f"f{level}"
        function.signature.input_arg.add(name="a", type=tensorflow.DT_FLOAT)
        function.signature.output_arg.add(name="b", type=tensorflow.DT_FLOAT)
        last = "a"
        for number in range(10):
            node = function.node_def.add(name=f"n{number}", op="Relu" if level == 0 else f"f{level - 1}", input=[last])
            node.attr["T"].type = tensorflow.DT_FLOAT
            last = f"n{number}:activations:0" if level == 0 else f"n{number}:b:0"
        function.ret["b"] = last
    call = graph.node.add(name="y", op="PartitionedCall", input=["x"])
    call.attr["f"].func.name = "f59"
    return _tensorflow(folder, graph)


# -- TFLite ----------------------------------------------------------------------------------------------------------
@_bomb("tflite")
def one_buffer_for_many_tensors(folder: Path) -> tuple[Path, None]:
    """1,000 filters of half precision share one buffer of 4 MiB; each becomes 8 MiB of floats."""
    count, size = 1000, 2**21
    tensors = [TensorSpec("x", "float32", (1, size))]
    tensors += [
        TensorSpec(f"c{number}", "float16", (1, size), np.ones((1, size if number == 0 else 1), np.float16))
        for number in range(count)
    ]
    nodes = []
    for number in range(count):
        tensors += [TensorSpec(f"f{number}", "float32", (1, size)), TensorSpec(f"s{number}", "float32", (1, size))]
        wide, total = len(tensors) - 2, len(tensors) - 1
        nodes.append(NodeSpec("DEQUANTIZE", [1 + number], [wide], "DequantizeOptions"))
        nodes.append(NodeSpec("ADD", [wide, 0 if number == 0 else total - 2], [total], "AddOptions"))
    data = bytearray(write(GraphSpec(tensors, nodes, [0], [len(tensors) - 1])))
    file = folder / "bomb.tflite"
    file.write_bytes(_share_buffer(data))
    return file, None


def _share_buffer(data: bytearray) -> bytes:
    """All tensors of halves take the buffer of the first one."""
    import tflite

    model = tflite.Model.GetRootAs(data, 0)
    graph = model.Subgraphs(0)
    assert graph is not None
    halves = [
        tensor
        for index in range(graph.TensorsLength())
        if (tensor := graph.Tensors(index)) is not None and tensor.Type() == tflite.TensorType.FLOAT16
    ]
    first = halves[0].Buffer()
    for tensor in halves[1:]:
        place = tensor._tab.Pos + tensor._tab.Offset(8)
        data[place : place + 4] = first.to_bytes(4, "little")
    return bytes(data)


# -- Keras -----------------------------------------------------------------------------------------------------------
@_bomb("keras")
def weights_that_inflate(folder: Path) -> tuple[Path, None]:
    """A dense layer with 1 GiB of zeros, which gzip packs into 1 MiB."""
    file = folder / "bomb.h5"
    units, rows = 2**14, 2**14
    layers: list[dict[str, Any]] = [
        {"class_name": "InputLayer", "config": {"name": "x", "batch_input_shape": [None, rows], "dtype": "float32"}},
        {"class_name": "Dense", "config": {"name": "d", "units": units, "use_bias": False, "dtype": "float32"}},
    ]
    config = {"class_name": "Sequential", "config": {"name": "bomb", "layers": layers}}
    with h5py.File(file, "w") as hdf5:
        hdf5.attrs["model_config"] = json.dumps(config)
        hdf5.attrs["keras_version"] = "2.9.0"
        hdf5.attrs["backend"] = "tensorflow"
        group = hdf5.create_group("model_weights")
        group.attrs["layer_names"] = [b"x", b"d"]
        group.create_group("x").attrs["weight_names"] = np.array([], "S1")
        inner = group.create_group("d")
        inner.attrs["weight_names"] = [b"d/kernel:0"]
        inner.create_dataset(
            "d/kernel:0", shape=(rows, units), dtype="f4", chunks=(1024, units), compression="gzip", fillvalue=0
        )
        for row in range(0, rows, 1024):
            inner["d/kernel:0"][row : row + 1024] = np.zeros((1024, units), np.float32)
    return file, None


@_bomb("keras")
def models_of_models(folder: Path) -> tuple[Path, None]:
    """Each of 14 models has the one below twice in its own description."""
    model: dict[str, Any] = {"class_name": "Activation", "config": {"name": "a", "activation": "relu"}}
    text = json.dumps(model)
    for _ in range(14):
        twice = text.replace('"name": "a"', '"name": "b"', 1)
        text = (
            f'{{"class_name": "Sequential", "config": {{"name": "a", "layers": [{text}, {twice}],'
            f' "build_input_shape": [null, 4]}}}}'
        )
    layer = '{"class_name": "InputLayer", "config": {"name": "x", "batch_input_shape": [null, 4]}}'
    whole = f'{{"class_name": "Sequential", "config": {{"name": "bomb", "layers": [{layer}, {text}]}}}}'
    stream = io.BytesIO()
    with zipfile.ZipFile(stream, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("config.json", whole)
        archive.writestr("metadata.json", json.dumps({"keras_version": "3.0.0"}))
        archive.writestr("model.weights.h5", keras_weights())
    file = folder / "bomb.keras"
    file.write_bytes(stream.getvalue())
    return file, None


def keras_weights() -> bytes:
    stream = io.BytesIO()
    with h5py.File(stream, "w") as hdf5:
        hdf5.create_group("layers")
    return stream.getvalue()


# -- Caffe -----------------------------------------------------------------------------------------------------------
@_bomb("caffe")
def layers_without_end(folder: Path) -> tuple[Path, Path]:
    """A chain of 60,000 layers of a few bytes each."""
    head = 'name: "b" layer { name: "x" type: "Input" top: "t0" input_param { shape { dim: 1 dim: 4 } } }\n'
    rest = "".join(f'layer{{name:"{i}"type:"ReLU"bottom:"t{i}"top:"t{i + 1}"}}\n' for i in range(60_000))
    (folder / "bomb.prototxt").write_text(head + rest)
    (folder / "bomb.caffemodel").write_bytes(b"\x0a\x01b")
    return folder / "bomb.prototxt", folder / "bomb.caffemodel"


# -- Paddle ----------------------------------------------------------------------------------------------------------
@_bomb("paddle")
def filled_tensors(folder: Path) -> tuple[Path, None]:
    """200 tensors of 2**26 elements, each of which the file states in a few bytes."""
    program = paddle.Program()
    program.version.version = 2005000
    block = program.blocks.add()
    for name, kind in (("feed", 9), ("fetch", 10)):
        block.vars.add(name=name.encode(), persistable=True).type.type = kind

    def variable(name: str, size: int) -> None:
        kind = block.vars.add(name=name.encode()).type
        kind.type = 7
        kind.lod_tensor.tensor.data_type = 5
        kind.lod_tensor.tensor.dims.append(size)

    def node(op: str, inputs: dict[str, str], output: str) -> Any:
        made = block.ops.add(type=op.encode())
        for slot, name in inputs.items():
            made.inputs.add(parameter=slot.encode(), arguments=[name.encode()])
        made.outputs.add(parameter=b"Out", arguments=[output.encode()])
        return made

    variable("x", 1)
    node("feed", {"X": "feed"}, "x").attrs.add(name=b"col", type=0, i=0)
    last = "x"
    for number in range(200):
        variable(f"c{number}", 2**24)
        variable(f"s{number}", 2**24)
        made = node("fill_constant", {}, f"c{number}")
        made.attrs.add(name=b"shape", type=11, longs=[2**24])
        made.attrs.add(name=b"value", type=1, f=1.0)
        made.attrs.add(name=b"dtype", type=0, i=5)
        node("elementwise_add", {"X": last, "Y": f"c{number}"}, f"s{number}").attrs.add(name=b"axis", type=0, i=-1)
        last = f"s{number}"
    node("fetch", {"X": last}, "fetch").attrs.add(name=b"col", type=0, i=0)
    file = folder / "bomb.pdmodel"
    file.write_bytes(program.SerializeToString())
    return file, None


def main(name: str, folder: Path) -> None:
    platform, make = BOMBS[name]
    file, weights = make(folder)
    for one in ("onnx", "tensorflow", "tflite", "keras", "caffe", "paddle"):
        frameworks.importer(one).supported_operators()  # loading handlers is no work of the file
    before, started, said = _peak(), time.process_time(), ""
    try:
        optimise(frameworks.import_model(platform, ImportRequest("bomb", file, weights)).graph)
    except LatheError as problem:
        said = f"{type(problem).__name__}: {problem.problems[0].render()}"
    took = {"seconds": time.process_time() - started, "bytes": _peak() - before, "said": said[:1000]}
    sys.stdout.write(json.dumps({**took, "file": file.stat().st_size}))


def _peak() -> int:
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024


if __name__ == "__main__":
    main(sys.argv[1], Path(sys.argv[2]))
