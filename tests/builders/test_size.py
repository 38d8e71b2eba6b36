"""Every byte of a library is counted once, and belongs to whom it should."""

from __future__ import annotations

import pytest

from buildtool.builders.size import entries
from buildtool.errors import RunError
from buildtool.runtime import Library
from tests.builders.conftest import ABIS, Build, source

MAP = """\
Discarded input sections

 .text.unused   0x0000000000000000       0x10 a.o

Linker script and memory map

.text           0x0000000000001000       0x30
 .text.short    0x0000000000001000       0x10 a.o
 .text._ZN5lathe17a_name_that_has_a_line_of_its_ownEv
                0x0000000000001010       0x20 lib.a(b.o)
 *(.text.hot)
 .rodata.str1.1
                0x0000000000001030       0x08 merged.o
                                         0x10 (size before relaxing)
"""


def test_entries_of_a_map_are_what_was_kept() -> None:
    assert list(entries(MAP)) == [
        (".text.short", 0x1000, 0x10, "a.o"),
        (".text._ZN5lathe17a_name_that_has_a_line_of_its_ownEv", 0x1010, 0x20, "lib.a(b.o)"),
        (".rodata.str1.1", 0x1030, 0x08, "merged.o"),
    ]


@pytest.mark.parametrize("abi", ABIS)
@pytest.mark.slow
def test_the_parts_are_the_whole_file(build: Build, abi: str) -> None:
    built = build(source(code=True), abi)
    sizes = built.sizes
    assert sizes.total == built.shared.stat().st_size
    assert all(part.bytes > 0 for part in sizes.parts)
    padding = next((part.bytes for part in sizes.parts if part.name == "padding"), 0)
    assert padding < 4096 + 64 * len(sizes.parts), "what is not padding must have an owner"
    assert set(built.info.kernels) <= set(sizes.kernels)
    assert {part.operator for part in sizes.parts if part.group == "kernels"} == set(sizes.operators)
    assert {"model.cc", "session.cc", "status.cc"} <= {part.name for part in sizes.parts if part.group == "core"}
    models = {part.name: part for part in sizes.parts if part.group == "models"}
    assert {name.rpartition(": ")[2] for name in models} == {"graph", "weights"}


@pytest.mark.slow
def test_texts_belong_to_the_kernels_that_hold_them(build: Build) -> None:
    """Without messages a kernel keeps its code and loses constants; the runtime loses its own."""
    loud, silent = (build(source(messages=messages), owner=f"messages {messages}") for messages in (True, False))
    for name, before in loud.sizes.kernels.items():
        assert silent.sizes.kernels[name] <= before
    assert silent.sizes.group("core") < 0.9 * loud.sizes.group("core")
    texts = silent.shared.read_bytes()
    assert b"attribute '%s'" in loud.shared.read_bytes()
    assert b"attribute '%s'" not in texts
    with pytest.raises(RunError, match="bad model: code 4, built without messages"):
        Library(silent.shared).engine(model=b"\x12\xff")
