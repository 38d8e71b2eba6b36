"""tflite-micro, with CMSIS-NN on ARM, from sources that the caller has.

The folder holds `tflite-micro`, `CMSIS-NN`, `flatbuffers`, `gemmlowp` and `ruy` as their repositories have them, and
`libstdcxx`: headers of libstdc++ for bare machines (Debian's libstdc++-arm-none-eabi-dev, unpacked).
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from buildtool.targets.micro.network import Network
from buildtool.targets.micro.processors import Processor
from tests.bench.micro import programs

_KERNELS = (
    "conv",
    "depthwise_conv",
    "fully_connected",
    "pooling",
    "softmax",
    "add",
    "reshape",
    "quantize",
    "dequantize",
)
_ARENA = 200 * 1024
_FLAGS = (
    *("-O3", "-ffunction-sections", "-fdata-sections", "-w", "-DNDEBUG", "-DTF_LITE_STATIC_MEMORY"),
    *("-DTF_LITE_STRIP_ERROR_STRINGS", "-DKERNELS_OPTIMIZED_FOR_SPEED", "-DTF_LITE_MCU_DEBUG_LOG"),
)
_CXX = ("-std=c++17", "-fno-exceptions", "-fno-rtti", "-fno-threadsafe-statics")
_HARNESS = """
#include <new>
#include "tensorflow/lite/micro/micro_interpreter.h"
#include "tensorflow/lite/micro/micro_mutable_op_resolver.h"
#include "tensorflow/lite/schema/schema_generated.h"
extern "C" {
#include "harness.h"
extern const unsigned char lm_model[];
}
extern "C" void DebugLog(const char*, va_list) {}
extern "C" int DebugVsnprintf(char*, size_t, const char*, va_list) { return 0; }
alignas(16) static unsigned char arena[ARENA];
static tflite::MicroInterpreter* interpreter;
static unsigned used;
extern "C" {
const int lm_harness_inputs = 1, lm_harness_outputs = 2;
static lm_harness_border in[1], out[2];
const lm_harness_border* const lm_harness_input = in;
const lm_harness_border* const lm_harness_output = out;
void lm_harness_prepare(void) {
  static tflite::MicroMutableOpResolver<8> resolver;
  RESOLVER
  static tflite::MicroInterpreter made(tflite::GetModel(lm_model), resolver, arena, ARENA);
  interpreter = &made;
  if (made.AllocateTensors() != kTfLiteOk) for (;;) {}
  used = made.arena_used_bytes();
  in[0].data = made.input(0)->data.raw; in[0].size = made.input(0)->bytes;
  out[0].data = made.output(0)->data.raw; out[0].size = made.output(0)->bytes;
  out[1].data = &used; out[1].size = 4;
}
void lm_harness_invoke(void) { interpreter->Invoke(); }
int __cxa_atexit(void (*)(void*), void*, void*) { return 0; }
void __cxa_pure_virtual(void) { for (;;) {} }
}
void* __dso_handle;
void operator delete(void*) noexcept {}
void operator delete(void*, size_t) noexcept {}
"""
_METHODS = {
    "CONV_2D": "AddConv2D",
    "DEPTHWISE_CONV_2D": "AddDepthwiseConv2D",
    "FULLY_CONNECTED": "AddFullyConnected",
    "AVERAGE_POOL_2D": "AddAveragePool2D",
    "MAX_POOL_2D": "AddMaxPool2D",
    "SOFTMAX": "AddSoftmax",
    "ADD": "AddAdd",
    "RESHAPE": "AddReshape",
    "QUANTIZE": "AddQuantize",
    "DEQUANTIZE": "AddDequantize",
}


@dataclass(frozen=True)
class Figures:
    """What a run of the other engine says."""

    output: bytes
    instructions: int
    code: int
    weights: int
    ram: int
    stack: int


def run(file: Path, network: Network, processor: Processor, engines: Path, place: Path, data: bytes) -> Figures:
    """A model with the kernels that it needs."""
    folder = place / "program"
    folder.mkdir(parents=True, exist_ok=True)
    model = file.read_bytes()
    calls = " ".join(f"resolver.{_METHODS[op]}();" for op in operators(model))
    harness = folder / "tflm_harness.cc"
    harness.write_text(_HARNESS.replace("ARENA", str(_ARENA)).replace("RESOLVER", calls))
    bytes_ = ",".join(map(str, model))
    array = folder / "tflm_model.c"
    array.write_text(f"const unsigned char lm_model[] __attribute__((aligned(16))) = {{{bytes_}}};\n")
    common = [*_FLAGS, *_includes(engines, processor), f"-I{programs.EMULATOR}"]
    jobs = [
        (source, _flags(source, common))
        for source in (*_sources(engines, processor), *programs.board_sources(processor))
    ]
    objects = programs.compile_all(jobs, processor, place / "objects")
    own = programs.compile_all([(harness, [*common, *_CXX]), (array, common)], processor, folder)
    program = folder / "program.elf"
    extra = ("-lm", "--specs=nosys.specs") if processor.is_arm else ("-lm",)
    programs.link([*own, *objects], processor, program, *extra)
    ran = programs.run(program, processor, data)
    flash, ram = programs.sizes(program)
    used = int.from_bytes(ran.output[-4:], "little")
    return Figures(ran.output[:-4], ran.instructions, flash - len(model), len(model), ram - _ARENA + used, ran.stack)


def operators(model: bytes) -> list[str]:
    """The operators of a file, by their names in the schema."""
    import tflite

    graph = tflite.Model.GetRootAs(model)
    names = {number: name for name, number in vars(tflite.BuiltinOperator).items() if isinstance(number, int)}
    codes = [graph.OperatorCodes(index) for index in range(graph.OperatorCodesLength())]
    return [names[max(code.BuiltinCode(), code.DeprecatedBuiltinCode())] for code in codes]


def _flags(source: Path, common: list[str]) -> list[str]:
    return [*common, *(_CXX if source.suffix == ".cc" else ())]


def _includes(engines: Path, processor: Processor) -> list[str]:
    standard = engines / "libstdcxx" / "usr" / "include" / "newlib" / "c++" / "12.2.1"
    folders = [
        *(engines / name for name in ("tflite-micro", "gemmlowp", "ruy", "CMSIS-NN")),
        *(
            engines / "flatbuffers" / "include",
            engines / "CMSIS-NN" / "Include",
            standard,
            standard / "arm-none-eabi" / "thumb" / "v7e-m" / "nofp",
        ),
    ]
    defines = ["-DCMSIS_NN"] if processor.is_arm else []
    return [*defines, *(f"-I{folder}" for folder in folders)]


def _sources(engines: Path, processor: Processor) -> Iterator[Path]:
    lite = engines / "tflite-micro" / "tensorflow" / "lite"
    micro = lite / "micro"
    for folder in (micro, micro / "arena_allocator", micro / "memory_planner", micro / "tflite_bridge"):
        yield from (each for each in sorted(folder.glob("*.cc")) if _is_wanted(each))
    for name in ("core/c/common", "core/api/flatbuffer_conversions", "core/api/tensor_utils", "array"):
        yield lite / f"{name}.cc"
    for name in ("kernel_util", "internal/common", "internal/quantization_util", "internal/portable_tensor_utils"):
        yield lite / "kernels" / f"{name}.cc"
    for name in ("tensor_ctypes", "tensor_utils", "runtime_shape", "reference/portable_tensor_utils"):
        if (file := lite / "kernels" / "internal" / f"{name}.cc").is_file():
            yield file
    yield engines / "tflite-micro" / "tensorflow" / "compiler" / "mlir" / "lite" / "schema" / "schema_utils.cc"
    yield micro / "kernels" / "kernel_util.cc"
    for name in _KERNELS:
        better = micro / "kernels" / "cmsis_nn" / f"{name}.cc"
        yield better if processor.is_arm and better.is_file() else micro / "kernels" / f"{name}.cc"
        if (common := micro / "kernels" / f"{name}_common.cc").is_file():
            yield common
    if processor.is_arm:
        everything = sorted((engines / "CMSIS-NN" / "Source").rglob("*.c"))
        yield from (each for each in everything if "_f16" not in each.name and "_f32" not in each.name)


def _is_wanted(file: Path) -> bool:
    left_out = (
        "test",
        "fake",
        "recording",
        "debug_log",
        "hexdump",
        "mock",
        "micro_time",
        "micro_profiler",
        "benchmark",
    )
    return not any(word in file.name for word in left_out)
