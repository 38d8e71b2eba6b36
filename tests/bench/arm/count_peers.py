"""Instructions that other engines execute on 64-bit ARM: what `make bench-arm` shows beside Lathe's.

    python -m tests.bench.arm.count_peers --root ROOT [--networks A,B] [--engines ncnn,mnn] [--dtypes fp32]

ROOT is that of a Debian system for arm64 with Python 3.11, libstdc++6 and libgomp1 (`debootstrap --foreign`, or
packages that `dpkg-deb -x` unpacked), or LATHE_ARM64_PYTHON_ROOT, as in the tests. The engines are their own wheels
for aarch64 from the package index, in the versions of `make bench-peers`; pip puts them into build/bench-arm/peers.
An engine without a count cannot convert or run the network, or computes something else (cosine similarity to
onnxruntime on this machine below 0.999; with halves below 0.99). Counts contain the calls through Python, which are
about 0.05 million instructions. Results are added to tests/bench/arm/peers.json.
"""

from __future__ import annotations

import argparse
import functools
import itertools
import os
import subprocess
import sys
import tempfile
import zipfile
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import onnxruntime

from buildtool.errors import LatheError
from buildtool.ir.operator import Array
from tests import exact_onnxruntime
from tests.bench import words
from tests.bench.arm import peers
from tests.bench.arm.counting import FOLDER, ROOT, CountingError, command, difference, plugin, read_markers
from tests.bench.peers import environment, models
from tests.bench.peers.suites import SUITES, Suite
from tests.bench.real.files import NetworkError
from tests.bench.real.names import ON_ARM

ABI = "aarch64-linux-gnu"
CPU = "neoverse-n1"
#: What computes in which element type. ncnn and MNN have a calibration of their own for 8 bits.
ENGINES = {"fp32": ("onnxruntime", "ncnn", "mnn"), "fp16": ("ncnn", "mnn"), "int8": ("onnxruntime",)}
SMALLEST_COSINE = {"fp32": 0.999, "fp16": 0.99, "int8": 0.99}
#: Engines read what processor it is from here.
CPUINFO = """processor\t: 0
BogoMIPS\t: 50.00
Features\t: fp asimd evtstrm aes pmull sha1 sha2 crc32 atomics fphp asimdhp cpuid asimdrdm lrcpc dcpop asimddp
CPU implementer\t: 0x41
CPU architecture: 8
CPU variant\t: 0x3
CPU part\t: 0xd0c
CPU revision\t: 1
"""
_PLATFORMS = ("manylinux_2_28", "manylinux_2_27", "manylinux_2_17", "manylinux2014")


def site(engines: Sequence[str]) -> Path:
    """A folder with the packages of these engines for the emulated Python."""
    folder = FOLDER / "peers"
    for requirement in ("numpy==2.4.6", *(environment.PEERS[engine][0] for engine in engines)):
        wheels = folder / "wheels" / requirement
        if wheels.is_dir():
            continue
        platforms = [word for name in _PLATFORMS for word in ("--platform", f"{name}_aarch64")]
        pip = [sys.executable, "-m", "pip", "download", "--quiet", "--disable-pip-version-check", "--no-deps"]
        wanted = ["--only-binary", ":all:", "--python-version", "311", *platforms, "--dest", wheels, requirement]
        command([str(word) for word in (*pip, *wanted)])
        for wheel in wheels.glob("*.whl"):
            with zipfile.ZipFile(wheel) as archive:
                archive.extractall(folder / "site")
    return folder / "site"


def in_qemu(root: Path, packages: Path, arguments: Sequence[str], written: Path) -> None:
    """A module in the emulated Python; the counts between its markers in `written`."""
    told = root / "proc" / "cpuinfo"
    if not told.is_file():
        told.parent.mkdir(exist_ok=True)
        told.write_text(CPUINFO)
    variables = {
        "PYTHONHOME": f"{root}/usr",
        "PYTHONPATH": f"{ROOT}:{packages}",
        "LD_LIBRARY_PATH": f"{root}/usr/lib/{ABI}",
        "OMP_NUM_THREADS": "1",
        "OPENBLAS_NUM_THREADS": "1",
    }
    given = [word for key, value in variables.items() for word in ("-E", f"{key}={value}")]
    emulator = ["qemu-aarch64", "-L", str(root), "-cpu", CPU, "-plugin", f"{plugin()},out={written}", *given]
    command([*emulator, f"{root}/usr/bin/python3.11", "-m", "tests.bench.arm.peer_run", *arguments])


def cosine(found: Sequence[Array], expected: Sequence[Array]) -> float:
    """The least of the outputs."""
    if [x.size for x in found] != [x.size for x in expected]:
        raise RuntimeError("its outputs have other sizes")
    values = []
    for one, other in zip(found, expected, strict=True):
        a, b = (x.ravel().astype(np.float64) for x in (one, other))
        length = float(np.linalg.norm(a) * np.linalg.norm(b))
        values.append(float(a @ b) / length if length else float(np.array_equal(a, b)))
    return min(values)


def count(root: Path, packages: Path, engine: str, network: str, dtype: str, suite: Suite) -> int:
    """Instructions of a warm run. `RuntimeError` where the engine cannot."""
    peer = environment.Environment(environment.FOLDER / "bin" / "python", {}, {})
    model = models.path_of(engine, network, peer, suite, dtype)
    feeds: dict[str, Any] = suite.inputs(network)
    reference = str(suite.quantised(network) if dtype == "int8" else suite.file(network))
    options = exact_onnxruntime.options()
    expected = onnxruntime.InferenceSession(reference, options, providers=["CPUExecutionProvider"]).run(None, feeds)
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        np.savez(folder / "inputs.npz", **feeds)
        word = f"{engine}_fp16" if dtype == "fp16" else engine
        arguments = [word, str(model), str(folder / "inputs.npz"), str(folder / "outputs.npz")]
        in_qemu(root, packages, arguments, folder / "counts.txt")
        with np.load(folder / "outputs.npz") as stored:
            found = [stored[key] for key in stored.files]
        (_, first), (_, second), (_, third) = read_markers((folder / "counts.txt").read_text())
    likeness = cosine(found, [np.asarray(x) for x in expected])
    if likeness < SMALLEST_COSINE[dtype]:
        raise RuntimeError(f"it computes something else (cosine {likeness:.4f})")
    return difference(second, first).instructions - difference(third, second).instructions


def reason(problem: Exception) -> str:
    """The last line that says something."""
    lines = [line.strip() for line in str(problem).splitlines() if line.strip()]
    return lines[-1][:200] if lines else type(problem).__name__


def main() -> int:
    parser = argparse.ArgumentParser(
        prog="python -m tests.bench.arm.count_peers",
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    given = os.environ.get("LATHE_ARM64_PYTHON_ROOT")
    parser.add_argument("--root", type=Path, default=given, required=not given)
    parser.add_argument("--networks", type=functools.partial(words.listed, SUITES["real"].networks), default=ON_ARM)
    parser.add_argument("--engines", type=functools.partial(words.listed, ENGINES["fp32"]), default=ENGINES["fp32"])
    parser.add_argument("--dtypes", type=functools.partial(words.listed, tuple(ENGINES)), default=tuple(ENGINES))
    parser.add_argument("--python", help="a Python that has PyTorch, where a network is exported from there")
    options = parser.parse_args()
    suite = SUITES["real"]
    suite.make(options.networks, options.python)
    environment.prepare(list(options.engines))
    packages = site(options.engines)
    for network, dtype in itertools.product(options.networks, options.dtypes):
        if dtype == "int8" and network not in suite.in_bytes:
            continue
        for engine in (name for name in ENGINES[dtype] if name in options.engines):
            sys.stderr.write(f"{network} in {dtype} by {engine}: ")
            found: int | str
            try:
                found = count(options.root.resolve(), packages, engine, network, dtype, suite)
            except (CountingError, LatheError, NetworkError, RuntimeError, subprocess.SubprocessError) as problem:
                found = reason(problem)
            sys.stderr.write(f"{found}\n")
            peers.record(network, CPU, dtype, engine, found)
    return 0


if __name__ == "__main__":
    sys.exit(main())
