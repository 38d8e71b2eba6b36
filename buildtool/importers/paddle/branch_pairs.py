"""Recognises the two blocks that Paddle 2 writes for a choice, one for each truth value, as one operator.

`conditional_block(c)`, `conditional_block(not c)`, and a `select_input` for each result, which takes that of the block
that was run. Blocks that are alone stay as they are.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, MutableMapping, Sequence
from dataclasses import dataclass, replace

from buildtool.importers.paddle.program import CONDITIONAL, Block, Operation

#: What may stand between the blocks and what selects their results: it changes nothing that a block reads.
_BETWEEN = ("logical_not", "cast", "fill_constant", "assign_value")
_SELECT = "select_input"


def paired(operations: Sequence[Operation], blocks: MutableMapping[int, Block]) -> list[Operation]:
    """Operators, with pairs as one. The blocks of pairs then say in `blocks` what they give."""
    found = {pair.second: pair for pair in _pairs(operations, blocks)}
    left_out = {index for pair in found.values() for index in (pair.first, pair.second, *pair.selections)}
    kept: list[Operation] = []
    for index, item in enumerate(operations):
        if index not in left_out:
            kept.append(item)
        if index in found:
            kept.append(_joined(found[index], operations, blocks))
    return kept


@dataclass(frozen=True)
class _Pair:
    """Places among the operators."""

    first: int  # which runs where the condition holds
    second: int
    selections: tuple[int, ...]


def _pairs(operations: Sequence[Operation], blocks: MutableMapping[int, Block]) -> Iterator[_Pair]:
    reads = Counter(name for item in operations for names in item.inputs.values() for name in names)
    for first, item in enumerate(operations):
        if item.type != CONDITIONAL or len(item.blocks) != 1 or not _is_scalar(item):
            continue
        second, selections = None, []
        for index in range(first + 1, len(operations)):
            other = operations[index]
            if other.type == CONDITIONAL and second is None and len(other.blocks) == 1 and _is_scalar(other):
                second = index
            elif other.type == _SELECT and second is not None:
                selections.append(index)
            elif other.type not in _BETWEEN:
                break
        if second is not None and selections:
            pair = _Pair(first, second, tuple(selections))
            if _belong(pair, operations[: selections[-1] + 1], blocks, reads):
                yield pair


def _is_scalar(item: Operation) -> bool:
    return item.attributes.get("is_scalar_condition") == 1 and len(item.inputs.get("Cond", ())) == 1


def _belong(
    pair: _Pair, operations: Sequence[Operation], blocks: MutableMapping[int, Block], reads: Counter[str]
) -> bool:
    """Whether the conditions are opposites and all that is selected comes from both blocks and is read nowhere else."""
    first, second = operations[pair.first], operations[pair.second]
    between = operations[pair.first : pair.selections[-1]]
    condition = first.inputs["Cond"]
    opposite = [item for item in between if item.outputs.get("Out") == second.inputs["Cond"]]
    if not opposite or opposite[-1].type != "logical_not" or opposite[-1].inputs.get("X") != condition:
        return False
    selected: Counter[str] = Counter()
    for index in pair.selections:
        item = operations[index]
        masks = [one for one in between if one.outputs.get("Out") == item.inputs.get("Mask")]
        if not masks or masks[-1].type != "cast" or masks[-1].inputs.get("X") != condition:
            return False
        if len(item.inputs.get("X", ())) != 2 or len(item.outputs.get("Out", ())) != 1:
            return False
        selected.update(item.inputs["X"])
    inside = [blocks.get(number) for number in (*second.blocks, *first.blocks)]
    for place, block in enumerate(inside):
        made = {operations[index].inputs["X"][place] for index in pair.selections}
        if block is None or block.outputs or not made <= _written(block):
            return False
    return all(reads[name] == count for name, count in selected.items())


def _written(block: Block) -> set[str]:
    return {name for item in block.operations for names in item.outputs.values() for name in names}


def _joined(pair: _Pair, operations: Sequence[Operation], blocks: MutableMapping[int, Block]) -> Operation:
    """The block that runs where the condition holds stands first; results for it stand second in selections."""
    first, second = operations[pair.first], operations[pair.second]
    numbers = (*first.blocks, *second.blocks)
    for number, place in zip(numbers, (1, 0), strict=True):
        given = tuple(operations[index].inputs["X"][place] for index in pair.selections)
        block = blocks[number]
        blocks[number] = replace(block, own=block.own | frozenset(given), outputs=given)
    results = tuple(name for index in pair.selections for name in operations[index].outputs["Out"])
    return Operation(first.type, {"Cond": first.inputs["Cond"]}, {"Out": results}, first.attributes, numbers)
