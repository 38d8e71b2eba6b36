"""Separate a person from the background: a TFLite model of a Python package, called from C++.

The model is the selfie segmentation of MediaPipe (Apache 2.0) as the package mediapipe contains it. main.cc resizes the
photo and writes the mask; `python demo.py [PHOTO]` compiles it and draws another background into person.png.
"""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent))

from demo_tools import answer, built_library, built_program, files_of_package, picture_of, work_folder  # noqa: E402

PACKAGE = "mediapipe==0.10.14"
MODEL = {"selfie_segmentation.tflite": "9ee168ec7c8f2a16c56fe8e1cfbc514974cbbb7e434051b455635f1bd1462f5c"}
BACKGROUND = (63, 81, 181)


def main(photo: Path) -> int:
    from PIL import Image

    folder = work_folder("person")
    picture, image = picture_of(photo, folder)
    files_of_package(PACKAGE, MODEL, folder)
    program = built_program(HERE / "main.cc", built_library(HERE / "deploy.yml", folder))
    mask = folder / "mask.pgm"
    (part,) = answer(program, image, mask)
    file = folder / "person.png"
    drawn(picture, Image.open(mask)).save(file)
    print(f"the person covers {float(part):.0%} of the photo; wrote {file}")
    return 0 if float(part) > 0.01 else 1


def drawn(picture: Any, mask: Any) -> Any:
    """The person in front of one colour."""
    from PIL import Image

    smooth = mask.resize(picture.size, Image.Resampling.BICUBIC)
    return Image.composite(picture, Image.new("RGB", picture.size, BACKGROUND), smooth)


if __name__ == "__main__":
    sys.exit(main(Path(sys.argv[1]) if len(sys.argv) > 1 else HERE.parent / "faces" / "photo.jpg"))
