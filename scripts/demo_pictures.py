"""Draws the pictures of docs/tutorials/demos.md from what the networks answer: `python scripts/demo_pictures.py`.

The answers are those of onnxruntime, which the libraries are compared with; the photos are what the
demonstrations themselves write.
"""

from __future__ import annotations

import importlib.util
import sys
import tempfile
import textwrap
from html import escape
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np
import onnxruntime

ROOT = Path(__file__).resolve().parents[1]
EXAMPLES, IMAGES = ROOT / "examples", ROOT / "docs" / "images"
STYLE = (
    "text { font: 14px monospace; fill: #222 } .paper { fill: #fff } .ink { fill: #3f51b5 } .new { fill: #3f51b5 }"
    " @media (prefers-color-scheme: dark) { text { fill: #ddd } .paper { fill: #1e2129 } .ink, .new { fill: #9fa8da } }"
)


def main() -> None:
    for name, drawing in (("digits", digits()), ("keywords", keywords()), ("sentence", sentence())):
        (IMAGES / f"demo-{name}.svg").write_text(drawing, encoding="utf-8")


def svg(width: int, height: int, parts: list[str]) -> str:
    head = f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" width="{width}" height="{height}">'
    paper = f'<rect class="paper" width="{width}" height="{height}" rx="6"/>'
    return "\n".join([head, f"<style>{STYLE}</style>", paper, *parts, "</svg>", ""])


def text(x: float, y: float, words: str, kind: str = "") -> str:
    chosen = f' class="{kind}"' if kind else ""
    return f'<text x="{x:g}" y="{y:g}" xml:space="preserve"{chosen}>{escape(words)}</text>'


def digits() -> str:
    session = onnxruntime.InferenceSession(EXAMPLES / "digits" / "digits.onnx")
    parts = []
    for number, picture in enumerate(np.load(EXAMPLES / "digits" / "pictures.npy")[:6]):
        (answer,) = session.run(None, {"image": picture[None].astype(np.float32)})[0]
        left = 20 + 104 * number
        for (row, column), value in np.ndenumerate(picture[0]):
            place = f'x="{left + 10 * column}" y="{16 + 10 * row}" width="10" height="10"'
            parts.append(f'<rect class="ink" {place} fill-opacity="{value:.2f}"/>' if value > 0.03 else "")
        parts.append(text(left + 12, 118, f"{answer.argmax()}: {answer.max():.0%}"))
    return svg(640, 130, list(filter(None, parts)))


def keywords() -> str:
    demo = example("keywords/demo.py")
    speech = sys.modules["speech"]
    session = made(demo, "keywords.onnx")
    parts = []
    for number, word in enumerate(speech.WORDS):
        audio = speech.read_wav(EXAMPLES / "keywords" / f"{word}.wav")
        (chances,) = session.run(None, {"audio": audio[None]})[0]
        heights = np.abs(audio.reshape(200, -1)).max(1)
        middle = 40 + 64 * number
        for column, height in enumerate(heights / heights.max() * 26 + 0.5):
            place = f'x="{20 + 2 * column}" y="{middle - height:.1f}" width="1.4" height="{2 * height:.1f}"'
            parts.append(f'<rect class="ink" {place}/>')
        parts.append(text(440, middle + 5, f"{speech.CLASSES[chances.argmax()]} ({chances.max():.0%})"))
    return svg(580, 272, parts)


def sentence() -> str:
    demo = example("sentence/demo.py")
    session = made(demo, "sentence.onnx")

    class Model:
        def run(self, inputs: dict[str, Any]) -> dict[str, Any]:
            return {"logits": session.run(None, inputs)[0]}

    parts, y, random = [], 30, np.random.default_rng(1)
    for words in demo.BEGINNINGS:
        whole = words
        while len(whole) < demo.MOST and (letter := demo.next_letter(Model(), whole, random)) != "\0":
            whole += letter
        lines = textwrap.wrap(whole, 70)
        parts += [text(20, y, words.strip()), text(20 + 8.43 * len(words), y, lines[0][len(words) :], "new")]
        for more in lines[1:]:
            y += 20
            parts.append(text(20, y, more, "new"))
        y += 34
    return svg(640, y - 14, parts)


def example(path: str) -> ModuleType:
    file = EXAMPLES / path
    sys.path[:0] = [str(file.parent), str(EXAMPLES)]
    spec = importlib.util.spec_from_file_location(f"{file.parent.name}_{file.stem}", file)
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def made(demo: ModuleType, name: str) -> onnxruntime.InferenceSession:
    with tempfile.TemporaryDirectory() as folder:
        demo.write_model(Path(folder) / name)
        return onnxruntime.InferenceSession(Path(folder) / name)


if __name__ == "__main__":
    main()
