"""What a library can be built for, and the many ways to spell it."""

from __future__ import annotations

from buildtool.wording import did_you_mean, listed, quoted

HOST = "host"

# Every target that a deployment file may name, with the words for people.
TARGETS: dict[str, str] = {
    HOST: "the machine that builds",
    "aarch64-linux-gnu": "64-bit ARM Linux",
    "arm-linux-gnueabihf": "32-bit ARM Linux with hardware floating point",
    "arm64-v8a": "64-bit ARM Android",
    "armeabi-v7a": "32-bit ARM Android",
    "x86_64": "64-bit x86 Android; Linux on such a machine is `host`",
    "hexagon": "Qualcomm Hexagon DSP",
    "cortex-m": "ARM Cortex-M microcontrollers",
    "k210": "Kendryte K210",
    "max78000": "Analog Devices MAX78000",
    "max78002": "Analog Devices MAX78002",
}

ALIASES: dict[str, str] = {
    "arm64": "aarch64-linux-gnu",
    "armv8": "aarch64-linux-gnu",
    "aarch64": "aarch64-linux-gnu",
    "aarch64_linux_gnu": "aarch64-linux-gnu",
    "armhf": "arm-linux-gnueabihf",
    "armv7l": "arm-linux-gnueabihf",
    "armv7hf": "arm-linux-gnueabihf",
    "arm_linux_gnueabihf": "arm-linux-gnueabihf",
}

SPELLINGS: tuple[str, ...] = (*TARGETS, *ALIASES)


def is_target(name: str) -> bool:
    """Whether it is the name of a target, and not one that somebody gave a toolchain file of their own."""
    return name in TARGETS


def canonical_abi(word: str) -> str:
    """The one name of a target; raises ValueError with a sentence for the user where there is none."""
    name = ALIASES.get(word, word)
    if name not in TARGETS:
        meant = did_you_mean(word, SPELLINGS)
        raise ValueError(f"there is no target {quoted(word)}{'; ' + meant if meant else ''}")
    return name


def known_targets() -> str:
    """The canonical names as one phrase."""
    return listed(TARGETS)
