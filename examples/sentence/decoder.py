"""The decoder of the sentences, trained on the documentation of Lathe by `python decoder.py`.

Needs NumPy alone, and a few minutes. The seed is fixed; another version of NumPy or another processor may round
differently and give other, equally good weights.
"""

from __future__ import annotations

import re
from pathlib import Path

import numpy as np
import numpy.typing as npt

Array = npt.NDArray[np.float32]

HERE = Path(__file__).resolve().parent
DOCS = HERE.parents[1] / "docs"
LETTERS = "\0 abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789.,:;()'-"
CONTEXT = 16  # letters that the decoder sees
EMBEDDING, HIDDEN = 16, 256
STEPS, BATCH, RATE = 14000, 256, 3e-3


def corpus() -> str:
    """The sentences of all pages, without code, tables and links."""
    sentences = []
    for page in sorted(DOCS.rglob("*.md")):
        text = re.sub(r"```.*?```", "", page.read_text(encoding="utf-8"), flags=re.DOTALL)
        lines = [line for line in text.splitlines() if line[:1].isalpha() or line[:2] in ("- ", "  ")]
        prose = re.sub(r"\[([^\]]*)\]\([^)]*\)", r"\1", " ".join(line.lstrip("- ") for line in lines))
        prose = "".join(letter for letter in prose.replace("`", "").replace('"', "'") if letter in LETTERS)
        sentences += [one for one in re.split(r"(?<=[.:]) +", prose) if 25 < len(one) < 220]
    return "\0".join(sentences) + "\0"


def initial(random: np.random.Generator) -> dict[str, Array]:
    sizes = {
        "embedding": (len(LETTERS), EMBEDDING),
        "first": (CONTEXT * EMBEDDING, HIDDEN),
        "first_bias": (HIDDEN,),
        "last": (HIDDEN, len(LETTERS)),
        "last_bias": (len(LETTERS),),
    }
    return {
        name: (random.normal(0, 1 / np.sqrt(size[0]), size) if len(size) > 1 else np.zeros(size)).astype(np.float32)
        for name, size in sizes.items()
    }


def gradients(weights: dict[str, Array], contexts: npt.NDArray[np.int64], wanted: npt.NDArray[np.int64]):
    """The loss of a batch, and what each weight has to do with it."""
    embedded = weights["embedding"][contexts].reshape(len(contexts), -1)
    hidden = np.maximum(embedded @ weights["first"] + weights["first_bias"], 0)
    logits = hidden @ weights["last"] + weights["last_bias"]
    logits -= logits.max(1, keepdims=True)
    powers = np.exp(logits)
    chances = powers / powers.sum(1, keepdims=True)
    rows = np.arange(len(wanted))
    loss = -np.log(chances[rows, wanted] + 1e-9).mean()
    chances[rows, wanted] -= 1
    chances /= len(wanted)
    back = (chances @ weights["last"].T) * (hidden > 0)
    found = {"last": hidden.T @ chances, "last_bias": chances.sum(0)}
    found |= {"first": embedded.T @ back, "first_bias": back.sum(0)}
    places = (back @ weights["first"].T).reshape(-1, EMBEDDING)
    found["embedding"] = np.zeros_like(weights["embedding"])
    np.add.at(found["embedding"], contexts.ravel(), places)
    return loss, found


def train() -> dict[str, Array]:
    """Adam; the rate falls to zero along half a cosine."""
    random = np.random.default_rng(7)
    text = np.array([LETTERS.index(letter) for letter in "\0" * CONTEXT + corpus()])
    windows = np.lib.stride_tricks.sliding_window_view(text, CONTEXT + 1)
    weights = initial(random)
    means = {name: np.zeros_like(value) for name, value in weights.items()}
    squares = {name: np.zeros_like(value) for name, value in weights.items()}
    average = 4.0
    for step in range(1, STEPS + 1):
        batch = windows[random.integers(0, len(windows), BATCH)]
        # What stands in front of the sentence says nothing about it.
        contexts = batch[:, :-1].copy()
        ends = np.where(contexts == 0, np.arange(1, CONTEXT + 1), 0).max(1)
        contexts[np.arange(CONTEXT) < ends[:, None]] = 0
        loss, found = gradients(weights, contexts, batch[:, -1])
        average += 0.01 * (loss - average)
        rate = RATE * 0.5 * (1 + np.cos(np.pi * step / STEPS))
        for name, gradient in found.items():
            means[name] += 0.1 * (gradient - means[name])
            squares[name] += 0.001 * (gradient**2 - squares[name])
            mean, square = means[name] / (1 - 0.9**step), squares[name] / (1 - 0.999**step)
            weights[name] -= (rate * mean / (np.sqrt(square) + 1e-8)).astype(np.float32)
        if step % 500 == 0:
            print(f"step {step} of {STEPS}: loss {average:.3f}", flush=True)
    return weights


if __name__ == "__main__":
    np.savez_compressed(HERE / "weights.npz", **{name: value.astype(np.float16) for name, value in train().items()})
