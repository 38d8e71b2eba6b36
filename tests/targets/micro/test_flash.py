"""A limit of flash: as many layers with code of their own as it allows, equal outputs, fewer instructions."""

from __future__ import annotations

import re
import subprocess
from pathlib import Path

import numpy as np
import pytest

from buildtool.targets.micro import flash, reference, report
from buildtool.targets.micro.emitting import emulated, files, model
from buildtool.targets.micro.network import Network
from buildtool.targets.micro.planning import plan
from buildtool.targets.micro.processors import PROCESSORS, Processor
from tests.cli.conftest import Lathe, lathe
from tests.targets.micro import boards
from tests.targets.micro.quantised_models import images, inputs_of, network_of

__all__ = ["lathe"]  # a fixture
_PLENTY = 1 << 20


def _constants(network: Network, processor: Processor) -> int:
    return sum(report.constant_bytes(layer, processor.sets[0]) for layer in network.layers)


def test_more_flash_is_used_where_it_saves_most(tmp_path: Path) -> None:
    network, processor = network_of(images(3), tmp_path), PROCESSORS["cortex-m4"]
    constants = _constants(network, processor)
    shared = flash.choose(network, processor, constants, None)
    assert shared is not None and not shared.own and shared.bytes == shared.smallest
    assert flash.choose(network, processor, constants, shared.smallest - 1) is None
    saved = []
    for limit in range(shared.smallest, shared.smallest + 40000, 2000):
        choice = flash.choose(network, processor, constants, limit)
        assert choice is not None and choice.bytes <= limit and choice.smallest == shared.smallest
        saved.append(choice.saved)
    assert saved == sorted(saved) and saved[-1] > saved[0]
    most = flash.choose(network, processor, constants, _PLENTY)
    assert most is not None and len(most.own) > 4 and most.saved >= saved[-1]


@pytest.mark.arm
@pytest.mark.parametrize(
    "abi",
    ["cortex-m4", *(pytest.param(abi, marks=pytest.mark.slow) for abi in ("cortex-m3", "cortex-m55", "rv32imac"))],
)
def test_own_code_computes_the_same_with_less(abi: str, tmp_path: Path) -> None:
    network, processor = network_of(images(3), tmp_path), PROCESSORS[abi]
    choice = flash.choose(network, processor, _constants(network, processor), _PLENTY)
    assert choice is not None and choice.own
    inputs = inputs_of(network, 4)
    (tmp_path / "shared").mkdir()
    shared = boards.run(network, abi, tmp_path / "shared", inputs)
    memory, name = plan(network, processor.sets[0]), model.identifier(network.name)
    sources = files.kernels([network], processor)
    sources[f"{name}.h"] = model.header(network, memory).encode()
    sources[f"{name}.c"] = model.source(network, memory, processor.sets[0], choice.own).encode()
    parts = model.own_sources(network, memory, processor.sets[0], choice.own)
    sources |= {file: text.encode() for file, text in parts.items()}
    assert len(parts) == len(choice.own) + 1
    sources["harness.c"] = emulated.harness(network, memory)
    given = {"input.bin": b"".join(array.tobytes() for array in inputs.values())}
    output, instructions = boards.execute(sources, abi, tmp_path, given)
    expected = b"".join(np.ascontiguousarray(each).tobytes() for each in reference.evaluate(network, inputs).values())
    assert output[4:] == expected
    saved = shared.instructions - instructions
    assert 0.3 * choice.saved < saved < 3 * choice.saved
    flashed = _flash(tmp_path / "program.elf", processor)
    # The emulator's program around the model has less than 4 KB, and C libraries have memcpy and memset.
    assert 0.7 * choice.bytes < flashed < 1.4 * choice.bytes + 4096


def _flash(program: Path, processor: Processor) -> int:
    words = [f"{processor.prefix}size", str(program)]
    return int(subprocess.run(words, capture_output=True, text=True, check=True).stdout.splitlines()[1].split()[0])


@pytest.mark.parametrize("shrinks", [False, pytest.param(True, marks=pytest.mark.slow)])
def test_what_is_linked_has_to_fit(
    shrinks: bool, tmp_path: Path, lathe: Lathe, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Estimates may be too small: a build is refused then, with a limit that helps."""
    (tmp_path / "m.tflite").write_bytes(images(8))
    file = tmp_path / "m.yml"
    assert lathe("init", tmp_path / "m.tflite", "-o", file, "--target-abis", "cortex-m3").code == 0
    text = file.read_text().replace("target_abis: [cortex-m3]", "target_abis: [host]")

    def build(limit: int) -> str:
        file.write_text(text.replace("    runtime: cpu\n", f"    runtime: cpu\n    micro: {{flash_limit: {limit}}}\n"))
        built = lathe("build", file, "-o", tmp_path / "build", "--no-archive")
        assert (built.code == 0) == ("more than" not in built.stderr), built.stderr
        return " ".join(built.stderr.split())

    estimated = flash._bytes
    monkeypatch.setattr(flash, "_bytes", lambda *about: estimated(*about) // 4)
    if not shrinks:
        monkeypatch.setattr(flash, "_may_own", lambda *about: False)
    limit = 14000 if shrinks else 10000
    said = build(limit)
    linked = int(re.search(r"takes ([\d,]+) bytes of flash on host, more than", said)[1].replace(",", ""))  # type: ignore[index]
    assert f"set it to {2 * limit - linked if shrinks else linked}" in said
    if not shrinks:
        assert f"the model takes {linked:,} of {linked:,} bytes of flash on host" in build(linked)


@pytest.mark.arm
def test_a_build_says_what_the_limit_is_used_for(tmp_path: Path, lathe: Lathe) -> None:
    (tmp_path / "m.tflite").write_bytes(images(8))
    file = tmp_path / "m.yml"
    assert lathe("init", tmp_path / "m.tflite", "-o", file, "--target-abis", "cortex-m4").code == 0
    file.write_text(
        file.read_text().replace("    runtime: cpu\n", "    runtime: cpu\n    micro: {flash_limit: 60000}\n")
    )
    built = lathe("build", file, "-o", tmp_path / "build", "--no-archive")
    assert built.code == 0, built.stderr
    assert "layers have code of their own, compiled for their constants" in built.stderr
    folder = tmp_path / "build" / "m" / "lib" / "cortex-m4" / "m"
    own = sorted(path.name for path in (folder / "src").glob("m_layer*.c"))
    assert own and "m_layers.h" in (folder / "src" / own[0]).read_text()
    subprocess.run(["make", "-C", str(folder)], check=True, capture_output=True)
    assert (folder / "build" / "libm.a").is_file()
