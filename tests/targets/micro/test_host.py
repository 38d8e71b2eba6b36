"""The portable kernels on this machine, under AddressSanitizer and UndefinedBehaviorSanitizer."""

from __future__ import annotations

import subprocess
from pathlib import Path

import numpy as np
import pytest

from buildtool import resources
from buildtool.targets.micro import reference
from buildtool.targets.micro.emitting import emulated, files, model
from buildtool.targets.micro.planning import plan
from buildtool.targets.micro.processors import PROCESSORS
from tests.targets.micro.boards import WARNINGS
from tests.targets.micro.quantised_models import images, inputs_of, network_of, rearranged, wide

_SANITIZED = ("-fsanitize=address,undefined", "-fno-sanitize-recover=all", "-g", "-O1")


@pytest.mark.parametrize("make", [images, wide, rearranged])
def test_no_kernel_leaves_its_memory(make: object, tmp_path: Path) -> None:
    assert callable(make)
    network = network_of(make(8), tmp_path)
    memory = plan(network, "portable")
    sources = files.kernels([network], PROCESSORS["cortex-m3"])
    sources |= {
        "m.h": model.header(network, memory).encode(),
        "m.c": model.source(network, memory, "portable").encode(),
    }
    sources["harness.c"] = emulated.harness(network, memory)
    for name, data in sources.items():
        (tmp_path / name).write_bytes(data)
    units = [name for name in sources if name.endswith(".c")]
    include = f"-I{resources.native_dir() / 'micro' / 'emulator'}"
    main = str(Path(__file__).with_name("host_main.c"))
    command = ["gcc", *WARNINGS, *_SANITIZED, "-std=gnu99", "-I.", include, *units, main, "-o", "host"]
    subprocess.run(command, cwd=tmp_path, check=True)
    inputs = inputs_of(network, 9)
    given = b"".join(array.tobytes() for array in inputs.values())
    done = subprocess.run(["./host"], cwd=tmp_path, input=given, capture_output=True, check=False)
    assert done.returncode == 0, done.stderr.decode()
    expected = b"".join(np.ascontiguousarray(each).tobytes() for each in reference.evaluate(network, inputs).values())
    assert done.stdout == expected
