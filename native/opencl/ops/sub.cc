#include "native/opencl/binary.h"

LATHE_OPENCL_UNIT(sub) = {"sub", "sub", lathe::opencl::PlanBinary};
