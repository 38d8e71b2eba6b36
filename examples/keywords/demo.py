"""Spot a keyword in a WAV file: a network that hears samples, with its front end inside.

The network knows four words of synthetic speech (speech.py). `python demo.py [WAV ...]` says which word it hears in
each file: one channel, at 8000 samples per second.
"""

from __future__ import annotations

import sys
from pathlib import Path

import numpy as np
import onnx

HERE = Path(__file__).resolve().parent
sys.path[:0] = [str(HERE), str(HERE.parent)]

from demo_tools import built_library, stored_weights, work_folder  # noqa: E402
from speech import CLASSES, WORDS, front_end, network, read_wav  # noqa: E402


def main(files: list[Path]) -> int:
    import buildtool

    folder = work_folder("keywords")
    write_model(folder / "keywords.onnx")
    library = built_library(HERE / "deploy.yml", folder)
    right = 0
    with buildtool.load(library, model="keywords") as model:
        for file in files:
            (chances,) = model.run({"audio": read_wav(file)[None]})["probabilities"]
            order = np.argsort(-chances)
            heard = CLASSES[order[0]]
            right += heard == file.stem
            print(f"{file.name}: {heard} ({', '.join(f'{CLASSES[i]} {chances[i]:.0%}' for i in order[:3])})")
    own = all(file.parent == HERE for file in files)
    return 0 if right == len(files) or not own else 1


def write_model(file: Path) -> None:
    onnx.save(network(stored_weights(HERE / "weights.npz"), front_end()), file)


if __name__ == "__main__":
    sys.exit(main([Path(word) for word in sys.argv[1:]] or [HERE / f"{word}.wav" for word in WORDS]))
