"""Compiles the C++ programs of the public repository Paddle-Lite-Demo unmodified, and compares three with Paddle.

    git clone https://github.com/PaddlePaddle/Paddle-Lite-Demo
    python scripts/paddle_lite_demo.py --demo Paddle-Lite-Demo --sysroot ARM64 --python PYTHON

ARM64 is the root of a Debian system for arm64 with libopencv-dev and libyaml-cpp-dev (the programs need NEON), PYTHON a
Python that has paddlepaddle and opencv-python-headless of the version of the Debian packages (others draw other
letters). The programs for image classification, detection (SSD) and masks run in qemu with models that Paddle has made
(paddle_lite_demo_models.py); what they print and draw is compared with what Paddle computes. Results:
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
WORK = ROOT / "build" / "paddle-lite-demo"
MODELS = ("classifier", "detector", "detector_first", "faces")
LIBRARIES = ("opencv_imgcodecs", "opencv_imgproc", "opencv_core")
#: Programs that run, by their place in the repository.
CLASSES = "image_classification/android/shell/cxx/image_classification/image_classification.cc"
OBJECTS = "object_detection/android/shell/cxx/ssd_mobilenetv1_detection/ssd_mobilenetv1_detection.cc"
MASKS = "mask_detection/android/shell/cxx/mask_detection/mask_detection.cc"
#: Sources that do not compile with any header of this interface here, and why.
OTHERS = {
    "image_classification/linux/mobilenet_v3": "names a class without its namespace, which no header allows",
    "image_classification/linux/app": "names of OpenCV 3, which OpenCV 4 has not",
    "ocr/": "needs clipper.hpp, which its script downloads, or android/log.h",
}


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--demo", type=Path, required=True, help="a copy of the repository")
    parser.add_argument("--sysroot", type=Path, required=True, help="Debian for arm64 with OpenCV")
    parser.add_argument("--python", required=True, help="with paddlepaddle and OpenCV")
    options = parser.parse_args()
    WORK.mkdir(parents=True, exist_ok=True)
    for verb in ("models", "results"):
        _run([options.python, ROOT / "scripts" / "paddle_lite_demo_models.py", verb, WORK])
    lathe = [Path(sys.executable).with_name("lathe")]
    shape = ["--data-type", "fp32_fp32", "--input-shape", "faces=1..32,3,128,128"]
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

    def program(self, source: str, *arguments: object) -> str:
        """What one of the programs prints in qemu."""
        app = WORK / Path(source).stem
        library = self.build / "lib" / "aarch64-linux-gnu"
        found = ":".join(map(str, self.search))
        _run([
            *self._compiler(self.folder / source), self.folder / source, "-o", app, f"-L{library}",
            "-lpaddle_light_api_shared", *(f"-l{name}" for name in LIBRARIES), f"-Wl,-rpath-link,{found}",
        ])  # fmt: skip
        paths = ":".join(map(str, (library, *self.search[2:])))
        return _run(["qemu-aarch64", "-L", self.sysroot, "-E", f"LD_LIBRARY_PATH={paths}", app, *map(str, arguments)])

    def _compiler(self, source: Path) -> list[str | Path]:
        includes = [self.build / "include", source.parent, source.parent.parent / "include"]
        return [
            *("aarch64-linux-gnu-g++", "-std=c++11", "-w", f"--sysroot={self.sysroot}"),
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
