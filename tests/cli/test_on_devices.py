"""One deployment on devices: by ssh and by adb, with the commands that users type."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from buildtool.cli.main import run as command
from tests.cli.conftest import EXAMPLE, Lathe
from tests.devices.adbd import AdbServer, Phone
from tests.devices.sshd import Sshd

pytestmark = [pytest.mark.slow, pytest.mark.arm]


@pytest.fixture(scope="module")
def project(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The example, built for 64-bit ARM once for all tests of this file."""
    folder = tmp_path_factory.mktemp("digits")
    for name in ("deploy.yml", "digits.onnx"):
        shutil.copy(EXAMPLE / name, folder / name)
    assert command(["build", str(folder / "deploy.yml"), "-o", str(folder / "build"), "--abi", "arm64", "-q"]) == 0
    return folder


def on(project: Path) -> list[object]:
    return [project / "deploy.yml", "--output", project / "build", "--abi", "arm64", "--num-threads", 1, "--json"]


def test_validate_run_and_bench_by_ssh(lathe: Lathe, project: Path, tmp_path: Path) -> None:
    with Sshd(tmp_path / "board") as board:
        device = ["--device-yml", board.device_file()]
        results = lathe("validate", *on(project), "--kind", "shared", *device).document["results"]
        assert [(result["device"], result["passed"]) for result in results] == [("board", True)]
        (result,) = lathe("run", *on(project), *device, "--output-dir", tmp_path / "out").document["runs"]
        assert Path(result["outputs"][0]["file"]).is_file()
        assert lathe("bench", *on(project), *device, "--round", 3, "--warmup", 0).code == 0
        wrong = lathe("run", *on(project), "--abi", "host", *device)
        assert wrong.code == 10
        assert "none of the chosen devices" in wrong.stdout
        assert not board.jobs()


def test_the_deployment_chooses_devices_by_their_chip(lathe: Lathe, project: Path, tmp_path: Path) -> None:
    file = project / "chips.yml"
    file.write_text((project / "deploy.yml").read_text() + "target_socs: [RK3399]\n")
    words = [file, *on(project)[1:]]
    with Sshd(tmp_path / "board") as board:
        other = ["--device-yml", board.device_file(target_socs="SM8450")]
        for command_ in ("run", "validate", "bench"):
            refused = lathe(command_, *words, *other)
            assert refused.code == 10
            assert "no device with the chip RK3399" in refused.stdout
        assert lathe("run", *words, *other, "--target-socs", "all").code == 0
        right = ["--device-yml", board.device_file(target_socs="RK3399")]
        (result,) = lathe("run", *words, *right).document["runs"]
        assert result["device"] == "board"


def test_validate_on_every_phone(lathe: Lathe, project: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "adb").mkdir()
    with AdbServer(tmp_path / "adb") as server, Phone(tmp_path / "one") as one, Phone(tmp_path / "two") as two:
        for name, value in server.variables.items():
            monkeypatch.setenv(name, value)
        for phone in (one, two):
            server.connect(phone)
        results = lathe("validate", *on(project), "--kind", "shared", "--device", "adb").document["results"]
        assert {result["device"] for result in results} == {f"adb:{one.serial}", f"adb:{two.serial}"}
        assert all(result["passed"] for result in results)
        table = lathe("devices", "--device", "adb").stdout
        assert f"adb:{one.serial}" in table
        assert "SM8450" in table
        assert not one.jobs()


def test_the_tests_of_the_core_on_a_device(lathe: Lathe, tmp_path: Path) -> None:
    with Sshd(tmp_path / "board") as board:
        words = ["--abi", "arm64", "--device-yml", board.device_file(), "--filter", "PlannerTest.*:Planner.*", "--json"]
        tests = lathe("test", *words).document["tests"]
    assert [test["program"] for test in tests] == ["core_test", "threads_test"]
    assert tests[0]["passed"] > 0
    assert not any(test["failed"] for test in tests)
