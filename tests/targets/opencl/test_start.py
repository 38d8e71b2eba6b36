"""Programs at the start of an engine: built from source, found in a folder or handed in; files that are of no use."""

from __future__ import annotations

import json
import random
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from buildtool.runtime import DeviceInfo, DeviceKind, DeviceOptions
from tests.native_builds import opencl_shim
from tests.targets.opencl.fault_runner import run_apart
from tests.targets.opencl.network import small_library, small_network

pytestmark = [pytest.mark.opencl, pytest.mark.slow]

_PROGRAMS = 5  # of the small network: one a unit
_PROCESSES = 4


def _start(options: DeviceOptions) -> DeviceInfo:
    """What an engine says of its programs, after a run whose result was right."""
    network = small_network()
    engine = network.engine(small_library(), options)
    network.check(engine.run(network.inputs))
    info = engine.device_info
    assert info.on_device, info.reason
    assert info.programs_built + info.programs_loaded == _PROGRAMS
    return info


def _in(folder: Path, *, rebuilds: bool = False) -> DeviceInfo:
    return _start(DeviceOptions(kind=DeviceKind.GPU, storage_path=folder, rebuilds_programs=rebuilds))


@pytest.fixture(scope="module")
def store(program_store: Path, tmp_path_factory: pytest.TempPathFactory) -> bytes:
    """What a first run leaves in its folder; `program_store`: drivers keep what they want where tests do."""
    folder = tmp_path_factory.mktemp("store")
    assert _in(folder).programs_built == _PROGRAMS
    return _file_in(folder).read_bytes()


def _file_in(folder: Path) -> Path:
    return folder / f"lathe_opencl_{small_library().name}.bin"


def test_a_second_run_builds_nothing(store: bytes, tmp_path: Path) -> None:
    _file_in(tmp_path).write_bytes(store)
    assert _in(tmp_path).programs_built == 0
    assert _in(tmp_path, rebuilds=True).programs_built == _PROGRAMS
    assert [file.name for file in tmp_path.iterdir()] == [_file_in(tmp_path).name]


def test_programs_are_handed_out_and_in(store: bytes, tmp_path: Path) -> None:
    network = small_network()
    made = network.engine(small_library(), DeviceOptions(kind=DeviceKind.GPU)).device_data(1)
    assert _start(DeviceOptions(kind=DeviceKind.GPU, binary=made)).programs_built == 0
    file = tmp_path / "programs"
    file.write_bytes(made)
    assert _start(DeviceOptions(kind=DeviceKind.GPU, binary_paths=("/nonexistent", file))).programs_built == 0
    assert _start(DeviceOptions(kind=DeviceKind.GPU, binary=made[: len(made) // 2])).programs_built == _PROGRAMS


def _flipped(data: bytes, seed: int) -> bytes:
    changed = bytearray(data)
    changed[random.Random(seed).randrange(len(data))] ^= 0x10
    return bytes(changed)


_DAMAGES: tuple[tuple[str, Callable[[bytes], bytes]], ...] = (
    ("empty", lambda data: b""),
    ("of_others", lambda data: b"not what it should be" * 100),
    *((f"cut_{part}", lambda data, part=part: data[: len(data) * part // 10]) for part in (1, 5, 9)),
    *((f"flipped_{seed}", lambda data, seed=seed: _flipped(data, seed)) for seed in range(3)),
    ("head_flipped", lambda data: _flipped(data[:40], 7) + data[40:]),
    ("longer", lambda data: data + bytes(64)),
)


@pytest.mark.parametrize("damage", [damage for _, damage in _DAMAGES], ids=[name for name, _ in _DAMAGES])
def test_damaged_files_are_replaced(damage: Callable[[bytes], bytes], store: bytes, tmp_path: Path) -> None:
    _file_in(tmp_path).write_bytes(damage(store))
    assert _in(tmp_path).programs_built > 0
    assert _in(tmp_path).programs_built == 0


def test_programs_of_another_driver_are_not_used(store: bytes, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    _file_in(tmp_path).write_bytes(store)
    monkeypatch.setenv("LATHE_OPENCL_LIBRARY", str(opencl_shim()))
    monkeypatch.setenv("LATHE_SHIM", "device:driver=4711")
    assert _in(tmp_path).programs_built == _PROGRAMS
    assert _in(tmp_path).programs_built == 0


def test_folders_that_are_of_no_use(store: bytes, tmp_path: Path) -> None:
    assert _in(tmp_path / "absent").programs_built == _PROGRAMS
    _file_in(tmp_path).mkdir()
    assert _in(tmp_path).programs_built == _PROGRAMS
    assert _in(_file_in(tmp_path) / "deep" / ("x" * 5000)).programs_built == _PROGRAMS


def test_processes_share_a_folder(store: bytes, tmp_path: Path) -> None:
    words = {"shim": "", "library": None, "kind": 2, "check": False, "memory": "image", "storage": str(tmp_path)}
    cases = [{**words, "anew": anew} for anew in (False, True, False, True)]
    with ThreadPoolExecutor(_PROCESSES) as threads:
        started = [threads.submit(run_apart, cases) for _ in range(_PROCESSES)]
    for process in started:
        done = process.result()
        assert done.returncode == 0, done.stderr
        told = [json.loads(line) for line in done.stdout.splitlines()]
        assert [line["stage"] for line in told] == ["done"] * 4
        assert [line["built"] for line in told[1:]] == [_PROGRAMS, 0, _PROGRAMS]
    assert [file.name for file in tmp_path.iterdir()] == [_file_in(tmp_path).name]
    assert _in(tmp_path).programs_built == 0
