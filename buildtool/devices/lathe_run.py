"""Runs a job on a device with the program `lathe_run` (native/tools)."""

from __future__ import annotations

import json
import tempfile
from pathlib import Path, PurePosixPath
from typing import Any

import numpy as np

from buildtool.devices.device import Completed, Device
from buildtool.devices.runner import Array, Job, RunResult
from buildtool.errors import DeviceError, LatheError, RunError


def run(device: Device, job: Job) -> RunResult:
    """Run the job. RunError where the library refuses the model or its inputs, or crashes."""
    raise NotImplementedError
