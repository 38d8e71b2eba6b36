"""Beam search: which row of the step before each row of a step continues, in a variable beside that of the rows.

Paddle keeps this as a second level of offsets (LoD), and gives each step as many rows as hypotheses are left. Here a
step has one row for each hypothesis of the beam all along, once it has begun with one row, and its parents are a
tensor: below 0 where the search has ended, for which Paddle gives no rows. That takes one sentence at a time.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from buildtool.importers.paddle.arrays import length_of
from buildtool.importers.paddle.offsets import offsets_of, offsets_slot
from buildtool.importers.paddle.program import Operation

SEARCH, DECODE = "beam_search", "beam_search_decode"
#: The operator that takes parents out of an array; files do not have it.
READ_PARENTS = "@read_parents"
#: The slot in which `sequence_expand`, `is_empty` and the decoder are given parents.
PARENTS = "Parents"
#: What to do about programs that search otherwise.
ONE_SENTENCE = (
    "import the program with one sentence, no more hypotheses than candidates, and a constant as the limit of its steps"
)
#: The attribute of writes whose elements may have more rows than those before.
GROWING = "@growing"


def parents_of(name: str) -> str:
    """The variable that has the parents of the rows of another one, or of the elements of an array."""
    return f"{name}@parents"


def searched(operations: Iterable[Operation]) -> frozenset[str]:
    """The variables, arrays among them, whose rows a search has selected; of all operators of a program."""
    operations = tuple(operations)
    found: set[str] = set()
    while True:
        before = len(found)
        for item in operations:
            if item.type == SEARCH:
                found.update(name for slot in _SELECTED for name in item.outputs.get(slot, ()))
            elif item.type in _PASSING and found.intersection(_sources(item)):
                found.update(item.outputs.get("Out", ()))
        if len(found) == before:
            return frozenset(found)


_SELECTED = ("selected_ids", "selected_scores")
_PASSING = ("assign", "write_to_array", "read_from_array")


def _sources(item: Operation) -> tuple[str, ...]:
    return (*item.inputs.get("X", ()), *(item.inputs.get("Array", ()) if item.type == "read_from_array" else ()))


def with_parents(operations: Sequence[Operation], found: frozenset[str]) -> list[Operation]:
    """Operators that also make, keep and follow parents. `found`: see `searched`."""
    return [each for item in operations for each in _expanded(item, found)] if found else list(operations)


def _expanded(item: Operation, found: frozenset[str]) -> list[Operation]:
    sources = [name for name in _sources(item) if name in found]
    out = item.outputs.get("Out", ())
    if item.type == SEARCH:
        made = {parents_slot: tuple(map(parents_of, item.outputs.get(slot, ()))) for slot, parents_slot in _SLOTS}
        return [Operation(item.type, item.inputs, {**item.outputs, **made}, item.attributes)]
    if item.type == "write_to_array":
        growing = Operation(item.type, item.inputs, item.outputs, {**item.attributes, GROWING: 1})
        if not sources:
            return [growing]
        arrays = tuple(map(parents_of, out))
        inputs = {"X": (parents_of(sources[0]),), "I": item.inputs.get("I", ()), "Array": arrays}
        return [growing, Operation(item.type, inputs, {"Out": arrays}, {})]
    if not sources and item.type not in (DECODE, "sequence_expand", "lod_reset"):
        return [item]
    if item.type == "read_from_array":
        inputs = {"Array": (parents_of(sources[0]),), "I": item.inputs.get("I", ())}
        return [item, Operation(READ_PARENTS, inputs, {"Out": tuple(map(parents_of, out))}, {})]
    if item.type == "assign":
        return [item, Operation(item.type, {"X": (parents_of(sources[0]),)}, {"Out": tuple(map(parents_of, out))}, {})]
    if item.type == "is_empty":
        return [Operation(item.type, {**item.inputs, PARENTS: (parents_of(sources[0]),)}, item.outputs, {})]
    like = [name for name in item.inputs.get("Y", ()) if name in found]
    if like and item.type == "lod_reset":  # the offsets of the rows, which are these parents
        return [Operation("assign", {"X": item.inputs.get("X", ())}, {"Out": out}, {})]
    if like and item.type == "sequence_expand":
        return [Operation(item.type, {**item.inputs, PARENTS: (parents_of(like[0]),)}, item.outputs, item.attributes)]
    if item.type == DECODE:
        arrays = item.inputs.get("Ids", ())
        traced = [name for name in arrays if name in found]
        inputs = {"Length": tuple(map(length_of, traced)), PARENTS: tuple(map(parents_of, traced))}
        found_by = item.outputs.get("SentenceIds", ())
        outputs = {**item.outputs, offsets_slot("SentenceIds"): tuple(map(offsets_of, found_by))}
        return [Operation(item.type, {**item.inputs, **inputs}, outputs, item.attributes)]
    return [item]


_SLOTS = tuple((slot, f"{slot}@parents") for slot in _SELECTED)
