#include "native/core/vector_fp16.h"
// The header of the instruction set goes first.
#include "native/ops/dwconv2d/dwconv2d_direct.h"

LATHE_KERNEL(dwconv2d_f16_direct__fp16) = {"dwconv2d_f16_direct__fp16",
                                           "dwconv2d",
                                           sizeof(lathe::DwState),
                                           0,
                                           -1,
                                           lathe::PrepareDirect<false>,
                                           lathe::CheckDepthwise,
                                           lathe::RunDirect<false>};
