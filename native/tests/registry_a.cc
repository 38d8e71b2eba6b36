// One of the two libraries that the tests load into one program.
#include "native/runtime/registry.h"

LATHE_DECLARE_KERNEL(relu_f32_test__portable)
LATHE_DECLARE_KERNEL(add_f32_test__portable)
LATHE_DECLARE_KERNEL(scale_f32_test__portable)
LATHE_DECLARE_KERNEL(view_f32_test__portable)
LATHE_DECLARE_KERNEL(pick_f32_first__portable)
LATHE_DECLARE_KERNEL(pick_f32_second__portable)
LATHE_DECLARE_KERNEL(level_f32_test__vnni)
LATHE_DECLARE_KERNEL(level_f32_test__avx512)
LATHE_DECLARE_KERNEL(level_f32_test__avx2)
LATHE_DECLARE_KERNEL(level_f32_test__i8mm)
LATHE_DECLARE_KERNEL(level_f32_test__dotprod)
LATHE_DECLARE_KERNEL(level_f32_test__fp16)
LATHE_DECLARE_KERNEL(level_f32_test__neon)
LATHE_DECLARE_KERNEL(level_f32_test__neonv7)
LATHE_DECLARE_KERNEL(level_f32_test__rvv)
LATHE_DECLARE_KERNEL(level_f32_test__portable)
LATHE_DECLARE_KERNEL(keep_f32_test__portable)
LATHE_DECLARE_KERNEL(below_f32_test__portable)
LATHE_DECLARE_KERNEL(join_f32_test__portable)
LATHE_DECLARE_KERNEL(split_f32_test__portable)
LATHE_DECLARE_KERNEL(lift_f32_test__portable)
LATHE_DECLARE_KERNEL(fully_connected_f32_tile__portable)
LATHE_DECLARE_KERNEL(if_else_any_generic__portable)
LATHE_DECLARE_KERNEL(loop_any_generic__portable)

namespace {
constexpr const lathe::KernelDef* kernels[] = {
    &lathe_kernel_relu_f32_test__portable,       &lathe_kernel_add_f32_test__portable,
    &lathe_kernel_scale_f32_test__portable,      &lathe_kernel_view_f32_test__portable,
    &lathe_kernel_pick_f32_first__portable,      &lathe_kernel_pick_f32_second__portable,
    &lathe_kernel_level_f32_test__vnni,          &lathe_kernel_level_f32_test__avx512,
    &lathe_kernel_level_f32_test__avx2,          &lathe_kernel_level_f32_test__i8mm,
    &lathe_kernel_level_f32_test__dotprod,       &lathe_kernel_level_f32_test__fp16,
    &lathe_kernel_level_f32_test__neon,          &lathe_kernel_level_f32_test__neonv7,
    &lathe_kernel_level_f32_test__rvv,           &lathe_kernel_level_f32_test__portable,
    &lathe_kernel_keep_f32_test__portable,       &lathe_kernel_below_f32_test__portable,
    &lathe_kernel_join_f32_test__portable,       &lathe_kernel_split_f32_test__portable,
    &lathe_kernel_lift_f32_test__portable,       &lathe_kernel_fully_connected_f32_tile__portable,
    &lathe_kernel_if_else_any_generic__portable, &lathe_kernel_loop_any_generic__portable,
};
constexpr lathe::Registry registry = {"test_a", "0.1.0", kernels, {}, lathe::ExpandScaled, &lathe::kCoreBinding};
}  // namespace

LATHE_DEFINE_API(test_a, registry)
