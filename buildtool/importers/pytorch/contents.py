"""Looks through a program before PyTorch is given it: what is in it has to be data.

PyTorch's own reader of exported programs executes what a file says in four places: it unpickles example inputs,
constants of classes and whole weights, it evaluates the expressions of sizes as Python, and it loads compiled code.
Honest programs hold tensors, arithmetic and no compiled code. This is the first of two locks; the second is the jail.
"""

from __future__ import annotations

import ast
import io
import json
import re
import zipfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from buildtool import archives
from buildtool.errors import ModelFileError, Where
from buildtool.pickles import RefusedError, follow

_MOST_TEXT = 128 << 20  # bytes of a pickle or a description
_ZIP = b"PK\x03\x04"

_NUMBERS = [
    "float64",
    "float32",
    "float16",
    "bfloat16",
    "double",
    "float",
    "half",
    "int64",
    "int32",
    "int16",
    "int8",
    "long",
    "int",
    "short",
    "uint64",
    "uint32",
    "uint16",
    "uint8",
    "bool",
    "complex64",
    "complex128",
]
_STORAGES = [
    "Float",
    "Double",
    "Half",
    "BFloat16",
    "Long",
    "Int",
    "Short",
    "Char",
    "Byte",
    "Bool",
    "ComplexFloat",
    "ComplexDouble",
]
#: What pickled tensors name: the functions that PyTorch's restricted reader calls for them, too.
_NAMES = frozenset(
    {
        "collections.OrderedDict",
        "torch.Size",
        "torch.device",
        "torch.nn.parameter.Parameter",
        "torch.storage.UntypedStorage",
        "torch._utils._rebuild_parameter",
        "torch._utils._rebuild_tensor",
        "torch._utils._rebuild_tensor_v2",
        "torch._utils._rebuild_tensor_v3",
        *(f"torch.{kind}" for kind in _NUMBERS),
        *(f"torch.{kind}Storage" for kind in _STORAGES),
    }
)
#: Of TorchScript, too: names of its own classes, and of lists with a type.
_OF_SCRIPTS = re.compile(
    r"__torch__(\.\w+)*|torch\.jit\._pickle\.(build_(int|bool|double|tensor)list|build_tensor_from_id|restore_type_tag)"
)

_FUNCTIONS = frozenset(
    [
        "FloorDiv",
        "ModularIndexing",
        "Where",
        "PythonMod",
        "Mod",
        "CleanDiv",
        "CeilDiv",
        "CeilToInt",
        "FloorToInt",
        "IntTrueDiv",
        "FloatTrueDiv",
        "LShift",
        "RShift",
        "IsNonOverlappingAndDenseIndicator",
        "TruncToFloat",
        "TruncToInt",
        "RoundToInt",
        "RoundDecimal",
        "ToFloat",
        "FloatPow",
        "PowByNatural",
        "Identity",
        "Add",
        "Mul",
        "Pow",
        "Max",
        "Min",
        "Abs",
        "floor",
        "ceiling",
        "sqrt",
        "Integer",
        "Rational",
        "And",
        "Or",
        "Not",
        "Eq",
        "Ne",
        "Lt",
        "Le",
        "Gt",
        "Ge",
        "Equality",
        "Unequality",
        "GreaterThan",
        "LessThan",
        "StrictGreaterThan",
        "StrictLessThan",
        "Piecewise",
        "ExprCondPair",
    ]
)
_TAKES_TEXT = {"Symbol": re.compile(r"[a-z]{1,8}_?\d+(_\d+)?"), "Float": re.compile(r"-?\d+(\.\d+)?(e[+-]?\d+)?")}
_VALUES = frozenset({"oo", "int_oo", "true", "false", "True", "False"})
_LONGEST = 100_000  # letters of an expression
_OPERATIONS = (ast.BinOp, ast.UnaryOp, ast.BoolOp, ast.Compare, ast.operator, ast.unaryop, ast.boolop, ast.cmpop)


def verify(file: Path, where: Where) -> int:
    """How many bytes of a program, which is an archive, describe what it computes. ModelFileError where it holds
    anything but data.
    """
    try:
        with zipfile.ZipFile(file) as archive:
            _look_through(archive, file.stat().st_size, "")
            # as they are stored: what a text is unpacked to may be out of proportion
            return sum(info.compress_size for info in archive.infolist() if info.filename.endswith((".json", ".py")))
    except RefusedError as problem:
        raise ModelFileError(
            f"this program is not only data: {problem}",
            where=where,
            rule="a program holds tensors, a graph, and expressions of sizes; nothing that PyTorch would execute",
            remedy="export it with plain tensors as example inputs and constants; if you trust its author, "
            "--trust-model-code gives it to PyTorch as it is",
        ) from None
    except archives.DAMAGED as problem:
        raise ModelFileError(
            f"this program is damaged: {problem}", where=where, remedy="compare it with the original, or save it again"
        ) from None


def _look_through(archive: zipfile.ZipFile, size: int, place: str) -> None:
    """All members of an archive, and of those in it; `place` is its own name in the outer one."""
    members = archive.infolist()
    try:
        archives.verify(archive, size, dense=2)  # only texts are compressed
    except archives.InflatedError as problem:
        raise RefusedError(str(problem)) from None
    known: set[str] = set()
    for member in members:
        name = member.filename
        if name.lower() in known:
            raise RefusedError(f"it has two members '{_shown(name)}'")
        known.add(name.lower())
        if name.startswith("/") or "\\" in name or ".." in name.split("/"):
            raise RefusedError(f"the name of the member '{_shown(name)}' is a path outside of it")
    for member in members:
        try:
            _look_at(archive, member, place)
        except RefusedError as problem:
            raise problem if place else RefusedError(f"{_shown(member.filename)}: {problem}") from None


def _look_at(archive: zipfile.ZipFile, member: zipfile.ZipInfo, place: str) -> None:
    name = member.filename.lower()
    inner = f"/{name}"
    if "/data/aotinductor/" in inner or name.endswith((".so", ".cubin", ".pyc")):
        raise RefusedError("it is compiled code")
    if "/custom_obj_" in inner or "/opaque_obj_" in inner:
        raise RefusedError("it is a pickled object of a class, and no tensor")
    if name.endswith("pkl"):
        _look_at_pickle(_read(archive, member), scripts=not place)
    elif name.endswith(".pt"):
        _look_inside(archive, member, place)
    elif name.endswith(".json"):
        _look_at_json(_read(archive, member))


def _look_inside(archive: zipfile.ZipFile, member: zipfile.ZipInfo, place: str) -> None:
    """A file of torch.save: an archive with one pickle and numbers."""
    if member.file_size == 0:
        return
    if place:
        raise RefusedError("there is a file of torch.save in one")
    with archive.open(member) as stream:
        if stream.read(len(_ZIP)) != _ZIP:
            raise RefusedError("it is not an archive as written by torch.save")
        stream.seek(0)
        with zipfile.ZipFile(stream) as nested:
            inner = [info.filename for info in nested.infolist()]
            if any(name.endswith("constants.pkl") or "/code/" in f"/{name}" for name in inner):
                raise RefusedError("it is a TorchScript program")
            _look_through(nested, member.file_size, member.filename)


def _read(archive: zipfile.ZipFile, member: zipfile.ZipInfo) -> bytes:
    if member.file_size > _MOST_TEXT:
        raise RefusedError(f"it has {member.file_size} bytes, and {_MOST_TEXT} are the most")
    return archive.read(member)


def _look_at_pickle(data: bytes, *, scripts: bool) -> None:
    stream = io.BytesIO(data)
    found = follow(stream)
    if stream.tell() != len(data):
        raise RefusedError("something follows the pickle")
    for name in sorted(map(str, found.names)):
        if name not in _NAMES and not (scripts and _OF_SCRIPTS.fullmatch(name)):
            raise RefusedError(f"it names {_shown(name)}, which is no part of a tensor")


def _look_at_json(data: bytes) -> None:
    try:
        document = json.loads(data.decode("utf-8"))
    except (ValueError, RecursionError):
        raise RefusedError("it is not JSON") from None
    for key, value in _pairs(document):
        if key == "use_pickle" and value is not False:
            raise RefusedError("it asks for a tensor of a custom class to be unpickled")
        if key == "expr_str":
            _look_at_expression(value)


def _pairs(document: Any) -> Iterator[tuple[str, Any]]:
    """All keys and values of all objects."""
    waiting = [document]
    while waiting:
        item = waiting.pop()
        if isinstance(item, dict):
            yield from item.items()
            waiting += item.values()
        elif isinstance(item, list):
            waiting += item


def _look_at_expression(text: Any) -> None:
    """It is evaluated as Python: arithmetic on symbols, with the functions that sizes have."""
    try:
        if not isinstance(text, str) or len(text) > _LONGEST:
            raise ValueError
        waiting: list[ast.AST] = [ast.parse(text.strip(), mode="eval").body]
        while waiting:
            waiting += _parts(waiting.pop())
    except (ValueError, SyntaxError, RecursionError, MemoryError):
        raise RefusedError(f"the size '{_shown(str(text))}' is not arithmetic on symbols") from None


def _parts(node: ast.AST) -> list[ast.AST]:
    """What an expression consists of. ValueError where it may do more than compute."""
    if isinstance(node, ast.Call):
        name = node.func.id if isinstance(node.func, ast.Name) else ""
        if any(not isinstance(keyword.value, ast.Constant) or keyword.arg is None for keyword in node.keywords):
            raise ValueError
        if name in _TAKES_TEXT and len(node.args) == 1 and isinstance(node.args[0], ast.Constant):
            if _TAKES_TEXT[name].fullmatch(str(node.args[0].value)):
                return []
        elif name in _FUNCTIONS:
            return [*node.args, *(keyword.value for keyword in node.keywords)]
    elif isinstance(node, ast.Name):
        if node.id in _VALUES or _TAKES_TEXT["Symbol"].fullmatch(node.id):
            return []
    elif isinstance(node, ast.Constant):
        if isinstance(node.value, int | float):
            return []
    elif isinstance(node, (*_OPERATIONS, ast.Tuple, ast.Load)):  # of Piecewise
        return list(ast.iter_child_nodes(node))
    raise ValueError


def _shown(name: str) -> str:
    """A name of a stranger, for a message."""
    return "".join(letter if letter.isprintable() else "?" for letter in name[:80])
