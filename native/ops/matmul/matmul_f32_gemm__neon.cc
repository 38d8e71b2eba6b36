#include "native/core/vector_neon.h"
// The header of the instruction set goes first.
#include "native/ops/matmul/matmul_gemm.h"

LATHE_KERNEL(matmul_f32_gemm__neon) = {"matmul_f32_gemm__neon",
                                       "matmul",
                                       sizeof(lathe::MatmulState),
                                       sizeof(lathe::MatmulPlan),
                                       -1,
                                       lathe::PrepareMatmul,
                                       lathe::PlanMatmul,
                                       lathe::RunMatmul};
