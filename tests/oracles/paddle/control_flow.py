"""Programs with branches, loops and arrays of tensors: as Paddle 3 saves them, run by `layers`, and those of Paddle 2.

`BLOCKS` are programs of Paddle 2, built operator by operator: its own functions for them are gone in Paddle 3.
"""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import numpy as np
import paddle

from tests.oracles.paddle.archive import Archive
from tests.oracles.paddle.programs import Array, random

BELOW = np.full((2, 3), -1, np.float32)


def number(value: int) -> Array:
    return np.array([value])


# -- Paddle 3 ----------------------------------------------------------------------------------------------------------
def _choice(x: Any) -> list[Any]:
    """Branches inside of a branch, with two results."""

    def above() -> tuple[Any, Any]:
        return paddle.static.nn.cond(paddle.max(x) > 1.5, lambda: x * 3, lambda: x * 2), paddle.sum(x)

    return list(paddle.static.nn.cond(paddle.mean(x) > 0, above, lambda: (x - 1, paddle.mean(x))))


def _repeat(x: Any, n: Any) -> list[Any]:
    """As often as an input says."""
    start = [paddle.full([1], 0, "int64"), x]
    return [paddle.static.nn.while_loop(lambda i, y: i < n, lambda i, y: [i + 1, paddle.tanh(y) * 1.5 + x], start)[1]]


def _collected(x: Any, limit: Any) -> list[Any]:
    """States of a recurrence, in an array."""
    index, state = paddle.full([1], 0, "int64"), paddle.full([1, 3], 0.5)
    array = paddle.tensor.create_array("float32")
    paddle.tensor.array_write(state, index, array)

    def body(index: Any, state: Any, array: Any) -> list[Any]:
        state = paddle.tanh(state * 0.5 + paddle.gather(x, index))
        index = index + 1
        return [index, state, paddle.tensor.array_write(state, index, array)]

    _, _, array = paddle.static.nn.while_loop(lambda i, s, a: i < limit, body, [index, state, array])
    joined, sizes = paddle.tensor.manipulation.tensor_array_to_tensor(array, axis=1, use_stack=True)
    second = paddle.tensor.array_read(array, paddle.full([1], 1, "int64"))
    return [joined, second, paddle.tensor.array_length(array), sizes]


def _always_four(x: Any) -> list[Any]:
    return _collected(x, paddle.full([1], 4, "int64"))


def _at_most_four(x: Any, n: Any) -> list[Any]:
    return _collected(x, paddle.minimum(n, paddle.full([1], 4, "int64")))


def _grown(x: Any) -> list[Any]:
    """A tensor that is longer each time, for a number of iterations that is known."""
    start = [paddle.full([1], 0, "int64"), x]
    return [
        paddle.static.nn.while_loop(
            lambda i, y: i < 3, lambda i, y: [i + 1, paddle.concat([y, x * paddle.cast(i, "float32")])], start
        )[1]
    ]


#: Builders, and the inputs of each run.
PROGRAMS: Mapping[str, tuple[Callable[..., list[Any]], tuple[Mapping[str, Array], ...]]] = {
    "choice": (_choice, ({"x": BELOW}, {"x": -BELOW}, {"x": -2 * BELOW})),
    "repeat": (_repeat, ({"x": random(2, 3), "n": number(3)}, {"x": random(2, 3), "n": number(0)})),
    "always_four": (_always_four, ({"x": random(4, 3)},)),
    "at_most_four": (_at_most_four, tuple({"x": random(4, 3), "n": number(count)} for count in (2, 4, 9))),
    "grown": (_grown, ({"x": random(2, 3)},)),
}


def save_programs(archive: Archive) -> None:
    paddle.enable_static()
    for name, (build, runs) in PROGRAMS.items():
        program, startup = paddle.static.Program(), paddle.static.Program()
        with paddle.static.program_guard(program, startup), tempfile.TemporaryDirectory() as folder:
            inputs = [paddle.static.data(key, array.shape, str(array.dtype)) for key, array in runs[0].items()]
            results = build(*inputs)
            executor = paddle.static.Executor(paddle.CPUPlace())
            path = Path(folder) / name
            paddle.static.save_inference_model(str(path), inputs, results, executor, program=program)
            archive.put(f"{name}/model.json", path.with_suffix(".json").read_bytes())
            _save_runs(archive, name, program, runs, results)


def _save_runs(archive: Archive, name: str, program: Any, runs: Any, results: Any) -> None:
    executor = paddle.static.Executor(paddle.CPUPlace())
    for index, feeds in enumerate(runs):
        for place, result in enumerate(executor.run(program, feed=dict(feeds), fetch_list=results)):
            archive.put_array(f"{name}/{index}_out_{place}.npy", np.asarray(result))
        for key, array in feeds.items():
            archive.put_array(f"{name}/{index}_in_{key}.npy", array)


# -- Paddle 2 ----------------------------------------------------------------------------------------------------------
def _as_list(names: Any) -> list[str]:
    return [names] if isinstance(names, str) else list(names)


class _Builder:
    """Appends operators to the block that is open."""

    def __init__(self, program: Any) -> None:
        self.program = program

    def tensor(self, name: str, dtype: str = "float32", shape: Any = None, **more: Any) -> str:
        self.program.current_block().create_var(name=name, dtype=dtype, shape=shape, **more)
        return name

    def array(self, name: str) -> str:
        kind = paddle.base.core.VarDesc.VarType.DENSE_TENSOR_ARRAY
        self.program.current_block().create_var(name=name, type=kind, dtype="float32")
        return name

    def append(self, op: str, inputs: Mapping[str, Any], outputs: Mapping[str, Any], **attributes: Any) -> None:
        block = self.program.current_block()
        slots = [
            {slot: [block._find_var_recursive(name) for name in _as_list(names)] for slot, names in given.items()}
            for given in (inputs, outputs)
        ]
        block.append_op(type=op, inputs=slots[0], outputs=slots[1], attrs=attributes)

    def constant(self, name: str, value: float, dtype: str = "int64", shape: Any = (1,)) -> str:
        self.tensor(name, dtype, shape)
        code = paddle.base.framework.convert_np_dtype_to_dtype_(dtype)
        self.append("fill_constant", {}, {"Out": name}, shape=list(shape), dtype=code, value=float(value))
        return name

    def block(self, op: str, inputs: Any, outputs: Any, scope: str, build: Callable[[], None], **more: Any) -> None:
        inner = self.program._create_block()
        build()
        self.program._rollback()
        steps = self.program.current_block().create_var(
            name=f"{scope}_{inner.idx}", type=paddle.base.core.VarDesc.VarType.STEP_SCOPES
        )
        self.append(op, inputs, {**outputs, scope: [steps.name]}, sub_block=inner, **more)


def _two_blocks(make: _Builder) -> list[str]:
    """One block for each truth value, and a selection."""
    make.constant("zero", 0, "float32")
    make.tensor("mean", "float32", (1,))
    make.append("reduce_mean", {"X": "x"}, {"Out": "mean"}, dim=[0, 1], keep_dim=False, reduce_all=True)
    for name in ("above", "not_above"):
        make.tensor(name, "bool", (1,))
    make.append("greater_than", {"X": "mean", "Y": "zero"}, {"Out": "above"})
    for name in ("one", "other", "y"):
        make.tensor(name, "float32", (2, 3))

    def scaled(target: str, factor: float) -> Callable[[], None]:
        def build() -> None:
            make.tensor(f"{target}_inside", "float32", (2, 3))
            make.append("scale", {"X": "x"}, {"Out": f"{target}_inside"}, scale=factor, bias=0.5)
            make.append("assign", {"X": f"{target}_inside"}, {"Out": target})

        return build

    scalar = {"is_scalar_condition": True}
    make.block(
        "conditional_block", {"Cond": ["above"], "Input": ["x"]}, {"Out": ["one"]}, "Scope", scaled("one", 2), **scalar
    )
    make.append("logical_not", {"X": "above"}, {"Out": "not_above"})
    make.block(
        "conditional_block",
        {"Cond": ["not_above"], "Input": ["x"]},
        {"Out": ["other"]},
        "Scope",
        scaled("other", -1),
        **scalar,
    )
    make.tensor("mask", "int32", (1,))
    make.append("cast", {"X": "above"}, {"Out": "mask"}, in_dtype=0, out_dtype=2)
    make.append("select_input", {"X": ["other", "one"], "Mask": "mask"}, {"Out": "y"})
    return ["y"]


def _one_block(make: _Builder) -> list[str]:
    """A variable that is only written if the sum is large."""
    make.constant("limit", 4, "float32")
    make.tensor("sum", "float32", (1,))
    make.append("reduce_sum", {"X": "x"}, {"Out": "sum"}, dim=[0, 1], keep_dim=False, reduce_all=True)
    make.tensor("large", "bool", (1,))
    make.append("less_than", {"X": "limit", "Y": "sum"}, {"Out": "large"})
    make.tensor("y", "float32", (2, 3))
    make.append("scale", {"X": "x"}, {"Out": "y"}, scale=10.0)
    make.block(
        "conditional_block",
        {"Cond": ["large"], "Input": ["x"]},
        {"Out": ["y"]},
        "Scope",
        lambda: make.append("elementwise_add", {"X": "y", "Y": "x"}, {"Out": "y"}),
        is_scalar_condition=True,
    )
    return ["y"]


def _array_in_loop(make: _Builder) -> list[str]:
    """An array that is written for the first time in the loop, up to the smaller one of an input and 5."""
    make.constant("five", 5)
    make.tensor("end", "int64", (1,))
    make.append("elementwise_min", {"X": "n", "Y": "five"}, {"Out": "end"})
    make.constant("i", 0)
    make.tensor("state", "float32", (2, 3))
    make.append("assign", {"X": "x"}, {"Out": "state"})
    make.tensor("goes_on", "bool", (1,))
    make.append("less_than", {"X": "i", "Y": "end"}, {"Out": "goes_on"})
    make.array("states")

    def body() -> None:
        make.append("write_to_array", {"X": "state", "I": "i"}, {"Out": "states"})
        make.tensor("before", "float32", (2, 3))
        make.append("read_from_array", {"X": "states", "I": "i"}, {"Out": "before"})
        make.tensor("next", "float32", (2, 3))
        make.append("elementwise_add", {"X": "before", "Y": "x"}, {"Out": "next"})
        make.append("assign", {"X": "next"}, {"Out": "state"})
        make.append("increment", {"X": "i"}, {"Out": "i"}, step=1.0)
        make.append("less_than", {"X": "i", "Y": "end"}, {"Out": "goes_on"})

    changed = ["i", "state", "goes_on", "states"]
    make.block(
        "while",
        {"Condition": ["goes_on"], "X": ["x", "end", *changed]},
        {"Out": changed},
        "StepScopes",
        body,
        is_test=True,
    )
    for name, dtype in (("y", "float32"), ("sizes", "int32"), ("length", "int64")):
        make.tensor(name, dtype)
    outputs = {"Out": "y", "OutIndex": "sizes"}
    make.append("tensor_array_to_tensor", {"X": "states"}, outputs, axis=0, use_stack=False)
    make.append("lod_array_length", {"X": "states"}, {"Out": "length"})
    return ["y", "length", "state"]


BLOCKS: Mapping[str, tuple[Callable[[_Builder], list[str]], tuple[Mapping[str, Array], ...]]] = {
    "two_blocks": (_two_blocks, ({"x": BELOW}, {"x": -BELOW})),
    "one_block": (_one_block, ({"x": BELOW}, {"x": -BELOW})),
    "array_in_loop": (_array_in_loop, tuple({"x": random(2, 3), "n": number(count)} for count in (1, 3, 9))),
}


def save_blocks(archive: Archive, stripped: Callable[[bytes], bytes], translated: Callable[..., None]) -> None:
    for name, (build, runs) in BLOCKS.items():
        program, startup = paddle.static.Program(), paddle.static.Program()
        with paddle.static.program_guard(program, startup):
            block = program.global_block()
            inputs = [
                block.create_var(
                    name=key, shape=array.shape, dtype=str(array.dtype), need_check_feed=True, is_data=True
                )
                for key, array in runs[0].items()
            ]
            results = [block.var(result) for result in build(_Builder(program))]
            normal = paddle.static.normalize_program(program, inputs, results, skip_prune_program=True)
            archive.put(f"{name}/model.pdmodel", stripped(normal.desc.serialize_to_string()))
            translated(name, normal, archive)
            _save_runs(archive, name, program, runs, results)


# -- beam search -------------------------------------------------------------------------------------------------------
_BEAM, _WORDS, _END = 3, 8, 1


def _best_candidates(make: _Builder, through_parents: bool) -> None:
    """What a step computes: states, the candidates of all rows, and the search among these."""
    for array, name, dtype in (("ids", "pre_ids", "int64"), ("scores", "pre_scores", "float32")):
        make.tensor(name, dtype, (-1, 1))
        make.append("read_from_array", {"X": array, "I": "i"}, {"Out": name})
    for name in ("pre_state", "expanded", "word", "both", "current", "logits", "shares", "sure", "logs"):
        make.tensor(name, "float32", (-1, 4))
    for name in ("flat", "sums", "with_rows", "kept"):
        make.tensor(name, "float32", (-1, 1))
    for name in ("candidates", "chosen"):
        make.tensor(name, "int64", (-1, 1))
    make.append("read_from_array", {"X": "states", "I": "i"}, {"Out": "pre_state"})
    followed = "pre_state"
    if not through_parents:
        followed = "expanded"
        make.append("sequence_expand", {"X": "pre_state", "Y": "pre_scores"}, {"Out": "expanded"}, ref_level=-1)
    make.append("lookup_table", {"W": "table", "Ids": "pre_ids"}, {"Out": "word"}, padding_idx=-1)
    make.append("elementwise_add", {"X": followed, "Y": "word"}, {"Out": "both"}, axis=-1)
    make.append("tanh", {"X": "both"}, {"Out": "current"})
    make.append("matmul_v2", {"X": "current", "Y": "weight"}, {"Out": "logits"}, trans_x=False, trans_y=False)
    make.append("softmax", {"X": "logits"}, {"Out": "shares"}, axis=-1)
    make.append("top_k", {"X": "shares"}, {"Out": "sure", "Indices": "candidates"}, k=4)
    make.append("log", {"X": "sure"}, {"Out": "logs"})
    make.append("reshape", {"X": "pre_scores"}, {"Out": "flat"}, shape=[-1])
    make.append("elementwise_add", {"X": "logs", "Y": "flat"}, {"Out": "sums"}, axis=0)
    make.append("lod_reset", {"X": "sums", "Y": "pre_scores"}, {"Out": "with_rows"})
    make.tensor("parents", "int32", (-1,))
    make.append(
        "beam_search",
        {"pre_ids": "pre_ids", "pre_scores": "pre_scores", "ids": "candidates", "scores": "with_rows"},
        {"selected_ids": "chosen", "selected_scores": "kept", "parent_idx": "parents"},
        level=0,
        beam_size=_BEAM,
        end_id=_END,
        is_accumulated=True,
    )


def _written_step(make: _Builder, through_parents: bool) -> None:
    """What a step keeps, and whether there is another one."""
    written = "current"
    if through_parents:
        written = "picked"
        make.tensor("picked", "float32", (-1, 4))
        make.append("gather", {"X": "current", "Index": "parents"}, {"Out": "picked"}, axis=0)
    make.append("increment", {"X": "i"}, {"Out": "i"}, step=1.0)
    for array, name in (("states", written), ("ids", "chosen"), ("scores", "kept")):
        make.append("write_to_array", {"X": name, "I": "i"}, {"Out": array})
    for name in ("is_short", "is_over", "is_left"):
        make.tensor(name, "bool", (1,))
    make.append("less_than", {"X": "i", "Y": "end"}, {"Out": "is_short"})
    make.append("is_empty", {"X": "chosen"}, {"Out": "is_over"})
    make.append("logical_not", {"X": "is_over"}, {"Out": "is_left"})
    make.append("logical_and", {"X": "is_short", "Y": "is_left"}, {"Out": "goes_on"})


def _beam_search(make: _Builder, through_parents: bool = False) -> list[str]:
    """A decoder of Paddle 1: states, words and scores in arrays, up to seven steps or until all sentences have ended.

    The state of a hypothesis follows it through offsets, or through the numbers of the rows that are continued.
    """
    make.constant("end", 7)
    make.constant("i", 0)
    for array, name in (("ids", "first_ids"), ("scores", "first_scores"), ("states", "state")):
        make.array(array)
        make.append("write_to_array", {"X": name, "I": "i"}, {"Out": array})
    make.tensor("goes_on", "bool", (1,))
    make.append("less_than", {"X": "i", "Y": "end"}, {"Out": "goes_on"})

    def body() -> None:
        _best_candidates(make, through_parents)
        _written_step(make, through_parents)

    changed = ["i", "goes_on", "ids", "scores", "states"]
    given = ["table", "weight", "end", *changed]
    make.block("while", {"Condition": ["goes_on"], "X": given}, {"Out": changed}, "StepScopes", body, is_test=True)
    make.tensor("sentences", "int64", (-1,))
    make.tensor("sentence_scores", "float32", (-1,))
    outputs = {"SentenceIds": "sentences", "SentenceScores": "sentence_scores"}
    make.append("beam_search_decode", {"Ids": "ids", "Scores": "scores"}, outputs, beam_size=_BEAM, end_id=_END)
    return ["sentences", "sentence_scores"]


def _search_through_parents(make: _Builder) -> list[str]:
    return _beam_search(make, through_parents=True)


def _decoded(seed: int, ends: float = 0.0) -> Mapping[str, Array]:
    """`ends`: how much more likely the end is than any other word."""
    weight = random(4, _WORDS, seed=seed) * 2
    table = random(_WORDS, 4, seed=seed + 1)
    state = random(1, 4, seed=seed + 2)
    if ends:
        table[:, 0], state[0, 0] = 2, 2  # the first number of a state is next to 1
        weight[0] = 0
        weight[0, _END] = ends
    return {
        "first_ids": np.zeros((1, 1), np.int64),
        "first_scores": np.zeros((1, 1), np.float32),
        "state": state,
        "table": table,
        "weight": weight,
    }


_RUNS = (_decoded(3), _decoded(10), _decoded(20), _decoded(30, 4.0), _decoded(40, 8.0))
#: Programs that select rows by two levels of offsets: each row of what is fed first is a sentence and a hypothesis.
SEARCHES: Mapping[str, tuple[Callable[[_Builder], list[str]], tuple[Mapping[str, Array], ...]]] = {
    "beam_search": (_beam_search, _RUNS),
    "beam_search_parents": (_search_through_parents, _RUNS),
}


def save_searches(archive: Archive, stripped: Callable[[bytes], bytes]) -> None:
    place = paddle.CPUPlace()
    for name, (build, runs) in SEARCHES.items():
        program, startup = paddle.static.Program(), paddle.static.Program()
        with paddle.static.program_guard(program, startup):
            block = program.global_block()
            inputs = [
                block.create_var(
                    name=key, shape=array.shape, dtype=str(array.dtype), need_check_feed=False, is_data=True
                )
                for key, array in runs[0].items()
            ]
            results = [block.var(result) for result in build(_Builder(program))]
            normal = paddle.static.normalize_program(program, inputs, results, skip_prune_program=True)
            archive.put(f"{name}/model.pdmodel", stripped(normal.desc.serialize_to_string()))
            for index, feeds in enumerate(runs):
                fed = {}
                for key, array in feeds.items():
                    fed[key] = paddle.base.core.DenseTensor()
                    fed[key].set(array, place)
                    if key.startswith("first"):
                        fed[key].set_lod([[0, 1], [0, 1]])
                    archive.put_array(f"{name}/{index}_in_{key}.npy", array)
                with paddle.static.scope_guard(paddle.static.Scope()):  # arrays keep elements of the run before
                    executor = paddle.static.Executor(place)
                    made = executor.run(program, feed=fed, fetch_list=results, return_numpy=False)
                for number, result in enumerate(made):
                    archive.put_array(f"{name}/{index}_out_{number}.npy", np.array(result))
                archive.put_array(f"{name}/{index}_offsets.npy", np.array(made[0].lod()[1], np.int64))
