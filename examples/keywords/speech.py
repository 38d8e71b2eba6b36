"""The synthetic voices and the network of the keywords. `python speech.py` trains it.

A word is spoken by a pulse train through resonators (formants) that move from vowel to vowel, by voices of other pitch,
tempo and size, with noise around it. Needs NumPy and onnx alone, and a few minutes. The seed is fixed; another version
of NumPy or another processor may round differently and give another, equally good network.
"""

from __future__ import annotations

import wave
from pathlib import Path

import numpy as np
import numpy.typing as npt
import onnx
from onnx import TensorProto, helper, numpy_helper

Array = npt.NDArray[np.float32]

HERE = Path(__file__).resolve().parent
RATE = 8000  # samples of a second, which is what the network hears at a time
WINDOW, HOP, BANDS = 256, 128, 24
FRAMES = (RATE - WINDOW) // HOP + 1

#: The first three formants of vowels in Hz, as textbooks of phonetics list them for an adult male voice.
VOWELS = {"i": (270, 2290, 3010), "e": (530, 1840, 2480), "a": (730, 1090, 2440), "o": (570, 840, 2410),
          "u": (300, 870, 2240)}  # fmt: skip
#: The keywords as sequences of sounds; "s" is noise, "-" is silence. Other sequences are no keyword.
WORDS = {"yes": "ies", "no": "no", "wow": "uau", "ahoy": "ao-i"}
OTHERS = ("ae", "ui", "es", "oui", "a-a", "seu", "ou", "ia", "u-e", "sas")
CLASSES = ("nothing", *WORDS)
HIDDEN = 32


def spoken(sounds: str, random: np.random.Generator) -> Array:
    """A second of audio with the word somewhere in it."""
    length, pitch, size = random.uniform(0.10, 0.17), random.uniform(85, 240), random.uniform(0.9, 1.2)
    pieces = [piece(sound, sounds[i - 1 : i] or sound, int(length * RATE), pitch, size, random)
              for i, sound in enumerate(sounds.replace("n", "u"))]  # fmt: skip
    word = np.concatenate(pieces)[: RATE - 800]
    audio = random.normal(0, 1, RATE) * 10 ** random.uniform(-3.5, -2)
    start = int(random.integers(0, RATE - len(word)))
    audio[start : start + len(word)] += word / (np.abs(word).max() + 1e-9) * random.uniform(0.2, 0.9)
    return np.clip(audio, -1, 1).astype(np.float32)


def piece(
    sound: str, before: str, count: int, pitch: float, size: float, random: np.random.Generator
) -> npt.NDArray[np.float64]:
    """One sound; a vowel begins with the formants of the sound in front of it."""
    if sound == "-":
        return np.zeros(count)
    fade = np.minimum(1, np.minimum(np.arange(count), np.arange(count)[::-1]) / (0.01 * RATE))
    if sound == "s":
        return fade * np.diff(random.normal(0, 0.5, count + 1))
    end = np.array(VOWELS[sound], float) * size
    begin = np.array(VOWELS.get(before, VOWELS[sound]), float) * size
    times = np.arange(count) / RATE
    share = np.clip(np.arange(count) / (0.5 * count), 0, 1)[:, None]
    formants = begin * (1 - share) + end * share
    audio = np.zeros(count)
    for harmonic in range(1, int(0.47 * RATE / pitch)):
        frequency = harmonic * pitch
        gains = [1 / (1 + ((frequency - formants[:, k]) / (60 + 40 * k)) ** 2) for k in range(3)]
        audio += sum(gains) / harmonic**0.5 * np.sin(2 * np.pi * frequency * times)
    return fade * audio


def front_end() -> dict[str, Array]:
    """What turns samples into the logarithm of energies in bands: filters of a Fourier transform, and triangles."""
    times, bins = np.arange(WINDOW), np.arange(WINDOW // 2 + 1)
    hann = 0.5 - 0.5 * np.cos(2 * np.pi * times / WINDOW)
    angles = 2 * np.pi * np.outer(bins, times) / WINDOW
    filters = np.concatenate([np.cos(angles) * hann, np.sin(angles) * hann])[:, None] / np.sqrt(WINDOW)
    mels = np.linspace(0, 2595 * np.log10(1 + RATE / 2 / 700), BANDS + 2)
    places = 700 * (10 ** (mels / 2595) - 1) / RATE * WINDOW
    low, middle, high = places[:-2, None], places[1:-1, None], places[2:, None]
    triangles = np.maximum(0, np.minimum((bins - low) / (middle - low), (high - bins) / (high - middle)))
    return {"filters": filters.astype(np.float32), "triangles": triangles.T.astype(np.float32)}


def features(audio: Array, front: dict[str, Array]) -> Array:
    """The same in NumPy, of many seconds: [second, frame, band]."""
    frames = np.lib.stride_tricks.sliding_window_view(audio, WINDOW, axis=1)[:, ::HOP]
    sums = frames @ front["filters"][:, 0].T
    half = WINDOW // 2 + 1
    energy = sums[..., :half] ** 2 + sums[..., half:] ** 2
    return (np.log(energy @ front["triangles"] + 1e-5) / 4).astype(np.float32)


def windows(x: Array, width: int) -> Array:
    """Neighbouring frames side by side."""
    view = np.lib.stride_tricks.sliding_window_view(x, width, axis=1)
    return np.ascontiguousarray(view.transpose(0, 1, 3, 2)).reshape(len(x), view.shape[1], -1)


WIDTHS = (9, 9)  # frames that each convolution sees; the second looks at every second one of the first


def forward(weights: dict[str, Array], x: Array) -> tuple[Array, dict[str, Array]]:
    kept = {"x1": windows(x, WIDTHS[0])[:, ::2]}
    kept["h1"] = np.maximum(kept["x1"] @ weights["w1"] + weights["b1"], 0)
    kept["x2"] = windows(kept["h1"], WIDTHS[1])
    kept["h2"] = np.maximum(kept["x2"] @ weights["w2"] + weights["b2"], 0)
    kept["most"] = kept["h2"].max(1)
    logits = kept["most"] @ weights["w3"] + weights["b3"]
    powers = np.exp(logits - logits.max(1, keepdims=True))
    return powers / powers.sum(1, keepdims=True), kept


def gradients(weights: dict[str, Array], x: Array, labels: npt.NDArray[np.int64]) -> dict[str, Array]:
    chances, kept = forward(weights, x)
    chances[np.arange(len(x)), labels] -= 1
    chances /= len(x)
    found = {"w3": kept["most"].T @ chances, "b3": chances.sum(0)}
    back = (chances @ weights["w3"].T)[:, None] * ((kept["h2"] == kept["most"][:, None]) & (kept["h2"] > 0))
    found |= {"w2": np.tensordot(kept["x2"], back, ((0, 1), (0, 1))), "b2": back.sum((0, 1))}
    spread = (back @ weights["w2"].T).reshape(*back.shape[:2], WIDTHS[1], HIDDEN)
    through = np.zeros_like(kept["h1"])
    for place in range(WIDTHS[1]):
        through[:, place : place + back.shape[1]] += spread[:, :, place]
    through *= kept["h1"] > 0
    return found | {"w1": np.tensordot(kept["x1"], through, ((0, 1), (0, 1))), "b1": through.sum((0, 1))}


def examples(count: int, random: np.random.Generator, front: dict[str, Array]) -> tuple[Array, npt.NDArray[np.int64]]:
    labels = random.integers(0, len(CLASSES), count)
    sounds = [WORDS[CLASSES[label]] if label else str(random.choice(OTHERS)) for label in labels]
    audio = np.stack([spoken(word, random) for word in sounds])
    return features(audio, front), labels


def train(front: dict[str, Array], random: np.random.Generator) -> dict[str, Array]:
    x, labels = examples(2500, random, front)
    shapes = {"w1": (WIDTHS[0] * BANDS, HIDDEN), "w2": (WIDTHS[1] * HIDDEN, HIDDEN), "w3": (HIDDEN, len(CLASSES))}
    weights = {name: random.normal(0, np.sqrt(2 / size[0]), size).astype(np.float32) for name, size in shapes.items()}
    weights |= {f"b{name[1]}": np.zeros(size[1], np.float32) for name, size in shapes.items()}
    means, squares = ({name: np.zeros_like(value) for name, value in weights.items()} for _ in range(2))
    steps = 900
    for step in range(1, steps + 1):
        batch = random.integers(0, len(x), 64)
        shifted = x[batch] + random.normal(0, 0.15, (64, 1, 1)).astype(np.float32)  # a louder or a softer voice
        rate = 3e-3 * 0.5 * (1 + np.cos(np.pi * step / steps))
        for name, gradient in gradients(weights, shifted, labels[batch]).items():
            means[name] += 0.1 * (gradient - means[name])
            squares[name] += 0.001 * (gradient**2 - squares[name])
            mean, square = means[name] / (1 - 0.9**step), squares[name] / (1 - 0.999**step)
            weights[name] -= (rate * mean / (np.sqrt(square) + 1e-8)).astype(np.float32)
        if step % 100 == 0:
            right = (forward(weights, x[:500])[0].argmax(1) == labels[:500]).mean()
            print(f"step {step} of {steps}: {right:.1%} of the training words", flush=True)
    return weights


def network(weights: dict[str, Array], front: dict[str, Array]) -> onnx.ModelProto:
    """The front end and the layers as ONNX: samples in, probabilities out."""
    half = WINDOW // 2 + 1
    constants: dict[str, Array | npt.NDArray[np.int64]] = {
        **front,
        "first": weights["w1"].reshape(WIDTHS[0], BANDS, HIDDEN).transpose(2, 1, 0).copy(),
        "second": weights["w2"].reshape(WIDTHS[1], HIDDEN, HIDDEN).transpose(2, 1, 0).copy(),
        **{name: weights[name] for name in ("b1", "b2", "w3", "b3")},
        "least": np.array([1e-5], np.float32),
        "quarter": np.array([0.25], np.float32),
        "halves": np.array([half, half], np.int64),
        "as_channel": np.array([1], np.int64),
    }
    node = helper.make_node
    nodes = [
        node("Unsqueeze", ["audio", "as_channel"], ["channel"]),
        node("Conv", ["channel", "filters"], ["spectrum"], strides=[HOP], kernel_shape=[WINDOW]),
        node("Mul", ["spectrum", "spectrum"], ["squares"]),
        node("Split", ["squares", "halves"], ["real", "imaginary"], axis=1),
        node("Add", ["real", "imaginary"], ["energy"]),
        node("Transpose", ["energy"], ["by_frame"], perm=[0, 2, 1]),
        node("MatMul", ["by_frame", "triangles"], ["bands"]),
        node("Add", ["bands", "least"], ["above_zero"]),
        node("Log", ["above_zero"], ["logarithms"]),
        node("Mul", ["logarithms", "quarter"], ["features"]),
        node("Transpose", ["features"], ["by_band"], perm=[0, 2, 1]),
        node("Conv", ["by_band", "first", "b1"], ["sounds"], strides=[2], kernel_shape=[WIDTHS[0]]),
        node("Relu", ["sounds"], ["heard"]),
        node("Conv", ["heard", "second", "b2"], ["syllables"], kernel_shape=[WIDTHS[1]]),
        node("Relu", ["syllables"], ["words"]),
        node("ReduceMax", ["words"], ["loudest"], axes=[2], keepdims=0),
        node("Gemm", ["loudest", "w3", "b3"], ["logits"]),
        node("Softmax", ["logits"], ["probabilities"], axis=1),
    ]
    graph = helper.make_graph(
        nodes,
        "keywords",
        [helper.make_tensor_value_info("audio", TensorProto.FLOAT, [1, RATE])],
        [helper.make_tensor_value_info("probabilities", TensorProto.FLOAT, [1, len(CLASSES)])],
        [numpy_helper.from_array(array, name) for name, array in constants.items()],
    )
    opset = [helper.make_opsetid("", 13)]
    model = helper.make_model(graph, producer_name="lathe-keywords-example", opset_imports=opset, ir_version=8)
    onnx.checker.check_model(model, full_check=True)
    return model


def read_wav(file: Path) -> Array:
    """The first second of a file: mono, 16 bits, at this sample rate."""
    with wave.open(str(file), "rb") as stream:
        found = (stream.getnchannels(), stream.getsampwidth(), stream.getframerate())
        if found != (1, 2, RATE):
            raise SystemExit(
                f"{file} has to be mono with 16 bits at {RATE} samples per second: lathe tensor converts it"
            )
        samples = np.frombuffer(stream.readframes(RATE), "<i2").astype(np.float32) / 32767
    return np.pad(samples, (0, RATE - len(samples)))


def write_wav(file: Path, audio: Array) -> None:
    with wave.open(str(file), "wb") as out:
        out.setnchannels(1)
        out.setsampwidth(2)
        out.setframerate(RATE)
        out.writeframes((audio * 32767).astype("<i2").tobytes())


def main() -> None:
    random, front = np.random.default_rng(11), front_end()
    weights = train(front, random)
    x, labels = examples(500, random, front)
    right = (forward(weights, x)[0].argmax(1) == labels).mean()
    print(f"accuracy on 500 words that were not trained on: {right:.1%}")
    np.savez_compressed(HERE / "weights.npz", **{name: value.astype(np.float16) for name, value in weights.items()})
    for word, sounds in WORDS.items():
        write_wav(HERE / f"{word}.wav", spoken(sounds, random))


if __name__ == "__main__":
    main()
