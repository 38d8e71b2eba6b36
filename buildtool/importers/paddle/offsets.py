"""Where sequences begin that stand one behind the other in a tensor: offsets in a variable beside that of the rows.

Paddle keeps such lengths with tensors (LoD). Here they are data like any other: those of an input `x` are an input
`x.lod`, for deployments that name it, and operators that keep rows pass the offsets on.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from buildtool.importers.model import AttributeValue
from buildtool.importers.paddle.program import Operation

ENDING = ".lod"
_ROW_BY_ROW = """
assign cast scale dropout softmax log_softmax relu relu6 sigmoid tanh exp log sqrt rsqrt square abs floor ceil gelu
swish silu hard_swish hard_sigmoid leaky_relu elu softplus softsign clip mul fc matmul matmul_v2 sum concat
elementwise_add elementwise_sub elementwise_mul elementwise_div elementwise_max elementwise_min elementwise_pow
lookup_table lookup_table_v2 layer_norm batch_norm top_k top_k_v2 increment search_fc search_seq_fc sequence_softmax
sequence_reverse sequence_arithmetic search_seq_arithmetic gru lstm reshape reshape2 prelu one_hot one_hot_v2
crf_decoding
"""
_KEEPING = frozenset(_ROW_BY_ROW.split())
#: Slots of operators that read offsets, and of whose variables.
_READING = {
    "sequence_softmax": ("X",),
    "sequence_reverse": ("X",),
    "sequence_pool": ("X",),
    "sequence_reshape": ("X",),
    "sequence_concat": ("X",),
    "sequence_pad": ("X",),
    "sequence_expand": ("X", "Y"),
    "sequence_expand_as": ("Y",),
    "sequence_arithmetic": ("X", "Y"),
    "search_seq_arithmetic": ("X", "Y"),
    "gru": ("Input",),
    "lstm": ("Input",),
    "crf_decoding": ("Emission",),
}
_OF_OTHERS = {"sequence_expand_as": "Y"}  # the slot whose offsets the result has
#: Operators that make offsets, and the slot whose offsets they need for that.
_MAKING = {
    "sequence_concat": "X",
    "sequence_expand": "X",
    "sequence_reshape": "X",
    "sequence_unpad": "",
    "im2sequence": "",
}


def offsets_of(name: str) -> str:
    """The variable that has the offsets of another one."""
    return f"{name}{ENDING}"


def offsets_slot(slot: str) -> str:
    """The slot of an operator that has the offsets of another slot."""
    return f"{slot}{ENDING}"


def asked_for(wanted: Iterable[str], inputs: Iterable[str]) -> list[str]:
    """The inputs whose offsets somebody names."""
    names = frozenset(wanted)
    return [name for name in inputs if offsets_of(name) in names]


def with_offsets(operations: Sequence[Operation], known: set[str]) -> list[Operation]:
    """Operators that also read, make and pass on offsets. `known`: the variables that have some, which changes."""
    return [each for item in operations for each in _expanded(item, known)]


def _expanded(item: Operation, known: set[str]) -> list[Operation]:
    results = [name for names in item.outputs.values() for name in names]
    main = next((name for slot in ("Out", "Y", "Hidden", "ViterbiPath") for name in item.outputs.get(slot, ())), "")
    added = {
        offsets_slot(slot): tuple(offsets_of(name) for name in item.inputs.get(slot, ()) if name in known)
        for slot in _READING.get(item.type, ())
    }
    before = frozenset(known)
    known.difference_update(results)
    changed = Operation(item.type, {**item.inputs, **added}, item.outputs, item.attributes, item.blocks)
    if item.type == "lod_reset":
        return [changed, *_reset(item, main, before, known)]
    if item.type in _MAKING:
        sources = item.inputs.get(_MAKING[item.type], ())
        if not main or not before.issuperset(sources):
            return [changed]
        known.add(main)
        outputs = {**item.outputs, offsets_slot("Out"): (offsets_of(main),)}
        return [Operation(item.type, changed.inputs, outputs, item.attributes)]
    source = _source(item, before)
    if not source or not main:
        return [changed]
    known.add(main)
    return [changed, _copied(offsets_of(source), main)]


def _source(item: Operation, known: frozenset[str]) -> str:
    """The variable whose offsets the results have, too."""
    if item.type in _OF_OTHERS:
        names: Sequence[str] = item.inputs.get(_OF_OTHERS[item.type], ())
    elif item.type in _KEEPING:
        names = [name for slot in sorted(item.inputs, key=_rank) for name in item.inputs[slot]]
    else:
        names = ()
    return next((name for name in names if name in known), "")


def _rank(slot: str) -> int:
    """The main input comes first."""
    return 0 if slot in ("X", "Input", "Ids", "Emission") else 1


def _copied(source: str, main: str) -> Operation:
    return Operation("assign", {"X": (source,)}, {"Out": (offsets_of(main),)}, {})


def _reset(item: Operation, main: str, before: frozenset[str], known: set[str]) -> list[Operation]:
    """Offsets that are those of another variable, or its content, or an attribute."""
    given = item.inputs.get("Y", ())
    target = item.attributes.get("target_lod")
    if not main:
        return []
    known.add(main)
    if given:
        if given[0] in before:
            return [_copied(offsets_of(given[0]), main)]
        return [Operation("cast", {"X": given}, {"Out": (offsets_of(main),)}, {"out_dtype": 3})]
    if isinstance(target, tuple) and target and all(isinstance(number, int) for number in target):
        attributes: dict[str, AttributeValue] = {"shape": (len(target),), "dtype": 3, "int64_values": target}
        return [Operation("assign_value", {}, {"Out": (offsets_of(main),)}, attributes)]
    known.discard(main)
    return []
