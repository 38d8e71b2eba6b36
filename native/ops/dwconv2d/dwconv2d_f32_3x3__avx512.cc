#include "native/core/vector_avx512.h"
// The header of the instruction set goes first.
#include "native/ops/dwconv2d/dwconv2d_sweep.h"

LATHE_KERNEL(dwconv2d_f32_3x3__avx512) = {"dwconv2d_f32_3x3__avx512", "dwconv2d",       sizeof(lathe::DwState), 0, -1,
                                          lathe::PrepareSweep<3>,     lathe::PlanSweep, lathe::RunSweep<3>};
