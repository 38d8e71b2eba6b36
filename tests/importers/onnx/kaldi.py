"""Makes models as the converter kaldi-onnx writes them, and what a network of them gives by its definition."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import onnx
from onnx import helper, numpy_helper

from buildtool.ir.operator import Array
from tests.importers.onnx.harness import random

DOMAIN = "ai.kaldi.dnn"


def node(op: str, inputs: Sequence[str], outputs: Sequence[str], **attributes: Any) -> onnx.NodeProto:
    return helper.make_node(op, list(inputs), list(outputs), name=f"{op}.{outputs[0]}", domain=DOMAIN, **attributes)


def model_of(
    nodes: Sequence[onnx.NodeProto], inputs: Mapping[str, Array], outputs: Sequence[str], weights: Mapping[str, Array]
) -> onnx.ModelProto:
    """A model that names no operator set but Kaldi's, and lists its weights among the inputs."""
    infos = [
        helper.make_tensor_value_info(name, helper.np_dtype_to_tensor_dtype(array.dtype), array.shape)
        for name, array in (*weights.items(), *inputs.items())
    ]
    held = [numpy_helper.from_array(array, name) for name, array in weights.items()]
    graph = helper.make_graph(list(nodes), "kaldi", infos, [onnx.ValueInfoProto(name=name) for name in outputs], held)
    return helper.make_model(graph, opset_imports=[helper.make_opsetid(DOMAIN, 7)], ir_version=4)


def sigmoid(x: Array) -> Array:
    return np.asarray(1 / (1 + np.exp(-x)))


@dataclass(frozen=True)
class Lstm:
    """A layer with delays: its weights by the names of Kaldi's parts, and what it does, one frame after the other."""

    features: int = 5
    cells: int = 4
    output: int = 6
    fed_from: int = 1
    fed: int = 3
    out_delay: int = 3
    cell_delay: int = 3
    factor: int = 1
    scale: float = 1.0
    biases: tuple[bool, bool] = (True, True)
    batch: tuple[int, ...] = (2,)
    frames: int = 11
    forward: Sequence[int] | None = None  # all frames
    extra: Mapping[str, Any] = field(default_factory=dict)

    def taken(self) -> Sequence[int]:
        return range(self.frames) if self.forward is None else self.forward

    def x(self) -> Array:
        return random(*self.batch, self.frames, self.features, seed=1)

    def states(self) -> tuple[Array, Array]:
        """What was given and kept before the chunk, the oldest frame first."""
        out, cell = self.out_delay // self.factor, self.cell_delay // self.factor
        return random(*self.batch, out, self.fed, seed=2), random(*self.batch, cell, self.cells, seed=3)

    def weights(self) -> dict[str, Array]:
        made = {
            "gates": random(4 * self.cells, self.features + self.fed, seed=4, low=-1, high=1),
            "peepholes": random(3, self.cells, seed=5),
            "projection": random(self.output, self.cells, seed=6),
        }
        sizes = {"gates_bias": 4 * self.cells, "projection_bias": self.output}
        for (name, size), present in zip(sizes.items(), self.biases, strict=True):
            if present:
                made[name] = random(size, seed=7)
        return made

    def caches(self) -> tuple[list[int], list[int]]:
        """The last frames: as many as the next chunk reads."""
        count = len(self.taken())
        return tuple(list(range(count - state.shape[-2], count)) for state in self.states())  # type: ignore[return-value]

    def node(self, x: str = "x", outputs: Sequence[str] = ("y", "out", "cell")) -> onnx.NodeProto:
        out_cache, cell_cache = self.caches()
        attributes: dict[str, Any] = {
            "prev_out_delay": -self.out_delay,
            "prev_cell_delay": -self.cell_delay,
            "prev_out_offset": self.fed_from,
            "prev_out_dim": self.fed,
            "prev_cell_dim": self.cells,
            "scale": self.scale,
            "subsample_factor": self.factor,
            "chunk_size": self.frames,
            "forward_indexes": list(self.taken()),
            "out_cache_indexes": out_cache,
            "cell_cache_indexes": cell_cache,
        }
        attributes.update({name: 1 for name, present in zip(("bias_a", "bias_b"), self.biases, strict=True) if present})
        attributes.update(self.extra)
        held = {name: value for name, value in attributes.items() if value not in (None, [])}
        return node("DynamicLSTM", [x, "out_before", "cell_before", *self.weights()], outputs, **held)

    def expected(self, x: Array) -> tuple[Array, Array, Array]:
        """Outputs, and what is fed back and kept of every frame."""
        made = [self._of_one(*parts) for parts in zip(*(self._flat(a) for a in (x, *self.states())), strict=True)]
        y, fed, cell = (np.stack(part) for part in zip(*made, strict=True))
        return (
            y.reshape(*self.batch, *y.shape[1:]),
            fed.reshape(*self.batch, *fed.shape[1:]),
            cell.reshape(*self.batch, *cell.shape[1:]),
        )

    def _flat(self, array: Array) -> Array:
        return array.reshape(-1, *array.shape[-2:])

    def _of_one(self, x: Array, out_before: Array, cell_before: Array) -> tuple[Array, Array, Array]:
        w = self.weights()
        zero = np.zeros(1, np.float32)
        fed, cells = [*out_before], [*cell_before]
        outputs: list[Any] = []
        for place in self.taken():
            row = np.concatenate([x[place], fed[len(outputs)]])
            i, f, c, o = np.split(w["gates"] @ row + w.get("gates_bias", zero), 4)
            w_i, w_f, w_o = w["peepholes"]
            before = cells[len(outputs)]
            cell = sigmoid(f + w_f * before) * before + sigmoid(i + w_i * before) * np.tanh(c)
            hidden = sigmoid(o + w_o * cell) * np.tanh(cell)
            y = w["projection"] @ hidden + w.get("projection_bias", zero)
            outputs.append(y)
            cells.append(cell * self.scale)
            fed.append(y[self.fed_from : self.fed_from + self.fed] * self.scale)
        return np.stack(outputs), np.stack(fed[len(out_before) :]), np.stack(cells[len(cell_before) :])


@dataclass(frozen=True)
class Network:
    """Time delays, a layer with a memory of six frames, every third frame, and words: a chunk of 12 frames.

    Input frames are at the times -2 to 13, and each chunk has a vector of its speaker (times -12, 0, 12).
    """

    lstm: Lstm = Lstm(features=7, cells=6, output=8, fed_from=0, fed=4, batch=(1,), frames=12)
    words: int = 9

    def inputs(self) -> dict[str, Array]:
        out, cell = self.lstm.states()
        return {
            "input": random(1, 16, 5, seed=11),
            "ivector": random(1, 3, 3, seed=12),
            "out_before": out,
            "cell_before": cell,
        }

    def weights(self) -> dict[str, Array]:
        return {
            "w1": random(7, 5 * 3 + 3, seed=13, low=-1, high=1),
            "b1": random(7, seed=14),
            "mean": random(7, seed=15),
            "var": random(7, seed=16, low=0.1),
            "w2": random(self.words, 8, seed=17),
            "b2": random(self.words, seed=18),
            **self.lstm.weights(),
        }

    def model(self) -> onnx.ModelProto:
        context = (-2, 0, 2)
        spliced = [time + offset + 2 for time in range(12) for offset in context]
        speakers = [(-12, 0, 12).index(time // 12 * 12) for time in range(12)]
        nodes = [
            node("Splice", ["input"], ["spliced"], context=list(context), forward_indexes=spliced),
            node("ReplaceIndex", ["ivector"], ["speaker"], chunk_size=12, forward_indexes=speakers),
            node("Append", ["spliced", "speaker"], ["both"], axis=-1),
            node("Gemm", ["both", "w1", "b1"], ["first"], transB=1),
            node("Relu", ["first"], ["relu"]),
            node("BatchNorm", ["relu", "mean", "var"], ["normal"], dim=7, block_dim=7, epsilon=1e-3, test_mode=1),
            self.lstm.node("normal", ("memory", "out", "cell")),
            node("Subsample", ["memory"], ["third"], forward_indexes=[0, 3, 6, 9]),
            node("TargetRMSNorm", ["third"], ["rms"], target_rms=0.5, block_dim=8),
            node("Gemm", ["rms", "w2", "b2"], ["last"], transB=1),
            node("LogSoftmax", ["last"], ["output"]),
        ]
        return model_of(nodes, self.inputs(), ["output", "out", "cell"], self.weights())

    def expected(self) -> dict[str, Array]:
        feeds, w = self.inputs(), self.weights()
        frames = {time: feeds["input"][0, time + 2] for time in range(-2, 14)}
        rows = [
            np.concatenate([*(frames[time + offset] for offset in (-2, 0, 2)), feeds["ivector"][0, 1]])
            for time in range(12)
        ]
        first = np.maximum(np.stack(rows) @ w["w1"].T + w["b1"], 0)
        normal = (first - w["mean"]) / np.sqrt(np.maximum(w["var"], 0) + 1e-3)
        memory, fed, cell = self.lstm.expected(normal[None])
        third = memory[0, ::3]
        rms = 0.5 * third / np.sqrt((third**2).mean(axis=-1, keepdims=True))
        last = rms @ w["w2"].T + w["b2"]
        output = last - np.log(np.exp(last).sum(axis=-1, keepdims=True))
        return {"output": output[None], "out": fed[:, -3:], "cell": cell[:, -3:]}
