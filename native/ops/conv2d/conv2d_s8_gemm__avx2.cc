#include "native/core/bytes_avx2.h"
// The header of the instruction set goes first.
#include "native/ops/conv2d/conv2d_bytes.h"

LATHE_KERNEL(conv2d_s8_gemm__avx2) = {"conv2d_s8_gemm__avx2",
                                      "conv2d",
                                      sizeof(lathe::ByteConvState),
                                      sizeof(lathe::ByteConvPlan),
                                      -1,
                                      lathe::PrepareByteConv,
                                      lathe::PlanByteConv,
                                      lathe::RunByteConv,
                                      0,
                                      lathe::PackingBit(lathe::Packing::kSigned16)};
