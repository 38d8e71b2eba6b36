#include "native/core/vector_avx2.h"
// The header of the instruction set goes first.
#include "native/ops/matmul/matmul_gemm.h"

LATHE_KERNEL(matmul_f32_gemm__avx2) = {"matmul_f32_gemm__avx2",
                                       "matmul",
                                       sizeof(lathe::MatmulState),
                                       sizeof(lathe::MatmulPlan),
                                       -1,
                                       lathe::PrepareMatmul,
                                       lathe::PlanMatmul,
                                       lathe::RunMatmul};
