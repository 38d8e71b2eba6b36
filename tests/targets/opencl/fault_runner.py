"""Runs the small network under faults, in a process of its own: what crashes there is told by the test.

Reads cases from the standard input, one JSON object a line, and writes one line about each.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from buildtool.errors import LatheError
from buildtool.runtime import DeviceInfo, DeviceKind, DeviceOptions, Engine, Library, Session
from tests.native_builds import ROOT, opencl_shim
from tests.targets.opencl.device_library import Mode
from tests.targets.opencl.network import Network, small_library, small_network

RUNS = 2
_SECONDS = 300


def run_apart(cases: Sequence[Mapping[str, Any]]) -> subprocess.CompletedProcess[str]:
    """Runs the cases, one after the other, in a process of their own."""
    library = small_library()
    return subprocess.run(
        [sys.executable, "-m", __name__, library.path, library.name, opencl_shim()],
        input="".join(json.dumps(case) + "\n" for case in cases),
        cwd=ROOT,
        capture_output=True,
        text=True,
        timeout=_SECONDS,
        check=False,
    )


def _run_case(case: Mapping[str, Any], library: Library, shim: str) -> dict[str, Any]:
    os.environ["LATHE_OPENCL_LIBRARY"] = shim if case["library"] is None else case["library"]
    os.environ["LATHE_SHIM"] = case["shim"]
    options = DeviceOptions(
        kind=DeviceKind(case["kind"]), check=case["check"], storage_path=case["storage"], rebuilds_programs=case["anew"]
    )
    network = small_network(Mode(case["memory"]))
    told = _try(network, library, options)
    # Nothing of it is left behind that others stumble over.
    network.check(network.engine(library, DeviceOptions(kind=DeviceKind.CPU)).run(network.inputs))
    return told


def _try(network: Network, library: Library, options: DeviceOptions) -> dict[str, Any]:
    try:
        engine = network.engine(library, options)
    except LatheError as error:
        return {"stage": "create", "message": str(error), "runs": 0}
    told: dict[str, Any] = {"stage": "done", "message": "", "runs": 0}
    try:
        session = engine.session()
    except LatheError as error:
        return {**told, "stage": "session", "message": str(error), **_info(engine.device_info)}
    for _ in range(RUNS):
        try:
            results = session.run(network.inputs)
        except LatheError as error:
            _go_on(network, engine, session)
            return {**told, "stage": "run", "message": str(error), **_info(engine.device_info)}
        network.check(results)
        told["runs"] += 1
    return {**told, **_info(engine.device_info)}


def _go_on(network: Network, engine: Engine, session: Session) -> None:
    """What an application does that does not give up: right or an error, every time."""
    for attempt in (session.run, lambda inputs: engine.session().run(inputs)):
        try:
            network.check(attempt(network.inputs))
        except LatheError:
            continue


def _info(info: DeviceInfo) -> dict[str, Any]:
    return {"on_device": info.on_device, "reason": info.reason, "device": info.device, "built": info.programs_built}


def main() -> None:
    library, shim = Library(Path(sys.argv[1]), sys.argv[2]), sys.argv[3]
    for line in sys.stdin:
        sys.stdout.write(json.dumps(_run_case(json.loads(line), library, shim)) + "\n")
        sys.stdout.flush()


if __name__ == "__main__":
    main()
