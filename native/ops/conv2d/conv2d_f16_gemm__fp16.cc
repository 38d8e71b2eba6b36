#include "native/core/vector_fp16.h"
// The header of the instruction set goes first.
#include "native/ops/conv2d/conv2d_gemm.h"

LATHE_KERNEL(conv2d_f16_gemm__fp16) = {"conv2d_f16_gemm__fp16",
                                       "conv2d",
                                       sizeof(lathe::ConvState),
                                       sizeof(lathe::ConvPlan),
                                       -1,
                                       lathe::PrepareConv,
                                       lathe::PlanConv,
                                       lathe::RunConv,
                                       0,
                                       lathe::PackingBit(lathe::kPanelPacking)};
