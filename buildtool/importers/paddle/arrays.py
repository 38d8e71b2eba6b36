"""Arrays of tensors as two variables: a tensor with a row for each element there may be, and how many there are."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence

from buildtool.importers.paddle.program import Operation

#: Operators that read the length of the array in their slot X.
_READING = ("read_from_array", "lod_array_length", "tensor_array_to_tensor")
#: The operator that stands for what a write does to the length; files do not have it.
LENGTH_AFTER_WRITE = "@length_after_write"


def length_of(name: str) -> str:
    """The variable that has the length of an array."""
    return f"{name}@length"


def names_with_lengths(names: Iterable[str], arrays: Collection[str]) -> list[str]:
    """Variables, with the lengths of those that are arrays behind them."""
    return [each for name in names for each in ((name, length_of(name)) if name in arrays else (name,))]


def with_lengths(operations: Sequence[Operation], arrays: Collection[str]) -> list[Operation]:
    """Operators on arrays that also read and write the lengths of these."""
    return [each for item in operations for each in _expanded(item, arrays)]


def _expanded(item: Operation, arrays: Collection[str]) -> list[Operation]:
    source = item.inputs.get("X", ())
    if item.type == "write_to_array":
        written = item.outputs.get("Out", ())
        lengths = tuple(map(length_of, written))
        index = {"I": item.inputs.get("I", ())}
        return [
            Operation(item.type, {**item.inputs, "Array": written}, item.outputs, item.attributes),
            Operation(LENGTH_AFTER_WRITE, {**index, "Length": lengths}, {"Out": lengths}, {}),
        ]
    if item.type in _READING:
        slots = {**item.inputs, "Array": source, "Length": tuple(map(length_of, source))}
        slots.pop("X", None)
        return [Operation(item.type, slots, item.outputs, item.attributes, item.blocks)]
    if item.type == "assign" and any(name in arrays for name in source):
        before, after = tuple(map(length_of, source)), tuple(map(length_of, item.outputs.get("Out", ())))
        return [item, Operation(item.type, {"X": before}, {"Out": after}, {})]
    return [item]
