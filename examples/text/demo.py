"""Read the text of a photo: two ONNX models of a Python package, called from C++.

The models are PP-OCRv4 of PaddleOCR (Apache 2.0) as the package rapidocr-onnxruntime (Apache 2.0) contains them, for
English and Chinese. main.cc finds lines and reads them; `python demo.py [PHOTO]` compiles it and draws text.png.
"""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import onnx

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent))

from demo_tools import answer, built_library, built_program, files_of_package, picture_of, work_folder  # noqa: E402

PACKAGE = "rapidocr-onnxruntime==1.4.4"
MODELS = {
    "ch_PP-OCRv4_det_infer.onnx": "d2a7720d45a54257208b1e13e36a8479894cb74155a5efe29462512d42f49da9",
    "ch_PP-OCRv4_rec_infer.onnx": "48fc40f24f6d2a207a2b1091d3437eb3cc3eb6b676dc3ef9c37384005483683b",
}
COLOUR = (208, 32, 80)


def main(photo: Path) -> int:
    folder = work_folder("text")
    picture, image = picture_of(photo, folder)
    _, reader = files_of_package(PACKAGE, MODELS, folder)
    characters = folder / "characters.txt"
    write_characters(reader, characters)
    program = built_program(HERE / "main.cc", built_library(HERE / "deploy.yml", folder))
    lines = [line.split(" ", 5) for line in answer(program, image, characters)]
    file = folder / "text.png"
    drawn(picture, lines).save(file)
    for *_, score, text in lines:
        print(f"{text}  ({float(score):.0%})")
    print(f"{len(lines)} lines; wrote {file}")
    return 0 if lines else 1


def write_characters(model: Path, file: Path) -> None:
    """Those that the classes of the reader mean, one a line, from the metadata of its file; the last one is a space."""
    (text,) = (entry.value for entry in onnx.load(model).metadata_props if entry.key == "character")
    file.write_text("\n".join([*text.splitlines(), " "]) + "\n", encoding="utf-8")


def drawn(picture: Any, lines: list[list[str]]) -> Any:
    """The picture with a box for each line, and what was read on a margin below it."""
    from PIL import Image, ImageDraw, ImageFont

    size = max(14, picture.width // 36)
    shown = Image.new("RGB", (picture.width, picture.height + size * 3 * (len(lines) + 1) // 2), "white")
    shown.paste(picture)
    draw, font = ImageDraw.Draw(shown), ImageFont.load_default(size)
    for number, (left, top, right, bottom, _, text) in enumerate(lines):
        box = [float(value) for value in (left, top, right, bottom)]
        draw.rectangle(box, outline=COLOUR, width=max(2, size // 8))
        draw.text((size, picture.height + size * (0.5 + 1.5 * number)), text, fill=COLOUR, font=font)
    return shown


if __name__ == "__main__":
    sys.exit(main(Path(sys.argv[1]) if len(sys.argv) > 1 else HERE / "photo.jpg"))
