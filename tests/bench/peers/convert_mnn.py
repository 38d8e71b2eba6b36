"""Converts an ONNX file to MNN's format, in the environment of the peers: `convert_mnn.py SOURCE TARGET`.

The converter is called itself: the module of the package around it reports each conversion to a server, for which it
installs packages.
"""

import sys

import MNN  # type: ignore[import-not-found, unused-ignore]  # noqa: F401 (before its tools)
from _tools import mnnconvert  # type: ignore[import-not-found, unused-ignore]

source, target = sys.argv[1:]
mnnconvert(["mnnconvert", "-f", "ONNX", "--modelFile", source, "--MNNModel", target, "--bizCode", "bench"])
