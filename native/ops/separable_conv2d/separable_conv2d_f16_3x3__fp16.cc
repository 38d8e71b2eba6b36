#include "native/core/vector_fp16.h"
// The header of the instruction set goes first.
#include "native/ops/separable_conv2d/separable_conv2d_rows.h"

LATHE_KERNEL(separable_conv2d_f16_3x3__fp16) = {"separable_conv2d_f16_3x3__fp16",
                                                "separable_conv2d",
                                                sizeof(lathe::SeparableState),
                                                sizeof(lathe::SeparablePlan),
                                                -1,
                                                lathe::PrepareSeparable,
                                                lathe::PlanSeparable,
                                                lathe::RunSeparable,
                                                0,
                                                lathe::PackingBit(lathe::kPanelPacking)};
