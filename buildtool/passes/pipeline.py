"""Runs passes in order, again and again until none finds anything to do, and checks the graph after each.

Passes of other packages (`offered`) run behind those of Lathe.
"""

from __future__ import annotations

import difflib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import TypeAlias

from buildtool.errors import ConfigError, GraphError, InternalError, LatheError, Problem, UnsupportedError, Where
from buildtool.extensions.entry_points import Found
from buildtool.ir.dims import TooIntricateError
from buildtool.ir.graph import Graph, Value
from buildtool.ir.verify import verify
from buildtool.passes import editor, offered, store_quantised
from buildtool.passes.absorb_channel_orders import AbsorbChannelOrders
from buildtool.passes.absorb_transposes import AbsorbTransposes
from buildtool.passes.arrange_concats import ArrangeConcats
from buildtool.passes.base import Pass
from buildtool.passes.batch_norms_to_convolutions import BatchNormsToConvolutions
from buildtool.passes.compute_in_half import ComputeInHalf, Kept, Objection
from buildtool.passes.fold_batch_norms import FoldBatchNorms
from buildtool.passes.fold_constants import FoldConstants
from buildtool.passes.fold_pads import FoldPads
from buildtool.passes.fold_product_transposes import FoldProductTransposes
from buildtool.passes.fold_scales import FoldScales
from buildtool.passes.fold_scales_forward import FoldScalesForward
from buildtool.passes.fuse_activations import FuseActivations
from buildtool.passes.fuse_attention import FuseAttention
from buildtool.passes.fuse_biases import FuseBiases
from buildtool.passes.fuse_expansions import FuseExpansions
from buildtool.passes.fuse_integer_products import FuseIntegerProducts
from buildtool.passes.fuse_residuals import FuseResiduals
from buildtool.passes.fuse_separable_convolutions import FuseSeparableConvolutions
from buildtool.passes.matmul_to_fully_connected import MatmulToFullyConnected
from buildtool.passes.merge_casts import MergeCasts
from buildtool.passes.merge_concats import MergeConcats
from buildtool.passes.merge_reductions import MergeReductions
from buildtool.passes.merge_reshapes import MergeReshapes
from buildtool.passes.merge_resizes import MergeResizes
from buildtool.passes.merge_scalars import MergeScalars
from buildtool.passes.merge_slices import MergeSlices
from buildtool.passes.merge_transposes import MergeTransposes
from buildtool.passes.move_transposes import MoveTransposes
from buildtool.passes.real_numbers import RealNumbers
from buildtool.passes.recognise_blocks import RecogniseBlocks
from buildtool.passes.recognise_gelus import RecogniseGelus
from buildtool.passes.recognise_group_norms import RecogniseGroupNorms
from buildtool.passes.recognise_hard_sigmoids import RecogniseHardSigmoids
from buildtool.passes.recognise_hard_swishes import RecogniseHardSwishes
from buildtool.passes.recognise_instance_norms import RecogniseInstanceNorms
from buildtool.passes.recognise_layer_norms import RecogniseLayerNorms
from buildtool.passes.recognise_mishes import RecogniseMishes
from buildtool.passes.recognise_recurrent_layers import RecogniseRecurrentLayers
from buildtool.passes.recognise_rms_norms import RecogniseRmsNorms
from buildtool.passes.recognise_shuffles import RecogniseShuffles
from buildtool.passes.recognise_softplus import RecogniseSoftplus
from buildtool.passes.recognise_swishes import RecogniseSwishes
from buildtool.passes.remove_dead_code import RemoveDeadCode
from buildtool.passes.remove_identities import RemoveIdentities
from buildtool.passes.remove_noops import RemoveNoops
from buildtool.passes.share_common import ShareCommon
from buildtool.passes.sink_reshapes import SinkReshapes
from buildtool.passes.split_gathers import SplitGathers
from buildtool.passes.split_slices import SplitSlices
from buildtool.passes.store_quantised import StoreQuantised

#: The passes of Lathe in the order in which they run.
ORDER: tuple[type[Pass], ...] = (
    RemoveDeadCode,
    FoldConstants,
    RemoveIdentities,
    RemoveNoops,
    ShareCommon,
    MergeCasts,
    MergeSlices,
    MergeConcats,
    SplitSlices,
    RecogniseHardSigmoids,
    RecogniseHardSwishes,
    RecogniseSwishes,
    RecogniseSoftplus,
    RecogniseMishes,
    RecogniseGelus,
    RecogniseLayerNorms,
    RecogniseRmsNorms,
    RecogniseGroupNorms,
    RecogniseBlocks,
    MatmulToFullyConnected,
    RecogniseRecurrentLayers,
    MoveTransposes,
    MergeTransposes,
    MergeReshapes,
    AbsorbTransposes,
    FoldProductTransposes,
    RecogniseInstanceNorms,
    RecogniseShuffles,
    SplitGathers,
    ArrangeConcats,
    AbsorbChannelOrders,
    MergeReductions,
    SinkReshapes,
    FoldPads,
    FoldBatchNorms,
    FuseBiases,  # behind which a scale stands that is folded next, with another term behind that
    FoldScales,
    FuseBiases,
    MergeScalars,
    FoldScalesForward,
    BatchNormsToConvolutions,
    MergeResizes,
    FuseResiduals,
    FuseActivations,
    RemoveDeadCode,
)
#: What comes before all others where a model is to be stored in a few bits: it may come as a quantised one.
FROM_QUANTISED: tuple[type[Pass], ...] = (RemoveDeadCode, FoldConstants, RemoveIdentities, RealNumbers)
#: Passes that come last, once, and only for targets that ask for them: their kernels decide what pays.
LOWERING: tuple[type[Pass], ...] = (FuseExpansions, FuseSeparableConvolutions, FuseAttention, FuseIntegerProducts)
MOST_ROUNDS = 10


@dataclass(frozen=True)
class PassRun:
    """One run of one pass, for reports."""

    name: str
    nodes_before: int
    nodes_after: int
    modified: bool


#: What looks at a graph behind each run of a pass.
Watcher: TypeAlias = Callable[[PassRun, Graph], None]


def order() -> tuple[type[Pass], ...]:
    """All passes in the order in which they run. What those of other packages leave behind is removed last, too."""
    return (*ORDER[:-1], *(kind for kind in _others() if not kind.lowers), ORDER[-1])


def lowering() -> tuple[type[Pass], ...]:
    """All passes for targets that ask for them."""
    return (*LOWERING, *(kind for kind in _others() if kind.lowers))


def available() -> tuple[type[Pass], ...]:
    """Every pass once, in order."""
    return tuple(dict.fromkeys((*FROM_QUANTISED, *order(), *lowering())))


def failures() -> tuple[Problem, ...]:
    """What could not be had of other packages."""
    return _offered().failures


def _others() -> tuple[type[Pass], ...]:
    return tuple(one.value for one in _offered().extensions)


def _offered() -> Found:
    return offered.offered(tuple(dict.fromkeys((*FROM_QUANTISED, *ORDER, *LOWERING))))


def select(names: Sequence[str] | None) -> tuple[Pass, ...]:
    """The passes of these names, in the pipeline's order; all for None. ConfigError for names that do not exist."""
    if names is None:
        return tuple(kind() for kind in order())
    known = [kind.name for kind in available()]
    for name in names:
        if name not in known:
            near = difflib.get_close_matches(name, known, n=1)
            raise ConfigError(
                f"there is no pass '{name}'",
                rule=f"passes: {', '.join(known)}",
                remedy=f"did you mean '{near[0]}'?" if near else "",
            )
    return tuple(kind() for kind in order() if kind.name in names)


def optimise(
    graph: Graph,
    names: Sequence[str] | None = None,
    after: Watcher | None = None,
    *,
    quantised: bool = False,
) -> tuple[PassRun, ...]:
    """Improves the graph in place; `names` picks passes (None: all, none: an empty list).

    `quantised`: the graph is to be stored in a few bits; what it says of that becomes ranges first. `after` is called
    behind each run of a pass with the graph, for those who want to look at it.
    """
    passes = [
        FuseActivations(bounds_only=True) if quantised and isinstance(one, FuseActivations) else one
        for one in select(names)
    ]
    verify(graph)
    runs = [_run(kind(), graph, after) for kind in FROM_QUANTISED] if quantised else []
    seen: set[int] = set()
    for _ in range(MOST_ROUNDS):
        with editor.keeping(graph):
            round_ = [_run(one, graph, after) for one in passes]
        runs += round_
        structure = _structure(graph)
        if not any(run.modified for run in round_) or structure in seen:
            break
        seen.add(structure)
    return tuple(runs)


def lower(graph: Graph, wanted: Sequence[str], names: Sequence[str] | None = None) -> Graph:
    """A copy of an optimised graph behind those passes of `lowering` that a target wants.

    `names` picks passes as for `optimise`.
    """
    lowered = graph.clone()
    for kind in lowering():
        if kind.name in wanted and (names is None or kind.name in names):
            _run(kind(), lowered, None)
    return lowered


def in_half(graph: Graph, objection: Objection) -> tuple[Kept, ...]:
    """Lets an optimised graph, in place, compute in half precision; the nodes that do not, and why."""
    halving = ComputeInHalf(objection)
    for one in (halving, MergeCasts(), RemoveNoops(), ShareCommon(), RemoveDeadCode()):
        _run(one, graph, None)
    return tuple(halving.kept)


def in_few_bits(
    graph: Graph, objection: store_quantised.Objection, real: Mapping[Value, str] | None = None
) -> tuple[Kept, ...]:
    """Stores in a few bits, in place, what an optimised graph has ranges of; the nodes that it leaves, and why.

    `real`: the first results of nodes that are left in any case, and why.
    """
    storing = StoreQuantised(objection, real)
    for one in (storing, ShareCommon(), RemoveDeadCode()):
        _run(one, graph, None)
    return tuple(storing.kept)


def _structure(graph: Graph) -> int:
    """A number that is the same for graphs with the same nodes: two passes may undo each other's work for ever."""
    numbers = {value: index for index, value in enumerate(graph.values())}
    return hash(tuple((node.op, *(numbers[value] for value in (*node.inputs, *node.outputs))) for node in graph.walk()))


def _run(one: Pass, graph: Graph, after: Watcher | None) -> PassRun:
    before = sum(1 for _ in graph.walk())
    try:
        modified = one.run(graph)
    except TooIntricateError as problem:
        raise UnsupportedError(
            f"the pass '{one.name}': {problem}",
            where=Where(model=graph.name),
            remedy=f"fix the input shapes, or remove '{one.name}' from graph_optimize_options",
        ) from problem
    except LatheError:
        raise
    except Exception as problem:
        package = offered.package_of(one)
        if not package:
            raise
        raise _defect(one, f"failed: {type(problem).__name__}: {problem}") from problem
    if modified or offered.package_of(one):
        editor.forget(graph)
    if modified:
        try:
            verify(graph)
        except GraphError as problem:
            raise _defect(one, f"produced an invalid graph: {problem.problems[0].render()}") from problem
    for complaint in one.ensures(graph):
        raise _defect(one, f"produced an invalid graph: {complaint}")
    done = PassRun(one.name, before, sum(1 for _ in graph.walk()), modified)
    if after is not None:
        after(done, graph)
    return done


def _defect(one: Pass, complaint: str) -> InternalError:
    package = offered.package_of(one)
    of = f" of the package '{package}'" if package else ""
    to = f" to the authors of '{package}'" if package else ""
    return InternalError(
        f"the pass '{one.name}'{of} {complaint}",
        remedy=f"report this with the model{to}; until it is fixed, remove '{one.name}' from graph_optimize_options",
    )
