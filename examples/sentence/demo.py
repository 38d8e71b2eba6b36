"""Complete a sentence, letter by letter: a small decoder whose graph is written in code.

The decoder has read the documentation of Lathe (decoder.py). `python demo.py [WORDS ...]` continues what you say.
"""

from __future__ import annotations

import sys
import time
from pathlib import Path

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper

HERE = Path(__file__).resolve().parent
sys.path[:0] = [str(HERE), str(HERE.parent)]

from decoder import CONTEXT, EMBEDDING, LETTERS  # noqa: E402
from demo_tools import built_library, stored_weights, work_folder  # noqa: E402

BEGINNINGS = ["The library ", "The model ", "If a model "]
MOST = 160  # letters of a sentence
TEMPERATURE = 0.05  # 0: always the likeliest letter


def main(beginnings: list[str]) -> int:
    import buildtool

    folder = work_folder("sentence")
    write_model(folder / "sentence.onnx")
    library = built_library(HERE / "deploy.yml", folder)
    random = np.random.default_rng(1)
    with buildtool.load(library, model="sentence") as model:
        for words in beginnings:
            started, text = time.perf_counter(), words
            while len(text) < MOST and (letter := next_letter(model, text, random)) != "\0":
                text += letter
            seconds = time.perf_counter() - started
            made = max(len(text) - len(words), 1)
            print(f"{words}|{text[len(words) :]}\n  ({made / seconds:,.0f} letters per second)")
    return 0


def next_letter(model: object, text: str, random: np.random.Generator) -> str:
    """Drawn from what the decoder finds likely."""
    seen = [LETTERS.find(letter) for letter in text[-CONTEXT:]]
    context = np.array([[0] * (CONTEXT - len(seen)) + [max(number, 1) for number in seen]], np.int64)
    logits = model.run({"letters": context})["logits"][0] / TEMPERATURE  # type: ignore[attr-defined]
    chances = np.exp(logits - logits.max())
    return LETTERS[random.choice(len(LETTERS), p=chances / chances.sum())]


def write_model(file: Path) -> None:
    """An embedding of the last letters, two dense layers, and the logits of the next letter."""
    constants = stored_weights(HERE / "weights.npz")
    initializers = [numpy_helper.from_array(array, name) for name, array in constants.items()]
    initializers.append(numpy_helper.from_array(np.array([1, CONTEXT * EMBEDDING], np.int64), "flat"))
    nodes = [
        helper.make_node("Gather", ["embedding", "letters"], ["embedded"], axis=0),
        helper.make_node("Reshape", ["embedded", "flat"], ["row"]),
        helper.make_node("Gemm", ["row", "first", "first_bias"], ["sums"]),
        helper.make_node("Relu", ["sums"], ["hidden"]),
        helper.make_node("Gemm", ["hidden", "last", "last_bias"], ["logits"]),
    ]
    graph = helper.make_graph(
        nodes,
        "sentence",
        [helper.make_tensor_value_info("letters", TensorProto.INT64, [1, CONTEXT])],
        [helper.make_tensor_value_info("logits", TensorProto.FLOAT, [1, len(LETTERS)])],
        initializers,
    )
    onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 13)], ir_version=8), file)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:] or BEGINNINGS))
