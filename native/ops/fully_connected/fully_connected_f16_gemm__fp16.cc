#include "native/core/vector_fp16.h"
// The header of the instruction set goes first.
#include "native/ops/fully_connected/fully_connected_gemm.h"

LATHE_KERNEL(fully_connected_f16_gemm__fp16) = {"fully_connected_f16_gemm__fp16",
                                                "fully_connected",
                                                sizeof(lathe::PanelState),
                                                sizeof(lathe::PanelPlan),
                                                -1,
                                                lathe::PrepareConnected,
                                                lathe::PlanConnected,
                                                lathe::RunConnected,
                                                0,
                                                lathe::PackingBit(lathe::kPanelPacking)};
