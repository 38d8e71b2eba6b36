#include "native/core/vector_portable.h"
// The header of the instruction set goes first.
#include "native/ops/dwconv2d/dwconv2d_direct.h"

LATHE_KERNEL(dwconv2d_f32_direct__portable) = {"dwconv2d_f32_direct__portable",
                                               "dwconv2d",
                                               sizeof(lathe::DwState),
                                               0,
                                               -1,
                                               lathe::PrepareDirect<true>,
                                               lathe::CheckDepthwise,
                                               lathe::RunDirect<true>};
