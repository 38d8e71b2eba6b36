"""Reads a program and its parameters into a `SourceModel`. What the formats promise is checked here, once."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path, PurePosixPath
from types import ModuleType

from buildtool.errors import LatheError, ModelFileError, Where
from buildtool.importers.files import read_bytes
from buildtool.importers.model import SourceModel, SourceTensor
from buildtool.importers.order import check_names
from buildtool.importers.paddle import naive_buffer, pir, protobuf
from buildtool.importers.paddle.nodes import nodes_of
from buildtool.importers.paddle.offsets import asked_for, offsets_of
from buildtool.importers.paddle.program import (
    DAMAGED,
    DTYPES,
    FEED,
    HALVES,
    TENSOR,
    Operation,
    Program,
    Variable,
    damaged,
    dtype_of_code,
)
from buildtool.importers.paddle.quantisation import as_floats
from buildtool.importers.paddle.tensors import read_combined, read_single
from buildtool.ir.operator import Array
from buildtool.ir.types import DType

_TOO_LARGE = "save the model with its parameters in a file of their own"
#: Names of parameter files that stand beside a program with a name that has no ending.
_BESIDE = ("__params__", "params", "weights")


def read(file: Path, weights: Path | None, name: str, wanted: Iterable[str] = ()) -> SourceModel:
    """The checked content of a program and its parameters. LatheError where they are none.

    `wanted`: the inputs that are asked for, among which may be offsets of sequences.
    """
    where = Where(file=str(file), model=name)
    data = read_bytes(file, where, _TOO_LARGE, DAMAGED)
    if naive_buffer.is_one(data):
        if weights is not None:
            raise ModelFileError(
                "models of Paddle-Lite hold their parameters themselves", where=where, remedy="remove weight_file_path"
            )
        program, constants = naive_buffer.read_program(data, where)
    else:
        program = _reader_of(data).read_program(data, where)
        constants = _parameters(program, file, weights, where)
    return _source(as_floats(program, constants, where), constants, wanted, where)


def _reader_of(data: bytes) -> ModuleType:
    """What reads a program that is no naive buffer."""
    return pir if data.lstrip()[:1] == b"{" else protobuf


# -- parameters --------------------------------------------------------------------------------------------------------
def _held(program: Program) -> list[Variable]:
    return [item for item in program.variables.values() if item.is_persistable and item.kind == TENSOR]


def _parameters(program: Program, file: Path, weights: Path | None, where: Where) -> dict[str, Array]:
    held = _held(program)
    if not held:
        return {}
    place = weights if weights is not None else _found_beside(file, held, where)
    if place.is_dir():
        constants = {item.name: _from_file_of_its_own(place, item.name, where) for item in held}
    else:
        at = Where(file=str(place), model=where.model)
        data = read_bytes(place, at, "remove what is not needed for inference", DAMAGED)
        constants = read_combined(data, [item.name for item in held], at)
    for item in held:
        _check_declared(item, constants[item.name], where)
    return constants


def companions(file: Path, weights: Path | None) -> tuple[Path, ...]:
    """The files of parameters that are found beside a program; none for what is no program."""
    where = Where(file=str(file))
    try:
        data = read_bytes(file, where, _TOO_LARGE, DAMAGED)
        if weights is not None or naive_buffer.is_one(data):
            return ()
        held = _held(_reader_of(data).read_program(data, where))
        place = _found_beside(file, held, where) if held else None
    except LatheError:
        return ()
    if place is None or place.is_file():
        return (place,) if place else ()
    return tuple(sorted(place / item.name for item in held))


def _found_beside(file: Path, held: Sequence[Variable], where: Where) -> Path:
    """The file of parameters that belongs to a program, or its folder where each parameter has its file."""
    candidates = [file.with_suffix(".pdiparams"), *(file.with_name(name) for name in _BESIDE)]
    if not file.suffix:
        candidates.insert(0, file.with_name(f"{file.name}.pdiparams"))
    for candidate in candidates:
        if candidate.is_file() and candidate != file:
            return candidate
    if all(_is_inside(item.name) and (file.parent / item.name).is_file() for item in held):
        return file.parent
    raise ModelFileError(
        f"the {len(held)} parameters of the model are not beside it",
        where=where,
        rule=f"they are in {candidates[0].name}, {', '.join(_BESIDE)}, or each in a separate file",
        remedy="name their file or folder as weight_file_path",
    )


def _is_inside(name: str) -> bool:
    """Whether the file of a parameter lies in the folder: its name comes from the model."""
    path = PurePosixPath(name)
    return bool(name) and "\0" not in name and not path.is_absolute() and ".." not in path.parts


def _from_file_of_its_own(folder: Path, name: str, where: Where) -> Array:
    if not _is_inside(name):
        damaged(f"'{name}' cannot be the name of a file", where)
    at = Where(file=str(folder / name), model=where.model)
    return read_single(read_bytes(folder / name, at, _TOO_LARGE, DAMAGED), name, at)


def _check_declared(item: Variable, content: Array, where: Where) -> None:
    if item.shape is None or item.dtype is None or item.dtype not in DTYPES:
        return
    fits = len(item.shape) == content.ndim and all(
        dim in (-1, size) for dim, size in zip(item.shape, content.shape, strict=True)
    )
    if not fits or content.dtype != DTYPES[item.dtype].numpy:
        raise ModelFileError(
            f"'{item.name}' is {content.dtype} {list(content.shape)} in the file of parameters, but {list(item.shape)} "
            f"of {DTYPES[item.dtype].value} in the model",
            where=where,
            remedy="take the file of parameters that was saved together with the model",
        )


# -- the graph ---------------------------------------------------------------------------------------------------------
def _source(program: Program, constants: Mapping[str, Array], wanted: Iterable[str], where: Where) -> SourceModel:
    inputs = _fed(program, where)
    sequences = asked_for(wanted, inputs)
    offsets = {offsets_of(name): SourceTensor(offsets_of(name), DType.S64, (None,)) for name in sequences}
    nodes, fetched = nodes_of(program, {*inputs, *offsets, *constants}, sequences, where)
    if not nodes:
        raise ModelFileError("the model has no operators", where=where, remedy=DAMAGED)
    if not fetched:
        raise ModelFileError(
            "the model has no outputs",
            where=where,
            remedy="save it with paddle.static.save_inference_model or jit.save",
        )
    declared = {item.name: _declared(item) for item in program.variables.values() if item.kind == TENSOR}
    outputs = {name: declared.get(name, SourceTensor(name, None, None)) for name in fetched}
    given = {name: declared[name] for name in inputs} | offsets
    check_names(nodes, {**given, **constants}, outputs, where, DAMAGED)
    return SourceModel(where, program.version, "NCHW", given, outputs, declared, constants, nodes)


def _fed(program: Program, where: Where) -> tuple[str, ...]:
    """The inputs in their order."""
    fed = [
        (_column(item), name)
        for item in program.operations
        if item.type == FEED
        for name in item.outputs.get("Out", ())
    ]
    names = (
        [name for _, name in sorted(fed)] if fed else [item.name for item in program.variables.values() if item.is_fed]
    )
    for name in names:
        variable = program.variables.get(name)
        if variable is None or variable.kind != TENSOR or names.count(name) > 1:
            damaged(f"the input '{name}' is not a tensor, or is listed twice", where)
        if variable.dtype is not None:
            dtype_of_code(variable.dtype, Where(where.file, model=where.model, value=name))
    return tuple(names)


def _column(item: Operation) -> int:
    column = item.attributes.get("col", 0)
    return column if isinstance(column, int) else 0


def _declared(item: Variable) -> SourceTensor:
    shape = None if item.shape is None else tuple(dim if dim >= 0 else None for dim in item.shape)
    code = -1 if item.dtype is None else item.dtype
    return SourceTensor(item.name, DTYPES.get(code), shape, HALVES.get(code))
