"""Reads programs of Paddle 3: JSON, in which every value has a number, and operators take and give values by it."""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Iterable, Mapping
from typing import Any

from buildtool.errors import ModelFileError, UnsupportedError, Where
from buildtool.importers.model import AttributeValue
from buildtool.importers.paddle.pir_operators import by_slot, translation
from buildtool.importers.paddle.program import (
    ARRAY,
    DAMAGED,
    FEED,
    FETCH,
    TENSOR,
    Block,
    Operation,
    Program,
    Variable,
    check_shape,
    damaged,
)
from buildtool.importers.paddle.protobuf import is_for_training

_VERSIONS = range(1, 100)
_PARAMETER = "p"
_COMBINE, _SPLIT, _PICK, _NAMED_RESULT = "0.combine", "0.split", "0.slice", "0.shadow_output"
_WHILE, _IF, _YIELD = "1.while", "1.if", "2.yield"
_ARRAYS = ("1.create_array", "1.create_array_like")
_WRITE_TO_ARRAY = "1.array_write_"
_ARRAY_TYPE = "1.t_dense_tensor_array"
_MOST_BLOCKS = 32  # inside of each other
#: Words for element types in types of values, and in attributes.
_CODES = {
    "bool": 0,
    "i16": 1,
    "i32": 2,
    "i64": 3,
    "f16": 4,
    "f32": 5,
    "f64": 6,
    "ui8": 20,
    "i8": 21,
    "bf16": 22,
    "int16": 1,
    "int32": 2,
    "int64": 3,
    "float16": 4,
    "float32": 5,
    "float64": 6,
    "uint8": 20,
    "int8": 21,
    "bfloat16": 22,
}
_DEEPEST = 8


def read_program(data: bytes, where: Where) -> Program:
    """The main block of a program."""
    try:
        document = json.loads(data)
    except (ValueError, RecursionError) as problem:
        raise ModelFileError(
            "this is not a program of Paddle 3: it is not JSON", where=where, remedy=DAMAGED
        ) from problem
    reader = _Reader(where)
    try:
        return reader.program(document)
    except (LookupError, TypeError, ValueError, AttributeError, OverflowError, RecursionError) as problem:
        text = f"{type(problem).__name__}: {problem}"
        raise ModelFileError(
            f"the program does not have the form of those of Paddle 3 ({text})", where=where, remedy=DAMAGED
        ) from problem


class _Reader:
    """The values so far: each number stands for one variable, or for several where it is a list of tensors."""

    def __init__(self, where: Where) -> None:
        self._where = where
        self._names: dict[int, tuple[str, ...]] = {}
        self._variables: dict[str, Variable] = {}
        self._operations: list[Operation] = []
        self._blocks: dict[int, Block] = {}
        self._count, self._depth = 0, 0
        self._yielded: tuple[str, ...] = ()  # of the block that is being read

    def program(self, document: Any) -> Program:
        head = document["base_code"]
        if head["magic"] != "pir" or head["version"] not in _VERSIONS:
            damaged("this is not a program of Paddle 3", self._where)
        (region,) = document["program"]["regions"]
        (block,) = region["blocks"]
        for item in block["ops"]:
            self._take(item)
        if not self._operations:
            damaged("the program has no operators", self._where)
        return Program(3000000, self._variables, tuple(self._operations), self._blocks)

    # -- operators ---------------------------------------------------------------------------------------------------
    def _take(self, item: Mapping[str, Any]) -> None:
        kind = str(item["#"])
        special: Mapping[str, Callable[[Mapping[str, Any]], None]] = {
            _PARAMETER: self._parameter,
            _COMBINE: self._combined,
            _SPLIT: self._split,
            _PICK: self._pick,
            _WHILE: self._while,
            _IF: self._if,
            _YIELD: self._yield,
            _WRITE_TO_ARRAY: self._write,
            **dict.fromkeys(_ARRAYS, self._array),
        }
        if kind in special:
            special[kind](item)
            return
        _, _, name = kind.partition(".")
        if not name:
            damaged(f"'{kind}' is not the name of an operator", self._where)
        attributes = _attributes(item["A"])
        if name in ("data", FEED):
            self._input(item, str(attributes["name"]))
        elif kind == _NAMED_RESULT or name == FETCH:
            self._output(item, str(attributes["output_name" if kind == _NAMED_RESULT else "name"]))
        else:
            self._operator(name, attributes, item)

    def _parameter(self, item: Mapping[str, Any]) -> None:
        """States for training (of dropout) are declared like parameters, but not stored: they have no value."""
        is_stored, *_ = item.get("OA") or (1,)
        if not is_stored:
            self._give(int(item["O"]["%"]), ())
            return
        self._declare(item["O"], str(item["A"][3]), is_persistable=True)

    def _input(self, item: Mapping[str, Any], name: str) -> None:
        (result,) = item["O"]
        self._declare(result, name)
        column = sum(operation.type == FEED for operation in self._operations)
        self._operations.append(Operation(FEED, {}, {"Out": (name,)}, {"col": column}))

    def _output(self, item: Mapping[str, Any], name: str) -> None:
        """The value by the name that Paddle gives to the output."""
        (operand,) = item["I"]
        names = self._names[operand["%"]]
        known = self._variables[names[0]]
        if name in self._variables:
            damaged(f"'{name}' is defined twice", self._where)
        self._variables[name] = Variable(name, TENSOR, known.dtype, known.shape)
        column = sum(operation.type == FETCH for operation in self._operations)
        self._operations.append(Operation("assign", {"X": names}, {"Out": (name,)}, {}))
        self._operations.append(Operation(FETCH, {"X": (name,)}, {}, {"col": column}))

    def _combined(self, item: Mapping[str, Any]) -> None:
        (result,) = _as_list(item["O"])
        self._give(result["%"], tuple(name for operand in item["I"] for name in self._names[operand["%"]]))

    def _split(self, item: Mapping[str, Any]) -> None:
        (operand,) = item["I"]
        for result, name in zip(item["O"], self._names[operand["%"]], strict=True):
            self._give(result["%"], (name,))

    def _pick(self, item: Mapping[str, Any]) -> None:
        """One of a list of tensors."""
        (operand,), (result,) = item["I"], _as_list(item["O"])
        index = _attributes(item["A"])["index"]
        self._give(result["%"], (self._names[operand["%"]][int(str(index))],))

    def _operator(self, name: str, attributes: dict[str, AttributeValue], item: Mapping[str, Any]) -> None:
        how = translation(name)
        operands = self._operands(item)
        results = [self._result(name, result) for result in item["O"]]
        kept = {how.renamed.get(key, key): value for key, value in attributes.items()}
        if name.removesuffix("_") in ("tril", "triu"):
            kept["lower"] = int(name.startswith("tril"))
        self._operations.append(
            Operation(
                how.name,
                by_slot(how.inputs, operands, "Input"),
                by_slot(how.outputs, results, "Output"),
                kept,
            )
        )

    # -- blocks and arrays -------------------------------------------------------------------------------------------
    def _while(self, item: Mapping[str, Any]) -> None:
        (condition,), *starts = self._operands(item)
        (region,) = item["regions"]
        block = self._block(region)
        self._control("while", {"Condition": (condition,), "X": _flat(starts)}, item, (block,))

    def _if(self, item: Mapping[str, Any]) -> None:
        ((condition,),) = self._operands(item)
        then, otherwise = item["regions"]
        blocks = self._block(then), self._block(otherwise)
        self._control("conditional_block", {"Cond": (condition,)}, item, blocks)

    def _control(
        self, name: str, inputs: Mapping[str, tuple[str, ...]], item: Mapping[str, Any], blocks: tuple[int, ...]
    ) -> None:
        results = _flat([self._result(name, result) for result in item["O"]])
        self._operations.append(Operation(name, inputs, {"Out": results}, {"is_scalar_condition": 1}, blocks))

    def _block(self, region: Mapping[str, Any]) -> int:
        """The number of a block that has been read. What it is given has numbers that others may have, too."""
        (block,) = region["blocks"]
        self._count += 1
        self._depth += 1
        number = self._count
        if self._depth > _MOST_BLOCKS:
            damaged(f"more than {_MOST_BLOCKS} blocks are nested", self._where)
        around = self._operations, self._names, self._yielded
        before = frozenset(self._variables)
        self._operations, self._names, self._yielded = [], dict(around[1]), ()
        inputs = []
        for index, argument in enumerate(block.get("args", ())):
            inputs.append(f"given_{number}_{index}")
            self._names.pop(int(argument["#"]), None)
            self._declare({"%": argument["#"], "TT": argument.get("TT", {})}, inputs[-1])
        for item in block["ops"]:
            self._take(item)
        own = frozenset(self._variables) - before
        self._blocks[number] = Block(tuple(self._operations), own, tuple(inputs), self._yielded)
        self._operations, self._names, self._yielded = around
        self._depth -= 1
        return number

    def _yield(self, item: Mapping[str, Any]) -> None:
        self._yielded = _flat(self._operands(item))

    def _array(self, item: Mapping[str, Any]) -> None:
        """An array of tensors is a variable, which is written in place."""
        (result,) = _as_list(item["O"])
        self._result("array", result)

    def _write(self, item: Mapping[str, Any]) -> None:
        (array,), given, index = self._operands(item)
        self._operations.append(Operation("write_to_array", {"X": given, "I": index}, {"Out": (array,)}, {}))
        (result,) = _as_list(item["O"])
        self._give(int(result["%"]), (array,))

    def _operands(self, item: Mapping[str, Any]) -> list[tuple[str, ...]]:
        return [self._names[operand["%"]] if operand["%"] else () for operand in item["I"]]

    # -- values ------------------------------------------------------------------------------------------------------
    def _result(self, operator: str, result: Mapping[str, Any]) -> tuple[str, ...]:
        """The variables of a result: those of a list of tensors are numbered."""
        number, kind = int(result["%"]), result.get("TT", {})
        name = f"{operator}_{number}"
        if kind.get("#") == "0.t_vec":
            names = tuple(f"{name}.{index}" for index in range(len(kind["D"])))
            for one, of in zip(names, kind["D"], strict=True):
                self._declare_type(of, one)
            self._give(number, names)
            return names
        self._declare(result, name)
        return (name,)

    def _declare(self, result: Mapping[str, Any], name: str, is_persistable: bool = False) -> None:
        self._declare_type(result.get("TT", {}), name, is_persistable)
        self._give(int(result["%"]), (name,))

    def _declare_type(self, kind: Mapping[str, Any], name: str, is_persistable: bool = False) -> None:
        if not name or name in self._variables:
            damaged(f"a variable has no name, or '{name}' is there twice", self._where)
        dtype: int | None = None
        shape: tuple[int, ...] | None = None
        if kind.get("#") == "0.t_dtensor":
            element, sizes, *_ = kind["D"]
            dtype = _CODES.get(str(element["#"]).removeprefix("0.t_"), -1)
            shape = tuple(int(size) for size in sizes)
            check_shape(shape, Where(self._where.file, model=self._where.model, value=name))
        stands_for = ARRAY if kind.get("#") == _ARRAY_TYPE else TENSOR
        self._variables[name] = Variable(name, stands_for, dtype, shape, is_persistable)

    def _give(self, number: int, names: tuple[str, ...]) -> None:
        if number in self._names:
            damaged(f"the value {number} is defined twice", self._where)
        self._names[number] = names


def _flat(names: Iterable[tuple[str, ...]]) -> tuple[str, ...]:
    return tuple(name for group in names for name in group)


def _as_list(item: Any) -> list[Any]:
    return item if isinstance(item, list) else [item]


def _attributes(items: list[Mapping[str, Any]]) -> dict[str, AttributeValue]:
    attributes: dict[str, AttributeValue] = {}
    for item in items:
        name = str(item["N"])
        if is_for_training(name) and name != "name":
            continue
        value = _attribute(item["AT"])
        if value is not None:
            attributes[name] = value
    return attributes


def _attribute(item: Mapping[str, Any], depth: int = 0) -> AttributeValue | None:
    """The value of an attribute; None where it is of a kind that no operator here needs."""
    kind = str(item["#"]).partition(".")[2]
    if kind in ("a_f32", "a_f64"):
        return _real(item)
    content: Any = item.get("D")
    if kind in ("a_bool", "a_i32", "a_i64", "a_index"):
        return int(content)
    if kind == "a_str":
        return str(content)
    if kind == "a_dtype":
        return _CODES.get(str(content), -1)
    if kind == "a_intarray":
        return tuple(int(number) for number in content)
    if kind == "a_scalar":
        return _scalar(content)
    if kind == "a_array" and depth < _DEEPEST:
        return _list([_attribute(one, depth + 1) for one in content])
    return None


def _real(item: Mapping[str, Any]) -> float:
    """What JSON has no number for stands as a word."""
    word: Any = item.get("VD", item.get("D"))
    number = float(word)
    if math.isnan(number) and "VD" not in item:
        raise UnsupportedError("an attribute is not a number")
    return number


def _scalar(content: Any) -> AttributeValue | None:
    if isinstance(content, Mapping):
        return _attribute(content, 1)
    return int(content) if isinstance(content, int) else float(content)


def _list(items: list[AttributeValue | None]) -> AttributeValue | None:
    if all(isinstance(item, int) for item in items):
        return tuple(item for item in items if isinstance(item, int))
    if all(isinstance(item, int | float) for item in items):
        return tuple(float(item) for item in items if isinstance(item, int | float))
    if all(isinstance(item, str) for item in items):
        return tuple(item for item in items if isinstance(item, str))
    return None
