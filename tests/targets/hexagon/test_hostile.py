"""Models that no importer would write, sent to the real program on the emulated DSP: a code and a message, no crash.

The test speaks the protocol itself (native/hexagon/protocol.h), so that nothing on the CPU's side refuses them first.
"""

from __future__ import annotations

import ctypes
import math
import struct
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path

import pytest

from buildtool.schemas import container_pb2 as pb
from tests.ops.hostile_models import hostile_file
from tests.ops.stored import MAKERS, stored_cases
from tests.targets.hexagon.dsp_library import dsp_library, simulator
from tests.targets.hexagon.network import small_network

_MODELS = 100  # of each operator
_FEW = ("concat", "conv2d", "dwconv2d", "fully_connected", "gather", "max_pool2d", "reduce_mean")
_VERSION = 3  # of the protocol
_THREADS = 2
_CREATE, _RUN, _DESTROY = 2, 3, 4
_REPLY = struct.Struct("<iIQ256s")
_OK, _CODES = 0, range(7)  # of lathe_code
_MOST_BYTES = 1 << 20  # of a tensor that is still sent
_WIDTHS = (0, 4, 2, 2, 8, 1, 1, 2, 2, 4, 4, 8, 8, 1)  # of element types, by their numbers


class _Argument(ctypes.Structure):
    _fields_ = (("data", ctypes.c_void_p), ("size", ctypes.c_size_t))


@dataclass(frozen=True)
class Reply:
    """What became of a call."""

    code: int
    part: int
    message: str


class Program:
    """A program on the emulated DSP, behind the stand-in for FastRPC."""

    def __init__(self, rpc: ctypes.CDLL, handle: int) -> None:
        self._rpc, self._handle = rpc, handle

    def call(self, method: int, inputs: Sequence[bytes], outputs: Sequence[int] = ()) -> Reply:
        """Fails where the DSP does not answer. `outputs`: the bytes of those behind the reply."""
        given = [ctypes.create_string_buffer(data, max(len(data), 1)) for data in inputs]
        taken = [ctypes.create_string_buffer(max(size, 1)) for size in (_REPLY.size, *outputs)]
        sizes = (*map(len, inputs), _REPLY.size, *outputs)
        arguments = (_Argument * len(sizes))()
        for argument, buffer, size in zip(arguments, (*given, *taken), sizes, strict=True):
            argument.data, argument.size = ctypes.addressof(buffer), size
        scalars = method << 24 | len(given) << 16 | len(taken) << 8
        answer = self._rpc.remote_handle64_invoke(ctypes.c_uint64(self._handle), ctypes.c_uint32(scalars), arguments)
        assert answer == 0, f"the DSP went down: {answer:#x}"
        code, part, _, text = _REPLY.unpack(taken[0].raw)
        return Reply(code, part, text.partition(b"\0")[0].decode("utf-8", "replace"))

    def create(self, model: bytes, data: bytes) -> Reply:
        return self.call(_CREATE, [struct.pack("<III", _VERSION, 0, _THREADS), model, data])


@contextmanager
def _program(operators: Sequence[str], log: Path) -> Iterator[Program]:
    library = dsp_library(frozenset(operators))
    rpc, handle = ctypes.CDLL(str(simulator().library)), ctypes.c_uint64()
    uri = "file:///libdsp_kernels_skel.so?dsp_kernels_skel_handle_invoke&_modver=1.0&_dom=cdsp"
    with library.on_simulator(log=str(log)):
        assert rpc.remote_handle64_open(uri.encode(), ctypes.byref(handle)) == 0
        try:
            yield Program(rpc, handle.value)
        finally:
            assert rpc.remote_handle64_close(handle) == 0


def _models(file: bytes) -> Iterator[tuple[bytes, bytes]]:
    at, blobs = 13, []  # behind the mark and the count
    while at < len(file):
        (size,) = struct.unpack_from("<Q", file, at)
        blobs.append(file[at + 8 : at + 8 + size])
        at += 8 + size
    return iter([pair for index, pair in enumerate(pairwise(blobs)) if index % 2 == 0])


def _sizes(model: bytes, names: Sequence[int]) -> list[int] | None:
    """Bytes of tensors, as the model declares them; None where that is too much to send, or nothing that a size is."""
    values, found = pb.Model.FromString(model).graph.values, []
    for index in names:
        dims = [dim.size for dim in values[index].dims]
        width = _WIDTHS[values[index].dtype] if values[index].dtype < len(_WIDTHS) else 1
        if any(dim < 0 for dim in dims) or math.prod(dims) * width > _MOST_BYTES:
            return None
        found.append(math.prod(dims) * width)
    return found


def _run(program: Program, part: int, model: bytes) -> Reply | None:
    body = pb.Model.FromString(model).graph.body
    inputs, outputs = _sizes(model, body.inputs), _sizes(model, body.outputs)
    if inputs is None or outputs is None:
        return None
    call = struct.pack("<II", part, 0)
    return program.call(_RUN, [call, *(bytes([0x5A]) * size for size in inputs)], outputs)


def _try_all(program: Program, operator: str, count: int) -> tuple[int, int]:
    """How many models ran, and how many were refused."""
    ran = refused = 0
    for model, data in _models(hostile_file(list(stored_cases(operator)), count, 7)):
        reply = program.create(model, data)
        assert reply.code in _CODES
        if reply.code != _OK:
            assert reply.message
            refused += 1
            continue
        told = _run(program, reply.part, model)
        if told is not None:
            assert told.code in _CODES
            assert told.code == _OK or told.message
            ran += told.code == _OK
        assert program.call(_DESTROY, [struct.pack("<II", reply.part, 0)]).code == _OK
    return ran, refused


def _check(operators: Sequence[str], count: int, program_has: Sequence[str], log: Path) -> None:
    small = small_network().model
    with _program(program_has, log) as program:
        for operator in operators:
            ran, refused = _try_all(program, operator, count)
            assert ran > count // 20, operator
            assert refused > count // 20, operator
        reply = program.create(small.model, small.data)  # the container around a part: of an operator for CPUs
        assert reply.code != _OK
        assert reply.message
    made, threads, blocks = map(int, log.read_text().splitlines()[-1].split()[4:7])
    assert made == _THREADS - 1, "the parts of a program have threads of their own"
    assert (threads, blocks) == (0, 0), "threads or memory are kept"


@pytest.mark.slow
def test_some_operators(tmp_path: Path) -> None:
    _check(_FEW, _MODELS // 5, _FEW, tmp_path / "log")


@pytest.mark.sweep
@pytest.mark.parametrize("operator", sorted(MAKERS))
def test_every_operator(operator: str, tmp_path: Path) -> None:
    _check([operator], _MODELS, sorted(MAKERS), tmp_path / "log")
