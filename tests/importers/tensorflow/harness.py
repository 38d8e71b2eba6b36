"""Models of TensorFlow for tests: those that the oracle wrote, and graphs that are written here."""

from __future__ import annotations

import functools
import struct
import zipfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from buildtool.importers.request import ImportedModel, ImportRequest, TensorRequest
from buildtool.importers.tensorflow import import_model
from buildtool.ir.evaluate import evaluate
from buildtool.ir.graph import Graph
from buildtool.ir.operator import Array
from buildtool.ir.verify import verify
from buildtool.schemas import tensorflow_graph_pb2 as pb

EXPECTED = Path(__file__).resolve().parents[2] / "oracles" / "tensorflow" / "expected"


@dataclass(frozen=True)
class Case:
    """A graph of one operator, what it is fed, and what TensorFlow gives, by tensor."""

    name: str
    graph: bytes
    inputs: Mapping[str, Array]
    outputs: Mapping[str, Array]

    def __str__(self) -> str:
        return self.name


@functools.cache
def cases() -> tuple[Case, ...]:
    parts: dict[str, dict[str, Array]] = {}
    with np.load(EXPECTED / "operators.npz") as stored:
        for key, array in stored.items():
            name, _, rest = key.partition("/")
            parts.setdefault(name, {})[rest] = array
    return tuple(
        Case(name, found["graph"].tobytes(), _under(found, "in/"), _under(found, "out/"))
        for name, found in parts.items()
    )


def network(name: str, folder: Path) -> tuple[Path, Mapping[str, Array], Mapping[str, Array]]:
    """A small network: its file or folder, its inputs and its outputs."""
    with zipfile.ZipFile(EXPECTED / "networks.zip") as archive:
        archive.extractall(folder, [entry for entry in archive.namelist() if entry.startswith(f"{name}/")])
    folder = folder / name
    with np.load(folder / "tensors.npz") as stored:
        arrays = dict(stored)
    model = next(path for path in folder.iterdir() if path.stem == "model")
    return model, _under(arrays, "in/"), _under(arrays, "out/")


def _under(arrays: Mapping[str, Array], prefix: str) -> dict[str, Array]:
    return {key.removeprefix(prefix): array for key, array in arrays.items() if key.startswith(prefix)}


def imported(path: Path, inputs: Sequence[TensorRequest] = (), outputs: Sequence[TensorRequest] = ()) -> ImportedModel:
    result = import_model(ImportRequest("test", path, inputs=tuple(inputs), outputs=tuple(outputs)))
    verify(result.graph)
    return result


def requests(*names: str) -> tuple[TensorRequest, ...]:
    return tuple(TensorRequest(name, data_format="MODEL") for name in names)


def run(graph: Graph, inputs: Mapping[str, Array]) -> dict[str, Array]:
    return evaluate(graph, {value.name: inputs[value.name] for value in graph.inputs})


def compare(
    results: Mapping[str, Array], expected: Mapping[str, Array], rtol: float = 1e-5, atol: float = 1e-5
) -> None:
    assert results.keys() == expected.keys()
    for name, wanted in expected.items():
        result = results[name]
        assert tuple(result.shape) == tuple(wanted.shape)
        assert result.dtype == wanted.dtype
        np.testing.assert_allclose(result, wanted, rtol=rtol, atol=atol)


# -- graphs that are written here --------------------------------------------------------------------------------------
def node(name: str, op: str, *inputs: str, **attributes: object) -> pb.NodeDef:
    """A node; arrays, numbers, texts and lists become the attributes that they look like, `DT_...` a type."""
    made = pb.NodeDef(name=name, op=op, input=inputs)
    for key, value in attributes.items():
        _set(made.attr[key], value)
    return made


def _set(attr: pb.AttrValue, value: object) -> None:
    if isinstance(value, np.ndarray):
        attr.tensor.CopyFrom(tensor(value))
    elif isinstance(value, bool):
        attr.b = value
    elif isinstance(value, int):
        attr.i = value
    elif isinstance(value, float):
        attr.f = value
    elif isinstance(value, str) and value.startswith("DT_"):
        attr.type = pb.DataType.Value(value)  # type: ignore[assignment]
    elif isinstance(value, str):
        attr.s = value.encode()
    elif isinstance(value, pb.TensorShapeProto):
        attr.shape.CopyFrom(value)
    elif isinstance(value, pb.NameAttrList):
        attr.func.CopyFrom(value)
    else:
        assert isinstance(value, tuple)
        attr.list.i.extend(value)


def tensor(array: Array) -> pb.TensorProto:
    if array.dtype.kind == "S":
        return pb.TensorProto(
            dtype=pb.DT_STRING, tensor_shape=shape(*array.shape), string_val=array.reshape(-1).tolist()
        )
    code = {"float32": pb.DT_FLOAT, "int32": pb.DT_INT32, "bool": pb.DT_BOOL, "int64": pb.DT_INT64}[str(array.dtype)]
    return pb.TensorProto(dtype=code, tensor_shape=shape(*array.shape), tensor_content=array.tobytes())


def shape(*sizes: int) -> pb.TensorShapeProto:
    return pb.TensorShapeProto(dim=[pb.TensorShapeProto.Dim(size=size) for size in sizes])


def placeholder(name: str, *sizes: int, dtype: str = "DT_FLOAT") -> pb.NodeDef:
    return node(name, "Placeholder", dtype=dtype, shape=shape(*sizes))


def constant(name: str, value: Array) -> pb.NodeDef:
    return node(name, "Const", value=value)


def written(folder: Path, *nodes: pb.NodeDef, functions: Sequence[pb.FunctionDef] = ()) -> Path:
    graph = pb.GraphDef(node=nodes, library=pb.FunctionDefLibrary(function=functions))
    path = folder / "model.pb"
    path.write_bytes(graph.SerializeToString())
    return path


def function(name: str, inputs: Sequence[str], results: Mapping[str, str], *nodes: pb.NodeDef) -> pb.FunctionDef:
    """A function; `results` says what tensor each of its outputs is."""
    signature = pb.OpDef(
        name=name,
        input_arg=[pb.OpDef.ArgDef(name=one, type=pb.DT_FLOAT) for one in inputs],
        output_arg=[pb.OpDef.ArgDef(name=one, type=pb.DT_FLOAT) for one in results],
    )
    return pb.FunctionDef(signature=signature, node_def=nodes, ret=dict(results))


def called(name: str) -> pb.NameAttrList:
    return pb.NameAttrList(name=name)


def bundle(folder: Path, variables: Mapping[str, Array], sharing: bool = True) -> None:
    """The files of variables; keys leave out what they share with the one before, if `sharing`."""
    folder.mkdir()
    entries, data = {b"": pb.BundleHeader(num_shards=1).SerializeToString()}, b""
    for key, array in sorted(variables.items()):
        message = tensor(array)
        entry = pb.BundleEntry(dtype=message.dtype, shape=message.tensor_shape, offset=len(data), size=array.nbytes)
        entries[key.encode()] = entry.SerializeToString()
        data += array.tobytes()
    (folder / "variables.data-00000-of-00001").write_bytes(data)
    (folder / "variables.index").write_bytes(table(entries, sharing))


def table(entries: Mapping[bytes, bytes], sharing: bool = True) -> bytes:
    """A sorted table with a block for every three entries."""
    whole, places, keys = b"", {}, sorted(entries)
    for first in range(0, len(keys), 3):
        some = {key: entries[key] for key in keys[first : first + 3]}
        block = _block(some, sharing)
        places[keys[min(first + 2, len(keys) - 1)]] = _number(len(whole)) + _number(len(block))
        whole += block + bytes(5)
    handles = []
    for block in (_block({}, sharing), _block(places, sharing)):
        handles.append(_number(len(whole)) + _number(len(block)))
        whole += block + bytes(5)
    return whole + b"".join(handles).ljust(40, b"\0") + struct.pack("<Q", 0xDB4775248B80FB57)


def _block(entries: Mapping[bytes, bytes], sharing: bool) -> bytes:
    block, last = b"", b""
    for key, value in entries.items():
        same = [one == other for one, other in zip(last, key, strict=False)] if sharing else []
        shared = [*same, False].index(False)
        block += _number(shared) + _number(len(key) - shared) + _number(len(value)) + key[shared:] + value
        last = key
    return block + struct.pack("<II", 0, 1)


def _number(value: int) -> bytes:
    found = b""
    while value > 127:
        found += bytes([value & 127 | 128])
        value >>= 7
    return found + bytes([value])
