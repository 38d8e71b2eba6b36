"""OpenCL texts: made small without a change of meaning, packed, and handed over by a generated library."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from buildtool import resources
from buildtool.codegen import opencl
from buildtool.codegen.library import AbiSources, LibrarySources, emit
from buildtool.codegen.lz import CorruptTextError
from buildtool.codegen.native_sources import NativeSources
from buildtool.codegen.source_tree import SourceTree
from buildtool.errors import BuildError
from buildtool.plan import units
from tests.native_builds import build, command

TEXT = """\
// One line,
/* and several: "no text"
   of them */ # define  LIMIT( x )  /* here */ ((x) > 4 ? - -x : +x)
#define NEGATIVE  (-1)
#  pragma OPENCL EXTENSION  cl_khr_fp16 : enable
#define TWO \\
  lines

__kernel void f(__global  float *  x, int n) {
    x [ 0 ] = n - -1 + + n - .5f;   // "
    x[1] = 1.0f / *x; printf("a  // b\\n", 'c' , x ++ + 1);
    return;
}
#if  defined( HALF )  &&  LIMIT == 1
#endif
"""
SMALL = """\
#define LIMIT(x)((x)>4?- -x:+x)
#define NEGATIVE (-1)
#pragma OPENCL EXTENSION cl_khr_fp16 : enable
#define TWO lines
__kernel void f(__global float*x,int n){x[0]=n- -1+ +n-.5f;x[1]=1.0f/ *x;printf("a  // b\\n",'c',x+++1);return;}
#if defined(HALF)&&LIMIT==1
#endif
"""


def test_a_text_loses_what_means_nothing() -> None:
    assert opencl.minify(TEXT) == SMALL
    assert opencl.minify(SMALL) == SMALL
    assert opencl.minify(TEXT.replace("\n", "\r\n")) == SMALL


def test_lines_stay_short_enough_for_any_compiler() -> None:
    text = opencl.minify("x = x + 1; " * 1000)
    assert max(map(len, text.splitlines())) < 1000
    assert text.replace("\n", "") == "x=x+1;" * 1000


def test_the_preprocessor_sees_the_same_tokens_in_the_texts_of_lathe(tmp_path: Path) -> None:
    """Whatever is defined: the preprocessor of C is the same one. The texts stand behind each other for speed."""
    whole, small = tmp_path / "whole.cl", tmp_path / "small.cl"
    known = NativeSources((resources.root(),))
    units = [path.stem for path in sorted((resources.root() / opencl.FOLDER / "ops").glob("*.cl"))]
    paths = [f"{opencl.FOLDER}/common.cl", *(f"{opencl.FOLDER}/ops/{unit}.cl" for unit in units)]
    texts = ["".join(opencl._included(path, known, ())) for path in paths]
    whole.write_text("".join(texts))
    small.write_text("".join(map(opencl.minify, texts)))
    for defined in ((), ("HALF", "HALF_MATH", "CHECK", "ACTIVATION=2", "K=b", "K0=i")):
        options = ["-E", "-P", "-w", "-x", "c", *(f"-D{word}" for word in defined)]
        before, after = (command(["cc", *options, file]) for file in (whole, small))
        assert opencl._TOKEN.findall(before) == opencl._TOKEN.findall(after)


@settings(deadline=None)
@given(st.lists(st.text(st.characters(min_codepoint=0x20, max_codepoint=0x7E)), min_size=1, max_size=5))
def test_packed_texts_come_out_in_their_order(texts: list[str]) -> None:
    common, *others = texts
    stream = opencl.pack(common, {f"unit{number}": text for number, text in enumerate(others)})
    assert opencl.unpack(stream, len(texts)) == [opencl.minify(text) for text in texts]


def test_damaged_streams_are_told() -> None:
    stream = opencl.pack("int x;", {"a": TEXT, "b": TEXT})
    for size in range(len(stream)):
        with pytest.raises(CorruptTextError):
            opencl.unpack(stream[:size], 3)
    with pytest.raises(CorruptTextError):
        opencl.unpack(stream[:3] + bytes((stream[3] ^ 1,)) + stream[4:], 3)


def test_a_unit_costs_little_where_another_one_is_like_it() -> None:
    one, two = (len(opencl.pack("", dict.fromkeys(names, TEXT))) for names in ("a", "ab"))
    assert two - one < 10


def test_characters_that_opencl_does_not_know() -> None:
    opencl.pack("", {"a": "int x; // °C"})
    with pytest.raises(BuildError, match="'a' contains the character '°'"):
        opencl.pack("", {"a": 'printf("°C");'})


def sources(**texts: str) -> NativeSources:
    """Texts by their paths in native/opencl, with `__` for a slash."""
    files = {f"{opencl.FOLDER}/{name.replace('__', '/')}.cl": text.encode() for name, text in texts.items()}
    return NativeSources.of_tree({f"{opencl.FOLDER}/common.cl": b"int common;\n", **files})


def test_included_texts_stand_in_their_place() -> None:
    known = sources(
        unary="int unary;", ops__near='#include "unary.cl"\n', ops__a='int a;\n # include "near.cl"\nint b;'
    )
    stream = opencl.sources_of(["a"], known)
    assert opencl.unpack(stream, 2) == ["int common;\n", "int a;int unary;int b;\n"]


def test_includes_that_cannot_be() -> None:
    with pytest.raises(BuildError, match=r"'none.cl' does not exist") as caught:
        opencl.sources_of(["a"], sources(ops__a='\n#include "none.cl"'))
    assert (caught.value.problems[0].where.file, caught.value.problems[0].where.line) == ("native/opencl/ops/a.cl", 2)
    with pytest.raises(BuildError, match="includes itself"):
        opencl.sources_of(["a"], sources(ops__a='#include "b.cl"', b='#include "b.cl"'))
    with pytest.raises(BuildError, match="missing"):
        opencl.sources_of(["none"], sources())


def tree(names: tuple[str, ...], own: Path) -> SourceTree:
    """A library of these units, which lie in a folder of the user's."""
    for unit in names:
        folder = own / "native" / "opencl" / "ops"
        folder.mkdir(parents=True, exist_ok=True)
        (folder / f"{unit}.cl").write_text(f"__kernel void {unit}() {{}}\n")
        (folder / f"{unit}.cc").write_text(
            '#include "native/opencl/sources.h"\n#include "native/opencl/unit.h"\n'
            f"namespace lathe::opencl {{ LATHE_OPENCL_PLAN({unit})(Node&) {{ return Code::kOk; }} }}\n"
        )
        (folder / f"{unit}.yaml").write_text("op: relu\ninputs: [f32]\n")
    known = {unit.name: unit for unit in units.load([own]).of("relu")}
    part = AbiSources("host", (), (), device_units=tuple(known[name] for name in names))
    return emit(LibrarySources("l", "l", (part,)), NativeSources((resources.root(), own)))


def test_a_tree_hands_its_device_units_over(tmp_path: Path) -> None:
    made = tree(("second", "first"), tmp_path)
    registry = made.files["abi/host/registry.cc"].decode()
    stream = made.files["abi/host/opencl.data"]
    assert registry.index('{"second", "relu", lathe::opencl::plan_second}') < registry.index('{"first", "relu", ')
    assert "LATHE_DECLARE_OPENCL_PLAN(first)\nLATHE_DECLARE_OPENCL_PLAN(second)\n" in registry
    assert f"lathe_opencl_sources,\n    {len(stream)},\n    {{}},\n    {{}},\n}};" in registry
    assert opencl.unpack(stream, 3)[1:] == ["__kernel void second(){}\n", "__kernel void first(){}\n"]
    assert b'.incbin "opencl.data"' in made.files["abi/host/weights.S"]
    assert {f"native/opencl/{name}.cc" for name in ("ops/first", "ops/second", "sources")} <= set(made.units["host"])
    assert b"opencl.data" in made.files["abi/host/sources.cmake"]


def test_a_tree_without_device_units_knows_nothing_of_them(tmp_path: Path) -> None:
    files = tree((), tmp_path).files
    assert not any("opencl" in name for name in files)
    assert b"opencl" not in files["abi/host/registry.cc"] + files["abi/host/weights.S"]


@pytest.mark.slow
def test_libraries_read_the_texts_under_sanitizers(tmp_path: Path) -> None:
    known = NativeSources((resources.root(),))
    real = [path.stem for path in sorted((resources.root() / opencl.FOLDER / "ops").glob("*.cl"))]
    streams = {"real": (opencl.sources_of(real, known), len(real) + 1)}
    streams["empty"] = (opencl.pack("", {"a": ""}), 2)
    streams["far"] = (opencl.pack(TEXT, {"a": "int a = 7;" * 99, "b": f"/* far */{'float x;' * 200}", "c": TEXT}), 4)
    for name, (stream, count) in streams.items():
        (tmp_path / f"{name}.stream").write_bytes(stream)
        texts = opencl.unpack(stream, count)
        (tmp_path / f"{name}.texts").write_bytes(b"".join(text.encode() + b"\0" for text in texts))
    program = build("opencl_sources_test", variant="asan") / "tests" / "opencl_sources_test"
    assert "PASSED" in command([program, "--gtest_brief=1"], LATHE_STREAMS=str(tmp_path))
