"""ARM programs by qemu-user: they run, and the processor model is the one that was asked for."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from buildtool.devices.choose import device_for

pytestmark = pytest.mark.arm


@pytest.mark.parametrize(("abi", "bits"), [("aarch64-linux-gnu", 64), ("arm-linux-gnueabihf", 32)])
def test_a_program_of_the_abi_runs(tmp_path: Path, abi: str, bits: int) -> None:
    source = tmp_path / "bits.c"
    source.write_text('#include <stdio.h>\nint main(void) { printf("%d", (int)(8 * sizeof(void*))); return 5; }\n')
    program = tmp_path / "bits"
    subprocess.run([f"{abi}-gcc", "-o", str(program), str(source)], check=True)
    device = device_for(abi)
    done = device.run([device.push(program)])
    assert (done.stdout, done.exit_code) == (str(bits), 5)
    assert device.properties()["cpu"] == "max"
    device.close()


def test_an_older_processor_does_not_know_new_instructions(tmp_path: Path) -> None:
    source = tmp_path / "dot.c"
    source.write_text(
        'int main(void) { __asm__ volatile(".inst 0x4e829420"); return 0; }\n'
    )  # sdot v0.4s, v1.16b, v2.16b
    program = tmp_path / "dot"
    subprocess.run(["aarch64-linux-gnu-gcc", "-o", str(program), str(source)], check=True)
    for cpu, exit_code in (("max", 0), ("cortex-a53", -4)):
        device = device_for("aarch64-linux-gnu", cpu)
        assert device.run([device.push(program)]).exit_code == exit_code
        device.close()
