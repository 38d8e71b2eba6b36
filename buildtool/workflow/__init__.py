"""The order of the stages, and nothing else: what is behind each command, callable from Python.

    Deployment -> ImportedModel -> Graph -> TargetProgram -> SourceTree -> BuiltLibrary -> RunResult -> Report

Every function takes the path of a deployment file. All failures are LatheErrors.
"""

from buildtool.workflow.accuracy import measure_accuracy
from buildtool.workflow.benchmarking import bench
from buildtool.workflow.building import build, commands, convert, export, package_firmware
from buildtool.workflow.checking import check
from buildtool.workflow.debugging import debug
from buildtool.workflow.inner_tensors import dump, trap, validate_layers
from buildtool.workflow.ndk_check import ndk_check
from buildtool.workflow.preparing import prepare
from buildtool.workflow.quantising import correct, log_ranges, quantize, ranges_of_log, sensitivity
from buildtool.workflow.running import load, run, validate
from buildtool.workflow.simulating import Labelled, compare_dumped, measure_labelled
from buildtool.workflow.tuning import tune

__all__ = [
    "Labelled",
    "bench",
    "build",
    "check",
    "commands",
    "compare_dumped",
    "convert",
    "correct",
    "debug",
    "dump",
    "export",
    "load",
    "log_ranges",
    "measure_accuracy",
    "measure_labelled",
    "ndk_check",
    "package_firmware",
    "prepare",
    "quantize",
    "ranges_of_log",
    "run",
    "sensitivity",
    "trap",
    "tune",
    "validate",
    "validate_layers",
]
