"""Small networks in all forms that are imported. Each writes its model and `tensors.npz`, its inputs and outputs.

The keys of `tensors.npz` are `in/<name>` and `out/<name>`, by the names that the importer gives.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import keras
import numpy as np
import tensorflow as tf
from tensorflow.python.framework.convert_to_constants import convert_variables_to_constants_v2

from tests.oracles.tensorflow.cases import Array, real

v1 = tf.compat.v1


def _save(folder: Path, inputs: Mapping[str, Array], outputs: Mapping[str, Any]) -> None:
    arrays = {f"in/{name}": array for name, array in inputs.items()}
    arrays |= {f"out/{name}": np.asarray(array) for name, array in outputs.items()}
    np.savez(folder / "tensors.npz", **arrays)  # type: ignore[arg-type]


def _net() -> keras.Model:
    """Convolutions, depthwise ones, normalisations, a residual, a squeeze and excitation, and a classifier."""
    layers, start = keras.layers, keras.Input((16, 16, 3), batch_size=1, name="image")
    x = layers.Rescaling(1 / 127.5, offset=-1)(start)
    x = layers.Conv2D(8, 3, strides=2, padding="same", use_bias=True)(x)
    x = layers.ReLU(6.0)(layers.BatchNormalization()(x))
    y = layers.DepthwiseConv2D(3, padding="same", use_bias=False)(x)
    y = layers.Activation("swish")(layers.BatchNormalization()(y))
    gate = layers.GlobalAveragePooling2D(keepdims=True)(y)
    gate = layers.Conv2D(8, 1, activation="sigmoid")(layers.Conv2D(4, 1, activation="relu")(gate))
    y = layers.Multiply()([y, gate])
    x = layers.Add()([x, layers.BatchNormalization()(layers.Conv2D(8, 1, use_bias=False)(y))])
    x = layers.MaxPooling2D(3, strides=2, padding="same")(x)
    x = layers.Conv2DTranspose(6, 3, strides=2, padding="same")(layers.ZeroPadding2D(((0, 1), (1, 0)))(x))
    x = layers.Dense(5)(layers.GlobalAveragePooling2D()(layers.LayerNormalization()(x)))
    model = keras.Model(start, layers.Softmax()(x))
    dice = np.random.default_rng(3)
    model.set_weights([dice.uniform(0.2, 0.7, array.shape).astype(np.float32) for array in model.get_weights()])
    return model


_PICTURE = real(1, 16, 16, 3, low=0, high=255)


def saved_keras(folder: Path) -> None:
    """What `model.export` writes."""
    model = _net()
    _save(folder, {"image": _PICTURE}, {"output_0": model(_PICTURE, training=False)})
    model.export(folder / "model", format="tf_saved_model", verbose=False)


def frozen_keras(folder: Path) -> None:
    """The same with the weights in the graph, binary and as text."""
    model = _net()
    call = tf.function(lambda image: model(image, training=False))
    frozen = convert_variables_to_constants_v2(call.get_concrete_function(tf.TensorSpec((1, 16, 16, 3), name="image")))
    _save(folder, {"image": _PICTURE}, {"Identity": frozen(tf.constant(_PICTURE))[0]})
    tf.io.write_graph(frozen.graph, str(folder), "model.pb", as_text=False)


class _Module(tf.Module):
    """Variables of several types that are read in branches, in a loop, and by their rows."""

    def __init__(self) -> None:
        super().__init__()
        self.weight = tf.Variable(real(4, 4, low=-0.5, high=0.5))
        self.rows = tf.Variable(real(6, 4, seed=1))
        self.half = tf.Variable(tf.constant(real(4, seed=2), tf.float16))
        self.count = tf.Variable(3)

    @tf.function(input_signature=[tf.TensorSpec((2, 4), tf.float32, "x"), tf.TensorSpec((2,), tf.int32, "places")])
    def __call__(self, x: Any, places: Any) -> dict[str, Any]:
        x = x + tf.gather(self.rows, places)
        branch = tf.cond(tf.reduce_sum(x) > 0, lambda: x @ self.weight, lambda: x * 2)
        times = tf.reduce_max(places) + self.count

        def again(step: Any, value: Any) -> Any:
            return step + 1, self._twice(value) @ self.weight

        _, looped = tf.while_loop(lambda step, _: step < times, again, (0, branch))
        return {"looped": looped, "branch": branch + tf.cast(self.half, tf.float32)}

    @tf.function
    def _twice(self, value: Any) -> Any:
        return value * 2


def saved_module(folder: Path) -> None:
    """Functions in functions, a branch and a loop that the data decides, two outputs."""
    module, x, places = _Module(), real(2, 4, seed=5), np.array([1, 4], np.int32)
    _save(folder, {"x": x, "places": places}, module(tf.constant(x), tf.constant(places)))
    tf.saved_model.save(module, str(folder / "model"))


def saved_v1(folder: Path) -> None:
    """Variables of TensorFlow 1, which are restored by their names, and a branch that a constant decides."""
    x = real(2, 3, seed=6)
    with tf.Graph().as_default(), v1.Session() as session:
        start = v1.placeholder(tf.float32, (2, 3), "x")
        v1.disable_control_flow_v2()
        old = v1.get_variable("old", initializer=real(3, 5), use_resource=False)
        new = v1.get_variable("scope/new", initializer=real(5, seed=1), use_resource=True)
        training = v1.placeholder_with_default(False, (), "training")
        y = v1.nn.bias_add(start @ old, new)
        y = v1.cond(training, lambda: y + tf.random.normal((2, 5)), lambda: tf.nn.relu(y))
        y = v1.cond(tf.reduce_sum(y) > 0, lambda: y + 1, lambda: y * 3)
        session.run(v1.global_variables_initializer())
        _save(folder, {"data": x}, {"result": session.run(y, {start: x})})
        v1.saved_model.simple_save(session, str(folder / "model"), {"data": start}, {"result": y})
        v1.enable_control_flow_v2()


def dilated(folder: Path) -> None:
    """Dilated convolutions as older layers wrote them, and a normalisation in single steps; as text."""
    x = real(1, 9, 10, 3, seed=7)
    with tf.Graph().as_default() as graph, v1.Session() as session:
        start = v1.placeholder(tf.float32, x.shape, "x")
        blocks, pads, crops = tf.constant([2, 3]), tf.constant([[2, 3], [3, 5]]), tf.constant([[0, 1], [0, 2]])
        y = tf.raw_ops.SpaceToBatchND(input=start, block_shape=blocks, paddings=pads)
        y = tf.nn.conv2d(y, real(3, 3, 3, 4), 1, "VALID")
        y = tf.raw_ops.BatchToSpaceND(input=y, block_shape=blocks, crops=crops, name="convolved")
        mean, variance, scale, shift = (real(4, seed=seed, low=0.2, high=2.0) for seed in range(4))
        y = tf.nn.batch_normalization(y, mean, variance, shift, scale, 1e-3)
        y = tf.raw_ops.SpaceToBatchND(input=tf.nn.relu(y), block_shape=tf.constant([2, 2]), paddings=[[2, 3], [2, 2]])
        y = tf.nn.depthwise_conv2d(y, real(3, 3, 4, 1, seed=8), (1, 1, 1, 1), "VALID")
        y = tf.raw_ops.BatchToSpaceND(input=y, block_shape=tf.constant([2, 2]), crops=[[0, 1], [0, 0]], name="y")
        _save(folder, {"x": x}, {"y": session.run(y, {start: x})})
        tf.io.write_graph(graph, str(folder), "model.pbtxt", as_text=True)


def _recurrent() -> keras.Model:
    """Layers that Keras writes as loops over lists."""
    start = keras.Input((7, 3), batch_size=2, name="image")
    x = keras.layers.LSTM(4, return_sequences=True)(start)
    x = keras.layers.GRU(5, return_sequences=True, go_backwards=True)(x)
    x = keras.layers.Bidirectional(keras.layers.LSTM(3))(x)
    model = keras.Model(start, x)
    dice = np.random.default_rng(4)
    model.set_weights([dice.uniform(-0.7, 0.7, array.shape).astype(array.dtype) for array in model.get_weights()])
    return model


_STEPS = real(2, 7, 3, seed=9)


def saved_recurrent(folder: Path) -> None:
    model = _recurrent()
    _save(folder, {"image": _STEPS}, {"output_0": model(_STEPS, training=False)})
    model.export(folder / "model", format="tf_saved_model", verbose=False)


def frozen_recurrent(folder: Path) -> None:
    """With loops as TensorFlow 1 has them, which is what freezing makes of others."""
    _freeze(folder, _recurrent(), True)


def plain_recurrent(folder: Path) -> None:
    """With loops as functions."""
    _freeze(folder, _recurrent(), False)


def _freeze(folder: Path, model: keras.Model, lower: bool) -> None:
    call = tf.function(lambda image: model(image, training=False))
    spec = tf.TensorSpec(_STEPS.shape, name="image")
    frozen = convert_variables_to_constants_v2(call.get_concrete_function(spec), lower_control_flow=lower)
    _save(folder, {"image": _STEPS}, {"Identity": frozen(tf.constant(_STEPS))[0]})
    tf.io.write_graph(frozen.graph, str(folder), "model.pb", as_text=False)


class _Lists(tf.Module):
    """Arrays of tensors that are read, written in other orders, cut off by the data, pushed and popped."""

    @tf.function(input_signature=[tf.TensorSpec((5, 3), tf.float32, "x"), tf.TensorSpec((), tf.int32, "stop")])
    def __call__(self, x: Any, stop: Any) -> dict[str, Any]:
        given = tf.TensorArray(tf.float32, 5, element_shape=(3,)).unstack(x)
        turned = tf.TensorArray(tf.float32, 5)
        early = tf.TensorArray(tf.float32, 5, element_shape=(3,))
        for step in tf.range(5):
            turned = turned.write(4 - step, given.read(step) * 2)
        step, last = 0, tf.zeros((3,))
        while step < 5 and tf.reduce_sum(last) < 3 and step < stop:
            last = last + given.read(step) ** 2
            early = early.write(step, last)
            step += 1
        pushed = tf.raw_ops.EmptyTensorList(element_shape=[3], max_num_elements=-1, element_dtype=tf.float32)
        for row in range(3):
            pushed = tf.raw_ops.TensorListPushBack(input_handle=pushed, tensor=x[row])
        pushed, popped = tf.raw_ops.TensorListPopBack(input_handle=pushed, element_shape=[3], element_dtype=tf.float32)
        length = tf.raw_ops.TensorListLength(input_handle=pushed)
        shape = tf.raw_ops.TensorListElementShape(input_handle=pushed, shape_type=tf.int32)
        return {
            "turned": turned.stack(),
            "early": early.stack(),
            "picked": given.gather([3, 0]),
            "popped": popped + tf.cast(length + tf.reduce_sum(shape), tf.float32),
        }


def saved_lists(folder: Path) -> None:
    module, x, stop = _Lists(), real(5, 3, seed=10), np.array(4, np.int32)
    _save(folder, {"x": x, "stop": stop}, module(tf.constant(x), tf.constant(stop)))
    tf.saved_model.save(module, str(folder / "model"))


def loops_v1(folder: Path) -> None:
    """A loop in a loop with a branch, arrays of TensorFlow 1, and a loop that the data ends."""
    x = real(4, 3, seed=11)
    with tf.Graph().as_default() as graph, v1.Session() as session:
        v1.disable_control_flow_v2()
        start = v1.placeholder(tf.float32, x.shape, "x")
        given = tf.TensorArray(tf.float32, 4).unstack(start)
        weight = tf.constant(real(3, 3, seed=12, low=-0.6, high=0.6))

        def inner(count: Any, row: Any) -> Any:
            return count + 1, tf.cond(tf.reduce_sum(row) > 0, lambda: tf.tanh(row @ weight), lambda: row - 0.25)

        def outer(step: Any, state: Any, made: Any) -> Any:
            _, row = v1.while_loop(lambda count, _: count < 2, inner, (0, state + given.read(step)[None]))
            return step + 1, row, made.write(step, row)

        made = tf.TensorArray(tf.float32, 4)
        _, state, made = v1.while_loop(lambda step, *_: step < 4, outer, (0, tf.zeros((1, 3)), made))
        _, grown = v1.while_loop(
            lambda _, y: tf.reduce_max(y) < 9, lambda n, y: (n + 1, y * 1.5), (0, tf.abs(state) + 1)
        )
        v1.enable_control_flow_v2()
        outputs = {"all": tf.identity(made.stack(), "all"), "grown": tf.identity(grown, "grown")}
        results = session.run(outputs, {start: x})
        _save(folder, {"x": x}, results)
        tf.io.write_graph(graph, str(folder), "model.pb", as_text=False)


def spectra(folder: Path) -> None:
    """Short-time transforms, magnitudes in decibels of mel, phases, and the way back to a signal."""
    signal, other = real(2, 600), real(2, 7, 20)

    def compute(x: Any, y: Any) -> dict[str, Any]:
        frames = tf.signal.stft(x, frame_length=100, frame_step=40, fft_length=128, pad_end=True)
        mel = tf.signal.linear_to_mel_weight_matrix(20, 65, 8000, 80.0, 3800.0)
        loud = tf.math.log(tf.matmul(tf.abs(frames), mel) + 1e-6)
        turned = tf.signal.fft(tf.complex(y, y[:, ::-1]))
        back = tf.signal.inverse_stft(frames, 100, 40, fft_length=128)
        outputs = {
            "mel": loud,
            "phase": tf.math.angle(frames[:, 2:5, 3]),
            "back": back,
            "first_part": tf.math.real(tf.transpose(turned, (0, 2, 1))),
            "second_part": tf.math.imag(tf.math.conj(tf.signal.ifft(turned)[..., 1:])),
            "plain": tf.abs(tf.signal.rfft(y)),
        }
        return {name: tf.identity(value, name) for name, value in outputs.items()}

    with tf.Graph().as_default() as graph, v1.Session() as session:
        x, y = (v1.placeholder(tf.float32, array.shape, name) for name, array in (("x", signal), ("y", other)))
        outputs = compute(x, y)
        _save(folder, {"x": signal, "y": other}, session.run(outputs, {x: signal, y: other}))
        frozen = v1.graph_util.extract_sub_graph(graph.as_graph_def(), list(outputs))
        tf.io.write_graph(frozen, str(folder), "model.pb", as_text=False)


def cosines(folder: Path) -> None:
    """Cosine transforms, which compute with complex numbers, and others that do."""
    signal = real(2, 5, 12)

    def compute(x: Any) -> dict[str, Any]:
        y = tf.complex(x, x[:, ::-1])
        waves = tf.constant([[1 + 2j, -0.5j, 3], [0.25, 2 - 1j, 1j]], tf.complex64)
        outputs = {f"dct{kind}": tf.signal.dct(x, kind, norm="ortho" if kind > 1 else None) for kind in (1, 2, 3, 4)}
        outputs |= {
            "cepstrum": tf.signal.mfccs_from_log_mel_spectrograms(x)[..., :6],
            "back": tf.signal.idct(x, norm="ortho"),
            "sides": tf.abs(y[..., :3] * waves[:, None] / y[..., 3:6]),
            "averages": tf.math.imag(tf.reduce_mean(tf.square(y), axis=1)),
            "analytic": tf.math.real(tf.signal.ifft(tf.signal.fft(tf.cast(x, tf.complex64)) * (2 - 1j))),
            "same": tf.cast(
                tf.cast(x, tf.complex64) * tf.constant(2j, tf.complex64) * tf.constant(-0.5j, tf.complex64), tf.float32
            ),
        }
        return {name: tf.identity(value, name) for name, value in outputs.items()}

    with tf.Graph().as_default() as graph, v1.Session() as session:
        x = v1.placeholder(tf.float32, signal.shape, "x")
        outputs = compute(x)
        _save(folder, {"x": signal}, session.run(outputs, {x: signal}))
        frozen = v1.graph_util.extract_sub_graph(graph.as_graph_def(), list(outputs))
        tf.io.write_graph(frozen, str(folder), "model.pb", as_text=False)


NETWORKS: Mapping[str, Callable[[Path], None]] = {
    "saved_keras": saved_keras,
    "frozen_keras": frozen_keras,
    "saved_module": saved_module,
    "saved_v1": saved_v1,
    "dilated": dilated,
    "saved_recurrent": saved_recurrent,
    "frozen_recurrent": frozen_recurrent,
    "plain_recurrent": plain_recurrent,
    "saved_lists": saved_lists,
    "loops_v1": loops_v1,
    "spectra": spectra,
    "cosines": cosines,
}
