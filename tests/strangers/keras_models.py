"""Random Keras models, written in every format that a model leaves Keras in, with what Keras computes.

Runs where TensorFlow is installed (drawers.py starts it); the folders that it writes are judged where Lathe is
(stored.read_case).
"""

from __future__ import annotations

import json
import logging
import os
import random
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")
os.environ.setdefault("TF_ENABLE_ONEDNN_OPTS", "0")
os.environ.setdefault("CUDA_VISIBLE_DEVICES", "-1")

import keras
import numpy as np
import tensorflow as tf
from keras import layers
from tensorflow.python.framework.convert_to_constants import convert_variables_to_constants_v2

from tests.strangers.recipes import Recipe, Written, serve

_RUNS = 2
_CALIBRATION = 20  # inputs
_LEAST_LIKE = 0.95  # cosine of LiteRT's result of 8 bits and the real one
_FEWEST_STEPS = 16  # of a number that is divided by
_MOST_STEPS = 6  # of the output, that models of 8 bits may differ by
_UNITS = ["relu", "sigmoid", "tanh", "elu", "selu", "softplus", "swish", "gelu", "leaky_relu", "relu6", "hard_sigmoid"]
_MOST_ELEMENTS = 20_000


def _sizes(rng: random.Random, count: int, low: int, high: int) -> tuple[int, ...]:
    return tuple(rng.randint(low, high) for _ in range(count))


def _convolution(rng: random.Random, x: Any) -> Any:
    rank = len(x.shape) - 2
    if not 1 <= rank <= 3:
        return None
    least = min(x.shape[1:-1])
    kernel = _sizes(rng, rank, 1, min(3, least))
    strides, dilation = (rng.randint(1, 2), 1) if rng.random() < 0.6 else (1, rng.randint(1, 2))
    padding = rng.choice(["same", "valid"]) if max(kernel) * dilation <= least else "same"
    common = {"padding": padding, "activation": rng.choice([None, None, *_UNITS])}
    kind = rng.choice(["conv", "conv", "depthwise", "separable", "transpose"])
    suffix = f"{rank}D"
    if kind == "depthwise" and rank < 3:
        made = getattr(layers, f"DepthwiseConv{suffix}")
        return made(kernel[0], strides=strides, depth_multiplier=rng.randint(1, 2), **common)(x)
    if kind == "separable" and rank < 3:
        return getattr(layers, f"SeparableConv{suffix}")(rng.randint(1, 6), kernel[0], strides=strides, **common)(x)
    if kind == "transpose":
        return getattr(layers, f"Conv{suffix}Transpose")(rng.randint(1, 5), kernel, strides=strides, **common)(x)
    if padding == "same" and dilation > 1 and rank == 1 and rng.random() < 0.3:
        common["padding"] = "causal"
    groups = rng.choice([n for n in range(1, x.shape[-1] + 1) if x.shape[-1] % n == 0])
    made = getattr(layers, f"Conv{suffix}")
    return made(groups * rng.randint(1, 3), kernel, strides=strides, dilation_rate=dilation, groups=groups, **common)(x)


def _pool(rng: random.Random, x: Any) -> Any:
    rank = len(x.shape) - 2
    if not 1 <= rank <= 3:
        return None
    if rng.random() < 0.2:
        keep = rng.random() < 0.5
        return getattr(layers, f"Global{rng.choice(['Max', 'Average'])}Pooling{rank}D")(keepdims=keep)(x)
    size = rng.randint(1, min(3, *x.shape[1:-1]))
    made = getattr(layers, f"{rng.choice(['Max', 'Average'])}Pooling{rank}D")
    return made(size, strides=rng.choice([None, 1, 2]), padding=rng.choice(["same", "valid"]))(x)


def _edge(rng: random.Random, x: Any) -> Any:
    rank = len(x.shape) - 2
    if not 1 <= rank <= 3:
        return None
    pairs = [(rng.randint(0, 1), rng.randint(0, 2)) for _ in range(rank)]
    if rng.random() < 0.5 and min(x.shape[1:-1]) > 3:
        return getattr(layers, f"Cropping{rank}D")(pairs if rank > 1 else pairs[0])(x)
    return getattr(layers, f"ZeroPadding{rank}D")(pairs if rank > 1 else pairs[0])(x)


def _grown(rng: random.Random, x: Any) -> Any:
    rank = len(x.shape) - 2
    if rank == 2:
        how = rng.choice(["nearest", "bilinear"])
        return layers.UpSampling2D(_sizes(rng, 2, 1, 2), interpolation=how)(x)
    return getattr(layers, f"UpSampling{rank}D")(2)(x) if rank in (1, 3) else None


def _dense(rng: random.Random, x: Any) -> Any:
    return layers.Dense(rng.randint(1, 8), activation=rng.choice([None, *_UNITS, "softmax"]))(x)


def _normal(rng: random.Random, x: Any) -> Any:
    kind = rng.choice(["batch", "layer", "group", "unit", "rms"])
    if kind == "batch":
        return layers.BatchNormalization(axis=rng.choice([-1, -1, 1]), scale=rng.random() < 0.7)(x)
    if kind == "layer":
        return layers.LayerNormalization(axis=rng.choice([-1, -1, [1, -1] if len(x.shape) > 2 else -1]))(x)
    if kind == "group" and len(x.shape) > 2:
        groups = rng.choice([n for n in range(1, x.shape[-1] + 1) if x.shape[-1] % n == 0])
        return layers.GroupNormalization(groups)(x)
    return layers.UnitNormalization()(x) if kind == "unit" else layers.RMSNormalization()(x)


def _unit(rng: random.Random, x: Any) -> Any:
    kind = rng.choice(["word", "word", "prelu", "leaky", "elu", "relu", "softmax"])
    if kind == "word":
        return layers.Activation(rng.choice(_UNITS))(x)
    if kind == "prelu":
        shared = list(range(1, len(x.shape) - 1)) if rng.random() < 0.5 else None
        return layers.PReLU(alpha_initializer="uniform", shared_axes=shared or None)(x)
    if kind == "leaky":
        return layers.LeakyReLU(0.2)(x)
    if kind == "elu":
        return layers.ELU(0.7)(x)
    if kind == "relu":
        return layers.ReLU(max_value=rng.choice([None, 1.5]), negative_slope=rng.choice([0, 0.1]), threshold=0)(x)
    return layers.Softmax(axis=rng.choice([-1, 1]))(x)


def _shape(rng: random.Random, x: Any) -> Any:
    kind = rng.choice(["flatten", "reshape", "permute", "repeat"])
    if kind == "flatten":
        return layers.Flatten()(x)
    if kind == "permute":
        order = list(range(1, len(x.shape)))
        rng.shuffle(order)
        return layers.Permute(order)(x)
    if kind == "repeat":
        return layers.RepeatVector(rng.randint(1, 4))(x) if len(x.shape) == 2 else None
    total = int(np.prod(x.shape[1:]))
    first = rng.choice([n for n in range(1, total + 1) if total % n == 0])
    return layers.Reshape(rng.choice([(first, total // first), (first, -1), (1, first, total // first)]))(x)


def _recurrent(rng: random.Random, x: Any) -> Any:
    if len(x.shape) != 3 or x.shape[1] > 12:
        return None
    made = rng.choice([layers.LSTM, layers.GRU, layers.SimpleRNN])
    words: dict[str, Any] = {"return_sequences": rng.random() < 0.6, "go_backwards": rng.random() < 0.2}
    if made is layers.GRU:
        words["reset_after"] = rng.random() < 0.5
    layer = made(rng.randint(1, 6), **words)
    if rng.random() < 0.35 and not words["go_backwards"]:
        layer = layers.Bidirectional(layer, merge_mode=rng.choice(["concat", "sum", "ave", "mul"]))
    return layer(x)


def _attention(rng: random.Random, x: Any) -> Any:
    if len(x.shape) != 3:
        return None
    # Where heads have one number each, Keras 3.15 may add their biases along the sequence (keras.ops.add).
    return layers.MultiHeadAttention(rng.randint(1, 3), rng.randint(2, 4))(x, x)


def _slices(rng: random.Random, x: Any) -> Any:
    axis = rng.randrange(1, len(x.shape))
    step = rng.choice([1, 2, -1])
    cut: list[Any] = [slice(None)] * len(x.shape)
    cut[axis] = slice(rng.randint(0, 1) if step > 0 and x.shape[axis] > 1 else None, None, step)
    return x[tuple(cut)]


def _meeting(rng: random.Random, x: Any, values: list[Any]) -> Any:
    alike = [value for value in values if value.shape == x.shape]
    kind = rng.choice(
        [layers.Add, layers.Multiply, layers.Average, layers.Maximum, layers.Subtract, layers.Concatenate]
    )
    others = [rng.choice(alike) for _ in range(1 if kind is layers.Subtract else rng.randint(1, 2))]
    if kind is layers.Concatenate:
        return kind(axis=rng.randrange(1, len(x.shape)))([x, *others])
    return kind()([x, *others])


_GROWERS: list[Callable[..., Any]] = (
    [_convolution] * 4
    + [_pool, _pool, _edge, _grown, _dense, _dense, _normal]
    + [
        _normal,
        _unit,
        _unit,
        _shape,
        _recurrent,
        _recurrent,
        _attention,
        _slices,
    ]
)


def model_of(recipe: Recipe) -> tuple[Any, list[Any]]:
    """The functional model of a recipe, and the value behind each step."""
    rng = recipe.rng("model")
    keras.utils.set_random_seed(recipe.seed)
    keras.backend.clear_session()
    rank = rng.choice([1, 2, 2, 3, 3, 3, 4])
    drawn = (rng.randint(1, 3), *_sizes(rng, rank - 1, 3, 9 if rank < 4 else 5), rng.randint(1, 6))
    first = keras.Input(batch_shape=recipe.shape or drawn, name="x")
    values = [first]
    for step in range(rng.randint(3, 10)):
        made = None if step in recipe.dropped else _step(recipe.rng(step), values)
        fits = made is not None and 0 < int(np.prod(made.shape)) <= _MOST_ELEMENTS and len(made.shape) <= 5
        values.append(made if fits else values[-1])
    model = keras.Model(first, layers.Activation("linear")(values[-1]))
    numbers = np.random.default_rng(recipe.seed)
    model.set_weights([_weights(numbers, weight) for weight in model.weights])
    return model, values[1:]


def _step(rng: random.Random, values: list[Any]) -> Any:
    x = rng.choice(values[-3:])
    return _meeting(rng, x, values) if rng.random() < 0.15 else rng.choice(_GROWERS)(rng, x)


def _weights(drawn: np.random.Generator, weight: Any) -> Any:
    if "seed" in weight.path:
        return np.asarray(weight)
    low = 0.5 if "variance" in weight.path else -0.6
    return drawn.uniform(low, low + 1.2, weight.shape).astype("float32")


def write(recipe: Recipe, folder: Path, forms: list[str]) -> Written:
    """One folder for each form."""
    model, values = model_of(recipe)
    shape = tuple(model.inputs[0].shape)
    rng = np.random.default_rng(recipe.seed)
    feeds = [rng.uniform(-2, 2, shape).astype("float32") for _ in range(_RUNS)]
    results = [np.asarray(model(x, training=False)) for x in feeds]
    for form in forms:
        place = folder / form
        place.mkdir(parents=True, exist_ok=True)
        try:
            about, expected = _save(model, form, place, feeds, results)
            if form == "int8" and _likeness(expected, results) < _LEAST_LIKE:
                raise ValueError("8 bits cannot hold what is computed: a step inside of it decides the outputs")
        except Exception as problem:  # a form that TensorFlow itself cannot write this model in, or not run
            (place / "skipped.txt").write_text(f"{type(problem).__name__}: {problem}"[:500], encoding="utf-8")
            continue
        arrays: dict[str, Any] = {f"{run}_in_0": x for run, x in enumerate(feeds)}
        arrays |= {f"{run}_out_0": y for run, y in enumerate(expected)}
        if form == "int8":
            arrays |= {f"{run}_real_0": np.asarray(model(x, training=False)) for run, x in enumerate(feeds)}
        np.savez(place / "runs.npz", **arrays)
        about = {"inputs": 1, "outputs": 1, "runs": _RUNS, "rtol": 5e-4, **about}
        (place / "case.json").write_text(json.dumps(about), encoding="utf-8")
    listed = [f"{layer.name}: {layer.output.shape} {_told(layer)}" for layer in model.layers]
    return Written(shape, tuple(tuple(value.shape) for value in values), "\n".join(listed))


def _likeness(some: list[Any], others: list[Any]) -> float:
    """The cosine of two results."""
    a, b = (np.concatenate([np.ravel(y) for y in results]).astype("float64") for results in (some, others))
    length = float(np.linalg.norm(a) * np.linalg.norm(b))
    return float(a @ b) / length if length else 1.0


def _told(layer: Any) -> str:
    """The settings of a layer that may matter to readers."""
    kinds = (bool, int, float, str, tuple, list)
    kept = {key: value for key, value in layer.get_config().items() if isinstance(value, kinds)}
    return " ".join(f"{key}={value}" for key, value in kept.items() if key not in ("name", "trainable"))


def _save(
    model: Any, form: str, folder: Path, feeds: list[Any], results: list[Any]
) -> tuple[dict[str, Any], list[Any]]:
    """Writes a model; what its case says of it, and the expected results."""
    if form in ("keras", "h5"):
        model.save(folder / f"model.{form}")
        return {"platform": "keras", "file": f"model.{form}"}, results
    spec = tf.TensorSpec(model.inputs[0].shape, tf.float32, name="x")
    if form == "saved":
        model.export(folder / "model", verbose=False, input_signature=[spec])
        return {"platform": "tensorflow", "file": "model"}, results
    concrete = tf.function(lambda x: model(x, training=False)).get_concrete_function(spec)
    frozen = convert_variables_to_constants_v2(concrete)
    if form == "frozen":
        (folder / "model.pb").write_bytes(frozen.graph.as_graph_def().SerializeToString())
        return {"platform": "tensorflow", "file": "model.pb"}, results
    converter = tf.lite.TFLiteConverter.from_concrete_functions([frozen], model)
    about: dict[str, Any] = {"platform": "tflite", "file": "model.tflite"}
    if form == "int8":
        _in_few_bits(converter, feeds)
    content = converter.convert()
    (folder / "model.tflite").write_bytes(content)
    if form == "int8":
        _refuse_uncertain_roots(content, feeds)
        results, step = _run_in_few_bits(content, feeds, "BUILTIN_WITHOUT_DEFAULT_DELEGATES")
        once, _ = _run_in_few_bits(content, feeds, "BUILTIN")
        if max(np.max(np.abs(a - b)) for a, b in zip(results, once, strict=True)) > _MOST_STEPS * step:
            results = once  # LiteRT's own kernels round products twice; those of XNNPACK, and Lathe, do it once
        about |= {"quantised": True, "rtol": 0.0, "atol": _MOST_STEPS * step}
    return about, results


def _refuse_uncertain_roots(content: bytes, feeds: list[Any]) -> None:
    """Refuses a file with 1 / sqrt(x) where x is a few steps from 0: how it is rounded decides the outputs."""
    running = tf.lite.Interpreter(
        model_content=content,
        experimental_op_resolver_type=tf.lite.experimental.OpResolverType.BUILTIN_WITHOUT_DEFAULT_DELEGATES,
        experimental_preserve_all_tensors=True,
    )
    running.allocate_tensors()
    offsets = {one["index"]: one["quantization"][1] for one in running.get_tensor_details()}
    operators = running._get_ops_details()  # no public name
    roots = [operator["inputs"][0] for operator in operators if operator["op_name"] == "RSQRT"]
    for x in feeds if roots else ():
        running.set_tensor(running.get_input_details()[0]["index"], x)
        running.invoke()
        if any(np.min(running.get_tensor(root).astype(int) - offsets[root]) < _FEWEST_STEPS for root in roots):
            raise ValueError("8 bits cannot hold what is computed: the root of a number of few steps")


def _in_few_bits(converter: Any, feeds: list[Any]) -> None:
    """Lets a converter write a model of 8 bits, whose input and output stay real."""
    rng = np.random.default_rng(0)
    samples = [*feeds, *(rng.uniform(-2, 2, feeds[0].shape).astype("float32") for _ in range(_CALIBRATION))]
    converter.optimizations = [tf.lite.Optimize.DEFAULT]
    converter.representative_dataset = lambda: ([sample] for sample in samples)
    converter.target_spec.supported_ops = [tf.lite.OpsSet.TFLITE_BUILTINS_INT8]


def _run_in_few_bits(content: bytes, feeds: list[Any], kernels: str) -> tuple[list[Any], float]:
    """What LiteRT computes with these kernels, and the step between neighbouring outputs."""
    kind = tf.lite.experimental.OpResolverType[kernels]
    running = tf.lite.Interpreter(
        model_content=content, experimental_op_resolver_type=kind, experimental_preserve_all_tensors=True
    )
    running.allocate_tensors()
    results = []
    for x in feeds:
        running.set_tensor(running.get_input_details()[0]["index"], x)
        running.invoke()
        results.append(np.array(running.get_tensor(running.get_output_details()[0]["index"])))
    known = np.unique(np.concatenate([y.ravel() for y in results]))
    apart = np.diff(known)
    steps = apart[apart > np.ptp(known) / 1000]  # of 8 bits; what is less is rounding of the numbers themselves
    least = float(steps.min(initial=max(float(np.ptp(known)), 1e-3)))
    return results, max(least, _stored_step(running) * float(np.ptp(known)))


def _stored_step(running: Any) -> float:
    """The step of the last number that is stored, as a share of all that it spans: floats behind it bend the steps."""
    told = {one["index"]: one for one in running.get_tensor_details()}
    for operator in reversed(running._get_ops_details()):  # no public name
        index = operator["outputs"][0]
        scale = told[index]["quantization"][0]
        if scale and (span := float(np.ptp(running.get_tensor(index).astype("float64")))):
            return 1 / span
    return 0.0


def main() -> None:
    warnings.simplefilter("ignore")
    logging.disable(logging.WARNING)
    serve(write)


if __name__ == "__main__":
    main()
