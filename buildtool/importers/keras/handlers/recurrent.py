"""Recurrent layers in one direction, in both, and layers that are called for each step by itself.

Their states begin at zero whenever the model runs, or are tensors that the layer is called with.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from buildtool.importers.builder import Tensor
from buildtool.importers.keras.activation import hard_sigmoid_slope
from buildtool.importers.keras.registry import handler
from buildtool.importers.keras.values import (
    array,
    floating,
    keyword,
    only,
    optional_weight,
    plus,
    refuse_keywords,
    tensors,
    weight,
)
from buildtool.importers.model import SourceBody
from buildtool.importers.spatial import NO_ACTIVATION, channels
from buildtool.importers.step import Step
from buildtool.ir.attributes import AttrValue
from buildtool.ir.dims import product
from buildtool.ir.operator import Array

#: Functions of gates: the graph's word, and its two parameters.
_FUNCTIONS = {
    "linear": ("affine", 1.0, 0.0),
    "relu": ("relu", 0.0, 0.0),
    "tanh": ("tanh", 0.0, 0.0),
    "sigmoid": ("sigmoid", 0.0, 0.0),
    "elu": ("elu", 1.0, 0.0),
    "softsign": ("softsign", 0.0, 0.0),
    "softplus": ("softplus", 0.0, 0.0),
}


def _functions(step: Step, *settings: tuple[str, str]) -> dict[str, AttrValue]:
    """The functions of a layer's gates; each setting comes with its default."""
    attributes: dict[str, AttrValue] = {}
    alphas, betas = [0.0] * 3, [0.0] * 3
    for place, (key, default) in enumerate(settings):
        name = step.text(key, default)
        if name == "hard_sigmoid":
            known = "hard_sigmoid", hard_sigmoid_slope(step), 0.5
        elif name in _FUNCTIONS:
            known = _FUNCTIONS[name]
        else:
            step.unsupported(f"the activation '{name}' in a recurrent layer", f"use one of {', '.join(_FUNCTIONS)}")
        attributes[f"function_{'fgh'[place]}"], alphas[place], betas[place] = known
    return attributes | {"alphas": tuple(alphas), "betas": tuple(betas), "clip": 0.0}


def _known(step: Step, name: str) -> Array:
    content = weight(step, name).content
    if content is None or content.ndim not in (1, 2) or content.dtype != np.float32:
        step.malformed(f"the weights '{name}' are not a table of floats")
    return content


def _recurrent(step: Step, gates: int, order: Sequence[int]) -> Array:
    """The weights of the state: [gates * units, units]."""
    content = _blocks(step, "recurrent_kernel", gates, order)
    if content.ndim != 2:
        step.malformed(f"the weights 'recurrent_kernel' have rank {content.ndim}, not 2")
    return content


def _blocks(step: Step, name: str, gates: int, order: Sequence[int]) -> Array:
    """Weights [in, gates * units] as [gates * units, in], with the gates in another order."""
    content = _known(step, name)
    if content.shape[-1] % gates:
        step.malformed(f"the weights '{name}' have the shape {list(content.shape)}, for {gates} gates")
    parts = np.split(content, gates, axis=-1)
    return np.ascontiguousarray(np.concatenate([parts[place] for place in order], axis=-1).T)


def _steps_first(step: Step) -> tuple[Tensor, list[Tensor]]:
    """The input as [steps, batch, features], and the first states, where the layer is called with some."""
    given = [floating(step, tensor) for tensor in tensors(step)]
    refuse_keywords(step, ("initial_state",))
    states = given[1:]
    for word in ("initial_state", "initial_state.0", "initial_state.1"):
        found = keyword(step, word)
        states += [] if found is None else [floating(step, found)]
    x = given[0]
    if x.rank != 3:
        step.malformed(f"its input has rank {x.rank}, not 3")
    return (x if step.integer("time_major", 0) else step.transpose(x, (1, 0, 2))), states


def _share(step: Step, x: Tensor, kernel: Array, bias: Array | None) -> Tensor:
    """What the weights make of the input, at all steps at once."""
    rest = () if bias is None else (step.constant(bias),)
    return step.emit("fully_connected", x, step.constant(kernel), *rest, **NO_ACTIVATION)


def _first_states(step: Step, given: Sequence[Tensor], count: int, units: int) -> list[Tensor]:
    if len(given) not in (0, count):
        step.malformed(f"it is called with {len(given)} states, and has {count}")
    return list(given) or [step.filled((1, units), 0, array(step, 0.0).dtype) for _ in range(count)]


def _results(step: Step, outputs: Sequence[Tensor]) -> list[Tensor]:
    """The sequence or the last step, and the last states. `outputs`: all steps, and all last states."""
    states = list(outputs[1:])
    y = states[0]
    if step.integer("return_sequences", 0):
        y = outputs[0]
        if step.integer("go_backwards", 0):  # the steps in the order in which they were taken
            y = _turned(step, y, 0)
        y = y if step.integer("time_major", 0) else step.transpose(y, (1, 0, 2))
    return [y, *states] if step.integer("return_state", 0) else [y]


def _turned(step: Step, x: Tensor, axis: int) -> Tensor:
    """The last place along an axis first."""
    return step.emit(
        "slice",
        x,
        starts=tuple(dim - 1 if place == axis else 0 for place, dim in enumerate(x.shape)),
        steps=tuple(-1 if place == axis else 1 for place in range(x.rank)),
        sizes=x.shape,
    )


def _reverse(step: Step) -> bool:
    return bool(step.integer("go_backwards", 0))


@handler("LSTM")
def lstm(step: Step) -> list[Tensor]:
    """Keras has the gates i, f, c, o, the graph i, o, f, c."""
    x, given = _steps_first(step)
    order = (0, 3, 1, 2)
    kernel, recurrent = _blocks(step, "kernel", 4, order), _recurrent(step, 4, order)
    bias = _blocks(step, "bias", 4, order) if optional_weight(step, "bias") is not None else None
    functions = _functions(step, ("recurrent_activation", "sigmoid"), ("activation", "tanh"), ("activation", "tanh"))
    states = _first_states(step, given, 2, recurrent.shape[1])
    operands = (_share(step, x, kernel, bias), step.constant(recurrent), *states)
    return _results(step, step.emit_all("lstm", *operands, reverse=_reverse(step), input_forget=False, **functions))


@handler("GRU")
def gru(step: Step) -> list[Tensor]:
    """With `reset_after` the bias has two rows: that of the input and that of the state."""
    x, given = _steps_first(step)
    order = (0, 1, 2)
    kernel, recurrent = _blocks(step, "kernel", 3, order), _recurrent(step, 3, order)
    units = recurrent.shape[1]
    outer, inner = None, np.zeros(units, np.float32)
    after = bool(step.integer("reset_after", 1 if step.opset >= 3 else 0))
    if optional_weight(step, "bias") is not None:
        both = _known(step, "bias")
        if both.shape != ((2, 3 * units) if after else (3 * units,)):
            step.malformed(f"a bias {list(both.shape)} for {units} units")
        outer = both
        if after:
            inner = np.ascontiguousarray(both[1, 2 * units :])
            outer = both[0] + np.concatenate([both[1, : 2 * units], np.zeros(units, np.float32)])
    functions = _functions(step, ("recurrent_activation", "sigmoid"), ("activation", "tanh"))
    states = _first_states(step, given, 1, units)
    operands = (_share(step, x, kernel, outer), step.constant(recurrent), *states, step.constant(inner))
    return _results(
        step, step.emit_all("gru", *operands, reverse=_reverse(step), linear_before_reset=after, **functions)
    )


@handler("SimpleRNN")
def rnn(step: Step) -> list[Tensor]:
    x, given = _steps_first(step)
    kernel, recurrent = _blocks(step, "kernel", 1, (0,)), _recurrent(step, 1, (0,))
    bias = _known(step, "bias") if optional_weight(step, "bias") is not None else None
    states = _first_states(step, given, 1, recurrent.shape[1])
    operands = (_share(step, x, kernel, bias), step.constant(recurrent), *states)
    return _results(
        step, step.emit_all("rnn", *operands, reverse=_reverse(step), **_functions(step, ("activation", "tanh")))
    )


@handler("StackedRNNCells")
def one_behind_another(step: Step) -> Sequence[Tensor]:
    """Each takes all steps of the one before."""
    x = only(step)
    for name in step.node.bodies:
        made = step.run_body(step.body(name), [x])
        if made is None:
            return ()
        x = made[0]
    return [x]


# -- wrappers ----------------------------------------------------------------------------------------------------------
@handler("Bidirectional")
def both_directions(step: Step) -> Sequence[Tensor]:
    """The layer in one direction, and one in the other whose steps are put into the order of the input again."""
    x = only(step)
    bodies = [step.body(name) for name in ("forward_layer", "backward_layer")]
    made = [step.run_body(body, [x]) for body in bodies]
    if made[0] is None or made[1] is None:
        return ()
    forward, backward = made[0][0], made[1][0]
    if _returns_sequences(bodies[1]):
        backward = _turned(step, backward, 1)
    mode = step.text("merge_mode", "") or None
    states = [*made[0][1:], *made[1][1:]]
    match mode:
        case None:
            return [forward, backward, *states]
        case "concat":
            y = step.emit("concat", forward, backward, axis=forward.rank - 1)
        case "sum":
            y = plus(step, forward, backward)
        case "ave":
            y = step.emit("mul", plus(step, forward, backward), array(step, 0.5))
        case "mul":
            y = step.emit("mul", forward, backward)
        case _:
            step.malformed(f"'merge_mode' is '{mode}'")
    return [y, *states]


def _returns_sequences(body: SourceBody) -> bool:
    return any(bool(node.attributes.get("return_sequences")) for node in body.nodes)


@handler("TimeDistributed")
def each_step(step: Step) -> Sequence[Tensor]:
    """Steps and batch are one axis for the layer inside."""
    x = only(step)
    if x.rank < 3 or channels(step, x, 1) < 1:
        step.malformed(f"its input has rank {x.rank}, not a batch of sequences")
    made = step.run_body(step.body("layer"), [step.reshape(x, (product(x.shape[:2]), *x.shape[2:]))])
    return () if made is None else [step.reshape(y, (*x.shape[:2], *y.shape[1:])) for y in made]
