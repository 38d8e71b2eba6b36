#include "native/opencl/binary.h"

LATHE_OPENCL_UNIT(div) = {"div", "div", lathe::opencl::PlanBinary};
