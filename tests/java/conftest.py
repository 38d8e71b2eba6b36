"""A library with the classes of Java, and the programs that compile and run what uses them."""

from __future__ import annotations

import subprocess
from dataclasses import dataclass
from pathlib import Path

import onnx
from onnx import TensorProto, helper

import buildtool
from buildtool.builders.java import find_jdk

HERE = Path(__file__).resolve().parent
DIGITS = HERE.parent.parent / "examples" / "digits"
DEPLOYMENT = f"""\
library_name: NAME
target_abis: [host]
model_graph_format: GRAPH
model_data_format: DATA
models:
  digits: {{platform: onnx, model_file_path: {DIGITS}/digits.onnx, data_type: fp32_fp32, input_tensors: image,
    input_shapes: "1,1,8,8", input_data_formats: NCHW, output_tensors: probabilities, output_shapes: "1,10",
    output_data_formats: NONE}}
  twice: {{platform: onnx, model_file_path: twice.onnx, data_type: fp32_fp32, input_tensors: x,
    input_shapes: "1..4,3", output_tensors: y, output_shapes: "1..4,3"}}
  places: {{platform: onnx, model_file_path: places.onnx, data_type: fp32_fp32, input_tensors: x, input_shapes: "5",
    input_data_types: int32, output_tensors: y, output_shapes: "1,1..5", output_data_types: int32}}
"""


@dataclass(frozen=True)
class JavaBuild:
    """A build with --java."""

    folder: Path
    jar: Path
    libraries: Path


def compile_java(program: Path, builds: list[JavaBuild], into: Path) -> None:
    """With all warnings as errors."""
    command = [str(find_jdk().javac), "-Xlint:all", "-Xlint:-options", "-Werror", "--release", "8", "-d", str(into)]
    call([*command, "-cp", _path(builds, "jar"), str(program)])


def run_java(program: str, builds: list[JavaBuild], classes: Path, *arguments: object) -> list[str]:
    """The lines that it prints. Java checks each call of native code, and has nothing to say about it."""
    java = find_jdk().javac.with_name("java")
    options = ["-Xcheck:jni", "-Xmx256m", f"-Djava.library.path={_path(builds, 'libraries')}"]
    said = call([str(java), *options, "-cp", f"{_path(builds, 'jar')}:{classes}", program, *map(str, arguments)])
    assert "WARNING" not in said, said
    return said.splitlines()


def _path(builds: list[JavaBuild], part: str) -> str:
    return ":".join(str(getattr(build, part)) for build in builds)


def call(command: list[str]) -> str:
    done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, check=False)
    assert done.returncode == 0, done.stdout
    return done.stdout


def write_models(folder: Path) -> None:
    """`twice` has a size that varies, `places` whole numbers and an output whose size the data decides."""
    opsets = [helper.make_opsetid("", 17)]
    for name, kind, nodes in (
        ("twice", TensorProto.FLOAT, [helper.make_node("Add", ["x", "x"], ["y"])]),
        (
            "places",
            TensorProto.INT32,
            [helper.make_node("NonZero", ["x"], ["p"]), helper.make_node("Cast", ["p"], ["y"], to=TensorProto.INT32)],
        ),
    ):
        x = helper.make_tensor_value_info("x", kind, ["N", 3] if name == "twice" else [5])
        y = helper.make_tensor_value_info("y", kind, None)
        graph = helper.make_graph(nodes, name, [x], [y])
        onnx.save(helper.make_model(graph, opset_imports=opsets, ir_version=9), folder / f"{name}.onnx")


def build_java(folder: Path, name: str, graph: str = "file", data: str = "file") -> JavaBuild:
    """The library under a name, its models in files or as code."""
    write_models(folder)
    text = DEPLOYMENT.replace("NAME", name).replace("GRAPH", graph).replace("DATA", data)
    (folder / f"{name}.yml").write_text(text)
    options = buildtool.Options(folder / "build", java=True)
    built = buildtool.build(folder / f"{name}.yml", options=options).folder
    return JavaBuild(built, built / "java" / f"{name}.jar", built / "lib" / "host")
