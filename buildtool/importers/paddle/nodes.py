"""From operators that write variables to nodes, each of which makes tensors of its own: those of blocks included.

Programs may write a variable several times: the last tensor has its name, those before it a number behind it. What a
block writes of the variables around it are outputs of the node that runs the block.
"""

from __future__ import annotations

from collections import ChainMap, Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from buildtool.errors import Where
from buildtool.importers.model import AttributeValue, SourceBody
from buildtool.importers.paddle.arrays import length_of, names_with_lengths, with_lengths
from buildtool.importers.paddle.beams import DECODE, parents_of, searched, with_parents
from buildtool.importers.paddle.branch_pairs import paired
from buildtool.importers.paddle.offsets import offsets_of, with_offsets
from buildtool.importers.paddle.program import (
    ARRAY,
    CONDITIONAL,
    FEED,
    FETCH,
    MAIN_OUTPUTS,
    WHILE,
    Block,
    Operation,
    PaddleNode,
    Program,
    damaged,
)

_MOST_BLOCKS = 32  # inside of each other
#: Slots that an operator does without where their variable has not been written yet.
_OPTIONAL = ("Array", "Length")


def nodes_of(
    program: Program, given: Iterable[str], sequences: Iterable[str], where: Where
) -> tuple[tuple[PaddleNode, ...], list[str]]:
    """The nodes of the main block, and the names of what is fetched. `sequences`: inputs whose offsets are given."""
    return _Conversion(program, where, set(sequences)).main(frozenset(given))


@dataclass
class _Draft:
    """A node whose outputs are not final yet: those that nothing reads have no names in the end."""

    item: Operation
    read: Mapping[str, list[str]]
    made: Mapping[str, list[str]]
    bodies: Mapping[str, _Body] = field(default_factory=dict)
    captured: tuple[str, ...] = ()


@dataclass
class _Body:
    inputs: list[str]
    outputs: list[str]  # empty where a variable has not been written
    drafts: Sequence[_Draft]

    def reads(self) -> set[str]:
        """What it reads from around it."""
        read: set[str] = set(self.outputs)
        made = set(self.inputs)
        for draft in self.drafts:
            read.update(name for names in draft.read.values() for name in names)
            read.update(draft.captured)
            made.update(name for names in draft.made.values() for name in names)
        return read - made - {""}


class _Conversion:
    def __init__(self, program: Program, where: Where, sequences: set[str]) -> None:
        self._program = program
        self._where = where
        self._blocks: dict[int, Block] = dict(program.blocks)
        self._arrays = frozenset(item.name for item in program.variables.values() if item.kind == ARRAY)
        self._searched = searched(self._everything())
        self._used: set[str] = set()
        self._written_inside: dict[int, tuple[str, ...]] = {}
        self._sequences = sequences  # variables that have offsets
        self._count = 0

    def main(self, given: frozenset[str]) -> tuple[tuple[PaddleNode, ...], list[str]]:
        runs = Counter(number for item in self._everything() for number in _run_by(item))
        if any(count > 1 or number not in self._blocks for number, count in runs.items()):
            damaged("an operator runs a block that is not there or belongs to another", self._where)
        operations = self._simplified(self._program.operations)
        writes = Counter(name for item in operations for name in self._written(item, 0))
        current: ChainMap[str, str] = ChainMap({name: name for name in given})
        drafts = self._drafts(operations, current, _Names(given, writes).of)
        fetched = [
            (_column(item), current.get(name, name))
            for item in self._program.operations
            if item.type == FETCH
            for names in item.inputs.values()
            for name in names
        ]
        outputs = [name for _, name in sorted(fetched, key=lambda one: one[0])]
        self._used.update(outputs)
        return tuple(self._node(number, draft) for number, draft in enumerate(drafts)), list(dict.fromkeys(outputs))

    def _everything(self) -> Iterator[Operation]:
        yield from self._program.operations
        for block in self._program.blocks.values():
            yield from block.operations

    def _simplified(self, operations: Iterable[Operation]) -> list[Operation]:
        """The operators of a block, with the lengths of arrays as variables, and pairs of branches as one operator."""
        kept = [item for item in operations if item.type not in (FEED, FETCH)]
        lengthy = with_lengths(paired(kept, self._blocks), self._arrays)
        return with_offsets(with_parents(lengthy, self._searched), self._sequences)

    # -- what is written ---------------------------------------------------------------------------------------------
    def _written(self, item: Operation, depth: int) -> tuple[str, ...]:
        """The variables that an operator writes."""
        if not _run_by(item):
            return tuple(name for names in item.outputs.values() for name in names)
        return (*self._results(item), *self._hidden(item, depth))

    def _results(self, item: Operation) -> list[str]:
        """What an operator with blocks is given by them; those of Paddle 2 only list what their blocks write."""
        if not any(self._blocks[number].outputs for number in item.blocks):
            return []
        return names_with_lengths(item.outputs.get("Out", ()), self._arrays)

    def _hidden(self, item: Operation, depth: int = 0) -> tuple[str, ...]:
        """What the blocks of an operator write of the variables around it."""
        return tuple(dict.fromkeys(name for number in item.blocks for name in self._inside(number, depth)))

    def _inside(self, number: int, depth: int) -> tuple[str, ...]:
        if depth > _MOST_BLOCKS:
            damaged(f"more than {_MOST_BLOCKS} blocks are nested", self._where)
        if number not in self._written_inside:
            operations = self._simplified(self._blocks[number].operations)
            block = self._blocks[number] = Block(
                tuple(operations), self._blocks[number].own, self._blocks[number].inputs, self._blocks[number].outputs
            )
            own = {*block.own, *(length_of(name) for name in block.own & self._arrays)}
            own |= {beside(name) for name in block.own for beside in (parents_of, offsets_of)}
            names = (name for item in operations for name in self._written(item, depth + 1))
            self._written_inside[number] = tuple(dict.fromkeys(name for name in names if name not in own))
        return self._written_inside[number]

    # -- drafts ------------------------------------------------------------------------------------------------------
    def _drafts(
        self, operations: Iterable[Operation], current: ChainMap[str, str], fresh: Callable[[str], str]
    ) -> list[_Draft]:
        """The nodes of a block. `current`: the tensors that variables hold, which changes."""
        drafts = []
        for item in operations:
            if _run_by(item):
                draft = self._with_blocks(item, current)
                made = [*self._results(item), *self._hidden(item)]
                draft.made = {"Out": [_hold(current, name, fresh(name)) for name in made]}
            else:
                read = {
                    slot: [current.get(name, name) for name in names if slot not in _OPTIONAL or name in current]
                    for slot, names in item.inputs.items()
                }
                draft = _Draft(item, read, {})
                draft.made = {
                    slot: [_hold(current, name, fresh(name)) for name in names] for slot, names in item.outputs.items()
                }
            self._used.update(name for names in draft.read.values() for name in names)
            if item.type == DECODE:  # deployments may name its offsets
                self._used.update(name for names in draft.made.values() for name in names)
            drafts.append(draft)
        return drafts

    def _with_blocks(self, item: Operation, current: ChainMap[str, str]) -> _Draft:
        hidden = self._hidden(item)
        if item.type == WHILE:
            (number,) = item.blocks
            block = self._blocks[number]
            given = names_with_lengths(item.inputs.get("X", ()), self._arrays) if block.inputs else []
            starts = [current.get(name, "" if self._is_of_array(name) else name) for name in given] + [
                current.get(name, "") for name in hidden
            ]
            (condition,) = item.inputs.get("Condition", ("",))
            names = [*names_with_lengths(block.inputs, self._arrays), *(self._fresh(name) for name in hidden)]
            bodies = {"body": self._body(number, current, hidden, names, (condition,))}
            read = {"Condition": [current.get(condition, condition)], "Start": starts}
            held = [*given, *hidden]
            growing = self._arrays | {parents_of(name) for name in self._arrays}
            arrays = tuple(index for index, name in enumerate(held) if name in growing)
            kept: dict[str, AttributeValue] = {"arrays": arrays}
            item = Operation(item.type, item.inputs, item.outputs, kept, item.blocks)
        else:
            then, *rest = item.blocks
            bodies = {"then": self._body(then, current, hidden)}
            if rest:
                bodies["else"] = self._body(rest[0], current, hidden)
            else:
                bodies["else"] = _Body([], [current.get(name, "") for name in hidden], ())
            read = {"Cond": [current.get(name, name) for name in item.inputs.get("Cond", ())]}
        captured = dict.fromkeys(name for body in bodies.values() for name in sorted(body.reads()))
        self._used.update(captured)
        return _Draft(item, read, {}, bodies, tuple(captured))

    def _body(
        self,
        number: int,
        around: ChainMap[str, str],
        hidden: Sequence[str],
        inputs: Sequence[str] = (),
        condition: tuple[str, ...] = (),
    ) -> _Body:
        """`inputs`: names of what the block is given, and then of what it writes of the variables around it.

        `condition`: the variable of it, where the block does not give it by itself.
        """
        block = self._blocks[number]
        inner = around.new_child({name: "" for name in block.own if name in around})
        for name, held in zip([*names_with_lengths(block.inputs, self._arrays), *hidden], inputs, strict=False):
            inner[name] = held
        drafts = self._drafts(block.operations, inner, self._fresh)
        results = names_with_lengths(block.outputs, self._arrays) or list(condition)
        body = _Body(
            list(inputs), [inner.get(name, name) for name in results] + [inner.get(name, "") for name in hidden], drafts
        )
        self._used.update(body.outputs)
        return body

    def _is_of_array(self, name: str) -> bool:
        """Whether a variable is an array, or the length of one: these may be without an element still."""
        return name in self._arrays or name.endswith(length_of(""))

    def _fresh(self, name: str) -> str:
        self._count += 1
        return f"{name}@{self._count}"

    # -- nodes -------------------------------------------------------------------------------------------------------
    def _node(self, number: int, draft: _Draft) -> PaddleNode:
        item, made = draft.item, draft.made
        main = next((slot for slot in MAIN_OUTPUTS if made.get(slot)), next(iter(made), ""))
        ordered = {slot: made[slot] for slot in sorted(made, key=lambda slot: slot != main) if made[slot]}
        outputs = [
            name if (slot == main and not draft.bodies) or name in self._used else ""
            for slot, names in ordered.items()
            for name in names
        ]
        return PaddleNode(
            item.type,
            "",
            next((name for name in outputs if name), f"number {number}"),
            tuple(name for names in draft.read.values() for name in names),
            tuple(outputs),
            item.attributes,
            slots=_places(draft.read),
            made=_places(ordered),
            shapes={} if draft.bodies else self._shapes(item, ordered),
            bodies={name: self._reader(body) for name, body in draft.bodies.items()},
            captured=draft.captured,
        )

    def _shapes(self, item: Operation, made: Mapping[str, list[str]]) -> dict[str, tuple[int, ...]]:
        shapes = {}
        for slot, names in made.items():
            for name, old in zip(names, item.outputs[slot], strict=True):
                variable = self._program.variables.get(old)
                if variable is not None and variable.shape is not None:
                    shapes[name] = variable.shape
        return shapes

    def _reader(self, body: _Body) -> Callable[[], SourceBody]:
        return lambda: SourceBody(
            tuple(body.inputs),
            tuple(body.outputs),
            {},
            tuple(self._node(number, draft) for number, draft in enumerate(body.drafts)),
        )


@dataclass
class _Names:
    """The names of the tensors that variables of the main block hold one after the other."""

    given: frozenset[str]  # held before the program runs
    writes: Mapping[str, int]
    counts: Counter[str] = field(default_factory=Counter)

    def of(self, name: str) -> str:
        """A variable is written."""
        self.counts[name] += 1
        is_last = self.counts[name] == self.writes[name] and name not in self.given
        return name if is_last else f"{name}#{self.counts[name]}"


def _run_by(item: Operation) -> tuple[int, ...]:
    """The blocks that an operator runs; what others do with blocks is not known."""
    return item.blocks if item.type in (WHILE, CONDITIONAL) else ()


def _hold(current: ChainMap[str, str], name: str, tensor: str) -> str:
    current[name] = tensor
    return tensor


def _column(item: Operation) -> int:
    column = item.attributes.get("col", 0)
    return column if isinstance(column, int) else 0


def _places(slots: Mapping[str, list[str]]) -> dict[str, tuple[int, ...]]:
    places, start = {}, 0
    for slot, names in slots.items():
        places[slot] = tuple(range(start, start + len(names)))
        start += len(names)
    return places
