"""Faults of the DSP give the result of the CPU, or one clear error: the table of docs/how-to/hexagon.md."""

from __future__ import annotations

import os
import re
from dataclasses import dataclass
from pathlib import Path
from unittest import mock

import pytest

from buildtool.errors import LatheError
from buildtool.runtime import DeviceKind
from tests.targets.hexagon.network import small_library, small_network

pytestmark = pytest.mark.slow


@dataclass(frozen=True)
class Fault:
    """`fault`: as native/hexagon/simulator/rpc.cc reads it. `told`: in the reason why the CPU runs the part, or in the
    error of a run; `runs`: whether the first and the second run give a result.
    """

    name: str
    fault: str
    on_dsp: bool
    told: str = ""
    runs: tuple[bool, bool] = (True, True)
    unsigned: bool = True


_FAULTS = (
    Fault("nothing", "", True),
    Fault("no_unsigned_programs", "session=failed", False, "the DSP takes no unsigned programs"),
    Fault("signed_programs_ask_for_nothing", "session=failed,signed", True, unsigned=False),
    Fault("refused_signature", "open=signature", False, "the DSP refuses the program's signature"),
    Fault("no_memory_for_the_program", "open=memory", False, "there is no memory"),
    Fault("does_not_answer", "open=timeout", False, "it took too long"),
    Fault("down_when_it_is_opened", "open=restart", False, "the DSP went down"),
    Fault("no_memory_for_weights", "invoke@1=memory", False, "there is no memory"),
    Fault("down_when_it_gets_weights", "invoke@1=restart", False, "the DSP went down"),
    Fault("no_shared_memory", "alloc=memory", True),
    Fault("down_in_a_run", "invoke@2=restart", True),
    Fault("down_in_the_second_run", "invoke@3=restart", True),
    Fault("down_twice", "invoke@2=restart,invoke@4=restart", True, "the DSP went down", (False, True)),
    Fault("down_for_good", "invoke@2=restart,open@2=failed", True, "cannot be started again", (False, True)),
    Fault("a_run_takes_too_long", "invoke@2=timeout", True, "it took too long", (False, True)),
    Fault("no_memory_in_a_run", "invoke@2=memory", True, "there is no memory", (False, True)),
    Fault("does_not_close", "close=failed", True),
)


@pytest.mark.parametrize("fault", _FAULTS, ids=lambda fault: fault.name)
def test_result_or_error(fault: Fault, tmp_path: Path) -> None:
    network, library = small_network(unsigned=fault.unsigned), small_library()
    log = tmp_path / "log"
    with library.on_simulator(fault=fault.fault, log=str(log)):
        engine = library.engine(network.model)
        assert engine.device_info.on_device == fault.on_dsp
        if not fault.on_dsp:
            assert fault.told in (engine.device_info.reason or "")
        session = engine.session()
        for right in fault.runs:
            if right:
                network.check(session.run(network.inputs))
            else:
                with pytest.raises(LatheError, match=re.escape(fault.told)):
                    session.run(network.inputs)
        del session, engine
    closed = [line for line in log.read_text().splitlines() if line.startswith("close")] if log.exists() else []
    assert all(line.endswith(" 0 0") for line in closed), "the program keeps threads or memory"


@pytest.mark.parametrize("fault", [fault for fault in _FAULTS if not fault.on_dsp], ids=lambda fault: fault.name)
def test_an_application_that_wants_the_dsp_only(fault: Fault) -> None:
    network, library = small_network(unsigned=fault.unsigned), small_library()
    with (
        library.on_simulator(fault=f"{fault.fault},only"),
        pytest.raises(LatheError, match=re.escape(fault.told)),
    ):
        library.engine(network.model, DeviceKind.DSP)


@pytest.mark.parametrize(
    ("library_file", "told"),
    [("/nonexistent.so", "there is no FastRPC: /nonexistent.so"), ("libm.so.6", "lacks functions of FastRPC")],
)
def test_machines_without_a_dsp(library_file: str, told: str) -> None:
    network = small_network()
    with mock.patch.dict(os.environ, {"LATHE_HEXAGON_LIBRARY": library_file}):
        engine = small_library().engine(network.model)
        assert not engine.device_info.on_device
        assert told in (engine.device_info.reason or "")
        network.check(engine.run(network.inputs))


def test_a_program_that_is_nowhere(tmp_path: Path) -> None:
    network, library = small_network(), small_library()
    with library.on_simulator(), mock.patch.dict(os.environ, {"DSP_LIBRARY_PATH": str(tmp_path)}):
        engine = library.engine(network.model)
        assert "is its folder in DSP_LIBRARY_PATH?" in (engine.device_info.reason or "")
        network.check(engine.run(network.inputs))


@pytest.mark.parametrize("damage", ["cut", "empty", "text", "flipped"])
def test_a_damaged_program(damage: str, tmp_path: Path) -> None:
    """The DSP's loader is a stand-in here; the application has to survive what it answers."""
    network, library = small_network(), small_library()
    (program,) = library.programs.glob("*.so")
    whole = program.read_bytes()
    flipped = bytearray(whole)
    flipped[0x20:0x60] = bytes(byte ^ 0x5A for byte in flipped[0x20:0x60])
    bad = {"cut": whole[: len(whole) // 2], "empty": b"", "text": b"no program", "flipped": bytes(flipped)}[damage]
    (tmp_path / program.name).write_bytes(bad)
    with library.on_simulator(), mock.patch.dict(os.environ, {"DSP_LIBRARY_PATH": str(tmp_path)}):
        engine = library.engine(network.model)
        assert not engine.device_info.on_device
        network.check(engine.run(network.inputs))
