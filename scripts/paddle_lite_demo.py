"""Compiles the C++ programs of the public repository Paddle-Lite-Demo unmodified, and compares four with Paddle.

    git clone https://github.com/PaddlePaddle/Paddle-Lite-Demo
    python scripts/paddle_lite_demo.py --demo Paddle-Lite-Demo --sysroot ARM64 --python PYTHON

ARM64 is the root of a Debian system for arm64 with libopencv-dev and libyaml-cpp-dev (the programs need NEON), PYTHON a
Python that has paddlepaddle, pyclipper and opencv-python-headless of the version of the Debian packages (others draw
other letters). The programs for image classification, detection (SSD), masks and OCR run in qemu with models that
Paddle has made (paddle_lite_demo_models.py); what they print and draw is compared with what Paddle computes. With
--documents, so are the programs of Paddle-Lite's documentation (full and light interface). Results:
build/paddle-lite-demo.json.
"""

from __future__ import annotations

import argparse
import json
import re
import subprocess
import sys
from pathlib import Path

import numpy as np
from PIL import Image

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))

from tests.examples.paddle_programs import GFLAGS, programs  # noqa: E402 (the repository is found first)

WORK = ROOT / "build" / "paddle-lite-demo"
MODELS = ("classifier", "detector", "detector_first", "faces", "ocr_det", "ocr_cls", "ocr_rec", "plain")
LIBRARIES = ("opencv_imgcodecs", "opencv_imgproc", "opencv_core")
#: Programs that run, by their place in the repository.
CLASSES = "image_classification/android/shell/cxx/image_classification/image_classification.cc"
OBJECTS = "object_detection/android/shell/cxx/ssd_mobilenetv1_detection/ssd_mobilenetv1_detection.cc"
MASKS = "mask_detection/android/shell/cxx/mask_detection/mask_detection.cc"
TEXTS = "ocr/armlinux/shell/cxx/ppocr_demo/src"
#: libstdc++ has std::floorf and std::ceilf, which are C++11, since GCC 14 only.
FLOORF = "#include <math.h>\nnamespace std { using ::floorf; using ::ceilf; }\n"
#: Sources that do not compile with any header of this interface here, and why.
OTHERS = {
    "image_classification/linux/mobilenet_v3": "names a class without its namespace, which no header allows",
    "image_classification/linux/app": "names of OpenCV 3, which OpenCV 4 has not",
    "ocr/android/": "needs android/log.h",
}


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--demo", type=Path, required=True, help="a copy of the repository")
    parser.add_argument("--sysroot", type=Path, required=True, help="Debian for arm64 with OpenCV")
    parser.add_argument("--python", required=True, help="with paddlepaddle, pyclipper and OpenCV")
    parser.add_argument("--documents", type=Path, help="the text of Paddle-Lite's documentation")
    options = parser.parse_args()
    WORK.mkdir(parents=True, exist_ok=True)
    for verb in ("models", "results"):
        _run([options.python, ROOT / "scripts" / "paddle_lite_demo_models.py", verb, WORK])
    lathe = [Path(sys.executable).with_name("lathe")]
    shapes = ("faces=1..32,3,128,128", "page=1,3,32..960,32..960", "line=1,3,32,16..1024")
    shape = ["--data-type", "fp32_fp32", *(word for each in shapes for word in ("--input-shape", each))]
    files = [f"{name}.pdmodel" for name in MODELS]
    _run([*lathe, "init", *files, "-o", "demo.yml", "--library-name", "demo", "--force", *shape])
    _run([*lathe, "build", "demo.yml", "--paddle-compat", "--abi", "aarch64-linux-gnu"])
    demo = Demo(options.demo.resolve(), options.sysroot.resolve())
    compiled, refused = demo.compile_all()
    report = {
        "compiled": compiled,
        "refused": {name: _reason(name) for name in refused},
        "classes": demo.classes(),
        "objects": demo.objects(),
        "masks": demo.masks(),
        "texts": demo.texts(),
        "documents": demo.documents(options.documents) if options.documents else "not tried",
    }
    unexpected = [name for name in refused if not _reason(name)]
    (ROOT / "build" / "paddle-lite-demo.json").write_text(json.dumps(report, indent=2) + "\n")
    print(json.dumps(report, indent=2))
    return 1 if unexpected else 0


class Demo:
    """The repository, the libraries for arm64, and the build."""

    def __init__(self, folder: Path, sysroot: Path) -> None:
        self.folder, self.sysroot = folder, sysroot
        self.build = WORK / "build" / "demo"
        self.models = self.build / "model" / "aarch64-linux-gnu"
        lib = sysroot / "usr" / "lib" / "aarch64-linux-gnu"
        self.search = [lib, sysroot / "lib" / "aarch64-linux-gnu", lib / "blas", lib / "lapack"]
        self.expected = json.loads((WORK / "results.json").read_text())

    def compile_all(self) -> tuple[list[str], list[str]]:
        """The sources that use the interface, for shells on Android and Linux: those that compile, and the others."""
        done: dict[bool, list[str]] = {True: [], False: []}
        for source in sorted(self.folder.rglob("*.cc")):
            name = str(source.relative_to(self.folder))
            if re.search(r"/(shell|linux)/", name) and "/ios/" not in name and self._uses(source):
                done[self._compiles(source)].append(name)
        return done[True], done[False]

    def classes(self) -> float:
        """The largest difference of a score; the five classes are the same, or this fails."""
        said = self.program(
            CLASSES, self.models / "classifier.pb", WORK / "image.png", WORK / "labels.txt", 5, 224, 224
        )
        found = re.findall(r"index: (\d+),  name: class(\d+),  score: (\S+)", said)
        expected = self.expected["classes"]
        assert [int(index) for index, _, _ in found] == [int(index) for index, _ in expected], said
        return max(abs(float(line[2]) - float(score)) for line, (_, score) in zip(found, expected, strict=True))

    def objects(self) -> dict[str, float]:
        """Differences of scores and, in pixels, of places; classes and numbers are the same, or this fails."""
        model = self.models / "detector_first.pb"
        said = self.program(OBJECTS, model, WORK / "image.png", WORK / "labels.txt", 0.5, 300, 300)
        found = re.findall(
            r"object: class(\d+), score: (\S+), location: x=(-?\d+), y=(-?\d+), width=(\d+), height=(\d+)", said
        )
        rows = np.array(found, np.float64)
        expected = np.array(self.expected["objects"])
        assert rows.shape == expected.shape, said
        rows, expected = (table[np.lexsort(table[:, 2:].T)] for table in (rows, expected))
        assert (rows[:, 0] == expected[:, 0]).all(), said
        difference = np.abs(rows - expected)
        return {"objects": len(rows), "score": difference[:, 1].max(), "pixels": difference[:, 2:].max()}

    def masks(self) -> float:
        """How many of the picture's pixels are those of Paddle's."""
        drawn = WORK / "drawn.png"
        models = (self.models / "detector.pb", self.models / "faces.pb")
        self.program(MASKS, *models, WORK / "image.png", drawn, 300, 300)
        pictures = [
            np.asarray(Image.open(file), np.int64) for file in (drawn, WORK / "expected.png", WORK / "image.png")
        ]
        changed = np.abs(pictures[1] - pictures[2]).max(-1) > 0
        same = np.abs(pictures[0] - pictures[1]).max(-1) == 0
        assert changed.mean() > 0.01, "Paddle has drawn nothing"
        return float(same.mean())

    def texts(self) -> dict[str, float]:
        """The largest difference of a score, and how many of the picture's pixels are Paddle's; texts are the same."""
        drawn, keys = WORK / "ocr.png", (WORK / "letters.txt", WORK / "settings.txt")
        models = [self.models / f"{name}.pb" for name in ("ocr_det", "ocr_rec", "ocr_cls")]
        said = self.program(f"{TEXTS}/pipeline.cc", *models, WORK / "page.png", drawn, *keys, whole=True)
        found = re.findall(r"^\d+\t([^\t]*)\t(\S+)$", said, re.MULTILINE)
        expected = self.expected["texts"]
        assert len(expected) > 2, "Paddle has found no texts"
        assert [text for text, _ in found] == [text for text, _ in expected], (said, expected)
        pictures = [np.asarray(Image.open(file)) for file in (drawn, WORK / "ocr_expected.png")]
        score = max(abs(float(line[1]) - value) for line, (_, value) in zip(found, expected, strict=True))
        return {"texts": len(found), "score": score, "pixels": float((pictures[0] == pictures[1]).all(-1).mean())}

    def documents(self, page: Path) -> list[float]:
        """The largest difference of an output, relative to the largest, for each program of the documentation."""
        folder = WORK / "documents"
        (folder / "gflags").mkdir(parents=True, exist_ok=True)
        (folder / "gflags" / "gflags.h").write_text(GFLAGS)
        for name, suffix in (("model", "pb"), ("params", "data")):
            (folder / name).write_bytes((self.models / f"plain.{suffix}").read_bytes())
        expected = np.array(self.expected["ones"])
        differences = []
        for number, text in enumerate(programs(page.read_text(encoding="utf-8"))):
            source = folder / f"program{number}.cc"
            source.write_text(text)
            # Both interfaces take the model from a folder.
            argument = f"--model_dir={folder}/" if "gflags" in text else self._alone(folder)
            said = self.program(source, argument)
            found = [float(value) for value in re.findall(r"Output\[\d+\]: (\S+)", said)]
            assert len(found) == len(expected[::100]), said
            differences.append(float(np.abs(np.array(found) - expected[::100]).max() / np.abs(expected).max()))
        return differences

    def _alone(self, folder: Path) -> Path:
        """A folder with this model only, whose name the program gives."""
        made = folder / "light"
        made.mkdir(exist_ok=True)
        for suffix in ("pb", "data"):
            (made / f"plain.{suffix}").write_bytes((self.models / f"plain.{suffix}").read_bytes())
        return made

    def program(self, source: str | Path, *arguments: object, whole: bool = False) -> str:
        """What one of the programs prints in qemu. `whole`: all sources of its folder are the program."""
        app = WORK / Path(source).stem
        place = self.folder / source
        sources = sorted(file for file in place.parent.iterdir() if file.suffix in (".cc", ".cpp"))
        library = self.build / "lib" / "aarch64-linux-gnu"
        found = ":".join(map(str, self.search))
        _run([
            *self._compiler(place), *(sources if whole else [place]), "-o", app, f"-L{library}",
            "-lpaddle_light_api_shared", *(f"-l{name}" for name in LIBRARIES), f"-Wl,-rpath-link,{found}",
        ])  # fmt: skip
        paths = ":".join(map(str, (library, *self.search[2:])))
        return _run(["qemu-aarch64", "-L", self.sysroot, "-E", f"LD_LIBRARY_PATH={paths}", app, *map(str, arguments)])

    def _compiler(self, source: Path) -> list[str | Path]:
        includes = [self.build / "include", source.parent, source.parent.parent / "include"]
        newer = WORK / "floorf.h"
        newer.write_text(FLOORF)
        return [
            *("aarch64-linux-gnu-g++", "-std=c++11", "-w", f"--sysroot={self.sysroot}", "-include", newer),
            *(f"-I{path}" for path in includes), "-isystem", self.sysroot / "usr" / "include" / "opencv4",
        ]  # fmt: skip

    def _uses(self, source: Path) -> bool:
        texts = [file.read_text(errors="replace") for file in (source, *source.parent.glob("*.h"))]
        return any("paddle_api.h" in text for text in texts)

    def _compiles(self, source: Path) -> bool:
        command = [*self._compiler(source), "-fsyntax-only", source]
        return subprocess.run(list(map(str, command)), capture_output=True, check=False).returncode == 0


def _reason(name: str) -> str:
    return next((why for start, why in OTHERS.items() if name.startswith(start)), "")


def _run(command: list[str | Path]) -> str:
    done = subprocess.run(list(map(str, command)), cwd=WORK, capture_output=True, text=True, check=False)
    if done.returncode:
        raise SystemExit(f"{' '.join(map(str, command))}\n{done.stdout[-2000:]}{done.stderr[-4000:]}")
    return done.stdout


if __name__ == "__main__":
    sys.exit(main())
