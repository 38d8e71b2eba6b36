"""The words for instruction sets stand in three places that cannot read each other; they agree."""

from __future__ import annotations

import re
from dataclasses import replace

import pytest

from buildtool import resources
from buildtool.targets.cpu.capabilities import CPU
from buildtool.targets.processors import AARCH64, ARMHF, RISCV64, WASM32_SIMD, X86_64, host

ALL = {
    "__x86_64__": X86_64,
    "__aarch64__": AARCH64,
    "__arm__": ARMHF,
    "__riscv": RISCV64,
    "__wasm__": WASM32_SIMD,
}


@pytest.mark.parametrize("macro", ALL)
def test_the_runtime_has_the_same_words_in_the_same_order(macro: str) -> None:
    text = (resources.root() / "native" / "runtime" / "cpu.cc").read_text(encoding="utf-8")
    found = re.search(rf"defined\({macro}\)\nconstexpr char kWords\[\]\[9\] = {{(.*?)}};", text)
    assert found is not None
    assert tuple(re.findall(r'"(\w+)"', found[1])) == ALL[macro].isas


def test_the_compiler_knows_every_word() -> None:
    text = (resources.cmake_dir() / "LatheIsa.cmake").read_text(encoding="utf-8")
    flags = set(re.findall(r"LATHE_ISA_FLAGS_(\w+)", text))
    assert {word for abi in ALL.values() for word in abi.isas} <= flags
    sets = {(*words.split(), "portable") for words in re.findall(r"set\(isas ([\w ]+)\)", text)}
    assert sets == {abi.isas for abi in ALL.values()}


def test_host_is_an_architecture_and_no_processor() -> None:
    assert (host("x86_64").isas, host("x86_64").machine) == (X86_64.isas, "")
    assert host("aarch64") == replace(AARCH64, machine="")
    assert host("riscv64").isas == ("rvv", "portable")
    for abi in CPU.abis.values():
        assert abi.isas[-1] == "portable"
        assert abi.baseline == abi.isas[-len(abi.baseline) :]
