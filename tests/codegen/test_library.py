"""Generated sources that no compiler is needed to judge."""

from __future__ import annotations

import json
from dataclasses import replace

import pytest

from buildtool import resources
from buildtool.codegen.library import AbiSources, EmbeddedModel, LibrarySources, c_string, emit
from buildtool.codegen.native_sources import NativeSources
from buildtool.codegen.source_tree import SourceTree
from buildtool.errors import BuildError


def tree(*models: EmbeddedModel, kernels: tuple[str, ...] = ("relu_f32_simple__portable",)) -> SourceTree:
    files = tuple(f"native/units/relu/{name}.cc" for name in kernels)
    parts = tuple(AbiSources(abi, kernels, files, models) for abi in ("host", "aarch64-linux-gnu"))
    return emit(LibrarySources("my-lib", "my_lib", parts), NativeSources((resources.root(),)))


def test_the_registry_lists_kernels_in_their_order() -> None:
    text = tree().files["abi/host/registry.cc"].decode()
    assert "&lathe_kernel_relu_f32_simple__portable," in text
    assert "LATHE_DEFINE_API(my_lib, registry)" in text
    assert "lathe_embedded_model" not in text


def test_models_inside_the_library() -> None:
    made = tree(EmbeddedModel('a"b', b"pb", b"data"), EmbeddedModel("c", b"longer"))
    text = made.files["abi/host/registry.cc"].decode()
    assert '{"a\\042b", {lathe_model_0, 2}, {lathe_data_0, 4}},' in text
    assert '{"c", {lathe_model_1, 6}, {nullptr, 0}},' in text
    assert made.files["abi/host/model0.data"] == b"data"
    assert "abi/host/model1.data" not in made.files
    assert made.files["abi/host/weights.S"].count(b".incbin") == 3


def test_headers_of_another_interface_come_on_request() -> None:
    assert not any("mace" in name for name in tree().files)
    model = EmbeddedModel("net", b"pb", b"data")
    part = AbiSources("host", (), (), (model,))
    wanted = LibrarySources("my-lib", "my_lib", (part,), ("net",), interfaces=("mace",), stem="mace")
    files = emit(wanted, NativeSources((resources.root(),))).files
    assert b'#include "mace/library_my_lib.h"' in files["include/mace/bound_library.h"]
    assert b"lathe_api_my_lib()" in files["include/mace/library_my_lib.h"]
    assert b'#include "mace/public/net.h"' in files["include/mace/public/mace_engine_factory.h"]
    assert b"namespace net {" in files["include/mace/public/net.h"]
    assert b"OUTPUT_NAME mace" in files["CMakeLists.txt"]
    taken = replace(wanted, abis=(replace(part, models=(replace(model, name="mace"),)),))
    with pytest.raises(BuildError, match="'mace' has a header"):
        emit(taken, NativeSources((resources.root(),)))


def test_a_library_without_kernels() -> None:
    text = tree(kernels=()).files["abi/host/registry.cc"].decode()
    assert text.count("{},") == 2


def test_presets_are_json_for_every_abi() -> None:
    presets = json.loads(tree().files["CMakePresets.json"])
    assert [preset["name"] for preset in presets["configurePresets"]] == ["host", "aarch64-linux-gnu"]


@pytest.mark.parametrize(
    ("text", "literal"), [("a b", '"a b"'), ('"\\?', '"\\042\\134\\077"'), ("é\n", '"\\303\\251\\012"')]
)
def test_c_strings(text: str, literal: str) -> None:
    assert c_string(text) == literal


def test_includes_are_followed_through_any_path() -> None:
    sources = NativeSources.of_tree(
        {
            "native/ops/a/a.cc": b'#include "../b/./b.h"\n  #  include <lathe/c.h>\n#include <stdio.h>\n',
            "native/ops/b/b.h": b'#include "b.h"\n#include "sub/deep.h"\n#include "../../../../outside.h"\n',
            "native/ops/b/b.cc": b"",
            "native/ops/b/sub/deep.h": b'#include "native/ops/a/other.h"\n',
            "native/include/lathe/c.h": b"",
        }
    )
    assert sources.closure("native/ops/a/a.cc") == [
        "native/include/lathe/c.h",
        "native/ops/a/a.cc",
        "native/ops/b/b.h",
        "native/ops/b/sub/deep.h",
    ]
    assert sources.units(["native/ops/a/a.cc"]) == ["native/ops/a/a.cc", "native/ops/b/b.cc"]
    with pytest.raises(BuildError, match="missing"):
        sources.read("native/ops/a/none.cc")


def test_kernels_share_the_units_of_their_instruction_set() -> None:
    kernels = [f"native/units/{name}.cc" for name in ("a/a_f32_x__avx2", "b/b_f32_x__avx2", "c/c_f32_x__portable")]
    shared = ["native/units/p__avx2.cc", "native/units/p__avx512.cc"]
    header = b'#include "native/kernel/gemm/p.h"\n'
    sources = NativeSources.of_tree({"native/kernel/gemm/p.h": b"", **dict.fromkeys((*kernels, *shared), header)})
    assert sources.units(kernels) == sorted([*kernels, shared[0]])
    assert sources.units(kernels[2:]) == kernels[2:]
