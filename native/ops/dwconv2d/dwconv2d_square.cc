#include "native/kernel/simd/simd.h"
#include "native/ops/dwconv2d/dwconv2d_sweep.h"

LATHE_KERNEL = {
    .state_size = sizeof(lathe::DwState),
    .prepare = lathe::PrepareSweep<LATHE_SIDE>,
    .plan = lathe::PlanSweep,
    .run = lathe::RunSweep<LATHE_SIDE>,
};
