"""Runs a model of a library on a device, through the program `lathe_run`."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path, PurePosixPath
from typing import Any

import numpy as np
import numpy.typing as npt

from buildtool.devices.device import DEFAULT_TIMEOUT, Completed, Device
from buildtool.errors import DeviceError, RunError, Where

Array = npt.NDArray[Any]
