#include "native/core/vector_fp16.h"
#define LATHE_WINOGRAD_TILE 4
// After the two above.
#include "native/ops/conv2d/conv2d_winograd.h"

LATHE_KERNEL(conv2d_f16_winograd4__fp16) = {"conv2d_f16_winograd4__fp16",
                                            "conv2d",
                                            sizeof(lathe::WinogradState),
                                            sizeof(lathe::WinogradPlan),
                                            -1,
                                            lathe::PrepareWinograd,
                                            lathe::PlanWinograd,
                                            lathe::RunWinograd,
                                            0,
                                            lathe::PackingBit(lathe::kWinogradPacking)};
