"""The order of the stages, and nothing else: what is behind each command, callable from Python.

    Deployment -> ImportedModel -> Graph -> TargetProgram -> SourceTree -> BuiltLibrary -> RunResult -> Report

Every function takes the path of a deployment file. All failures are LatheErrors. Their modules are
imported on first use: a command should not wait for those of others.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from buildtool.workflow.accuracy import measure_accuracy
    from buildtool.workflow.benchmarking import bench
    from buildtool.workflow.building import build, commands, convert, export, package_firmware
    from buildtool.workflow.checking import check
    from buildtool.workflow.checking_android import ndk_check
    from buildtool.workflow.debugging import debug
    from buildtool.workflow.inner_tensors import dump, trap, validate_layers
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

_MODULES = {
    "accuracy": ("measure_accuracy",),
    "benchmarking": ("bench",),
    "building": ("build", "commands", "convert", "export", "package_firmware"),
    "checking": ("check",),
    "checking_android": ("ndk_check",),
    "debugging": ("debug",),
    "inner_tensors": ("dump", "trap", "validate_layers"),
    "preparing": ("prepare",),
    "quantising": ("correct", "log_ranges", "quantize", "ranges_of_log", "sensitivity"),
    "running": ("load", "run", "validate"),
    "simulating": ("Labelled", "compare_dumped", "measure_labelled"),
    "tuning": ("tune",),
}
_MODULE_OF = {name: module for module, names in _MODULES.items() for name in names}


def __getattr__(name: str) -> Any:
    if name in _MODULE_OF:
        return getattr(importlib.import_module(f"buildtool.workflow.{_MODULE_OF[name]}"), name)
    raise AttributeError(f"module 'buildtool.workflow' has no attribute '{name}'")
