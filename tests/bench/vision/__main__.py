"""Image functions beside OpenCV and libyuv: `make bench-vision`, or `python -m tests.bench.vision`.

    make bench-vision FUNCTIONS=resize_bilinear,to_tensor ROUNDS=30

Every engine runs on one thread and the same memory, in turn, ROUNDS times; the least processor time counts. OpenCV
comes from PyPI (opencv-python-headless) into build/bench-vision, libyuv as a Debian package (libyuv0) into the same
folder; one that cannot be had is left out, which is said. On ARM, instructions are counted in qemu-user, beside libyuv.
Writes build/bench-vision.json: `results` with function, size, engine, time_ms or instructions, and ratio_to_best_peer,
which is below 1 where the engine is faster than the best of the others.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

from tests.bench.vision.counting import ABIS, counts
from tests.native_builds import build

ROOT = Path(__file__).resolve().parents[3]
FOLDER = ROOT / "build" / "bench-vision"
RESULT = ROOT / "build" / "bench-vision.json"
OPENCV = "opencv-python-headless==5.0.0.93"
LIBYUV = "libyuv0"


def opencv() -> tuple[Path, str]:
    """A Python with OpenCV, and why there is none: this one then."""
    python = FOLDER / "env" / "bin" / "python"
    if not python.exists():
        subprocess.run([sys.executable, "-m", "venv", FOLDER / "env"], check=True)
    words = [str(python), "-m", "pip", "install", "--quiet", "--disable-pip-version-check", OPENCV]
    done = subprocess.run(words, capture_output=True, text=True, check=False)
    return (python, "") if done.returncode == 0 else (Path(sys.executable), done.stderr.strip()[-300:])


ARCHITECTURES = {"host": "", "aarch64-linux-gnu": "arm64", "arm-linux-gnueabihf": "armhf"}


def libyuv(abi: str = "host") -> tuple[str, str]:
    """The library of the Debian package for an ABI, and why there is none. For other architectures, with what it needs
    beside the C++ library, and with package lists of its own: those of this machine stay as they are.
    """
    if abi not in ARCHITECTURES:
        return "", f"Debian has no package for {abi}"
    folder = FOLDER / ("libyuv" if abi == "host" else f"libyuv-{abi}")
    if not list(folder.rglob("libyuv.so.0")):
        folder.mkdir(parents=True, exist_ok=True)
        words, packages = ["apt-get"], [LIBYUV]
        if architecture := ARCHITECTURES[abi]:
            for part in ("lists/partial", "cache/archives/partial"):
                (folder / "apt" / part).mkdir(parents=True, exist_ok=True)
            settings = {
                "APT::Architecture": architecture,
                "APT::Architectures": architecture,
                "Dir::State::lists": folder / "apt" / "lists",
                "Dir::State::status": "/dev/null",
                "Dir::Cache": folder / "apt" / "cache",
            }
            words += [word for key, value in settings.items() for word in ("-o", f"{key}={value}")]
            subprocess.run([*words, "update"], cwd=folder, capture_output=True, check=False)
            packages.append("libjpeg62-turbo")
        done = subprocess.run([*words, "download", *packages], cwd=folder, capture_output=True, text=True, check=False)
        found = list(folder.glob("*.deb"))
        if done.returncode or not found:
            return "", (done.stderr.strip() or "apt-get download has written nothing")[-300:]
        for package in found:
            subprocess.run(["dpkg", "-x", package, folder], check=True)
    return str(next(folder.rglob("libyuv.so.0"))), ""


def timed(functions: str, rounds: int) -> dict[str, Any]:
    """What the worker measures."""
    library = build("vision", variant="vision", options=["-DLATHE_BUILD_TESTS=ON"]) / "liblathe_vision.so"
    python, no_opencv = opencv()
    yuv, no_libyuv = libyuv()
    words = [python, Path(__file__).with_name("worker.py"), library, yuv or "-", functions or "-", rounds]
    environment = {**os.environ, "OMP_NUM_THREADS": "1"}
    done = subprocess.run([str(word) for word in words], capture_output=True, text=True, check=False, env=environment)
    if done.returncode:
        raise SystemExit(done.stderr[-3000:])
    found: dict[str, Any] = json.loads(done.stdout)
    reasons = {"opencv": no_opencv, "libyuv": no_libyuv}
    return {**found, "left_out": {name: reason for name, reason in reasons.items() if reason}}


def with_ratios(results: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """The same with `ratio_to_best_peer`; None where nobody else has the function."""
    made = []
    for row in results:
        key = "time_ms" if "time_ms" in row else "instructions"
        others = [
            other[key] for other in results if key in other and other["engine"] != row["engine"] and _same(other, row)
        ]
        made.append({**row, "ratio_to_best_peer": round(row[key] / min(others), 3) if others else None})
    return made


def _same(a: dict[str, Any], b: dict[str, Any]) -> bool:
    return all(a.get(key) == b.get(key) for key in ("function", "size", "abi"))


def main() -> int:
    parser = argparse.ArgumentParser(prog="bench-vision", description=__doc__.split("\n")[0] if __doc__ else "")
    parser.add_argument("--functions", default="", help="names with commas between them; all")
    parser.add_argument("--rounds", type=int, default=30)
    parser.add_argument("--abis", default=",".join(ABIS), help="where to count instructions; none: -")
    chosen = parser.parse_args()
    measured = timed(chosen.functions, chosen.rounds)
    results = list(measured["results"])
    for abi in (abi for abi in chosen.abis.split(",") if abi in ABIS):
        library, reason = libyuv(abi)
        if reason:
            measured["left_out"][f"libyuv on {abi}"] = reason
        results += counts(abi, chosen.functions, library)
    report = {**measured, "results": with_ratios(results)}
    RESULT.parent.mkdir(exist_ok=True)
    RESULT.write_text(json.dumps(report, indent=1) + "\n", encoding="utf-8")
    for row in report["results"]:
        figure = f"{row['time_ms']:9.3f} ms" if "time_ms" in row else f"{row['instructions']:>12,}"
        ratio = row["ratio_to_best_peer"]
        where = row.get("abi", "")
        words = f"{row['function']:22} {row['size']:24} {row['engine']:8} {where:20} {figure}"
        print(words + ("" if ratio is None else f"  {ratio:.2f}"))
    for name, reason in report["left_out"].items():
        print(f"{name} was left out: {reason}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
