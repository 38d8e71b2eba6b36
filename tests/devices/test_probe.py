"""What boards and phones say of themselves becomes figures."""

from __future__ import annotations

from buildtool.devices.probe import of_this_machine, properties

BOARD = """\
machine\taarch64
system\tLinux 6.1.21-v8+
cores\t4
features\tfp asimd evtstrm crc32 cpuid
memory\t3884364
free\t3141592
model\tRaspberry Pi 4 Model B Rev 1.4
soc\traspberrypi,4-model-b brcm,bcm2711
governor\tondemand
frequency\t1800000
governor\tondemand
frequency\t1800000
governor\tperformance
frequency\t2400000
thermal\tcpu-thermal 52582
thermal\tgpu 48
nonsense
odd\t
"""


def test_a_board() -> None:
    said = properties(BOARD)
    assert said == {
        "machine": "aarch64",
        "system": "Linux 6.1.21-v8+",
        "cores": "4",
        "model": "Raspberry Pi 4 Model B Rev 1.4",
        "features": "fp asimd evtstrm crc32 cpuid",
        "memory": "3.7 GiB",
        "free": "3.0 GiB",
        "soc": "brcm,bcm2711",
        "governor": "ondemand x2, performance x1",
        "frequency": "1.80 GHz, 2.40 GHz",
        "thermal": "cpu-thermal 52.6 C, gpu 48.0 C",
    }


def test_this_machine_answers() -> None:
    said = of_this_machine()
    assert int(said["cores"]) >= 1
    assert said["memory"].endswith(" GiB")
