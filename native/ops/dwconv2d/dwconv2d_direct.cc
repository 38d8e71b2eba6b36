#include "native/kernel/simd/simd.h"
#include "native/ops/dwconv2d/dwconv2d_pixels.h"

LATHE_KERNEL = {
    .state_size = sizeof(lathe::DwState),
    .prepare = lathe::PrepareDirect<LATHE_ANY_CHANNELS>,
    .plan = lathe::CheckDepthwise,
    .run = lathe::RunDirect<LATHE_ANY_CHANNELS>,
};
