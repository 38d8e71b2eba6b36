// One of the two libraries that the tests load into one program.
#include "native/runtime/registry.h"

LATHE_DECLARE_KERNEL(relu_f32_test__portable)

namespace {
// One input of 4 numbers, which is the output as well.
constexpr unsigned char model[] = {
    0x08, 0x01, 0x12, 0x04, 'e',  'c',  'h',  'o',                     // version, name
    0x1a, 0x11,                                                        // graph
    0x1a, 0x09, 0x0a, 0x01, 'x',  0x18, 0x01, 0x22, 0x02, 0x08, 0x04,  // value x: f32[4]
    0x22, 0x04, 0x08, 0x00, 0x10, 0x00,                                // body: input 0, output 0
};
constexpr const lathe::KernelDef* kernels[] = {&lathe_kernel_relu_f32_test__portable};
constexpr lathe_embedded_model models[] = {{"echo", {model, sizeof(model)}, {nullptr, 0}}};
constexpr lathe::Registry registry = {"test_b", "0.1.0", kernels, models};
}  // namespace

LATHE_DEFINE_API(test_b, registry)
