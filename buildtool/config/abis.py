"""What a library can be built for, and the many ways to spell it."""

from __future__ import annotations

from buildtool.extensions.targets import words
from buildtool.wording import did_you_mean, listed, quoted

# What a deployment file may name although nothing builds for it yet, with the words for people.
_PLANNED: dict[str, str] = {
    "hexagon": "Qualcomm Hexagon DSP",
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
    "riscv64": "riscv64-linux-gnu",
    "riscv64_linux_gnu": "riscv64-linux-gnu",
    "cortex-m": "cortex-m4",
}


def targets() -> dict[str, str]:
    """All that a deployment file may name, with the words for people: machines first, then chips."""
    known = words()
    chips = {abi for abis in known.chips.values() for abi in abis}
    machines = {abi: title or abi for abi, title in known.abis.items() if abi not in chips}
    return {**machines, **_PLANNED, **{abi: known.abis[abi] or abi for abi in known.abis if abi in chips}}


def spellings() -> tuple[str, ...]:
    """Everything that stands for a target."""
    return (*targets(), *ALIASES)


def unloaded() -> str:
    """What to tell of packages whose targets could not be loaded, where a word is unknown; empty without such."""
    failures = words().failures
    return f"possible cause: {failures[0].what}; {failures[0].remedy}" if failures else ""


def is_target(name: str) -> bool:
    """Whether it is the name of a target, and not one that somebody gave a toolchain file of their own."""
    return name in targets()


def canonical_abi(word: str) -> str:
    """The one name of a target; raises ValueError with a sentence for the user where there is none."""
    name = ALIASES.get(word, word)
    if name not in targets():
        meant = did_you_mean(word, spellings())
        raise ValueError(f"there is no target {quoted(word)}{'; ' + meant if meant else ''}")
    return name


def known_targets() -> str:
    """The canonical names as one phrase."""
    return listed(targets())
