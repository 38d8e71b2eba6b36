"""The project around the generated programs: what make hands to the SDK, what Eclipse starts, and the log."""

from __future__ import annotations

from pathlib import Path
from xml.etree import ElementTree

import pytest

from buildtool.targets.max7800x.devices import MAX78000
from buildtool.targets.max7800x.firmware import sources
from tests.native_builds import command
from tests.targets.max7800x.test_sources import classifier, made, write

MAKE_SETTINGS = {
    "": ("cnn.c main.c softmax.c", "-O2", "build/{}.elf"),
    "AUTOSEARCH=1 with own.c": ("cnn.c main.c softmax.c own.c", "-O2", "build/{}.elf"),
    "AUTOSEARCH=0 with own.c": ("cnn.c main.c softmax.c", "-O2", "build/{}.elf"),
    "DEBUG=1": ("cnn.c main.c softmax.c", "-Og", "build/{}.elf"),
    "DEBUG=1 MXC_OPTIMIZE_CFLAGS=-O3": ("cnn.c main.c softmax.c", "-O3", "build/{}.elf"),
    "SBT=1": ("cnn.c main.c softmax.c", "-O2", "sla"),
}


@pytest.mark.parametrize("settings", MAKE_SETTINGS)
def test_the_makefile_follows_the_settings_of_the_sdk(settings: str, tmp_path: Path) -> None:
    """With empty files in the place of the SDK's, make says what it would hand to them."""
    sdk, folder = tmp_path / "sdk", tmp_path / "project"
    part = MAX78000.part
    for name in (
        f"Libraries/Boards/{part}/EvKit_V1/board.mk",
        "Libraries/libs.mk",
        f"Libraries/CMSIS/Device/Maxim/{part}/Source/GCC/{part.lower()}.mk",
        "Tools/SBT/SBT-config.mk",
        "Tools/SBT/SBT-rules.mk",
    ):
        (sdk / name).parent.mkdir(parents=True, exist_ok=True)
        (sdk / name).write_text("")
    (sdk / "Tools/SBT/SBT-rules.mk").write_text("sla:\n\t@echo goal=sla from $(MAXIM_SBT_DIR)\n")
    rule = "$(BUILD_DIR)/$(PROJECT).elf:\n\t@echo goal=$@\nall:\n\t@echo sources=$(SRCS) flags=$(MXC_OPTIMIZE_CFLAGS)\n"
    (sdk / "Libraries/libs.mk").write_text(rule)
    folder.mkdir()
    write(folder, sources.emit(made(classifier(MAX78000), softmax=True)))
    words = settings.split(" with ")
    if len(words) > 1:
        (folder / words[1]).write_text("")
    printed = command(["make", "-s", "-C", folder, f"MAXIM_PATH={sdk}", *words[0].split()])
    files, flags, goal = MAKE_SETTINGS[settings]
    assert f"sources={files} flags={flags}" in printed
    assert f"goal={goal}" in printed.replace(f"{folder}/", "").replace("classes", "{}")


def test_the_project_can_be_debugged_and_is_told_in_a_log(tmp_path: Path) -> None:
    files = sources.emit(made(classifier(MAX78000)))
    launch = next(content for name, content in files.items() if name.endswith(".launch"))
    values = {entry.get("key"): entry.get("value") for entry in ElementTree.fromstring(launch)}
    assert values["org.eclipse.cdt.launch.PROGRAM_NAME"] == "build/classes.elf"
    log, writes = files["log.txt"].decode(), made(classifier()).register_writes["cnn_configure"]
    assert writes
    assert all(f"{address:08x} = {value:08x}" in log for address, value in writes)
    riscv = sources.emit(made(classifier(MAX78000), processor="riscv"))
    assert sorted(name for name in riscv if name.endswith((".launch", "log.txt"))) == sorted(
        [next(name for name in files if name.endswith(".launch")), "riscv/log.txt"]
    )
