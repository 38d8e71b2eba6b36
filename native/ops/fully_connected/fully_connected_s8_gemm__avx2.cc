#include "native/core/bytes_avx2.h"
// The header of the instruction set goes first.
#include "native/ops/fully_connected/fully_connected_bytes.h"

LATHE_KERNEL(fully_connected_s8_gemm__avx2) = {"fully_connected_s8_gemm__avx2",
                                               "fully_connected",
                                               sizeof(lathe::BytePanelState),
                                               sizeof(lathe::ByteConnectedPlan),
                                               -1,
                                               lathe::PrepareByteConnected,
                                               lathe::PlanByteConnected,
                                               lathe::RunByteConnected,
                                               0,
                                               lathe::PackingBit(lathe::Packing::kSigned16)};
