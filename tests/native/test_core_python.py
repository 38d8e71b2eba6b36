"""buildtool.runtime against a library of the native tests, and models that the container's writer makes."""

from __future__ import annotations

import gc
import shutil
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from buildtool.codegen import container
from buildtool.errors import RunError
from buildtool.ir.dims import symbol
from buildtool.ir.graph import Graph
from buildtool.ir.types import DType
from buildtool.runtime import Engine, Library
from tests.native_builds import build
from tests.plan.graphs import add_input, apply, make


@pytest.fixture(scope="module")
def library() -> Library:
    return Library(build("test_a") / "tests" / "libtest_a.so")


def relu_engine(library: Library) -> Engine:
    """relu over [n, 3] with n in 1..4."""
    graph = Graph(name="relu")
    rows = symbol("n", 1, 4)
    assert rows.symbol is not None
    graph.symbols["n"] = rows.symbol
    x = add_input(graph, "x", (rows, 3))
    y = apply(graph, make("relu"), x, name="activation")
    y.source_names = ("Relu:0",)
    graph.outputs.append(apply(graph, make("relu"), y, name="again"))
    files = container.write(graph, name="relu", half=False, input_formats=["NONE"], output_formats=["NC"])
    return library.engine(model=files.model, data=files.data, threads=2)


def echo_engine(library: Library, dtype: DType) -> Engine:
    """The input is the output."""
    graph = Graph(name="echo")
    graph.outputs.append(add_input(graph, "x", (4,), dtype))
    files = container.write(graph, name="echo", half=False)
    return library.engine(model=files.model, data=files.data)


def test_library_tells_what_it_holds(library: Library) -> None:
    assert library.name == "test_a"
    assert library.version
    assert "relu_f32_test__portable" in library.kernels
    assert library.models == ()


def test_run_takes_the_shapes_of_the_arrays(library: Library) -> None:
    engine = relu_engine(library)
    (info,) = engine.inputs
    assert (info.name, info.dtype, info.shape, info.min_shape) == ("x", DType.F32, (4, 3), (1, 3))
    (output,) = engine.outputs
    assert (output.format, output.max_shape) == ("NC", (4, 3))
    for rows in (4, 1, 3):
        x = np.random.default_rng(rows).standard_normal((rows, 3)).astype(np.float32)
        np.testing.assert_array_equal(engine.run({"x": x})[output.name], np.maximum(x, 0))
    assert engine.inputs[0].shape == (3, 3)


def test_inputs_of_other_kinds(library: Library) -> None:
    engine = relu_engine(library)
    wide = np.arange(-6, 6, dtype=np.float32).reshape(4, 3)
    name = engine.outputs[0].name
    swapped = wide.astype(">f4")
    np.testing.assert_array_equal(engine.run({"x": swapped})[name], np.maximum(wide, 0))
    np.testing.assert_array_equal(engine.run({"x": [[-1, 2, -3]]})[name], [[0, 2, 0]])
    across = np.asfortranarray(wide)
    np.testing.assert_array_equal(engine.run({"x": across})[name], np.maximum(wide, 0))


@pytest.mark.parametrize("dtype", list(DType), ids=lambda dtype: dtype.value)
def test_every_element_type_passes(library: Library, dtype: DType) -> None:
    x = np.array([0, 1, 0, 1]).astype(dtype.numpy)
    y = echo_engine(library, dtype).run({"x": x})["x"]
    assert y.dtype == dtype.numpy
    np.testing.assert_array_equal(x, y)


@pytest.mark.parametrize("copy", [True, False])
def test_arrays_with_gaps_and_outputs_that_stay(library: Library, copy: bool) -> None:
    """The memory of outputs that have one size is looked up once, and what was returned must not change later."""
    engine = echo_engine(library, DType.F32)
    gaps = np.arange(8, dtype=np.float32)[::2]
    first = engine.run({"x": gaps})["x"]
    np.testing.assert_array_equal(first, gaps)
    np.testing.assert_array_equal(engine.run({"x": np.full(4, 7, np.float32)}, copy=copy)["x"], np.full(4, 7))
    np.testing.assert_array_equal(first, gaps)
    first += 1  # its own memory, which may be written
    np.testing.assert_array_equal(engine.run({"x": gaps[::-1]}, copy=copy)["x"], gaps[::-1])


def test_bf16_is_rounded_to_nearest_even(library: Library) -> None:
    bits = np.array([0x3F808000, 0x3F818000, 0x7F800000, 0x7FC00001], dtype=np.uint32)
    y = echo_engine(library, DType.BF16).run({"x": bits.view(np.float32)})["x"]
    assert [hex(word >> 16) for word in y.view(np.uint32).tolist()] == ["0x3f80", "0x3f82", "0x7f80", "0x7fc0"]


def test_values_memory_and_profile(library: Library) -> None:
    engine = relu_engine(library)
    x = np.array([[-1, 2, 3]], dtype=np.float32)
    session = engine.session(keep_all=True)
    session.run({"x": x})
    np.testing.assert_array_equal(session.value("Relu:0"), [[0, 2, 3]])
    assert len(session.values) == 3
    assert [entry.name for entry in session.profile()] == ["activation", "again"]
    assert session.memory.arena > 0
    closed = engine.session()
    closed.run({"x": x})
    with pytest.raises(RunError, match="does not outlive the run"):
        closed.value("Relu:0")


def test_sessions_in_threads(library: Library) -> None:
    engine = relu_engine(library)
    name = engine.outputs[0].name
    wrong: list[int] = []

    def work(number: int) -> None:
        session = engine.session()
        x = np.full((4, 3), number, np.float32)
        results = [session.run({"x": x})[name] for _ in range(50)]
        wrong.extend(number for y in results if not np.array_equal(y, x))

    threads = [threading.Thread(target=work, args=(number,)) for number in range(1, 5)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not wrong


def test_one_session_in_threads(library: Library) -> None:
    """Runs take turns, from inputs to outputs, whatever the shapes."""
    session = relu_engine(library).session()
    name = session.outputs[0].name
    wrong: list[int] = []

    def work(number: int) -> None:
        x = np.full((1 + number % 4, 3), number, np.float32)
        results = [session.run({"x": x})[name] for _ in range(150)]
        wrong.extend(number for y in results if y.shape != x.shape or not np.array_equal(y, x))

    threads = [threading.Thread(target=work, args=(number,)) for number in range(1, 5)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not wrong


def test_views_show_the_memory_of_their_session(library: Library) -> None:
    session = relu_engine(library).session()
    name = session.outputs[0].name
    one, two = (np.full((2, 3), number, np.float32) for number in (1, 2))
    kept = session.run({"x": one})[name]
    view = session.run({"x": one}, copy=False)[name]
    assert not view.flags.writeable
    session.run({"x": two})
    np.testing.assert_array_equal(view, two)
    np.testing.assert_array_equal(kept, one)
    with pytest.raises(RunError, match="views are still in use"):
        session.run({"x": np.zeros((3, 3), np.float32)})
    with pytest.raises(RunError, match="views are still in use"):
        session.resize({"x": (3, 3)})
    part = view[1:]
    del view, session  # the memory lives as long as anything that shows it
    gc.collect()
    np.testing.assert_array_equal(part, two[1:])


def test_a_session_without_views_changes_its_shapes_again(library: Library) -> None:
    session = relu_engine(library).session()
    view = session.run({"x": np.ones((2, 3), np.float32)}, copy=False)
    del view
    session.resize({"x": (3, 3)})
    assert session.outputs[0].shape == (3, 3)


@pytest.mark.slow
def test_objects_that_refer_to_each_other_end_in_any_order(tmp_path: Path) -> None:
    """As what a traceback holds: Python ends such a library before its engines, in the order of their creation."""
    path = Path(shutil.copy(build("test_a") / "tests" / "libtest_a.so", tmp_path))

    def use() -> None:
        library = Library(path)
        engine = relu_engine(library)
        session = engine.session()
        session.run({"x": np.ones((2, 3), np.float32)})
        circle: list[object] = [library, engine, session]
        circle.append(circle)

    gc.collect()
    gc.disable()
    try:
        use()
    finally:
        gc.enable()
    assert str(path) in Path("/proc/self/maps").read_text()
    gc.collect()
    assert str(path) not in Path("/proc/self/maps").read_text(), "the last of them unloads it"


BAD_CALLS: list[tuple[str, Callable[[Library, Engine], Any]]] = [
    ("input 'x' is missing", lambda _, engine: engine.run({})),
    ("there is no input 'y'", lambda _, engine: engine.run({"y": [1.0]})),
    ("dimension 1 of input 'x' is 4, it must be 3", lambda _, engine: engine.run({"x": np.zeros((1, 4), np.float32)})),
    (
        "dimension 0 of input 'x' is 9, allowed is 1 to 4",
        lambda _, engine: engine.run({"x": np.zeros((9, 3), np.float32)}),
    ),
    ("input 'x' has 2 dimensions", lambda _, engine: engine.run({"x": 1.0})),
    ("holds complex128, the model takes f32", lambda _, engine: engine.run({"x": np.zeros((1, 3), complex)})),
    ("holds float64, the model takes f32", lambda _, engine: engine.run({"x": np.zeros((1, 3))})),
    ("holds uint8, the model takes f32", lambda _, engine: engine.run({"x": np.zeros((1, 3), np.uint8)})),
    ("the model has no value 'z'", lambda _, engine: engine.session().value("z")),
    ("library 'test_a' holds 0 models", lambda library, _: library.engine()),
    ("cannot open '/nowhere.pb'", lambda library, _: library.engine(model="/nowhere.pb")),
    ("bad model", lambda library, _: library.engine(model=b"nonsense")),
    ("the number of threads is negative", lambda library, _: echo_negative(library)),
]


def echo_negative(library: Library) -> Engine:
    graph = Graph(name="echo")
    graph.outputs.append(add_input(graph, "x", (4,)))
    files = container.write(graph, name="echo", half=False)
    return library.engine(model=files.model, data=files.data, threads=-1)


@pytest.mark.parametrize(("message", "call"), BAD_CALLS, ids=[message for message, _ in BAD_CALLS])
def test_errors_are_typed(library: Library, message: str, call: Callable[[Library, Engine], Any]) -> None:
    with pytest.raises(RunError, match=message):
        call(library, relu_engine(library))


def test_other_files_are_no_libraries(tmp_path: Path, library: Library) -> None:
    text = tmp_path / "libtext.so"
    text.write_text("text", encoding="utf-8")
    with pytest.raises(RunError, match=r"libtext\.so"):
        Library(text)
    with pytest.raises(RunError, match="there is no library"):
        Library(tmp_path / "nothing.so")
    with pytest.raises(RunError, match="it has no function 'lathe_api_other'"):
        Library(library.path, "other")
